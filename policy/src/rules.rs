//! Rules: ordered `permission -> pattern -> allow | ask | deny`, and what a layer of them says about a text.

mod outline;
mod pattern;

use std::fmt;
use std::path::Path;

use serde::de::{self, Deserializer, MapAccess, Visitor};
use serde::{Deserialize, Serialize};

pub(crate) use outline::Outline;
pub(crate) use pattern::expand_home;
pub use pattern::{Pattern, PatternError};

/// What is answered, from the mildest to the strictest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Decision {
    /// It may happen.
    Allow,
    /// A person decides.
    Ask,
    /// It may not happen.
    Deny,
}

impl fmt::Display for Decision {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Allow => "allow",
            Self::Ask => "ask",
            Self::Deny => "deny",
        })
    }
}

/// What a rule is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Area {
    /// Commands: `bash` and `shell` in a configuration.
    Bash,
    /// Changes of files: `edit`, `write`, `notebook`, `notebook_edit`.
    Edit,
    /// Reading.
    Read,
    /// Paths outside the workspace.
    ExternalDirectory,
}

impl Area {
    const NAMES: &[(&str, Self)] = &[
        ("bash", Self::Bash),
        ("shell", Self::Bash),
        ("edit", Self::Edit),
        ("write", Self::Edit),
        ("notebook", Self::Edit),
        ("notebook_edit", Self::Edit),
        ("read", Self::Read),
        ("external_directory", Self::ExternalDirectory),
    ];

    /// The area that a permission's name means.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::NAMES.iter().find(|(known, _)| *known == name).map(|(_, area)| *area)
    }
}

/// One rule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rule {
    /// What it is about.
    pub area: Area,
    /// Which texts it is about.
    pub pattern: Pattern,
    /// What it says.
    pub decision: Decision,
    /// Where it was written, for example `~/.config/toolhost.toml:12: permission.bash."git *"`.
    pub origin: String,
}

/// A layer of rules, in order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Rules {
    rules: Vec<Rule>,
}

/// The texts a layer is asked about.
#[derive(Clone, Debug)]
pub(crate) struct Subject<'t> {
    /// What allowing rules must match.
    pub(crate) text: &'t str,
    /// Further texts that a rule which asks or denies may match instead.
    pub(crate) also: &'t [String],
}

impl Rules {
    /// Makes a layer from a configuration's `permission` table; `source` names the file for explanations.
    ///
    /// # Errors
    /// When a pattern cannot be used.
    pub fn new(table: &RuleTable, source: &str, home: Option<&Path>) -> Result<Self, RuleError> {
        Self::located(table, home, |_, _| source.to_owned())
    }

    /// As [`Rules::new`], with the place of each entry for explanations, for example `toolhost.toml:12`: `place` gets
    /// the permission, and the pattern unless the entry is a decision for all.
    ///
    /// # Errors
    /// When a pattern cannot be used.
    pub fn located(
        table: &RuleTable,
        home: Option<&Path>,
        place: impl Fn(&str, Option<&str>) -> String,
    ) -> Result<Self, RuleError> {
        let mut rules = Vec::with_capacity(table.entries.len());
        for entry in &table.entries {
            let written = (!entry.shorthand).then_some(entry.pattern.as_str());
            let key = match written {
                None => format!("permission.{}", entry.permission),
                Some(pattern) => format!("permission.{}.{pattern:?}", entry.permission),
            };
            let pattern =
                Pattern::new(&entry.pattern, home).map_err(|error| RuleError { key: key.clone(), source: error })?;
            let place = place(&entry.permission, written);
            let origin = if place.is_empty() { key } else { format!("{place}: {key}") };
            rules.push(Rule { area: entry.area, pattern, decision: entry.decision, origin });
        }
        Ok(Self { rules })
    }

    /// The rules in order.
    #[must_use]
    pub fn as_slice(&self) -> &[Rule] {
        &self.rules
    }

    /// Adds a rule at the end.
    pub fn push(&mut self, rule: Rule) {
        self.rules.push(rule);
    }

    /// The rule that decides: a matching deny, else the last match, else the default.
    pub(crate) fn decide(&self, area: Area, subject: &Subject<'_>) -> Option<&Rule> {
        self.decide_by(area, |rule| {
            rule.pattern.matches(subject.text)
                || rule.decision != Decision::Allow && subject.also.iter().any(|text| rule.pattern.matches(text))
        })
    }

    /// As [`Rules::decide`], for a file with several exact names.
    pub(crate) fn decide_names(&self, area: Area, exact: &[String], also: &[String]) -> Option<&Rule> {
        self.decide_by(area, |rule| {
            let also = if rule.decision == Decision::Allow { &[] } else { also };
            exact.iter().chain(also).any(|name| rule.pattern.matches(name))
        })
    }

    fn decide_by(&self, area: Area, matches: impl Fn(&Rule) -> bool) -> Option<&Rule> {
        let mut last = None;
        let mut default = None;
        for rule in self.rules.iter().filter(|rule| rule.area == area) {
            if rule.pattern.is_default() {
                default = Some(rule);
            } else if matches(rule) {
                if rule.decision == Decision::Deny {
                    return Some(rule);
                }
                last = Some(rule);
            }
        }
        last.or(default)
    }

    /// The deny rules of an area, without its default.
    pub(crate) fn denials(&self, area: Area) -> impl Iterator<Item = &Rule> {
        self.rules
            .iter()
            .filter(move |rule| rule.area == area && rule.decision == Decision::Deny && !rule.pattern.is_default())
    }
}

/// A rule that cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{key}` is not a rule")]
pub struct RuleError {
    key: String,
    source: PatternError,
}

