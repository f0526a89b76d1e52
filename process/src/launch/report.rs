//! What is told of the processes of a command.

use std::time::Duration;

use crate::sys::{self, Process};

/// A process of a command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProcessInfo {
    /// Its process id.
    pub pid: i32,
    /// Its command line, or its short name where that cannot be read.
    pub command: String,
    /// The state letter of `ps`: `R` running, `S` sleeping, `D` in an uninterruptible wait, `T` stopped.
    pub state: char,
}

/// Why a process is still there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SurvivorReason {
    /// It runs as somebody the host may not signal. Closing its terminal may end it.
    NotPermitted,
    /// It waits in the kernel for something that does not come; it ends when that does.
    Uninterruptible,
    /// It was signalled and has not ended yet.
    Ending,
}

/// A process that is still there after a stop.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Survivor {
    /// The process.
    pub process: ProcessInfo,
    /// The kernel function it waits in, where the system tells.
    pub wait_channel: Option<String>,
    /// Why it is still there.
    pub reason: SurvivorReason,
}

/// What a stop did.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct StopReport {
    /// How many processes were alive when it began.
    pub found: usize,
    /// How many had to be killed after the grace.
    pub killed: usize,
    /// The killed ones by name, the first 64: pid and short name.
    pub killed_processes: Vec<(i32, String)>,
    /// Who is still there at the deadline; the guardian goes on trying to kill them.
    pub survivors: Vec<Survivor>,
    /// Whether it is certain that nothing is left. False without a survivor means one that cannot be seen.
    pub complete: bool,
    /// How long it took.
    pub elapsed: Duration,
}

/// What is told of a process.
pub(crate) fn info(process: &Process) -> ProcessInfo {
    ProcessInfo {
        pid: process.pid,
        command: sys::command_line(process.pid).unwrap_or_else(|| process.name()),
        state: char::from(process.state),
    }
}

/// What is told of a process that should not be there.
pub(crate) fn survivor(process: &Process) -> Survivor {
    let denied = sys::signal(process, 0).is_err_and(|error| error.raw_os_error() == Some(libc::EPERM));
    let reason = match process.state {
        _ if denied => SurvivorReason::NotPermitted,
        b'D' => SurvivorReason::Uninterruptible,
        _ => SurvivorReason::Ending,
    };
    Survivor { process: info(process), wait_channel: sys::wait_channel(process.pid), reason }
}
