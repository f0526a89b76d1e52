//! What a value of an option or an operand means: files, scripts, names.

use super::kind::Kind;
use super::reading::Reading;
use super::word::{is_remote, lead, splits_by_value, tail, visible_path};
use super::{FileUse, Nature, Usage, awk, jq, sed};
use crate::analysis::{Word, WordPart};

impl<'a> Reading<'a> {
    /// What a value means: the part of a word behind its first `from` bytes.
    pub(super) fn value(&mut self, kind: Kind, at: usize, from: usize) {
        let word: &'a Word = &self.words[at];
        let rest = lead(word).get(from..).unwrap_or_default();
        let fixed = !word.is_dynamic();
        if from == 0 {
            self.splits |= splits_by_value(word);
        }
        match kind {
            Kind::Text | Kind::Until | Kind::Command => {}
            Kind::Pattern => self.has_script = true,
            Kind::PatternFile => {
                self.has_script = true;
                self.file(at, from, Usage::Read);
            }
            Kind::Read | Kind::List => self.file(at, from, Usage::Read),
            Kind::Archive => {
                if is_remote(rest) {
                    self.at_least(Nature::Changes, |name| format!("`{name}` fetches `{rest}` by another program"));
                } else {
                    self.file(at, from, Usage::Read);
                }
            }
            Kind::Write => self.file(at, from, Usage::Write),
            Kind::Destination => {
                self.has_destination = true;
                self.file(at, from, Usage::Write);
            }
            Kind::Enter => self.file(at, from, Usage::Enter),
            Kind::Run => self.program_name(at, from),
            Kind::Code => self.has_script = true,
            Kind::CodeFile => {
                self.has_script = true;
                self.file(at, from, Usage::Run);
            }
            Kind::Sed | Kind::Awk | Kind::Jq => {
                self.has_script = true;
                self.script(kind, at, from);
            }
            Kind::At => {
                if rest.starts_with('@') {
                    self.file(at, from + 1, Usage::Read);
                } else if rest.is_empty() && !fixed {
                    self.file(at, from, Usage::Read);
                }
            }
            Kind::Form => {
                let inside = rest.find(['@', '<']).filter(|at| rest[..*at].bytes().all(|b| b != b' '));
                if let Some(inside) = inside {
                    self.file(at, from + inside + 1, Usage::Read);
                }
            }
            Kind::Named => self.file(at, from + rest.find('=').map_or(0, |equals| equals + 1), Usage::Read),
            Kind::Bind => self.bind(at, from),
            Kind::Mount => self.mount(at, from),
            Kind::Remote | Kind::RemoteWrite => {
                let usage = if kind == Kind::Remote { Usage::Read } else { Usage::Write };
                if let Some(path) = rest.strip_prefix("file://") {
                    self.file(at, from + rest.len() - path.len(), usage);
                } else if !rest.contains("://") && !is_remote(rest) {
                    self.file(at, from, usage);
                }
            }
            Kind::Any => {
                if from > 0 {
                    let word = tail(word, from);
                    if let Some(inside) = visible_path(&word) {
                        self.file(at, from + inside, Usage::Read);
                    }
                } else if let Some(inside) = visible_path(word) {
                    self.file(at, inside, Usage::Read);
                }
            }
            Kind::Dd => {
                if rest.starts_with("of=") {
                    self.at_least(Nature::Changes, |name| format!("`{name} of=` writes a file"));
                    self.file(at, from + 3, Usage::Write);
                } else if rest.starts_with("if=") {
                    self.file(at, from + 3, Usage::Read);
                } else if !fixed && rest.is_empty() {
                    self.file(at, from, Usage::Write);
                }
            }
            Kind::Format => {
                if !rest.starts_with('+') {
                    self.at_least(Nature::Changes, |name| format!("`{name}` with an operand sets the clock"));
                }
            }
            Kind::Letters => {
                let digits = fixed && rest.bytes().all(|b| b.is_ascii_digit() || b == b',');
                let letters = fixed && rest.bytes().all(|b| b"aAfhHjlmnrsTuvwxXcS".contains(&b));
                if !digits && !letters {
                    self.unknown(|name| format!("what `{rest}` makes `{name}` show is not known"));
                }
            }
            Kind::Setting if word.text.contains('=') => {
                self.at_least(Nature::Changes, |name| format!("`{name}` sets `{}`", word.text));
            }
            Kind::Setting if !fixed => {
                self.unknown(|name| format!("whether `{name}` sets something is known only when it runs"));
            }
            Kind::Setting => {}
            Kind::Variable => self.variable(at),
        }
    }

