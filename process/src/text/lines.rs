//! Whole lines of the output as it comes, whatever anybody reads: what a monitor judges.

use super::Piece;

/// Bytes after which a line without a line feed is handed on as it is.
const CAP: usize = 8 * 1024;

/// Puts pieces together to lines. Of a line that is rewritten only the last version counts.
#[derive(Debug, Default)]
pub struct Lines {
    line: String,
    returned: bool,
    /// The line was handed on at the cap; what follows up to its line feed is a part of it.
    cut: bool,
}

impl Lines {
    /// Creates a collector at the start of a line.
    pub fn new() -> Self {
        Self::default()
    }

    /// Takes the next piece and hands on each line that it ends, without its line feed, and each part of one that
    /// has reached 8 KiB.
    pub fn push(&mut self, piece: Piece<'_>, mut line: impl FnMut(&str)) {
        match piece {
            Piece::CarriageReturn => self.returned = true,
            Piece::Backspace if self.returned => {}
            Piece::Backspace => {
                self.line.pop();
            }
            Piece::Text(text) => {
                for part in text.split_inclusive('\n') {
                    self.part(part, &mut line);
                }
            }
        }
    }

    /// Hands on the line that the output ended with, if it has no line feed.
    pub fn finish(&mut self, mut line: impl FnMut(&str)) {
        if !self.line.is_empty() {
            line(&self.line);
        }
        *self = Self::default();
    }

    fn part(&mut self, part: &str, line: &mut impl FnMut(&str)) {
        let (mut text, ended) = match part.strip_suffix('\n') {
            Some(text) => (text, true),
            None => (part, false),
        };
        if std::mem::take(&mut self.returned) && !text.is_empty() {
            self.line.clear();
        }
        while self.line.len() + text.len() >= CAP {
            let (now, later) = text.split_at(text.floor_char_boundary(CAP - self.line.len()));
            self.line.push_str(now);
            line(&self.line);
            self.line.clear();
            self.cut = true;
            text = later;
        }
        self.line.push_str(text);
        if ended {
            // The end of a line that was cut exactly there is no line of its own.
            if !(self.cut && self.line.is_empty()) {
                line(&self.line);
            }
            self.line.clear();
            self.cut = false;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parse::{Parser, Sink};

    struct Collect(Lines, Vec<String>);

    impl Sink for Collect {
        fn text(&mut self, text: &str) {
            self.0.push(Piece::Text(text), |line| self.1.push(line.to_owned()));
        }

        fn carriage_return(&mut self) {
            self.0.push(Piece::CarriageReturn, |line| self.1.push(line.to_owned()));
        }

        fn backspace(&mut self) {
            self.0.push(Piece::Backspace, |line| self.1.push(line.to_owned()));
        }
    }

    #[track_caller]
    fn check(input: &str, expected: &[&str]) {
        for size in [1, 7, input.len().max(1)] {
            let (mut parser, mut collect) = (Parser::new(), Collect(Lines::new(), Vec::new()));
            for chunk in input.as_bytes().chunks(size) {
                parser.feed(chunk, &mut collect);
            }
            parser.finish(&mut collect);
            let Collect(mut lines, mut found) = collect;
            lines.finish(|line| found.push(line.to_owned()));
            assert_eq!(found, expected, "in chunks of {size}");
        }
    }

    #[test]
    fn whole_lines() {
        check("", &[]);
        check("a\nb\r\n\nc", &["a", "b", "", "c"]);
        check("10%\r20%\r30%\nx\r\n", &["30%", "x"]);
        check("ab\x08c\r\r\n", &["ac"]);
        check("\x1b[31mred\x1b[0m\n", &["red"]);
    }

    #[test]
    fn long_lines_come_in_parts() {
        let full = "x".repeat(CAP);
        check(&format!("{full}\n"), &[&full]);
        check(&format!("{full}y\nz"), &[&full, "y", "z"]);
        let wide = "日".repeat(CAP / 3);
        check(&format!("{wide}日日\n"), &[&wide, "日日"]);
    }
}
