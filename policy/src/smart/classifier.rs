//! A second opinion on a command line, which a host may supply and which can only tighten.

use std::error::Error;
use std::fmt;
use std::path::Path;

use async_trait::async_trait;
use tool_api::CommandKind;

use super::Classification;

/// What a [`Classifier`] is asked about.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Question<'a> {
    /// The whole command line.
    pub command: &'a str,
    /// The directory it would start in.
    pub workdir: &'a Path,
    /// How it would be run.
    pub kind: CommandKind,
    /// What the rules in code found: [`Classification::Safe`] or [`Classification::Ask`].
    pub found: Classification,
    /// Why, for a person.
    pub reason: &'a str,
}

/// What a [`Classifier`] says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Opinion {
    /// What the command line is. A milder one than what was found changes nothing.
    pub classification: Classification,
    /// Why, for a person: lowercase, without a full stop.
    pub reason: String,
}

/// Why a [`Classifier`] has no opinion.
pub type ClassifierError = Box<dyn Error + Send + Sync>;

/// A second opinion in smart mode, for example a model's. It can make an answer stricter, never milder.
///
/// It is not asked about what is denied, nor about what a rule decides. An error, a panic, or no answer within the
/// limit counts as [`Classification::Ask`]. Dropping the future withdraws the question.
///
/// ```
/// use policy::{Classification, Classifier, ClassifierError, Opinion, Question, async_trait};
///
/// /// Has every mention of a production system asked.
/// #[derive(Debug)]
/// struct Careful;
///
/// #[async_trait]
/// impl Classifier for Careful {
///     async fn classify(&self, question: Question<'_>) -> Result<Opinion, ClassifierError> {
///         let classification =
///             if question.command.contains("prod") { Classification::Ask } else { Classification::Safe };
///         Ok(Opinion { classification, reason: "it speaks of production".into() })
///     }
/// }
/// # let _ = Careful;
/// ```
#[async_trait]
pub trait Classifier: fmt::Debug + Send + Sync {
    /// Classifies one command line.
    ///
    /// # Errors
    /// Why there is no opinion; the command line is asked then.
    async fn classify(&self, question: Question<'_>) -> Result<Opinion, ClassifierError>;
}
