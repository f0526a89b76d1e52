//! What is certain of a word that the shell may still change.

use crate::analysis::{Word, WordPart};

/// The text that every value of the word begins with.
pub(super) fn lead(word: &Word) -> &str {
    let text = match word.parts.first() {
        None => return &word.text,
        Some(WordPart::Literal(text)) => text.as_str(),
        Some(_) => return "",
    };
    // The brackets and braces of a pattern or list are part of the literal before it.
    let cut = word.parts.iter().any(|part| matches!(part, WordPart::Brace | WordPart::Glob));
    if cut { text.find(['{', '[', '+', '@', '!']).map_or(text, |at| &text[..at]) } else { text }
}

/// The word without its first `count` bytes, which are part of its [`lead`].
pub(super) fn tail(word: &Word, count: usize) -> Word {
    if count == 0 {
        return word.clone();
    }
    if word.parts.is_empty() {
        return Word { text: word.text[count..].to_owned(), parts: Vec::new(), span: word.span.clone() };
    }
    let mut parts = word.parts.clone();
    let mut text = word.text.clone();
    if let Some(WordPart::Literal(first)) = parts.first_mut() {
        if word.text.starts_with(&first[..count]) {
            text = word.text[count..].to_owned();
        }
        if first.len() == count {
            parts.remove(0);
        } else {
            first.drain(..count);
        }
    }
    Word { text, parts, span: word.span.clone() }
}

/// Whether the word may become several arguments because of a value, and not of files that exist.
pub(super) fn splits_by_value(word: &Word) -> bool {
    word.parts.iter().any(|part| match part {
        WordPart::Variable { quoted, name } => (!quoted || name == "@") && !is_number(name),
        WordPart::Expansion { quoted } => !quoted,
        _ => false,
    })
}

/// Whether a parameter is always a number.
fn is_number(name: &str) -> bool {
    matches!(name, "?" | "#" | "$" | "!")
}

/// Whether the first argument that the word becomes may begin with a dash although none is written.
pub(super) fn may_be_option(word: &Word) -> bool {
    match word.parts.first() {
        None | Some(WordPart::Tilde(_) | WordPart::Process) => false,
        Some(WordPart::Variable { name, .. }) if is_number(name) => false,
        Some(_) => lead(word).is_empty(),
    }
}

/// Whether the word is the name of a descriptor and nothing else: `<(...)`.
pub(super) fn is_process(word: &Word) -> bool {
    matches!(word.parts.as_slice(), [WordPart::Process])
}

/// Where a path begins in an argument of a program about which nothing is known, when it is visibly one.
pub(super) fn visible_path(word: &Word) -> Option<usize> {
    if is_process(word) {
        return None;
    }
    let lead = lead(word);
    let known = |from: usize| {
        let rest = &lead[from..];
        if word.parts.is_empty() { looks_like_path(rest) } else { dynamic_path(word, from, rest) }
    };
    let mut from = 0;
    if lead.starts_with('-') {
        match lead.find('=') {
            Some(at) => from = at + 1,
            None => {
                // `-I/usr/include`
                let value = lead.get(2..).filter(|_| !lead.starts_with("--"))?;
                let absolute = value.starts_with(['/', '~']) || value.starts_with("../") || value == "..";
                return (absolute || (value.is_empty() && known(2))).then_some(2);
            }
        }
    } else if let Some((name, _)) = lead.split_once('=')
        && !name.contains('/')
    {
        from = name.len() + 1;
    }
    if lead[from..].starts_with('@') {
        let rest = &lead[from + 1..];
        return (rest.starts_with(['/', '~', '.']) || (rest.is_empty() && known(from + 1))).then_some(from + 1);
    }
    if let Some(rest) = lead[from..].strip_prefix("file://") {
        return rest.starts_with('/').then_some(from + 7);
    }
    known(from).then_some(from)
}

fn looks_like_path(text: &str) -> bool {
    if text.contains("://") || is_remote(text) || text.contains('\n') {
        return false;
    }
    text.starts_with('/') || text == "." || text == ".." || text.starts_with("~/") || text.contains('/')
}

/// Whether a text names a file of another machine: `host:path`, `user@host:path`.
pub(super) fn is_remote(text: &str) -> bool {
    match (text.find(':'), text.find('/')) {
        (Some(0) | None, _) => false,
        (Some(colon), Some(slash)) => colon < slash,
        (Some(_), None) => true,
    }
}

fn dynamic_path(word: &Word, from: usize, rest: &str) -> bool {
    if word.text.contains("://") {
        return false;
    }
    if !rest.is_empty() {
        return looks_like_path(rest) || (word.text[..].contains('/') && !is_remote(rest));
    }
    let next = if from == 0 { word.parts.first() } else { word.parts.get(1) };
    match next {
        Some(WordPart::Tilde(_)) => true,
        Some(WordPart::Variable { name, .. }) if matches!(name.as_str(), "HOME" | "PWD" | "OLDPWD" | "TMPDIR") => true,
        _ => word.parts.iter().any(|part| matches!(part, WordPart::Literal(text) if text.contains('/'))),
    }
}
