//! Redirections, here-documents and assignments.

use super::compound::is_name;
use super::fed::Body;
use super::flow::{Step, narrow};
use super::reader::{PendingHeredoc, Read, Reader};
use super::tree::{Assignment, Redirect, RedirectKind, Word, WordPart};
use super::word::Growing;

impl Reader<'_> {
    /// The redirection at the position, if one stands there.
    pub(super) fn redirect(&mut self) -> Read<Option<Redirect>> {
        let start = self.pos;
        let descriptor = self.descriptor();
        let kind = self.operator();
        let Some((operator, kind)) = kind else {
            self.pos = start;
            return Ok(None);
        };
        self.pos += operator.len();
        if matches!(operator, "<&" | ">&") && self.peek() == b'-' {
            self.pos += 1;
            if !self.done() && !super::reader::is_meta(self.peek()) {
                self.tree.doubt("a word glued to a closed descriptor");
            }
            return Ok(Some(Redirect { kind, descriptor, target: Word::default() }));
        }
        self.blanks();
        if matches!(operator, "<<" | "<<-") {
            return self.heredoc_start(operator, descriptor).map(Some);
        }
        let Some(target) = self.word()? else {
            return self.error("a redirection needs a target");
        };
        let kind = match kind {
            // `>&file` writes both outputs to the file.
            RedirectKind::DuplicateOutput if !is_descriptor(&target) => RedirectKind::Write,
            other => other,
        };
        Ok(Some(Redirect { kind, descriptor, target }))
    }

    /// A number or `{name}` glued to a redirection operator.
    fn descriptor(&mut self) -> Option<String> {
        let rest = &self.bytes[self.pos.min(self.end)..self.end];
        let length = if rest.first() == Some(&b'{') {
            let close = rest.iter().take(64).position(|b| *b == b'}')?;
            let name = self.source.get(self.pos + 1..self.pos + close)?;
            if !is_name(name) {
                return None;
            }
            close + 1
        } else {
            rest.iter().take_while(|b| b.is_ascii_digit()).count()
        };
        let operator = rest.get(length).copied()?;
        let substitution = rest.get(length + 1) == Some(&b'(');
        if length == 0 || !matches!(operator, b'<' | b'>') || substitution {
            return None;
        }
        let text = self.source[self.pos..self.pos + length].to_owned();
        self.pos += length;
        Some(text)
    }

    fn operator(&self) -> Option<(&'static str, RedirectKind)> {
        if !matches!(self.peek(), b'<' | b'>' | b'&') || self.done() {
            return None;
        }
        if matches!(self.peek(), b'<' | b'>') && self.at(1) == b'(' {
            return None;
        }
        OPERATORS.iter().find(|(text, _)| self.starts_with(text)).copied()
    }

    fn heredoc_start(&mut self, operator: &str, descriptor: Option<String>) -> Read<Redirect> {
        let start = self.pos;
        let Some((delimiter, quoted)) = self.delimiter()? else {
            return self.error("a here-document needs a delimiter");
        };
        self.tree.heredoc = true;
        let body = self.tree.bodies.len();
        self.tree.bodies.push(Vec::new());
        self.step(Step::Body(narrow(body)));
        let strip_tabs = operator == "<<-";
        self.pending.push(PendingHeredoc { delimiter: delimiter.clone(), quoted, strip_tabs, body, at: start });
        let target = Word { text: delimiter, parts: Vec::new(), span: start..self.pos };
        Ok(Redirect { kind: RedirectKind::Text, descriptor, target })
    }

    /// Takes a newline, and the bodies of the here-documents that begin after it.
    pub(super) fn newline(&mut self) -> Read<()> {
        self.pos += 1;
        for heredoc in std::mem::take(&mut self.pending) {
            self.heredoc_body(&heredoc)?;
        }
        Ok(())
    }

    /// Doubts here-documents whose body never came.
    pub(super) fn unread_heredocs(&mut self) {
        if !self.pending.is_empty() {
            self.tree.doubt("a here-document without its body");
            self.pending.clear();
        }
    }

    fn heredoc_body(&mut self, heredoc: &PendingHeredoc) -> Read<()> {
        let start = self.pos;
        let mut continued = false;
        let (body_end, next) = loop {
            if self.done() {
                self.tree.doubt("a here-document without its delimiter");
                break (self.end, self.end);
            }
            let rest = &self.bytes[self.pos..self.end];
            let length = rest.iter().position(|b| *b == b'\n').unwrap_or(rest.len());
            let line_start = self.pos;
            let mut line = &self.source[line_start..line_start + length];
            if heredoc.strip_tabs {
                line = line.trim_start_matches('\t');
            }
            let after = (line_start + length + 1).min(self.end);
            if line == heredoc.delimiter {
                if continued {
                    self.tree.doubt("a here-document delimiter behind a line continuation");
                }
                break (line_start, after);
            }
            if line.trim() == heredoc.delimiter.trim() {
                self.tree.doubt("a line that is almost the here-document's delimiter");
            }
            let backslashes = line.bytes().rev().take_while(|b| *b == b'\\').count();
            continued = !heredoc.quoted && backslashes % 2 == 1;
            if continued {
                self.tree.doubt("a line continuation in a here-document");
            }
            self.pos = after;
        };
        let body = &self.source[start..body_end];
        self.tree.terminal_heredoc |= super::tree::returns_to_terminal(body);
        let fixed = heredoc.quoted || !body.contains(['$', '`', '\\']);
        self.tree.texts.push(Body { at: heredoc.at, text: body.to_owned(), fixed });
        if !heredoc.quoted {
            let outer_end = std::mem::replace(&mut self.end, body_end);
            let outer = std::mem::take(&mut self.pending);
            self.pos = start;
            let steps = std::mem::take(&mut self.tree.steps);
            let result = self.nested(|reader| reader.tucked(Self::heredoc_pieces));
            self.tree.bodies[heredoc.body] = std::mem::replace(&mut self.tree.steps, steps);
            self.end = outer_end;
            self.pending = outer;
            result?;
        }
        self.pos = next;
        Ok(())
    }

    /// Expansions in a here-document's body, where quotes are ordinary text.
    fn heredoc_pieces(&mut self) -> Read<()> {
        let mut ignored = Growing::default();
        while !self.done() {
            match self.peek() {
                b'\\' => self.quoted_escape(&mut ignored),
                b'$' => self.dollar(&mut ignored, true)?,
                b'`' => self.backquote(false)?,
                _ => self.pos += 1,
            }
        }
        Ok(())
    }

    /// The assignment at the position, if one stands there.
    pub(super) fn assignment(&mut self) -> Read<Option<Assignment>> {
        let start = self.pos;
        let rest = &self.bytes[start.min(self.end)..self.end];
        let length = rest.iter().take_while(|b| b.is_ascii_alphanumeric() || **b == b'_').count();
        if length == 0 || rest[0].is_ascii_digit() {
            return Ok(None);
        }
        let name = self.source[start..start + length].to_owned();
        self.pos += length;
        let subscript = self.peek() == b'[';
        if subscript && !self.subscript()? {
            self.pos = start;
            return Ok(None);
        }
        if self.peek() == b'+' && self.at(1) == b'=' {
            self.pos += 1;
        }
        if self.peek() != b'=' || self.done() {
            if subscript {
                self.tree.doubt("a subscript that is not an assignment");
            }
            self.pos = start;
            return Ok(None);
        }
        self.pos += 1;
        let value = self.value()?;
        Ok(Some(Assignment { name, value, span: start..self.pos }))
    }

    fn value(&mut self) -> Read<Word> {
        let start = self.pos;
        if self.peek() != b'(' {
            let word = self.word()?.unwrap_or_default();
            return Ok(Word { span: start..self.pos, ..word });
        }
        self.pos += 1;
        loop {
            self.newlines()?;
            if self.peek() == b')' {
                break;
            }
            if self.word()?.is_none() {
                return self.error("an array is not closed");
            }
        }
        self.pos += 1;
        let span = start..self.pos;
        let text = self.source[span.clone()].to_owned();
        if text.contains('\\') {
            // Bash 5.2 loses backslashes there inside a substitution, and then reads something else.
            self.tree.doubt("a backslash in an array");
        }
        Ok(Word { text, parts: vec![WordPart::Expansion { quoted: true }], span })
    }

    /// Reads `[...]`; false when it is not closed. Commands in it are kept.
    fn subscript(&mut self) -> Read<bool> {
        let commands = self.tree.commands.len();
        let substitutions = self.tree.substitutions;
        let steps = self.tree.steps.len();
        self.pos += 1;
        let mut plain = 0;
        while self.bytes[..self.end].get(self.pos + plain).is_some_and(|b| b.is_ascii_digit()) {
            plain += 1;
        }
        if self.at(plain) == b']' {
            self.pos += plain + 1;
            return Ok(true);
        }
        let closes = self.bytes[self.pos..self.end].contains(&b']');
        if !closes {
            return Ok(false);
        }
        self.tucked(|reader| reader.arithmetic_pieces(Some(b']')))?;
        if self.peek() != b']' {
            self.tree.commands.truncate(commands);
            self.tree.steps.truncate(steps);
            self.tree.substitutions = substitutions;
            return Ok(false);
        }
        self.pos += 1;
        if !matches!((self.peek(), self.at(1)), (b'=', _) | (b'+', b'=')) {
            // Read again as an ordinary word.
            self.tree.commands.truncate(commands);
            self.tree.steps.truncate(steps);
            self.tree.substitutions = substitutions;
        }
        Ok(true)
    }
}

/// Longest first, so that a prefix never wins.
const OPERATORS: &[(&str, RedirectKind)] = &[
    ("<<<", RedirectKind::Text),
    ("<<-", RedirectKind::Text),
    ("<<", RedirectKind::Text),
    ("<&", RedirectKind::DuplicateInput),
    ("<>", RedirectKind::ReadWrite),
    ("<", RedirectKind::Read),
    (">>", RedirectKind::Append),
    (">&", RedirectKind::DuplicateOutput),
    (">|", RedirectKind::Write),
    (">", RedirectKind::Write),
    ("&>>", RedirectKind::Append),
    ("&>", RedirectKind::Write),
];

fn is_descriptor(word: &Word) -> bool {
    let text = word.text.trim_end_matches('-');
    !word.is_dynamic() && text.bytes().all(|b| b.is_ascii_digit())
}
