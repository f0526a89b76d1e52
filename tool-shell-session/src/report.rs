//! The facts of a session as an [`Outcome`].

use std::time::Duration;

use process::{Session, Status, SurvivorReason, signal_name};
use tool_api::ToolContext;

use crate::masked;
use crate::render::{
    Cursor, EndedBecause, Entry, Notes, Outcome, Process, Reason, Screen, State, Survivor, WaitingFor, ended, one_line,
    rfc3339, why_ended,
};

/// What a call takes of the output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Take {
    /// The next text, at most so many characters.
    Text(usize),
    /// A look at the screen, which consumes nothing.
    Screen,
    /// Nothing; all stays unread.
    Nothing,
}

/// Returns what a call gives back: the state now, and what it takes of the output.
pub(crate) async fn outcome(ctx: &ToolContext, session: &Session, reason: Reason, take: Take) -> Outcome {
    let status = session.status().await;
    let state = State::from(status.state);
    let mut outcome = Outcome {
        id: Some(session.id().to_owned()),
        output: Some(String::new()),
        remaining_chars: Some(status.unread_chars as u64),
        lost_chars: Some(0),
        reason: Some(if state.has_ended() && !matches!(reason, Reason::Text | Reason::Cancelled) {
            Reason::Exit
        } else {
            reason
        }),
        state: Some(state),
        exit_code: status.exit_code,
        signal: status.signal.map(signal_name),
        ended_because: status.ended_because.map(EndedBecause::from),
        foreground: status.foreground.as_deref().map(clean),
        waiting_for: status.waiting_for.map(WaitingFor::from),
        held_by: Some(status.held_by.into_iter().map(Process::from).collect()),
        notes: Notes {
            ran_ms: milliseconds(status.ran_for),
            full_screen: status.full_screen && matches!(take, Take::Text(_)),
            ..Notes::default()
        },
        ..Outcome::default()
    };
    match take {
        Take::Nothing => {}
        Take::Text(max_chars) => {
            // What waits for a line or a key has printed its prompt.
            let more_comes = state == State::Running && outcome.waiting_for.is_none();
            let read = masked::read(session, max_chars, more_comes, &*ctx.mask);
            outcome.output = Some(read.text);
            outcome.remaining_chars = Some(read.remaining_chars);
            outcome.lost_chars = Some(read.lost_chars);
        }
        Take::Screen => {
            if let Some(view) = session.screen() {
                let view = masked::screen(view, &*ctx.mask);
                outcome.notes.cols = view.size.cols;
                let cursor = Cursor { row: side(view.cursor.row), col: side(view.cursor.col) };
                outcome.screen = Some(Screen { rows: view.rows, cursor, alternate: view.alternate });
            }
        }
    }
    outcome
}

/// Returns the line of a session in a list.
pub(crate) async fn entry(session: &Session) -> Entry {
    let status = session.status().await;
    let state = State::from(status.state);
    Entry {
        id: session.id().to_owned(),
        command: clean(session.command()),
        state,
        started_at: rfc3339(status.started_at),
        idle_ms: milliseconds(status.idle),
        unread_chars: status.unread_chars as u64,
        ended: end(&status),
    }
}

/// Says how a session ended, if it has.
pub(crate) fn end(status: &Status) -> Option<String> {
    let state = State::from(status.state);
    let signal = status.signal.map(signal_name);
    let because = status.ended_because.map(EndedBecause::from);
    state.has_ended().then(|| ended(state, status.exit_code, signal.as_deref()) + why_ended(because))
}

fn milliseconds(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}

fn side(value: usize) -> u16 {
    u16::try_from(value).unwrap_or(u16::MAX)
}

/// Returns a text without control characters but `\n` and `\t`.
fn clean(text: &str) -> String {
    let lines = text.split('\n').map(|line| {
        let parts = line.split('\t').map(|part| one_line(part, usize::MAX));
        parts.collect::<Vec<_>>().join("\t")
    });
    lines.collect::<Vec<_>>().join("\n")
}

impl From<process::State> for State {
    fn from(state: process::State) -> Self {
        match state {
            process::State::Running => Self::Running,
            process::State::Stopped => Self::Stopped,
            process::State::Exited => Self::Exited,
            process::State::Signaled => Self::Signaled,
        }
    }
}

impl From<process::Reason> for Reason {
    fn from(reason: process::Reason) -> Self {
        match reason {
            process::Reason::Text => Self::Text,
            process::Reason::Quiet => Self::Quiet,
            process::Reason::Exit => Self::Exit,
            process::Reason::Deadline => Self::Deadline,
            process::Reason::Input => Self::Input,
        }
    }
}

impl From<process::EndedBecause> for EndedBecause {
    fn from(because: process::EndedBecause) -> Self {
        match because {
            process::EndedBecause::Killed => Self::Killed,
            process::EndedBecause::Idle => Self::Idle,
            process::EndedBecause::Lifetime => Self::Lifetime,
            process::EndedBecause::ChatEnded => Self::ChatEnded,
            process::EndedBecause::ProjectEnded => Self::ProjectEnded,
            process::EndedBecause::HostStopped => Self::HostStopped,
            _ => Self::Exit,
        }
    }
}

impl From<process::WaitingFor> for WaitingFor {
    fn from(waiting_for: process::WaitingFor) -> Self {
        match waiting_for {
            process::WaitingFor::Line => Self::Line,
            process::WaitingFor::Secret => Self::Secret,
            process::WaitingFor::Key => Self::Key,
            process::WaitingFor::Unknown => Self::Unknown,
        }
    }
}

impl From<process::ProcessInfo> for Process {
    fn from(process: process::ProcessInfo) -> Self {
        Self { pid: process.pid, command: clean(&process.command) }
    }
}

impl From<process::Survivor> for Survivor {
    fn from(survivor: process::Survivor) -> Self {
        let reason = match (survivor.reason, survivor.wait_channel) {
            (SurvivorReason::NotPermitted, _) => "it runs as another user, whom this host may not signal".to_owned(),
            (SurvivorReason::Uninterruptible, Some(channel)) => {
                format!("it waits in the kernel ({}) and ends when that does", clean(&channel))
            }
            (SurvivorReason::Uninterruptible, None) => "it waits in the kernel and ends when that does".to_owned(),
            (SurvivorReason::Ending, _) => "it was killed and has not ended yet".to_owned(),
        };
        let process = survivor.process;
        Self { pid: process.pid, command: clean(&process.command), state: process.state.to_string(), reason }
    }
}
