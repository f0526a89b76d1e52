//! Safe, ask or deny, from the structure of a command line and what is known about its programs.

mod classifier;

use std::fmt;

use serde::Serialize;

use crate::analysis::{CommandAnalysis, Reach};
use crate::programs::Nature;
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

/// Classifies a command line.
pub(crate) fn classify(analysis: &CommandAnalysis) -> Classification {
    let counted = || analysis.segments.iter().filter(|segment| segment.reach != Reach::DenyOnly);
    if analysis.segments.iter().any(|segment| segment.call.nature == Nature::Destroys) {
        return Classification::Deny;
    }
    let reads = analysis.is_understood()
        && analysis.written().next().is_some()
        && counted().all(|segment| segment.call.nature == Nature::Reads && segment.redirects.is_empty())
        && analysis.redirects.is_empty();
    if reads { Classification::Safe } else { Classification::Ask }
}
