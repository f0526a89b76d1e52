//! The exact values that are hidden, in all their forms.

use std::collections::HashSet;
use std::sync::{Arc, OnceLock};

use aho_corasick::{AhoCorasick, MatchKind};

use super::encodings::forms;
use super::{Found, Label, MIN_VALUE};

/// Bytes of a value that are looked for; what is behind them is not.
const MAX_VALUE: usize = 16 * 1024;
/// Values that are known at the same time; the oldest go first.
const MAX_VALUES: usize = 512;
/// A line of a value of several lines counts by itself from this length on.
const MIN_LINE: usize = 16;
/// Bytes of a form that are enough to say that the rest of it is still to come.
const TELLING: usize = 8;

/// One value.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct Value {
    bytes: Vec<u8>,
    label: Arc<str>,
}

/// The values; replaced as a whole when one is added, so that who masks is never held up.
#[derive(Default, Clone)]
pub(super) struct Values {
    values: Vec<Value>,
    /// Made when something is masked first.
    search: OnceLock<Arc<Search>>,
}

impl std::fmt::Debug for Values {
    /// Shows no value.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Values").field("count", &self.values.len()).finish_non_exhaustive()
    }
}

struct Search {
    automaton: Option<AhoCorasick>,
    forms: Vec<Form>,
    /// The forms that begin with each byte.
    by_first: Vec<Vec<u32>>,
    /// Bytes of the longest form.
    longest: usize,
}

struct Form {
    bytes: Vec<u8>,
    label: Arc<str>,
    /// A plain word, which is hidden only where it stands alone.
    is_word: bool,
}

impl Values {
    /// Returns these and more values with what they are called; `None` when that changes nothing.
    pub(super) fn with(&self, more: &[(Vec<u8>, Arc<str>)]) -> Option<Self> {
        let mut known: HashSet<&[u8]> = self.values.iter().map(|value| value.bytes.as_slice()).collect();
        let mut values = self.values.clone();
        for (bytes, label) in more {
            let bytes = &bytes[..bytes.len().min(MAX_VALUE)];
            let parts = bytes.split(|byte| *byte == b'\n').map(<[u8]>::trim_ascii);
            let lines =
                parts.filter(|line| line.len() >= MIN_LINE && line.len() < bytes.len() && !line.starts_with(b"-----"));
            for part in std::iter::once(bytes).chain(lines) {
                if part.len() >= MIN_VALUE && known.insert(part) {
                    values.push(Value { bytes: part.to_vec(), label: Arc::clone(label) });
                }
            }
        }
        if values.len() == self.values.len() {
            return None;
        }
        values.drain(..values.len().saturating_sub(MAX_VALUES));
        Some(Self { values, search: OnceLock::new() })
    }

    /// Finds the values in a text, and what at its end is most of one.
    pub(super) fn find(&self, text: &str, found: &mut Vec<Found>) {
        let search = self.search();
        let Some(automaton) = &search.automaton else { return };
        let bytes = text.as_bytes();
        for hit in automaton.find_iter(bytes) {
            let form = &search.forms[hit.pattern().as_usize()];
            if !form.is_word || stands_alone(bytes, hit.start(), hit.end()) {
                found.push(Found { start: hit.start(), end: hit.end(), label: Label::Value(Arc::clone(&form.label)) });
            }
        }
        if let Some((start, form)) = search.begun(bytes, |form, begun| begun >= TELLING.max(form.bytes.len() / 3)) {
            found.push(Found { start, end: text.len(), label: Label::Value(Arc::clone(&form.label)) });
        }
    }

    /// Returns how many bytes at the end of a text may be the beginning of a value.
    pub(super) fn unfinished(&self, text: &str) -> usize {
        let begun = self.search().begun(text.as_bytes(), |form, begun| !form.is_word && begun >= 2);
        begun.map_or(0, |(start, _)| text.len() - start)
    }

    fn search(&self) -> &Search {
        self.search.get_or_init(|| Arc::new(Search::new(&self.values)))
    }
}

impl Search {
    fn new(values: &[Value]) -> Self {
        let mut known = HashSet::new();
        let mut found = Vec::new();
        for value in values {
            let is_word = value.bytes.len() < 12 && value.bytes.iter().all(u8::is_ascii_alphabetic);
            for bytes in forms(&value.bytes) {
                if known.insert(bytes.clone()) {
                    found.push(Form {
                        is_word: is_word && bytes == value.bytes,
                        bytes,
                        label: Arc::clone(&value.label),
                    });
                }
            }
        }
        let mut by_first = vec![Vec::new(); 256];
        for (number, form) in found.iter().enumerate() {
            by_first[usize::from(form.bytes[0])].push(number as u32);
        }
        let longest = found.iter().map(|form| form.bytes.len()).max().unwrap_or_default();
        if found.is_empty() {
            return Self { automaton: None, forms: found, by_first, longest };
        }
        // Building fails only beyond sizes that the bounds above exclude; then nothing is known rather than half of it.
        let automaton = AhoCorasick::builder()
            .match_kind(MatchKind::LeftmostLongest)
            .build(found.iter().map(|form| &form.bytes))
            .inspect_err(|error| tracing::error!(%error, "exact values cannot be hidden"))
            .ok();
        Self { automaton, forms: found, by_first, longest }
    }

    /// Finds the longest beginning of a form, not all of it, that ends the text and that `counts`.
    fn begun(&self, text: &[u8], counts: impl Fn(&Form, usize) -> bool) -> Option<(usize, &Form)> {
        let from = text.len().saturating_sub(self.longest.saturating_sub(1).min(super::CONTEXT));
        (from..text.len()).find_map(|start| {
            let end = &text[start..];
            let forms = self.by_first[usize::from(end[0])].iter().map(|number| &self.forms[*number as usize]);
            let mut begun = forms.filter(|form| form.bytes.len() > end.len() && form.bytes.starts_with(end));
            begun.find(|form| counts(form, end.len())).map(|form| (start, form))
        })
    }
}

fn stands_alone(text: &[u8], start: usize, end: usize) -> bool {
    let is_letter = |at: usize| text.get(at).is_some_and(u8::is_ascii_alphanumeric);
    !(is_letter(end) || (start > 0 && is_letter(start - 1)))
}
