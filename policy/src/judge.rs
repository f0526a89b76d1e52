//! Joins rules and analysis: what is decided for each segment, and for the whole command line.

use std::borrow::Cow;
use std::path::Path;

use tool_api::CommandKind;

use crate::analysis::wrappers::{base_name, without_global_options};
use crate::analysis::{Added, CommandAnalysis, Reach, Segment, Word, WordPart, join};
use crate::audit::Decider;
use crate::files::Touched;
use crate::modes::{Mode, WorkflowPolicy};
use crate::outside::Outside;
use crate::rules::{Area, Decision, Outline, Pattern, Rule, Rules, Subject, expand_home};
use crate::smart::{Classification, Scene};

/// Commands whose reasons are given one by one.
const MAX_REASONS: usize = 20;

/// What was decided for one segment, and why.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Verdict<'p> {
    pub(crate) decision: Decision,
    /// The rule that decided; none when no rule matched.
    pub(crate) rule: Option<&'p Rule>,
    why: Why<'p>,
    ruled: Ruled,
}

/// What the rules alone say, before anything else is looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Ruled {
    /// Nothing, or not every layer asks.
    Open,
    /// Every layer asks.
    Asks,
    /// It is allowed or denied.
    Settles,
}

/// Why a segment is decided so. The text is made only for what is shown.
#[derive(Clone, Copy, Debug)]
enum Why<'p> {
    NoRule,
    Rule,
    Approved(&'p Pattern),
    CouldBecome,
    Assignment,
    OnlyRunsAllowed,
    OnlyReads,
}

impl Verdict<'_> {
    /// Whether a rule allows it that spells out where the program is.
    fn names_place(&self) -> bool {
        self.decision == Decision::Allow && self.rule.is_some_and(|rule| rule.pattern.literal_prefix().contains('/'))
    }

    /// The reason, for a person.
    pub(crate) fn reason(&self, segment: &Segment) -> String {
        let text = crate::visible(&segment.text);
        match (self.why, self.rule) {
            (Why::Approved(pattern), _) => format!("`{text}` was allowed for this chat as `{}`", pattern.as_str()),
            (Why::CouldBecome, Some(rule)) => format!("`{text}` could become what {} denies", rule.origin),
            (Why::Assignment, _) => {
                let name = dangerous_assignment(segment).unwrap_or_default();
                format!("`{name}` is set, which can change what `{text}` runs")
            }
            (Why::OnlyReads, _) => format!("`{text}` only reads"),
            (Why::OnlyRunsAllowed, _) => format!("`{text}` runs only what is allowed"),
            (Why::NoRule | Why::Rule | Why::CouldBecome, None) => format!("no rule allows `{text}`"),
            (Why::NoRule | Why::Rule, Some(rule)) => {
                let verb = match rule.decision {
                    Decision::Allow => "is allowed by",
                    Decision::Ask => "must be asked, says",
                    Decision::Deny => "is denied by",
                };
                format!("`{text}` {verb} {}", rule.origin)
            }
        }
    }
}

/// What was decided for a command line.
#[derive(Clone, Debug)]
pub(crate) struct Judgement<'p> {
    pub(crate) decision: Decision,
    pub(crate) reason: String,
    /// One for each segment of the analysis.
    pub(crate) verdicts: Vec<Verdict<'p>>,
    /// Who decided, where it was neither the rules nor an approval.
    pub(crate) decider: Option<Decider>,
    /// What to do about a denial.
    pub(crate) hint: Option<&'static str>,
    /// Whether something asks that has nothing to do with what the commands do.
    pub(crate) beyond: bool,
    /// What it touches outside the workspace.
    pub(crate) outside: Vec<Touched>,
    /// Patterns that would allow all of that.
    pub(crate) directories: Vec<String>,
    /// What smart mode found, where the rules left something open.
    pub(crate) found: Option<(Classification, String)>,
}

