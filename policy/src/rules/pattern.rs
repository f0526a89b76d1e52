//! Patterns of rules: `*` any run of characters, `?` one character, a trailing ` *` also no arguments.

use std::path::Path;

use super::outline::Outline;

/// Longest pattern that is taken.
const MAX_LENGTH: usize = 4_096;

/// A pattern, ready to match.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pattern {
    written: String,
    /// The pattern with a leading home directory expanded.
    expanded: String,
    /// The pattern without a trailing ` *`.
    bare: Option<String>,
    /// How many bytes every match starts with.
    fixed: usize,
}

/// Why a pattern cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PatternError {
    /// Nothing matches an empty pattern.
    #[error("the pattern is empty")]
    Empty,
    /// It is longer than 4 096 bytes.
    #[error("the pattern is longer than {MAX_LENGTH} bytes")]
    TooLong,
}

impl Pattern {
    /// Takes a pattern; `~` and `$HOME` at its start become `home`.
    ///
    /// # Errors
    /// When it is empty or too long.
    pub fn new(written: &str, home: Option<&Path>) -> Result<Self, PatternError> {
        if written.is_empty() {
            return Err(PatternError::Empty);
        }
        if written.len() > MAX_LENGTH {
            return Err(PatternError::TooLong);
        }
        let expanded = home.and_then(|home| expand_home(written, home)).unwrap_or_else(|| written.to_owned());
        let bare = expanded.strip_suffix(" *").map(str::to_owned);
        let least = bare.as_deref().unwrap_or(&expanded);
        let fixed = least.find(['*', '?']).unwrap_or(least.len());
        Ok(Self { written: written.to_owned(), expanded, bare, fixed })
    }

    /// The pattern as it was written.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.written
    }

    /// Whether it is the bare `*`, the default of its permission.
    #[must_use]
    pub fn is_default(&self) -> bool {
        self.written == "*"
    }

    /// Whether it matches the whole text. Costs at most the product of both lengths.
    #[must_use]
    pub fn matches(&self, text: &str) -> bool {
        if !text.as_bytes().starts_with(&self.expanded.as_bytes()[..self.fixed]) {
            return false;
        }
        glob(self.expanded.as_bytes(), text.as_bytes())
            || self.bare.as_deref().is_some_and(|bare| glob(bare.as_bytes(), text.as_bytes()))
    }

    /// Whether it matches something that an outline can become. Costs at most the product of both lengths.
    #[must_use]
    pub(crate) fn could_match(&self, outline: &Outline) -> bool {
        outline.could_start_with(&self.expanded[..self.fixed])
            && (outline.could_match(&self.expanded)
                || self.bare.as_deref().is_some_and(|bare| outline.could_match(bare)))
    }

    /// The text before the first wildcard.
    #[must_use]
    pub fn literal_prefix(&self) -> &str {
        let end = self.expanded.find(['*', '?']).unwrap_or(self.expanded.len());
        &self.expanded[..end]
    }
}

/// Expands a leading `~` or `$HOME` that is a whole path component.
pub(crate) fn expand_home(text: &str, home: &Path) -> Option<String> {
    let rest = text.strip_prefix('~').or_else(|| text.strip_prefix("$HOME"))?;
    if !(rest.is_empty() || rest.starts_with(['/', ' '])) {
        return None;
    }
    Some(format!("{}{rest}", home.to_str()?))
}

/// Matches by going back to the last star only, which is enough for `*` and `?`.
fn glob(pattern: &[u8], text: &[u8]) -> bool {
    let (mut p, mut t) = (0, 0);
    let mut star: Option<(usize, usize)> = None;
    while t < text.len() {
        match pattern.get(p) {
            Some(b'*') => {
                star = Some((p, t));
                p += 1;
                continue;
            }
            Some(b'?') => {
                p += 1;
                t += character(text, t);
                continue;
            }
            Some(byte) if *byte == text[t] => {
                p += 1;
                t += 1;
                continue;
            }
            _ => {}
        }
        let Some((back, from)) = star else { return false };
        let from = from + character(text, from);
        star = Some((back, from));
        (p, t) = (back + 1, from);
    }
    pattern[p..].iter().all(|byte| *byte == b'*')
}

/// Length of the UTF-8 character that starts at `at`.
fn character(text: &[u8], at: usize) -> usize {
    match text[at] {
        0xf0.. => 4,
        0xe0.. => 3,
        0xc0.. => 2,
        _ => 1,
    }
    .min(text.len() - at)
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::Pattern;

    #[track_caller]
    fn check(pattern: &str, text: &str, expected: bool) {
        let pattern = Pattern::new(pattern, Some(Path::new("/home/u"))).unwrap();
        assert_eq!(pattern.matches(text), expected, "{pattern:?} {text:?}");
    }

    #[test]
    fn stars_cross_slashes_and_blanks() {
        check("git *", "git", true);
        check("git *", "git status -s", true);
        check("git *", "gitk", false);
        check("git*", "gitk", true);
        check("*.rs", "src/a/b.rs", true);
        check("npm run *", "npm run", true);
        check("npm run *", "npm", false);
        check("*", "", true);
        check("a*b*c", "aXbYbZc", true);
        check("a*b*c", "aXbYb", false);
    }

    #[test]
    fn a_question_mark_is_one_character() {
        check("l?", "ls", true);
        check("l?", "l", false);
        check("?", "é", true);
        check("??", "é", false);
        check("a?c", "a😀c", true);
    }

    #[test]
    fn home_expands_at_the_start_only() {
        check("~/bin/*", "/home/u/bin/x", true);
        check("$HOME/bin/*", "/home/u/bin/x", true);
        check("~", "/home/u", true);
        check("a ~/x", "a ~/x", true);
        check("~other/x", "~other/x", true);
        check("$HOMES", "$HOMES", true);
    }

    #[test]
    fn hostile_patterns_end_soon() {
        let pattern = "*a".repeat(2_000) + "b";
        let text = "a".repeat(100_000);
        let start = std::time::Instant::now();
        check(&pattern, &text, false);
        // Exponential matching would not end at all; the bound is generous for a busy machine.
        assert!(start.elapsed().as_secs() < 30);
    }
}
