//! What a file is: its place on a device, its size, its times and, up to a size, its content.

use std::collections::HashMap;
use std::fmt;
use std::fs::File;
use std::io::{self, Read as _};
use std::os::fd::BorrowedFd;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use nix::fcntl::{OFlag, openat};
use nix::sys::stat::{FileStat, Mode, SFlag, fstat};
use sha2::{Digest, Sha256};

/// Files up to this size are compared by content.
const HASHED: u64 = 64 * 1024 * 1024;

/// How much is read for one look; what is beyond it is compared without its content.
pub(super) const MOST_READ: u64 = 512 * 1024 * 1024;

/// A change time has the grain of the clock of its file system. Until this has passed, another change may have the
/// same time, and only the content tells.
const GRAIN: Duration = Duration::from_secs(2);

/// How many files are remembered; then it starts anew.
const REMEMBERED: usize = 4096;

/// The system reads no more of a `#!` line.
const FIRST_LINE: usize = 256;

/// Seconds and nanoseconds.
type Time = (i64, i64);

/// What a name can lead to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Kind {
    File,
    Directory,
    Other,
}

/// All that a system call says of a file; with it the content is remembered.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Facts {
    pub(super) device: u64,
    pub(super) inode: u64,
    pub(super) kind: Kind,
    pub(super) size: u64,
    pub(super) modified: Time,
    pub(super) changed: Time,
}

impl Facts {
    #[expect(clippy::useless_conversion, clippy::unnecessary_cast, reason = "the types differ between systems")]
    pub(super) fn of(stat: &FileStat) -> Self {
        let kind = match SFlag::from_bits_truncate(stat.st_mode) & SFlag::S_IFMT {
            SFlag::S_IFREG => Kind::File,
            SFlag::S_IFDIR => Kind::Directory,
            _ => Kind::Other,
        };
        Self {
            device: stat.st_dev as u64,
            inode: u64::from(stat.st_ino),
            kind,
            size: u64::try_from(stat.st_size).unwrap_or(0),
            modified: (i64::from(stat.st_mtime), i64::from(stat.st_mtime_nsec)),
            changed: (i64::from(stat.st_ctime), i64::from(stat.st_ctime_nsec)),
        }
    }

    /// Whether a later change would have another change time.
    fn is_settled(&self) -> bool {
        let changed = u64::try_from(self.changed.0).unwrap_or(0);
        let changed = UNIX_EPOCH + Duration::from_secs(changed);
        SystemTime::now().duration_since(changed).is_ok_and(|age| age > GRAIN)
    }
}

/// What was read of a file.
#[derive(Clone, PartialEq, Eq)]
pub(super) struct Content {
    /// None when it is too large, or may not be read.
    pub(super) sha256: Option<[u8; 32]>,
    /// The words of its `#!` line: the interpreter, and one argument.
    pub(super) interpreter: Option<(String, Option<String>)>,
}

impl fmt::Debug for Content {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { sha256, interpreter } = self;
        let start = sha256.map(|hash| format!("{:02x}{:02x}{:02x}{:02x}", hash[0], hash[1], hash[2], hash[3]));
        f.debug_struct("Content").field("sha256", &start).field("interpreter", interpreter).finish()
    }
}

/// What was read already.
#[derive(Debug, Default)]
pub(crate) struct Read {
    contents: Mutex<HashMap<Facts, Arc<Content>>>,
}

