//! Expansions: `$name`, `${...}`, `$(...)`, `` `...` ``, `$((...))`, `<(...)`, and the commands inside them.

use super::compound::is_name;
use super::flow::Step;
use super::reader::{Read, Reader};
use super::tree::{Tree, WordPart};
use super::word::Growing;

impl Reader<'_> {
    /// A `$` and what belongs to it.
    pub(super) fn dollar(&mut self, word: &mut Growing, quoted: bool) -> Read<()> {
        match self.at(1) {
            b'\'' if !quoted => {
                self.pos += 2;
                self.ansi_quotes(word)
            }
            b'"' if !quoted => {
                self.pos += 2;
                self.double_quotes(word)
            }
            b'(' => {
                word.dynamic(WordPart::Expansion { quoted });
                self.dollar_parenthesis()
            }
            b'[' => {
                word.dynamic(WordPart::Expansion { quoted });
                self.pos += 2;
                self.bracket_arithmetic()
            }
            b'{' => {
                let part = self.nested(|reader| reader.tucked(|reader| reader.parameter(quoted)))?;
                word.dynamic(part);
                Ok(())
            }
            byte if byte.is_ascii_alphabetic() || byte == b'_' => {
                let rest = &self.bytes[self.pos + 1..self.end];
                let length = rest.iter().take_while(|b| b.is_ascii_alphanumeric() || **b == b'_').count();
                let name = self.source[self.pos + 1..self.pos + 1 + length].to_owned();
                self.pos += 1 + length;
                word.dynamic(WordPart::Variable { name, quoted });
                Ok(())
            }
            byte if byte.is_ascii_digit() || b"@*#?-$!".contains(&byte) && byte != 0 => {
                word.dynamic(WordPart::Variable { name: char::from(byte).to_string(), quoted });
                self.pos += 2;
                Ok(())
            }
            _ => {
                word.text.push('$');
                self.pos += 1;
                Ok(())
            }
        }
    }

    fn dollar_parenthesis(&mut self) -> Read<()> {
        if self.at(2) == b'(' {
            self.tree.double_paren = true;
            if let Some(close) = self.arithmetic_close(self.pos + 3) {
                self.pos += 3;
                self.nested(|reader| reader.arithmetic(close))?;
                self.pos = close + 2;
                return Ok(());
            }
        }
        self.pos += 2;
        self.substitution()
    }

    /// The commands of a substitution, up to and with `)`.
    fn substitution(&mut self) -> Read<()> {
        self.tree.substitutions += 1;
        let outer = std::mem::take(&mut self.pending);
        self.step(Step::Enter);
        self.nested(Self::list)?;
        self.step(Step::Leave);
        if self.peek() != b')' {
            return self.error("a command substitution is not closed");
        }
        self.pos += 1;
        self.unread_heredocs();
        self.pending = outer;
        Ok(())
    }

    pub(super) fn process_substitution(&mut self, word: &mut Growing) -> Read<()> {
        word.dynamic(WordPart::Process);
        self.pos += 2;
        self.substitution()
    }

    /// A backquoted command; in double quotes `\"` is an escape too.
    pub(super) fn backquote(&mut self, quoted: bool) -> Read<()> {
        self.tree.substitutions += 1;
        self.step(Step::Enter);
        let start = self.pos + 1;
        let mut escaped = false;
        let mut index = start;
        loop {
            match self.bytes[..self.end].get(index) {
                None => {
                    self.pos = self.end;
                    return self.error("a backquote is not closed");
                }
                Some(b'`') => break,
                Some(b'\\') => {
                    escaped = true;
                    index += 2;
                }
                Some(b'#') => {
                    self.tree.doubt("`#` inside backquotes");
                    index += 1;
                }
                Some(_) => index += 1,
            }
        }
        if escaped {
            self.tree.doubt("a backslash inside backquotes");
            self.copied_script(start, index, quoted)?;
        } else {
            let outer_end = std::mem::replace(&mut self.end, index);
            let outer = std::mem::take(&mut self.pending);
            self.pos = start;
            let result = self.nested(Self::script);
            self.end = outer_end;
            self.pending = outer;
            result?;
        }
        self.step(Step::Leave);
        self.pos = index + 1;
        Ok(())
    }

    /// Reads a script whose text differs from the source by its backslashes.
    fn copied_script(&mut self, start: usize, end: usize, quoted: bool) -> Read<()> {
        let mut text = String::with_capacity(end - start);
        let mut characters = self.source[start..end].chars().peekable();
        while let Some(character) = characters.next() {
            let removes = character == '\\'
                && characters.peek().is_some_and(|next| matches!(next, '$' | '`' | '\\') || quoted && *next == '"');
            if removes {
                text.extend(characters.next());
            } else {
                text.push(character);
            }
        }
        let first = self.tree.commands.len();
        let tree = std::mem::take(&mut self.tree);
        let (result, tree) = read_copy(&text, self.depth, self.tucked, tree);
        self.tree = tree;
        for command in self.tree.commands.iter_mut().skip(first) {
            command.span = start..end;
        }
        result.map_err(|mut error| {
            error.offset = end;
            error
        })
    }

    /// `${...}`; the position is at the `$`.
    fn parameter(&mut self, quoted: bool) -> Read<WordPart> {
        self.pos += 2;
        let start = self.pos;
        if matches!(self.peek(), b' ' | b'\t' | b'\n' | b'|') {
            self.tree.doubt("a command in `${ }`");
            self.pos += 1;
            self.list()?;
            if self.peek() != b'}' {
                return self.error("`${` is not closed");
            }
            self.pos += 1;
            return Ok(WordPart::Expansion { quoted });
        }
        let body = self.pos;
        let name_length =
            self.bytes[body..self.end].iter().take_while(|b| b.is_ascii_alphanumeric() || **b == b'_').count();
        let operator = self.bytes[..self.end].get(body + name_length).copied().unwrap_or(0);
        let pattern = matches!(operator, b'#' | b'%' | b'/' | b'^' | b',');
        let mut inner = Growing::default();
        loop {
            if self.done() {
                return self.error("`${` is not closed");
            }
            match self.peek() {
                b'}' => break,
                b'\\' => self.pos = (self.pos + 2).min(self.end),
                b'\'' if quoted && !pattern => {
                    self.tree.doubt("a single quote inside `${ }` inside double quotes");
                    self.pos += 1;
                }
                b'\'' => {
                    let rest = &self.bytes[self.pos + 1..self.end];
                    let Some(length) = rest.iter().position(|b| *b == b'\'') else {
                        return self.error("a single quote is not closed");
                    };
                    self.pos += length + 2;
                }
                b'"' => {
                    self.pos += 1;
                    self.nested(|reader| reader.double_quotes(&mut inner))?;
                }
                b'$' => self.dollar(&mut inner, quoted)?,
                b'`' => self.backquote(quoted)?,
                b'<' | b'>' if self.at(1) == b'(' && !quoted => {
                    self.tree.doubt("a process substitution inside `${ }`");
                    self.process_substitution(&mut inner)?;
                }
                _ => self.pos += 1,
            }
        }
        let text = &self.source[start..self.pos];
        self.pos += 1;
        let plain = is_name(text)
            || !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit())
            || matches!(text, "@" | "*" | "#" | "?" | "-" | "$" | "!");
        if plain {
            return Ok(WordPart::Variable { name: text.to_owned(), quoted });
        }
        self.judge_parameter(start, name_length);
        Ok(WordPart::Expansion { quoted })
    }

    /// Notes what an expansion with an operator may execute beyond the commands written in it.
    fn judge_parameter(&mut self, start: usize, name_length: usize) {
        let text = &self.source[start..self.pos - 1];
        let rest = &text[name_length..];
        let literal = |text: &str| text.bytes().all(|b| b.is_ascii_digit() || b" -:".contains(&b));
        if text.starts_with('!') {
            let keys = text.ends_with("[@]") || text.ends_with("[*]");
            let names = text.ends_with('@') || text.ends_with('*');
            if !keys && !names {
                self.tree.doubt("an indirect expansion");
            }
        } else if text.contains("@P") || rest.starts_with('@') {
            self.tree.doubt("an expansion with `@`, which may execute its value");
        }
        if let Some(subscript) =
            rest.strip_prefix('[').or_else(|| text.strip_prefix('#').and_then(|t| t.split_once('[')).map(|(_, s)| s))
        {
            let index = subscript.split(']').next().unwrap_or_default();
            if prints(subscript) {
                self.tree.doubt(COMPUTES);
            }
            if !matches!(index, "@" | "*") && !literal(index) {
                self.tree.evaluates_names = true;
            }
        }
        if let Some(slice) = rest.strip_prefix(':')
            && !slice.starts_with(['-', '=', '?', '+'])
            && !literal(slice)
        {
            if prints(slice) {
                self.tree.doubt(COMPUTES);
            }
            self.tree.evaluates_names = true;
        }
        if rest.starts_with('=') || rest.starts_with(":=") {
            self.tree.sets_names = true;
            self.tree.assigns |= text[..name_length].bytes().any(|byte| byte.is_ascii_uppercase());
        }
    }

    /// Where the `))` stands that closes arithmetic begun before `from`; none when it is two subshells.
    pub(super) fn arithmetic_close(&mut self, from: usize) -> Option<usize> {
        let bytes = &self.bytes[..self.end];
        let mut depth = 0usize;
        let mut index = from;
        while index < bytes.len() {
            match bytes[index] {
                b'\\' => index += 1,
                quote @ (b'\'' | b'"' | b'`') => {
                    index += 1;
                    while index < bytes.len() && bytes[index] != quote {
                        index += if bytes[index] == b'\\' && quote != b'\'' { 2 } else { 1 };
                    }
                }
                b'(' => depth += 1,
                b')' if depth > 0 => depth -= 1,
                b')' => return (bytes.get(index + 1) == Some(&b')')).then_some(index),
                _ => {}
            }
            index += 1;
        }
        None
    }

    /// The inside of an arithmetic expression up to `close`.
    pub(super) fn arithmetic(&mut self, close: usize) -> Read<()> {
        let outer_end = std::mem::replace(&mut self.end, close);
        let result = self.tucked(|reader| reader.arithmetic_pieces(None));
        self.end = outer_end;
        result
    }

    /// `$[...]`; the position is behind the bracket.
    fn bracket_arithmetic(&mut self) -> Read<()> {
        self.nested(|reader| reader.tucked(|reader| reader.arithmetic_pieces(Some(b']'))))?;
        if self.peek() != b']' {
            return self.error("`$[` is not closed");
        }
        self.pos += 1;
        Ok(())
    }

    /// Expansions inside arithmetic, where single quotes protect nothing.
    pub(super) fn arithmetic_pieces(&mut self, close: Option<u8>) -> Read<()> {
        let start = self.pos;
        let mut ignored = Growing::default();
        let mut brackets = 0usize;
        while !self.done() {
            match self.peek() {
                byte if Some(byte) == close && brackets == 0 => break,
                b'[' => {
                    brackets += 1;
                    self.tree.evaluates_names = true;
                    self.pos += 1;
                }
                b']' => {
                    brackets = brackets.saturating_sub(1);
                    self.pos += 1;
                }
                b'\\' => self.pos = (self.pos + 2).min(self.end),
                b'\'' => {
                    self.tree.doubt("a single quote in arithmetic");
                    self.pos += 1;
                }
                b'$' => {
                    self.tree.evaluates_names = true;
                    self.dollar(&mut ignored, true)?;
                }
                b'`' => self.backquote(true)?,
                byte => {
                    if byte.is_ascii_alphabetic() || byte == b'_' {
                        self.tree.evaluates_names = true;
                    }
                    self.pos += 1;
                }
            }
        }
        let text = &self.source[start..self.pos.min(self.end)];
        self.tree.assigns |= assigns(text);
        if prints(text) {
            self.tree.doubt(COMPUTES);
        }
        Ok(())
    }
}

