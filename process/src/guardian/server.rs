//! The fork server: forks one guardian a command, and ends what is left of a guardian that was killed.

use std::collections::HashMap;
use std::os::fd::{AsFd, OwnedFd};
use std::time::Duration;

use super::guard;
use super::wire::{Failure, Report, Stage};
use crate::sys::fork::{self, exit, fork};
use crate::sys::socket::{self, PASSED};
use crate::sys::{self, Ended, Reaped};

/// The first byte the server sends, so that the host knows it talks to one.
pub(crate) const READY: u8 = b'g';

/// How often orphans that do not die are killed again.
const SWEEP_AGAIN: Duration = Duration::from_millis(20);

/// Serves until the host is gone and no guardian is left.
pub(crate) fn serve() -> ! {
    let Ok(socket) = prepare() else { exit(1) };
    let mut server = Server { socket: Some(socket), guardians: HashMap::new(), lost: Vec::new() };
    loop {
        server.reap();
        if !server.lost.is_empty() {
            server.sweep();
        }
        if server.socket.is_none() && server.guardians.is_empty() && server.lost.is_empty() {
            exit(0);
        }
        let timeout = (!server.lost.is_empty()).then_some(SWEEP_AGAIN);
        let readable = match &server.socket {
            Some(socket) => fork::wait(&[socket.as_fd()], timeout)[0],
            None => !fork::wait(&[], timeout).is_empty(),
        };
        if readable {
            server.receive();
        }
    }
}

fn prepare() -> std::io::Result<OwnedFd> {
    let socket = fork::take_stdin()?;
    // Fails only for a leader of a process group, which is then away from the host's already.
    let _ = fork::new_session();
    fork::quiet_signals();
    sys::become_subreaper()?;
    sys::name_process(c"toolhost-forks");
    sys::set_descriptor_limit(u64::MAX);
    let [socket] = fork::renumber([socket], 3)?;
    sys::close_from(4);
    // Not in the way of an unmount.
    let _ = std::env::set_current_dir("/");
    socket::no_sigpipe(&socket);
    socket::send(&socket, &[READY])?;
    Ok(socket)
}

struct Server {
    /// `None` once the host is gone.
    socket: Option<OwnedFd>,
    /// The guardians by pid, each with a copy of its control socket, to speak for it if it is killed.
    guardians: HashMap<i32, OwnedFd>,
    /// The control sockets of killed guardians, until their orphans are gone.
    lost: Vec<OwnedFd>,
}

impl Server {
    fn receive(&mut self) {
        let Some(socket) = &self.socket else { return };
        match socket::receive_descriptors(socket) {
            Ok(Some(fds)) => {
                if let Ok(fds) = <[OwnedFd; PASSED]>::try_from(fds) {
                    self.start(fds);
                }
            }
            Ok(None) => self.socket = None,
            Err(error) if error.raw_os_error() == Some(libc::EINTR) => {}
            // Most likely out of descriptors. The sender sees its control socket close.
            Err(error) if matches!(error.raw_os_error(), Some(libc::EMFILE | libc::ENFILE | libc::ENOBUFS)) => {}
            Err(_) => self.socket = None,
        }
    }

    fn start(&mut self, fds: [OwnedFd; PASSED]) {
        let Ok(control) = fds[0].try_clone() else { return };
        match fork(|| guard::run(fds)) {
            Ok(guardian) => {
                self.guardians.insert(guardian, control);
            }
            Err(error) => {
                let errno = error.raw_os_error().unwrap_or(libc::EAGAIN);
                say(&control, Report::Failed(Failure { stage: Stage::Fork, errno }));
            }
        }
    }

    /// Reaps guardians, and orphans of killed ones; whether there was one.
    fn reap(&mut self) -> bool {
        let mut reaped = false;
        loop {
            match sys::reap() {
                Reaped::Child(pid, ended) => {
                    reaped = true;
                    if let Some(control) = self.guardians.remove(&pid)
                        && ended != Ended::Code(0)
                    {
                        say(&control, Report::Lost);
                        self.lost.push(control);
                    }
                }
                // A command that stops its guardian does not get rid of it.
                Reaped::Stopped(pid) if self.guardians.contains_key(&pid) => {
                    let _ = sys::kill(pid, libc::SIGCONT);
                }
                Reaped::Stopped(_) => {}
                Reaped::None | Reaped::NoChildren => return reaped,
            }
        }
    }

    /// Kills every child that is no guardian: only the command of a killed guardian can be one.
    ///
    /// Whoever is killed leaves its own children to us, so this goes on until there is none.
    fn sweep(&mut self) {
        let own = std::process::id().cast_signed();
        let mut quiet = 0;
        // Two looks with nothing in between, since a list of children can miss one while another one ends.
        while quiet < 2 {
            let mut children = Vec::new();
            if !sys::children(own, &mut children) {
                children = sys::all_processes()
                    .iter()
                    .filter(|process| process.parent == own)
                    .map(|process| process.pid)
                    .collect();
            }
            children.retain(|pid| !self.guardians.contains_key(pid));
            for pid in &children {
                let _ = sys::kill(*pid, libc::SIGKILL);
            }
            let before = self.lost.len();
            let reaped = self.reap();
            if children.is_empty() && !reaped && before == self.lost.len() {
                quiet += 1;
            } else if reaped {
                quiet = 0;
            } else {
                // Killed, not dead yet: the next look is after SIGCHLD or a moment.
                return;
            }
        }
        for control in self.lost.drain(..) {
            say(&control, Report::Empty);
        }
    }
}

/// Says it if the host still listens; its buffer is far larger than all that is ever said.
fn say(control: &OwnedFd, report: Report) {
    let _ = socket::send(control, &report.encode());
}
