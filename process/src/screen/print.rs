//! Printing on the screen: text, wrapping, line feeds, tabs.

use super::{LineFeed, State};
use unicode_width::UnicodeWidthChar;

/// DEC special graphics for 0x60 to 0x7E (VT220 reference, table 2-4).
const GRAPHICS: [char; 31] = [
    '◆', '▒', '␉', '␌', '␍', '␊', '°', '±', '␤', '␋', '┘', '┐', '┌', '└', '┼', '⎺', '⎻', '─', '⎼', '⎽', '├', '┤', '┴',
    '┬', '│', '≤', '≥', 'π', '≠', '£', '·',
];

impl State {
    pub(super) fn print(&mut self, mut text: &str) {
        while !text.is_empty() {
            let bytes = text.as_bytes();
            match bytes[0] {
                b'\n' => {
                    self.line_feed();
                    text = &text[1..];
                }
                b'\t' => {
                    self.tab_forward(1);
                    text = &text[1..];
                }
                0x20..=0x7e if !self.insert && !self.charset_is_graphic() => {
                    let room = if self.cursor.wrap { 1 } else { self.cols - self.cursor.col };
                    let run = bytes.iter().take(room).take_while(|byte| matches!(byte, 0x20..=0x7e)).count();
                    self.print_ascii(&bytes[..run]);
                    text = &text[run..];
                }
                _ => {
                    let char = text.chars().next().expect("the text is not empty");
                    self.print_char(char);
                    text = &text[char.len_utf8()..];
                }
            }
        }
    }

    /// Prints characters of one column that fit in the row (or one, if a wrap is pending).
    fn print_ascii(&mut self, text: &[u8]) {
        self.wrap_if_pending();
        self.grid.put_ascii(self.cursor.row, self.cursor.col, text);
        self.advance(text.len());
        self.last = text.last().map(|&byte| char::from(byte));
    }

    pub(super) fn print_char(&mut self, char: char) {
        let char = match char {
            '\u{60}'..='\u{7e}' if self.charset_is_graphic() => GRAPHICS[char as usize - 0x60],
            _ => char,
        };
        let width = match char.width() {
            None => return,
            Some(0) => return self.print_mark(char),
            // A wide character that cannot fit in any column is shown in one.
            Some(width) => width.min(self.cols),
        };
        self.wrap_if_pending();
        if self.cursor.col + width > self.cols {
            if self.autowrap {
                self.cursor.col = 0;
                self.index();
            } else {
                self.cursor.col = self.cols - width;
            }
        }
        if self.insert {
            self.grid.insert_cells(self.cursor.row, self.cursor.col, width);
        }
        self.grid.put(self.cursor.row, self.cursor.col, char, width);
        self.advance(width);
        self.last = Some(char);
    }

    fn print_mark(&mut self, mark: char) {
        let col = if self.cursor.wrap { Some(self.cursor.col) } else { self.cursor.col.checked_sub(1) };
        if let Some(col) = col {
            self.grid.mark(self.cursor.row, col, mark);
        }
    }

    fn wrap_if_pending(&mut self) {
        if self.cursor.wrap && self.autowrap {
            self.cursor.col = 0;
            self.index();
        }
        self.cursor.wrap = false;
    }

    fn advance(&mut self, width: usize) {
        self.cursor.col += width;
        if self.cursor.col >= self.cols {
            self.cursor.col = self.cols - 1;
            self.cursor.wrap = self.autowrap;
        }
    }

    /// REP: prints the last character again. More than a screen full of it looks the same as a screen full.
    pub(super) fn repeat(&mut self, count: usize) {
        let Some(char) = self.last else { return };
        let narrow = char.width() == Some(1) && !self.insert && self.autowrap;
        let mut left = count.min(self.cols * self.rows);
        while left > 0 {
            if !narrow {
                self.print_char(char);
                left -= 1;
                continue;
            }
            self.wrap_if_pending();
            let run = left.min(self.cols - self.cursor.col);
            self.grid.fill(self.cursor.row, self.cursor.col..self.cursor.col + run, char);
            self.advance(run);
            left -= run;
        }
    }

    pub(super) fn line_feed(&mut self) {
        if self.new_line || (self.line_feed == LineFeed::NewLine && !self.alternate) {
            self.cursor.col = 0;
        }
        self.index();
    }

    /// IND: down, scrolling at the bottom margin.
    pub(super) fn index(&mut self) {
        self.cursor.wrap = false;
        if self.cursor.row == self.bottom {
            self.grid.scroll_up(self.top..=self.bottom, 1);
        } else if self.cursor.row + 1 < self.rows {
            self.cursor.row += 1;
        }
    }

    /// RI: up, scrolling at the top margin.
    pub(super) fn reverse_index(&mut self) {
        self.cursor.wrap = false;
        if self.cursor.row == self.top {
            self.grid.scroll_down(self.top..=self.bottom, 1);
        } else {
            self.cursor.row = self.cursor.row.saturating_sub(1);
        }
    }

    /// Goes to the `count`th tab stop on the right, or to the last column. A pending wrap stays, as in xterm.
    pub(super) fn tab_forward(&mut self, count: usize) {
        for _ in 0..count.min(self.cols) {
            let next = (self.cursor.col + 1..self.cols).find(|&col| self.tabs[col]);
            let Some(col) = next else {
                self.cursor.col = self.cols - 1;
                return;
            };
            self.cursor.col = col;
        }
    }

    pub(super) fn tab_backward(&mut self, count: usize) {
        self.cursor.wrap = false;
        for _ in 0..count.min(self.cols) {
            let Some(col) = (0..self.cursor.col).rev().find(|&col| self.tabs[col]) else {
                self.cursor.col = 0;
                return;
            };
            self.cursor.col = col;
        }
    }
}
