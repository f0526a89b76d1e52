//! The task of a session: it reads, answers the program's questions to the terminal, and sees the command end.

use std::cell::RefCell;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant, SystemTime};

use tokio::io::Interest;
use tokio::io::unix::AsyncFd;
use tokio::sync::Notify;

use super::{End, EndedBecause, Inner, Parts, Session, Shared, later};
use crate::launch::{Child, Exit};
use crate::pty::{self, PtySize, TtyModes, TtySignal};
use crate::screen::LineFeed;
use crate::sys::watch::{Readable, watch};
use crate::terminal::Terminal;
use crate::text::{Cursor, Piece};

/// A pipe holds as much.
const BUFFER: usize = 64 * 1024;
/// The most that one read of a terminal returns.
const READ: usize = 4095;
/// What is read before other sessions on the same thread get their turn: eight reads.
const TURN: usize = 8 * READ;
/// More than the kernel holds of a terminal's output at an exit: what comes after it is somebody else's.
const DRAIN: usize = 256 * 1024;

/// The most that is written at once: in pieces of this size a terminal that nobody reads takes 20 KiB, in larger ones
/// 13 KiB (measured on Linux 6.18).
const WRITE: usize = 1024;

thread_local! {
    // One buffer a thread instead of one a session: an idle session keeps none.
    static SCRATCH: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
}

/// The host's ends of a command's terminal or pipe.
#[derive(Debug)]
pub(super) struct Link {
    end: HostEnd,
    readable: Readable,
}

#[derive(Debug)]
enum HostEnd {
    Terminal {
        /// Watched for writing here.
        master: AsyncFd<OwnedFd>,
        /// The program's end, held so that the master reports no hang-up and macOS keeps unread output.
        slave: OwnedFd,
    },
    /// The read end.
    Pipe(OwnedFd),
}

impl Link {
    fn new(child: &mut Child) -> io::Result<Self> {
        let end = match (child.take_pty(), child.take_pipes()) {
            (Some(pty), _) => HostEnd::Terminal { master: watch(pty.master, Interest::WRITABLE)?, slave: pty.slave },
            (None, Some(pipes)) if pipes.stderr.is_none() => HostEnd::Pipe(pipes.stdout),
            _ => {
                return Err(io::Error::other(
                    "a session reads one terminal, or one pipe with output and errors merged",
                ));
            }
        };
        Ok(Self { readable: Readable::new(end.as_fd())?, end })
    }

    /// The terminal, if it is one.
    pub(super) fn tty(&self) -> Option<Tty<'_>> {
        match &self.end {
            HostEnd::Terminal { master, slave } => Some(Tty { master: master.get_ref(), slave }),
            HostEnd::Pipe(_) => None,
        }
    }

    /// Writes what the terminal takes now, at least one byte.
    pub(super) async fn write_some(&self, bytes: &[u8]) -> io::Result<usize> {
        let HostEnd::Terminal { master, .. } = &self.end else {
            return Err(io::ErrorKind::Unsupported.into());
        };
        let bytes = &bytes[..bytes.len().min(WRITE)];
        master.async_io(Interest::WRITABLE, |end| Ok(nix::unistd::write(end, bytes)?)).await
    }
}

impl AsFd for HostEnd {
    fn as_fd(&self) -> BorrowedFd<'_> {
        match self {
            Self::Terminal { master, .. } => master.as_fd(),
            Self::Pipe(end) => end.as_fd(),
        }
    }
}

/// A terminal with both its ends open.
#[derive(Clone, Copy, Debug)]
pub(super) struct Tty<'a> {
    master: &'a OwnedFd,
    slave: &'a OwnedFd,
}

impl Tty<'_> {
    pub(super) fn modes(self) -> io::Result<TtyModes> {
        pty::modes(self.master)
    }

    pub(super) fn resize(self, size: PtySize) -> io::Result<()> {
        pty::resize(self.master, size)
    }

    pub(super) fn foreground(self) -> Option<i32> {
        pty::foreground(self.master)
    }

    pub(super) fn pending_input(self) -> usize {
        pty::input_pending(self.slave).unwrap_or(0)
    }

    /// Throws away what was typed and not read.
    pub(super) fn discard_input(self) {
        // It fails only for what is no terminal.
        let _ = nix::sys::termios::tcflush(self.slave, nix::sys::termios::FlushArg::TCIFLUSH);
    }

    /// Signals the foreground group; by the terminal itself where it can, which reaches another user's programs too.
    pub(super) fn signal_foreground(self, signal: i32) -> io::Result<()> {
        let by_terminal = match signal {
            libc::SIGINT => Some(TtySignal::Interrupt),
            libc::SIGQUIT => Some(TtySignal::Quit),
            libc::SIGTSTP => Some(TtySignal::Suspend),
            _ => None,
        };
        match by_terminal {
            Some(signal) => pty::signal_foreground(self.master, signal),
            None => pty::kill_foreground(self.master, signal).map(drop),
        }
    }
}

