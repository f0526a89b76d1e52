//! How what the rules leave open is decided, and the workflow policies that tighten any mode.

use std::fmt;
use std::str::FromStr;

use serde::Serialize;
use tool_api::CommandKind;

use crate::analysis::CommandAnalysis;
use crate::audit::Decider;
use crate::bare_shell::bare_shell;
use crate::judge::{Judgement, Law};
use crate::rules::Decision;
use crate::smart::{Classification, Finding, classify};

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

/// What to do where a mode or workflow policy refuses.
const HINTS: [&str; 2] = [
    "look with commands that only read, and say what you would do; the person can leave plan mode",
    "look with commands that only read, and say what you would do; the person set this policy and can lift it",
];

/// Why a mode or workflow policy refuses, and what to do.
pub(crate) type Refusal = (String, &'static str);

impl<'p> Law<'p> {
    /// Decides a command line: rules, then what no rule allows, then the mode. `changed` says why this call would run
    /// something else than the text tells.
    pub(crate) fn decide(&self, analysis: &CommandAnalysis, kind: CommandKind, changed: Option<&str>) -> Judgement<'p> {
        let mut judgement = self.judge(analysis);
        if judgement.decision == Decision::Deny {
            return judgement;
        }
        // A bare interactive shell is refused only where it would be typed into.
        if kind == CommandKind::Interactive
            && let Some(shell) = bare_shell(analysis)
        {
            let hint = "start the program itself, or run `bash -c '...'` with the whole command";
            judgement.refuse(Decider::Policy, shell, Some(hint));
            return judgement;
        }
        if let Some((reason, hint)) = self.refuses_command(analysis, kind, changed) {
            judgement.refuse(Decider::Mode, reason, Some(hint));
            return judgement;
        }
        if self.mode == Mode::Smart && judgement.decision == Decision::Ask {
            self.classify_open(analysis, kind, changed, &mut judgement);
        }
        judgement
    }

    /// Classifies what the rules leave open.
    fn classify_open(
        &self,
        analysis: &CommandAnalysis,
        kind: CommandKind,
        changed: Option<&str>,
        judgement: &mut Judgement<'p>,
    ) {
        let left = judgement.left(analysis);
        if left.by_rule && !left.open {
            return;
        }
        let finding = classify(analysis, &self.scene(kind), &|number| judgement.settles(number));
        match finding.classification {
            Classification::Deny => {
                let reason = format!("smart mode refuses it: {}", finding.reason());
                let hint = "ask the person to do it, if it must be done";
                judgement.refuse(Decider::Mode, reason, Some(hint));
            }
            Classification::Safe => {
                judgement.found = Some((Classification::Safe, finding.reason()));
                if !left.asked && !judgement.beyond && !self.reads_asked && changed.is_none() {
                    judgement.allow_reading();
                }
            }
            Classification::Ask => {
                let reason = finding.reason();
                if !judgement.beyond && !left.asked {
                    judgement.reason.clone_from(&reason);
                }
                judgement.found = Some((Classification::Ask, reason));
            }
        }
    }

    /// Why the mode or a workflow policy refuses a command line.
    fn refuses_command(&self, analysis: &CommandAnalysis, kind: CommandKind, changed: Option<&str>) -> Option<Refusal> {
        let plan = self.mode == Mode::Plan;
        if plan && kind == CommandKind::Interactive {
            return Some(("plan mode starts no interactive command".to_owned(), HINTS[0]));
        }
        if plan && kind == CommandKind::SharedLine {
            return Some(("plan mode runs nothing in the shared shell".to_owned(), HINTS[0]));
        }
        let policy = self.workflow.first();
        if !plan && policy.is_none() {
            return None;
        }
        let why = match changed {
            Some(changed) => changed.to_owned(),
            None => {
                let finding: Finding<'_> = classify(analysis, &self.scene(kind), &|_| false);
                if finding.classification == Classification::Safe {
                    return None;
                }
                finding.reason()
            }
        };
        Some(match policy {
            _ if plan => (format!("plan mode runs only what is known to read: {why}"), HINTS[0]),
            policy => {
                let name = policy.copied().unwrap_or(WorkflowPolicy::ReadOnly);
                (format!("the policy `{name}` allows only commands that are known to read: {why}"), HINTS[1])
            }
        })
    }

    /// Why the mode or a workflow policy refuses every edit.
    pub(crate) fn refuses_edit(&self) -> Option<Refusal> {
        if self.mode == Mode::Plan {
            return Some(("plan mode changes no files".to_owned(), HINTS[0]));
        }
        let read_only = self.workflow.contains(&WorkflowPolicy::ReadOnly);
        read_only.then(|| ("the policy `readOnly` allows no changes of files".to_owned(), HINTS[1]))
    }
}
