//! What was decided and done, as events for a host to write down.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use tool_api::{Condition, Denied, DeniedKind, Grant, PermissionRequest};

use crate::identity::Identity;
use crate::rules::Decision;

/// Where a host keeps what was decided and done.
///
/// Every request gives one [`AuditWhat::Decided`], and each effect that was granted one [`AuditWhat::Begun`] or
/// [`AuditWhat::Refused`] when its tool is about to bring it about. Implementations write at once and do not wait for
/// anybody.
pub trait Audit: fmt::Debug + Send + Sync {
    /// Keeps one event.
    ///
    /// # Errors
    /// When it could not be kept. What would have been allowed is denied then: what is not written down does not
    /// happen.
    fn record(&self, event: &AuditEvent<'_>) -> Result<(), AuditError>;
}

/// An event that could not be kept.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the audit cannot be written: {0}")]
pub struct AuditError(String);

impl AuditError {
    /// Says why, lowercase without a full stop.
    #[must_use]
    pub fn new(reason: impl Into<String>) -> Self {
        Self(reason.into())
    }
}

/// One event.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct AuditEvent<'a> {
    /// Names the request within this process; a decision and its effect have the same.
    pub id: &'a str,
    /// What was asked.
    pub request: &'a PermissionRequest,
    /// What happened.
    pub what: AuditWhat<'a>,
}

impl<'a> AuditEvent<'a> {
    /// Makes an event of a request.
    #[must_use]
    pub fn new(id: &'a str, request: &'a PermissionRequest, what: AuditWhat<'a>) -> Self {
        Self { id, request, what }
    }
}

/// What happened to a request.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum AuditWhat<'a> {
    /// It was decided. [`Decision::Ask`] only where the front asks after the call, which then comes again.
    Decided {
        /// The decision.
        decision: Decision,
        /// Who decided.
        by: Decider,
        /// Why, for a person.
        reason: &'a str,
        /// What the person said with a rejection.
        feedback: Option<&'a str>,
        /// What was allowed for the rest of the chat along with it.
        always: &'a [String],
    },
    /// Every condition held, and the tool brings the effect about now.
    Begun,
    /// A condition did not hold, so that the effect did not happen or, after it had begun, was ended.
    Refused {
        /// What did not hold.
        reason: &'a str,
    },
}

/// Who decided a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Decider {
    /// Rules, or that there is none.
    Rule,
    /// The mode or a workflow policy.
    Mode,
    /// What the policy never allows, whatever the rules say.
    Policy,
    /// What the person allowed for this chat before.
    Chat,
    /// The person, for this time.
    Once,
    /// The person, for the rest of the chat.
    Always,
    /// The person beforehand, by a setting of the front that allows what needs asking.
    Preset,
    /// The person, who rejected it or another question of the chat.
    Reject,
    /// Nobody answered.
    NoAnswer,
    /// Nobody yet: the call ended with the question, and comes again with the answer.
    Suspended,
    /// Nobody: the call was cancelled.
    Cancelled,
    /// Nobody: something failed, which counts as no.
    Failed,
}

impl Decider {
    /// The name, as an audit writes it.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Rule => "rule",
            Self::Mode => "mode",
            Self::Policy => "policy",
            Self::Chat => "chat",
            Self::Once => "once",
            Self::Always => "always",
            Self::Preset => "preset",
            Self::Reject => "reject",
            Self::NoAnswer => "no_answer",
            Self::Suspended => "suspended",
            Self::Cancelled => "cancelled",
            Self::Failed => "failed",
        }
    }
}

/// What came of a request, before it is written down.
#[derive(Debug)]
pub(crate) struct Outcome {
    pub(crate) by: Decider,
    /// Why it is allowed, where there is an audit; a denial says so itself.
    pub(crate) reason: String,
    /// What the person allowed for the rest of the chat.
    pub(crate) always: Vec<String>,
    pub(crate) result: Result<Grant, Denied>,
}

impl Outcome {
    pub(crate) fn allowed(by: Decider, reason: impl Into<String>, always: Vec<String>) -> Self {
        Self { by, reason: reason.into(), always, result: Ok(Grant::new()) }
    }

    /// Holds only for the files that were looked at.
    pub(crate) fn bound_to(mut self, identity: Option<Identity>) -> Self {
        if let Some(identity) = identity {
            self.result = self.result.map(|_| identity.grant());
        }
        self
    }

    pub(crate) fn denied(by: Decider, denied: Denied) -> Self {
        Self { by, reason: String::new(), always: Vec::new(), result: Err(denied) }
    }
}

/// The audit of one request: exactly one decision, also when the request is dropped before there is one.
#[derive(Debug)]
pub(crate) struct Record {
    id: String,
    request: PermissionRequest,
    audit: Arc<dyn Audit>,
    decided: bool,
}

impl Record {
    pub(crate) fn new(audit: &Arc<dyn Audit>, request: &PermissionRequest) -> Self {
        static LAST: AtomicU64 = AtomicU64::new(0);
        let number = LAST.fetch_add(1, Ordering::Relaxed) + 1;
        Self { id: format!("r{number}"), request: request.clone(), audit: Arc::clone(audit), decided: false }
    }

    /// Keeps the decision, and makes its effect be kept as well.
    ///
    /// # Errors
    /// The denial that it is, or one because it could not be kept.
    pub(crate) fn close(mut self, outcome: Outcome) -> Result<Grant, Denied> {
        self.decided = true;
        let Outcome { by, reason, always, result } = outcome;
        match result {
            Ok(grant) => {
                let always = always.as_slice();
                let decided =
                    AuditWhat::Decided { decision: Decision::Allow, by, reason: &reason, feedback: None, always };
                self.keep(decided)?;
                // The last condition: when it is checked, all others hold.
                Ok(grant.with_condition(Arc::new(self)))
            }
            Err(denied) => {
                let suspended = denied.kind() == DeniedKind::Suspended;
                let decision = if suspended { Decision::Ask } else { Decision::Deny };
                let (reason, feedback) = (denied.reason(), denied.feedback());
                // A denial stays one whether it is written down or not.
                let _ = self.keep(AuditWhat::Decided { decision, by, reason, feedback, always: &[] });
                Err(denied)
            }
        }
    }

    fn keep(&self, what: AuditWhat<'_>) -> Result<(), Denied> {
        self.audit.record(&AuditEvent::new(&self.id, &self.request, what)).map_err(|error| {
            tracing::error!(call = %self.request.call, %error, "the audit failed");
            Denied::new(DeniedKind::Failed, format!("{error}, and nothing happens that is not written down"))
        })
    }
}

impl Drop for Record {
    fn drop(&mut self) {
        if !self.decided {
            // Dropped while a person was asked: nothing else would tell what became of the request.
            let reason = "the call was dropped before there was an answer";
            let by = Decider::Cancelled;
            let _ = self.keep(AuditWhat::Decided { decision: Decision::Deny, by, reason, feedback: None, always: &[] });
        }
    }
}

impl Condition for Record {
    fn check(&self) -> Result<(), Denied> {
        self.keep(AuditWhat::Begun)
    }

    fn refused(&self, denied: &Denied) {
        // It does not happen whether that is written down or not.
        let _ = self.keep(AuditWhat::Refused { reason: denied.reason() });
    }
}