    /// An option that names a program: a path is one, a name is looked for in `PATH`.
    fn program_name(&mut self, at: usize, from: usize) {
        let word = tail(&self.words[at], from);
        if word.text.contains('/') && !word.text.contains(' ') {
            self.file(at, from, Usage::Run);
        }
    }

    fn bind(&mut self, at: usize, from: usize) {
        let word = tail(&self.words[at], from);
        if word.is_dynamic() {
            if visible_path(&word).is_some() {
                self.file(at, from, Usage::Write);
            }
            return;
        }
        let source = word.text.split(':').next().unwrap_or_default();
        if source.starts_with(['/', '.', '~']) && word.text.contains(':') {
            self.push(at, source.to_owned(), Usage::Write);
        }
    }

    fn mount(&mut self, at: usize, from: usize) {
        let word = tail(&self.words[at], from);
        for field in word.text.split(',') {
            let source = field.strip_prefix("source=").or_else(|| field.strip_prefix("src="));
            if let Some(source) = source.filter(|source| source.starts_with(['/', '.', '~', '$'])) {
                let usage = if word.is_dynamic() { None } else { Some(source.to_owned()) };
                match usage {
                    Some(source) => self.push(at, source, Usage::Write),
                    None => self.file(at, from, Usage::Write),
                }
            }
        }
    }

    /// Adds a file whose path is a part of a static word.
    pub(super) fn push(&mut self, at: usize, path: String, usage: Usage) {
        let index = self.places.partition_point(|place| *place <= at);
        self.places.insert(index, at);
        let parts = match path.strip_prefix('~') {
            Some(rest) if rest.is_empty() || rest.starts_with('/') => {
                let mut parts = vec![WordPart::Tilde(String::new())];
                if !rest.is_empty() {
                    parts.push(WordPart::Literal(rest.to_owned()));
                }
                parts
            }
            _ => Vec::new(),
        };
        let word = Word { text: path, parts, span: self.words[at].span.clone() };
        self.call.files.insert(index, FileUse { path: word, usage });
    }

    /// A variable that a builtin sets. Names in capitals may mean something to a program.
    fn variable(&mut self, at: usize) {
        let word: &'a Word = &self.words[at];
        let text = lead(word);
        let end = text.find('=').map(|equals| equals - usize::from(text[..equals].ends_with('+')));
        let name = if word.is_dynamic() && end.is_none() { "" } else { &text[..end.unwrap_or(text.len())] };
        let own = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'_';
        if name.is_empty() || !name.bytes().all(own) || name.ends_with("_proxy") || name == "histchars" {
            self.unknown(|program| format!("`{program}` sets `{}`", word.text));
        }
    }

    fn script(&mut self, kind: Kind, at: usize, from: usize) {
        let word: &'a Word = &self.words[at];
        if word.is_dynamic() {
            self.unknown(|name| format!("a script of `{name}` that is known only when it runs"));
            return;
        }
        let text = &word.text[from..];
        let problem = match kind {
            Kind::Sed => {
                let found = sed::read(text);
                for (path, usage) in found.files {
                    self.push(at, path, usage);
                }
                found.problem
            }
            Kind::Awk => awk::problem(text),
            _ => jq::problem(text),
        };
        if let Some((nature, problem)) = problem {
            self.at_least(nature, |name| format!("`{name}`: {problem}"));
        }
    }
}
