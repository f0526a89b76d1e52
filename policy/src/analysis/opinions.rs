//! Asks the other two parsers, on stacks that no text exhausts.

use std::panic::catch_unwind;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::Builder;

use super::compare::Own;
use super::second::{self, Opinion};
use super::third::{self, Spans};
use super::tree::Tree;
use super::{MAX_CHARACTERS, MAX_COMMANDS, MAX_SUBSTITUTIONS, Work};

/// Bytes of the longest text that any thread's stack is large enough for.
const SHORT: usize = 512;
/// Bytes of a stack; only the pages that are used cost memory.
const STACK: usize = 64 * 1024 * 1024;
/// Threads that are kept, since to start one takes longer than to parse most texts. Each waits without waking up.
const KEPT: usize = 2;

/// Openers of substitutions and expansions up to which a text is cheap however it is read: each two that are not closed
/// may double the time of a parser.
pub(super) const FEW_OPENERS: usize = 12;

type Job = Box<dyn FnOnce() + Send>;

/// The threads that wait.
static IDLE: Mutex<Vec<Sender<Job>>> = Mutex::new(Vec::new());

/// What both parsers find, once they are done.
#[derive(Debug)]
pub(super) struct Asked {
    second: Answer<Opinion>,
    third: Answer<Vec<Spans>>,
}

/// None where a parser refuses the text, or could not be asked.
#[derive(Debug)]
enum Answer<T> {
    Here(Option<T>),
    Coming(Receiver<Option<T>>),
}

impl<T> Answer<T> {
    fn wait(self) -> Option<T> {
        match self {
            Self::Here(answer) => answer,
            Self::Coming(answer) => answer.recv().ok()?,
        }
    }
}

impl Asked {
    /// Waits for both.
    pub(super) fn wait(self) -> (Option<Opinion>, Option<Vec<Spans>>) {
        (self.second.wait(), self.third.wait())
    }
}

/// Asks both parsers, which work on a long text while the caller goes on.
///
/// What our own reader took in without a doubt is nested no deeper for them than for us, and so the stack of any thread
/// is enough while it is short.
fn ask(source: &str, own: &Tree) -> Asked {
    if source.len() <= SHORT && own.doubt.is_none() {
        return Asked { second: Answer::Here(second(source)), third: Answer::Here(third(source)) };
    }
    let text: Arc<str> = source.into();
    let other = Arc::clone(&text);
    Asked { second: on_own_stack(move || second(&text)), third: on_own_stack(move || third(&other)) }
}

impl Work {
    /// Asks the other parsers, but only about what our own reader took to its end: their recursion is bounded by what
    /// it bounds.
    pub(super) fn ask_others(&mut self, source: &str, tree: &Tree) -> Option<(Asked, Own)> {
        self.compared += source.len();
        let cheap = self.compared <= 2 * MAX_CHARACTERS
            && source.len() <= MAX_CHARACTERS
            && tree.commands.len() <= MAX_COMMANDS
            && tree.substitutions <= MAX_SUBSTITUTIONS
            && !tree.deep
            // Where they may read something else than we do, nothing of ours bounds how deep they get.
            && (tree.doubt.is_none() || openers(source) <= FEW_OPENERS);
        if !cheap {
            self.doubt("too long or too deep to be understood completely");
            return None;
        }
        Some((ask(source, tree), Own::new(source, tree)))
    }

    /// Compares what the parsers found; what only others found is returned.
    pub(super) fn compare(&mut self, source: &str, asked: Asked, own: &Own) -> Vec<String> {
        let (second, third) = asked.wait();
        let mut extra = Vec::new();
        match second {
            Some(opinion) => {
                if !own.with_second(opinion, &mut extra) {
                    self.doubt("parsers disagree about it");
                }
            }
            None => self.doubt("a second parser does not understand it"),
        }
        match third {
            Some(commands) => {
                if !own.with_third(source, commands, &mut extra) {
                    self.doubt("parsers disagree about it");
                }
            }
            None => self.doubt("a third parser does not understand it"),
        }
        extra
    }
}

/// How many substitutions and expansions seem to begin in a text, whatever quotes say.
pub(super) fn openers(text: &str) -> usize {
    let pairs =
        text.as_bytes().windows(2).filter(|pair| matches!(pair, [b'$' | b'<' | b'>', b'('] | [b'$', b'{'])).count();
    pairs + text.bytes().filter(|byte| *byte == b'`').count()
}

fn second(source: &str) -> Option<Opinion> {
    catch_unwind(|| second::opinion(source)).ok().flatten()
}

fn third(source: &str) -> Option<Vec<Spans>> {
    catch_unwind(|| third::opinion(source)).ok().flatten()
}

/// Runs on a thread with a large stack. None when there is no thread to be had.
fn on_own_stack<T: Send + 'static>(run: impl FnOnce() -> Option<T> + Send + 'static) -> Answer<T> {
    let (answer, answered) = channel();
    let job: Job = Box::new(move || {
        // Nobody waits any more when the caller is gone.
        let _ = answer.send(run());
    });
    let waiting = IDLE.lock().unwrap_or_else(PoisonError::into_inner).pop();
    let job = match waiting {
        Some(thread) => match thread.send(job) {
            Ok(()) => return Answer::Coming(answered),
            Err(unsent) => unsent.0,
        },
        None => job,
    };
    match Builder::new().name("parse".into()).stack_size(STACK).spawn(|| work(job)) {
        Ok(_) => Answer::Coming(answered),
        Err(_) => Answer::Here(None),
    }
}

/// Does one job after the other, as long as the thread is kept.
fn work(first: Job) {
    let (sender, jobs) = channel::<Job>();
    let mut job = first;
    loop {
        job();
        {
            let mut idle = IDLE.lock().unwrap_or_else(PoisonError::into_inner);
            if idle.len() >= KEPT {
                return;
            }
            idle.push(sender.clone());
        }
        match jobs.recv() {
            Ok(next) => job = next,
            Err(_) => return,
        }
    }
}
