//! Commands whose name is known only when they run: what is typed at the terminal may name any program.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};

use super::data::{LOOKUPS, PRINTING_VERBS, TEXT_MAKERS, TOOL_VARIABLES};
use super::{Look, code};
use crate::analysis::wrappers::{Inner, base_name, is_shell, unwrap, wrapper};
use crate::analysis::{CommandAnalysis, Reach, Word, WordPart, is_terminal_file};

/// Values of one variable that are looked at.
const MAX_VALUES: usize = 24;

/// What the whole command line tells about its variables and parameters.
#[derive(Debug)]
pub(super) struct Facts<'a> {
    values: HashMap<&'a str, Vec<Cow<'a, Word>>>,
    /// Variables with a value that names a shell.
    shells: HashSet<&'a str>,
    /// Variables that get their value from an input.
    read: HashSet<&'a str>,
    /// Segments whose parameters were replaced, and the segments that came of it.
    resolved: HashSet<usize>,
    results: HashSet<usize>,
}

impl<'a> Facts<'a> {
    fn new(analysis: &'a CommandAnalysis) -> Self {
        let mut values: HashMap<&str, Vec<Cow<'_, Word>>> = HashMap::new();
        let mut read = HashSet::new();
        for segment in &analysis.segments {
            match segment.program() {
                Some("read") => read.extend(["REPLY"]),
                Some("mapfile" | "readarray") => read.extend(["MAPFILE"]),
                Some("getopts" | "printf") => {}
                Some("declare" | "typeset" | "local" | "export" | "readonly") => {
                    for word in &segment.words[1..] {
                        let Some((name, value)) = word.text.split_once('=') else { continue };
                        let value = Word { text: value.to_owned(), ..word.clone() };
                        values.entry(name).or_default().push(Cow::Owned(value));
                    }
                    continue;
                }
                _ => continue,
            }
            read.extend(segment.words[1..].iter().map(|word| word.text.as_str()));
        }
        let assigned = analysis.segments.iter().flat_map(|segment| &segment.assignments).chain(&analysis.loops);
        for assignment in assigned {
            values.entry(&assignment.name).or_default().push(Cow::Borrowed(&assignment.value));
        }
        let resolved = analysis.resolved.iter().map(|(from, _)| *from).collect();
        let results = analysis.resolved.iter().map(|(_, to)| *to).collect();
        let names = |values: &[Cow<'_, Word>]| values.iter().any(|value| code::names_shell(&value.text));
        let shells = values.iter().filter(|(_, values)| names(values)).map(|(name, _)| *name).collect();
        Self { values, shells, read, resolved, results }
    }

    /// Whether a value that the command line gives to a variable names a shell.
    pub(super) fn names_shell(&self, name: &str) -> bool {
        self.shells.contains(name)
    }

    /// The values that the command line gives to a variable.
    pub(super) fn assigned(&self, name: &str) -> impl Iterator<Item = &Word> {
        self.values.get(name).into_iter().flatten().map(|value| &**value)
    }
}

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
                // A file below a directory of the workspace, unless it is typed.
                WordPart::Variable { name, .. } if is_below(&texts) && !self.facts().read.contains(name.as_str()) => {
                    return false;
                }
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

    /// The command with its variables replaced, for each value of its name; none when not all values are known.
    pub(super) fn substituted(&self) -> Option<Vec<Vec<Word>>> {
        let known = |word: &Word| match word.parts.as_slice() {
            [WordPart::Variable { name, quoted }] => match self.value(name) {
                Value::Known(values) if values.len() < MAX_VALUES => Some((values, *quoted)),
                _ => None,
            },
            _ => None,
        };
        let (names, quoted) = known(&self.segment.words[0])?;
        let rest: Vec<Word> = self.segment.words[1..]
            .iter()
            .map(|word| match known(word) {
                Some((values, _)) if values.len() == 1 => Word::literal(values[0].as_str()),
                _ => word.clone(),
            })
            .collect();
        let line = |name: &String| {
            let mut words: Vec<Word> = match quoted {
                true => vec![Word::literal(name.as_str())],
                false => name.split_whitespace().map(Word::literal).collect(),
            };
            words.extend_from_slice(&rest);
            words
        };
        // Pieces that are put together may make a name of their own.
        let whole = (names.len() > 1).then(|| names.concat());
        Some(names.iter().chain(&whole).map(line).collect())
    }

