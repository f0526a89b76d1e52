//! Reasons not to trust a text or a command although it parses.

use super::{Segment, WordPart};

/// Reasons that are in the text itself.
pub(super) fn text(source: &str) -> Option<&'static str> {
    if source.contains('\0') {
        return Some("a NUL character");
    }
    if source.is_ascii() {
        let control = |b: &u8| b.is_ascii_control() && !matches!(b, b'\n' | b'\t');
        return source.as_bytes().iter().any(control).then_some("a control character");
    }
    source.chars().any(crate::visible::is_hidden).then_some("a character that nobody sees")
}

pub(super) fn name(segment: &Segment) -> Option<&'static str> {
    let name = segment.words.first()?;
    let Some(value) = name.value() else {
        // A home directory is known before the command runs.
        if let [WordPart::Tilde(user), WordPart::Literal(_)] = name.parts.as_slice()
            && user.is_empty()
        {
            return None;
        }
        return Some("a command whose name is known only when it runs");
    };
    if value.is_empty() {
        return Some("a command without a name");
    }
    if value.contains([' ', '\t', '\n']) {
        return Some("a command with a blank in its name");
    }
    value.starts_with('{').then_some("a command whose name looks like grammar")
}

/// Text that a builtin executes although it stands in quotes, because it is a subscript or a callback.
pub(super) fn evaluated(segment: &Segment) -> Option<String> {
    let name = segment.words.first()?.value()?;
    let evaluates = matches!(
        name,
        "test"
            | "["
            | "printf"
            | "read"
            | "declare"
            | "typeset"
            | "local"
            | "export"
            | "readonly"
            | "let"
            | "unset"
            | "mapfile"
            | "readarray"
            | "compgen"
            | "complete"
            | "wait"
            | "getopts"
    );
    if !evaluates {
        return None;
    }
    let callback = segment
        .words
        .windows(2)
        .find(|pair| matches!(name, "mapfile" | "readarray" | "compgen" | "complete") && pair[0].text == "-C")
        .map(|pair| pair[1].text.clone());
    callback.or_else(|| {
        segment.words[1..]
            .iter()
            .filter(|word| !word.is_dynamic())
            .map(|word| word.text.as_str())
            .find(|text| text.contains('[') && (text.contains("$(") || text.contains('`')))
            .map(|text| format!(": \"{}\"", text.replace(['"', '\\'], "")))
    })
}

/// Whether every shell reads the text as bash does: plain words, quotes, pipes, lists and simple redirections.
pub(super) fn same_everywhere(source: &str) -> bool {
    let plain = |b: u8| b.is_ascii_alphanumeric() || b >= 0x80 || b"_./:@%+,- \n\t'\"|&;<>=".contains(&b);
    source.bytes().all(plain)
        && !["&>", "|&", "<(", ">(", "<<", ">&", "<>", " =", ";=", "|=", "&="].iter().any(|odd| source.contains(odd))
        && !source.starts_with('=')
        && !source.split(|c: char| !c.is_ascii_alphanumeric()).any(|word| {
            matches!(word, "function" | "select" | "coproc" | "time" | "repeat" | "foreach" | "nocorrect" | "noglob")
        })
}
