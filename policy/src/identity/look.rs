//! Looking files up as a shell will, and holding on to what was found.

use std::ffi::OsStr;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use nix::fcntl::{AT_FDCWD, AtFlags, OFlag, openat};
use nix::sys::stat::{Mode, fstat, fstatat};
use nix::unistd::{AccessFlags, faccessat};
use sha2::{Digest, Sha256};
use tool_api::{Condition, Denied, DeniedKind, OpenedDirectory};

use super::operand::Found;
use super::plan::{Plan, Seek, Wanted, join};
use super::{change, directory, file};
use file::{Content, Facts, Kind, TooMuch};

/// What a shell searches without `PATH`.
const DEFAULT_PATH: &str = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

/// Where programs usually are, so that a person need not be told.
const USUAL: &[&str] = &["/bin", "/sbin", "/usr/bin", "/usr/sbin", "/usr/local/bin", "/usr/local/sbin"];

/// What is read without another thread.
const AT_ONCE: u64 = 1024 * 1024;

/// Interpreters of interpreters that the system follows.
const MOST_INTERPRETERS: usize = 5;

/// What one name led to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Seen {
    pub(super) name: String,
    /// None when it led to nothing.
    pub(super) file: Option<SeenFile>,
    seek: Seek,
    /// Whether it counts right after the start.
    early: bool,
}

/// A file that a name led to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct SeenFile {
    /// Absolute, but not free of links.
    pub(super) path: PathBuf,
    pub(super) facts: Facts,
    /// None for what is no regular file, and for what was too much to read.
    pub(super) content: Option<Arc<Content>>,
    /// Its interpreter, and what that one runs.
    pub(super) interpreters: Vec<Seen>,
}

/// The files of a command line at the moment of its approval: they must be the same at its start.
#[derive(Debug)]
pub(super) struct Bound {
    plan: Plan,
    /// The directory as it was asked for.
    workdir: PathBuf,
    directory: Option<OpenedDirectory>,
    read: Arc<file::Read>,
    seen: Vec<Seen>,
    shell: Option<Arc<OwnedFd>>,
}

impl Bound {
    /// Looks now.
    pub(super) async fn new(
        plan: Plan,
        workdir: PathBuf,
        directory: Option<OpenedDirectory>,
        read: Arc<file::Read>,
    ) -> Result<Self, Denied> {
        let mut bound = Self { plan, workdir, directory, read, seen: Vec::new(), shell: None };
        if bound.take(Limit::Stop(AT_ONCE)).is_ok() {
            return Ok(bound);
        }
        let look = move || {
            let taken = bound.take(Limit::Skip(file::MOST_READ));
            taken.map(|()| bound)
        };
        let failed = || Denied::new(DeniedKind::Failed, "the files that it runs could not be looked at");
        tokio::task::spawn_blocking(look).await.map_err(|_| failed())?.map_err(|_| failed())
    }

    fn take(&mut self, limit: Limit) -> Result<(), TooMuch> {
        self.seen = self.look(limit, false)?;
        self.shell = self.open_shell();
        if self.shell.is_none()
            && self.plan.shell.is_absolute()
            && let Some(shell) = self.seen.first_mut()
        {
            // It was replaced since: at the check it will not be what was seen.
            shell.file = None;
        }
        Ok(())
    }

    fn look(&self, limit: Limit, only_early: bool) -> Result<Vec<Seen>, TooMuch> {
        let base = self.directory.as_ref().map(|directory| directory.file.as_fd());
        let path = self.plan.search_path.as_deref().unwrap_or(OsStr::new(DEFAULT_PATH));
        let entries = || path.as_bytes().split(|byte| *byte == b':').map(OsStr::from_bytes);
        let mut look = Look {
            base,
            root: self.directory.as_ref().map(|directory| directory.path.as_path()),
            search: entries().map(Path::new).collect(),
            moves: entries().any(|entry| !Path::new(entry).is_absolute()),
            read: &self.read,
            limit,
        };
        let mut seen = Vec::with_capacity(1 + self.plan.wanted.len());
        let shell = Wanted { name: self.plan.shell.to_string_lossy().into_owned(), seek: Seek::Program };
        let found = look.find(&shell, "");
        let found = if self.plan.shell.is_absolute() { Some(self.plan.shell.clone()) } else { found };
        seen.push(look.see(&shell, found, "", true, 0)?);
        for (wanted, early) in self.plan.wanted.iter().zip(&self.plan.early) {
            if only_early && !early {
                continue;
            }
            let directories = if look.depends_on_directory(wanted) {
                &self.plan.directories[..]
            } else {
                &self.plan.directories[..1]
            };
            for directory in directories {
                let found = look.find(wanted, directory);
                seen.push(look.see(wanted, found, directory, *early, 0)?);
            }
        }
        Ok(seen)
    }

