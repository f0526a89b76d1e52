//! How what the rules leave open is decided, and the workflow policies that tighten any mode.

use std::fmt;
use std::str::FromStr;

use serde::Serialize;

/// How what the rules leave open is decided.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum Mode {
    /// Rules, then a person.
    #[default]
    Ask,
    /// Rules; what they leave open is classified: safe runs unasked, what destroys is denied, the rest is asked.
    Smart,
    /// Nothing but reading: no edits, no session, no line of the shared shell, only commands known to read.
    Plan,
}

impl Mode {
    /// Every mode, in the order of their documentation.
    pub const ALL: [Self; 3] = [Self::Ask, Self::Smart, Self::Plan];

    /// The name, as configurations write it.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Ask => "ask",
            Self::Smart => "smart",
            Self::Plan => "plan",
        }
    }
}

impl fmt::Display for Mode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// A mode that does not exist.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("unknown mode `{0}`, expected `ask`, `smart` or `plan`")]
pub struct UnknownMode(String);

impl FromStr for Mode {
    type Err = UnknownMode;

    fn from_str(text: &str) -> Result<Self, UnknownMode> {
        Self::ALL.into_iter().find(|mode| mode.as_str() == text).ok_or_else(|| UnknownMode(text.to_owned()))
    }
}

/// A policy for the way of working, on top of any mode. It only tightens.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub enum WorkflowPolicy {
    /// No edits, and no commands but those known to read.
    ReadOnly,
    /// No commands but those known to read; edits go by rules.
    NoMutatingCommands,
}

impl WorkflowPolicy {
    /// Every workflow policy.
    pub const ALL: [Self; 2] = [Self::ReadOnly, Self::NoMutatingCommands];

    /// The name, as configurations write it.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::ReadOnly => "readOnly",
            Self::NoMutatingCommands => "noMutatingCommands",
        }
    }
}

impl fmt::Display for WorkflowPolicy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}