    /// Whether a command line that no segment holds starts a shell.
    pub(super) fn line_starts_shell(&self, words: &[Word], depth: usize) -> bool {
        const MOST: usize = 4;
        let Some(name) = words.first().and_then(Word::value) else { return false };
        if self.named(base_name(name), &words[1..]) {
            return true;
        }
        let inner = if depth < MOST { unwrap(words).inner } else { Vec::new() };
        inner.iter().any(|inner| match inner {
            Inner::Command { words, .. } => self.line_starts_shell(words, depth + 1),
            Inner::Script { text, .. } => code::bare_command(text),
        })
    }

    pub(super) fn facts(&self) -> &Facts<'_> {
        self.facts.get_or_init(|| Facts::new(self.analysis))
    }

    /// Whether all values of the variable that is the name are known.
    pub(super) fn has_known_name(&self, first: &Word) -> bool {
        matches!(first.parts.as_slice(), [WordPart::Variable { .. }])
            && self.is_judged()
            && self.substituted().is_some()
    }

    /// Whether its own parameters were replaced.
    pub(super) fn is_itself_resolved(&self) -> bool {
        !self.analysis.resolved.is_empty() && self.facts().resolved.contains(&self.number)
    }

    /// Whether a reading of its own tells what the command is.
    pub(super) fn is_resolved(&self) -> bool {
        let facts = self.facts();
        let nearest = self.and_outer().find(|at| facts.results.contains(at) || facts.resolved.contains(at));
        nearest.is_some_and(|at| !facts.results.contains(&at))
    }

    /// Guesses about what a wrapper runs are not judged; what parameters were replaced in is.
    fn is_judged(&self) -> bool {
        self.segment.reach != Reach::DenyOnly
            || self.and_outer().any(|at| self.facts().results.contains(&at))
            || self.is_command_of_wrapper()
    }

    /// The number of the segment, and of the wrappers around it.
    fn and_outer(&self) -> impl Iterator<Item = usize> {
        std::iter::successors(Some(self.number), |at| self.analysis.segments[*at].wrapper)
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
        let facts = self.facts();
        if facts.read.contains(name) {
            return Value::Unknown;
        }
        let values: Option<Vec<String>> =
            facts.assigned(name).take(MAX_VALUES).map(|value| value.value().map(str::to_owned)).collect();
        match values {
            Some(values) if !values.is_empty() => Value::Known(values),
            Some(_) if TOOL_VARIABLES.contains(&name) => Value::Tool,
            _ => Value::Unknown,
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
        self.facts().read.contains(name) || self.facts().assigned(name).next().is_some()
    }

    fn array_is_anything(&self, name: &str) -> bool {
        let known = |text: &str| !text.contains(['$', '`']) && !code::shell_without_command(text);
        let mut values = self.facts().assigned(name).take(MAX_VALUES).peekable();
        self.facts().read.contains(name) || values.peek().is_none() || values.any(|value| !known(&value.text))
    }

    fn substitution_is_anything(&self, word: &Word, inside: &str) -> bool {
        let mut words = inside.split_whitespace().map(|word| word.trim_end_matches([')', '`']));
        let (first, second) = (words.next().unwrap_or_default(), words.next());
        let first = base_name(first);
        if let Some(file) = inside.trim_start().strip_prefix('<') {
            let file = file.trim();
            return self.segment.wrapper.is_none() || is_terminal_file(file) || file.contains('$');
        }
        let plain = word.parts.len() == 1 && !inside.contains([';', '|', '&', '$', '`', '\n', '<']);
        if plain && (LOOKUPS.contains(&first) || second == Some("which")) {
            return false;
        }
        let evaluated = self.segment.wrapper.is_some();
        if !evaluated {
            return true;
        }
        // A whole script that a program prints is asked about, unless the terminal or this command line makes the text.
        self.types_anywhere() || code::tokens(inside).any(|token| TEXT_MAKERS.contains(&base_name(token)))
    }
}

/// `./$name`, `scripts/$name`
fn is_below(texts: &[String]) -> bool {
    texts.first().is_some_and(|text| text.contains('/') && !text.starts_with('/') && !text.contains(".."))
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
    !TEXT_MAKERS.contains(&base_name(program)) && words.any(|word| word == "env" || PRINTING_VERBS.contains(&word))
}
