//! Waiting on behalf of a call, and what the wait makes of its result.

use std::future::Future;
use std::time::{Duration, Instant};

use process::{Session, Until, Waiter};
use tool_api::ToolContext;

use crate::render::{Outcome, Reason, WaitingFor};
use crate::report::{Take, outcome};
use crate::request::{Wait, WaitUntil};

/// How long a program may still be seen waiting for what it was just given.
const TAKEN: Duration = Duration::from_millis(30);

/// One wait of a call.
#[derive(Clone, Debug)]
pub(crate) struct Waiting<'a> {
    pub(crate) ctx: &'a ToolContext,
    pub(crate) session: &'a Session,
    pub(crate) wait: Wait,
    /// Since when the caller waits.
    pub(crate) begin: Instant,
    /// When input was written.
    pub(crate) typed: Option<Instant>,
}

impl Waiting<'_> {
    /// Waits, takes of the output unless the call was cancelled, and returns what the call gives back.
    pub(crate) async fn finish(self, waiter: Waiter, take: Take) -> Outcome {
        let Wait { until, time, .. } = &self.wait;
        let (reason, take) = wait_for(self.ctx, self.begin, waiter, *time, take).await;
        let mut outcome = outcome(self.ctx, self.session, reason, take).await;
        outcome.notes.unwaited = time.is_zero();
        let given_up = matches!(reason, Reason::Deadline | Reason::Limit | Reason::Cancelled);
        if given_up && self.typed.is_some_and(|typed| *time < TAKEN || typed.elapsed() < TAKEN) {
            outcome.waiting_for = None;
        }
        let blocked = matches!(outcome.waiting_for, Some(WaitingFor::Line | WaitingFor::Secret | WaitingFor::Key));
        if blocked && *until == WaitUntil::Quiet && matches!(outcome.reason, Some(Reason::Quiet | Reason::Deadline)) {
            // Whether it is seen just before the wait ends or just after makes no difference to who reads the result.
            outcome.reason = Some(Reason::Input);
        }
        if let (WaitUntil::Text(text), Reason::Text, Take::Text(_)) = (until, reason, take) {
            let output = outcome.output.as_deref().unwrap_or_default();
            outcome.notes.beyond = outcome.remaining_chars > Some(0) && !output.contains(text);
        }
        outcome
    }
}

/// Returns what a session's waiter looks for.
pub(crate) fn until(wait: &Wait) -> Until {
    match &wait.until {
        WaitUntil::Quiet => Until::Quiet,
        WaitUntil::Exit => Until::Exit,
        WaitUntil::Text(text) => Until::Text(text.clone()),
    }
}

/// Waits, but not longer than the caller does, who waits since `begin`; a cancelled wait takes nothing.
pub(crate) async fn wait_for(
    ctx: &ToolContext,
    begin: Instant,
    waiter: Waiter,
    time: Duration,
    take: Take,
) -> (Reason, Take) {
    let limit = ctx.wait_limit.map(|limit| limit.saturating_sub(begin.elapsed())).filter(|limit| *limit < time);
    match unless_cancelled(ctx, waiter.wait(limit.unwrap_or(time))).await {
        None => (Reason::Cancelled, Take::Nothing),
        Some(process::Reason::Deadline) if limit.is_some() => (Reason::Limit, take),
        Some(reason) => (reason.into(), take),
    }
}

/// Returns `None`, and drops the future, once the call is cancelled.
pub(crate) async fn unless_cancelled<T>(ctx: &ToolContext, future: impl Future<Output = T>) -> Option<T> {
    tokio::select! {
        biased;
        () = ctx.cancel.cancelled() => None,
        done = future => Some(done),
    }
}