    /// Opens the shell that was seen.
    fn open_shell(&self) -> Option<Arc<OwnedFd>> {
        let seen = self.seen.first()?.file.as_ref().filter(|file| file.facts.kind == Kind::File)?;
        let flags = if cfg!(target_os = "linux") { OFlag::from_bits_retain(place_flag()) } else { OFlag::O_RDONLY };
        let file = openat(AT_FDCWD, &self.plan.shell, flags | OFlag::O_CLOEXEC, Mode::empty()).ok()?;
        let facts = Facts::of(&fstat(&file).ok()?);
        ((facts.device, facts.inode) == (seen.facts.device, seen.facts.inode)).then(|| Arc::new(file))
    }

    /// The open shell.
    pub(super) fn shell(&self) -> Option<Arc<OwnedFd>> {
        self.shell.clone()
    }

    /// The same for the same files.
    pub(super) fn digest(&self) -> String {
        let mut hash = Sha256::new();
        if let Some(directory) = &self.directory {
            hash.update(format!("{:?}{:?}", directory.path, directory::identity(&directory.file).ok()));
        }
        self.seen.iter().for_each(|seen| seen.digest(&mut hash));
        hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect()
    }

    /// The programs by name that are not where a system keeps its programs.
    pub(super) fn unusual(&self) -> Vec<(&str, &Path)> {
        let mut found = Vec::new();
        for seen in self.seen.iter().skip(1).filter(|seen| seen.seek == Seek::Program && !seen.name.contains('/')) {
            let Some(file) = &seen.file else { continue };
            let usual = file.path.parent().is_some_and(|parent| USUAL.iter().any(|usual| parent == Path::new(usual)));
            let runs = (seen.name.as_str(), file.path.as_path());
            if !usual && !found.contains(&runs) {
                found.push(runs);
            }
        }
        found
    }

    fn compare(&self, only_early: bool) -> Result<(), Denied> {
        let now = self.look(Limit::Skip(file::MOST_READ), only_early);
        let now = now.map_err(|_| Denied::new(DeniedKind::Failed, "the files that it runs could not be looked at"))?;
        let before = self.seen.iter().filter(|seen| seen.early || !only_early);
        let mut changes = change::changes(before, &now);
        if !only_early
            && let Some(opened) = &self.directory
            && !leads_to(&self.workdir, &opened.file)
        {
            let path = crate::visible(&self.workdir.to_string_lossy());
            changes.insert(0, format!("`{path}` leads to another directory than the one that was approved"));
        }
        change::refuse(&changes)
    }
}

impl Condition for Bound {
    fn check(&self) -> Result<(), Denied> {
        self.compare(false)
    }

    fn check_started(&self) -> Result<(), Denied> {
        self.compare(true)
    }
}

/// `O_PATH`, where there is one.
const fn place_flag() -> i32 {
    #[cfg(target_os = "linux")]
    return OFlag::O_PATH.bits();
    #[cfg(not(target_os = "linux"))]
    return 0;
}

fn leads_to(path: &Path, opened: &OwnedFd) -> bool {
    use std::os::unix::fs::MetadataExt;
    let now = std::fs::metadata(path).map(|facts| (facts.dev(), facts.ino())).ok();
    now.is_some() && now == directory::identity(opened).ok()
}

/// How much may be read, and what happens beyond it.
#[derive(Clone, Copy, Debug)]
enum Limit {
    /// The look ends.
    Stop(u64),
    /// The content of what is beyond is not compared.
    Skip(u64),
}

/// One look.
struct Look<'a> {
    base: Option<BorrowedFd<'a>>,
    root: Option<&'a Path>,
    search: Vec<&'a Path>,
    /// Whether `PATH` means something else in every directory.
    moves: bool,
    read: &'a file::Read,
    limit: Limit,
}

