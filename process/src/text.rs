//! The clean text of a command: folded lines, absolute character offsets, bounded retention, consuming cursors.
//!
//! Offsets count characters (Unicode scalar values) from the start of the stream and never go back for what somebody
//! has read: that is frozen, and a later version of its line follows on a new line. What nobody has read yet of the
//! current line can still be rewritten, by a carriage return or by backspaces.

mod around;
mod edit;
mod line;
mod lines;
mod log;

pub use around::Around;
pub use lines::Lines;

use crate::parse::{Csi, Parser, Sink};
use edit::Edit;
use line::Tail;
use log::Log;
use std::mem;
use unicode_width::UnicodeWidthChar;

/// Characters a transcript retains unless told otherwise.
pub const RETAINED_CHARS: usize = 256_000;

/// Characters of the current line that can still be rewritten; a longer line is kept, and its next version follows.
const LINE_CAP: u64 = 64 * 1024;

/// Characters that are put in the place of as many at once.
const LONGEST_COVERED: usize = 256;

/// A backspace goes back over a character with fewer marks than this.
const MARKS: usize = 64;

/// One piece of clean output as it comes, before lines are folded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Piece<'a> {
    /// Text without any control character but `\n` and `\t`. Never empty.
    Text(&'a str),
    /// A carriage return; in front of `\n` it means nothing.
    CarriageReturn,
    /// A backspace.
    Backspace,
}

/// A place in a transcript from which somebody reads on. Made by the transcript it belongs to.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Cursor {
    at: u64,
}

impl Cursor {
    /// The offset of the next character to read.
    pub fn offset(&self) -> u64 {
        self.at
    }
}

/// What one read returned.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TextRead {
    /// The text.
    pub text: String,
    /// Characters that are there behind it.
    pub remaining_chars: u64,
    /// Characters before it that scrolled out unread.
    pub lost_chars: u64,
}

/// Clean, folded, retained text.
#[derive(Debug)]
pub struct Transcript {
    log: Log,
    retained: u64,
    /// Columns of the terminal, or 0 for a pipe: where a line editor's own wrap is expected.
    cols: usize,
    /// Offset of the first character of the current line.
    line_start: u64,
    /// Nothing before this offset is taken back: somebody has it.
    frozen: u64,
    /// A carriage return came, and nothing printable yet.
    returned: bool,
    /// What of the current line stands behind the cursor, after backspaces.
    tail: Tail,
    /// Backspaces that came last and were not acted on yet, since most often as much is printed next as they go back.
    /// While there are some, `tail` is empty, and they go over printable ASCII that is in the last block of `log`.
    back: usize,
    /// How much of the current line was measured: bytes and columns.
    measured: (usize, usize),
}

impl Transcript {
    /// Creates an empty transcript that retains exactly the last `retained_chars` characters.
    pub fn new(retained_chars: usize) -> Self {
        Self {
            log: Log::default(),
            retained: retained_chars as u64,
            cols: 0,
            line_start: 0,
            frozen: 0,
            returned: false,
            tail: Tail::default(),
            back: 0,
            measured: (0, 0),
        }
    }

    /// Tells how many columns the terminal has, so that the wrap a line editor prints itself is undone; 0 for a pipe.
    pub fn set_cols(&mut self, cols: usize) {
        self.cols = cols;
    }

    /// Adds the next piece.
    pub fn push(&mut self, piece: Piece<'_>) {
        match piece {
            Piece::Text(text) => self.push_text(text),
            Piece::CarriageReturn => self.carriage_return(),
            Piece::Backspace => self.backspace(),
        }
    }

    /// Honours a sequence with which a line editor works on the line, once it went back in it. All others mean nothing
    /// to text.
    #[inline]
    pub(crate) fn sequence(&mut self, csi: Csi<'_>) {
        if self.back > 0 && Edit::of(csi).is_some() {
            self.go_back();
        }
        if !self.tail.is_empty()
            && !self.returned
            && let Some(edit) = Edit::of(csi)
        {
            self.edit(edit);
        }
    }

    /// Adds the next bytes of one stream. Two streams (stdout, stderr) share a transcript with a parser each.
    pub fn feed(&mut self, parser: &mut Parser, bytes: &[u8]) {
        parser.feed(bytes, &mut Fold(self));
    }

    /// Ends one stream that was added with [`Transcript::feed`].
    pub fn finish(&mut self, parser: &mut Parser) {
        parser.finish(&mut Fold(self));
    }

    /// Characters so far, also those that scrolled out.
    pub fn total_chars(&self) -> u64 {
        self.log.end() + self.tail.shown_chars() - self.hidden() as u64
    }

    /// How many characters at the end of `log` the backspaces of `back` erase, if nothing comes.
    fn hidden(&self) -> usize {
        if self.back > 0 && self.log.ends_blank(self.back) { self.back } else { 0 }
    }

