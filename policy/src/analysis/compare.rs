//! Whether other parsers found the same commands as our own reader.

use super::second::Opinion;
use super::third::Spans;
use super::tree::Tree;

/// Compares with the words' source text. What the second parser keeps as text may be missing there.
pub(super) fn with_second(source: &str, tree: &Tree, mut theirs: Opinion, extra: &mut Vec<String>) -> bool {
    let mut required = Vec::new();
    let mut tucked = Vec::new();
    for command in tree.commands.iter().filter(|c| !c.words.is_empty()) {
        if command.copied {
            return false;
        }
        let mut text = String::new();
        for (number, word) in command.words.iter().enumerate() {
            if number > 0 {
                text.push('\0');
            }
            text.push_str(&source[word.span.clone()]);
        }
        let text = without_continuations(text);
        if command.tucked { tucked.push(text) } else { required.push(text) }
    }
    for command in &mut theirs.commands {
        *command = without_continuations(std::mem::take(command));
    }
    theirs.commands.sort_unstable();
    required.sort_unstable();
    let mut agree = true;
    let mut ours = required.into_iter().peekable();
    for command in theirs.commands {
        while ours.next_if(|own| *own < command).is_some() {
            agree = false;
        }
        if ours.next_if(|own| *own == command).is_some() {
            continue;
        }
        if let Some(at) = tucked.iter().position(|own| *own == command) {
            tucked.swap_remove(at);
            continue;
        }
        agree = false;
        extra.push(command.replace('\0', " "));
    }
    agree && ours.next().is_none()
}

/// The second parser drops them from the source text it keeps.
fn without_continuations(text: String) -> String {
    if text.contains("\\\n") { text.replace("\\\n", "") } else { text }
}

/// Compares with the words' places.
pub(super) fn with_third(source: &str, tree: &Tree, mut theirs: Vec<Spans>, extra: &mut Vec<String>) -> bool {
    let mut ours: Vec<Spans> = tree
        .commands
        .iter()
        .filter(|c| !c.words.is_empty() && !c.copied)
        .map(|c| c.words.iter().map(|w| (w.span.start, w.span.end)).collect())
        .collect();
    ours.sort_unstable();
    theirs.sort_unstable();
    if ours == theirs {
        return !tree.commands.iter().any(|c| c.copied);
    }
    for spans in theirs {
        if ours.binary_search(&spans).is_err() {
            let words: Vec<&str> = spans.iter().filter_map(|(start, end)| source.get(*start..*end)).collect();
            extra.push(words.join(" "));
        }
    }
    false
}
