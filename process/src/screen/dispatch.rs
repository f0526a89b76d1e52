//! What each control and sequence does to the screen (ECMA-48, VT510 and xterm `ctlseqs`).

use super::State;
use crate::parse::{Csi, Sink};

impl Sink for State {
    fn text(&mut self, text: &str) {
        self.print(text);
    }

    fn carriage_return(&mut self) {
        self.cursor.col = 0;
        self.cursor.wrap = false;
    }

    fn backspace(&mut self) {
        self.cursor.wrap = false;
        self.cursor.col = self.cursor.col.saturating_sub(1);
    }

    fn control(&mut self, byte: u8) {
        match byte {
            0x0b | 0x0c => self.line_feed(),
            0x0e => self.shifted = true,
            0x0f => self.shifted = false,
            _ => {}
        }
    }

    fn esc(&mut self, intermediates: &[u8], last: u8) {
        match (intermediates, last) {
            ([], b'7') => self.save_cursor(),
            ([], b'8') => self.restore_cursor(),
            ([], b'D') => self.index(),
            ([], b'E') => {
                self.cursor.col = 0;
                self.index();
            }
            ([], b'H') => self.tabs[self.cursor.col] = true,
            ([], b'M') => self.reverse_index(),
            ([], b'c') => self.reset(),
            ([b'#'], b'8') => self.alignment(),
            ([b'('], set) => self.graphic[0] = set == b'0',
            ([b')'], set) => self.graphic[1] = set == b'0',
            _ => {}
        }
    }

    fn csi(&mut self, csi: Csi<'_>, _end: usize) {
        let n = || usize::from(csi.param(0, 1));
        match csi.function() {
            (0, 0, b'm') => {}
            (0, 0, b'@') => self.insert_chars(n()),
            (0, 0, b'A') => self.up(n()),
            (0, 0, b'B' | b'e') => self.down(n()),
            (0, 0, b'C' | b'a') => self.go_col(self.cursor.col + n()),
            (0, 0, b'D') => self.go_col(self.cursor.col.saturating_sub(n())),
            (0, 0, b'E') => {
                self.down(n());
                self.go_col(0);
            }
            (0, 0, b'F') => {
                self.up(n());
                self.go_col(0);
            }
            (0, 0, b'G' | b'`') => self.go_col(n() - 1),
            (0, 0, b'H' | b'f') => self.go(n() - 1, usize::from(csi.param(1, 1)) - 1),
            (0, 0, b'd') => self.go(n() - 1, self.cursor.col),
            (0, 0, b'I') => self.tab_forward(n()),
            (0, 0, b'Z') => self.tab_backward(n()),
            (0 | b'?', 0, b'J') => self.erase_display(csi.param(0, 0)),
            (0 | b'?', 0, b'K') => self.erase_line(csi.param(0, 0)),
            (0, 0, b'L') => self.insert_lines(n()),
            (0, 0, b'M') => self.delete_lines(n()),
            (0, 0, b'P') => self.delete_chars(n()),
            (0, 0, b'X') => self.erase_chars(n()),
            (0, 0, b'S') => self.grid.scroll_up(self.top..=self.bottom, self.region(n())),
            // With more parameters this is highlight tracking.
            (0, 0, b'T') if csi.params().count() == 1 => {
                self.grid.scroll_down(self.top..=self.bottom, self.region(n()));
            }
            (0, 0, b'^') => self.grid.scroll_down(self.top..=self.bottom, self.region(n())),
            (0, 0, b'b') => self.repeat(n()),
            (0, 0, b'g') => self.clear_tabs(csi.param(0, 0)),
            (0, 0, b'h' | b'l') => self.modes(csi, Self::ansi_mode),
            (b'?', 0, b'h' | b'l') => self.modes(csi, Self::private_mode),
            (0, 0, b'r') => self.margins(csi),
            (0, 0, b's') => self.save_cursor(),
            (0, 0, b'u') => self.restore_cursor(),
            (0, b'!', b'p') => self.soft_reset(),
            _ => {}
        }
    }
}

impl State {
    fn modes(&mut self, csi: Csi<'_>, set: fn(&mut Self, u16, Set)) {
        let to = if csi.last() == b'h' { Set::On } else { Set::Off };
        for mode in csi.params().filter_map(|mut subs| subs.next()) {
            set(self, mode, to);
        }
    }

    fn ansi_mode(&mut self, mode: u16, set: Set) {
        match mode {
            4 => self.insert = set == Set::On,
            20 => self.new_line = set == Set::On,
            _ => {}
        }
    }