    /// The offset of the oldest retained character.
    pub fn start(&self) -> u64 {
        self.total_chars().saturating_sub(self.retained)
    }

    /// A cursor at the oldest retained character.
    pub fn cursor_at_start(&self) -> Cursor {
        Cursor { at: self.start() }
    }

    /// A cursor behind everything so far; what is there is frozen, as if it had been read.
    pub fn cursor_at_end(&mut self) -> Cursor {
        self.settle();
        self.frozen = self.log.end();
        Cursor { at: self.frozen }
    }

    /// Reads at most `max_chars` characters from `cursor` on and moves it behind them.
    pub fn read(&mut self, cursor: &mut Cursor, max_chars: usize) -> TextRead {
        let read = self.read_at(cursor.at, max_chars);
        cursor.at = self.log.end() - read.remaining_chars;
        read
    }

    /// Reads at most `max_chars` characters from the absolute offset `at` on. What it returns is frozen.
    pub fn read_at(&mut self, at: u64, max_chars: usize) -> TextRead {
        self.settle();
        let (start, end) = (self.start(), self.log.end());
        let from = at.clamp(start, end);
        let to = end.min(from.saturating_add(max_chars as u64));
        let mut text = String::new();
        self.log.copy(from, to, &mut text);
        self.frozen = self.frozen.max(to);
        TextRead { text, remaining_chars: end - to, lost_chars: start.saturating_sub(at) }
    }

    /// Characters that `cursor` can still read.
    pub fn unread(&self, cursor: &Cursor) -> u64 {
        self.total_chars() - cursor.at.clamp(self.start(), self.total_chars())
    }

    /// The last `lines` lines, for a notice; nothing is consumed. A line feed at the very end opens no further line.
    pub fn tail(&self, lines: usize) -> String {
        let mut text = String::new();
        let start = self.start();
        self.log.tail(start..self.log.end() - self.hidden() as u64, lines, self.tail.shown_chars() > 0, &mut text);
        self.tail.copy(&mut text);
        text
    }

    #[inline]
    fn carriage_return(&mut self) {
        self.settle();
        self.returned = true;
    }

    #[inline]
    fn push_text(&mut self, text: &str) {
        if (self.back > 0 || self.returned) && self.covers(text) {
            (self.back, self.returned) = (0, false);
            self.log.replace_end(text);
        } else {
            self.add(text);
        }
    }

    /// Whether `text` is printed over as many characters, all that stand behind the cursor, and nothing is in its way:
    /// so it is with most progress bars.
    #[inline]
    fn covers(&self, text: &str) -> bool {
        let as_long = if self.back > 0 {
            text.len() == self.back
        } else {
            self.log.line_is_ascii(text.len())
                && self.frozen <= self.line_start
                && (self.cols == 0 || text.len() <= self.cols)
        };
        as_long && is_printable(text)
    }

    fn add(&mut self, text: &str) {
        self.go_back();
        if mem::take(&mut self.returned) && !text.starts_with('\n') {
            self.rewrite(text);
        }
        let text = if self.tail.is_empty() { text } else { self.overwrite(text) };
        let filled = match last_line_feed(text) {
            None => self.log.push(text),
            Some(at) => {
                let (lines, rest) = text.split_at(at + 1);
                let filled = self.log.push(lines);
                self.start_line();
                filled | (!rest.is_empty() && self.log.push(rest))
            }
        };
        if filled {
            self.trim();
        }
    }

    fn start_line(&mut self) {
        self.line_start = self.log.end();
        self.log.mark_line();
        self.measured = (0, 0);
    }

    /// Drops what can never be among the last `retained` characters again, also if the current line is taken back.
    fn trim(&mut self) {
        let end = self.log.end();
        let stable = if self.line_is_long() { end } else { self.line_start.max(self.frozen) };
        self.log.trim(stable.saturating_sub(self.retained));
    }

    fn line_is_long(&self) -> bool {
        self.log.end() - self.line_start > LINE_CAP
    }

    /// Starts the next version of the current line, of which `next` is the beginning.
    fn rewrite(&mut self, next: &str) {
        let end = self.log.end();
        if end == self.line_start || self.soft_wrap(next) {
            return;
        }
        if self.line_is_long() {
            self.log.push("\n");
        } else if self.frozen <= self.line_start {
            self.log.truncate_line();
        } else {
            self.log.truncate(self.frozen);
            self.log.push("\n");
        }
        self.start_line();
    }

    /// Undoes the wrap that a line editor prints itself at the right margin: one character into the next row to make
    /// the terminal wrap, then a carriage return, then what belongs there. readline prints a space, or the character
    /// that it prints again.
    fn soft_wrap(&mut self, next: &str) -> bool {
        // No character is wider than it has bytes.
        if self.cols == 0 || self.log.line_bytes() <= self.cols || self.log.end() <= self.frozen {
            return false;
        }
        let Some(last) = self.log.last_char() else {
            return false;
        };
        if last != ' ' && !next.starts_with(last) {
            return false;
        }
        let Some(width) = self.line_width() else {
            return false;
        };
        if width <= self.cols || width % self.cols != 1 % self.cols {
            return false;
        }
        self.pop();
        true
    }