impl Judgement<'_> {
    /// Who decided: what was allowed for the chat, if any of it was needed, else the rules.
    pub(crate) fn by(&self) -> Decider {
        if let Some(decider) = self.decider {
            return decider;
        }
        let approved = self.verdicts.iter().any(|verdict| matches!(verdict.why, Why::Approved(_)));
        if approved && self.decision == Decision::Allow { Decider::Chat } else { Decider::Rule }
    }

    /// Refuses it, whatever the rules say.
    pub(crate) fn refuse(&mut self, by: Decider, reason: String, hint: Option<&'static str>) {
        (self.decision, self.decider, self.reason, self.hint) = (Decision::Deny, Some(by), reason, hint);
    }

    /// Whether a rule or an approval allows a segment.
    pub(crate) fn settles(&self, number: usize) -> bool {
        self.verdicts.get(number).is_some_and(|verdict| verdict.decision == Decision::Allow)
    }

    /// What the rules leave open, and what they ask for.
    pub(crate) fn left(&self, analysis: &CommandAnalysis) -> Left {
        let mut left = Left { open: false, asked: false, by_rule: false };
        for (segment, verdict) in analysis.segments.iter().zip(&self.verdicts) {
            if segment.reach != Reach::DenyOnly && verdict.decision == Decision::Ask {
                left.open |= verdict.ruled == Ruled::Open;
                left.by_rule |= verdict.ruled == Ruled::Asks;
                left.asked |= !matches!(verdict.why, Why::NoRule);
            }
        }
        left
    }

    /// Allows what only reads and the rules left open.
    pub(crate) fn allow_reading(&mut self) {
        self.decision = Decision::Allow;
        self.decider = Some(Decider::Mode);
        "every command only reads".clone_into(&mut self.reason);
        for verdict in &mut self.verdicts {
            if verdict.decision == Decision::Ask {
                (verdict.decision, verdict.why) = (Decision::Allow, Why::OnlyReads);
            }
        }
    }

    /// Why each command is decided as it is.
    pub(crate) fn reasons(&self, analysis: &CommandAnalysis) -> String {
        let counted = analysis.segments.iter().zip(&self.verdicts);
        let mut reasons: Vec<String> = counted
            .filter(|(segment, _)| segment.reach != Reach::DenyOnly)
            .take(MAX_REASONS)
            .map(|(segment, verdict)| verdict.reason(segment))
            .collect();
        reasons.dedup();
        if reasons.is_empty() { self.reason.clone() } else { reasons.join("; ") }
    }
}

/// What the rules leave to others.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Left {
    /// Not every layer has a rule about a segment.
    pub(crate) open: bool,
    /// A segment must be asked for, whatever it does.
    pub(crate) asked: bool,
    /// Every layer asks for a segment.
    pub(crate) by_rule: bool,
}

/// What a judgement is made with.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Law<'p> {
    pub(crate) layers: &'p [Rules],
    /// What a person allowed for this chat.
    pub(crate) approvals: &'p [Pattern],
    pub(crate) home: Option<&'p Path>,
    pub(crate) outside: Outside<'p>,
    pub(crate) mode: Mode,
    /// Whether what smart mode would allow is asked.
    pub(crate) reads_asked: bool,
    pub(crate) workflow: &'p [WorkflowPolicy],
}

