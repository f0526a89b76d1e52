//! Words: quotes and escapes are resolved, and what only the running shell knows makes a word dynamic.

use super::quote::ansi_c;
use super::reader::{Read, Reader, is_meta};
use super::tree::{Tree, Word, WordPart};

/// Where a word stands, which decides what ends it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    /// An ordinary word.
    Plain,
    /// The right side of `==` in `[[`: an extended pattern.
    Pattern,
    /// The right side of `=~` in `[[`.
    Regex,
}

/// A word being read.
#[derive(Debug, Default)]
pub(super) struct Growing {
    /// The text with quotes resolved; dynamic pieces are not in it.
    pub(super) text: String,
    pub(super) parts: Vec<WordPart>,
    pub(super) quoted: bool,
    literal_from: usize,
    braces: Vec<bool>,
    bracket: bool,
}

impl Growing {
    /// Adds a piece that only the running shell knows.
    pub(super) fn dynamic(&mut self, part: WordPart) {
        self.flush();
        self.parts.push(part);
    }

    fn flush(&mut self) {
        if self.text.len() > self.literal_from {
            self.parts.push(WordPart::Literal(self.text[self.literal_from..].to_owned()));
            self.literal_from = self.text.len();
        }
    }
}

impl Reader<'_> {
    /// The word at the position; none when a metacharacter or the end is there.
    pub(super) fn word(&mut self) -> Read<Option<Word>> {
        Ok(self.growing(Place::Plain)?.map(|(word, _)| word))
    }

    /// The right side of a match in `[[`.
    pub(super) fn pattern_word(&mut self, regex: bool) -> Read<Option<Word>> {
        let place = if regex { Place::Regex } else { Place::Pattern };
        Ok(self.growing(place)?.map(|(word, _)| word))
    }

    /// A here-document's delimiter: its text, and whether any of it was quoted.
    pub(super) fn delimiter(&mut self) -> Read<Option<(String, bool)>> {
        let start = self.pos;
        let Some((word, growing)) = self.growing(Place::Plain)? else { return Ok(None) };
        if self.source[start..self.pos].contains(['$', '`']) {
            self.tree.doubt("a here-document delimiter with an expansion");
        }
        let plain = !growing.quoted;
        Ok(Some((if plain { word.text } else { growing.text }, growing.quoted)))
    }

    fn growing(&mut self, place: Place) -> Read<Option<(Word, Growing)>> {
        let start = self.pos;
        let mut word = Growing::default();
        self.word_pieces(&mut word, place)?;
        if self.pos == start {
            return Ok(None);
        }
        let span = start..self.pos;
        if word.parts.is_empty() {
            let text = if word.quoted { word.text.clone() } else { std::mem::take(&mut word.text) };
            return Ok(Some((Word { text, parts: Vec::new(), span }, word)));
        }
        word.flush();
        let parts = std::mem::take(&mut word.parts);
        let text = self.source[span.clone()].to_owned();
        Ok(Some((Word { text, parts, span }, word)))
    }

    fn word_pieces(&mut self, word: &mut Growing, place: Place) -> Read<()> {
        let start = self.pos;
        let mut depth = 0usize;
        loop {
            let run = self.pos;
            while is_plain(self.peek()) {
                self.pos += 1;
            }
            word.text.push_str(&self.source[run..self.pos]);
            if self.done() {
                return if depth > 0 { self.error("`(` is not closed") } else { Ok(()) };
            }
            let byte = self.peek();
            match byte {
                b'<' | b'>' if self.at(1) == b'(' => self.process_substitution(word)?,
                b'(' if depth > 0 || self.opens_group(start, place) => {
                    depth += 1;
                    self.keep(word);
                    word.dynamic(WordPart::Glob);
                }
                b')' if depth > 0 => {
                    depth -= 1;
                    self.keep(word);
                }
                b'|' if place == Place::Regex && self.at(1) != b'|' => self.keep(word),
                _ if depth > 0 && is_meta(byte) => self.keep(word),
                _ if is_meta(byte) => return Ok(()),
                b'\\' => self.escape(word),
                b'\'' => self.single_quotes(word)?,
                b'"' => {
                    self.pos += 1;
                    self.double_quotes(word)?;
                }
                b'$' => self.dollar(word, false)?,
                b'`' => {
                    self.backquote(false)?;
                    word.dynamic(WordPart::Expansion { quoted: false });
                }
                b'~' if self.pos == start || self.assigns(start) => self.tilde(word),
                _ => self.special(word, byte),
            }
        }
    }

    /// Whether the position is behind `NAME=`, or a colon after it, where bash expands a tilde in any word.
    fn assigns(&self, start: usize) -> bool {
        let before = &self.source[start..self.pos];
        before.ends_with(['=', ':']) && before.split_once('=').is_some_and(|(name, _)| super::compound::is_name(name))
    }

    fn opens_group(&self, start: usize, place: Place) -> bool {
        match place {
            Place::Plain => false,
            Place::Regex => true,
            Place::Pattern => self.pos > start && b"?*+@!".contains(&self.bytes[self.pos - 1]),
        }
    }

    /// Takes one byte (a character's first) as it is.
    fn keep(&mut self, word: &mut Growing) {
        word.text.push(char::from(self.peek()));
        self.pos += 1;
    }

    /// Characters that may make a pattern or a brace list of the word.
    fn special(&mut self, word: &mut Growing, byte: u8) {
        match byte {
            b'*' | b'?' => word.dynamic(WordPart::Glob),
            b'[' => word.bracket = true,
            b']' if word.bracket && self.bytes[self.pos - 1] != b'[' => {
                word.dynamic(WordPart::Glob);
            }
            b'{' => {
                if word.braces.len() > 32 {
                    self.tree.too_deep();
                }
                word.braces.push(false);
            }
            b',' => {
                if let Some(list) = word.braces.last_mut() {
                    *list = true;
                }
            }
            b'.' if self.at(1) == b'.' => {
                if let Some(list) = word.braces.last_mut() {
                    *list = true;
                }
            }
            b'}' if word.braces.pop() == Some(true) => word.dynamic(WordPart::Brace),
            // NUL cannot be part of a command line.
            0 => self.tree.doubt("a NUL character"),
            _ => {}
        }
        if matches!(byte, b'*' | b'?') {
            self.pos += 1;
        } else {
            self.keep(word);
        }
    }

    fn tilde(&mut self, word: &mut Growing) {
        let rest = &self.bytes[self.pos + 1..self.end];
        let name =
            rest.iter().take_while(|b| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_' | b'.' | b'+')).count();
        let user = self.source[self.pos + 1..self.pos + 1 + name].to_owned();
        self.pos += 1 + name;
        word.dynamic(WordPart::Tilde(user));
    }

    fn escape(&mut self, word: &mut Growing) {
        word.quoted = true;
        if self.at(1) == b'\n' && self.pos + 1 < self.end {
            self.pos += 2;
            return;
        }
        self.pos += 1;
        if self.done() {
            // Bash keeps a backslash at the end of the text.
            word.text.push('\\');
            self.tree.doubt("a backslash at the end");
            return;
        }
        self.character(&mut word.text);
    }

    /// Takes one whole character.
    fn character(&mut self, text: &mut String) {
        if let Some(character) = self.source.get(self.pos..).and_then(|rest| rest.chars().next()) {
            text.push(character);
            self.pos += character.len_utf8();
        } else {
            self.pos += 1;
        }
    }

    fn single_quotes(&mut self, word: &mut Growing) -> Read<()> {
        word.quoted = true;
        let start = self.pos + 1;
        let Some(length) = memchr(b'\'', &self.bytes[start..self.end]) else {
            self.pos = self.end;
            return self.error("a single quote is not closed");
        };
        word.text.push_str(&self.source[start..start + length]);
        self.pos = start + length + 1;
        Ok(())
    }

    /// `$'...'`; the position is behind the quote.
    pub(super) fn ansi_quotes(&mut self, word: &mut Growing) -> Read<()> {
        word.quoted = true;
        let start = self.pos;
        loop {
            if self.done() {
                return self.error("a `$'` quote is not closed");
            }
            match self.peek() {
                b'\\' => self.pos = (self.pos + 2).min(self.end),
                b'\'' => break,
                _ => self.pos += 1,
            }
        }
        let (text, exact) = ansi_c(&self.source[start..self.pos]);
        if !exact {
            self.tree.doubt("an escape in `$'...'` that shells read differently");
        }
        word.text.push_str(&text);
        self.pos += 1;
        Ok(())
    }

    /// The inside of double quotes and the closing one.
    pub(super) fn double_quotes(&mut self, word: &mut Growing) -> Read<()> {
        word.quoted = true;
        loop {
            let run = self.pos;
            while !self.done() && !matches!(self.peek(), b'"' | b'\\' | b'$' | b'`') {
                self.pos += 1;
            }
            word.text.push_str(&self.source[run..self.pos]);
            if self.done() {
                return self.error("a double quote is not closed");
            }
            match self.peek() {
                b'"' => {
                    self.pos += 1;
                    return Ok(());
                }
                b'\\' => self.quoted_escape(word),
                b'$' => self.dollar(word, true)?,
                _ => {
                    self.backquote(true)?;
                    word.dynamic(WordPart::Expansion { quoted: true });
                }
            }
        }
    }

    /// A backslash in double quotes or in a here-document.
    pub(super) fn quoted_escape(&mut self, word: &mut Growing) {
        match self.at(1) {
            b'\n' if self.pos + 1 < self.end => self.pos += 2,
            b'$' | b'`' | b'"' | b'\\' => {
                word.text.push(char::from(self.at(1)));
                self.pos += 2;
            }
            _ => {
                word.text.push('\\');
                self.pos += 1;
            }
        }
    }
}

