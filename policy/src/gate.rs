//! The permission of one chat: policy, what was approved, and whom to ask. Whatever fails here is a denial.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use tokio::task::JoinSet;
use tool_api::{
    ChatId, CommandEffect, CommandKind, Denied, DeniedKind, EditEffect, Effect, Grant, Permission, PermissionRequest,
    ReadEffect,
};

use crate::analysis::CommandAnalysis;
use crate::approvals::Approvals;
use crate::audit::{Audit, Decider, Outcome, Record};
use crate::explain::Policy;
use crate::identity::{self, Entered, Identity, Plan};
use crate::judge::{Judgement, is_harmless};
use crate::modes::Mode;
use crate::offer::offer;
use crate::outside::{Crossing, DIRECTORY};
use crate::programs::Usage;
use crate::prompt::{Answer, Approver, Asking, Prompt};
use crate::rules::{Decision, Pattern};
use crate::smart::{Classification, Opinion, Question, reads};

/// How long a question may stay open when the front sets no limit of its own.
const LONGEST_QUESTION: Duration = Duration::from_secs(24 * 60 * 60);

/// The permission of one chat.
///
/// Needs a tokio runtime with time while it asks.
#[derive(Clone, Debug)]
pub struct Gate {
    chat: ChatId,
    policy: Arc<Policy>,
    approvals: Arc<Approvals>,
    approver: Arc<dyn Approver>,
    audit: Option<Arc<dyn Audit>>,
    limit: Duration,
}

/// What the policy says before anybody is asked.
#[derive(Debug)]
enum Opening {
    Allow { by: Decider, reason: String },
    Deny { by: Decider, reason: String, hint: Option<&'static str> },
    Ask { reason: String, always: Vec<String> },
}

/// What the policy says, and what smart mode found where the rules left something open.
#[derive(Debug)]
struct Opened {
    opening: Opening,
    found: Option<(Classification, String)>,
    /// What has to be looked at before a command is approved.
    plan: Option<Plan>,
}

impl From<Opening> for Opened {
    fn from(opening: Opening) -> Self {
        Self { opening, found: None, plan: None }
    }
}

impl Gate {
    /// Makes the permission of a chat in which nothing is approved yet.
    #[must_use]
    pub fn new(chat: ChatId, policy: Arc<Policy>, approver: Arc<dyn Approver>) -> Self {
        let approvals = Arc::new(Approvals::new());
        Self { chat, policy, approvals, approver, audit: None, limit: LONGEST_QUESTION }
    }

    /// Sets how long a question may stay open; default 24 hours. After it the effect is denied.
    #[must_use]
    pub fn with_limit(mut self, limit: Duration) -> Self {
        self.limit = limit;
        self
    }

    /// Replaces whom to ask; what was approved stays.
    #[must_use]
    pub fn with_approver(mut self, approver: Arc<dyn Approver>) -> Self {
        self.approver = approver;
        self
    }

    /// Sets where every decision and effect is written down. What cannot be written down is denied.
    #[must_use]
    pub fn with_audit(mut self, audit: Arc<dyn Audit>) -> Self {
        self.audit = Some(audit);
        self
    }

    /// What was approved in this chat.
    #[must_use]
    pub fn approvals(&self) -> &Approvals {
        &self.approvals
    }

    fn open(&self, request: &PermissionRequest) -> Opened {
        match &request.effect {
            Effect::Command(effect) => self.open_command(effect, request),
            Effect::Edit(effect) => self.open_edit(effect, request).into(),
            Effect::Read(effect) => self.open_read(effect, request).into(),
            _ => {
                let reason = "this policy does not know what would be done".into();
                Opening::Deny { by: Decider::Policy, reason, hint: None }.into()
            }
        }
    }

