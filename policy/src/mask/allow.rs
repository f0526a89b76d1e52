//! What a rule leaves alone although it matches.

use std::sync::OnceLock;

use aho_corasick::AhoCorasick;
use regex::bytes::{RegexSet, RegexSetBuilder};
use serde::Deserialize;

use super::rules::literal_braces;

/// An allowlist as the file has it. Paths mean nothing here, as text has none.
#[derive(Deserialize)]
pub(super) struct RawAllow {
    #[serde(default)]
    regexes: Vec<String>,
    #[serde(default, rename = "regexTarget")]
    target: Target,
    #[serde(default)]
    stopwords: Vec<String>,
    #[serde(default)]
    condition: String,
}

/// What the patterns of an allowlist look at.
#[derive(Clone, Copy, Debug, Default, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
enum Target {
    #[default]
    Secret,
    Match,
    Line,
}

/// An allowlist; its parts are made when they are first needed.
#[derive(Debug, Default)]
pub(super) struct Allow {
    regexes: Vec<String>,
    target: Target,
    stopwords: Vec<String>,
    set: OnceLock<Option<RegexSet>>,
    search: OnceLock<Option<AhoCorasick>>,
}

impl Allow {
    /// Takes an allowlist, unless it can never hold for text: one that needs a path as well.
    pub(super) fn new(raw: RawAllow) -> Option<Self> {
        if raw.condition.eq_ignore_ascii_case("and") || (raw.regexes.is_empty() && raw.stopwords.is_empty()) {
            return None;
        }
        Some(Self { regexes: raw.regexes, target: raw.target, stopwords: raw.stopwords, ..Self::default() })
    }

    /// Tells whether this is no secret: the text, where the rule matched, where the secret is.
    pub(super) fn holds(&self, text: &[u8], matched: (usize, usize), secret: (usize, usize)) -> bool {
        let secret_bytes = &text[secret.0..secret.1];
        let looked_at = match self.target {
            Target::Secret => secret_bytes,
            Target::Match => &text[matched.0..matched.1],
            Target::Line => line_of(text, matched),
        };
        self.set().is_some_and(|set| set.is_match(looked_at))
            || self.search().is_some_and(|search| search.is_match(secret_bytes))
    }

    fn set(&self) -> Option<&RegexSet> {
        let make = || {
            let sources: Vec<String> = self.regexes.iter().map(|source| literal_braces(source)).collect();
            RegexSetBuilder::new(sources)
                .unicode(false)
                .build()
                .inspect_err(|error| tracing::error!(%error, "an allowlist for secrets cannot be used"))
                .ok()
        };
        if self.regexes.is_empty() { None } else { self.set.get_or_init(make).as_ref() }
    }

    fn search(&self) -> Option<&AhoCorasick> {
        let make = || AhoCorasick::builder().ascii_case_insensitive(true).build(&self.stopwords).ok();
        if self.stopwords.is_empty() { None } else { self.search.get_or_init(make).as_ref() }
    }

    #[cfg(test)]
    pub(super) fn compiles(&self) -> bool {
        (self.regexes.is_empty() || self.set().is_some()) && (self.stopwords.is_empty() || self.search().is_some())
    }
}

/// The lines that a match is on, at most some hundred bytes around it.
fn line_of(text: &[u8], (start, end): (usize, usize)) -> &[u8] {
    let (floor, limit) = (start.saturating_sub(512), text.len().min(end + 512));
    let from = memchr::memrchr(b'\n', &text[floor..start]).map_or(floor, |at| floor + at + 1);
    let to = memchr::memchr(b'\n', &text[end..limit]).map_or(limit, |at| end + at);
    &text[from..to]
}

/// Shannon's entropy of bytes, in bits each.
pub(super) fn entropy(bytes: &[u8]) -> f64 {
    let mut counts = [0u32; 256];
    for &byte in bytes {
        counts[usize::from(byte)] += 1;
    }
    let total = bytes.len() as f64;
    counts
        .iter()
        .filter(|count| **count > 0)
        .map(|count| f64::from(*count) / total)
        .map(|part| -part * part.log2())
        .sum()
}

/// Tells whether what the rule for names in general found is none: a checksum, an id or a version under a name that does
/// not say more, which builds, caches and package tools print all day; or an identifier of a program.
pub(super) fn is_harmless(name: &[u8], value: &[u8]) -> bool {
    let lower = value.to_ascii_lowercase();
    let has = |text: &[u8], word: &str| memchr::memmem::find(text, word.as_bytes()).is_some();
    if ["sha1-", "sha256", "sha384", "sha512", "md5", "node_modules"].iter().any(|word| has(&lower, word)) {
        return true;
    }
    if value.split(|byte| b"_-.=".contains(byte)).all(is_name_part) && value.iter().any(|byte| b"_-.".contains(byte)) {
        return true;
    }
    let name = name.to_ascii_lowercase();
    // The checksums of Go modules, and what is public.
    if name.ends_with(b" h1:") || ["public", "sha256", "fingerprint"].iter().any(|word| has(&name, word)) {
        return true;
    }
    let is_key = has(&name, "key")
        && ["api", "access", "auth", "private", "encrypt", "master"].iter().any(|word| has(&name, word));
    let says = is_key || ["secret", "token", "passw", "cred"].iter().any(|word| has(&name, word));
    let is_hex = lower.iter().all(|byte| byte.is_ascii_hexdigit() || *byte == b'-');
    let last = lower.rsplit(|byte| !byte.is_ascii_hexdigit()).next().unwrap_or_default();
    let ends_in_hash = last.len() >= 32 && last.len() < lower.len();
    let is_version =
        value.first().is_some_and(u8::is_ascii_digit) && value.iter().filter(|byte| **byte == b'.').count() >= 2;
    !says && (is_hex || ends_in_hash || is_version)
}

/// Tells whether this is a part of an identifier: letters of a word, and at most a short number in or behind them.
fn is_name_part(part: &[u8]) -> bool {
    let digits = part.iter().filter(|byte| byte.is_ascii_digit()).count();
    let runs = part.split(u8::is_ascii_digit).filter(|run| !run.is_empty()).count();
    let is_word = |run: &[u8]| {
        run.len() < 2
            || run[1..].iter().filter(|byte| byte.is_ascii_uppercase()).count() * 3 <= run.len()
            || run.iter().all(u8::is_ascii_uppercase)
    };
    part.len() <= 24 && digits <= 4 && runs <= 2 && part.split(u8::is_ascii_digit).all(is_word)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entropy_is_that_of_shannon() {
        assert_eq!(entropy(b"aaaa"), 0.0);
        assert_eq!(entropy(b"abcd"), 2.0);
    }

    #[test]
    fn checksums_and_identifiers_are_harmless() {
        let hash = b"9f86d081884c7d659a2feaa0c55ad015a3bf4f1b";
        assert!(is_harmless(b"cache key: ", hash));
        assert!(is_harmless(b"key: ", b"Linux-cargo-9f86d081884c7d659a2feaa0c55ad015"));
        assert!(is_harmless(b"EndpointAccess: ", b"c8b246db37a986a0"));
        assert!(is_harmless(b"key = ", b"win32api.RegEnumKey"));
        assert!(is_harmless(b"auth_type = ", b"v4-unsigned-body"));
        assert!(!is_harmless(b"api_key = ", hash));
        assert!(!is_harmless(b"client_secret: ", hash));
        assert!(!is_harmless(b"key: ", b"dXNlcjpodW50-ZXIyaHVudGVyMg"));
    }
}