impl Read {
    /// The content of a regular file, read unless that is known; `left` is how much may still be read.
    ///
    /// # Errors
    /// [`TooMuch`] when more would have to be read than is left.
    pub(super) fn content(
        &self,
        directory: BorrowedFd<'_>,
        path: &Path,
        facts: &Facts,
        left: &mut u64,
    ) -> Result<Arc<Content>, TooMuch> {
        if let Some(known) = self.lock().get(facts) {
            return Ok(Arc::clone(known));
        }
        let size = if facts.size > HASHED { 0 } else { facts.size };
        *left = left.checked_sub(size).ok_or(TooMuch)?;
        // Before it is read: what changes meanwhile is to be seen the next time.
        let settled = facts.is_settled();
        let (content, steady) = read(directory, path, facts, facts.size <= HASHED)
            .unwrap_or((Content { sha256: None, interpreter: None }, false));
        let content = Arc::new(content);
        if settled && steady {
            let mut contents = self.lock();
            if contents.len() >= REMEMBERED {
                contents.clear();
            }
            contents.insert(*facts, Arc::clone(&content));
        }
        Ok(content)
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, HashMap<Facts, Arc<Content>>> {
        // Nothing is half done while it is held.
        self.contents.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// More would have to be read than may be.
#[derive(Clone, Copy, Debug)]
pub(super) struct TooMuch;

/// Reads a file, and whether it stayed as it was.
fn read(directory: BorrowedFd<'_>, path: &Path, facts: &Facts, whole: bool) -> io::Result<(Content, bool)> {
    let mut file = open(directory, path, facts)?;
    let mut buffer = vec![0; 64 * 1024];
    let mut first = Vec::new();
    let mut hash = Sha256::new();
    let mut length = 0;
    loop {
        match file.read(&mut buffer) {
            Ok(0) => break,
            Ok(count) => {
                if first.len() < FIRST_LINE {
                    first.extend_from_slice(&buffer[..count.min(FIRST_LINE - first.len())]);
                }
                length += count as u64;
                if !whole && first.len() >= FIRST_LINE {
                    break;
                }
                // It grew since.
                if length > HASHED {
                    break;
                }
                hash.update(&buffer[..count]);
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    let steady = Facts::of(&fstat(&file)?) == *facts;
    let sha256 = (whole && length <= HASHED).then(|| hash.finalize().into());
    Ok((Content { sha256, interpreter: interpreter(&first) }, steady))
}

/// Opens exactly this regular file. Nothing else is ever opened, as that alone may do something.
fn open(directory: BorrowedFd<'_>, path: &Path, facts: &Facts) -> io::Result<File> {
    let another = || io::Error::other("another file is there now");
    #[cfg(target_os = "linux")]
    {
        use std::os::fd::AsRawFd;
        let place = openat(directory, path, OFlag::O_PATH | OFlag::O_CLOEXEC, Mode::empty())?;
        let found = Facts::of(&fstat(&place)?);
        if (found.device, found.inode, found.kind) != (facts.device, facts.inode, Kind::File) {
            return Err(another());
        }
        match File::open(format!("/proc/self/fd/{}", place.as_raw_fd())) {
            // Without `/proc`.
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            result => return result,
        }
    }
    let flags = OFlag::O_RDONLY | OFlag::O_NONBLOCK | OFlag::O_NOCTTY | OFlag::O_CLOEXEC;
    let file = openat(directory, path, flags, Mode::empty())?;
    let found = Facts::of(&fstat(&file)?);
    if (found.device, found.inode, found.kind) != (facts.device, facts.inode, Kind::File) {
        return Err(another());
    }
    Ok(file.into())
}

/// The interpreter of a script and the one argument it gets, as execve(2) takes them from the first line.
fn interpreter(first: &[u8]) -> Option<(String, Option<String>)> {
    let line = first.strip_prefix(b"#!")?.split(|byte| *byte == b'\n').next()?;
    let line = std::str::from_utf8(line).ok()?.trim_matches([' ', '\t']);
    let (program, argument) = match line.split_once([' ', '\t']) {
        Some((program, argument)) => (program, Some(argument.trim_start_matches([' ', '\t']).to_owned())),
        None => (line, None),
    };
    (!program.is_empty()).then(|| (program.to_owned(), argument))
}

#[cfg(test)]
mod tests {
    use super::interpreter;

    #[test]
    fn the_first_line_names_the_interpreter() {
        let check = |text: &str, expected: Option<(&str, Option<&str>)>| {
            let found = interpreter(text.as_bytes());
            let found = found.as_ref().map(|(program, argument)| (program.as_str(), argument.as_deref()));
            assert_eq!(found, expected, "{text:?}");
        };
        check("#!/bin/sh\nx", Some(("/bin/sh", None)));
        check("#! \t/usr/bin/env  python3 -u \nx", Some(("/usr/bin/env", Some("python3 -u"))));
        check("#!/bin/sh", Some(("/bin/sh", None)));
        check("#!\n/bin/sh", None);
        check("# !/bin/sh", None);
        check("\x7fELF", None);
        check("", None);
    }
}