    fn open_command(&self, effect: &CommandEffect, request: &PermissionRequest) -> Opened {
        let analysis = CommandAnalysis::for_shell(&effect.command, &effect.shell);
        let approvals = self.approvals.commands();
        let directories = self.approvals.directories();
        let mut law = self.policy.law(request.workspace.roots(), &effect.workdir, &approvals);
        law.outside.approved = &directories;
        law.outside.lasting = effect.kind == CommandKind::SharedLine;
        let changed = typed_into(effect).or_else(|| changed_environment(effect));
        let judgement = law.decide(&analysis, effect.kind, changed.as_deref());
        let by = judgement.by();
        if judgement.decision == Decision::Deny {
            return Opening::Deny { by, reason: judgement.reason, hint: judgement.hint }.into();
        }
        let found = judgement.found.clone();
        let opening = match (changed, judgement.decision) {
            (Some(reason), _) => Opening::Ask { reason, always: Vec::new() },
            (None, Decision::Allow) => {
                // Made for the audit alone, since nobody else is told.
                let reason = if self.audit.is_some() { judgement.reasons(&analysis) } else { String::new() };
                Opening::Allow { by, reason }
            }
            (None, _) => {
                let always = self.offer(effect, request, &analysis, &judgement, &approvals);
                Opening::Ask { reason: judgement.reason, always }
            }
        };
        let plan = Some(Plan::new(effect, &analysis, self.policy.home()));
        Opened { opening, found, plan }
    }

    /// What "always" would allow; nothing when that would not change the answer.
    fn offer(
        &self,
        effect: &CommandEffect,
        request: &PermissionRequest,
        analysis: &CommandAnalysis,
        judgement: &Judgement<'_>,
        approvals: &[Pattern],
    ) -> Vec<String> {
        let scene = self.policy.law(request.workspace.roots(), &effect.workdir, approvals).scene(effect.kind);
        let smart = self.policy.mode() == Mode::Smart;
        let commands = offer(analysis, judgement, |number| smart && reads(analysis, &scene, number));
        let directories: Vec<String> = judgement.directories.iter().map(|text| format!("{DIRECTORY}{text}")).collect();
        // A pattern of directories is offered where nothing else asks, so that "always" says one thing at a time.
        let always = if judgement.beyond { directories } else { commands };
        let helps = {
            let (directories, commands) = taken_apart(&always);
            let approvals: Vec<Pattern> = approvals.iter().cloned().chain(commands).collect();
            let approved: Vec<Pattern> = self.approvals.directories().into_iter().chain(directories).collect();
            let mut law = self.policy.law(request.workspace.roots(), &effect.workdir, &approvals);
            law.outside.approved = &approved;
            law.outside.lasting = effect.kind == CommandKind::SharedLine;
            !always.is_empty() && law.decide(analysis, effect.kind, None).decision == Decision::Allow
        };
        if helps { always } else { Vec::new() }
    }

    fn open_edit(&self, effect: &EditEffect, request: &PermissionRequest) -> Opening {
        let approvals = self.approvals.edits();
        let law = self.policy.law(request.workspace.roots(), request.workspace.root(), &approvals);
        let judged = law.edit(&effect.path);
        if judged.decision != Decision::Deny
            && let Some((reason, hint)) = law.refuses_edit()
        {
            return Opening::Deny { by: Decider::Mode, reason, hint: Some(hint) };
        }
        match judged.decision {
            Decision::Deny => Opening::Deny { by: judged.by, reason: judged.reason, hint: None },
            Decision::Allow => Opening::Allow { by: judged.by, reason: judged.reason },
            Decision::Ask => Opening::Ask { reason: judged.reason, always: judged.always.into_iter().collect() },
        }
    }

    fn open_read(&self, effect: &ReadEffect, request: &PermissionRequest) -> Opening {
        let law = self.policy.law(request.workspace.roots(), request.workspace.root(), &[]);
        let judged = law.read(effect.path.as_deref(), &effect.what);
        match judged.decision {
            Decision::Deny => Opening::Deny { by: judged.by, reason: judged.reason, hint: None },
            Decision::Allow => Opening::Allow { by: judged.by, reason: judged.reason },
            Decision::Ask => Opening::Ask { reason: judged.reason, always: Vec::new() },
        }
    }

