//! What leaves the workspace needs the permission `external_directory`, which no rule about commands gives.

use std::path::{Path, PathBuf};

use crate::analysis::CommandAnalysis;
use crate::files::{Ground, Look, Touched, outside};
use crate::programs::Usage;
use crate::rules::{Area, Decision, Pattern, Rule, Rules};
use crate::visible;

/// Stands before a pattern of directories where "always" offers it among patterns of commands.
pub(crate) const DIRECTORY: &str = "external_directory ";

/// Where the workspace is, and what rules and the person say about the rest.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Outside<'p> {
    pub(crate) roots: &'p [PathBuf],
    pub(crate) workdir: &'p Path,
    pub(crate) home: Option<&'p Path>,
    pub(crate) layers: &'p [Rules],
    /// Whether the shell ran other lines before.
    pub(crate) lasting: bool,
    /// What the person allowed for this chat.
    pub(crate) approved: &'p [Pattern],
}

/// What was decided for what is outside.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Crossing {
    /// The strictest decision; never [`Decision::Allow`].
    pub(crate) decision: Decision,
    /// Why, with every path that needs it.
    pub(crate) reason: String,
    /// Patterns that would allow all of it; empty when that cannot be said.
    pub(crate) offer: Vec<String>,
}

impl Crossing {
    /// The decision, the reason and what may be offered, where `doubt` is a reason to ask that comes first.
    pub(crate) fn after(self, doubt: Option<String>) -> (Decision, String, Vec<String>) {
        match doubt {
            Some(doubt) if self.decision != Decision::Deny => {
                (self.decision, format!("{doubt}; {}", self.reason), Vec::new())
            }
            _ => (self.decision, self.reason, self.offer),
        }
    }
}

impl<'p> Outside<'p> {
    /// What a command line touches outside the workspace, its working directory first.
    pub(crate) fn touched(&self, analysis: &CommandAnalysis) -> Vec<Touched> {
        let ground = Ground { roots: self.roots, workdir: self.workdir, home: self.home, lasting: self.lasting };
        outside(analysis, &ground)
    }

    /// What is decided for a path that an effect names; none when it is inside, or allowed.
    pub(crate) fn path(&self, path: &Path, usage: Usage) -> Option<Crossing> {
        let found = Look::new(self.roots).resolve(Path::new("/"), path);
        if found.inside {
            return None;
        }
        let named = path.to_string_lossy().into_owned();
        self.decide(&[Touched { path: Some(found.path), named, usage, program: None }], &|_| false)
    }

    /// What is decided for everything that is touched; none when all of it is allowed. Programs of segments that are
    /// `named` by a rule which allows them need nothing more.
    pub(crate) fn decide(&self, touched: &[Touched], named: &dyn Fn(usize) -> bool) -> Option<Crossing> {
        let mut denied = Vec::new();
        let (mut known, mut unknown, mut held) = (Vec::new(), Vec::new(), Vec::new());
        let mut offer = Some(Vec::new());
        for one in touched {
            let Some(path) = &one.path else {
                if !self.allows_unknown() && !one.program.is_some_and(named) {
                    unknown.push(one.named.as_str());
                    offer = None;
                }
                continue;
            };
            let shown = path.to_string_lossy();
            match self.decide_known(&shown, one) {
                (Decision::Deny, rule) => denied.push((shown, rule)),
                (Decision::Ask, _) if one.program.is_some_and(named) => {}
                (Decision::Ask, rule) => {
                    match (pattern(path), &mut offer) {
                        (Some(pattern), Some(offer)) if rule.is_none() => {
                            if !offer.contains(&pattern) {
                                offer.push(pattern);
                            }
                        }
                        _ => offer = None,
                    }
                    known.push(shown);
                }
                (Decision::Allow, None) => {}
                (Decision::Allow, Some(rule)) => {
                    offer = None;
                    held.push((shown, rule));
                }
            }
        }
        if let Some((path, rule)) = denied.first() {
            let origin = rule.map_or("a rule", |rule| &rule.origin);
            let more = match denied.len() - 1 {
                0 => String::new(),
                more => format!(", and {more} more"),
            };
            let reason = format!("`{}` is outside the workspace and denied by {origin}{more}", visible(path));
            return Some(Crossing { decision: Decision::Deny, reason, offer: Vec::new() });
        }
        let mut reasons = Vec::new();
        if let Some(list) = listed(&known) {
            let verb = if known.len() == 1 { "is" } else { "are" };
            reasons.push(format!("{list} {verb} outside the workspace"));
        }
        for (path, rule) in held {
            reasons.push(format!("`{}` holds what {} denies", visible(&path), rule.origin));
        }
        if !unknown.is_empty() {
            let words: Vec<&str> = unknown.into_iter().filter(|text| !text.is_empty()).collect();
            reasons.push(match listed(&words) {
                Some(list) => format!("what file {list} names is known only when it runs"),
                None => "in which directory it runs is known only when it runs".to_owned(),
            });
        }
        if reasons.is_empty() {
            return None;
        }
        let reason = reasons.join("; ");
        Some(Crossing { decision: Decision::Ask, reason, offer: offer.unwrap_or_default() })
    }

