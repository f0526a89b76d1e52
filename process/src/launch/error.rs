//! Why a command could not be started.

use std::fmt;
use std::io;

use crate::guardian::wire::Failure;
pub use crate::guardian::wire::Stage;

/// What kept a command from being started, for branching.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum SpawnErrorKind {
    /// The program, or the interpreter its first line names, does not exist.
    NotFound,
    /// The file may not be executed, or is a directory.
    NotExecutable,
    /// The file is no program of this system, and has no `#!` line.
    BadFormat,
    /// Arguments and environment are too long together, or one of them is.
    TooLong,
    /// The working directory does not exist or may not be entered.
    Workdir,
    /// The host, or the system, has no file descriptor left.
    Descriptors,
    /// The system has no pseudoterminal left.
    Terminals,
    /// The user, or the system, may have no more processes.
    Processes,
    /// The path of the program leads to another file than the one that was opened beforehand.
    Replaced,
    /// What was asked for cannot be a command: no program, or a zero byte in a text.
    InvalidInput,
    /// The fork server or the guardian did not do its part.
    Guardian,
    /// Something else; the system's number says what.
    Other,
}

/// A command that was not started. Nothing of it is left: no process, no terminal, no descriptor.
#[derive(Debug)]
pub struct SpawnError {
    kind: SpawnErrorKind,
    stage: Stage,
    errno: Option<i32>,
    message: String,
    hint: Option<String>,
}

impl SpawnError {
    pub(crate) fn invalid(message: impl Into<String>, hint: &str) -> Self {
        Self {
            kind: SpawnErrorKind::InvalidInput,
            stage: Stage::Request,
            errno: None,
            message: message.into(),
            hint: Some(hint.to_owned()),
        }
    }

    pub(crate) fn guardian(message: impl Into<String>, hint: &str) -> Self {
        Self {
            kind: SpawnErrorKind::Guardian,
            stage: Stage::Server,
            errno: None,
            message: message.into(),
            hint: Some(hint.to_owned()),
        }
    }

    /// An error of the host's own calls.
    pub(crate) fn io(stage: Stage, error: &io::Error) -> Self {
        Self::failed(Failure { stage, errno: error.raw_os_error().unwrap_or(0) }, "", "")
    }

    /// What `failure` means for this program and this working directory.
    pub(crate) fn failed(failure: Failure, program: &str, workdir: &str) -> Self {
        use SpawnErrorKind as Kind;
        let Failure { stage, errno } = failure;
        let kind = match (stage, errno) {
            (_, libc::EMFILE | libc::ENFILE) => Kind::Descriptors,
            (Stage::Open, libc::ENOSPC | libc::EAGAIN | libc::ENXIO) => Kind::Terminals,
            (Stage::Server | Stage::Fork | Stage::Exec, libc::EAGAIN) => Kind::Processes,
            (Stage::Workdir, _) => Kind::Workdir,
            (Stage::Exec, libc::ESTALE) => Kind::Replaced,
            (Stage::Exec, libc::ENOENT | libc::ENOTDIR) => Kind::NotFound,
            (Stage::Exec, libc::EACCES | libc::EPERM | libc::EISDIR) => Kind::NotExecutable,
            (Stage::Exec, libc::ENOEXEC) => Kind::BadFormat,
            (Stage::Exec, libc::E2BIG) => Kind::TooLong,
            (Stage::Server, _) => Kind::Guardian,
            _ => Kind::Other,
        };
        let reason =
            if errno == 0 { "unknown reason".to_owned() } else { io::Error::from_raw_os_error(errno).to_string() };
        let (message, hint) = describe(kind, stage, program, workdir, &reason);
        Self { kind, stage, errno: Some(errno).filter(|errno| *errno != 0), message, hint }
    }

    /// What kept it, for branching.
    pub fn kind(&self) -> SpawnErrorKind {
        self.kind
    }

    /// The step that failed.
    pub fn stage(&self) -> Stage {
        self.stage
    }

    /// The system's error number, where the system refused something.
    pub fn errno(&self) -> Option<i32> {
        self.errno
    }

    /// What to do about it.
    pub fn hint(&self) -> Option<&str> {
        self.hint.as_deref()
    }
}

fn describe(
    kind: SpawnErrorKind,
    stage: Stage,
    program: &str,
    workdir: &str,
    reason: &str,
) -> (String, Option<String>) {
    use SpawnErrorKind as Kind;
    let exists = program.contains('/') && std::path::Path::new(workdir).join(program).exists();
    let (message, hint) = match kind {
        Kind::NotFound if exists => (
            format!("cannot run `{program}`: the interpreter it needs does not exist ({reason})"),
            "check the first line of the script, or the program's loader (`file`, `readelf -l`)",
        ),
        Kind::NotFound if program.contains('/') => (
            format!("cannot run `{program}`: {reason}"),
            "check the path; a relative one starts at the working directory",
        ),
        Kind::NotFound => (
            format!("cannot run `{program}`: not found in any directory of PATH ({reason})"),
            "install it, or give its full path",
        ),
        Kind::NotExecutable => (
            format!("cannot run `{program}`: {reason}"),
            "make it executable (`chmod +x`), or run it with its interpreter",
        ),
        Kind::BadFormat => (
            format!("cannot run `{program}`: it is not a program of this system ({reason})"),
            "a script needs a `#!` line, or run it with its interpreter; a program must be built for this machine",
        ),
        Kind::TooLong => (
            format!("cannot run `{program}`: arguments and environment are too long ({reason})"),
            "one argument may have 128 KiB; put long text into a file or write it to the program's input",
        ),
        Kind::Workdir => (
            format!("cannot change to the working directory `{workdir}`: {reason}"),
            "choose an existing directory that may be entered",
        ),
        Kind::Descriptors => (
            format!("no file descriptor is left ({reason})"),
            "end a running command, or raise the limit of open files (`ulimit -n`)",
        ),
        Kind::Terminals => (
            format!("no pseudoterminal is left ({reason})"),
            "end a running session, or raise the system's limit (`kernel.pty.max`)",
        ),
        Kind::Processes => (
            format!("no further process can be started ({reason})"),
            "end a running command, or raise the limit of processes (`ulimit -u`, or the container's)",
        ),
        Kind::Guardian => (
            format!("cannot start the fork server: {reason}"),
            "check that the program that serves (`LauncherConfig::guardian`) exists and may be executed",
        ),
        Kind::Replaced => (
            format!("cannot run `{program}`: its path leads to another file than before"),
            "look at what replaced it, then start it again",
        ),
        Kind::InvalidInput | Kind::Other => (format!("cannot start `{program}` ({stage:?}): {reason}"), ""),
    };
    (message, Some(hint.to_owned()).filter(|hint| !hint.is_empty()))
}

impl fmt::Display for SpawnError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for SpawnError {}