    /// Columns of the current line, measured once a character; `None` when it is too long to be a line editor's.
    fn line_width(&mut self) -> Option<usize> {
        if self.line_is_long() {
            return None;
        }
        let (mut bytes, mut width) = self.measured;
        self.log.each_line_part(bytes, |part| {
            bytes += part.len();
            width += part.chars().map(columns).sum::<usize>();
        });
        self.measured = (bytes, width);
        Some(width)
    }

    #[inline]
    fn pop(&mut self) -> Option<char> {
        let last = self.log.pop()?;
        let left = self.log.line_bytes();
        if self.measured.0 > left {
            self.measured = (left, self.measured.1.saturating_sub(columns(last)));
        }
        Some(last)
    }

    #[inline]
    fn backspace(&mut self) {
        if self.returned {
            return;
        }
        let floor = self.line_start.max(self.frozen);
        if self.tail.is_empty()
            && self.log.end() - self.back as u64 > floor
            && !self.line_is_long()
            && self.log.ends_printable(self.back + 1)
        {
            self.back += 1;
            return;
        }
        self.go_back();
        self.go_back_once();
    }

    /// Acts on the backspaces that came.
    fn go_back(&mut self) {
        for _ in 0..mem::take(&mut self.back) {
            self.go_back_once();
        }
    }

    fn go_back_once(&mut self) {
        if self.tail.leave_half() {
            return;
        }
        let floor = self.line_start.max(self.frozen);
        let mut marks = 0;
        while self.log.end() > floor && !self.line_is_long() {
            let Some(last) = self.pop() else { return };
            self.tail.push(last);
            if columns(last) > 0 {
                return;
            }
            marks += 1;
            if marks == MARKS {
                // Nobody edits such a line; going to and fro over it would cost much for a few bytes.
                while marks > 0
                    && let Some(mark) = self.tail.pop()
                {
                    self.log.push(mark.encode_utf8(&mut [0; 4]));
                    marks -= 1;
                }
                return;
            }
        }
    }

    /// Makes `text` cover what stands behind the cursor; returns what of it is still to be added.
    fn overwrite<'t>(&mut self, text: &'t str) -> &'t str {
        for (at, char) in text.char_indices() {
            if self.tail.is_empty() {
                break;
            }
            if char == '\n' {
                self.log.push(&text[..at]);
                self.settle();
                return &text[at..];
            }
            self.tail.overwrite(columns(char));
        }
        text
    }

    /// Puts what stands behind the cursor back into the line: the cursor is forgotten.
    ///
    /// Only spaces are what erasing (`\b \b`) leaves: a terminal shows nothing there, and the line ends at the cursor.
    #[inline]
    fn settle(&mut self) {
        if self.back > 0 {
            self.go_back();
        }
        if !self.tail.is_empty() {
            self.put_back();
        }
    }

    fn put_back(&mut self) {
        if self.tail.is_blank() {
            self.tail.clear();
        }
        while let Some(char) = self.tail.pop() {
            self.log.push(char.encode_utf8(&mut [0; 4]));
        }
    }
}

/// Whether all of a text is printable ASCII. Only short texts are worth a look.
#[inline]
fn is_printable(text: &str) -> bool {
    let printable = |byte: &u8| matches!(byte, b' '..=b'~');
    match text.as_bytes() {
        [byte] => printable(byte),
        bytes => bytes.len() <= LONGEST_COVERED && bytes.iter().all(printable),
    }
}

/// The last line feed of a text; short texts are common, and not worth a vector search.
#[inline]
fn last_line_feed(text: &str) -> Option<usize> {
    let bytes = text.as_bytes();
    if bytes.len() < 32 { bytes.iter().rposition(|&byte| byte == b'\n') } else { memchr::memrchr(b'\n', bytes) }
}

#[inline]
fn columns(char: char) -> usize {
    if matches!(char, ' '..='~') {
        return 1;
    }
    char.width().unwrap_or(usize::from(char == '\t'))
}

/// Folds what a parser finds into a transcript.
struct Fold<'a>(&'a mut Transcript);

impl Sink for Fold<'_> {
    const TAKES_COLOURS: bool = false;

    fn text(&mut self, text: &str) {
        self.0.push_text(text);
    }

    fn carriage_return(&mut self) {
        self.0.carriage_return();
    }

    fn backspace(&mut self) {
        self.0.backspace();
    }

    fn csi(&mut self, csi: Csi<'_>, _end: usize) {
        self.0.sequence(csi);
    }
}