    fn private_mode(&mut self, mode: u16, set: Set) {
        let on = set == Set::On;
        match mode {
            6 => {
                self.origin = on;
                self.go(0, 0);
            }
            7 => {
                self.autowrap = on;
                self.cursor.wrap &= on;
            }
            47 => self.show_alternate(on),
            1047 => {
                if !on && self.alternate {
                    self.grid.erase_rows(0..self.rows);
                }
                self.show_alternate(on);
            }
            1048 if on => self.save_cursor(),
            1048 => self.restore_cursor(),
            1049 if on => {
                self.save_cursor();
                self.show_alternate(true);
                self.grid.erase_rows(0..self.rows);
            }
            1049 => {
                self.show_alternate(false);
                self.restore_cursor();
            }
            _ => {}
        }
    }

    /// Goes to a row and column, inside the margins in origin mode.
    fn go(&mut self, row: usize, col: usize) {
        self.cursor.row = if self.origin { (self.top + row).min(self.bottom) } else { row.min(self.rows - 1) };
        self.go_col(col);
    }

    fn go_col(&mut self, col: usize) {
        self.cursor.wrap = false;
        self.cursor.col = col.min(self.cols - 1);
    }

    fn up(&mut self, count: usize) {
        let stop = if self.cursor.row >= self.top { self.top } else { 0 };
        self.cursor.row = self.cursor.row.saturating_sub(count).max(stop);
        self.cursor.wrap = false;
    }

    fn down(&mut self, count: usize) {
        let stop = if self.cursor.row <= self.bottom { self.bottom } else { self.rows - 1 };
        self.cursor.row = (self.cursor.row + count).min(stop);
        self.cursor.wrap = false;
    }

    fn erase_display(&mut self, what: u16) {
        let row = self.cursor.row;
        match what {
            0 => {
                self.erase_line(0);
                self.grid.erase_rows(row + 1..self.rows);
            }
            1 => {
                self.erase_line(1);
                self.grid.erase_rows(0..row);
            }
            2 => self.grid.erase_rows(0..self.rows),
            _ => return,
        }
        self.cursor.wrap = false;
    }

    fn erase_line(&mut self, what: u16) {
        let (row, col) = (self.cursor.row, self.cursor.col);
        match what {
            0 => self.grid.erase(row, col..self.cols),
            1 => self.grid.erase(row, 0..col + 1),
            2 => self.grid.erase(row, 0..self.cols),
            _ => return,
        }
        self.cursor.wrap = false;
    }

    fn erase_chars(&mut self, count: usize) {
        let col = self.cursor.col;
        self.grid.erase(self.cursor.row, col..(col + count).min(self.cols));
        self.cursor.wrap = false;
    }

    fn insert_chars(&mut self, count: usize) {
        let count = count.min(self.cols - self.cursor.col);
        self.grid.insert_cells(self.cursor.row, self.cursor.col, count);
        self.cursor.wrap = false;
    }

    fn delete_chars(&mut self, count: usize) {
        let count = count.min(self.cols - self.cursor.col);
        self.grid.delete_cells(self.cursor.row, self.cursor.col, count);
        self.cursor.wrap = false;
    }

    fn insert_lines(&mut self, count: usize) {
        let row = self.cursor.row;
        if (self.top..=self.bottom).contains(&row) {
            self.grid.scroll_down(row..=self.bottom, count.min(self.bottom + 1 - row));
            self.go_col(0);
        }
    }

    fn delete_lines(&mut self, count: usize) {
        let row = self.cursor.row;
        if (self.top..=self.bottom).contains(&row) {
            self.grid.scroll_up(row..=self.bottom, count.min(self.bottom + 1 - row));
            self.go_col(0);
        }
    }

    /// A count of rows, at most those between the margins.
    fn region(&self, count: usize) -> usize {
        count.min(self.bottom + 1 - self.top)
    }

    fn margins(&mut self, csi: Csi<'_>) {
        let top = usize::from(csi.param(0, 1)) - 1;
        let bottom = match csi.param(1, 0) {
            0 => self.rows,
            bottom => usize::from(bottom).min(self.rows),
        } - 1;
        if top < bottom {
            (self.top, self.bottom) = (top, bottom);
            self.go(0, 0);
        }
    }

    fn clear_tabs(&mut self, what: u16) {
        match what {
            0 => self.tabs[self.cursor.col] = false,
            3 => self.tabs.fill(false),
            _ => {}
        }
    }

    /// DECALN: the screen full of E.
    fn alignment(&mut self) {
        (self.top, self.bottom, self.origin) = (0, self.rows - 1, false);
        for row in 0..self.rows {
            self.grid.fill(row, 0..self.cols, 'E');
        }
        self.go(0, 0);
    }
}

/// Whether a mode is set or reset.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Set {
    On,
    Off,
}
