//! The rendered screen: a terminal emulator that keeps text, no colours and no scrollback.
//!
//! What xterm does is done, as far as it moves text: wrapping with a pending column, margins, the alternate screen,
//! inserting and deleting, wide characters, line drawing. Every parameter is clamped to the screen before it costs
//! anything, rows end where their text ends, and marks on a character are bounded: no sequence is an amplifier.

mod dispatch;
mod grid;
mod print;

use crate::parse::Parser;
use grid::Grid;

/// The largest number of columns and of rows.
pub const MAX_SIDE: u16 = 1000;

/// Columns and rows of a terminal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Size {
    /// Columns, 1 to [`MAX_SIDE`].
    pub cols: u16,
    /// Rows, 1 to [`MAX_SIDE`].
    pub rows: u16,
}

impl Default for Size {
    fn default() -> Self {
        Self { cols: 120, rows: 40 }
    }
}

impl Size {
    fn clamped(self) -> (usize, usize) {
        (self.cols.clamp(1, MAX_SIDE).into(), self.rows.clamp(1, MAX_SIDE).into())
    }
}

/// What a line feed does. The kernel's own translation (ONLCR) is off, so that who reads the terminal has to know.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum LineFeed {
    /// Down and to the first column: the program writes to a cooked terminal.
    #[default]
    NewLine,
    /// Down only: the program switched output processing off. Always so on the alternate screen.
    Index,
}

/// A place on the screen, counted from 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Position {
    /// Row from the top.
    pub row: usize,
    /// Column from the left.
    pub col: usize,
}

/// The screen at one moment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ScreenView {
    /// One string for each row, without blanks at its end.
    pub rows: Vec<String>,
    /// Where the cursor is.
    pub cursor: Position,
    /// Whether the alternate screen is on.
    pub alternate: bool,
    /// The size.
    pub size: Size,
}

/// A terminal emulator without colours and scrollback.
#[derive(Debug)]
pub struct Screen {
    parser: Parser,
    state: State,
}

impl Screen {
    /// Creates a blank screen; sides outside 1 to [`MAX_SIDE`] are brought inside.
    pub fn new(size: Size) -> Self {
        Self { parser: Parser::new(), state: State::new(size) }
    }

    /// Feeds the next bytes; may cut sequences and characters anywhere.
    pub fn feed(&mut self, bytes: &[u8], line_feed: LineFeed) {
        self.state.line_feed = line_feed;
        self.parser.feed(bytes, &mut self.state);
    }

    /// Changes the size. Text is not wrapped anew: columns are cut or added at the right; rows are cut at the bottom,
    /// or at the top if the cursor would be lost, and added at the bottom.
    pub fn resize(&mut self, size: Size) {
        self.state.resize(size);
    }

    /// Renders what is there.
    pub fn view(&self) -> ScreenView {
        let state = &self.state;
        ScreenView {
            rows: state.grid.render(),
            cursor: Position { row: state.cursor.row, col: state.cursor.col },
            alternate: state.alternate,
            size: state.size(),
        }
    }

    /// The size.
    pub fn size(&self) -> Size {
        self.state.size()
    }

    /// The cursor as a cursor position report gives it: from 1, and inside the margins in origin mode.
    pub(crate) fn reported_cursor(&self) -> (usize, usize) {
        let top = if self.state.origin { self.state.top } else { 0 };
        ((self.state.cursor.row + 1).saturating_sub(top).max(1), self.state.cursor.col + 1)
    }

    /// Whether plain text that scrolled far enough leaves nothing of what was before on this screen.
    pub(crate) fn scrolls_plainly(&self) -> bool {
        let state = &self.state;
        let whole = state.top == 0 && state.bottom + 1 == state.rows;
        whole && state.autowrap && !state.insert && !state.alternate && !state.charset_is_graphic()
    }

    /// Goes on at the start of a line, after output was left out that would have scrolled away.
    pub(crate) fn skip_to_line_start(&mut self) {
        self.parser = Parser::new();
        self.state.cursor.col = 0;
        self.state.cursor.wrap = false;
    }
}

/// The cursor; `wrap` is the pending wrap after a character in the last column.
#[derive(Debug, Clone, Copy, Default)]
struct Cursor {
    row: usize,
    col: usize,
    wrap: bool,
}

