//! Waiting for a session: until its output is quiet, a text came, it ended, or it wants input.

use std::time::{Duration, Instant};

use serde::Serialize;

use super::{Inner, Look, Session, Shared, later};
use crate::echo::{TextWait, Typed};
use crate::probe::{Foreground, WaitingFor};
use crate::pty::TtyModes;
use crate::text::Piece;

/// What a wait looks for. Every wait also ends at the end of the command, and at its deadline.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Until {
    /// Output came and then stopped.
    Quiet,
    /// The command ended.
    Exit,
    /// This text was printed.
    Text(String),
}

/// Why a wait returned.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Reason {
    /// The text came.
    Text,
    /// Output stopped.
    Quiet,
    /// The command ended.
    Exit,
    /// The time was over.
    Deadline,
    /// The foreground program is blocked reading the terminal.
    Input,
}

/// The silence after which a program that is blocked on the terminal is believed to have printed all it will.
const SETTLED: Duration = Duration::from_millis(50);
/// The same for waits that look for something else than quiet: the program may be between two questions.
const SETTLED_FOR_OTHERS: Duration = Duration::from_secs(1);
/// The time between two looks at the foreground program, which grows while nothing changes.
const FIRST_LOOK: Duration = Duration::from_millis(25);
const LONGEST_LOOK: Duration = Duration::from_millis(200);

/// One wait, which sees all that happens from its making on.
///
/// Make it before the input is written whose effect is waited for. Dropping it ends the wait.
#[derive(Debug)]
pub struct Waiter {
    session: Session,
    until: Until,
    /// The registration of a text to look for.
    text: Option<u64>,
    /// Only output after the making counts, not what was unread before.
    fresh: bool,
    /// All output before the making was read, so that whoever waits has seen what the program asks for.
    caught_up: bool,
    received: u64,
    made: Instant,
}

/// From when on output counts for a wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Since {
    /// The start of the session: for whoever started it.
    Start,
    /// The making of the wait; what is unread by then counts as output that came, but no text in it.
    Unread,
    /// The making of the wait: for whoever is about to type.
    Now,
}

impl Session {
    /// Begins a wait for which output counts from `since` on. The echo of what is typed meanwhile never matches a text.
    pub fn waiter(&self, until: Until, since: Since) -> Waiter {
        let mut shared = self.inner.lock();
        let text = match &until {
            Until::Text(text) => {
                let mut text = TextWait::new(text);
                if since == Since::Start {
                    text.push(Piece::Text(&shared.terminal.transcript().tail(usize::MAX)));
                }
                let id = shared.next_wait;
                shared.next_wait += 1;
                shared.waits.insert(id, Look { text, echoed_by_kernel: false });
                Some(id)
            }
            Until::Quiet | Until::Exit => None,
        };
        Waiter {
            session: self.clone(),
            until,
            text,
            fresh: since == Since::Now,
            caught_up: shared.unread_chars() == 0,
            received: shared.received,
            made: Instant::now(),
        }
    }
}

impl Drop for Waiter {
    fn drop(&mut self) {
        if let Some(id) = self.text {
            self.session.inner.lock().waits.remove(&id);
        }
    }
}

impl Inner {
    /// Tells every wait for a text what is about to be typed, so that its echo is not taken for output.
    pub(super) fn expect_echo(&self, typed: &str, modes: TtyModes) {
        // In line mode with echo off nothing comes back. A program that reads keys may echo them itself.
        if typed.is_empty() || (modes.canonical && !modes.echo) || self.lock().waits.is_empty() {
            return;
        }
        // A program that is blocked reading a line takes that line; else a line editor may read it later, and echo it
        // once more.
        let one_line = !typed.trim_end_matches(['\n', '\r']).contains(['\n', '\r']);
        let taken = one_line && self.look().is_some_and(|foreground| foreground.waiting == Some(WaitingFor::Line));
        let typed = Typed::new(typed);
        for look in self.lock().waits.values_mut() {
            look.text.expect_echo(&typed);
            look.echoed_by_kernel |= modes.canonical && !taken;
        }
    }
}

/// The next step of a wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Step {
    Return(Reason),
    /// Look again at this time, or when something changes.
    Sleep(Instant),
}

/// What one moment of a session looks like to a wait.
#[derive(Clone, Copy, Debug)]
struct Moment {
    now: Instant,
    ended: bool,
    matched: bool,
    /// Something that counts came or was waiting to be read.
    output: bool,
    /// Since when nothing was printed.
    silent_since: Instant,
}

