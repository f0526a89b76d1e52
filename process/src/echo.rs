//! Waiting for a text in new output, but never in the echo of what was just typed.
//!
//! Each typed line masks its first occurrence; the next few that are expected are looked for at once, since one that
//! was typed with echo off never comes. What could still become such an occurrence is not believed yet.
//! All matching is one Knuth-Morris-Pratt step a byte, so the cost is linear and the memory that of the patterns.

mod pass;
mod pattern;

use crate::parse::{Csi, Parser, Sink};
use crate::text::Piece;
use pass::Pass;
use pattern::{Pattern, Progress};
use std::sync::Arc;

/// Lines that were typed, as they can be expected back.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Typed {
    lines: Vec<String>,
}

impl Typed {
    /// Takes apart what was typed.
    ///
    /// A control character ends a line too: it is echoed as `^X` by the kernel, as something else by a line editor,
    /// and the text on both sides is echoed in any case. Of a typed escape sequence nothing is expected back.
    pub fn new(input: &str) -> Self {
        let mut pieces = Pieces::default();
        Parser::new().feed(input.as_bytes(), &mut pieces);
        pieces.lines.retain(|line| !line.is_empty());
        Self { lines: pieces.lines }
    }
}

/// Collects the texts between controls and sequences.
#[derive(Default)]
struct Pieces {
    lines: Vec<String>,
}

impl Pieces {
    fn cut(&mut self) {
        self.lines.push(String::new());
    }
}

impl Sink for Pieces {
    fn text(&mut self, text: &str) {
        for (n, line) in text.split(['\n', '\t']).enumerate() {
            if n > 0 {
                self.cut();
            }
            match self.lines.last_mut() {
                Some(last) => last.push_str(line),
                None => self.lines.push(line.to_owned()),
            }
        }
    }

    fn carriage_return(&mut self) {
        self.cut();
    }

    fn backspace(&mut self) {
        self.cut();
    }

    fn control(&mut self, _byte: u8) {
        self.cut();
    }

    fn csi(&mut self, _csi: Csi<'_>, _end: usize) {
        self.cut();
    }

    fn esc(&mut self, _intermediates: &[u8], _last: u8) {
        self.cut();
    }
}

/// Watches new output for a text.
#[derive(Debug)]
pub struct TextWait {
    needle: Pattern,
    progress: Progress,
    first: Pass,
    second: Pass,
    second_allowed: bool,
    /// Bytes of output so far.
    at: u64,
    /// Where the first occurrence ended that may still turn out to be in an echo.
    doubtful: Option<u64>,
    returned: bool,
    /// The last byte was a space, which a line editor may print only to make the terminal wrap.
    space: bool,
    /// The last character, if it is in the current line.
    last: Option<char>,
    matched: bool,
}

impl TextWait {
    /// Starts to look for `needle` in what is pushed from now on. An empty needle is found at once.
    pub fn new(needle: &str) -> Self {
        let needle = needle.replace("\r\n", "\n");
        Self {
            matched: needle.is_empty(),
            needle: Pattern::new(&needle),
            progress: Progress::default(),
            first: Pass::default(),
            second: Pass::default(),
            second_allowed: false,
            at: 0,
            doubtful: None,
            returned: false,
            space: false,
            last: None,
        }
    }

    /// Masks the echo of lines that are about to be typed.
    pub fn expect_echo(&mut self, typed: &Typed) {
        for line in &typed.lines {
            self.first.expect(Arc::new(Pattern::new(line)));
        }
    }

    /// Lets each typed line be echoed once more: by the kernel when it was typed, and by a line editor that read it
    /// later.
    pub fn allow_second_echo(&mut self) {
        self.second_allowed = true;
    }

    /// Whether the text has come.
    pub fn is_matched(&self) -> bool {
        self.matched
    }

    /// Looks at the next piece of output; returns whether the text has come.
    pub fn push(&mut self, piece: Piece<'_>) -> bool {
        if self.matched {
            return true;
        }
        match piece {
            Piece::CarriageReturn => self.returned = true,
            Piece::Backspace => self.backspace(),
            Piece::Text(text) => self.text(text),
        }
        self.matched
    }

    fn text(&mut self, text: &str) {
        if std::mem::take(&mut self.returned) && !text.starts_with('\n') {
            self.line_return(text);
        }
        for byte in text.bytes() {
            self.byte(byte);
            if self.matched {
                return;
            }
        }
        self.last = text.chars().next_back();
    }

    fn byte(&mut self, byte: u8) {
        self.at += 1;
        self.space = byte == b' ';
        if self.progress.step(&self.needle, byte) {
            self.doubtful.get_or_insert(self.at);
        }
        if let Some(line) = self.first.step(byte) {
            self.second.expect(line);
            self.mask();
        } else if self.second_allowed && self.second.step(byte).is_some() {
            self.mask();
        } else {
            self.settle();
        }
    }

    /// An echo has just ended: what was in doubt was part of it, and nothing reaches across it.
    fn mask(&mut self) {
        self.doubtful = None;
        self.progress = Progress::default();
        self.first.restart();
        self.second.restart();
    }

    /// Believes what is in doubt as soon as no echo that could cover it can still come.
    fn settle(&mut self) {
        let Some(end) = self.doubtful else { return };
        let second = if self.second_allowed { self.second.reach(self.space) } else { 0 };
        let echo = self.at.saturating_sub(self.first.reach(self.space).max(second) as u64);
        self.matched = end <= echo;
    }

    /// The line is written anew from its start, or it is a line editor's own wrap at the right margin: a space, or
    /// the character that follows, printed once into the next row.
    fn line_return(&mut self, next: &str) {
        self.progress = Progress::default();
        self.space = false;
        match self.last.filter(|&last| last == ' ' || next.starts_with(last)) {
            Some(last) => {
                self.at = self.at.saturating_sub(last.len_utf8() as u64);
                self.first.undo_char();
                self.second.undo_char();
            }
            None => {
                // What was in doubt is gone with the line, whether it was an echo or not.
                self.doubtful = None;
                self.first.restart();
                self.second.restart();
            }
        }
        self.settle();
    }

    fn backspace(&mut self) {
        self.progress.undo_char(&self.needle);
        self.space = false;
        self.at = self.at.saturating_sub(self.last.take().map_or(1, |last| last.len_utf8() as u64));
        self.first.undo_char();
        self.second.undo_char();
        self.settle();
    }
}
