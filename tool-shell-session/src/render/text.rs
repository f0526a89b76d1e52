//! The text of a result: a head line, the output, and a line for each thing that needs a next step.

use std::fmt::Write as _;

use super::time::span;
use super::{Cursor, EndedBecause, Entry, Outcome, Process, Reason, Screen, State, WaitingFor};

/// Characters of a command that a list shows.
const COMMAND_SHOWN: usize = 200;

/// Returns the text of a result.
pub(super) fn of(outcome: &Outcome) -> String {
    match &outcome.sessions {
        Some(sessions) => list(sessions),
        None => session(outcome),
    }
}

fn session(outcome: &Outcome) -> String {
    let mut text = head(outcome);
    let mut line = |part: &str| {
        text.push('\n');
        text.push_str(part);
    };
    if let Some(done) = &outcome.notes.done {
        line(&format!("[{done}]"));
    }
    let lost = outcome.lost_chars.unwrap_or_default();
    if lost > 0 {
        line(&format!("[{} lost before this: it scrolled out unread]", characters(lost)));
    }
    let output = outcome.output.as_deref().unwrap_or_default();
    match &outcome.screen {
        Some(screen) => {
            line(&screen_head(screen, outcome.notes.cols));
            let used = screen.rows.iter().rposition(|row| !row.is_empty()).map_or(0, |last| last + 1);
            screen.rows[..used].iter().for_each(|row| line(row));
        }
        None if output.is_empty() => {}
        None => line(output.strip_suffix('\n').unwrap_or(output)),
    }
    let remaining = outcome.remaining_chars.unwrap_or_default();
    if remaining > 0 && outcome.screen.is_none() {
        line(&format!("[{} not read yet: `read` gives the next part]", characters(remaining)));
    }
    if outcome.notes.full_screen {
        line("[a full-screen program is on: `read` with view \"screen\" shows it whole]");
    }
    if let Some(held_by) = outcome.held_by.as_deref().filter(|held_by| !held_by.is_empty()) {
        line(&format!("[still holding the terminal: {}; `kill` ends that too]", processes(held_by)));
    }
    for survivor in outcome.survivors.iter().flatten() {
        let command = one_line(&survivor.command, COMMAND_SHOWN);
        line(&format!(
            "[could not end process {} ({command}): state {}, {}]",
            survivor.pid, survivor.state, survivor.reason
        ));
    }
    if let Some(secret) = &outcome.notes.secret {
        line(&format!("[{secret}]"));
    }
    if outcome.waiting_for == Some(WaitingFor::Secret) && !outcome.notes.secret_is_open {
        line(
            "[it asks for a secret: call `read`, and the person is asked for it where that is possible; never type one with `write`]",
        );
    }
    text
}

fn head(outcome: &Outcome) -> String {
    let id = outcome.id.as_deref().unwrap_or_default();
    let mut text = format!("{id}: ");
    let state = outcome.state.unwrap_or(State::Running);
    match (state, &outcome.foreground) {
        (State::Running, Some(program)) => {
            let _ = write!(text, "running {}", one_line(program, COMMAND_SHOWN));
        }
        (State::Running, None) => text.push_str("running"),
        (State::Stopped, _) => {
            text.push_str("stopped: `signal` CONT lets it go on, and what is typed waits until then")
        }
        _ => {
            text.push_str(&ended(state, outcome.exit_code, outcome.signal.as_deref()));
            let _ = write!(text, " after {}{}", span(outcome.notes.ran_ms), why_ended(outcome.ended_because));
        }
    }
    if let Some(why) = why(outcome) {
        let _ = write!(text, " ({why})");
    }
    text
}