/// What DECSC keeps.
#[derive(Debug, Clone, Copy, Default)]
struct Saved {
    cursor: Cursor,
    origin: bool,
    graphic: [bool; 2],
    shifted: bool,
}

/// Everything the sequences change.
#[derive(Debug)]
struct State {
    cols: usize,
    rows: usize,
    grid: Grid,
    /// The grid of the screen that is not shown.
    other: Grid,
    alternate: bool,
    cursor: Cursor,
    /// For the main and the alternate screen.
    saved: [Saved; 2],
    top: usize,
    bottom: usize,
    origin: bool,
    autowrap: bool,
    insert: bool,
    new_line: bool,
    /// Whether G0 and G1 are the DEC special graphics.
    graphic: [bool; 2],
    /// Whether G1 is in use (SO).
    shifted: bool,
    tabs: Vec<bool>,
    /// The last printed character, for REP.
    last: Option<char>,
    line_feed: LineFeed,
}

impl State {
    fn new(size: Size) -> Self {
        let (cols, rows) = size.clamped();
        Self {
            cols,
            rows,
            grid: Grid::new(cols, rows),
            other: Grid::new(cols, rows),
            alternate: false,
            cursor: Cursor::default(),
            saved: [Saved::default(); 2],
            top: 0,
            bottom: rows - 1,
            origin: false,
            autowrap: true,
            insert: false,
            new_line: false,
            graphic: [false; 2],
            shifted: false,
            tabs: (0..cols).map(|col| col % 8 == 0).collect(),
            last: None,
            line_feed: LineFeed::default(),
        }
    }

    fn charset_is_graphic(&self) -> bool {
        self.graphic[usize::from(self.shifted)]
    }

    fn size(&self) -> Size {
        Size { cols: self.cols as u16, rows: self.rows as u16 }
    }

    fn resize(&mut self, size: Size) {
        let (cols, rows) = size.clamped();
        let cut = (self.cursor.row + 1).saturating_sub(rows);
        let main_row = self.saved[0].cursor.row;
        // The hidden main screen is anchored at the cursor it will get back.
        let other_cut = if self.alternate { (main_row + 1).saturating_sub(rows) } else { 0 };
        self.grid.resize(cols, rows, cut);
        self.other.resize(cols, rows, other_cut);
        self.cursor.row -= cut;
        self.cursor.col = self.cursor.col.min(cols - 1);
        self.cursor.wrap = false;
        for (n, saved) in self.saved.iter_mut().enumerate() {
            let cut = if self.alternate == (n == 1) { cut } else { other_cut };
            saved.cursor.row = saved.cursor.row.saturating_sub(cut).min(rows - 1);
            saved.cursor.col = saved.cursor.col.min(cols - 1);
            saved.cursor.wrap = false;
        }
        for col in self.tabs.len()..cols {
            self.tabs.push(col % 8 == 0);
        }
        (self.cols, self.rows, self.top, self.bottom) = (cols, rows, 0, rows - 1);
    }

    /// RIS: everything as at the start.
    fn reset(&mut self) {
        *self = Self { line_feed: self.line_feed, ..Self::new(self.size()) };
    }

    /// DECSTR: the modes as at the start, the text stays.
    fn soft_reset(&mut self) {
        (self.top, self.bottom) = (0, self.rows - 1);
        (self.origin, self.autowrap, self.insert) = (false, true, false);
        (self.graphic, self.shifted) = ([false; 2], false);
        self.saved[usize::from(self.alternate)] = Saved::default();
    }

    fn save_cursor(&mut self) {
        self.saved[usize::from(self.alternate)] =
            Saved { cursor: self.cursor, origin: self.origin, graphic: self.graphic, shifted: self.shifted };
    }

    fn restore_cursor(&mut self) {
        let saved = self.saved[usize::from(self.alternate)];
        self.cursor = saved.cursor;
        (self.origin, self.graphic, self.shifted) = (saved.origin, saved.graphic, saved.shifted);
    }

    fn show_alternate(&mut self, alternate: bool) {
        if self.alternate != alternate {
            self.alternate = alternate;
            std::mem::swap(&mut self.grid, &mut self.other);
        }
    }
}