    fn prompt(&self, request: &PermissionRequest, reason: String, always: Vec<String>) -> Option<Prompt> {
        let asking = Asking {
            chat: self.chat.as_str(),
            tool: &request.tool,
            reason,
            always,
            cancel: request.cancel.child_token(),
        };
        match &request.effect {
            Effect::Command(effect) => Some(Prompt::command(asking, effect)),
            Effect::Edit(effect) => Some(Prompt::edit(asking, effect)),
            Effect::Read(effect) => Some(Prompt::read(asking, effect)),
            _ => None,
        }
    }

    /// Asks, and ends the question when it is no longer wanted, when its limit passed, or with the chat's other ones.
    async fn answer(&self, prompt: Prompt, request: &PermissionRequest) -> Result<Answer, Denied> {
        let rejected = self.approvals.open_question();
        let withdrawn = prompt.cancel.clone().drop_guard();
        let approver = Arc::clone(&self.approver);
        // A task of its own, so that a panic in a front is an answer that did not come. Dropping the set ends it.
        let mut question = JoinSet::new();
        question.spawn(async move { approver.ask(prompt).await });
        let answer = tokio::select! {
            biased;
            () = request.cancel.cancelled() => {
                Err(Denied::new(DeniedKind::Cancelled, "the call was cancelled while a person was asked"))
            }
            () = rejected.cancelled() => {
                Err(Denied::new(DeniedKind::Rejected, "the person rejected another question of this chat, which ended this one"))
            }
            answer = question.join_next() => match answer {
                Some(Ok(answer)) => Ok(answer),
                _ => Err(Denied::new(DeniedKind::NoAnswer, "the front failed while it asked")),
            },
            () = tokio::time::sleep(self.limit) => {
                Err(Denied::new(DeniedKind::NoAnswer, format!("nobody answered within {} s", self.limit.as_secs())))
            }
        };
        drop(withdrawn);
        answer
    }

    /// Has the classifier, if there is one, tighten what smart mode says.
    async fn second_opinion(
        &self,
        opening: Opening,
        found: Option<(Classification, String)>,
        request: &PermissionRequest,
    ) -> Result<Opening, Denied> {
        let (Effect::Command(effect), Some((found, reason)), Some((classifier, limit))) =
            (&request.effect, found, self.policy.classifier())
        else {
            return Ok(opening);
        };
        let (classifier, effect) = (Arc::clone(classifier), effect.clone());
        // A task of its own, so that a panic is an opinion that did not come. Dropping the set ends it.
        let mut asked = JoinSet::new();
        asked.spawn(async move {
            let CommandEffect { command, workdir, kind, .. } = &effect;
            classifier.classify(Question { command, workdir, kind: *kind, found, reason: &reason }).await
        });
        let none = |why: &str| Opinion { classification: Classification::Ask, reason: why.to_owned() };
        let opinion = tokio::select! {
            biased;
            () = request.cancel.cancelled() => {
                return Err(Denied::new(DeniedKind::Cancelled, "the call was cancelled while it was classified"));
            }
            opinion = asked.join_next() => match opinion {
                Some(Ok(Ok(opinion))) => opinion,
                Some(Ok(Err(error))) => {
                    tracing::warn!(error = &*error as &dyn std::error::Error, "the classifier failed");
                    none("the classifier failed")
                }
                _ => none("the classifier failed"),
            },
            () = tokio::time::sleep(limit) => none("the classifier did not answer in time"),
        };
        Ok(match (opinion.classification, opening) {
            (Classification::Deny, _) => {
                let reason = format!("the classifier refuses it: {}", crate::visible(&opinion.reason));
                Opening::Deny { by: Decider::Mode, reason, hint: None }
            }
            (Classification::Ask, Opening::Allow { .. }) => {
                let reason = format!("the classifier wants it asked: {}", crate::visible(&opinion.reason));
                Opening::Ask { reason, always: Vec::new() }
            }
            (_, opening) => opening,
        })
    }

