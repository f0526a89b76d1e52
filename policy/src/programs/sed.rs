//! Reads sed scripts: only commands that provably do nothing but print are harmless.
//!
//! Commands and addresses follow the manual of GNU sed; where BSD sed reads a script differently, it is a problem.

use super::{Nature, Usage};

/// What a script does besides printing.
#[derive(Debug, Default)]
pub(super) struct Found {
    pub(super) problem: Option<(Nature, String)>,
    pub(super) files: Vec<(String, Usage)>,
}

struct Reader<'a> {
    text: &'a [u8],
    at: usize,
    found: Found,
}

/// Reads a script.
pub(super) fn read(text: &str) -> Found {
    let mut reader = Reader { text: text.as_bytes(), at: 0, found: Found::default() };
    while reader.at < reader.text.len() && reader.command().is_some() {}
    if reader.at < reader.text.len() && reader.found.problem.is_none() {
        reader.problem(Nature::Unknown, "its script is not understood");
    }
    reader.found
}

impl Reader<'_> {
    fn peek(&self) -> u8 {
        self.text.get(self.at).copied().unwrap_or(0)
    }

    fn problem(&mut self, nature: Nature, what: &str) -> Option<()> {
        if self.found.problem.as_ref().is_none_or(|(known, _)| *known < nature) {
            self.found.problem = Some((nature, what.to_owned()));
        }
        None
    }

    fn skip(&mut self, bytes: &[u8]) {
        while self.at < self.text.len() && bytes.contains(&self.peek()) {
            self.at += 1;
        }
    }

    /// One command with its addresses; none when the script is not understood.
    fn command(&mut self) -> Option<()> {
        self.skip(b" \t\n;");
        if self.at >= self.text.len() {
            return Some(());
        }
        self.addresses()?;
        let command = self.peek();
        self.at += 1;
        match command {
            b'{' | b'}' => return Some(()),
            b'#' => self.line(),
            b'=' | b'd' | b'D' | b'g' | b'G' | b'h' | b'H' | b'n' | b'N' | b'p' | b'P' | b'x' | b'z' | b'F' => {}
            b'q' | b'Q' | b'l' | b'L' => {
                self.skip(b" \t");
                self.skip(b"0123456789");
            }
            b':' | b'b' | b't' | b'T' => {
                while !matches!(self.peek(), 0 | b';' | b'\n' | b'}') {
                    self.at += 1;
                }
            }
            b'a' | b'i' | b'c' => self.lines(),
            b's' => return self.substitute(),
            b'y' => {
                let delimiter = self.delimiter()?;
                self.part(delimiter, false)?;
                self.part(delimiter, false)?;
            }
            b'r' | b'R' => {
                self.file(Usage::Read);
                self.problem(Nature::Unknown, "`r` in its script reads another file");
            }
            b'w' | b'W' => {
                self.file(Usage::Write);
                self.problem(Nature::Changes, "`w` in its script writes a file");
            }
            b'e' => {
                self.line();
                self.problem(Nature::Changes, "`e` in its script runs a command");
            }
            _ => {
                self.at -= 1;
                return self.problem(Nature::Unknown, "its script is not understood");
            }
        }
        self.end()
    }

    /// What may follow a command.
    fn end(&mut self) -> Option<()> {
        self.skip(b" \t");
        match self.peek() {
            b';' | b'\n' | b'}' | b'#' => Some(()),
            _ if self.at >= self.text.len() => Some(()),
            _ => self.problem(Nature::Unknown, "its script is not understood"),
        }
    }

    fn line(&mut self) {
        while self.at < self.text.len() && self.peek() != b'\n' {
            self.at += 1;
        }
    }

    /// A text that goes on behind lines that end in a backslash.
    fn lines(&mut self) {
        while self.at < self.text.len() && self.peek() != b'\n' {
            self.at += if self.peek() == b'\\' { 2 } else { 1 };
        }
        self.at = self.at.min(self.text.len());
    }

    fn file(&mut self, usage: Usage) {
        self.skip(b" \t");
        let start = self.at;
        self.line();
        let name = String::from_utf8_lossy(&self.text[start..self.at]).into_owned();
        if !name.is_empty() {
            self.found.files.push((name, usage));
        }
    }

    fn addresses(&mut self) -> Option<()> {
        for _ in 0..2 {
            match self.peek() {
                b'0'..=b'9' | b'+' | b'~' | b'$' => {
                    self.at += 1;
                    self.skip(b"0123456789~");
                }
                b'/' => {
                    self.at += 1;
                    self.part(b'/', true)?;
                    self.skip(b"IM");
                }
                b'\\' => {
                    self.at += 1;
                    let delimiter = self.delimiter()?;
                    self.part(delimiter, true)?;
                    self.skip(b"IM");
                }
                _ => {}
            }
            self.skip(b" \t");
            if self.peek() != b',' {
                break;
            }
            self.at += 1;
            self.skip(b" \t");
        }
        self.skip(b" \t!");
        Some(())
    }

    fn delimiter(&mut self) -> Option<u8> {
        let delimiter = self.peek();
        if self.at >= self.text.len() || matches!(delimiter, b'\n' | b'\\' | b'[' | b';') || !delimiter.is_ascii() {
            self.problem(Nature::Unknown, "its script is not understood");
            return None;
        }
        self.at += 1;
        Some(delimiter)
    }

    /// Up to and with the delimiter. Seds disagree about one inside brackets.
    fn part(&mut self, delimiter: u8, pattern: bool) -> Option<()> {
        let mut bracket = None;
        while self.at < self.text.len() {
            let byte = self.peek();
            let next = self.text.get(self.at + 1).copied().unwrap_or(0);
            match byte {
                // In brackets a backslash is a character for some; a class has brackets of its own.
                b'\\' if bracket.is_some() && (matches!(next, b']' | b'\\') || next == delimiter) => {
                    return self.problem(Nature::Unknown, "a backslash in brackets in its script");
                }
                b'\\' => {
                    self.at += 2;
                    continue;
                }
                b'\n' if pattern => return self.problem(Nature::Unknown, "a line end in a pattern of its script"),
                b'[' if bracket.is_some() && matches!(next, b':' | b'.' | b'=') => {
                    let class = &self.text[self.at + 2..];
                    let Some(length) = class.windows(2).position(|pair| pair == [next, b']']) else {
                        return self.problem(Nature::Unknown, "its script is not understood");
                    };
                    if !class[..length].iter().all(u8::is_ascii_alphanumeric) {
                        return self.problem(Nature::Unknown, "its script is not understood");
                    }
                    self.at += length + 4;
                    continue;
                }
                b'[' if pattern && bracket.is_none() => bracket = Some(self.at),
                b']' => {
                    // `[]a]` and `[^]a]` hold a bracket.
                    let start = bracket.unwrap_or(self.at);
                    let first = self.at == start + 1 || (self.at == start + 2 && self.text[start + 1] == b'^');
                    if !first {
                        bracket = None;
                    }
                }
                _ if byte == delimiter => {
                    self.at += 1;
                    if bracket.is_some() {
                        return self.problem(Nature::Unknown, "a delimiter in brackets in its script");
                    }
                    return Some(());
                }
                _ => {}
            }
            self.at += 1;
        }
        self.at = self.text.len();
        self.problem(Nature::Unknown, "its script does not end")
    }

    fn substitute(&mut self) -> Option<()> {
        let delimiter = self.delimiter()?;
        self.part(delimiter, true)?;
        self.part(delimiter, false)?;
        loop {
            match self.peek() {
                b'g' | b'p' | b'i' | b'I' | b'm' | b'M' | b'0'..=b'9' => self.at += 1,
                b'e' => {
                    self.at += 1;
                    self.problem(Nature::Changes, "the flag `e` in its script runs a command");
                }
                b'w' => {
                    self.at += 1;
                    self.file(Usage::Write);
                    self.problem(Nature::Changes, "the flag `w` in its script writes a file");
                    return Some(());
                }
                _ => return self.end(),
            }
        }
    }
}
