//! The signals that ask a host to end, and what they mean for its exit code.

use std::io;

/// A signal that asked the host to end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Signalled(i32);

impl Signalled {
    /// Returns the exit code of a program that this signal ended, as shells have it: 128 and its number.
    pub fn exit_code(self) -> u8 {
        u8::try_from(self.0).map_or(u8::MAX, |number| number.saturating_add(128))
    }
}

/// The signals that ask a host to end: SIGINT, SIGTERM and SIGHUP. Where there are none, Ctrl-C.
///
/// From its creation on they end nothing by themselves, so create it before anything is started.
#[derive(Debug)]
pub struct Signals {
    #[cfg(unix)]
    signals: Vec<(i32, tokio::signal::unix::Signal)>,
}

#[cfg(unix)]
impl Signals {
    /// Takes the signals over; inside a runtime with I/O.
    ///
    /// A parent may have blocked them, so they are unblocked in the calling thread, and with it in the threads that it
    /// starts later. A SIGHUP that is ignored stays ignored: that is what `nohup` is for.
    ///
    /// # Errors
    /// The system refuses.
    pub fn new() -> io::Result<Self> {
        use nix::sys::signal::{SigSet, Signal};
        use tokio::signal::unix::{SignalKind, signal};

        let mut wanted = vec![Signal::SIGINT, Signal::SIGTERM];
        if !is_ignored(Signal::SIGHUP) {
            wanted.push(Signal::SIGHUP);
        }
        let mut set = SigSet::empty();
        let mut signals = Vec::with_capacity(wanted.len());
        for wanted in wanted {
            set.add(wanted);
            signals.push((wanted as i32, signal(SignalKind::from_raw(wanted as i32))?));
        }
        // Last, so that one that waited finds its handler.
        set.thread_unblock()?;
        Ok(Self { signals })
    }

    /// Waits for the next of them.
    ///
    /// # Cancellation
    /// Safe.
    pub async fn recv(&mut self) -> Signalled {
        std::future::poll_fn(|cx| {
            for (number, signal) in &mut self.signals {
                if signal.poll_recv(cx).is_ready() {
                    return std::task::Poll::Ready(Signalled(*number));
                }
            }
            std::task::Poll::Pending
        })
        .await
    }
}

/// Tells whether a signal is ignored; no, where that cannot be known.
#[cfg(unix)]
fn is_ignored(signal: nix::sys::signal::Signal) -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let mask = mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).unwrap_or_default();
    mask >> (signal as i32 - 1) & 1 == 1
}

#[cfg(not(unix))]
impl Signals {
    /// Takes Ctrl-C over when it is waited for.
    ///
    /// # Errors
    /// None on this platform.
    pub fn new() -> io::Result<Self> {
        Ok(Self {})
    }

    /// Waits for Ctrl-C.
    ///
    /// # Cancellation
    /// Safe.
    pub async fn recv(&mut self) -> Signalled {
        const SIGINT: i32 = 2;
        match tokio::signal::ctrl_c().await {
            Ok(()) => Signalled(SIGINT),
            Err(_) => std::future::pending().await,
        }
    }
}
