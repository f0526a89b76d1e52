//! What a command is to be: program, environment, directory, terminal or pipes.

use std::ffi::{OsStr, OsString};
use std::io;
use std::os::fd::{AsRawFd, OwnedFd, RawFd};
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;
use std::sync::Arc;

use super::error::SpawnError;
use crate::guardian::AtStart;
use crate::guardian::wire::Header;
use crate::pty::{self, Pty, PtySettings, PtySize};
use crate::sys;

/// A command to start.
#[derive(Debug, Clone)]
pub struct CommandSpec {
    /// The program and its arguments. A program without a slash is looked for in the `PATH` of `env`.
    pub argv: Vec<OsString>,
    /// The whole environment: nothing of the host's is added but [`COOKIE`](crate::COOKIE).
    pub env: Vec<(OsString, OsString)>,
    /// The working directory. A relative one starts at the host's.
    pub workdir: PathBuf,
    /// Where its standard input, output and error go.
    pub stdio: Stdio,
    /// What was opened beforehand, by default nothing.
    pub opened: Opened,
}

/// What a command is started from, whatever the paths of its [`CommandSpec`] lead to by then.
#[derive(Debug, Clone, Default)]
pub struct Opened {
    /// The working directory. The path of the specification is then only named in errors.
    pub workdir: Option<Arc<OwnedFd>>,
    /// The file that is executed as the first of `argv`.
    ///
    /// On Linux from 6.14 on it is executed itself. Elsewhere, and where it is a script, which only a path can be
    /// given to, the path is executed after a look that it still leads to this file.
    pub program: Option<Arc<OwnedFd>>,
}

impl Opened {
    /// The descriptors, in the order in which they are handed on.
    pub(crate) fn descriptors(&self) -> Vec<RawFd> {
        self.workdir.iter().chain(&self.program).map(|file| file.as_raw_fd()).collect()
    }
}

/// Where standard input, output and error of a command go.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stdio {
    /// All three to a new pseudoterminal, its controlling terminal.
    Pty(PtySize, PtySettings),
    /// Input from `/dev/null`, output and error to pipes.
    Pipes(Output),
}

/// How output and error reach the host.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Output {
    /// Through one pipe, interleaved as they were written.
    Merged,
    /// Through a pipe each.
    Separate,
}

/// The host's side of a command's standard descriptors.
#[derive(Debug)]
pub enum Io {
    /// The pseudoterminal.
    Pty(Pty),
    /// The read ends.
    Pipes(Pipes),
}

/// The read ends of a command's pipes, nonblocking.
#[derive(Debug)]
pub struct Pipes {
    /// Standard output, and error when merged.
    pub stdout: OwnedFd,
    /// Standard error when separate.
    pub stderr: Option<OwnedFd>,
}

/// The command's side; the same descriptor may serve for several.
pub(crate) struct ChildStdio {
    pub(crate) stdin: OwnedFd,
    pub(crate) stdout: OwnedFd,
    pub(crate) stderr: Option<OwnedFd>,
}

/// Opens both sides.
pub(crate) fn open(stdio: &Stdio) -> io::Result<(Io, ChildStdio)> {
    match stdio {
        Stdio::Pty(size, settings) => {
            let pty = pty::open(*size, *settings)?;
            let stdin = pty.slave.try_clone()?;
            let stdout = pty.slave.try_clone()?;
            Ok((Io::Pty(pty), ChildStdio { stdin, stdout, stderr: None }))
        }
        Stdio::Pipes(output) => {
            let stdin = std::fs::File::open("/dev/null")?.into();
            let (stdout, child_stdout) = pipe()?;
            let (stderr, child_stderr) = match output {
                Output::Merged => (None, None),
                Output::Separate => pipe().map(|(read, write)| (Some(read), Some(write)))?,
            };
            let child = ChildStdio { stdin, stdout: child_stdout, stderr: child_stderr };
            Ok((Io::Pipes(Pipes { stdout, stderr }), child))
        }
    }
}

/// A pipe whose read end does not block.
fn pipe() -> io::Result<(OwnedFd, OwnedFd)> {
    use nix::fcntl::{FcntlArg, OFlag, fcntl};
    let (read, write) = io::pipe()?;
    fcntl(&read, FcntlArg::F_SETFL(OFlag::O_NONBLOCK))?;
    Ok((read.into(), write.into()))
}

/// A checked command, laid out as it goes to the guardian.
pub(crate) struct Request {
    pub(crate) header: Header,
    pub(crate) strings: Vec<u8>,
    pub(crate) opened: Opened,
    /// For messages.
    pub(crate) program: String,
    pub(crate) workdir: String,
}

impl Request {
    pub(crate) fn new(spec: &CommandSpec, cookie: &str, at_start: AtStart) -> Result<Self, SpawnError> {
        let program = spec.argv.first().filter(|program| !program.is_empty());
        let program = program.ok_or_else(|| SpawnError::invalid("there is no program to run", "name one"))?;
        let workdir = std::path::absolute(&spec.workdir).map_err(|_| {
            SpawnError::invalid("the working directory is empty", "give an existing directory, best an absolute path")
        })?;
        let mut strings = Vec::new();
        push(&mut strings, workdir.as_os_str(), "the working directory")?;
        for argument in &spec.argv {
            push(&mut strings, argument, "an argument")?;
        }
        let mut envc = 1;
        for (name, value) in spec.env.iter().filter(|(name, _)| name != super::COOKIE) {
            if name.is_empty() || name.as_bytes().contains(&b'=') {
                let message = format!("`{}` cannot name an environment variable", name.to_string_lossy());
                return Err(SpawnError::invalid(message, "a name is not empty and has no `=`"));
            }
            let mut pair = name.clone();
            pair.push("=");
            pair.push(value);
            push(&mut strings, &pair, &format!("the environment variable `{}`", name.to_string_lossy()))?;
            envc += 1;
        }
        push(&mut strings, OsStr::new(&format!("{}={cookie}", super::COOKIE)), "the cookie")?;
        let too_long = || SpawnError::invalid("the command is longer than 4 GiB", "put long text into a file");
        let header = Header {
            length: u32::try_from(strings.len()).map_err(|_| too_long())?,
            argc: u32::try_from(spec.argv.len()).map_err(|_| too_long())?,
            envc,
            terminal: matches!(spec.stdio, Stdio::Pty(..)),
            creation_mask: at_start.creation_mask,
            descriptor_limit: at_start.descriptor_limit,
            workdir_opened: spec.opened.workdir.is_some(),
            program_opened: spec.opened.program.is_some(),
            executes_descriptors: sys::executes_descriptors(),
        };
        let program = program.to_string_lossy().into_owned();
        let workdir = workdir.to_string_lossy().into_owned();
        Ok(Self { header, strings, opened: spec.opened.clone(), program, workdir })
    }
}

fn push(strings: &mut Vec<u8>, text: &OsStr, what: &str) -> Result<(), SpawnError> {
    if text.as_bytes().contains(&0) {
        return Err(SpawnError::invalid(
            format!("{what} contains a zero byte"),
            "no program can be given one; remove it",
        ));
    }
    strings.extend_from_slice(text.as_bytes());
    strings.push(0);
    Ok(())
}
