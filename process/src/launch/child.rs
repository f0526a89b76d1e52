//! A started command: its exit, its processes, its end.

use std::hash::{BuildHasher, Hasher};
use std::os::fd::AsFd;
use std::os::unix::fs::MetadataExt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use tokio::net::UnixStream;
use tokio::sync::{mpsc, oneshot, watch};

use super::direct;
use super::report::{ProcessInfo, StopReport, info, survivor};
use super::server::{Reports, Server, Started, send_all};
use super::spec::{Io, Pipes};
use crate::guardian::tree::Tree;
use crate::guardian::wire::{Command, Report};
use crate::pty::Pty;
use crate::sys::{self, Process};

/// How the leader ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Exit {
    /// It exited with this code.
    Code(i32),
    /// This signal ended it.
    Signal(i32),
    /// Its guardian was killed, and with it all its processes; how it ended is not known.
    Lost,
}

/// What is known of a command so far.
#[derive(Debug, Default)]
pub(crate) struct State {
    pub(crate) exit: Option<Exit>,
    pub(crate) empty: bool,
    /// No guardian is there: processes are found by their marks.
    pub(crate) lost: bool,
    pub(crate) found: u32,
    pub(crate) killed: u32,
    pub(crate) killed_processes: Vec<(i32, String)>,
    /// The last answers to signals.
    pub(crate) answers: Vec<(u32, i32)>,
}

impl State {
    fn take(&mut self, report: Report) {
        match report {
            Report::Exited { code } => self.exit = Some(Exit::Code(code)),
            Report::Signaled { signal } => self.exit = Some(Exit::Signal(signal)),
            Report::Lost => {
                self.exit.get_or_insert(Exit::Lost);
                self.lost = true;
            }
            Report::Found { count } => self.found = self.found.max(count),
            Report::KilledInAll { count } => self.killed = self.killed.max(count),
            Report::Killed { pid, name } => {
                self.killed += 1;
                let name = name.split(|byte| *byte == 0).next().unwrap_or_default();
                self.killed_processes.push((pid, String::from_utf8_lossy(name).into_owned()));
            }
            Report::Answer { sequence, errno } => {
                if self.answers.len() == 16 {
                    self.answers.remove(0);
                }
                self.answers.push((sequence, errno));
            }
            Report::Empty => {
                self.exit.get_or_insert(Exit::Lost);
                self.empty = true;
            }
            Report::Hello { .. } | Report::Started { .. } | Report::Failed(_) => {}
        }
    }
}

/// Who owns the processes.
#[derive(Debug)]
enum Owner {
    Guardian { control: Arc<UnixStream>, pid: i32, sequence: AtomicU32, _server: Arc<Server> },
    Host { requests: mpsc::UnboundedSender<Ask> },
}

/// What a [`Child`] asks of the task that owns a command without guardian.
#[derive(Debug)]
pub(crate) enum Ask {
    Stop(Duration),
    Signal(i32, oneshot::Sender<i32>),
}

/// A running, or ended, command. Dropping it ends its whole tree of processes at once.
#[derive(Debug)]
pub struct Child {
    pid: i32,
    cookie: String,
    io: Option<Io>,
    state: watch::Receiver<State>,
    owner: Owner,
}

impl Child {
    /// The process id of the leader; it means somebody else once the leader has ended.
    pub fn pid(&self) -> i32 {
        self.pid
    }

    /// The value of [`COOKIE`](crate::COOKIE) in its environment.
    pub fn cookie(&self) -> &str {
        &self.cookie
    }

    /// The terminal, once; `None` for a command with pipes.
    pub fn take_pty(&mut self) -> Option<Pty> {
        match self.io.take() {
            Some(Io::Pty(pty)) => Some(pty),
            other => {
                self.io = other;
                None
            }
        }
    }

    /// The pipes, once; `None` for a command with a terminal.
    pub fn take_pipes(&mut self) -> Option<Pipes> {
        match self.io.take() {
            Some(Io::Pipes(pipes)) => Some(pipes),
            other => {
                self.io = other;
                None
            }
        }
    }

    /// How the leader ended, if it has. All it wrote can be read at that moment, without waiting.
    pub fn try_exit(&self) -> Option<Exit> {
        self.state.borrow().exit
    }

    /// Waits for the leader's end. Any number of callers; dropping the future loses nothing.
    pub async fn exit(&self) -> Exit {
        let mut state = self.state.clone();
        // The task that knows is gone only with its runtime, and then the processes are, too.
        state.wait_for(|state| state.exit.is_some()).await.ok().and_then(|state| state.exit).unwrap_or(Exit::Lost)
    }

    /// Whether no process of the tree is left.
    pub fn is_tree_empty(&self) -> bool {
        self.state.borrow().empty
    }

    /// Waits until no process of the tree is left. Any number of callers; dropping the future loses nothing.
    pub async fn tree_empty(&self) {
        let mut state = self.state.clone();
        let _ = state.wait_for(|state| state.empty).await;
    }

    /// The living processes of the tree, without the leader once that has ended.
    pub async fn survivors(&self) -> Vec<ProcessInfo> {
        self.living().iter().map(info).collect()
    }

    /// The living processes of the tree that have this terminal (give its slave) or pipe open. Where the system does
    /// not tell, all of them.
    ///
    /// # Errors
    /// Only for a descriptor that cannot be asked what it is.
    pub async fn holders(&self, end: impl AsFd) -> std::io::Result<Vec<ProcessInfo>> {
        let file = std::fs::File::from(end.as_fd().try_clone_to_owned()?).metadata()?;
        let file = (file.dev(), file.ino());
        Ok(self.living().iter().filter(|process| sys::holds(process.pid, file)).map(info).collect())
    }