/// What a wait remembers of its looks at the foreground program.
#[derive(Clone, Copy, Debug)]
struct Looks {
    next: Instant,
    pause: Duration,
    /// Since when the program is seen blocked without printing.
    blocked_since: Option<Instant>,
    /// It was blocked when the wait began, and what it printed before was read: it is known to want input, and is
    /// waited for all the same.
    known: bool,
}

impl Waiter {
    /// Waits until what it looks for happens, the command ends, it wants input, or `deadline` has passed.
    ///
    /// Safe to drop at any time; nothing is consumed.
    pub async fn wait(self, deadline: Duration) -> Reason {
        let inner = &*self.session.inner;
        let deadline = later(Instant::now(), deadline);
        let mut looks = Looks { next: self.made + FIRST_LOOK, pause: FIRST_LOOK, blocked_since: None, known: false };
        let mut first = true;
        loop {
            let changed = inner.changed.notified();
            tokio::pin!(changed);
            changed.as_mut().enable();

            let moment = self.observe(&mut inner.lock());
            let mut step = self.step(moment, deadline, inner.limits.quiet);
            let due = moment.now >= looks.next || matches!(step, Step::Return(Reason::Quiet | Reason::Deadline));
            if due && !moment.ended && inner.has_terminal {
                let blocked = inner.look().filter(|foreground| foreground.until_input);
                if self.settled(blocked.as_ref(), moment, &mut looks, first) {
                    step = Step::Return(Reason::Input);
                }
                first = false;
            }
            match step {
                Step::Return(reason) => return reason,
                Step::Sleep(until) => {
                    let until = if inner.has_terminal { until.min(looks.next) } else { until };
                    tokio::select! {
                        () = changed => {}
                        () = tokio::time::sleep_until(until.into()) => {}
                    }
                }
            }
        }
    }

    /// Takes the moment in, and asks to be woken by the first output; how long it is silent after that, a timer sees.
    fn observe(&self, shared: &mut Shared) -> Moment {
        let moment = self.moment(shared);
        shared.output_awaited |= self.until == Until::Quiet && !moment.output;
        moment
    }

    fn moment(&self, shared: &Shared) -> Moment {
        let came = shared.received > self.received;
        Moment {
            now: Instant::now(),
            ended: shared.end.is_some(),
            matched: self.text.is_some_and(|id| shared.waits.get(&id).is_some_and(|look| look.text.is_matched())),
            output: came || (!self.fresh && shared.unread_chars() > 0),
            silent_since: if self.fresh { shared.last_output.max(self.made) } else { shared.last_output },
        }
    }

    fn step(&self, moment: Moment, deadline: Instant, quiet: Duration) -> Step {
        if moment.matched {
            return Step::Return(Reason::Text);
        }
        if moment.ended {
            return Step::Return(Reason::Exit);
        }
        let quiet_at = (self.until == Until::Quiet && moment.output).then(|| later(moment.silent_since, quiet));
        match quiet_at {
            Some(at) if moment.now >= at => Step::Return(Reason::Quiet),
            _ if moment.now >= deadline => Step::Return(Reason::Deadline),
            Some(at) => Step::Sleep(at.min(deadline)),
            None => Step::Sleep(deadline),
        }
    }

    /// Takes one look at a program into account, and tells whether it is settled in wanting input.
    fn settled(&self, blocked: Option<&Foreground>, moment: Moment, looks: &mut Looks, first: bool) -> bool {
        let counts = blocked.is_some_and(|foreground| match self.until {
            Until::Quiet => true,
            // A line editor or a full-screen program always waits for a key; that tells nothing about a text.
            _ => matches!(foreground.waiting, Some(WaitingFor::Line | WaitingFor::Secret)),
        });
        if !counts {
            *looks = Looks { blocked_since: None, known: false, ..*looks };
            looks.rest(moment.now);
            return false;
        }
        if looks.blocked_since.is_none_or(|since| since < moment.silent_since) {
            // Blocked since at least the last output, when this is the first that is seen of it.
            let since = if looks.blocked_since.is_none() && !self.fresh { moment.silent_since } else { moment.now };
            looks.blocked_since = Some(since);
            let before = !self.fresh && self.caught_up && moment.silent_since < self.made;
            looks.known = first && before && self.until != Until::Quiet;
            looks.pause = FIRST_LOOK;
        }
        let hold = if self.until == Until::Quiet { SETTLED } else { SETTLED_FOR_OTHERS };
        let since = looks.blocked_since.unwrap_or(moment.now);
        looks.rest(moment.now);
        !looks.known && moment.now.saturating_duration_since(since.max(moment.silent_since)) >= hold
    }
}

impl Looks {
    fn rest(&mut self, now: Instant) {
        self.next = now + self.pause;
        self.pause = (self.pause * 3 / 2).min(LONGEST_LOOK);
    }
}
