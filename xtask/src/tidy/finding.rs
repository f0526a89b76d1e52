//! What a rule found.

use std::fmt;

/// A broken rule: where, what, why that matters, and what to do.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Finding {
    path: String,
    /// From 1; 0 is the whole file.
    line: usize,
    what: String,
    why: &'static str,
    hint: String,
}

impl Finding {
    pub(crate) fn new(path: &str, line: usize, what: impl Into<String>, why: &'static str) -> Self {
        Self { path: path.to_owned(), line, what: what.into(), why, hint: String::new() }
    }

    pub(crate) fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = hint.into();
        self
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.path)?;
        if self.line > 0 {
            write!(f, ":{}", self.line)?;
        }
        write!(f, ": {}\n  why: {}\n  hint: {}", self.what, self.why, self.hint)
    }
}

/// Runs a file rule on a text and compares `line: what` of its findings.
#[cfg(test)]
#[track_caller]
pub(crate) fn check(
    rule: fn(&super::tree::TrackedFile) -> Vec<Finding>,
    path: &str,
    text: &str,
    expected: &[(usize, &str)],
) {
    let file = super::tree::TrackedFile::new(path, text.as_bytes().to_vec());
    let found = rule(&file);
    let got: Vec<(usize, &str)> = found.iter().map(|finding| (finding.line, finding.what.as_str())).collect();
    assert_eq!(got, expected, "{path}");
    assert!(found.iter().all(|finding| !finding.hint.is_empty()), "every finding says what to do: {found:?}");
}