    fn living(&self) -> Vec<Process> {
        let state = self.state.borrow();
        if state.empty {
            return Vec::new();
        }
        match &self.owner {
            Owner::Guardian { pid, .. } if !state.lost && sys::subreaper() => Tree::below(*pid).living(),
            _ => direct::living(self.pid, &self.cookie, state.exit.is_none()),
        }
    }

    /// Ends the whole tree: every process is asked (TERM, HUP, and CONT to wake the stopped), and killed after
    /// `grace`; a zero grace kills at once. Returns when nothing is left, at the latest after `deadline`.
    ///
    /// Once asked the end comes, also when the future is dropped. Of several stops the shortest grace counts.
    pub async fn stop(&self, grace: Duration, deadline: Duration) -> StopReport {
        let begin = Instant::now();
        if !self.is_tree_empty() {
            // An owner that cannot be told is gone, and the processes are ended for that.
            match &self.owner {
                Owner::Guardian { control, .. } => {
                    let grace_ms = u64::try_from(grace.as_millis()).unwrap_or(u64::MAX);
                    let _ = send_all(control, &Command::Stop { grace_ms }.encode()).await;
                }
                Owner::Host { requests } => drop(requests.send(Ask::Stop(grace))),
            }
            let _ = tokio::time::timeout(deadline.saturating_sub(begin.elapsed()), self.tree_empty()).await;
        }
        let survivors: Vec<_> = self.living().iter().map(survivor).collect();
        let state = self.state.borrow();
        StopReport {
            found: (state.found as usize).max(survivors.len()),
            killed: state.killed as usize,
            killed_processes: state.killed_processes.clone(),
            survivors,
            complete: state.empty,
            elapsed: begin.elapsed(),
        }
    }

    /// Signals the leader alone; never somebody else who has its number by now.
    ///
    /// # Errors
    /// `ESRCH` after its end, `EPERM` when it runs as somebody else, `EINVAL` for no signal.
    pub async fn signal(&self, signal: i32) -> std::io::Result<()> {
        let errno = match &self.owner {
            Owner::Guardian { control, sequence, .. } => {
                let sequence = sequence.fetch_add(1, Ordering::Relaxed);
                let mut state = self.state.clone();
                let command = Command::Signal { sequence, signal };
                let sent = send_all(control, &command.encode()).await.is_ok();
                let answer = |state: &State| state.answers.iter().find(|(number, _)| *number == sequence).copied();
                let answered = state.wait_for(|state| !sent || state.empty || answer(state).is_some()).await;
                answered.ok().and_then(|state| answer(&state)).map_or(libc::ESRCH, |(_, errno)| errno)
            }
            Owner::Host { requests } => {
                let (reply, answer) = oneshot::channel();
                drop(requests.send(Ask::Signal(signal, reply)));
                answer.await.unwrap_or(libc::ESRCH)
            }
        };
        if errno == 0 { Ok(()) } else { Err(std::io::Error::from_raw_os_error(errno)) }
    }
}

impl Drop for Child {
    fn drop(&mut self) {
        if let Owner::Guardian { control, .. } = &self.owner {
            // At once, not when the runtime comes to drop the reading task's half.
            let _ = nix::sys::socket::shutdown(
                std::os::fd::AsRawFd::as_raw_fd(&**control),
                nix::sys::socket::Shutdown::Both,
            );
        }
    }
}

/// A text no other command has.
pub(crate) fn new_cookie() -> String {
    static NEXT: AtomicU32 = AtomicU32::new(1);
    let number = NEXT.fetch_add(1, Ordering::Relaxed);
    let random = std::hash::RandomState::new().build_hasher().finish();
    format!("{}-{number}-{random:016x}", std::process::id())
}

/// A command with a guardian.
pub(crate) fn guarded(started: Started, server: Arc<Server>, io: Io, cookie: String) -> Child {
    let Started { control, reports, guardian, leader } = started;
    let control = Arc::new(control);
    let (sender, state) = watch::channel(State::default());
    tokio::spawn(follow(Arc::clone(&control), reports, sender, leader, cookie.clone()));
    let owner = Owner::Guardian { control, pid: guardian, sequence: AtomicU32::new(0), _server: server };
    Child { pid: leader, cookie, io: Some(io), state, owner }
}

/// A command without.
pub(crate) fn unguarded(
    pid: i32,
    cookie: String,
    io: Io,
    state: watch::Receiver<State>,
    requests: mpsc::UnboundedSender<Ask>,
) -> Child {
    Child { pid, cookie, io: Some(io), state, owner: Owner::Host { requests } }
}

/// Reads reports until the last one.
async fn follow(
    control: Arc<UnixStream>,
    mut reports: Reports,
    state: watch::Sender<State>,
    leader: i32,
    cookie: String,
) {
    while let Ok(Some(report)) = reports.next(&control).await {
        state.send_modify(|state| state.take(report));
        if report == Report::Empty {
            return;
        }
    }
    if state.receiver_count() == 0 {
        // The child was dropped, its guardian is at work.
        return;
    }
    // Neither guardian nor server is left to speak.
    tracing::warn!(leader, "guardian and fork server were killed; ending what carries the command's mark");
    state.send_modify(|state| state.lost = true);
    direct::sweep(leader, &cookie).await;
    state.send_modify(|state| state.take(Report::Empty));
}
