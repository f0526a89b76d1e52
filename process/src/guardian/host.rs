//! The guardian's side of the conversation with the host.

use std::io::{self, Read};
use std::os::fd::{AsRawFd, OwnedFd};

use super::wire::{Command, Failure, Header, Report, Stage};
use crate::sys::exec::{ExecPlan, Leads};
use crate::sys::fork::fork;
use crate::sys::socket;

/// The host's end of the conversation.
pub(super) struct Host {
    /// `None` once the host is gone.
    pub(super) control: Option<OwnedFd>,
    /// What could not be said yet.
    pending: Vec<u8>,
    /// The beginning of a command.
    partial: Vec<u8>,
}

impl Host {
    pub(super) fn new(control: OwnedFd) -> Self {
        Self { control: Some(control), pending: Vec::new(), partial: Vec::new() }
    }

    /// Whether something could not be said yet.
    pub(super) fn has_pending(&self) -> bool {
        !self.pending.is_empty()
    }

    /// Reads the request, forks the leader. Returns its pid and the pipe on which it says why it failed.
    pub(super) fn start(&mut self, stdio: &[OwnedFd; 3], opened: &[OwnedFd]) -> Result<(i32, OwnedFd), Failure> {
        let failed = |stage, error: &io::Error| Failure { stage, errno: error.raw_os_error().unwrap_or(0) };
        let request = |error| failed(Stage::Request, &error);
        let control = self.control.as_ref().and_then(|control| control.try_clone().ok());
        let control = control.ok_or(Failure { stage: Stage::Request, errno: libc::EMFILE })?;
        let mut control = std::fs::File::from(control);
        let mut header = [0; Header::SIZE];
        control.read_exact(&mut header).map_err(request)?;
        let header = Header::decode(&header);
        let mut strings = vec![0; header.length as usize];
        control.read_exact(&mut strings).map_err(request)?;
        drop(control);
        let [stdin, stdout, stderr] = stdio.each_ref().map(AsRawFd::as_raw_fd);
        let opened: Vec<_> = opened.iter().map(AsRawFd::as_raw_fd).collect();
        let plan = ExecPlan::new(header, strings, [stdin, stdout, stderr], &opened);
        let plan = plan.ok_or(Failure { stage: Stage::Request, errno: libc::EINVAL })?;
        // The session is ours, not the command's: at the end of a session's leader the system hangs up on what is
        // left in the foreground, such as a job in the background of a shell that knows no jobs.
        plan.take_terminal()?;
        let (status, write) = io::pipe().map_err(|error| failed(Stage::Fork, &error))?;
        let leader = fork(|| {
            let failure = plan.exec(Leads::Group);
            let _ = io::Write::write_all(&mut &write, &failure.encode());
            127
        });
        leader.map(|leader| (leader, status.into())).map_err(|error| failed(Stage::Fork, &error))
    }

    pub(super) fn say(&mut self, report: Report) {
        self.pending.extend_from_slice(&report.encode());
        self.flush();
    }

    /// Never waits: a host that does not listen must not stop a guardian.
    pub(super) fn flush(&mut self) {
        while let (Some(control), false) = (&self.control, self.pending.is_empty()) {
            match socket::send(control, &self.pending) {
                Ok(count) => drop(self.pending.drain(..count)),
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(_) => self.control = None,
            }
        }
    }

    pub(super) fn listen(&mut self) -> Vec<Command> {
        let mut commands = Vec::new();
        let mut buffer = [0; 64 * Command::SIZE];
        let Some(control) = &self.control else { return commands };
        match socket::receive(control, &mut buffer) {
            Ok(0) => self.control = None,
            Ok(count) => self.partial.extend_from_slice(&buffer[..count]),
            Err(error) if matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted) => {}
            Err(_) => self.control = None,
        }
        let whole = self.partial.len() - self.partial.len() % Command::SIZE;
        for bytes in self.partial.drain(..whole).collect::<Vec<_>>().chunks_exact(Command::SIZE) {
            commands.extend(bytes.try_into().ok().and_then(Command::decode));
        }
        commands
    }
}