impl<'p> Law<'p> {
    /// Where a command line of one kind would run.
    pub(crate) fn scene(&self, kind: CommandKind) -> Scene<'p> {
        Scene { roots: self.outside.roots, workdir: self.outside.workdir, home: self.home, kind }
    }

    /// Judges a command line.
    pub(crate) fn judge(&self, analysis: &CommandAnalysis) -> Judgement<'p> {
        let mut verdicts: Vec<Verdict<'p>> = analysis.segments.iter().map(|segment| self.segment(segment)).collect();
        self.see_through(analysis, &mut verdicts);
        let mut decision = Decision::Allow;
        let mut decider = None;
        for (number, (segment, verdict)) in analysis.segments.iter().zip(&verdicts).enumerate() {
            let counts = segment.reach != Reach::DenyOnly || verdict.decision == Decision::Deny;
            if counts && verdict.decision > decision {
                decision = verdict.decision;
                decider = Some(number);
            }
        }
        let mut reason = match decider {
            Some(number) => verdicts[number].reason(&analysis.segments[number]),
            None => "every command is allowed".to_owned(),
        };
        let outside = self.outside.touched(analysis);
        let named = |number: usize| verdicts.get(number).is_some_and(Verdict::names_place);
        let crossing = self.outside.decide(&outside, &named);
        let mut beyond = false;
        let mut directories = Vec::new();
        if decision != Decision::Deny {
            let doubt = self.doubt(analysis);
            beyond = crossing.is_some();
            match (doubt, crossing) {
                (doubt, Some(crossing)) => (decision, reason, directories) = crossing.after(doubt),
                // What is not understood is said first: no rule can change it.
                (Some(doubt), None) => (decision, reason) = (Decision::Ask, doubt),
                (None, None) => {}
            }
        }
        Judgement { decision, reason, verdicts, decider: None, hint: None, beyond, outside, directories, found: None }
    }

    /// Why what a judged command line touches outside the workspace is not allowed.
    pub(crate) fn crosses(&self, judgement: &Judgement<'_>) -> Option<String> {
        self.outside.decide(&judgement.outside, &|_| false).map(|crossing| crossing.reason)
    }

    /// Reasons to ask that no rule about commands takes away.
    fn doubt(&self, analysis: &CommandAnalysis) -> Option<String> {
        if let Some(error) = &analysis.syntax_error {
            return Some(format!("it does not parse: {error}"));
        }
        if !self.everything_is_allowed() {
            if let Some(doubt) = &analysis.doubt {
                return Some(format!("it is not understood completely: {doubt}"));
            }
            if analysis.written().next().is_none() {
                return Some("it holds no command that a rule could allow".to_owned());
            }
        }
        None
    }

    /// Whether `allow *` is the only rule about commands.
    fn everything_is_allowed(&self) -> bool {
        let mut rules = self.layers.iter().flat_map(Rules::as_slice).filter(|rule| rule.area == Area::Bash);
        match (rules.next(), rules.next()) {
            (Some(rule), None) => rule.pattern.is_default() && rule.decision == Decision::Allow,
            _ => false,
        }
    }

    fn segment(&self, segment: &Segment) -> Verdict<'p> {
        let readings = Readings::new(segment, self.home);
        let subject = Subject { text: &readings.text, also: &readings.also };
        let mut strictest: Option<&'p Rule> = None;
        // So that a further layer that asks takes nothing away from what smart mode refuses.
        let mut open = self.layers.is_empty();
        for layer in self.layers {
            let rule = layer.decide(Area::Bash, &subject);
            open |= rule.is_none_or(|rule| rule.decision == Decision::Allow);
            if let Some(rule) = rule
                && strictest.is_none_or(|other| rule.decision > other.decision)
            {
                strictest = Some(rule);
            }
        }
        let ruled = match strictest.map(|rule| rule.decision) {
            Some(Decision::Allow | Decision::Deny) => Ruled::Settles,
            Some(Decision::Ask) if !open => Ruled::Asks,
            _ => Ruled::Open,
        };
        let mut verdict = match strictest {
            Some(rule) => Verdict { decision: rule.decision, rule: Some(rule), why: Why::Rule, ruled },
            None => Verdict { decision: Decision::Ask, rule: None, why: Why::NoRule, ruled },
        };
        if verdict.decision == Decision::Deny {
            return verdict;
        }
        if verdict.decision == Decision::Ask
            && let Some(pattern) = self.approvals.iter().find(|p| p.matches(&readings.text))
        {
            verdict.decision = Decision::Allow;
            verdict.why = Why::Approved(pattern);
        }
        if let Some(rule) = self.could_be_denied(segment) {
            verdict = Verdict { decision: Decision::Ask, rule: Some(rule), why: Why::CouldBecome, ruled };
        } else if verdict.decision == Decision::Allow
            && dangerous_assignment(segment).is_some()
            && !readings.full.as_deref().is_some_and(|full| self.allows_literally(full))
        {
            verdict.decision = Decision::Ask;
            verdict.why = Why::Assignment;
        }
        verdict
    }

    /// Whether a rule allows a command together with its assignments.
    fn allows_literally(&self, full: &str) -> bool {
        let subject = Subject { text: full, also: &[] };
        let allowed = |rule: &Rule| rule.decision == Decision::Allow;
        let mut decided = self.layers.iter().filter_map(|layer| layer.decide(Area::Bash, &subject)).peekable();
        (decided.peek().is_some() && decided.all(allowed)) || self.approvals.iter().any(|pattern| pattern.matches(full))
    }

    /// A denying rule whose beginning the segment may turn into when its dynamic words are expanded.
    fn could_be_denied(&self, segment: &Segment) -> Option<&'p Rule> {
        if !segment.is_dynamic() && segment.added == Added::Nothing {
            return None;
        }
        let mut rules = self.layers.iter().flat_map(|layer| layer.denials(Area::Bash)).peekable();
        rules.peek()?;
        let shortened = without_global_options(&segment.words);
        let readings = [Some(&segment.words), shortened.as_ref()].into_iter().flatten();
        let texts: Vec<Outline> = readings.flat_map(|words| Outline::of(words, &segment.added)).collect();
        rules.find(|rule| texts.iter().any(|text| rule.pattern.could_match(text)))
    }

    /// Lets rules that allow an inner command allow its wrapper, and rules that spell out the wrapper its inner command.
    fn see_through(&self, analysis: &CommandAnalysis, verdicts: &mut [Verdict<'p>]) {
        // What is inner stands behind what wraps it, so that from the end on every inner command is decided first.
        let mut inner_of = vec![None; analysis.segments.len()];
        for number in (0..analysis.segments.len()).rev() {
            let segment = &analysis.segments[number];
            if let Some(Contents { only_allowed: true, rule }) = inner_of[number]
                && verdicts[number].decision == Decision::Ask
                && verdicts[number].rule.is_none()
                && dangerous_assignment(segment).is_none()
            {
                verdicts[number].decision = Decision::Allow;
                verdicts[number].rule = rule;
                verdicts[number].why = Why::OnlyRunsAllowed;
            }
            if let Some(outer) = segment.wrapper
                && segment.reach != Reach::DenyOnly
            {
                let verdict = &verdicts[number];
                let contents: &mut Contents<'p> =
                    inner_of[outer].get_or_insert(Contents { only_allowed: true, rule: None });
                contents.only_allowed &= segment.reach == Reach::Through
                    && verdict.decision == Decision::Allow
                    && segment.sets.iter().all(|name| is_harmless(name));
                contents.rule = contents.rule.or(verdict.rule);
            }
        }
        for number in 0..analysis.segments.len() {
            let inner = &analysis.segments[number];
            let Some(outer_number) = inner.wrapper else { continue };
            let outer = verdicts[outer_number];
            if verdicts[number].decision == Decision::Ask
                && verdicts[number].rule.is_none()
                && outer.decision == Decision::Allow
                && let Some(rule) = outer.rule
                && spells_out(rule, &analysis.segments[outer_number], inner)
            {
                let ruled = Ruled::Settles;
                verdicts[number] = Verdict { decision: Decision::Allow, rule: Some(rule), why: Why::Rule, ruled };
            }
        }
    }
}

