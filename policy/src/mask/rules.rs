//! The rules: read when something is masked first, each compiled when a text first looks like it.

use std::collections::HashMap;
use std::sync::OnceLock;

use aho_corasick::{AhoCorasick, AhoCorasickKind};
use regex::bytes::{Regex, RegexBuilder};
use serde::Deserialize;

use super::allow::{Allow, RawAllow};

const GITLEAKS: &str = include_str!("../../data/gitleaks.toml");
const OWN: &str = include_str!("../../data/secrets.toml");

/// The part that all rules for `name = value` have; in front of it stands the name.
const BEHIND_NAME: &str = r"(?:[ \t\w.-]{0,20})[\s'\x22]{0,3}";
/// The longest match that is looked for when a rule sets no bound, in bytes.
const LONGEST: usize = 8 * 1024;

/// A keyword of this length says by itself what the token is.
pub(super) const TELLING: usize = 4;
/// What is asked of such a token, in bits a character, so that `ghp_xxxxxxxx` is none.
const SOME_ENTROPY: f64 = 1.5;

/// One file of rules.
#[derive(Deserialize)]
struct File {
    rules: Vec<RawRule>,
    allowlist: Option<RawAllow>,
    #[serde(default)]
    skip: Vec<String>,
    #[serde(default)]
    context: Vec<String>,
    #[serde(default)]
    strict: Vec<String>,
    #[serde(default)]
    keywords: HashMap<String, Vec<String>>,
}

#[derive(Deserialize)]
struct RawRule {
    id: String,
    #[serde(default)]
    regex: String,
    #[serde(default)]
    keywords: Vec<String>,
    #[serde(default)]
    entropy: f64,
    #[serde(default, rename = "secretGroup")]
    group: usize,
    #[serde(default)]
    allowlists: Vec<RawAllow>,
}

/// How far from its keyword a rule looks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Shape {
    /// The keyword is a part of one run of characters without blanks, which is the secret.
    Token,
    /// The keyword is a part of a name, and the value follows an operator.
    Assignment,
    /// The keyword is a part of such a value.
    Value,
    /// Anything within some distance.
    Free,
}

/// One rule.
#[derive(Debug)]
pub(super) struct Rule {
    pub(super) id: &'static str,
    pub(super) shape: Shape,
    pub(super) entropy: f64,
    pub(super) group: usize,
    pub(super) allows: Vec<Allow>,
    pub(super) source: &'static str,
    lengths: OnceLock<(usize, usize)>,
    regex: OnceLock<Option<Regex>>,
}

/// All rules and the search for their keywords.
#[derive(Debug)]
pub(super) struct Rules {
    pub(super) rules: Vec<Rule>,
    pub(super) allow: Allow,
    pub(super) keywords: Option<AhoCorasick>,
    /// For each keyword the rules that have it, and how they look around it.
    pub(super) by_keyword: Vec<Vec<(u16, Shape)>>,
}

impl Rules {
    /// Returns the rules of this build.
    pub(super) fn get() -> &'static Self {
        static RULES: OnceLock<Rules> = OnceLock::new();
        RULES.get_or_init(Self::read)
    }

    fn read() -> Self {
        let parse =
            |text: &'static str| toml::from_str::<File>(text).expect("the rules of this build are read in its tests");
        let (own, gitleaks) = (parse(OWN), parse(GITLEAKS));
        let mut rules = Vec::new();
        let mut words: Vec<String> = Vec::new();
        let mut by_keyword: Vec<Vec<(u16, Shape)>> = Vec::new();
        for mut raw in own.rules.into_iter().chain(gitleaks.rules) {
            if raw.regex.is_empty() || own.skip.contains(&raw.id) {
                continue;
            }
            if own.strict.contains(&raw.id) {
                raw.allowlists.clear();
            }
            let is_context = own.context.contains(&raw.id);
            let keywords = own.keywords.get(&raw.id).unwrap_or(&raw.keywords).clone();
            let mut rule = Rule::new(raw, is_context);
            if rule.shape == Shape::Token && keywords.iter().all(|keyword| keyword.len() >= TELLING) {
                rule.entropy = rule.entropy.min(SOME_ENTROPY);
            }
            for keyword in keywords {
                let keyword = keyword.to_ascii_lowercase();
                let at = words.iter().position(|word| *word == keyword).unwrap_or_else(|| {
                    words.push(keyword);
                    by_keyword.push(Vec::new());
                    words.len() - 1
                });
                by_keyword[at].push((rules.len() as u16, rule.shape_at(&words[at])));
            }
            rules.push(rule);
        }
        let keywords = AhoCorasick::builder()
            .ascii_case_insensitive(true)
            .kind(Some(AhoCorasickKind::DFA))
            .build(&words)
            .inspect_err(|error| tracing::error!(%error, "the rules for secrets cannot be used"))
            .ok();
        let allow = gitleaks.allowlist.and_then(Allow::new).unwrap_or_default();
        Self { rules, allow, keywords, by_keyword }
    }
}