impl Look<'_> {
    fn depends_on_directory(&self, wanted: &Wanted) -> bool {
        match wanted.seek {
            Seek::Program if !wanted.name.contains('/') => self.moves,
            _ => !wanted.name.starts_with('/'),
        }
    }

    /// Looks a name up from one of the line's directories.
    fn find(&self, wanted: &Wanted, directory: &str) -> Option<PathBuf> {
        let name = wanted.name.as_str();
        let direct = || Some(PathBuf::from(join(directory, name))).filter(|path| self.facts(path).is_some());
        let in_path = |runs: bool| {
            if name.contains('/') {
                return None;
            }
            self.search.iter().find_map(|entry| {
                let entry = if entry.is_absolute() { entry.to_path_buf() } else { Path::new(directory).join(entry) };
                let path = if entry.as_os_str().is_empty() { Path::new(".").join(name) } else { entry.join(name) };
                let is_file = self.facts(&path).is_some_and(|facts| facts.kind == Kind::File);
                (is_file && (!runs || self.can_run(&path))).then_some(path)
            })
        };
        match wanted.seek {
            Seek::Program if name.contains('/') => direct(),
            Seek::Program => in_path(true),
            Seek::Script(Found::ByPath) => direct(),
            Seek::Script(Found::ByPathFirst) => direct().or_else(|| in_path(false)),
            Seek::Script(Found::InPathFirst) => in_path(false).or_else(direct),
        }
    }

    /// Where a relative path starts; none when it starts nowhere.
    fn start(&self, path: &Path) -> Option<BorrowedFd<'_>> {
        if path.is_absolute() { Some(AT_FDCWD) } else { self.base }
    }

    fn facts(&self, path: &Path) -> Option<Facts> {
        fstatat(self.start(path)?, path, AtFlags::empty()).ok().map(|stat| Facts::of(&stat))
    }

    fn can_run(&self, path: &Path) -> bool {
        let Some(start) = self.start(path) else { return false };
        faccessat(start, path, AccessFlags::X_OK, AtFlags::AT_EACCESS).is_ok()
    }

    /// Looks at what was found.
    fn see(
        &mut self,
        wanted: &Wanted,
        found: Option<PathBuf>,
        directory: &str,
        early: bool,
        depth: usize,
    ) -> Result<Seen, TooMuch> {
        let mut seen = Seen { name: wanted.name.clone(), seek: wanted.seek, file: None, early };
        let Some(path) = found else { return Ok(seen) };
        let Some(facts) = self.facts(&path) else { return Ok(seen) };
        let content = if facts.kind == Kind::File { self.content(&path, &facts)? } else { None };
        let mut interpreters = Vec::new();
        if depth < MOST_INTERPRETERS
            && let Some((program, argument)) = content.as_deref().and_then(|content| content.interpreter.as_ref())
        {
            let path = PathBuf::from(join(directory, program));
            let by_path = Wanted { name: program.clone(), seek: Seek::Script(Found::ByPath) };
            interpreters.push(self.see(&by_path, Some(path), directory, early, depth + 1)?);
            if let Some(program) = run_by_env(program, argument.as_deref()) {
                let wanted = Wanted { name: program.to_owned(), seek: Seek::Program };
                let found = self.find(&wanted, directory);
                interpreters.push(self.see(&wanted, found, directory, early, depth + 1)?);
            }
        }
        let path = match self.root {
            Some(root) if path.is_relative() => root.join(path).components().collect(),
            _ => path,
        };
        seen.file = Some(SeenFile { path, facts, content, interpreters });
        Ok(seen)
    }

    fn content(&mut self, path: &Path, facts: &Facts) -> Result<Option<Arc<Content>>, TooMuch> {
        let Some(start) = self.start(path) else { return Ok(None) };
        let (mut left, stops) = match self.limit {
            Limit::Stop(left) => (left, true),
            Limit::Skip(left) => (left, false),
        };
        let content = self.read.content(start, path, facts, &mut left);
        self.limit = if stops { Limit::Stop(left) } else { Limit::Skip(left) };
        match content {
            Ok(content) => Ok(Some(content)),
            Err(TooMuch) if stops => Err(TooMuch),
            Err(TooMuch) => Ok(None),
        }
    }
}

/// The program that `env` runs in a `#!` line.
fn run_by_env<'l>(interpreter: &str, argument: Option<&'l str>) -> Option<&'l str> {
    if interpreter.rsplit('/').next() != Some("env") {
        return None;
    }
    let argument = argument?;
    let split = argument.strip_prefix("-S").or_else(|| argument.strip_prefix("--split-string="));
    let Some(split) = split else { return Some(argument) };
    split.split_ascii_whitespace().find(|word| !word.starts_with('-') && !word.contains('='))
}

impl Seen {
    fn digest(&self, hash: &mut Sha256) {
        hash.update(format!("{}:{}", self.name.len(), self.name));
        let Some(file) = &self.file else { return hash.update(b"-") };
        let Facts { device, inode, kind, size, modified, changed } = file.facts;
        hash.update(format!("{:?} {device} {inode} {kind:?}", file.path));
        if kind == Kind::File {
            let content = file.content.as_ref().and_then(|content| content.sha256);
            // What is not read is known by the time that nobody can set.
            let changed = content.is_none().then_some(changed);
            hash.update(format!("{size} {modified:?} {content:?} {changed:?}"));
        }
        file.interpreters.iter().for_each(|seen| seen.digest(hash));
    }
}
