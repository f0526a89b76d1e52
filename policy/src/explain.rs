//! The policy of a host, and its explanation of a command line.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use serde::{Serialize, Serializer};
use tool_api::{CommandKind, Workspace};

use crate::analysis::{CommandAnalysis, Reach, Segment};
use crate::bare_shell::bare_shell;
use crate::files::Touched;
use crate::identity::Identities;
use crate::judge::{Law, Verdict};
use crate::modes::{Mode, WorkflowPolicy};
use crate::outside::Outside;
use crate::programs::Nature;
use crate::rules::{Decision, Pattern, Rules};
use crate::smart::{Classification, Classifier, classify};

/// How long a classifier may take when the host sets no limit of its own.
const CLASSIFIER_LIMIT: Duration = Duration::from_secs(10);

/// What a host decides permission requests with: layers of rules, a mode, and the person's home directory.
///
/// It does not change; what a person allows for a chat is in [`crate::Approvals`].
#[derive(Clone, Debug, Default)]
pub struct Policy {
    layers: Vec<Rules>,
    mode: Mode,
    workflow: Vec<WorkflowPolicy>,
    reads_asked: bool,
    home: Option<PathBuf>,
    classifier: Option<Arc<dyn Classifier>>,
    classifier_limit: Option<Duration>,
    identities: Identities,
}

impl Policy {
    /// Makes a policy without rules, which asks for everything but reading.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a layer. Of all layers the strictest answer counts.
    #[must_use]
    pub fn with_layer(mut self, rules: Rules) -> Self {
        self.layers.push(rules);
        self
    }

    /// Sets the mode.
    #[must_use]
    pub fn with_mode(mut self, mode: Mode) -> Self {
        self.mode = mode;
        self
    }

    /// Has what [`Mode::Smart`] would let run unasked be asked all the same, while what it refuses stays refused: the
    /// strictest of smart and ask mode.
    #[must_use]
    pub fn with_reads_asked(mut self) -> Self {
        self.reads_asked = true;
        self
    }

    /// Adds a workflow policy on top of the mode.
    #[must_use]
    pub fn with_workflow(mut self, policy: WorkflowPolicy) -> Self {
        if !self.workflow.contains(&policy) {
            self.workflow.push(policy);
        }
        self
    }

    /// Sets whose second opinion is asked in [`Mode::Smart`]; it can only tighten.
    #[must_use]
    pub fn with_classifier(mut self, classifier: Arc<dyn Classifier>) -> Self {
        self.classifier = Some(classifier);
        self
    }

    /// Sets how long the classifier may take; default 10 s. After it the command is asked.
    #[must_use]
    pub fn with_classifier_limit(mut self, limit: Duration) -> Self {
        self.classifier_limit = Some(limit);
        self
    }

    /// Sets the directory that `~` names, absolute.
    #[must_use]
    pub fn with_home(mut self, home: impl Into<PathBuf>) -> Self {
        self.home = Some(home.into());
        self
    }

    /// The layers of rules.
    #[must_use]
    pub fn layers(&self) -> &[Rules] {
        &self.layers
    }

    /// The mode.
    #[must_use]
    pub fn mode(&self) -> Mode {
        self.mode
    }

    /// The workflow policies.
    #[must_use]
    pub fn workflow(&self) -> &[WorkflowPolicy] {
        &self.workflow
    }

    pub(crate) fn home(&self) -> Option<&Path> {
        self.home.as_deref()
    }

    pub(crate) fn identities(&self) -> &Identities {
        &self.identities
    }

    pub(crate) fn classifier(&self) -> Option<(&Arc<dyn Classifier>, Duration)> {
        let limit = self.classifier_limit.unwrap_or(CLASSIFIER_LIMIT);
        self.classifier.as_ref().map(|classifier| (classifier, limit))
    }

    /// Decides a command line in the workspace's first root, without any approval and without saying why.
    #[must_use]
    pub fn decide(&self, command: &str, kind: CommandKind, workspace: &Workspace) -> Decision {
        let analysis = CommandAnalysis::new(command);
        self.law(workspace.roots(), workspace.root(), &[]).decide(&analysis, kind, None).decision
    }

    /// Explains what would be decided for a command line in the workspace's first root, without any approval.
    #[must_use]
    pub fn explain(&self, command: &str, kind: CommandKind, workspace: &Workspace) -> Explanation {
        let analysis = CommandAnalysis::new(command);
        let law = self.law(workspace.roots(), workspace.root(), &[]);
        explain(&analysis, &law, kind)
    }

    pub(crate) fn law<'p>(&'p self, roots: &'p [PathBuf], workdir: &'p Path, approvals: &'p [Pattern]) -> Law<'p> {
        let home = self.home.as_deref();
        let outside = Outside { roots, workdir, home, layers: &self.layers, lasting: false, approved: &[] };
        let (mode, reads_asked, workflow) = (self.mode, self.reads_asked, self.workflow.as_slice());
        Law { layers: &self.layers, approvals, home, outside, mode, reads_asked, workflow }
    }
}