/// What a wrapper runs, summed up.
#[derive(Clone, Copy, Debug)]
struct Contents<'p> {
    only_allowed: bool,
    rule: Option<&'p Rule>,
}

/// Whether a rule's text before its first wildcard names the wrapper and the program that it runs.
fn spells_out(rule: &Rule, outer: &Segment, inner: &Segment) -> bool {
    let Some(name) = inner.words.first() else { return false };
    let Some(start) = outer.text.len().checked_sub(inner.text.len()) else { return false };
    outer.text.ends_with(&inner.text) && rule.pattern.literal_prefix().len() >= start + name.text.len()
}

/// The texts that rules are matched with.
#[derive(Debug)]
struct Readings<'s> {
    text: Cow<'s, str>,
    also: Vec<String>,
    /// With the assignments before it.
    full: Option<String>,
}

impl<'s> Readings<'s> {
    fn new(segment: &'s Segment, home: Option<&Path>) -> Self {
        let text = match home_words(&segment.words, home) {
            Some(words) => Cow::Owned(join(&words)),
            None => Cow::Borrowed(segment.text.as_str()),
        };
        let mut also = Vec::new();
        let words = &segment.words;
        if let Some(name) = words.first().and_then(Word::value) {
            let base = base_name(name);
            if base != name {
                let mut plain = words.clone();
                plain[0].text = base.to_owned();
                also.push(join(&plain));
            }
        }
        if let Some(mut shortened) = without_global_options(words) {
            also.push(join(&shortened));
            let base = base_name(&shortened[0].text).to_owned();
            if base != shortened[0].text {
                shortened[0].text = base;
                also.push(join(&shortened));
            }
        }
        let full = (!segment.assignments.is_empty() && !words.is_empty()).then(|| {
            let assigned = segment.assignments.iter().map(|a| format!("{}={} ", a.name, a.value.text));
            assigned.collect::<String>() + &text
        });
        also.extend(full.clone());
        Self { text, also, full }
    }
}