/// A configuration's `permission` table, in the order it was written.
///
/// ```
/// let text = r#"{"bash": {"git *": "allow", "git push *": "deny"}, "edit": "ask"}"#;
/// let table: policy::RuleTable = serde_json::from_str(text).unwrap();
/// let rules = policy::Rules::new(&table, "rules.json", None).unwrap();
/// assert_eq!(rules.as_slice().len(), 3);
/// assert_eq!(rules.as_slice()[1].origin, r#"rules.json: permission.bash."git push *""#);
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RuleTable {
    entries: Vec<Entry>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Entry {
    permission: String,
    area: Area,
    pattern: String,
    decision: Decision,
    shorthand: bool,
}

impl<'de> Deserialize<'de> for RuleTable {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(TableVisitor)
    }
}

struct TableVisitor;

impl<'de> Visitor<'de> for TableVisitor {
    type Value = RuleTable;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a table of permissions, each `allow`, `ask`, `deny`, or a table of patterns")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<RuleTable, A::Error> {
        let mut entries = Vec::new();
        while let Some(permission) = map.next_key::<String>()? {
            let Some(area) = Area::from_name(&permission) else {
                let known: Vec<String> = Area::NAMES.iter().map(|(name, _)| format!("`{name}`")).collect();
                return Err(de::Error::custom(format!(
                    "unknown permission `{permission}`, expected one of {}",
                    known.join(", ")
                )));
            };
            let Patterns(patterns, shorthand) = map.next_value()?;
            entries.extend(patterns.into_iter().map(|(pattern, decision)| Entry {
                permission: permission.clone(),
                area,
                pattern,
                decision,
                shorthand,
            }));
        }
        Ok(RuleTable { entries })
    }
}

/// The value of one permission: patterns, or a decision for all.
struct Patterns(Vec<(String, Decision)>, bool);

impl<'de> Deserialize<'de> for Patterns {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct PatternsVisitor;

        impl<'de> Visitor<'de> for PatternsVisitor {
            type Value = Patterns;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("`allow`, `ask`, `deny`, or a table of patterns")
            }

            fn visit_str<E: de::Error>(self, text: &str) -> Result<Patterns, E> {
                let decision = match text {
                    "allow" => Decision::Allow,
                    "ask" => Decision::Ask,
                    "deny" => Decision::Deny,
                    other => {
                        return Err(E::unknown_variant(other, &["allow", "ask", "deny"]));
                    }
                };
                Ok(Patterns(vec![("*".to_owned(), decision)], true))
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Patterns, A::Error> {
                let mut patterns = Vec::new();
                while let Some(entry) = map.next_entry::<String, Decision>()? {
                    patterns.push(entry);
                }
                Ok(Patterns(patterns, false))
            }
        }

        deserializer.deserialize_any(PatternsVisitor)
    }
}

#[cfg(test)]
mod tests {
    use super::{Area, Decision, RuleTable, Rules, Subject};

    fn rules(json: &str) -> Rules {
        let table: RuleTable = serde_json::from_str(json).unwrap();
        Rules::new(&table, "", None).unwrap()
    }

    #[track_caller]
    fn check(json: &str, text: &str, expected: Option<Decision>) {
        let rules = rules(json);
        let subject = Subject { text, also: &[] };
        assert_eq!(rules.decide(Area::Bash, &subject).map(|rule| rule.decision), expected);
    }

    #[test]
    fn the_last_match_wins_but_a_deny_always_does() {
        use Decision::{Allow, Ask, Deny};
        check(r#"{"bash": {"git *": "ask", "git status *": "allow"}}"#, "git status", Some(Allow));
        check(r#"{"bash": {"git status *": "allow", "git *": "ask"}}"#, "git status", Some(Ask));
        check(r#"{"shell": {"git push *": "deny", "git *": "allow"}}"#, "git push", Some(Deny));
        check(r#"{"bash": {"git *": "allow"}}"#, "ls", None);
    }

    #[test]
    fn the_bare_star_is_the_default() {
        use Decision::{Allow, Ask, Deny};
        check(r#"{"bash": {"*": "deny", "git *": "allow"}}"#, "git x", Some(Allow));
        check(r#"{"bash": {"git *": "allow", "*": "deny"}}"#, "git x", Some(Allow));
        check(r#"{"bash": {"*": "deny", "git *": "allow"}}"#, "ls", Some(Deny));
        check(r#"{"bash": "ask"}"#, "ls", Some(Ask));
        check(r#"{"bash": "allow", "shell": {"rm *": "deny"}}"#, "rm x", Some(Deny));
    }

    #[test]
    fn mistakes_are_errors() {
        for json in
            [r#"{"bassh": "allow"}"#, r#"{"bash": "alow"}"#, r#"{"bash": {"git *": "yes"}}"#, r#"{"bash": 1}"#, r#"[]"#]
        {
            assert!(serde_json::from_str::<RuleTable>(json).is_err(), "{json}");
        }
        let table: RuleTable = serde_json::from_str(r#"{"bash": {"": "allow"}}"#).unwrap();
        let error = Rules::new(&table, "f", None).unwrap_err();
        assert_eq!(error.to_string(), "`permission.bash.\"\"` is not a rule");
    }

    #[test]
    fn toml_reads_the_same() {
        let table: RuleTable = toml::from_str("edit = 'deny'\n[bash]\n'b *' = 'allow'\n'a *' = 'ask'").unwrap();
        let rules = Rules::new(&table, "", None).unwrap();
        assert_eq!(rules.as_slice().len(), 3);
        let patterns: Vec<&str> = rules.as_slice().iter().map(|rule| rule.pattern.as_str()).collect();
        assert_eq!(patterns, ["*", "b *", "a *"], "the order of a file decides");
        assert_eq!(rules.as_slice()[0].area, Area::Edit);
    }
}
