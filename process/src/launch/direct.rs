//! Commands without a guardian: forked from the host, their processes found by their marks.

use std::io::Read;
use std::process::ExitStatus;
use std::time::Duration;

use tokio::sync::{mpsc, watch};
use tokio::time::Instant;

use super::child::{self, Ask, Child, Exit, State};
use super::error::{SpawnError, Stage};
use super::spec::{ChildStdio, Io, Request};
use crate::guardian::tree::ASK;
use crate::guardian::wire::Failure;
use crate::sys::exec::{ExecPlan, replace};
use crate::sys::{self, Process};

/// Pause between two looks while processes are killed.
const KILL_AGAIN: Duration = Duration::from_millis(10);

/// Pause between two looks for what an ended leader left.
const LOOK_AGAIN: Duration = Duration::from_millis(200);

/// Starts a command by forking the host.
pub(crate) async fn spawn(request: Request, io: Io, stdio: ChildStdio, cookie: String) -> Result<Child, SpawnError> {
    use std::os::fd::AsRawFd;
    let Request { header, strings, opened, program, workdir } = request;
    let stderr = stdio.stderr.as_ref().unwrap_or(&stdio.stdout).as_raw_fd();
    let fds = [stdio.stdin.as_raw_fd(), stdio.stdout.as_raw_fd(), stderr];
    let plan = ExecPlan::new(header, strings, fds, &opened.descriptors())
        .ok_or_else(|| SpawnError::invalid("the command cannot be laid out", "this is a defect of the host"))?;
    let (mut failure, write) = std::io::pipe().map_err(|error| SpawnError::io(Stage::Open, &error))?;
    let mut command = tokio::process::Command::new(&program);
    replace(&mut command, plan, write.into());
    let spawned = command.spawn();
    // Our copies of the write end and of the command's descriptors.
    drop(command);
    drop((stdio, opened));
    let process = match spawned {
        Ok(process) => process,
        Err(error) => {
            let mut bytes = [0; Failure::SIZE];
            let failure = failure.read_exact(&mut bytes).ok().and_then(|()| Failure::decode(&bytes));
            let failure = failure.unwrap_or(Failure { stage: Stage::Fork, errno: error.raw_os_error().unwrap_or(0) });
            return Err(SpawnError::failed(failure, &program, &workdir));
        }
    };
    let pid = process.id().map_or(0, u32::cast_signed);
    let (sender, state) = watch::channel(State { lost: true, ..State::default() });
    let (requests, asked) = mpsc::unbounded_channel();
    let marks = Marks { leader: pid, cookie: cookie.clone(), unreaped: true, armed: true };
    tokio::spawn(own(Owned { marks, process }, sender, asked));
    Ok(child::unguarded(pid, cookie, io, state, requests))
}

/// How the processes of a command are told from others.
struct Marks {
    leader: i32,
    cookie: String,
    /// Whether the leader was not reaped yet, so that its number is its own.
    unreaped: bool,
    /// Whether there may be processes.
    armed: bool,
}

impl Drop for Marks {
    fn drop(&mut self) {
        if self.armed {
            // The runtime ends, so nobody waits any more. A moment here ends them all, and lets the leader's handle
            // be dropped after its end, which is what reaps it.
            for _ in 0..50 {
                let living = self.living();
                if living.is_empty() {
                    return;
                }
                kill(&living);
                std::thread::sleep(Duration::from_millis(1));
            }
        }
    }
}

/// A command. The fields are dropped in this order: first all is killed, then the leader's handle reaps it.
struct Owned {
    marks: Marks,
    process: tokio::process::Child,
}

impl Marks {
    fn living(&self) -> Vec<Process> {
        living(self.leader, &self.cookie, self.unreaped)
    }
}

#[derive(Clone, Copy)]
enum Phase {
    Running,
    Grace(Instant),
    Killing,
}

