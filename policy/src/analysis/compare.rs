//! Whether other parsers found the same commands as our own reader.

use super::second::Opinion;
use super::third::Spans;
use super::tree::Tree;

/// What our own reader found, in the words of the other parsers.
#[derive(Debug)]
pub(super) struct Own {
    /// The words' source text of each command, joined by NUL, sorted.
    required: Vec<String>,
    /// The same where the second parser keeps plain text, and so may miss it.
    tucked: Vec<String>,
    /// The words' places of each command, sorted.
    spans: Vec<Spans>,
    /// Whether a command was read from a copy, which nothing can be compared with.
    copied: bool,
}

impl Own {
    pub(super) fn new(source: &str, tree: &Tree) -> Self {
        let mut own = Self { required: Vec::new(), tucked: Vec::new(), spans: Vec::new(), copied: false };
        for command in tree.commands.iter().filter(|c| !c.words.is_empty()) {
            if command.copied {
                own.copied = true;
                continue;
            }
            let mut text = String::new();
            for (number, word) in command.words.iter().enumerate() {
                if number > 0 {
                    text.push('\0');
                }
                text.push_str(&source[word.span.clone()]);
            }
            let text = without_continuations(text);
            if command.tucked {
                own.tucked.push(text)
            } else {
                own.required.push(text)
            }
            own.spans.push(command.words.iter().map(|w| (w.span.start, w.span.end)).collect());
        }
        own.required.sort_unstable();
        own.spans.sort_unstable();
        own
    }

    /// Compares with the words' source text. What the second parser keeps as text may be missing there.
    pub(super) fn with_second(&self, mut theirs: Opinion, extra: &mut Vec<String>) -> bool {
        if self.copied {
            return false;
        }
        for command in &mut theirs.commands {
            *command = without_continuations(std::mem::take(command));
        }
        theirs.commands.sort_unstable();
        let mut agree = true;
        let mut ours = self.required.iter().peekable();
        let mut tucked: Vec<&String> = self.tucked.iter().collect();
        for command in theirs.commands {
            while ours.next_if(|own| **own < command).is_some() {
                agree = false;
            }
            if ours.next_if(|own| **own == command).is_some() {
                continue;
            }
            if let Some(at) = tucked.iter().position(|own| **own == command) {
                tucked.swap_remove(at);
                continue;
            }
            agree = false;
            extra.push(command.replace('\0', " "));
        }
        agree && ours.next().is_none()
    }

    /// Compares with the words' places.
    pub(super) fn with_third(&self, source: &str, mut theirs: Vec<Spans>, extra: &mut Vec<String>) -> bool {
        theirs.sort_unstable();
        if self.spans == theirs {
            return !self.copied;
        }
        for spans in theirs {
            if self.spans.binary_search(&spans).is_err() {
                let words: Vec<&str> = spans.iter().filter_map(|(start, end)| source.get(*start..*end)).collect();
                extra.push(words.join(" "));
            }
        }
        false
    }
}

/// The second parser drops them from the source text it keeps.
fn without_continuations(text: String) -> String {
    if text.contains("\\\n") { text.replace("\\\n", "") } else { text }
}