impl Rule {
    fn new(raw: RawRule, is_context: bool) -> Self {
        // One set of rules for the life of the program.
        let source: &'static str = String::leak(literal_braces(&raw.regex));
        let shape = if is_context {
            Shape::Free
        } else if source.replace('"', r"\x22").contains(BEHIND_NAME) {
            Shape::Assignment
        } else if has_blanks(source) {
            Shape::Free
        } else {
            Shape::Token
        };
        Self {
            id: String::leak(raw.id),
            shape,
            entropy: raw.entropy,
            group: raw.group,
            allows: raw.allowlists.into_iter().filter_map(Allow::new).collect(),
            source,
            lengths: OnceLock::new(),
            regex: OnceLock::new(),
        }
    }

    /// Returns how the rule looks around one of its keywords.
    fn shape_at(&self, keyword: &str) -> Shape {
        let source = self.source.replace('"', r"\x22").to_ascii_lowercase();
        match source.split_once(&BEHIND_NAME.to_ascii_lowercase()) {
            Some((name, value))
                if self.shape == Shape::Assignment && value.contains(keyword) && !name.contains(keyword) =>
            {
                Shape::Value
            }
            _ => self.shape,
        }
    }

    /// Bytes of the shortest and of the longest match.
    pub(super) fn lengths(&self) -> (usize, usize) {
        *self.lengths.get_or_init(|| {
            let parsed = regex_syntax::ParserBuilder::new().unicode(false).utf8(false).build().parse(self.source);
            let Ok(parsed) = parsed else { return (1, LONGEST) };
            let properties = parsed.properties();
            let most = properties.maximum_len().unwrap_or(LONGEST).min(LONGEST);
            (properties.minimum_len().unwrap_or(1), most)
        })
    }

    /// The compiled rule.
    pub(super) fn regex(&self) -> Option<&Regex> {
        self.regex.get_or_init(|| compile(self.source)).as_ref()
    }
}

/// Compiles a pattern over bytes; one that does not compile is said and left out.
pub(super) fn compile(source: &str) -> Option<Regex> {
    RegexBuilder::new(source)
        .unicode(false)
        .build()
        .inspect_err(|error| tracing::error!(%error, "a rule for secrets cannot be used"))
        .ok()
}

/// Tells whether a match can have blanks inside, and not only behind it.
fn has_blanks(source: &str) -> bool {
    let source = source.replace(r#"(?:[\x60'"\s;]|\\[nr]|$)"#, "");
    [r"\s", r"\S", " ", ".*", ".{", r"\n", "[^"].iter().any(|part| source.contains(part))
}

/// Escapes braces that stand for themselves, as the dialect of the rules allows and ours does not.
pub(super) fn literal_braces(source: &str) -> String {
    let mut text = String::with_capacity(source.len() + 8);
    let mut is_escaped = false;
    for (at, char) in source.char_indices() {
        if char == '{' && !is_escaped && !is_count(&source[at + 1..]) {
            text.push('\\');
        }
        text.push(char);
        is_escaped = char == '\\' && !is_escaped;
    }
    text
}

/// Tells whether what follows a brace makes it a count: `2}`, `2,}`, `2,3}`.
fn is_count(rest: &str) -> bool {
    let Some(end) = rest.find('}') else { return false };
    let (low, high) = rest[..end].split_once(',').unwrap_or((&rest[..end], "0"));
    let digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    !low.is_empty() && digits(low) && digits(high)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_rule_compiles_and_can_be_found() {
        let rules = Rules::get();
        assert!(rules.keywords.is_some());
        for (at, rule) in rules.rules.iter().enumerate() {
            assert!(rule.regex().is_some(), "{}", rule.id);
            assert!(
                rules.by_keyword.iter().flatten().any(|(with, _)| usize::from(*with) == at),
                "{} has no keyword",
                rule.id
            );
            assert!(rule.allows.iter().all(Allow::compiles), "{}", rule.id);
        }
        assert!(rules.allow.compiles());
        let shapes = |shape| rules.rules.iter().filter(|rule| rule.shape == shape).count();
        assert!(
            shapes(Shape::Assignment) > 95 && shapes(Shape::Token) > 80,
            "{} {}",
            shapes(Shape::Assignment),
            shapes(Shape::Token)
        );
    }

    #[test]
    fn braces_that_count_nothing_are_literal() {
        assert_eq!(literal_braces(r"a{2}b{2,}[{]{x}\{\w{1,3}"), r"a{2}b{2,}[\{]\{x}\{\w{1,3}");
    }
}