/// Arithmetic executes commands in the subscripts of what it computes with.
const COMPUTES: &str = "arithmetic with what a command prints";

/// Whether a text has a command substitution.
fn prints(text: &str) -> bool {
    text.contains('`') || text.match_indices("$(").any(|(at, _)| !text[at + 2..].starts_with('('))
}

/// Whether arithmetic may set a variable whose name is not all lowercase, which are those that programs look at.
fn assigns(text: &str) -> bool {
    let bytes = text.as_bytes();
    let at = |index: usize| bytes.get(index).copied().unwrap_or(0);
    let sets = |index: usize| match bytes[index] {
        b'=' => {
            let before = if index == 0 { 0 } else { at(index - 1) };
            let shifts = index > 1 && matches!(before, b'<' | b'>') && at(index - 2) == before;
            at(index + 1) != b'=' && (shifts || !matches!(before, b'=' | b'!' | b'<' | b'>'))
        }
        b'+' | b'-' => at(index + 1) == bytes[index],
        _ => false,
    };
    bytes.iter().any(u8::is_ascii_uppercase) && (0..bytes.len()).any(sets)
}

fn read_copy(text: &str, depth: usize, tucked: usize, tree: Tree) -> (Read<()>, Tree) {
    let mut reader = Reader::new(text, 0, text.len(), tree);
    reader.depth = depth;
    reader.copied = true;
    reader.tucked = tucked;
    let result = reader.nested(Reader::script);
    (result, reader.tree)
}
