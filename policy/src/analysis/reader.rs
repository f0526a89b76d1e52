//! Reads a script the way bash 5.2 does, command by command, keeping what was read when an error ends it.

use super::flow::{Step, narrow};
use super::opinions::{FEW_OPENERS, openers};
use super::tree::{Assignment, Simple, Stdin, Tree, Word};

/// Nesting that a person may write; more is refused before the stack is in danger.
const MAX_DEPTH: usize = 48;

/// `!` and `time` before one pipeline; other parsers recurse for each.
const MAX_PREFIXES: usize = 4;

/// Why a script does not parse.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct SyntaxError {
    /// Byte offset where reading stopped.
    pub(crate) offset: usize,
    /// What was wrong, for a person.
    pub(crate) message: &'static str,
}

pub(super) type Read<T> = Result<T, SyntaxError>;

/// A here-document whose body follows the current line.
#[derive(Clone, Debug)]
pub(super) struct PendingHeredoc {
    pub(super) delimiter: String,
    pub(super) quoted: bool,
    pub(super) strip_tabs: bool,
    /// Where the steps of its commands go.
    pub(super) body: usize,
    /// Where its delimiter stands behind the operator, in bytes of the source.
    pub(super) at: usize,
}

/// A position in a script, and what was found so far.
#[derive(Debug)]
pub(super) struct Reader<'s> {
    pub(super) source: &'s str,
    pub(super) bytes: &'s [u8],
    pub(super) pos: usize,
    pub(super) end: usize,
    pub(super) depth: usize,
    pub(super) copied: bool,
    pub(super) tucked: usize,
    pub(super) pending: Vec<PendingHeredoc>,
    pub(super) tree: Tree,
}

/// Reads `source`; the tree holds what was found also when there is an error.
pub(crate) fn read(source: &str) -> (Tree, Option<SyntaxError>) {
    let mut reader = Reader::new(source, 0, source.len(), Tree::default());
    let error = reader.script().err();
    (reader.tree, error)
}

/// Reads the remains of `source` behind an error, for rules that look everywhere.
pub(crate) fn salvage(source: &str, error: &SyntaxError, tree: Tree) -> Tree {
    const RESTARTS: usize = 8;
    let mut tree = tree;
    let mut offset = error.offset;
    for _ in 0..RESTARTS {
        let rest = source.as_bytes().get(offset..).unwrap_or_default();
        let Some(skip) = rest.iter().position(|b| b";&|\n()`{}".contains(b)) else { break };
        let start = offset + skip + 1;
        let mut reader = Reader::new(source, start, source.len(), tree);
        let result = reader.script();
        tree = reader.tree;
        match result {
            Ok(()) => break,
            Err(error) => offset = error.offset.max(start),
        }
    }
    tree
}

impl<'s> Reader<'s> {
    pub(super) fn new(source: &'s str, pos: usize, end: usize, tree: Tree) -> Self {
        Self {
            source,
            bytes: source.as_bytes(),
            pos,
            end,
            depth: 0,
            copied: false,
            tucked: 0,
            pending: Vec::new(),
            tree,
        }
    }

    /// Reads to the end; everything must belong to a command.
    pub(super) fn script(&mut self) -> Read<()> {
        self.list()?;
        if self.pos < self.end {
            return self.error("unexpected token");
        }
        self.unread_heredocs();
        Ok(())
    }

    pub(super) fn error<T>(&self, message: &'static str) -> Read<T> {
        Err(SyntaxError { offset: self.pos.min(self.end), message })
    }

    pub(super) fn peek(&self) -> u8 {
        self.at(0)
    }

    /// The byte `ahead` of the position, 0 past the end.
    pub(super) fn at(&self, ahead: usize) -> u8 {
        let index = self.pos + ahead;
        if index < self.end { self.bytes[index] } else { 0 }
    }

    pub(super) fn done(&self) -> bool {
        self.pos >= self.end
    }

    pub(super) fn starts_with(&self, text: &str) -> bool {
        self.bytes[self.pos.min(self.end)..self.end].starts_with(text.as_bytes())
    }

    /// Runs `inner` one level deeper.
    pub(super) fn nested<T>(&mut self, inner: impl FnOnce(&mut Self) -> Read<T>) -> Read<T> {
        if self.depth >= MAX_DEPTH {
            self.tree.too_deep();
            return self.error("nested too deeply");
        }
        self.depth += 1;
        let result = inner(self);
        self.depth -= 1;
        result
    }

    /// Runs `inner` where a script stands inside something that the second parser keeps as text.
    pub(super) fn tucked<T>(&mut self, inner: impl FnOnce(&mut Self) -> Read<T>) -> Read<T> {
        self.tucked += 1;
        let result = inner(self);
        self.tucked -= 1;
        result
    }