/// Reads a text that is one word; none when it is not.
pub(crate) fn read_word(text: &str) -> Option<Word> {
    let mut reader = Reader::new(text, 0, text.len(), Tree::default());
    let word = reader.word().ok().flatten()?;
    reader.done().then_some(word)
}

/// Bytes that mean nothing but themselves, anywhere in a word.
fn is_plain(byte: u8) -> bool {
    const PLAIN: [bool; 256] = {
        let mut table = [false; 256];
        let mut byte = 0;
        while byte < 256 {
            let special = matches!(
                byte as u8,
                0 | b' '
                    | b'\t'
                    | b'\n'
                    | b';'
                    | b'&'
                    | b'|'
                    | b'('
                    | b')'
                    | b'<'
                    | b'>'
                    | b'\\'
                    | b'\''
                    | b'"'
                    | b'$'
                    | b'`'
                    | b'~'
                    | b'*'
                    | b'?'
                    | b'['
                    | b']'
                    | b'{'
                    | b'}'
                    | b','
                    | b'.'
            );
            table[byte] = !special;
            byte += 1;
        }
        table
    };
    PLAIN[usize::from(byte)]
}

fn memchr(needle: u8, haystack: &[u8]) -> Option<usize> {
    haystack.iter().position(|b| *b == needle)
}
