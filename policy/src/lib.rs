//! What a permission request is answered with: shell grammar, rules, modes, approvals.
//!
//! Nothing here runs anything. A command line is taken apart once, into a [`CommandAnalysis`]; rules, prompts and
//! explanations read that and nothing else parses commands. Allowing needs a command line that was understood
//! completely; denying looks at everything that any reading found.

mod analysis;
mod approvals;
mod audit;
mod bare_shell;
mod explain;
mod files;
mod gate;
mod identity;
mod judge;
mod mask;
mod modes;
mod offer;
mod outside;
mod programs;
mod prompt;
mod rules;
mod smart;
mod visible;

pub use analysis::{
    Added, Assignment, CommandAnalysis, Reach, Redirect, RedirectKind, Segment, Simple, Stdin, Within, Word, WordPart,
};
pub use approvals::Approvals;
pub use async_trait::async_trait;
pub use audit::{Audit, AuditError, AuditEvent, AuditWhat, Decider};
pub use bare_shell::bare_shell;
pub use explain::{ExplainedSegment, Explanation, Policy};
pub use gate::Gate;
pub use mask::{SecretMask, names_secret};
pub use modes::{Mode, UnknownMode, WorkflowPolicy};
pub use programs::{Call, FileUse, Nature, Usage};
pub use prompt::{Answer, Approver, NobodyToAsk, Prompt};
pub use rules::{Area, Decision, Pattern, PatternError, Rule, RuleError, RuleTable, Rules};
pub use smart::{Classification, Classifier, ClassifierError, Opinion, Question};
pub use visible::{is_hidden, visible};
