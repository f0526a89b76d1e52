//! A running command: spawn on a PTY or on pipes, clean text, scrollback, rendered screen, whole-tree stop.

#[cfg(unix)]
mod engine;
#[cfg(unix)]
mod guardian;
#[cfg(unix)]
mod launch;
#[cfg(unix)]
mod probe;
#[cfg(unix)]
pub mod pty;
#[cfg(unix)]
mod session;
#[cfg(unix)]
mod sys;
mod sys_utf8;
mod sys_vector;

#[cfg(unix)]
pub use engine::{Engine, EngineConfig, LimitReached, Owner, Pool, PoolConfig, Running, Start, StartError, UnknownId};
#[cfg(unix)]
pub use guardian::run_if_requested;
#[cfg(unix)]
pub use launch::{
    COOKIE, Child, CommandSpec, Exit, Guardian, Io, Launcher, LauncherConfig, Opened, Output, Pipes, ProcessInfo,
    SpawnError, SpawnErrorKind, Stage, Stdio, StopReport, Survivor, SurvivorReason,
};
#[cfg(unix)]
pub use pty::{Pty, PtySettings, PtySize, TtyModes, TtySignal};

#[cfg(unix)]
pub use probe::WaitingFor;
#[cfg(unix)]
pub use session::{
    Ended, EndedBecause, Input, LONGEST_LINE, Reason, Session, SessionLimits, Signal, SignalError, Signalled, Since,
    State, Status, UnknownSignal, Until, Waiter, WriteError, signal_name,
};

pub mod echo;
pub mod keys;
pub mod parse;
pub mod screen;
pub mod terminal;
pub mod text;
