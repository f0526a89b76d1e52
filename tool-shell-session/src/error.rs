//! What went wrong, in the words that the model reads.

use std::path::Path;

use process::{Session, SignalError, SpawnError, StartError, UnknownSignal, WriteError};
use tool_api::{Denied, ToolError, ToolErrorKind};

use crate::render::one_line;
use crate::report::end;

/// The call was cancelled before anything happened.
pub(crate) fn nothing_done() -> ToolError {
    ToolError::new(ToolErrorKind::Cancelled, "the call was cancelled before anything was started")
}

/// The same for an id that never was and for one of another chat.
pub(crate) fn unknown_id(id: &str) -> ToolError {
    let message = format!("this chat has no session `{}`", one_line(id, 64));
    ToolError::new(ToolErrorKind::UnknownId, message).with_hint("action `list` names the sessions of this chat")
}

/// Why nothing was started.
pub(crate) fn start(error: StartError) -> ToolError {
    match error {
        StartError::Limit(limit) => {
            let whose = if limit.host { "this host" } else { "this chat" };
            let mut message = format!("{whose} already runs {} sessions, its limit; nothing was started", limit.limit);
            let running = limit.running.iter();
            let running: Vec<String> =
                running.map(|session| format!("{} `{}`", session.id, one_line(&session.command, 60))).collect();
            if running.is_empty() {
                let hint = "they belong to other chats: try again when one of them has ended";
                return ToolError::new(ToolErrorKind::Limit, message).with_hint(hint);
            }
            message.push_str("; running in this chat: ");
            message.push_str(&running.join(", "));
            ToolError::new(ToolErrorKind::Limit, message).with_hint("`kill` one that is not needed, then start again")
        }
        StartError::Spawn(error) => spawn(&error),
        other => ToolError::new(ToolErrorKind::System, "nothing was started").with_source(other),
    }
}

fn spawn(error: &SpawnError) -> ToolError {
    let message = format!("nothing was started: {}", one_line(&error.to_string(), 2_000));
    let failed = ToolError::new(ToolErrorKind::System, message);
    match error.hint() {
        Some(hint) => failed.with_hint(hint),
        None => failed,
    }
}

/// The working directory could not be opened when permission was asked.
pub(crate) fn workdir(workdir: &Path, error: &std::io::Error) -> ToolError {
    let workdir = workdir.to_string_lossy();
    let message =
        format!("nothing was started: cannot change to the working directory `{}`: {error}", one_line(&workdir, 1_000));
    ToolError::new(ToolErrorKind::System, message).with_hint("choose an existing directory that may be entered")
}

/// What was approved changed while it was started, so that it was stopped at once.
pub(crate) fn changed(id: &str, changed: &Denied, left: usize) -> ToolError {
    let left = match left {
        0 => "nothing of its process tree is left".to_owned(),
        left => format!("{left} of its processes could not be ended"),
    };
    let message = format!(
        "permission denied: {}; that came while it was started, so session `{id}` ran for a moment before it was \
         stopped, and {left}",
        changed.reason()
    );
    let error = ToolError::new(ToolErrorKind::Denied, message);
    match changed.hint() {
        Some(hint) => error.with_hint(hint),
        None => error,
    }
}

/// A session that has ended cannot be acted on.
pub(crate) async fn ended(session: &Session, nothing: &str) -> ToolError {
    let how = end(&session.status().await).unwrap_or_else(|| "has no terminal any more".to_owned());
    let message = format!("session `{}` {how}; {nothing}", session.id());
    ToolError::new(ToolErrorKind::State, message).with_hint("`read` gives the output that is not read yet")
}

/// Why input was not typed, or not all of it.
pub(crate) async fn write(session: &Session, error: WriteError) -> ToolError {
    let hint = match &error {
        WriteError::Ended { written: 0, .. } => return ended(session, "nothing was typed").await,
        WriteError::Ended { written, total } => {
            return ended(session, &format!("{written} of {total} bytes were typed")).await;
        }
        WriteError::Key(unknown) => return ToolError::argument("keys", format!("{unknown}; nothing was typed")),
        WriteError::Deadline { .. } => {
            "it works on something else, or takes no input; `read` shows what it does, and `signal` INT interrupts it"
        }
        WriteError::LineTooLong { .. } => {
            "send shorter lines, or put the text into a file and let the program read that"
        }
        _ => {
            let message = format!("session `{}`: the input was not typed whole", session.id());
            return ToolError::new(ToolErrorKind::State, message)
                .with_source(error)
                .with_hint("`read` shows its state");
        }
    };
    ToolError::new(ToolErrorKind::State, format!("session `{}`: {error}", session.id())).with_hint(hint)
}

/// A signal that cannot be sent to sessions.
pub(crate) fn signal_name(error: &UnknownSignal) -> ToolError {
    ToolError::argument("signal", error.to_string())
}

/// Why a signal was not sent.
pub(crate) async fn signal(session: &Session, error: SignalError) -> ToolError {
    if matches!(error, SignalError::Ended) {
        return ended(session, "nothing was signalled").await;
    }
    let message = format!("session `{}`: nobody was signalled", session.id());
    ToolError::new(ToolErrorKind::State, message)
        .with_source(error)
        .with_hint("`read` shows its state; `kill` stops everything it started")
}