/// The words with a known home directory put in for `~` at the start of the name.
fn home_words(words: &[Word], home: Option<&Path>) -> Option<Vec<Word>> {
    let first = words.first()?;
    let [WordPart::Tilde(user), WordPart::Literal(rest)] = first.parts.as_slice() else { return None };
    if !user.is_empty() {
        return None;
    }
    let expanded = expand_home(&format!("~{rest}"), home?)?;
    let mut words = words.to_vec();
    words[0] = Word::literal(expanded);
    Some(words)
}

/// The name of an assignment before a command that can change what the command runs.
fn dangerous_assignment(segment: &Segment) -> Option<&str> {
    if segment.words.is_empty() {
        return None;
    }
    segment.assignments.iter().map(|assignment| assignment.name.as_str()).find(|name| !is_harmless(name))
}

/// Whether setting a variable cannot change which programs run or which files are used.
pub(crate) fn is_harmless(name: &str) -> bool {
    const HARMLESS: &[&str] = &[
        "LANG",
        "LANGUAGE",
        "TZ",
        "NO_COLOR",
        "FORCE_COLOR",
        "CLICOLOR",
        "CLICOLOR_FORCE",
        "COLORTERM",
        "COLUMNS",
        "LINES",
        "CI",
        "RUST_LOG",
        "RUST_BACKTRACE",
        "RUST_LIB_BACKTRACE",
        "CARGO_TERM_COLOR",
        "CARGO_INCREMENTAL",
        "NODE_ENV",
        "PYTHONUNBUFFERED",
        "PYTHONDONTWRITEBYTECODE",
        "PYTHONHASHSEED",
        "PYTHONIOENCODING",
        "PYTHONUTF8",
        "GOOS",
        "GOARCH",
        "GOMAXPROCS",
        "DEBIAN_FRONTEND",
        "SOURCE_DATE_EPOCH",
        "VERBOSE",
        "TERM",
    ];
    HARMLESS.contains(&name) || name.starts_with("LC_")
}
