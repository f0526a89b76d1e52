//! Signals by name, and sending them to the foreground process group.

use std::fmt;
use std::str::FromStr;

use super::Session;

/// A signal that may be sent to a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Signal {
    /// Interrupt, as Ctrl-C.
    Int,
    /// Ask to end.
    Term,
    /// Hang up.
    Hup,
    /// Quit, as Ctrl-\.
    Quit,
    /// Kill, which cannot be caught.
    Kill,
    /// Stop until continued, which cannot be caught.
    Stop,
    /// Continue.
    Cont,
    /// The first signal without a meaning of its own.
    Usr1,
    /// The second signal without a meaning of its own.
    Usr2,
}

impl Signal {
    /// Every signal with its name.
    pub const ALL: [(&str, Self); 9] = [
        ("INT", Self::Int),
        ("TERM", Self::Term),
        ("HUP", Self::Hup),
        ("QUIT", Self::Quit),
        ("KILL", Self::Kill),
        ("STOP", Self::Stop),
        ("CONT", Self::Cont),
        ("USR1", Self::Usr1),
        ("USR2", Self::Usr2),
    ];

    /// Returns the number of the signal on this system.
    pub fn number(self) -> i32 {
        match self {
            Self::Int => libc::SIGINT,
            Self::Term => libc::SIGTERM,
            Self::Hup => libc::SIGHUP,
            Self::Quit => libc::SIGQUIT,
            Self::Kill => libc::SIGKILL,
            Self::Stop => libc::SIGSTOP,
            Self::Cont => libc::SIGCONT,
            Self::Usr1 => libc::SIGUSR1,
            Self::Usr2 => libc::SIGUSR2,
        }
    }
}

impl fmt::Display for Signal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = Self::ALL.iter().find(|(_, signal)| signal == self).map_or("", |(name, _)| name);
        write!(f, "SIG{name}")
    }
}

/// Returns the name of any signal number, for example `SIGSEGV` of 11, or `signal N` for one without a name.
pub fn signal_name(number: i32) -> String {
    nix::sys::signal::Signal::try_from(number)
        .map_or_else(|_| format!("signal {number}"), |signal| signal.as_str().to_owned())
}

/// A text that names none of the signals.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("unknown signal `{0}`: use one of INT, TERM, HUP, QUIT, KILL, STOP, CONT, USR1, USR2, with or without SIG")]
pub struct UnknownSignal(String);

impl FromStr for Signal {
    type Err = UnknownSignal;

    fn from_str(name: &str) -> Result<Self, Self::Err> {
        let upper = name.to_ascii_uppercase();
        let short = upper.strip_prefix("SIG").unwrap_or(&upper);
        Self::ALL
            .iter()
            .find(|(known, _)| *known == short)
            .map(|&(_, signal)| signal)
            .ok_or_else(|| UnknownSignal(name.to_owned()))
    }
}

/// Who got a signal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Signalled {
    /// The number of the foreground process group.
    pub group: i32,
    /// The name of the foreground program, where the system tells it.
    pub program: Option<String>,
}

/// Why a signal was not sent.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SignalError {
    /// The command has ended, or has no terminal.
    #[error("the process has ended; nothing was signalled")]
    Ended,
    /// No process group is in the foreground of the terminal.
    #[error("no process is in the foreground of the terminal; nothing was signalled")]
    NoForeground,
    /// The system refused.
    #[error("the foreground process group {group} could not be signalled")]
    System {
        /// The process group.
        group: i32,
        /// The system's error.
        #[source]
        source: std::io::Error,
    },
}

impl Session {
    /// Sends a signal to the foreground process group of the terminal.
    ///
    /// # Errors
    /// See [`SignalError`].
    pub fn signal(&self, signal: Signal) -> Result<Signalled, SignalError> {
        let inner = &self.inner;
        let program = inner.look().and_then(|foreground| foreground.program);
        let link = {
            let shared = inner.lock();
            if shared.end.is_some() {
                return Err(SignalError::Ended);
            }
            shared.link.clone().ok_or(SignalError::Ended)?
        };
        let tty = link.tty().ok_or(SignalError::Ended)?;
        let group = tty.foreground().ok_or(SignalError::NoForeground)?;
        tty.signal_foreground(signal.number()).map_err(|source| SignalError::System { group, source })?;
        Ok(Signalled { group, program })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_with_and_without_sig_in_any_case() {
        for (name, signal) in Signal::ALL {
            assert_eq!(name.parse(), Ok(signal));
            assert_eq!(format!("sig{}", name.to_lowercase()).parse(), Ok(signal));
            assert_eq!(signal.to_string(), format!("SIG{name}"));
        }
        assert!("SIGWINCH".parse::<Signal>().unwrap_err().to_string().contains("USR2"));
    }
}
