//! The guardian: the parent of one command, which owns its tree and ends it with the host.

use std::collections::HashSet;
use std::io::{self, Read};
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::time::{Duration, Instant};

use super::host::Host;
use super::tree::{ASK, Tree};
use super::wire::{Command, Failure, Report};
use crate::sys::fork;
use crate::sys::socket::{self, ALWAYS_PASSED};
use crate::sys::{self, Ended, Reaped};

/// The first and the last pause between two rounds of killing.
const FIRST_PAUSE: Duration = Duration::from_millis(1);
const LAST_PAUSE: Duration = Duration::from_millis(200);

/// How often the tree is looked at where the system does not tell that it is empty.
const LOOK_AGAIN: Duration = Duration::from_millis(100);

/// More than anybody waits, and far from any overflow.
const LONGEST_GRACE: Duration = Duration::from_secs(24 * 60 * 60);

/// How many killed processes are reported by name, and how many are counted.
const NAMED: usize = 64;
const COUNTED: usize = 100_000;

/// The exit code of a guardian that got no command, since the host is gone.
pub(crate) const HOST_GONE: i32 = 3;

/// The exit code of a guardian that leaves processes, which it may not signal, to the hang-up of their closed terminal.
const LEFT_TO_HANG_UP: i32 = 4;

/// Takes one request from the server's socket and runs it to the end of its tree; the result is this process's exit
/// code. `link` is how the server learns of it: it gets a copy of the control socket.
pub(crate) fn run(requests: OwnedFd, link: OwnedFd) -> i32 {
    let Ok([requests, link]) = fork::renumber([requests, link], 3) else { return 0 };
    // Among others copies of the control sockets of other guardians.
    sys::close_from(5);
    let _ = fork::new_session();
    let _ = sys::become_subreaper();
    sys::name_process(c"toolhost-guard");
    let fds = loop {
        match socket::receive_descriptors(&requests) {
            Ok(Some(fds)) => break fds,
            Ok(None) => return HOST_GONE,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            // The sender sees its control socket close, and nothing said before.
            Err(_) => return 0,
        }
    };
    if fds.len() < ALWAYS_PASSED {
        return 0;
    }
    // Without a server nobody would end the tree if we were killed: the host is to start a new one first.
    if socket::send_descriptors(&link, &[fds[0].as_raw_fd()]).is_err() {
        return 0;
    }
    drop((requests, link));
    let Ok(mut fds) = fork::renumber_all(fds, 3) else { return 0 };
    let opened = fds.split_off(ALWAYS_PASSED);
    let Ok([control, stdin, stdout, stderr]) = <[OwnedFd; ALWAYS_PASSED]>::try_from(fds) else { return 0 };
    socket::no_sigpipe(&control);
    let guardian = std::process::id().cast_signed();
    let mut host = Host::new(control);
    host.say(Report::Hello { guardian });
    let started = host.start(&[stdin, stdout, stderr], &opened);
    // Not in the way of an unmount.
    drop(opened);
    let (leader, status) = match started {
        Ok(started) => started,
        Err(failure) => {
            host.say(Report::Failed(failure));
            return 0;
        }
    };
    let mut guard = Guard {
        host,
        leader: Some(leader),
        status: Some(status),
        tree: Tree::below(guardian).with_session(guardian),
        terminal: has_terminal(),
        phase: Phase::Running,
        killed: HashSet::new(),
        quiet: 0,
    };
    while !guard.turn() {}
    0
}

/// Whether this process has a controlling terminal, whose master is still open.
fn has_terminal() -> bool {
    std::fs::File::open("/dev/tty").is_ok()
}

#[derive(Clone, Copy)]
enum Phase {
    Running,
    /// Asked to end; killed at this moment.
    Grace(Instant),
    /// Being killed, with this pause after a round in which nobody died.
    Killing(Duration),
}

struct Guard {
    host: Host,
    /// `None` once reaped: its number means somebody else then.
    leader: Option<i32>,
    /// Where the leader says why it could not become the command; closed by a successful exec.
    status: Option<OwnedFd>,
    tree: Tree,
    /// Whether we lead the session of a terminal.
    terminal: bool,
    phase: Phase,
    /// Who was killed; bounded, since a fork chain makes many.
    killed: HashSet<(i32, u64)>,
    /// Looks in a row that found nobody, where orphans leave the tree.
    quiet: u32,
}

impl Guard {
    /// One round: reap, act, wait. True at the end.
    fn turn(&mut self) -> bool {
        let (reaped, childless) = self.reap();
        if childless && self.is_empty() {
            self.finish();
            return true;
        }
        if self.host.control.is_none() && !matches!(self.phase, Phase::Killing(_)) {
            self.phase = Phase::Killing(FIRST_PAUSE);
        }
        if let Phase::Grace(end) = self.phase
            && Instant::now() >= end
        {
            self.phase = Phase::Killing(FIRST_PAUSE);
        }
        let timeout = match self.phase {
            Phase::Running if sys::subreaper() => None,
            Phase::Running => {
                // Who is not seen before its parent ends is not found afterwards.
                self.tree.living();
                Some(LOOK_AGAIN)
            }
            Phase::Grace(end) => Some(end.saturating_duration_since(Instant::now())),
            Phase::Killing(pause) => {
                self.kill();
                self.phase = Phase::Killing(if reaped { FIRST_PAUSE } else { (pause * 2).min(LAST_PAUSE) });
                Some(pause)
            }
        };
        let timeout =
            if self.host.has_pending() { Some(timeout.unwrap_or(LOOK_AGAIN).min(LOOK_AGAIN)) } else { timeout };
        self.wait(timeout);
        false
    }

