//! The host's connection to the fork server.

use std::collections::VecDeque;
use std::io::{self, ErrorKind};
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::io::Interest;

use super::child::{self, Child};
use super::error::{SpawnError, SpawnErrorKind, Stage};
use super::spec::{ChildStdio, Io, Request};
use crate::guardian::{self, READY, wire::Report};
use crate::sys::socket;

/// How often, and after which pause, a start is tried again that met the limit of processes.
const REFUSALS: u32 = 25;
const AFTER_REFUSAL: Duration = Duration::from_millis(20);

/// A fork server, ended when dropped.
#[derive(Debug)]
pub(crate) struct Server {
    socket: UnixStream,
    process: Mutex<Option<std::process::Child>>,
    /// Whether it said that it serves; else it is some other program, which is not to be left running.
    serves: bool,
}

impl Server {
    /// A command that stopped the server does not keep others from being started.
    fn wake(&self) {
        let process = self.process.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(process) = &*process {
            // Not reaped, so the number is its own.
            let _ = crate::sys::kill(process.id().cast_signed(), libc::SIGCONT);
        }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.socket.shutdown(std::net::Shutdown::Both);
        let process = self.process.get_mut().unwrap_or_else(PoisonError::into_inner).take();
        let Some(mut process) = process else { return };
        if !self.serves {
            let _ = process.kill();
        }
        if !matches!(process.try_wait(), Ok(None)) {
            return;
        }
        // It ends as soon as its guardians have; somebody has to take note, or a zombie stays. Without a thread
        // for that it is one until the host ends.
        let wait = move || process.wait();
        let _ = std::thread::Builder::new().name("toolhost-reap".to_owned()).stack_size(64 * 1024).spawn(wait);
    }
}

/// The current server, if one was started.
#[derive(Debug, Default)]
pub(crate) struct Servers {
    current: tokio::sync::Mutex<Option<Arc<Server>>>,
}

impl Servers {
    /// Starts a command through the server; starts that one first where there is none.
    pub(crate) async fn spawn(
        &self,
        program: &Path,
        request: Request,
        io: Io,
        stdio: ChildStdio,
        cookie: String,
    ) -> Result<Child, SpawnError> {
        let (mut refused, mut killed) = (0, 0);
        loop {
            match self.attempt(program, &request, &stdio).await {
                Ok((server, Some(started))) => return Ok(child::guarded(started, server, io, cookie)),
                // The server may have been killed since the last command.
                Ok((server, None)) if killed == 0 => {
                    tracing::warn!("the fork server was killed; starting another one");
                    self.forget(&server).await;
                    killed += 1;
                }
                Ok((server, None)) => {
                    self.forget(&server).await;
                    return Err(SpawnError::guardian(
                        "the fork server ended before the command was started",
                        "something kills it; try again, and look at the system's log",
                    ));
                }
                // What has just ended counts as a process until somebody took note of it.
                Err(error) if error.kind() == SpawnErrorKind::Processes && refused < REFUSALS => {
                    refused += 1;
                    tokio::time::sleep(AFTER_REFUSAL).await;
                }
                Err(error) => return Err(error),
            }
        }
    }

    async fn attempt(
        &self,
        program: &Path,
        request: &Request,
        stdio: &ChildStdio,
    ) -> Result<(Arc<Server>, Option<Started>), SpawnError> {
        let server = self.current(program).await?;
        let started = start(&server, request, stdio).await?;
        Ok((server, started))
    }

    async fn current(&self, program: &Path) -> Result<Arc<Server>, SpawnError> {
        let mut current = self.current.lock().await;
        if let Some(server) = &*current {
            server.wake();
            return Ok(Arc::clone(server));
        }
        let server = Arc::new(connect(program).await?);
        *current = Some(Arc::clone(&server));
        Ok(server)
    }

    async fn forget(&self, dead: &Arc<Server>) {
        let mut current = self.current.lock().await;
        if current.as_ref().is_some_and(|server| Arc::ptr_eq(server, dead)) {
            *current = None;
        }
    }
}

/// Starts a server and waits for its first byte.
async fn connect(program: &Path) -> Result<Server, SpawnError> {
    let failed = |error: &io::Error| SpawnError::io(Stage::Server, error);
    let (process, socket) = guardian::start(program).map_err(|error| failed(&error))?;
    let mut server = Server { socket, process: Mutex::new(Some(process)), serves: false };
    server.socket.set_nonblocking(true).map_err(|error| failed(&error))?;
    let mut byte = [0];
    loop {
        match socket::receive(&server.socket, &mut byte) {
            Ok(1) if byte[0] == READY => {
                server.serves = true;
                return Ok(server);
            }
            Ok(_) => {
                return Err(SpawnError::guardian(
                    format!("`{}` does not serve as fork server", program.display()),
                    "it has to call `process::run_if_requested()` as the first line of its `main`",
                ));
            }
            Err(error) if error.kind() == ErrorKind::WouldBlock => {
                ready(&server.socket, Interest::READABLE).await.map_err(|error| failed(&error))?;
            }
            Err(error) => return Err(failed(&error)),
        }
    }
}

