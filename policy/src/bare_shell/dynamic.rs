//! Commands whose name is known only when they run: what is typed at the terminal may name any program.

use super::data::{LOOKUPS, PRINTING_VERBS, TEXT_MAKERS, TOOL_VARIABLES};
use super::{Look, code, copies_terminal};
use crate::analysis::wrappers::{base_name, is_shell, wrapper};
use crate::analysis::{Reach, Segment, Stdin, Word, WordPart};

/// What is known about a variable.
enum Value {
    /// The texts that the command line gives to it.
    Known(Vec<String>),
    /// A tool that the person chose.
    Tool,
    Unknown,
}

impl Look<'_> {
    /// Whether the name of the command may become anything.
    pub(super) fn runs_anything(&self, word: &Word) -> bool {
        if !self.is_judged() || tail_name(word).is_some() {
            return false;
        }
        let mut texts = Vec::new();
        let names_shell = |text: &String| text.split_whitespace().next().is_some_and(is_shell);
        for part in &word.parts {
            match part {
                WordPart::Literal(text) => texts.push(text.clone()),
                // The files of this machine decide, not what is typed.
                WordPart::Tilde(_) | WordPart::Glob | WordPart::Brace => return false,
                WordPart::Process => return true,
                WordPart::Variable { name, .. } => match self.value(name) {
                    Value::Known(values) if values.iter().any(names_shell) => return true,
                    Value::Known(values) => texts.push(values.concat()),
                    Value::Tool => return false,
                    Value::Unknown => return true,
                },
                WordPart::Expansion { .. } => return self.expansion_is_anything(word),
            }
        }
        names_shell(&texts.concat())
    }

    /// Whether a reading of its own tells what the command is.
    pub(super) fn is_resolved(&self) -> bool {
        let mut number = Some(self.number);
        while let Some(at) = number {
            if self.analysis.resolved.iter().any(|(_, to)| *to == at) {
                return false;
            }
            if self.analysis.resolved.iter().any(|(from, _)| *from == at) {
                return true;
            }
            number = self.analysis.segments[at].wrapper;
        }
        false
    }

    /// Guesses about what a wrapper runs are not judged; what parameters were replaced in is.
    fn is_judged(&self) -> bool {
        let mut number = Some(self.number);
        while let Some(at) = number {
            if self.analysis.resolved.iter().any(|(_, to)| *to == at) {
                return true;
            }
            number = self.analysis.segments[at].wrapper;
        }
        self.segment.reach != Reach::DenyOnly || self.is_command_of_wrapper()
    }

    /// `sudo "$x"`: where options may stand, but nothing else than this word can be what runs.
    fn is_command_of_wrapper(&self) -> bool {
        let Some(outer) = self.wrapper() else { return false };
        let first = self.segment.wrapper.is_some_and(|number| number + 1 == self.number);
        let Some(program) = outer.program().filter(|_| first) else { return false };
        let takes = wrapper(program).filter(|wrapper| wrapper.reach != Reach::DenyOnly).map(|wrapper| wrapper.operands);
        let Some(operands) = takes.or_else(|| (program == "command").then_some(0)) else { return false };
        let words = &self.segment.words;
        let sure = matches!(program, "exec" | "command" | "builtin")
            || matches!(words[0].parts.as_slice(), [WordPart::Variable { quoted: true, .. }]);
        words.len() > operands && (operands == 0 && sure || words.iter().all(Word::is_dynamic))
    }

    fn value(&self, name: &str) -> Value {
        let segments = &self.analysis.segments;
        if segments.iter().any(|segment| reads_into(segment, name)) {
            return Value::Unknown;
        }
        let assigned = segments.iter().flat_map(|segment| &segment.assignments).chain(&self.analysis.loops);
        let mut values = Vec::new();
        for assignment in assigned.filter(|assignment| assignment.name == name) {
            match assignment.value.value() {
                Some(text) => values.push(text.to_owned()),
                None => return Value::Unknown,
            }
        }
        match values.is_empty() {
            false => Value::Known(values),
            true if TOOL_VARIABLES.contains(&name) => Value::Tool,
            true => Value::Unknown,
        }
    }

    /// `${...}`, `$(...)` and backquotes.
    fn expansion_is_anything(&self, word: &Word) -> bool {
        let text = word.text.trim_matches('"');
        if let Some(inside) = text.strip_prefix("$(").or_else(|| text.strip_prefix('`')) {
            return self.substitution_is_anything(word, inside.trim_end_matches([')', '`']));
        }
        let Some(inside) = text.strip_prefix("${") else { return true };
        let length = inside.bytes().take_while(|b| b.is_ascii_alphanumeric() || *b == b'_').count();
        let (name, operator) = inside.split_at(length);
        if operator.starts_with('[') {
            return self.array_is_anything(name);
        }
        let default = operator.trim_end_matches('}').trim_start_matches(':');
        let is_default = default.starts_with(['-', '=']) && !default.contains(['$', '`']);
        match self.value(name) {
            Value::Tool => false,
            // A text that is cut or changed is another one.
            Value::Known(values) => !is_default || values.iter().any(|text| code::names_shell(text)),
            Value::Unknown => !is_default || self.is_given(name),
        }
    }

    fn is_given(&self, name: &str) -> bool {
        self.analysis.segments.iter().any(|segment| {
            reads_into(segment, name) || segment.assignments.iter().any(|assignment| assignment.name == name)
        })
    }

    fn array_is_anything(&self, name: &str) -> bool {
        let segments = &self.analysis.segments;
        let mut values =
            segments.iter().flat_map(|segment| &segment.assignments).filter(|assignment| assignment.name == name);
        let read = segments.iter().any(|segment| reads_into(segment, name));
        let known = |text: &str| !text.contains(['$', '`']) && !code::shell_without_command(text);
        let mut any = false;
        read || values.any(|assignment| {
            any = true;
            !known(&assignment.value.text)
        }) || !any
    }

    fn substitution_is_anything(&self, word: &Word, inside: &str) -> bool {
        let mut words = inside.split_whitespace().map(|word| word.trim_end_matches([')', '`']));
        let (first, second) = (words.next().unwrap_or_default(), words.next());
        let first = base_name(first);
        let plain = word.parts.len() == 1 && !inside.contains([';', '|', '&', '$', '`', '\n', '<']);
        if plain && (LOOKUPS.contains(&first) || second == Some("which")) {
            return false;
        }
        let evaluated = self.segment.wrapper.is_some();
        if !evaluated {
            return true;
        }
        // A whole script that a program prints is asked about, unless the terminal or this command line makes the text.
        let typed =
            self.analysis.segments.iter().any(|segment| segment.stdin == Stdin::Inherited && copies_terminal(segment));
        typed || code::tokens(inside).any(|token| TEXT_MAKERS.contains(&base_name(token)))
    }
}