    async fn decide(&self, request: &PermissionRequest, entered: Entered) -> Outcome {
        let failed = |reason: &str| Outcome::denied(Decider::Failed, Denied::new(DeniedKind::Failed, reason));
        if request.chat != self.chat {
            return failed("the request is of another chat");
        }
        if request.cancel.is_cancelled() {
            let denied = Denied::new(DeniedKind::Cancelled, "the call was cancelled");
            return Outcome::denied(Decider::Cancelled, denied);
        }
        let Ok(Opened { opening, found, plan }) = catch_unwind(AssertUnwindSafe(|| self.open(request))) else {
            return failed("the policy failed");
        };
        let opening = match self.second_opinion(opening, found, request).await {
            Ok(opening) => opening,
            Err(denied) => return Outcome::denied(Decider::Cancelled, denied),
        };
        // Before anybody is asked: what the person sees is what is approved.
        let identity = match (&opening, plan) {
            (Opening::Deny { .. }, _) | (_, None) => None,
            (_, Some(plan)) => match Identity::look(self.policy.identities(), plan, entered).await {
                Ok(identity) => Some(identity),
                Err(denied) => return Outcome::denied(Decider::Failed, denied),
            },
        };
        let (reason, always) = match opening {
            Opening::Allow { by, reason } => return Outcome::allowed(by, reason, Vec::new()).bound_to(identity),
            Opening::Deny { by, reason, hint } => {
                tracing::info!(tool = %request.tool, %reason, "denied");
                let denied = Denied::new(DeniedKind::Forbidden, reason);
                return Outcome::denied(by, hint.into_iter().fold(denied, Denied::with_hint));
            }
            Opening::Ask { reason, always } => (reason, always),
        };
        let Some(mut prompt) = self.prompt(request, reason.clone(), always.clone()) else {
            return failed("there is no question for this effect");
        };
        if let Some(identity) = &identity {
            identity.show(&mut prompt);
        }
        let outcome = match self.answer(prompt, request).await {
            Ok(Answer::Once) => Outcome::allowed(Decider::Once, reason, Vec::new()),
            Ok(Answer::Always) => Outcome::allowed(Decider::Always, reason, always),
            Ok(Answer::Preset { reason: set }) => {
                Outcome::allowed(Decider::Preset, format!("{set} ({reason})"), Vec::new())
            }
            Ok(Answer::Reject { feedback }) => {
                self.approvals.reject_open();
                let denied = Denied::new(DeniedKind::Rejected, "the person rejected it");
                let feedback = feedback.filter(|text| !text.trim().is_empty());
                Outcome::denied(Decider::Reject, feedback.into_iter().fold(denied, Denied::with_feedback))
            }
            Ok(Answer::NoAnswer { reason: why }) => {
                let denied = Denied::new(DeniedKind::NoAnswer, format!("it needs an approval ({reason}), and {why}"));
                Outcome::denied(Decider::NoAnswer, denied)
            }
            Ok(Answer::Suspended) => {
                let denied = Denied::new(DeniedKind::Suspended, "the person is asked before this call is run again");
                Outcome::denied(Decider::Suspended, denied)
            }
            Err(denied) => {
                let by = match denied.kind() {
                    DeniedKind::Cancelled => Decider::Cancelled,
                    DeniedKind::Rejected => Decider::Reject,
                    _ => Decider::NoAnswer,
                };
                Outcome::denied(by, denied)
            }
        };
        // Whatever the answer: what is allowed is what was looked at.
        outcome.bound_to(identity)
    }