    /// Skips blanks, line continuations and a comment; stays before a newline.
    pub(super) fn blanks(&mut self) {
        loop {
            match self.peek() {
                b' ' | b'\t' => self.pos += 1,
                b'\\' if self.at(1) == b'\n' => self.pos += 2,
                b'#' if !self.done() => {
                    let start = self.pos;
                    while !self.done() && self.peek() != b'\n' {
                        self.pos += 1;
                    }
                    // Another reader may take it for something else.
                    if openers(&self.source[start..self.pos]) > FEW_OPENERS {
                        self.tree.too_deep();
                    }
                }
                _ => return,
            }
        }
    }

    /// Skips blanks, comments and newlines, reading here-documents at each newline.
    pub(super) fn newlines(&mut self) -> Read<()> {
        loop {
            self.blanks();
            if self.peek() != b'\n' || self.done() {
                return Ok(());
            }
            self.newline()?;
        }
    }

    /// Reads commands until something that cannot start one; says how many there were.
    pub(super) fn list(&mut self) -> Read<usize> {
        let mut count = 0;
        loop {
            self.newlines()?;
            if self.closes_list() {
                return Ok(count);
            }
            let first = self.tree.commands.len();
            let start = self.step(Step::Nothing);
            self.and_or()?;
            count += 1;
            self.blanks();
            match self.peek() {
                b';' if !matches!(self.at(1), b';' | b'&') => self.pos += 1,
                b'&' => {
                    self.pos += 1;
                    self.set_stdin(first, Stdin::Nothing);
                    self.enclose(start);
                }
                b'\n' if !self.done() => {}
                _ => return Ok(count),
            }
        }
    }

    fn closes_list(&mut self) -> bool {
        self.done()
            || self.peek() == b')'
            || (self.peek() == b';' && matches!(self.at(1), b';' | b'&'))
            || matches!(self.reserved(), Some("then" | "fi" | "elif" | "else" | "do" | "done" | "esac" | "}"))
    }

    fn and_or(&mut self) -> Read<()> {
        let mut end = None;
        loop {
            self.pipeline()?;
            if let Some(end) = end {
                self.step(end);
            }
            self.blanks();
            let (step, its_end) = if self.starts_with("&&") {
                (Step::And, Step::EndAnd)
            } else if self.starts_with("||") {
                (Step::Or, Step::EndOr)
            } else {
                return Ok(());
            };
            self.step(step);
            end = Some(its_end);
            self.pos += 2;
            self.newlines()?;
        }
    }

    fn pipeline(&mut self) -> Read<()> {
        let mut prefixes = 0;
        let mut negated = false;
        loop {
            self.blanks();
            match self.reserved() {
                Some("!") => {
                    negated = !negated;
                    self.pos += 1;
                }
                Some("time") => {
                    self.pos += 4;
                    self.blanks();
                    if self.raw_word() == "-p" {
                        self.pos += 2;
                        self.blanks();
                    }
                    if self.raw_word() == "--" {
                        self.pos += 2;
                    }
                }
                _ => break,
            }
            prefixes += 1;
            if prefixes > MAX_PREFIXES {
                self.tree.too_deep();
            }
        }
        self.blanks();
        if prefixes > 0 && (self.done() || matches!(self.peek(), b'\n' | b';' | b')' | b'&')) {
            self.tree.doubt("`!` or `time` without a command");
            return Ok(());
        }
        let first = self.tree.commands.len();
        let mut start = first;
        let mut open = self.step(Step::Nothing);
        let mut piped = false;
        loop {
            self.command()?;
            if start > first {
                self.set_stdin(start, Stdin::Pipe(first));
            }
            self.blanks();
            let more = self.peek() == b'|' && self.at(1) != b'|';
            if more || piped {
                self.enclose(open);
            }
            piped = more;
            if !more {
                if negated {
                    self.step(Step::Not);
                }
                return Ok(());
            }
            self.pos += if self.at(1) == b'&' { 2 } else { 1 };
            self.newlines()?;
            start = self.tree.commands.len();
            open = self.step(Step::Nothing);
            // `a | ! b` and `a | time b` are errors in bash, and not worth a second opinion.
            if matches!(self.reserved(), Some("!" | "time")) {
                return self.error("unexpected reserved word in a pipeline");
            }
        }
    }

    /// Gives commands from number `first` on an input, unless they have one of their own.
    pub(super) fn set_stdin(&mut self, first: usize, stdin: Stdin) {
        for command in self.tree.commands.iter_mut().skip(first) {
            if command.stdin == Stdin::Inherited {
                command.stdin = stdin;
            }
        }
    }

    fn command(&mut self) -> Read<()> {
        if let Some(word) = self.reserved() {
            return self.nested(|reader| reader.compound(word));
        }
        if self.peek() == b'(' {
            return self.nested(Self::parenthesis);
        }
        self.simple()
    }