/// The program's name, when the end of the path is known: `$HOME/bin/tool`.
pub(super) fn tail_name(word: &Word) -> Option<&str> {
    let Some(WordPart::Literal(text)) = word.parts.last() else { return None };
    let (_, name) = text.rsplit_once('/')?;
    (!name.is_empty()).then_some(name)
}

/// `eval "$(direnv hook bash)"`: the shell is who the text is for.
pub(super) fn prints_for_shell(word: &Word) -> bool {
    let text = word.text.trim_matches('"');
    let Some(inside) = text.strip_prefix("$(").or_else(|| text.strip_prefix('`')) else { return false };
    let mut words = inside.split_whitespace().map(|word| word.trim_end_matches([')', '`']));
    let program = words.next().unwrap_or_default();
    !TEXT_MAKERS.contains(&base_name(program)) && words.any(|word| PRINTING_VERBS.contains(&word))
}

/// Whether a command gives a variable a value from its input.
fn reads_into(segment: &Segment, name: &str) -> bool {
    let reads = matches!(segment.program(), Some("read" | "mapfile" | "readarray" | "getopts" | "printf"));
    reads
        && (segment.words[1..].iter().any(|word| word.text == name)
            || matches!(
                (segment.program(), name),
                (Some("read"), "REPLY") | (Some("mapfile" | "readarray"), "MAPFILE")
            ))
}