/// What would be decided for a command line, and why.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Explanation {
    /// The decision.
    pub decision: Decision,
    /// Why, for a person.
    pub reason: String,
    /// The commands, in the order of their first character.
    pub segments: Vec<ExplainedSegment>,
    /// Whether it is an interactive shell, whose later commands no rule would see.
    pub bare_shell: bool,
    /// The paths outside the workspace that it touches, resolved; `?` for what is known only when it runs.
    pub outside: Vec<String>,
    /// What smart mode makes of it where no rule about commands decides, without a classifier.
    pub smart: Classification,
    /// Why smart mode says so.
    pub smart_reason: String,
    /// Why it does not parse.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub syntax_error: Option<String>,
    /// Why it is not understood completely.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub doubt: Option<String>,
}

/// One command of an [`Explanation`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ExplainedSegment {
    /// The words with quotes resolved, joined by one space.
    pub text: String,
    /// Whether a word is known only when the command runs.
    pub dynamic: bool,
    /// What is decided for it.
    pub decision: Decision,
    /// Why.
    pub reason: String,
    /// The pattern of the rule that decides; `null` when none matches.
    pub rule: Option<String>,
    /// Where that rule was written.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub origin: Option<String>,
    /// What its program is known to do with these arguments.
    #[serde(serialize_with = "nature_name")]
    pub nature: Nature,
    /// What makes it so; empty for what only reads.
    #[serde(skip_serializing_if = "str::is_empty")]
    pub why: String,
    /// The commands that it runs in its turn.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub inner: Vec<ExplainedSegment>,
}

fn explain(analysis: &CommandAnalysis, law: &Law<'_>, kind: CommandKind) -> Explanation {
    let judgement = law.decide(analysis, kind, None);
    let finding = classify(analysis, &law.scene(kind), &|_| false);
    // What is outside is asked in every mode, unless a rule allows it.
    let (smart, smart_reason) = match law.crosses(&judgement) {
        Some(reason) if finding.classification == Classification::Safe => (Classification::Ask, reason),
        _ => (finding.classification, finding.reason()),
    };
    let mut explained: Vec<Option<ExplainedSegment>> =
        analysis.segments.iter().zip(&judgement.verdicts).map(|pair| Some(segment(pair.0, pair.1))).collect();
    // What is inner stands behind what wraps it, so that from the end on every segment is whole before it is moved.
    for (number, inner) in analysis.segments.iter().enumerate().rev() {
        let Some(outer) = inner.wrapper else { continue };
        let moved = explained[number].take();
        if inner.reach != Reach::DenyOnly
            && let Some(outer) = &mut explained[outer]
        {
            outer.inner.extend(moved);
        }
    }
    for segment in explained.iter_mut().flatten() {
        in_order(segment);
    }
    let segments = analysis.written().filter_map(|(number, _)| explained[number].take()).collect();
    Explanation {
        decision: judgement.decision,
        reason: judgement.reason.clone(),
        segments,
        bare_shell: bare_shell(analysis).is_some(),
        outside: paths(&judgement.outside),
        smart,
        smart_reason,
        syntax_error: analysis.syntax_error.clone(),
        doubt: analysis.doubt.clone(),
    }
}

fn paths(touched: &[Touched]) -> Vec<String> {
    let shown = touched.iter().map(|touched| match &touched.path {
        Some(path) => path.to_string_lossy().into_owned(),
        None => "?".to_owned(),
    });
    let mut paths: Vec<String> = shown.collect();
    // What is not known stands at the end, once.
    paths.dedup_by(|next, last| next == "?" && last == "?");
    paths
}

/// Inner commands were gathered from the last one on. The depth is bounded by the analysis.
fn in_order(segment: &mut ExplainedSegment) {
    segment.inner.reverse();
    segment.inner.iter_mut().for_each(in_order);
}

fn segment(segment: &Segment, verdict: &Verdict<'_>) -> ExplainedSegment {
    ExplainedSegment {
        text: segment.text.clone(),
        dynamic: segment.is_dynamic(),
        decision: verdict.decision,
        reason: verdict.reason(segment),
        rule: verdict.rule.map(|rule| rule.pattern.as_str().to_owned()),
        origin: verdict.rule.map(|rule| rule.origin.clone()),
        nature: segment.call.nature,
        why: segment.call.why.clone().into_owned(),
        inner: Vec::new(),
    }
}

fn nature_name<S: Serializer>(nature: &Nature, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(match nature {
        Nature::Reads => "reads",
        Nature::Unknown => "unknown",
        Nature::Changes => "changes",
        Nature::Destroys => "destroys",
    })
}
