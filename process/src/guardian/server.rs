//! The fork server: has a guardian ready for the next command, and ends what is left of a guardian that was killed.

use std::collections::HashMap;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::time::Duration;

use super::guard;
use super::wire::{Failure, Report, Stage};
use crate::sys::fork::{self, exit, fork};
use crate::sys::socket;
use crate::sys::{self, Ended, Reaped};

/// The first byte the server sends, so that the host knows it talks to one.
pub(crate) const READY: u8 = b'g';

/// The first and the last pause before orphans that do not die are killed again.
const FIRST_PAUSE: Duration = Duration::from_millis(5);
const LAST_PAUSE: Duration = Duration::from_millis(500);

/// How long a new spare waits, so that its fork is not in the way of the command that was just started. A request
/// that is waiting already ends the wait.
const SPARE_DELAY: Duration = Duration::from_millis(2);

/// Serves until the host is gone and no guardian is left.
pub(crate) fn serve() -> ! {
    let Ok(socket) = prepare() else { exit(1) };
    let mut server =
        Server { socket: Some(socket), spare: None, guardians: HashMap::new(), lost: Vec::new(), pause: FIRST_PAUSE };
    server.fork_spare();
    loop {
        server.reap();
        if !server.lost.is_empty() {
            server.sweep();
        }
        if server.socket.is_none() && server.guardians.is_empty() && server.lost.is_empty() {
            exit(0);
        }
        server.wait();
    }
}

fn prepare() -> io::Result<OwnedFd> {
    let socket = fork::take_stdin()?;
    // Fails only for a leader of a process group, which is then away from the host's already.
    let _ = fork::new_session();
    fork::quiet_signals();
    sys::become_subreaper()?;
    sys::name_process(c"toolhost-forks");
    // As many as can be waited for: each guardian takes one, and with more a start is refused.
    sys::set_descriptor_limit(fork::MOST_DESCRIPTORS);
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
    /// A guardian forked beforehand: it takes the next request itself. Its pid, and the socket over which it hands
    /// us a copy of its control socket when it has one.
    spare: Option<(i32, OwnedFd)>,
    /// The guardians by pid, each with a copy of its control socket, to speak for it if it is killed.
    guardians: HashMap<i32, OwnedFd>,
    /// The control sockets of killed guardians, until their orphans are gone.
    lost: Vec<OwnedFd>,
    /// How long until the orphans are killed again.
    pause: Duration,
}

impl Server {
    /// Waits for the spare to take a request, for a child's end, or, without a spare, for a request.
    fn wait(&mut self) {
        let timeout = (!self.lost.is_empty()).then_some(self.pause);
        match (&self.socket, &self.spare) {
            (Some(_), Some((_, link))) => {
                if fork::wait(&[link.as_fd()], timeout)[0] {
                    self.spare_took();
                }
            }
            (Some(socket), None) => {
                let requested = fork::wait(&[socket.as_fd()], timeout)[0];
                if !self.fork_spare() && requested {
                    self.refuse();
                }
            }
            (None, _) => drop(fork::wait(&[], timeout)),
        }
    }

    /// Makes the spare one of the guardians, and a new spare.
    fn spare_took(&mut self) {
        let Some((pid, link)) = &self.spare else { return };
        // At the end of the link without a control socket the spare is about to be reaped, see `ended`.
        let Ok(Some(Some(control))) = socket::receive_descriptors(link).map(|fds| fds.map(|mut fds| fds.pop())) else {
            return;
        };
        self.guardians.insert(*pid, control);
        self.spare = None;
        if let Some(socket) = &self.socket {
            fork::wait(&[socket.as_fd()], Some(SPARE_DELAY));
            self.fork_spare();
        }
    }

    /// Forks a spare; false when that failed.
    fn fork_spare(&mut self) -> bool {
        let Some(socket) = &self.socket else { return false };
        let Ok((ours, theirs)) = UnixStream::pair() else { return false };
        let spare = fork(|| match socket.try_clone() {
            Ok(socket) => guard::run(socket, theirs.into()),
            Err(_) => 0,
        });
        if let Ok(pid) = spare {
            self.spare = Some((pid, ours.into()));
        }
        spare.is_ok()
    }

    /// Answers a request for which no guardian can be forked.
    fn refuse(&mut self) {
        let Some(socket) = &self.socket else { return };
        match socket::receive_descriptors(socket) {
            Ok(Some(fds)) => {
                let errno = libc::EAGAIN;
                if let Some(control) = fds.first() {
                    say(control, Report::Failed(Failure { stage: Stage::Fork, errno }));
                }
            }
            Ok(None) => self.socket = None,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            // Most likely out of descriptors. The sender sees its control socket close.
            Err(error) if matches!(error.raw_os_error(), Some(libc::EMFILE | libc::ENFILE | libc::ENOBUFS)) => {}
            Err(_) => self.socket = None,
        }
    }

    /// Reaps guardians, and orphans of killed ones; whether there was one.
    fn reap(&mut self) -> bool {
        let mut reaped = false;
        loop {
            match sys::reap() {
                Reaped::Child(pid, ended) => {
                    reaped = true;
                    self.ended(pid, ended);
                }
                // A command that stops its guardian does not get rid of it.
                Reaped::Stopped(pid) if self.is_ours(pid) => {
                    let _ = sys::kill(pid, libc::SIGCONT);
                }
                Reaped::Stopped(_) => {}
                Reaped::None | Reaped::NoChildren => return reaped,
            }
        }
    }

    fn ended(&mut self, pid: i32, ended: Ended) {
        if self.spare.as_ref().is_some_and(|(spare, _)| *spare == pid) {
            // It may have taken a request right before.
            let control = self.spare.take().and_then(|(_, link)| socket::try_receive_descriptors(&link).ok()??.pop());
            match control {
                Some(control) => drop(self.guardians.insert(pid, control)),
                None if ended == Ended::Code(guard::HOST_GONE) => self.socket = None,
                None => {}
            }
            self.fork_spare();
        }
        if let Some(control) = self.guardians.remove(&pid)
            && ended != Ended::Code(0)
        {
            say(&control, Report::Lost);
            self.lost.push(control);
        }
    }

    fn is_ours(&self, pid: i32) -> bool {
        self.guardians.contains_key(&pid) || self.spare.as_ref().is_some_and(|(spare, _)| *spare == pid)
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
            children.retain(|pid| !self.is_ours(*pid));
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
                self.pause = (self.pause * 2).min(LAST_PAUSE);
                return;
            }
        }
        self.pause = FIRST_PAUSE;
        for control in self.lost.drain(..) {
            say(&control, Report::Empty);
        }
    }
}

/// Says it if the host still listens; its buffer is far larger than all that is ever said.
fn say(control: &OwnedFd, report: Report) {
    let _ = socket::send(control, &report.encode());
}
