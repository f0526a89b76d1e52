//! Hiding secrets in text that leaves the host: exact values first, then what looks like one.
//!
//! A value is known from a variable whose name says secret, from the configuration, or from a person who typed it; it
//! is found in each of the forms in which programs print it. The rest are rules: those of gitleaks
//! (`data/gitleaks.toml`) and what they lack (`data/secrets.toml`). A rule looks only around its keywords and is
//! compiled when one first looks like it, so that nothing is compiled when the host starts.
//!
//! A secret becomes `[secret hidden: NAME]`, with the name of the variable or of the rule. All else stays as it is,
//! byte for byte.

mod allow;
mod blocks;
mod encodings;
mod names;
mod rules;
mod scan;
mod values;

use std::borrow::Cow;
use std::ffi::OsStr;
use std::ops::Range;
use std::sync::{Arc, PoisonError, RwLock};

use tool_api::Mask;

pub use names::names_secret;
use values::Values;

/// Bytes that a value has at least; shorter ones would hide ordinary text.
const MIN_VALUE: usize = 6;
/// Bytes that are looked at around a piece.
const CONTEXT: usize = 4096;
/// What stands in the place of a secret, with its name and a bracket behind it.
const MARK: &str = "[secret hidden: ";
/// What a typed secret is called.
const TYPED: &str = "typed secret";

/// Hides exact values and what looks like a secret. See the module for what that is.
///
/// Sharing it as `Arc` is cheap; values can be added at any time.
///
/// ```
/// use policy::SecretMask;
/// use tool_api::Mask;
///
/// let mask = SecretMask::new();
/// mask.add_variables([("DB_PASSWORD", "tr0ub4dor&3"), ("LANG", "C.UTF-8")]);
/// assert_eq!(mask.mask("", "it is tr0ub4dor&3.", ""), "it is [secret hidden: DB_PASSWORD].");
/// ```
#[derive(Debug, Default)]
pub struct SecretMask {
    values: RwLock<Arc<Values>>,
}

/// A secret in a text.
#[derive(Debug, Clone)]
struct Found {
    start: usize,
    end: usize,
    label: Label,
}

/// What a secret is called.
#[derive(Debug, Clone)]
enum Label {
    Rule(&'static str),
    Value(Arc<str>),
}

impl Label {
    fn as_str(&self) -> &str {
        match self {
            Self::Rule(id) => id,
            Self::Value(name) => name,
        }
    }
}

impl SecretMask {
    /// Makes a mask that knows the rules and no value.
    pub fn new() -> Self {
        Self::default()
    }

    /// Hides a value, called `name` where it was. Nothing shorter than 6 bytes, no common word (`true`, `postgres`)
    /// and no path is hidden: that would hide ordinary text, and no secret.
    pub fn add_value(&self, name: &str, value: &str) {
        if !names::is_trivial(value) {
            self.add(vec![(value.as_bytes().to_vec(), label(name))]);
        }
    }

    /// Hides the values of those variables whose names say secret.
    pub fn add_variables<N: AsRef<OsStr>, V: AsRef<OsStr>>(&self, variables: impl IntoIterator<Item = (N, V)>) {
        self.add_variables_if(variables, names_secret);
    }

    /// Hides the values of the variables whose names `is_secret` picks.
    pub fn add_variables_if<N: AsRef<OsStr>, V: AsRef<OsStr>>(
        &self,
        variables: impl IntoIterator<Item = (N, V)>,
        is_secret: impl Fn(&str) -> bool,
    ) {
        let found = variables.into_iter().filter_map(|(name, value)| {
            let name = name.as_ref().to_string_lossy();
            let value = value.as_ref().to_string_lossy();
            let hides = is_secret(&name) && !names::is_trivial(&value);
            hides.then(|| (value.as_bytes().to_vec(), label(&name)))
        });
        self.add(found.collect());
    }

    fn add(&self, more: Vec<(Vec<u8>, Arc<str>)>) {
        let mut values = self.values.write().unwrap_or_else(PoisonError::into_inner);
        if let Some(with) = values.with(&more) {
            *values = Arc::new(with);
        }
    }

    fn values(&self) -> Arc<Values> {
        Arc::clone(&self.values.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// Finds the secrets of a text, in order and apart.
    fn find(&self, text: &str) -> Vec<Found> {
        let mut found = Vec::new();
        self.values().find(text, &mut found);
        blocks::find(text, &mut found);
        scan::find(text, &mut found);
        let begun = scan::begun(text).filter(|begun| found.iter().all(|found| found.end <= begun.start));
        found.extend(begun);
        for found in &mut found {
            // A value that was learned need not be text.
            found.start = text.floor_char_boundary(found.start);
            found.end = text.ceil_char_boundary(found.end);
        }
        if found.len() > 1 {
            // Stable: of two that start at one place, the exact value names it.
            found.sort_by_key(|found| found.start);
            found.dedup_by(|next, last| {
                let touches = next.start < last.end;
                if touches {
                    last.end = last.end.max(next.end);
                }
                touches
            });
        }
        found
    }

    /// Finds the secrets of a piece of a text, with ranges of the piece.
    fn find_inside(&self, before: &str, text: &str, after: &str) -> Vec<Found> {
        if before.is_empty() && after.is_empty() {
            return self.find(text);
        }
        let (start, end) = (before.len(), before.len() + text.len());
        let mut found = self.find(&[before, text, after].concat());
        found.retain_mut(|found| {
            let inside = found.start < end && found.end > start;
            found.start = found.start.max(start) - start;
            found.end = found.end.min(end).saturating_sub(start);
            inside && found.start < found.end
        });
        found
    }
}

impl Mask for SecretMask {
    fn mask<'t>(&self, before: &str, text: &'t str, after: &str) -> Cow<'t, str> {
        let found = self.find_inside(before, text, after);
        if found.is_empty() {
            return Cow::Borrowed(text);
        }
        let mut masked = String::with_capacity(text.len());
        let mut at = 0;
        for secret in found {
            masked.push_str(&text[at..secret.start]);
            masked.push_str(MARK);
            masked.push_str(secret.label.as_str());
            masked.push(']');
            at = secret.end;
        }
        masked.push_str(&text[at..]);
        Cow::Owned(masked)
    }

    fn secrets(&self, before: &str, text: &str, after: &str) -> Vec<Range<usize>> {
        self.find_inside(before, text, after).into_iter().map(|found| found.start..found.end).collect()
    }

    fn unfinished(&self, text: &str) -> usize {
        let tail = &text[text.ceil_char_boundary(text.len().saturating_sub(CONTEXT))..];
        let run = tail.bytes().rev().take_while(|byte| !scan::is_break(*byte)).count();
        let token = if scan::may_go_on(tail, tail.len() - run) { run } else { 0 };
        let most = token.max(self.values().unfinished(tail)).max(blocks::unfinished(tail));
        text.len() - text.floor_char_boundary(text.len() - most)
    }

    fn learn(&self, secret: &[u8]) {
        if secret.len() >= MIN_VALUE {
            self.add(vec![(secret.to_vec(), label(TYPED))]);
        }
    }
}

/// What a value is called, bounded and without what would end the mark.
fn label(name: &str) -> Arc<str> {
    name.chars().filter(|char| !char.is_control() && !matches!(char, '[' | ']')).take(64).collect::<String>().into()
}

#[cfg(test)]
mod tests;
