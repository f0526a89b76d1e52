//! What the foreground program of a terminal is doing: reading a line, a secret, a key, stopped, or busy.
//!
//! The answer comes from the terminal's settings and from the kernel's record of what each process sleeps in, never
//! from the words that a program prints. On Linux that record is `/proc/PID/task/TID/syscall` (and `wchan` where the
//! former may not be read); elsewhere only the terminal's settings are known, which recognises a secret prompt.

use serde::Serialize;

use crate::pty::TtyModes;

#[cfg(target_os = "linux")]
mod linux;

#[cfg(target_os = "linux")]
use linux as system;

#[cfg(not(target_os = "linux"))]
mod portable;

#[cfg(not(target_os = "linux"))]
use portable as system;

/// What a program that is blocked on the terminal wants.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum WaitingFor {
    /// A line, ended by Enter.
    Line,
    /// A line that is not echoed: a password, a passphrase.
    Secret,
    /// A key: the program reads each byte by itself (an editor, a REPL with a line editor).
    Key,
    /// It reads each byte by itself and waits, perhaps for something other than the terminal.
    Unknown,
}

/// What the foreground process group of a terminal is doing.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Foreground {
    /// The name of the program.
    pub(crate) program: Option<String>,
    /// Every process of it is stopped.
    pub(crate) stopped: bool,
    /// What it waits for, when it is blocked on the terminal.
    pub(crate) waiting: Option<WaitingFor>,
    /// It waits without a timeout, so that nothing comes before it gets input.
    pub(crate) until_input: bool,
}

/// How one thread sleeps, as far as it matters here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(not(target_os = "linux"), expect(dead_code, reason = "only Linux tells how a process sleeps"))]
enum Sleep {
    /// In a read of the terminal.
    Reading,
    /// In a wait for this one descriptor, which is standard input, without a timeout.
    OnInput,
    /// In a wait for descriptors, or for one with a timeout.
    OnSome,
    /// It runs, or sleeps in something else.
    Elsewhere,
}

/// Looks at the foreground process group `group` of the terminal whose session `leader` leads.
///
/// `queued` is how many bytes of input the program has not read yet: a program with input waiting is not blocked,
/// whatever it sleeps in; nor is a stopped one.
pub(crate) fn look(leader: i32, group: Option<i32>, modes: TtyModes, queued: usize) -> Foreground {
    let Some(group) = group else {
        return Foreground::default();
    };
    let seen = system::members(leader, group);
    let blocked = if queued == 0 && !seen.stopped { judge(seen.sleep, modes) } else { None };
    Foreground {
        program: seen.program,
        stopped: seen.stopped,
        waiting: blocked.map(|(waiting, _)| waiting),
        until_input: blocked.is_some_and(|(_, until_input)| until_input),
    }
}

/// What the processes of a group are seen doing.
#[derive(Clone, Debug)]
struct Seen {
    program: Option<String>,
    stopped: bool,
    /// `None` where the system does not tell.
    sleep: Option<Sleep>,
}

/// Joins how a program sleeps with the terminal's settings.
fn judge(sleep: Option<Sleep>, modes: TtyModes) -> Option<(WaitingFor, bool)> {
    let Some(sleep) = sleep else {
        return (modes.canonical && !modes.echo).then_some((WaitingFor::Secret, true));
    };
    match (sleep, modes.canonical) {
        (Sleep::Reading, true) if modes.echo => Some((WaitingFor::Line, true)),
        (Sleep::Reading, true) => Some((WaitingFor::Secret, true)),
        (Sleep::Reading | Sleep::OnInput, false) => Some((WaitingFor::Key, true)),
        (Sleep::OnSome, false) => Some((WaitingFor::Unknown, false)),
        // In line mode a program that polls may be waiting for anything else.
        (Sleep::OnInput, true) if modes.echo => Some((WaitingFor::Line, true)),
        (Sleep::OnInput, true) => Some((WaitingFor::Secret, true)),
        (Sleep::OnSome, true) | (Sleep::Elsewhere, _) => None,
    }
}
