//! Safe, ask or deny, from the structure of a command line and what is known about its programs.

mod classifier;
mod feeds;
mod reads;
mod ruin;

use std::borrow::Cow;
use std::fmt;
use std::path::{Path, PathBuf};

use serde::Serialize;
use tool_api::CommandKind;

use crate::analysis::{CommandAnalysis, Segment};
pub use classifier::{Classifier, ClassifierError, Opinion, Question};

/// What a command line is, from the mildest to the strictest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Classification {
    /// It is understood completely, and only reads.
    Safe,
    /// A person decides.
    Ask,
    /// It destroys what cannot be brought back, or runs what nobody has seen.
    Deny,
}

impl fmt::Display for Classification {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Safe => "safe",
            Self::Ask => "ask",
            Self::Deny => "deny",
        })
    }
}

/// Where and how a command line would run.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Scene<'a> {
    pub(crate) roots: &'a [PathBuf],
    pub(crate) workdir: &'a Path,
    pub(crate) home: Option<&'a Path>,
    pub(crate) kind: CommandKind,
}

/// What was found about a command line.
#[derive(Clone, Debug)]
pub(crate) struct Finding<'a> {
    pub(crate) classification: Classification,
    /// The command that makes it so.
    segment: Option<&'a Segment>,
    why: Cow<'a, str>,
}

impl Finding<'_> {
    /// The reason, for a person. Made only for what is shown.
    pub(crate) fn reason(&self) -> String {
        let Some(segment) = self.segment else { return self.why.clone().into_owned() };
        let text = crate::visible(&segment.text);
        match self.classification {
            Classification::Ask => format!("`{text}` is not known to only read: {}", self.why),
            _ => format!("`{text}`: {}", self.why),
        }
    }
}

/// Classifies a command line; segments that are `settled` were allowed by a rule and need not be known to read.
pub(crate) fn classify<'a>(
    analysis: &'a CommandAnalysis,
    scene: &Scene<'_>,
    settled: &dyn Fn(usize) -> bool,
) -> Finding<'a> {
    let catastrophe = ruin::find(analysis, scene).or_else(|| feeds::find(analysis));
    if let Some((segment, why)) = catastrophe {
        return Finding { classification: Classification::Deny, segment, why };
    }
    match reads::obstacle(analysis, scene, settled) {
        Some((segment, why)) => Finding { classification: Classification::Ask, segment, why },
        None => Finding {
            classification: Classification::Safe,
            segment: None,
            why: Cow::Borrowed("every command only reads"),
        },
    }
}

/// Whether a segment alone only reads.
pub(crate) fn reads(analysis: &CommandAnalysis, scene: &Scene<'_>, number: usize) -> bool {
    reads::segment(analysis, scene, number)
}

/// A command, if it is one that makes it so, and why.
type Reason<'a> = (Option<&'a Segment>, Cow<'a, str>);