/// Lets go of a session's command when its task ends, or is dropped with its runtime.
struct Finish(Arc<Inner>);

impl Drop for Finish {
    fn drop(&mut self) {
        let (link, child) = {
            let mut shared = self.0.lock();
            shared.finish();
            if shared.end.is_none() {
                // Nobody is left who could learn how it ends; without its child it is killed.
                shared.end = Some(End { code: None, signal: Some(libc::SIGKILL), at: Instant::now() });
                shared.ended_because.get_or_insert(EndedBecause::HostStopped);
            }
            (shared.link.take(), shared.child.take())
        };
        drop((link, child));
        self.0.changed.notify_waiters();
    }
}

/// What came of one turn of reading.
enum Turn {
    /// Everything that is there was read.
    Dry,
    /// There may be more.
    More,
    /// Nothing can come any more.
    Closed,
}

impl Session {
    /// Makes a session of a started command and starts its task. Needs a runtime to be entered.
    pub(crate) fn run(mut parts: Parts) -> io::Result<Self> {
        let link = Arc::new(Link::new(&mut parts.child)?);
        let now = Instant::now();
        let inner = Arc::new(Inner {
            id: parts.id,
            command: parts.command,
            owner: parts.owner,
            limits: parts.limits,
            leader: parts.child.pid(),
            started: now,
            started_at: SystemTime::now(),
            has_terminal: link.tty().is_some(),
            shared: Mutex::new(Shared {
                terminal: Terminal::new(parts.size, parts.retained_chars),
                link: Some(Arc::clone(&link)),
                child: Some(Arc::new(parts.child)),
                cursor: Cursor::default(),
                waits: std::collections::BTreeMap::new(),
                next_wait: 0,
                received: 0,
                output_awaited: false,
                answering: false,
                typed_of_line: 0,
                last_output: now,
                touched: now,
                end: None,
                ended_because: None,
            }),
            changed: Notify::new(),
            reading: Mutex::default(),
            writing: tokio::sync::Mutex::default(),
            close: Notify::new(),
            runtime: tokio::runtime::Handle::current(),
        });
        let child = inner.lock().child.clone();
        if let Some(child) = child {
            tokio::spawn(Arc::clone(&inner).supervise(link, child));
        }
        Ok(Self { inner })
    }
}

impl Inner {
    async fn supervise(self: Arc<Self>, link: Arc<Link>, child: Arc<Child>) {
        let finish = Finish(Arc::clone(&self));
        self.follow(&link, &child).await;
        self.drain(&link);
        drop((link, child, finish));
    }

    /// Reads, and sees the command end, until nothing of it is left or the session lets go of it.
    async fn follow(self: &Arc<Self>, link: &Arc<Link>, child: &Child) {
        let mut readable = true;
        let mut ended = false;
        // Made once, since a busy session comes back here some ten thousand times a second.
        let exit = child.exit();
        let empty = child.tree_empty();
        let close = self.close.notified();
        let sweep = tokio::time::sleep_until(later(self.started, self.limits.idle.min(self.limits.lifetime)).into());
        tokio::pin!(exit, empty, close, sweep);
        loop {
            tokio::select! {
                exit = &mut exit, if !ended => {
                    ended = true;
                    // What the command wrote is there by now, also while others hold the terminal.
                    self.drain(link);
                    self.end(exit);
                }
                () = &mut empty, if ended => break,
                () = &mut close => break,
                turn = self.turn(link), if readable => match turn {
                    Turn::Dry => {}
                    Turn::More => tokio::task::yield_now().await,
                    Turn::Closed => readable = false,
                },
                () = &mut sweep => sweep.as_mut().reset(self.sweep().into()),
            }
        }
    }

    /// Reads for one turn once there is something.
    async fn turn(self: &Arc<Self>, link: &Arc<Link>) -> Turn {
        if link.readable.ready().await.is_err() {
            return Turn::Closed;
        }
        match self.read(link, TURN) {
            Turn::Dry if link.readable.exhausted(link.end.as_fd()).is_err() => Turn::Closed,
            turn => turn,
        }
    }

