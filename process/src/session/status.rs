//! What a session is doing, or how it ended.

use std::time::{Duration, Instant, SystemTime};

use serde::Serialize;

use super::Session;
use crate::launch::ProcessInfo;
use crate::probe::WaitingFor;

/// Whether a command runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum State {
    /// It runs.
    Running,
    /// Its foreground program is stopped by a signal and waits to be continued.
    Stopped,
    /// It ended with an exit code.
    Exited,
    /// It was ended by a signal.
    Signaled,
}

/// Why a session ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub enum EndedBecause {
    /// The command ended by itself.
    Exit,
    /// A call stopped it.
    Killed,
    /// No call was made on it for too long.
    Idle,
    /// It had run as long as a session may.
    Lifetime,
    /// Its time to run was over.
    Timeout,
    /// Its chat ended.
    ChatEnded,
    /// Its project was disposed of.
    ProjectEnded,
    /// The host stopped.
    HostStopped,
}

/// A snapshot of a session.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Status {
    /// Whether it runs.
    pub state: State,
    /// Its exit code, when it exited.
    pub exit_code: Option<i32>,
    /// The number of the signal that ended it.
    pub signal: Option<i32>,
    /// Why it ended.
    pub ended_because: Option<EndedBecause>,
    /// The name of the foreground program, while it runs on a terminal.
    pub foreground: Option<String>,
    /// What the foreground program is blocked on.
    pub waiting_for: Option<WaitingFor>,
    /// The alternate screen is on: the output is made of pieces, and the rendered screen shows the whole.
    pub full_screen: bool,
    /// The processes that go on after the command itself ended.
    pub held_by: Vec<ProcessInfo>,
    /// When it started, by the wall clock.
    pub started_at: SystemTime,
    /// How long it ran, or has been running.
    pub ran_for: Duration,
    /// The time since the last call on it.
    pub idle: Duration,
    /// Characters of output that were not read yet.
    pub unread_chars: u64,
}

/// How long a snapshot waits for the last output, which is there a moment after the last process has ended.
const LAST_OUTPUT: Duration = Duration::from_millis(100);

impl Session {
    /// Takes a snapshot; looks at the foreground program of a running session, and asks for the processes that are
    /// left of an ended one.
    pub async fn status(&self) -> Status {
        let foreground = self.inner.look();
        let child = {
            let shared = self.inner.lock();
            shared.end.and_then(|_| shared.child.clone())
        };
        let held_by = match child {
            Some(child) => {
                let held_by = child.survivors().await;
                if held_by.is_empty() {
                    // Whoever is told that nothing holds the output any more can read the last of it.
                    self.inner.finished(LAST_OUTPUT).await;
                }
                held_by
            }
            None => Vec::new(),
        };
        let now = Instant::now();
        let shared = self.inner.lock();
        let stopped = foreground.as_ref().is_some_and(|foreground| foreground.stopped);
        let state = match shared.end {
            Some(end) if end.signal.is_some() => State::Signaled,
            Some(_) => State::Exited,
            None if stopped => State::Stopped,
            None => State::Running,
        };
        let running = shared.end.is_none();
        let foreground = foreground.filter(|_| running);
        Status {
            state,
            exit_code: shared.end.and_then(|end| end.code),
            signal: shared.end.and_then(|end| end.signal),
            ended_because: shared.end.map(|_| shared.ended_because.unwrap_or(EndedBecause::Exit)),
            waiting_for: foreground.as_ref().and_then(|foreground| foreground.waiting),
            foreground: foreground.and_then(|foreground| foreground.program),
            full_screen: running && shared.terminal.modes().alternate_screen,
            held_by,
            started_at: self.inner.started_at,
            ran_for: shared.end.map_or(now, |end| end.at).saturating_duration_since(self.inner.started),
            idle: now.saturating_duration_since(shared.touched),
            unread_chars: shared.unread_chars(),
        }
    }
}
