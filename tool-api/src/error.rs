//! Why a call gave no result.

use std::error::Error;

use crate::{Denied, DeniedKind};

/// What kind of failure a [`ToolError`] is, for a host that branches on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ToolErrorKind {
    /// An argument is unknown, missing, of the wrong type or out of range.
    InvalidArguments,
    /// No tool has this name.
    UnknownTool,
    /// The id names nothing that this chat owns.
    UnknownId,
    /// Permission was not granted; nothing was done.
    Denied,
    /// The front must ask the person first and call again; nothing was done.
    Suspended,
    /// A limit on how many run is reached.
    Limit,
    /// The machine refused: a missing program or directory, exhausted descriptors.
    System,
    /// What is asked does not fit the state of its target, for example a write to a process that ended.
    State,
    /// The call was cancelled before it did anything.
    Cancelled,
    /// The tool broke its own invariant.
    Internal,
}

/// An error that the model reads: what happened and why, and with a hint what to do.
///
/// `Display` prints the message of this level only; the chain is in [`Error::source`]. [`ToolError::report`] prints
/// it whole, for the edge of the program.
#[derive(Debug, thiserror::Error)]
#[error("{message}")]
pub struct ToolError {
    kind: ToolErrorKind,
    message: String,
    hint: Option<String>,
    #[source]
    source: Option<Box<dyn Error + Send + Sync>>,
}

impl ToolError {
    /// Makes an error of a kind; the message is lowercase without a full stop.
    pub fn new(kind: ToolErrorKind, message: impl Into<String>) -> Self {
        Self { kind, message: message.into(), hint: None, source: None }
    }

    /// Makes an error about one argument: its name, what is wrong, what is allowed.
    pub fn argument(name: &str, problem: impl AsRef<str>) -> Self {
        Self::new(ToolErrorKind::InvalidArguments, format!("argument `{name}`: {}", problem.as_ref()))
    }

    /// Adds what to do about it.
    #[must_use]
    pub fn with_hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    /// Adds the cause.
    #[must_use]
    pub fn with_source(mut self, source: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        self.source = Some(source.into());
        self
    }

    /// Returns the kind.
    pub fn kind(&self) -> ToolErrorKind {
        self.kind
    }

    /// Returns what to do about it, if that is known.
    pub fn hint(&self) -> Option<&str> {
        self.hint.as_deref()
    }

    /// Returns the message, every cause after a colon, and the hint on a line of its own.
    pub fn report(&self) -> String {
        let mut text = self.message.clone();
        let mut cause = self.source();
        while let Some(error) = cause {
            text.push_str(": ");
            text.push_str(&error.to_string());
            cause = error.source();
        }
        if let Some(hint) = &self.hint {
            text.push_str("\nhint: ");
            text.push_str(hint);
        }
        text
    }
}

impl From<Denied> for ToolError {
    fn from(denied: Denied) -> Self {
        let kind = match denied.kind() {
            DeniedKind::Suspended => ToolErrorKind::Suspended,
            DeniedKind::Cancelled => ToolErrorKind::Cancelled,
            _ => ToolErrorKind::Denied,
        };
        let mut message = format!("permission denied, nothing was done: {}", denied.reason());
        if let Some(feedback) = denied.feedback() {
            message.push_str(". The person says: ");
            message.push_str(feedback);
        }
        let error = Self::new(kind, message);
        match denied.hint() {
            Some(hint) => error.with_hint(hint),
            None => error,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn report_has_message_causes_and_hint() {
        let error = ToolError::new(ToolErrorKind::System, "cannot start `x`")
            .with_source(std::io::Error::other("no such file"))
            .with_hint("check the name");
        assert_eq!(error.to_string(), "cannot start `x`");
        assert_eq!(error.report(), "cannot start `x`: no such file\nhint: check the name");
    }

    #[test]
    fn denial_keeps_feedback_and_kind() {
        let denied = Denied::new(DeniedKind::Rejected, "the person rejected it").with_feedback("use npm ci");
        let error = ToolError::from(denied);
        assert_eq!(error.kind(), ToolErrorKind::Denied);
        assert!(error.report().ends_with("The person says: use npm ci"), "{}", error.report());
        let suspended = ToolError::from(Denied::new(DeniedKind::Suspended, "asked"));
        assert_eq!(suspended.kind(), ToolErrorKind::Suspended);
    }
}