    /// Reads until nothing is there.
    fn drain(self: &Arc<Self>, link: &Arc<Link>) {
        // A program may have made its pipe larger.
        let mut left = DRAIN.max(pty::readable(&link.end));
        while left > 0 && matches!(self.read(link, BUFFER), Turn::More) {
            left = left.saturating_sub(BUFFER - READ);
        }
    }

    /// Takes in what the program has printed by now, so that what is typed next is typed for the modes that it set.
    pub(super) fn catch_up(self: &Arc<Self>, link: &Arc<Link>) {
        // An end is the task's to see.
        self.read(link, BUFFER);
    }

    /// Reads about `most` bytes without waiting, at most [`BUFFER`], and feeds them.
    fn read(self: &Arc<Self>, link: &Arc<Link>, most: usize) -> Turn {
        // Whoever writes reads, too: what is read first is to be fed first.
        let _order = self.reading.lock().unwrap_or_else(PoisonError::into_inner);
        SCRATCH.with_borrow_mut(|buffer| {
            buffer.resize(BUFFER, 0);
            let buffer = &mut buffer[..most];
            let mut filled = 0;
            let turn = loop {
                // A read of what little room is left would cost as much as one of all that is there.
                if most - filled < READ {
                    break Turn::More;
                }
                match nix::unistd::read(&link.end, &mut buffer[filled..]) {
                    Ok(0) => break Turn::Closed,
                    Ok(count) => filled += count,
                    Err(nix::errno::Errno::EAGAIN) => break Turn::Dry,
                    Err(nix::errno::Errno::EINTR) => {}
                    // The terminal of a command that is gone; only where the program's end is not held.
                    Err(_) => break Turn::Closed,
                }
            };
            if filled > 0 {
                self.feed(link, &buffer[..filled]);
            }
            turn
        })
    }

    fn feed(self: &Arc<Self>, link: &Arc<Link>, bytes: &[u8]) {
        let modes = link.tty().and_then(|tty| tty.modes().ok());
        let feed = match modes {
            Some(modes) if !modes.output_processing => LineFeed::Index,
            _ => LineFeed::NewLine,
        };
        let (answer, wake) = {
            let mut shared = self.lock();
            let shared = &mut *shared;
            if shared.waits.is_empty() {
                shared.terminal.feed(bytes, feed, None);
            } else {
                let line_editor = modes.is_some_and(|modes| !modes.canonical);
                for look in shared.waits.values_mut().filter(|look| line_editor && look.echoed_by_kernel) {
                    look.text.allow_second_echo();
                }
                let waits = &mut shared.waits;
                let mut tap = |piece: Piece<'_>| {
                    for look in waits.values_mut() {
                        look.text.push(piece);
                    }
                };
                shared.terminal.feed(bytes, feed, Some(&mut tap));
            }
            shared.received += bytes.len() as u64;
            shared.last_output = Instant::now();
            // Waking who waits costs more than reading, so only those are woken who wait for this.
            let matched = shared.waits.values().any(|look| look.text.is_matched());
            let wake = std::mem::take(&mut shared.output_awaited) || matched;
            (shared.begins_to_answer(modes), wake)
        };
        if wake {
            self.changed.notify_waiters();
        }
        if answer {
            let (inner, link) = (Arc::clone(self), Arc::clone(link));
            self.runtime.spawn(async move { inner.answer(&link).await });
        }
    }

    fn end(&self, exit: Exit) {
        let mut shared = self.lock();
        let (code, signal) = match exit {
            Exit::Code(code) => (Some(code), None),
            Exit::Signal(signal) => (None, Some(signal)),
            // Whoever kills a guardian kills what it guards.
            Exit::Lost => (None, Some(libc::SIGKILL)),
        };
        shared.end = Some(End { code, signal, at: Instant::now() });
        drop(shared);
        self.changed.notify_waiters();
    }

    /// Stops a session that is over its time; returns when to look again.
    fn sweep(self: &Arc<Self>) -> Instant {
        let now = Instant::now();
        let idle_at = later(self.lock().touched, self.limits.idle);
        let over_at = later(self.started, self.limits.lifetime);
        let because = if now >= over_at {
            EndedBecause::Lifetime
        } else if now >= idle_at {
            EndedBecause::Idle
        } else {
            return idle_at.min(over_at);
        };
        let inner = Arc::clone(self);
        self.runtime.spawn(async move { inner.stop(because).await });
        // Long after the stop has ended this task; looked at again if it could not.
        now + Duration::from_secs(60)
    }
}