/// Waits on a copy: the socket itself belongs to no runtime, so that every runtime can use it.
async fn ready(socket: &UnixStream, interest: Interest) -> io::Result<()> {
    tokio::net::UnixStream::from_std(socket.try_clone()?)?.ready(interest).await?;
    Ok(())
}

/// What a guardian said about its command's start.
pub(crate) struct Started {
    pub(crate) control: tokio::net::UnixStream,
    pub(crate) reports: Reports,
    pub(crate) guardian: i32,
    pub(crate) leader: i32,
}

/// Has the server fork a guardian, and the guardian the command. `None` when the server is dead and nothing was run.
async fn start(server: &Server, request: &Request, stdio: &ChildStdio) -> Result<Option<Started>, SpawnError> {
    let failed = |error: io::Error| SpawnError::io(Stage::Server, &error);
    let (control, theirs) = UnixStream::pair().map_err(failed)?;
    socket::no_sigpipe(&control);
    control.set_nonblocking(true).map_err(failed)?;
    let control = tokio::net::UnixStream::from_std(control).map_err(failed)?;
    let stderr = stdio.stderr.as_ref().unwrap_or(&stdio.stdout);
    let theirs = OwnedFd::from(theirs);
    let mut fds = vec![theirs.as_raw_fd(), stdio.stdin.as_raw_fd(), stdio.stdout.as_raw_fd(), stderr.as_raw_fd()];
    fds.extend(request.opened.descriptors());
    loop {
        match socket::send_descriptors(&server.socket, &fds) {
            Ok(()) => break,
            Err(error) if error.kind() == ErrorKind::WouldBlock => {
                ready(&server.socket, Interest::WRITABLE).await.map_err(failed)?;
            }
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) if matches!(error.kind(), ErrorKind::BrokenPipe | ErrorKind::ConnectionReset) => {
                return Ok(None);
            }
            Err(error) => return Err(failed(error)),
        }
    }
    drop(theirs);
    // A guardian that could not be forked has said why; so a failed write is not the end.
    let written = match send_all(&control, &request.header.encode()).await {
        Ok(()) => send_all(&control, &request.strings).await,
        Err(error) => Err(error),
    };
    let mut reports = Reports::default();
    let mut guardian = None;
    while let Ok(Some(report)) = reports.next(&control).await {
        match (report, guardian) {
            (Report::Hello { guardian: pid }, _) => guardian = Some(pid),
            (Report::Failed(failure), _) => {
                return Err(SpawnError::failed(failure, &request.program, &request.workdir));
            }
            (Report::Started { leader }, Some(guardian)) => {
                return Ok(Some(Started { control, reports, guardian, leader }));
            }
            _ => break,
        }
    }
    match guardian {
        None => Ok(None),
        Some(_) => Err(SpawnError::guardian(
            format!("the guardian ended while it started `{}` ({written:?})", request.program),
            "something kills it; try again, and look at the system's log",
        )),
    }
}

/// Writes everything, without SIGPIPE.
pub(crate) async fn send_all(control: &tokio::net::UnixStream, mut bytes: &[u8]) -> io::Result<()> {
    while !bytes.is_empty() {
        match control.try_io(Interest::WRITABLE, || socket::send(control, bytes)) {
            Ok(count) => bytes = &bytes[count..],
            Err(error) if error.kind() == ErrorKind::WouldBlock => control.writable().await?,
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

/// Reports, put together from what was read.
#[derive(Debug, Default)]
pub(crate) struct Reports {
    bytes: VecDeque<u8>,
}

impl Reports {
    /// The next report, `None` at the end. Nothing is lost when the future is dropped.
    pub(crate) async fn next(&mut self, control: &tokio::net::UnixStream) -> io::Result<Option<Report>> {
        let mut buffer = [0; 8 * Report::SIZE];
        loop {
            if self.bytes.len() >= Report::SIZE {
                let mut bytes = [0; Report::SIZE];
                bytes.fill_with(|| self.bytes.pop_front().unwrap_or(0));
                if let Some(report) = Report::decode(&bytes) {
                    return Ok(Some(report));
                }
                continue;
            }
            match control.try_read(&mut buffer) {
                Ok(0) => return Ok(None),
                Ok(count) => self.bytes.extend(&buffer[..count]),
                Err(error) if error.kind() == ErrorKind::WouldBlock => control.readable().await?,
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
    }
}
