//! Asks the other two parsers, on stacks that no text exhausts.

use std::panic::catch_unwind;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::Builder;

use super::second::{self, Opinion};
use super::third::{self, Spans};
use super::tree::Tree;

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

/// What both parsers find; none where a parser refuses the text, or could not be asked.
///
/// What our own reader took in without a doubt is nested no deeper for them than for us, and so the stack of any thread
/// is enough while it is short.
pub(super) fn ask(source: &str, own: &Tree) -> (Option<Opinion>, Option<Vec<Spans>>) {
    if source.len() <= SHORT && own.doubt.is_none() {
        return (second(source), third(source));
    }
    let text: Arc<str> = source.into();
    let other = Arc::clone(&text);
    let (second, third) = (on_own_stack(move || second(&text)), on_own_stack(move || third(&other)));
    (second.and_then(|answer| answer.recv().ok()?), third.and_then(|answer| answer.recv().ok()?))
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
fn on_own_stack<T: Send + 'static>(run: impl FnOnce() -> T + Send + 'static) -> Option<Receiver<T>> {
    let (answer, answered) = channel();
    let job: Job = Box::new(move || {
        // Nobody waits any more when the caller is gone.
        let _ = answer.send(run());
    });
    let waiting = IDLE.lock().unwrap_or_else(PoisonError::into_inner).pop();
    let job = match waiting {
        Some(thread) => match thread.send(job) {
            Ok(()) => return Some(answered),
            Err(unsent) => unsent.0,
        },
        None => job,
    };
    Builder::new().name("parse".into()).stack_size(STACK).spawn(|| work(job)).ok()?;
    Some(answered)
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
