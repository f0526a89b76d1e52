//! The fork server and the guardians: each command's parent, which owns its tree of processes.
//!
//! The host does not fork. It re-executes a program once (`posix_spawn`) as fork server, which stays small; the
//! server forks one guardian a command, always one ahead, and the guardian forks the command. The guardian is a subreaper, so whatever
//! the command starts, however it detaches itself, stays below it. It ends the tree when it is asked to, and when
//! the host's end of its control socket closes, which the kernel does for a host that was killed, too. A command
//! that kills its guardian leaves its processes to the server, which kills them.
//!
//! On macOS there is no subreaper: processes are followed by parent, session and identity, and one that leaves
//! all three between two looks is not found.

mod guard;
mod host;
mod server;
pub(crate) mod tree;
pub(crate) mod wire;

use std::io;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::OnceLock;

use crate::sys;
pub(crate) use server::READY;

/// The variable that tells a re-executed program to serve; its value is the pid of the host.
const MARKER: &str = "TOOLHOST_FORK_SERVER";

/// What the host was started with, before it changed anything.
#[derive(Debug, Clone, Copy)]
pub(crate) struct AtStart {
    pub(crate) descriptor_limit: Option<u64>,
    pub(crate) creation_mask: Option<u32>,
}

static AT_START: OnceLock<AtStart> = OnceLock::new();

/// Serves as fork server when this process was started as one, and then never returns. Else returns at once.
///
/// The first line of `main` of a program that runs commands, before any thread or runtime is started:
///
/// ```
/// process::run_if_requested();
/// // The program.
/// ```
///
/// With it a [`Launcher`](crate::Launcher) can re-execute this very program. A program that cannot call it names
/// another one that does in [`LauncherConfig`](crate::LauncherConfig), such as `toolhost-guardian`. It also notes
/// the limit of open descriptors and the file creation mask, which commands get as they were here.
pub fn run_if_requested() {
    let requested = std::env::var(MARKER).ok().and_then(|value| value.parse().ok());
    // The pid keeps a marker that was inherited or typed from turning a program into a server.
    if requested == Some(std::os::unix::process::parent_id()) && sys::socket::is_socket(0) {
        server::serve();
    }
    AT_START.get_or_init(|| AtStart {
        descriptor_limit: sys::descriptor_limit(),
        creation_mask: Some(sys::creation_mask()),
    });
}

/// What `run_if_requested` noted; `None` when it was not called.
pub(crate) fn at_start() -> Option<AtStart> {
    AT_START.get().copied()
}

/// Starts `program` as fork server. It says [`READY`] on the socket, if it is one.
pub(crate) fn start(program: &Path) -> io::Result<(Child, UnixStream)> {
    use std::os::unix::process::CommandExt;
    let (ours, theirs) = UnixStream::pair()?;
    sys::socket::no_sigpipe(&ours);
    // Standard input is how a descriptor is handed over without code between fork and exec, so without a fork.
    let child = Command::new(program)
        .arg0("toolhost-fork-server")
        .env(MARKER, std::process::id().to_string())
        .stdin(Stdio::from(std::os::fd::OwnedFd::from(theirs)))
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()?;
    Ok((child, ours))
}

/// The program this process runs, also after its file was replaced or removed.
pub(crate) fn own_program() -> io::Result<std::path::PathBuf> {
    let path = Path::new("/proc/self/exe");
    if cfg!(target_os = "linux") && path.exists() { Ok(path.to_owned()) } else { std::env::current_exe() }
}