    /// A simple command, or a function definition.
    pub(super) fn simple(&mut self) -> Read<()> {
        let index = self.tree.commands.len();
        let start = self.pos;
        let from = self.tree.steps.len();
        self.tree.commands.push(Simple::default());
        let mut simple = Simple { copied: self.copied, tucked: self.tucked > 0, ..Simple::default() };
        let mut declares = false;
        let result = loop {
            self.blanks();
            match self.simple_element(&mut simple, declares) {
                Ok(true) => {}
                Ok(false) => break Ok(()),
                Err(error) => break Err(error),
            }
            if simple.words.len() == 1 {
                declares = is_declaration(&simple.words[0].text);
                if simple.assignments.is_empty() && simple.redirects.is_empty() {
                    self.blanks();
                    if self.peek() == b'(' {
                        self.take_back(index, from);
                        return self.function(&simple.words[0]);
                    }
                }
            }
        };
        let empty = simple.words.is_empty() && simple.assignments.is_empty() && simple.redirects.is_empty();
        if simple.redirects.iter().any(super::tree::Redirect::feeds_stdin) {
            simple.stdin = Stdin::Redirected;
            let tty = simple
                .redirects
                .iter()
                .rev()
                .find(|r| r.feeds_stdin())
                .is_some_and(super::tree::Redirect::may_be_terminal);
            if tty {
                simple.stdin = Stdin::Inherited;
            }
        }
        simple.span = start..self.pos;
        if simple.words.is_empty() {
            let parts: Vec<&str> = simple.assignments.iter().map(|a| &self.source[a.span.clone()]).collect();
            simple.source = parts.join(" ");
        }
        self.tree.commands[index] = simple;
        self.step(Step::Command(narrow(index)));
        result?;
        if empty {
            self.tree.steps.pop();
            self.take_back(index, from);
            return self.error(if self.done() { "unexpected end" } else { "unexpected token" });
        }
        Ok(())
    }

    /// Reads one redirection, assignment or word; false at the command's end.
    fn simple_element(&mut self, simple: &mut Simple, declares: bool) -> Read<bool> {
        if let Some(redirect) = self.redirect()? {
            simple.redirects.push(redirect);
            return Ok(true);
        }
        if simple.words.is_empty() {
            if let Some(assignment) = self.assignment()? {
                self.notice_value(&assignment);
                simple.assignments.push(assignment);
                return Ok(true);
            }
        } else if declares {
            let start = self.pos;
            if let Some(assignment) = self.assignment()? {
                self.notice_value(&assignment);
                simple.words.push(self.declared(start, assignment));
                return Ok(true);
            }
        }
        match self.word()? {
            Some(word) => {
                if simple.words.is_empty() && word.text != self.source[word.span.clone()] {
                    let cooked = word.value().unwrap_or_default();
                    let raw = &self.source[word.span.clone()];
                    if raw.contains("\\\n") && is_reserved(cooked) {
                        self.tree.doubt("a reserved word with a line continuation in it");
                    }
                }
                simple.words.push(word);
                Ok(true)
            }
            None => Ok(false),
        }
    }

    fn declared(&self, start: usize, assignment: Assignment) -> Word {
        let span = start..self.pos;
        let raw = &self.source[span.clone()];
        if assignment.value.is_dynamic() {
            return Word { text: raw.to_owned(), parts: assignment.value.parts, span };
        }
        let prefix = &self.source[start..assignment.value.span.start];
        Word { text: format!("{prefix}{}", assignment.value.text), parts: Vec::new(), span }
    }

    fn notice_value(&mut self, assignment: &Assignment) {
        let harmless = assignment.value.value().is_some_and(|value| !value.contains(['[', '$', '`']));
        if !harmless {
            self.tree.sets_names = true;
        }
    }

    /// The reserved word at the position, if one stands there.
    pub(super) fn reserved(&self) -> Option<&'static str> {
        let word = self.raw_word();
        RESERVED.iter().find(|reserved| **reserved == word).copied()
    }

    /// The source of the word at the position, up to the next metacharacter.
    pub(super) fn raw_word(&self) -> &'s str {
        let rest = &self.bytes[self.pos.min(self.end)..self.end];
        let length = rest.iter().take(16).position(|b| is_meta(*b)).unwrap_or(rest.len().min(16));
        self.source.get(self.pos..self.pos + length).unwrap_or_default()
    }
}

/// The words that are grammar in command position.
const RESERVED: &[&str] = &[
    "!", "{", "}", "[[", "if", "then", "elif", "else", "fi", "for", "while", "until", "do", "done", "case", "esac",
    "select", "function", "time", "coproc",
];

fn is_reserved(word: &str) -> bool {
    RESERVED.contains(&word)
}

/// Builtins whose arguments may be array assignments.
fn is_declaration(name: &str) -> bool {
    matches!(name, "declare" | "typeset" | "local" | "export" | "readonly")
}

pub(super) fn is_meta(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\n' | b';' | b'&' | b'|' | b'(' | b')' | b'<' | b'>')
}