/// Owns the command: reaps the leader, ends the tree when asked or when the [`Child`] is dropped.
async fn own(mut owned: Owned, state: watch::Sender<State>, mut asked: mpsc::UnboundedReceiver<Ask>) {
    let Owned { marks, process } = &mut owned;
    let mut phase = Phase::Running;
    let mut listening = true;
    let mut quiet = 0;
    loop {
        let again = match phase {
            Phase::Running if marks.unreaped => None,
            _ if quiet > 0 => Some(KILL_AGAIN),
            Phase::Running => Some(LOOK_AGAIN),
            Phase::Grace(end) => Some(end.saturating_duration_since(Instant::now()).min(KILL_AGAIN)),
            Phase::Killing => Some(KILL_AGAIN),
        };
        let pause = tokio::time::sleep(again.unwrap_or_default());
        tokio::select! {
            status = process.wait(), if marks.unreaped => {
                marks.unreaped = false;
                let exit = status.map_or(Exit::Lost, ended);
                state.send_modify(|state| state.exit = Some(exit));
            }
            ask = asked.recv(), if listening => match ask {
                Some(Ask::Signal(signal, reply)) => {
                    let result = if marks.unreaped { sys::kill(marks.leader, signal) } else { Err(gone()) };
                    let _ = reply.send(result.err().and_then(|error| error.raw_os_error()).unwrap_or(0));
                }
                Some(Ask::Stop(grace)) => phase = stop(phase, grace, marks, &state),
                None => (listening, phase) = (false, Phase::Killing),
            },
            () = pause, if again.is_some() => {}
        }
        if let Phase::Grace(end) = phase
            && Instant::now() >= end
        {
            phase = Phase::Killing;
        }
        if marks.unreaped && matches!(phase, Phase::Running) {
            continue;
        }
        let living = marks.living();
        if matches!(phase, Phase::Killing) {
            let killed = kill(&living);
            state.send_modify(|state| {
                for process in killed {
                    let known = state.killed_processes.iter().any(|(pid, _)| *pid == process.pid);
                    if !known && state.killed_processes.len() < 64 {
                        state.killed_processes.push((process.pid, process.name()));
                        state.killed += 1;
                    }
                }
            });
        }
        quiet = if living.is_empty() && !marks.unreaped { quiet + 1 } else { 0 };
        if quiet >= 2 {
            marks.armed = false;
            state.send_modify(|state| state.empty = true);
            return;
        }
    }
}

fn stop(phase: Phase, grace: Duration, marks: &Marks, state: &watch::Sender<State>) -> Phase {
    let living = marks.living();
    let count = u32::try_from(living.len()).unwrap_or(u32::MAX);
    state.send_modify(|state| state.found = state.found.max(count));
    let end = Instant::now() + grace.min(Duration::from_secs(24 * 60 * 60));
    match phase {
        Phase::Running => {
            if !grace.is_zero() {
                for number in ASK {
                    for process in &living {
                        let _ = sys::signal(process, number);
                    }
                }
            }
            Phase::Grace(end)
        }
        Phase::Grace(sooner) => Phase::Grace(sooner.min(end)),
        Phase::Killing => Phase::Killing,
    }
}

fn ended(status: ExitStatus) -> Exit {
    use std::os::unix::process::ExitStatusExt;
    match (status.code(), status.signal()) {
        (Some(code), _) => Exit::Code(code),
        (None, Some(signal)) => Exit::Signal(signal),
        (None, None) => Exit::Lost,
    }
}

fn gone() -> std::io::Error {
    std::io::Error::from_raw_os_error(libc::ESRCH)
}

/// Kills until two looks in a row find nobody.
pub(crate) async fn sweep(leader: i32, cookie: &str) {
    let (mut quiet, mut pause) = (0, KILL_AGAIN);
    while quiet < 2 {
        let living = living(leader, cookie, false);
        (quiet, pause) = if living.is_empty() { (quiet + 1, KILL_AGAIN) } else { (0, (pause * 3 / 2).min(LOOK_AGAIN)) };
        kill(&living);
        tokio::time::sleep(pause).await;
    }
}

/// Kills; returns those that could be.
fn kill(living: &[Process]) -> Vec<Process> {
    living.iter().filter(|process| sys::signal(process, libc::SIGKILL).is_ok()).copied().collect()
}

/// The living processes with one of the marks: the leader's session or group, the cookie, or a parent that has one.
pub(crate) fn living(leader: i32, cookie: &str, leader_unreaped: bool) -> Vec<Process> {
    let own = std::process::id().cast_signed();
    let all = sys::all_processes();
    // Once the leader was reaped a process with its number is somebody else, and so may be a session with it.
    let number_is_ours = leader_unreaped || all.iter().all(|process| process.pid != leader);
    let mark = format!("{}={cookie}", super::COOKIE);
    let marked = |process: &Process| {
        (number_is_ours && (process.session == leader || process.group == leader || process.pid == leader))
            || sys::environment_contains(process.pid, mark.as_bytes())
    };
    let mut found: Vec<Process> = Vec::new();
    let (mut new, mut rest): (Vec<_>, Vec<_>) =
        all.into_iter().filter(|process| process.pid != own && !process.is_dead()).partition(marked);
    while !new.is_empty() {
        let parents: Vec<i32> = new.iter().map(|process| process.pid).collect();
        found.append(&mut new);
        (new, rest) = rest.into_iter().partition(|process| parents.contains(&process.parent));
    }
    found
}