    /// The decision for a path outside, and the rule; with an allowing decision, a rule that denies something below.
    fn decide_known(&self, shown: &str, touched: &Touched) -> (Decision, Option<&'p Rule>) {
        // `/tmp/*` is about `/tmp`, too.
        let names = |path: &str| [path.to_owned(), format!("{}/", path.trim_end_matches('/'))];
        let exact = names(shown);
        let also = names(&touched.named);
        let strictest = self
            .layers
            .iter()
            .filter_map(|layer| layer.decide_names(Area::ExternalDirectory, &exact, &also))
            .max_by_key(|rule| rule.decision);
        let approved = || self.approved.iter().any(|pattern| exact.iter().any(|name| pattern.matches(name)));
        match strictest {
            Some(rule) if rule.decision == Decision::Deny => (Decision::Deny, Some(rule)),
            Some(rule) if rule.decision == Decision::Ask && !approved() => {
                (Decision::Ask, (!rule.pattern.is_default()).then_some(rule))
            }
            None if !approved() => (Decision::Ask, None),
            _ if touched.usage == Usage::Enter => (Decision::Allow, None),
            _ => {
                let below = &exact[1];
                let mut denials = self.layers.iter().flat_map(|layer| layer.denials(Area::ExternalDirectory));
                (Decision::Allow, denials.find(|rule| rule.pattern.literal_prefix().starts_with(below.as_str())))
            }
        }
    }

    /// Whether everything outside is allowed, so that it does not matter what is not known.
    fn allows_unknown(&self) -> bool {
        let mut rules =
            self.layers.iter().flat_map(Rules::as_slice).filter(|rule| rule.area == Area::ExternalDirectory).peekable();
        rules.peek().is_some()
            && self.layers.iter().flat_map(Rules::as_slice).any(|rule| {
                rule.area == Area::ExternalDirectory && rule.pattern.is_default() && rule.decision == Decision::Allow
            })
            && rules.all(|rule| rule.decision == Decision::Allow)
    }

    /// The names that rules may call a file by.
    pub(crate) fn names(&self, path: &Path) -> Names {
        let mut look = Look::new(self.roots);
        let real = look.resolve(Path::new("/"), path).path;
        let mut exact = vec![real.to_string_lossy().into_owned()];
        let mut also = Vec::new();
        if let Some(below) = look.below(&real) {
            exact.push(below.to_string_lossy().into_owned());
        }
        // A link's own name may be denied, never allowed: what changes is where it leads.
        also.push(path.to_string_lossy().into_owned());
        for root in self.roots {
            also.extend(path.strip_prefix(root).ok().map(|below| below.to_string_lossy().into_owned()));
        }
        Names { exact, also }
    }
}

/// The names of a file: what it is, and what else it is called.
#[derive(Clone, Debug)]
pub(crate) struct Names {
    /// Resolved: absolute, then below its root.
    pub(crate) exact: Vec<String>,
    /// As written.
    pub(crate) also: Vec<String>,
}

/// The pattern of the directory that a path is in, or is; the path alone where that would be a whole disk or home.
fn pattern(path: &Path) -> Option<String> {
    let text = path.to_str().filter(|text| !text.contains(['*', '?']) && *text != "/")?;
    if path.is_dir() {
        return (path.components().count() > 2 || text == "/tmp").then(|| format!("{text}/*"));
    }
    let parent = path.parent()?;
    let narrow = parent.components().count() <= 3 && parent.starts_with("/home") || parent == Path::new("/root");
    if narrow || parent.parent().is_none() {
        return Some(text.to_owned());
    }
    Some(format!("{}/*", parent.to_str()?))
}

/// The texts in backquotes, as a sentence lists them.
fn listed(texts: &[impl AsRef<str>]) -> Option<String> {
    let quoted: Vec<String> = texts.iter().map(|text| format!("`{}`", visible(text.as_ref()))).collect();
    let (last, rest) = quoted.split_last()?;
    Some(if rest.is_empty() { last.clone() } else { format!("{} and {last}", rest.join(", ")) })
}