/// Says why the call returned, where the state does not say it already.
fn why(outcome: &Outcome) -> Option<String> {
    let waits = outcome.waiting_for.map(|waiting_for| match waiting_for {
        WaitingFor::Line => "waits for a line",
        WaitingFor::Secret => "waits for a secret",
        WaitingFor::Key => "waits for a key",
        WaitingFor::Unknown => "waits for input",
    });
    let reason = match outcome.reason? {
        Reason::Exit => return None,
        Reason::Deadline if outcome.notes.unwaited => return waits.map(|waits| format!("it {waits}")),
        Reason::Text if outcome.notes.beyond => "text: it appeared in what is not read yet, read on",
        Reason::Text => "text: it appeared",
        Reason::Quiet => "quiet: the output paused",
        Reason::Deadline => "deadline: the time to wait is over",
        Reason::Input => return Some(format!("input: it {}", waits.unwrap_or("reads the terminal"))),
        Reason::Limit => "limit: still waiting, call `read` again to wait on",
        Reason::Cancelled => "cancelled: this did not stop the session, `read` gives what it prints",
    };
    Some(match waits {
        Some(waits) => format!("{reason}; it {waits}"),
        None => reason.to_owned(),
    })
}

/// Says how a session ended.
pub(crate) fn ended(state: State, code: Option<i32>, signal: Option<&str>) -> String {
    match (state, code, signal) {
        (State::Exited, Some(code), _) => format!("exited with code {code}"),
        (State::Signaled, _, Some(signal)) => format!("ended by {signal}"),
        _ => "ended".to_owned(),
    }
}

/// Says why a session ended, if it did not end by itself.
pub(crate) fn why_ended(because: Option<EndedBecause>) -> &'static str {
    match because {
        None | Some(EndedBecause::Exit) => "",
        Some(EndedBecause::Killed) => ", killed by a call",
        Some(EndedBecause::Idle) => ", stopped because no call came for too long",
        Some(EndedBecause::Lifetime) => ", stopped because it reached its longest life",
        Some(EndedBecause::ChatEnded) => ", stopped because its chat ended",
        Some(EndedBecause::ProjectEnded) => ", stopped because its project ended",
        Some(EndedBecause::HostStopped) => ", stopped because the host stopped",
    }
}

fn screen_head(screen: &Screen, cols: u16) -> String {
    let which = if screen.alternate { "alternate screen" } else { "screen" };
    let Cursor { row, col } = screen.cursor;
    format!("[{which}, {cols} columns, {} rows, cursor at row {row}, column {col} (from 0)]", screen.rows.len())
}

fn list(sessions: &[Entry]) -> String {
    if sessions.is_empty() {
        return "no sessions; `start` makes one".to_owned();
    }
    let lines = sessions.iter().map(|entry| {
        let state = match (&entry.ended, entry.state) {
            (Some(ended), _) => ended.clone(),
            (None, State::Stopped) => "stopped".to_owned(),
            (None, _) => "running".to_owned(),
        };
        let unread = match entry.unread_chars {
            0 => String::new(),
            unread => format!(", {} not read yet", characters(unread)),
        };
        let command = one_line(&entry.command, COMMAND_SHOWN);
        format!("{}: {state}, last call {} ago{unread}: {command}", entry.id, span(entry.idle_ms))
    });
    lines.collect::<Vec<_>>().join("\n")
}

fn processes(processes: &[Process]) -> String {
    let named =
        processes.iter().map(|process| format!("{} {}", process.pid, one_line(&process.command, COMMAND_SHOWN)));
    named.collect::<Vec<_>>().join(", ")
}

/// Returns a number of characters with its digits in groups of three.
fn characters(count: u64) -> String {
    let digits = count.to_string();
    let mut text = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(' ');
        }
        text.push(digit);
    }
    text.push_str(if count == 1 { " character" } else { " characters" });
    text
}

/// Returns a text on one line: control characters visible, cut at a number of characters.
pub(crate) fn one_line(text: &str, limit: usize) -> String {
    let mut line = String::new();
    for (index, character) in text.chars().enumerate() {
        if index == limit {
            line.push('…');
            break;
        }
        if character.is_control() {
            line.extend(character.escape_default());
        } else {
            line.push(character);
        }
    }
    line
}

#[cfg(test)]
mod tests;
