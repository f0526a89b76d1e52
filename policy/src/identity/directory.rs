//! Opening the directory that a command starts in, so that nothing can take its place afterwards.

use std::os::fd::OwnedFd;
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

use nix::errno::Errno;
use nix::fcntl::{AT_FDCWD, OFlag, openat};
use nix::sys::stat::{Mode, fstat};
use tool_api::{OpenedDirectory, StartDirectory};

use super::file::Facts;

/// How often a directory is looked for that is moved away meanwhile.
const ATTEMPTS: usize = 16;

/// Open only as a place, which needs no right to list it.
#[cfg(target_os = "linux")]
const PLACE: OFlag = OFlag::O_PATH.union(OFlag::O_DIRECTORY).union(OFlag::O_CLOEXEC);
#[cfg(not(target_os = "linux"))]
const PLACE: OFlag = OFlag::O_RDONLY.union(OFlag::O_DIRECTORY).union(OFlag::O_CLOEXEC);

/// Opens a directory at the place that its path leads to now, without following a link on the way that was not there
/// when the path was resolved.
pub(super) fn open(path: &Path, roots: &[PathBuf]) -> StartDirectory {
    let mut failed = Errno::ENOENT;
    for _ in 0..ATTEMPTS {
        let real = match path.canonicalize() {
            Ok(real) => real,
            Err(error) => return StartDirectory::Unavailable(Arc::new(error)),
        };
        match open_real(&real, roots) {
            Ok(file) => return StartDirectory::Opened(OpenedDirectory { path: real, file: Arc::new(file) }),
            Err(error) => failed = error,
        }
        // It was moved in between, or is being moved; `EAGAIN` is the system's word for that.
        if !matches!(failed, Errno::EAGAIN | Errno::ELOOP | Errno::ENOENT | Errno::ENOTDIR | Errno::EXDEV) {
            break;
        }
    }
    StartDirectory::Unavailable(Arc::new(failed.into()))
}

/// Opens a path without links: below the root that holds it, else from `/` on.
fn open_real(real: &Path, roots: &[PathBuf]) -> Result<OwnedFd, Errno> {
    let roots = roots.iter().filter_map(|root| root.canonicalize().ok());
    let root = roots.into_iter().find(|root| real.starts_with(root)).unwrap_or_else(|| PathBuf::from("/"));
    let below = real.strip_prefix(&root).unwrap_or(Path::new(""));
    let start = openat(AT_FDCWD, Path::new("/"), PLACE, Mode::empty())?;
    let root = step(start, root.strip_prefix("/").unwrap_or(&root))?;
    step(root, below)
}

/// Goes from one directory to another one below it, following no link.
fn step(from: OwnedFd, below: &Path) -> Result<OwnedFd, Errno> {
    if below.as_os_str().is_empty() {
        return Ok(from);
    }
    #[cfg(target_os = "linux")]
    {
        use nix::fcntl::{OpenHow, ResolveFlag, openat2};
        let resolve =
            ResolveFlag::RESOLVE_BENEATH | ResolveFlag::RESOLVE_NO_SYMLINKS | ResolveFlag::RESOLVE_NO_MAGICLINKS;
        match openat2(&from, below, OpenHow::new().flags(PLACE).resolve(resolve)) {
            // Before Linux 5.6, or forbidden by a container.
            Err(Errno::ENOSYS | Errno::EPERM) => {}
            result => return result,
        }
    }
    walk(from, below)
}

/// Goes name by name, each of which must be a directory and no link: the same, with a system call a name.
fn walk(from: OwnedFd, below: &Path) -> Result<OwnedFd, Errno> {
    below.components().try_fold(from, |directory, component| match component {
        Component::Normal(name) => openat(&directory, name, PLACE | OFlag::O_NOFOLLOW, Mode::empty()),
        Component::CurDir => Ok(directory),
        _ => Err(Errno::EXDEV),
    })
}

/// The identity of an open directory.
pub(super) fn identity(directory: &OwnedFd) -> Result<(u64, u64), Errno> {
    let facts = Facts::of(&fstat(directory)?);
    Ok((facts.device, facts.inode))
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::{MetadataExt, symlink};

    use super::*;

    #[test]
    fn both_ways_lead_to_the_same_and_follow_no_link() {
        let root = tempfile::tempdir().unwrap();
        let root = root.path().canonicalize().unwrap();
        std::fs::create_dir_all(root.join("a/b")).unwrap();
        symlink("a", root.join("link")).unwrap();
        let from = || openat(AT_FDCWD, &root, PLACE, Mode::empty()).unwrap();
        let wanted = std::fs::metadata(root.join("a/b")).unwrap();
        for go in [step, walk] {
            let found = go(from(), Path::new("a/b")).unwrap();
            assert_eq!(identity(&found).unwrap(), (wanted.dev(), wanted.ino()));
            assert!(go(from(), Path::new("link/b")).is_err());
            assert!(go(from(), Path::new("a/../../etc")).is_err());
            assert_eq!(go(from(), Path::new("none")).unwrap_err(), Errno::ENOENT);
        }
    }
}
