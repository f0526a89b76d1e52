//! The guardian: the parent of one command, which owns its tree and ends it with the host.

use std::io::{self, Read};
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::time::{Duration, Instant};

use super::tree::{ASK, Tree};
use super::wire::{Command, Failure, Header, Report, Stage};
use crate::sys::exec::ExecPlan;
use crate::sys::fork::{self, fork};
use crate::sys::socket::{self, PASSED};
use crate::sys::{self, Ended, Reaped};

/// The first and the last pause between two rounds of killing.
const FIRST_PAUSE: Duration = Duration::from_millis(1);
const LAST_PAUSE: Duration = Duration::from_millis(200);

/// How often the tree is looked at where the system does not tell that it is empty.
const LOOK_AGAIN: Duration = Duration::from_millis(100);

/// More than anybody waits, and far from any overflow.
const LONGEST_GRACE: Duration = Duration::from_secs(24 * 60 * 60);

/// How many killed processes are reported one by one.
const NAMED: u32 = 64;

/// The exit code of a guardian that got no command, since the host is gone.
pub(crate) const HOST_GONE: i32 = 3;

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
    let Ok(fds) = <[OwnedFd; PASSED]>::try_from(fds) else { return 0 };
    // Without a server nobody would end the tree if we were killed: the host is to start a new one first.
    if socket::send_descriptors(&link, &[fds[0].as_raw_fd()]).is_err() {
        return 0;
    }
    drop((requests, link));
    let Ok([control, stdin, stdout, stderr]) = fork::renumber(fds, 3) else { return 0 };
    socket::no_sigpipe(&control);
    let guardian = std::process::id().cast_signed();
    let mut host = Host { control: Some(control), pending: Vec::new(), partial: Vec::new() };
    host.say(Report::Hello { guardian });
    let started = host.start(&[stdin, stdout, stderr]);
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
        tree: Tree::below(guardian).with_session(leader),
        phase: Phase::Running,
        killed: Vec::new(),
        total: 0,
        quiet: 0,
    };
    while !guard.turn() {}
    0
}

/// The host's end of the conversation.
struct Host {
    /// `None` once the host is gone.
    control: Option<OwnedFd>,
    /// What could not be said yet.
    pending: Vec<u8>,
    /// The beginning of a command.
    partial: Vec<u8>,
}

impl Host {
    /// Reads the request, forks the leader. Returns its pid and the pipe on which it says why it failed.
    fn start(&mut self, stdio: &[OwnedFd; 3]) -> Result<(i32, OwnedFd), Failure> {
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
        let plan = ExecPlan::new(header, strings, [stdin, stdout, stderr]);
        let plan = plan.ok_or(Failure { stage: Stage::Request, errno: libc::EINVAL })?;
        let (status, write) = io::pipe().map_err(|error| failed(Stage::Fork, &error))?;
        let leader = fork(|| {
            let failure = plan.exec();
            let _ = io::Write::write_all(&mut &write, &failure.encode());
            127
        });
        leader.map(|leader| (leader, status.into())).map_err(|error| failed(Stage::Fork, &error))
    }

    fn say(&mut self, report: Report) {
        self.pending.extend_from_slice(&report.encode());
        self.flush();
    }

    /// Never waits: a host that does not listen must not stop a guardian.
    fn flush(&mut self) {
        while let (Some(control), false) = (&self.control, self.pending.is_empty()) {
            match socket::send(control, &self.pending) {
                Ok(count) => drop(self.pending.drain(..count)),
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(_) => self.control = None,
            }
        }
    }

    fn listen(&mut self) -> Vec<Command> {
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
    phase: Phase,
    /// Who was killed and reported.
    killed: Vec<(i32, u64)>,
    total: u32,
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
            Phase::Running if childless => Some(LOOK_AGAIN),
            Phase::Running => None,
            Phase::Grace(end) => Some(end.saturating_duration_since(Instant::now())),
            Phase::Killing(pause) => {
                self.kill();
                self.phase = Phase::Killing(if reaped { FIRST_PAUSE } else { (pause * 2).min(LAST_PAUSE) });
                Some(pause)
            }
        };
        let timeout =
            if self.host.pending.is_empty() { timeout } else { Some(timeout.unwrap_or(LOOK_AGAIN).min(LOOK_AGAIN)) };
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
        self.host.say(Report::Empty);
        while self.host.control.is_some() && !self.host.pending.is_empty() {
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
        if self.total > 0 {
            // Somebody forks faster than processes can be looked at: first kill, then look.
            let mut children = Vec::new();
            if sys::children(std::process::id().cast_signed(), &mut children) {
                for pid in children {
                    let _ = sys::kill(pid, libc::SIGKILL);
                }
            }
        }
        for process in self.tree.living() {
            if self.tree.signal(&process, libc::SIGKILL).is_err() {
                continue;
            }
            let identity = (process.pid, process.start);
            if self.killed.contains(&identity) {
                continue;
            }
            self.total = self.total.saturating_add(1);
            if self.total <= NAMED {
                self.killed.push(identity);
                self.host.say(Report::killed(&process, self.total));
            }
        }
    }
}
