//! One running command and what is left of it: its output, its input, its state, and its end.
//!
//! A session is one task that reads and supervises, and a handle that anyone may clone. The task never waits for a
//! handle: it feeds the [`Terminal`] under a short lock and wakes who waits. A handle never holds a lock while it
//! waits, so a signal or a stop is delivered at once, whatever else waits on the session.

mod input;
mod run;
mod signal;
mod status;
mod wait;

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant, SystemTime};

use tokio::sync::Notify;

pub use self::input::{Input, LONGEST_LINE, WriteError};
pub use self::signal::{Signal, SignalError, Signalled, UnknownSignal, signal_name};
pub use self::status::{EndedBecause, State, Status};
pub use self::wait::{Reason, Since, Until, Waiter};

use crate::Owner;
use crate::echo::TextWait;
use crate::launch::{Child, StopReport};
use crate::probe::{self, Foreground};
use crate::pty::PtySize;
use crate::screen::{ScreenView, Size};
use crate::terminal::Terminal;
use crate::text::{Around, Cursor, Piece, TextRead};
use run::Link;

/// How long a session may be left alone, may live, and how it is stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SessionLimits {
    /// Stopped after this time without any call on it.
    pub idle: Duration,
    /// Stopped after this time in any case.
    pub lifetime: Duration,
    /// The time between the request to end and the kill.
    pub grace: Duration,
    /// Output counts as stopped after this time of silence.
    pub quiet: Duration,
}

impl Default for SessionLimits {
    fn default() -> Self {
        Self {
            idle: Duration::from_secs(15 * 60),
            lifetime: Duration::from_secs(2 * 60 * 60),
            grace: Duration::from_secs(2),
            quiet: Duration::from_millis(250),
        }
    }
}

/// A handle on one command, cheap to clone.
///
/// The command is stopped when its pool ends it; dropping a handle does nothing.
#[derive(Clone, Debug)]
pub struct Session {
    inner: Arc<Inner>,
}

#[derive(Debug)]
pub(crate) struct Inner {
    id: String,
    command: String,
    owner: Owner,
    limits: SessionLimits,
    leader: i32,
    started: Instant,
    started_at: SystemTime,
    has_terminal: bool,
    shared: Mutex<Shared>,
    /// Woken after every change of `shared` that a waiter may look for.
    changed: Notify,
    /// Held while output is read and fed, so that no two threads mix it up. Nobody waits while it is held.
    reading: Mutex<()>,
    /// Held while one piece of input is written, so that pieces do not mix.
    writing: tokio::sync::Mutex<()>,
    /// Tells the task to let go of the terminal even though something still holds it.
    close: Notify,
    runtime: tokio::runtime::Handle,
}

#[derive(Debug)]
struct Shared {
    terminal: Terminal,
    /// Up to where the output was read.
    cursor: Cursor,
    /// The ends of the terminal or the pipes; gone once nothing more can come.
    link: Option<Arc<Link>>,
    /// The command's process tree; gone together with `link`.
    child: Option<Arc<Child>>,
    waits: BTreeMap<u64, Look>,
    next_wait: u64,
    /// Bytes that came so far.
    received: u64,
    /// Somebody waits for the next output, whatever it is.
    output_awaited: bool,
    /// Somebody is writing the terminal's answers, and sees to those that come meanwhile.
    answering: bool,
    /// Bytes that were typed of a line that is not whole yet, in a terminal in line mode.
    typed_of_line: usize,
    last_output: Instant,
    touched: Instant,
    end: Option<End>,
    ended_because: Option<EndedBecause>,
}

/// A wait for a text.
#[derive(Debug)]
struct Look {
    text: TextWait,
    /// The kernel echoes what is typed, and a line editor that reads it later echoes it once more.
    echoed_by_kernel: bool,
}

/// How the leader ended.
#[derive(Clone, Copy, Debug)]
struct End {
    code: Option<i32>,
    signal: Option<i32>,
    at: Instant,
}

/// What a new session is made of.
pub(crate) struct Parts {
    pub(crate) id: String,
    pub(crate) command: String,
    pub(crate) owner: Owner,
    pub(crate) limits: SessionLimits,
    pub(crate) child: Child,
    pub(crate) size: Size,
    pub(crate) retained_chars: usize,
}

impl Session {
    /// Returns its id, unique for the life of the engine.
    pub fn id(&self) -> &str {
        &self.inner.id
    }

    /// Returns the command as it was given.
    pub fn command(&self) -> &str {
        &self.inner.command
    }

    /// Returns whom it belongs to.
    pub fn owner(&self) -> &Owner {
        &self.inner.owner
    }

    /// Tells whether the command itself still runs.
    pub fn is_running(&self) -> bool {
        self.inner.lock().end.is_none()
    }

    /// Returns up to `max_chars` characters of output that were not read yet, in order.
    pub fn read(&self, max_chars: usize) -> TextRead {
        self.inner.lock().read(max_chars)
    }