    fn remember(&self, effect: &Effect, always: &[String]) {
        let (directories, patterns) = taken_apart(always);
        match effect {
            Effect::Command(_) => {
                self.approvals.allow_directories(directories);
                self.approvals.allow_commands(patterns);
            }
            Effect::Edit(_) => self.approvals.allow_edits(patterns),
            _ => {}
        }
    }
}

/// What "always" offers: patterns of directories, and all others.
fn taken_apart(always: &[String]) -> (Vec<Pattern>, Vec<Pattern>) {
    let (mut directories, mut others) = (Vec::new(), Vec::new());
    for text in always {
        let (list, text) = match text.strip_prefix(DIRECTORY) {
            Some(text) => (&mut directories, text),
            None => (&mut others, text.as_str()),
        };
        list.extend(Pattern::new(text, None).ok());
    }
    (directories, others)
}

#[async_trait]
impl Permission for Gate {
    async fn ask(&self, mut request: PermissionRequest) -> Result<Grant, Denied> {
        let entered = identity::enter(&mut request);
        let record = self.audit.as_ref().map(|audit| Record::new(audit, &request));
        let outcome = self.decide(&request, entered).await;
        let always = outcome.always.clone();
        let grant = match record {
            Some(record) => record.close(outcome)?,
            None => outcome.result?,
        };
        self.remember(&request.effect, &always);
        Ok(grant)
    }
}

/// A line for a program that runs in the foreground is always asked.
fn typed_into(effect: &CommandEffect) -> Option<String> {
    let program = effect.foreground.as_ref()?;
    Some(format!("the line would be typed into `{}`, which runs in the foreground", crate::visible(program)))
}

/// Variables of a call are assignments before its command.
fn changed_environment(effect: &CommandEffect) -> Option<String> {
    let (name, _) = effect.env.iter().find(|(name, _)| !is_harmless(name))?;
    Some(format!("`{}` is set, which can change what runs", crate::visible(name)))
}

/// What was decided for a path.
#[derive(Clone, Debug)]
pub(crate) struct PathJudgement {
    pub(crate) decision: Decision,
    pub(crate) by: Decider,
    pub(crate) reason: String,
    pub(crate) always: Option<String>,
}

impl crate::judge::Law<'_> {
    /// Judges a change of a file: by its path as written, as resolved, and below its root.
    fn edit(&self, path: &Path) -> PathJudgement {
        let names = self.outside.names(path);
        let mut judged = self.path(crate::Area::Edit, &names, Decision::Ask);
        if judged.decision == Decision::Ask
            && self.approvals.iter().any(|pattern| names.exact.iter().any(|name| pattern.matches(name)))
        {
            (judged.decision, judged.by) = (Decision::Allow, Decider::Chat);
            judged.reason = format!("`{}` was allowed for this chat", path.display());
        }
        if judged.decision != Decision::Deny
            && let Some(crossing) = self.outside.path(path, Usage::Write)
        {
            let Crossing { decision, reason, .. } = crossing;
            judged = PathJudgement { decision, by: Decider::Rule, reason, always: None };
        }
        judged
    }

    /// Reading is allowed unless a rule says otherwise.
    fn read(&self, path: Option<&Path>, what: &str) -> PathJudgement {
        let names = match path {
            Some(path) => self.outside.names(path),
            None => crate::outside::Names { exact: vec![what.to_owned()], also: Vec::new() },
        };
        self.path(crate::Area::Read, &names, Decision::Allow)
    }

    fn path(&self, area: crate::Area, names: &crate::outside::Names, otherwise: Decision) -> PathJudgement {
        let shown = names.exact.last().cloned().unwrap_or_default();
        let rule = self
            .layers
            .iter()
            .filter_map(|layer| layer.decide_names(area, &names.exact, &names.also))
            .max_by_key(|rule| rule.decision);
        let always = (!shown.contains(['*', '?', '~', '$'])).then(|| shown.clone());
        match rule {
            Some(rule) => PathJudgement {
                decision: rule.decision,
                by: Decider::Rule,
                reason: format!("`{shown}`: {} says {}", rule.origin, rule.decision),
                always,
            },
            None => {
                let reason = match otherwise {
                    Decision::Allow => format!("no rule is about `{shown}`"),
                    _ => format!("no rule allows `{shown}`"),
                };
                PathJudgement { decision: otherwise, by: Decider::Rule, reason, always }
            }
        }
    }
}