    fn wait(&mut self, timeout: Option<Duration>) {
        let (control, status) = (self.host.control.as_ref(), self.status.as_ref());
        let fds: Vec<_> = control.into_iter().chain(status).map(AsFd::as_fd).collect();
        let ready = fork::wait(&fds, timeout);
        let status = status.is_some() && ready.last() == Some(&true);
        let control = control.is_some() && ready.first() == Some(&true);
        if status {
            self.read_status();
        }
        if control {
            for command in self.host.listen() {
                self.obey(command);
            }
        }
        self.host.flush();
    }

    /// Tells the host whether the exec worked.
    fn read_status(&mut self) {
        let (Some(status), Some(leader)) = (self.status.take(), self.leader) else { return };
        let mut bytes = [0; Failure::SIZE];
        let mut status = std::fs::File::from(status);
        let failure = status.read_exact(&mut bytes).ok().and_then(|()| Failure::decode(&bytes));
        drop(status);
        self.host.say(match failure {
            Some(failure) => Report::Failed(failure),
            None => Report::Started { leader },
        });
    }

    /// Reaps what ended: whether anything did, and whether no child is left.
    fn reap(&mut self) -> (bool, bool) {
        let mut reaped = false;
        loop {
            match sys::reap() {
                Reaped::Stopped(_) => {}
                Reaped::Child(pid, ended) => {
                    reaped = true;
                    if self.leader == Some(pid) {
                        // The exec comes before the end, also for the host.
                        self.read_status();
                        self.leader = None;
                        self.host.say(match ended {
                            Ended::Code(code) => Report::Exited { code },
                            Ended::Signal(signal) => Report::Signaled { signal },
                        });
                    }
                }
                Reaped::None => return (reaped, false),
                Reaped::NoChildren => return (reaped, true),
            }
        }
    }

    /// Without a child nobody is left, if orphans come to us. Else two looks in a row have to find nobody.
    fn is_empty(&mut self) -> bool {
        if sys::subreaper() {
            return true;
        }
        self.quiet = if self.tree.living().is_empty() { self.quiet + 1 } else { 0 };
        self.quiet >= 2
    }

    fn finish(&mut self) {
        let count = u32::try_from(self.killed.len()).unwrap_or(u32::MAX);
        self.host.say(Report::KilledInAll { count });
        self.host.say(Report::Empty);
        while self.host.control.is_some() && self.host.has_pending() {
            self.wait(Some(LOOK_AGAIN));
        }
    }

    fn obey(&mut self, command: Command) {
        match command {
            Command::Stop { grace_ms } => self.stop(Duration::from_millis(grace_ms)),
            Command::Signal { sequence, signal } => {
                let result = self.leader.map_or(Err(libc::ESRCH), |leader| {
                    sys::kill(leader, signal).map_err(|error| error.raw_os_error().unwrap_or(libc::EINVAL))
                });
                self.host.say(Report::Answer { sequence, errno: result.err().unwrap_or(0) });
            }
        }
    }

    /// Asks every process once: what they start while they end is theirs, such as a trap's clean-up.
    fn stop(&mut self, grace: Duration) {
        let living = self.tree.living();
        self.host.say(Report::Found { count: u32::try_from(living.len()).unwrap_or(u32::MAX) });
        if matches!(self.phase, Phase::Running) && !grace.is_zero() {
            for number in ASK {
                for process in &living {
                    let _ = self.tree.signal(process, number);
                }
                if let (true, Some(leader)) = (living.is_empty(), self.leader) {
                    let _ = sys::kill(leader, number);
                }
            }
        }
        let end = Instant::now() + grace.min(LONGEST_GRACE);
        self.phase = match self.phase {
            Phase::Running => Phase::Grace(end),
            Phase::Grace(sooner) => Phase::Grace(sooner.min(end)),
            killing @ Phase::Killing(_) => killing,
        };
    }

    /// Kills all there are. Children of the killed come to us, so the rounds end when no child is left.
    fn kill(&mut self) {
        if !self.killed.is_empty() {
            // Somebody forks faster than processes can be looked at: first kill, then look.
            let mut children = Vec::new();
            if sys::children(std::process::id().cast_signed(), &mut children) {
                for pid in children {
                    let _ = sys::kill(pid, libc::SIGKILL);
                }
            }
        }
        let living = self.tree.living();
        let mut denied = 0;
        for process in &living {
            let sent = self.tree.signal(process, libc::SIGKILL);
            denied += usize::from(sent.as_ref().is_err_and(|error| error.raw_os_error() == Some(libc::EPERM)));
            if sent.is_ok()
                && self.killed.len() < COUNTED
                && self.killed.insert((process.pid, process.start))
                && self.killed.len() <= NAMED
            {
                self.host.say(Report::killed(process));
            }
        }
        // Also where processes cannot be looked at, such as without `/proc`.
        if let Some(leader) = self.leader {
            let _ = sys::kill(leader, libc::SIGKILL);
        }
        if self.terminal && denied > 0 && denied == living.len() && !has_terminal() {
            // Only our end hangs up on them, with the rights of the kernel. The server sees to the rest.
            fork::exit(LEFT_TO_HANG_UP);
        }
    }
}