    /// Reads as [`Session::read`] does, but lets `choose` look first at what comes, with up to `context` characters on
    /// both sides of it, and at how long the output has paused. It returns how many bytes of the text are read, whole
    /// characters; the rest stays unread. It is called again when another read came between.
    pub fn read_with(
        &self,
        max_chars: usize,
        context: usize,
        mut choose: impl FnMut(&Around, Duration) -> usize,
    ) -> TextRead {
        loop {
            let (around, paused) = {
                let mut shared = self.inner.lock();
                let shared = &mut *shared;
                (shared.terminal.around(&shared.cursor, max_chars, context), shared.last_output.elapsed())
            };
            // Without the lock: nothing that looks at text holds up the output.
            let text = &around.text[..around.text.floor_char_boundary(choose(&around, paused))];
            let chars = text.chars().count() as u64;
            let mut shared = self.inner.lock();
            let shared = &mut *shared;
            if shared.terminal.take(&mut shared.cursor, &around, chars) {
                let remaining_chars = shared.unread_chars();
                return TextRead { text: text.to_owned(), remaining_chars, lost_chars: around.lost_chars };
            }
        }
    }

    /// Returns the rendered screen, or `None` for a command without a terminal. Consumes nothing.
    pub fn screen(&self) -> Option<ScreenView> {
        self.inner.has_terminal.then(|| self.inner.lock().terminal.screen())
    }

    /// Changes the size of the terminal, in character cells.
    ///
    /// # Errors
    /// When the session has ended or has no terminal.
    pub fn resize(&self, size: Size) -> Result<(), Ended> {
        let mut shared = self.inner.lock();
        let link = shared.link.clone().ok_or(Ended)?;
        let tty = link.tty().ok_or(Ended)?;
        // Before the kernel tells the program, whose answer is drawn for the new size.
        shared.terminal.resize(size);
        tty.resize(PtySize { cols: size.cols, rows: size.rows }).map_err(|_| Ended)
    }

    /// Stops the whole process tree and lets go of the terminal. Stopping an ended session reports that nothing was
    /// left to stop.
    ///
    /// Ends within the grace and the time to kill, whatever the tree does; what could not be killed is reported. Goes
    /// on when the future is dropped.
    pub async fn stop(&self, because: EndedBecause) -> StopReport {
        let session = self.clone();
        let task = self.inner.runtime.spawn(async move { session.inner.stop(because).await });
        task.await.unwrap_or_default()
    }

    /// Counts as a call on the session for the idle limit.
    pub(crate) fn touch(&self) {
        self.inner.lock().touched = Instant::now();
    }

    /// Tells whether nothing of the command is left but its output.
    pub(crate) fn is_finished(&self) -> bool {
        self.inner.lock().link.is_none()
    }

    /// Lets go of the command, whose guardian ends it.
    pub(crate) fn abandon(&self) {
        self.inner.close.notify_one();
    }

    pub(crate) fn ended_at(&self) -> Option<Instant> {
        self.inner.lock().end.map(|end| end.at)
    }
}

/// The session has ended, or has no terminal.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the process has ended, or has no terminal")]
pub struct Ended;

impl Inner {
    /// Locks what is shared. No holder awaits, and a panic while it is held leaves counters that still hold.
    fn lock(&self) -> MutexGuard<'_, Shared> {
        self.shared.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Looks at the foreground program, if the command has a terminal and runs.
    fn look(&self) -> Option<Foreground> {
        let link = {
            let shared = self.lock();
            if shared.end.is_some() {
                return None;
            }
            shared.link.clone()?
        };
        let tty = link.tty()?;
        let modes = tty.modes().ok()?;
        Some(probe::look(self.leader, tty.foreground(), modes, tty.pending_input()))
    }

    async fn stop(&self, because: EndedBecause) -> StopReport {
        let child = {
            let mut shared = self.lock();
            if shared.end.is_none() && shared.ended_because.is_none() {
                shared.ended_because = Some(because);
            }
            shared.child.clone()
        };
        let Some(child) = child else {
            return StopReport::default();
        };
        let mut report = child.stop(self.limits.grace, self.limits.grace.saturating_add(TIME_TO_KILL)).await;
        if !report.survivors.is_empty() {
            // What may not be signalled (another user's process) still gets the hang-up of a closed terminal.
            self.close.notify_one();
            self.finished(TIME_TO_KILL).await;
            report.survivors = child.stop(Duration::ZERO, TIME_TO_KILL).await.survivors;
        }
        self.finished(TIME_TO_KILL).await;
        report
    }

    /// Waits until the task has read the last byte and let go of the terminal.
    async fn finished(&self, most: Duration) {
        let wait = async {
            loop {
                let changed = self.changed.notified();
                tokio::pin!(changed);
                changed.as_mut().enable();
                if self.lock().link.is_none() {
                    return;
                }
                changed.await;
            }
        };
        // Running out of time is fine: the report names what is left.
        let _ = tokio::time::timeout(most, wait).await;
    }
}

impl Shared {
    fn read(&mut self, max_chars: usize) -> TextRead {
        self.terminal.read(&mut self.cursor, max_chars)
    }

    /// Takes what the parser still holds back, which nothing completes any more.
    fn finish(&mut self) {
        let waits = &mut self.waits;
        let mut tap = |piece: Piece<'_>| {
            for look in waits.values_mut() {
                look.text.push(piece);
            }
        };
        self.terminal.finish(Some(&mut tap));
    }

    fn unread_chars(&self) -> u64 {
        self.terminal.unread(&self.cursor)
    }
}

/// How long killed processes get to disappear before they are reported as survivors.
const TIME_TO_KILL: Duration = Duration::from_secs(2);

/// The moment a time after another one; a time without end is a very long one.
fn later(moment: Instant, time: Duration) -> Instant {
    moment.checked_add(time).unwrap_or_else(|| moment + Duration::from_secs(10 * 365 * 24 * 60 * 60))
}
