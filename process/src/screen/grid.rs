//! Rows of cells. A row ends where its text ends, so that blank space costs nothing to keep, clear or move.

use std::collections::VecDeque;
use std::ops::{Range, RangeInclusive};

/// Marks (combining characters, joiners, selectors) kept on one character; more are dropped.
const MAX_MARKS: usize = 3;

/// In the right half of a wide character.
const RIGHT_HALF: char = '\0';

/// One column of one row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Cell {
    char: char,
    marks: [char; MAX_MARKS],
}

impl Cell {
    pub(super) const BLANK: Self = Self::new(' ');

    pub(super) const fn new(char: char) -> Self {
        Self { char, marks: ['\0'; MAX_MARKS] }
    }
}

/// The cells of one row up to its last text; what is behind is blank.
#[derive(Debug, Clone, Default)]
struct Row(Vec<Cell>);

/// The rows of one screen.
#[derive(Debug)]
pub(super) struct Grid {
    rows: VecDeque<Row>,
    cols: usize,
}

impl Grid {
    pub(super) fn new(cols: usize, rows: usize) -> Self {
        Self { rows: vec![Row::default(); rows].into(), cols }
    }

    pub(super) fn render(&self) -> Vec<String> {
        self.rows.iter().map(Row::render).collect()
    }

    /// Changes the size; `cut` rows go at the top.
    pub(super) fn resize(&mut self, cols: usize, rows: usize, cut: usize) {
        self.rows.drain(..cut.min(self.rows.len()));
        self.rows.resize(rows, Row::default());
        self.cols = cols;
        for row in &mut self.rows {
            if row.0.len() > cols {
                row.split_wide(cols);
                row.0.truncate(cols);
                row.0.shrink_to_fit();
            }
        }
    }

    /// Puts a character of `width` columns (1 or 2) at a column.
    pub(super) fn put(&mut self, row: usize, col: usize, char: char, width: usize) {
        let row = self.rows[row].open(col, col + width);
        row[col] = Cell::new(char);
        if width == 2 {
            row[col + 1] = Cell::new(RIGHT_HALF);
        }
    }

    /// Puts one-column characters from a column on; they fit.
    pub(super) fn put_ascii(&mut self, row: usize, col: usize, text: &[u8]) {
        let row = self.rows[row].open(col, col + text.len());
        for (cell, &byte) in row[col..].iter_mut().zip(text) {
            *cell = Cell::new(char::from(byte));
        }
    }

    /// Puts the same one-column character into a range of columns.
    pub(super) fn fill(&mut self, row: usize, cols: Range<usize>, char: char) {
        self.rows[row].open(cols.start, cols.end)[cols].fill(Cell::new(char));
    }

    /// Adds a mark to the character at or, for a right half, left of a column.
    pub(super) fn mark(&mut self, row: usize, col: usize, mark: char) {
        let cells = &mut self.rows[row].0;
        let col = match cells.get(col) {
            Some(cell) if cell.char == RIGHT_HALF => col - 1,
            Some(_) => col,
            None => return,
        };
        if let Some(free) = cells[col].marks.iter_mut().find(|free| **free == '\0') {
            *free = mark;
        }
    }

    pub(super) fn erase(&mut self, row: usize, cols: Range<usize>) {
        let row = &mut self.rows[row];
        row.split_wide(cols.start);
        row.split_wide(cols.end);
        if cols.end >= row.0.len() {
            row.0.truncate(cols.start);
        } else {
            row.0[cols].fill(Cell::BLANK);
        }
    }

    pub(super) fn erase_rows(&mut self, rows: Range<usize>) {
        for row in self.rows.range_mut(rows) {
            row.0.clear();
        }
    }

    /// Moves the text from a column on to the right; what leaves the row is lost.
    pub(super) fn insert_cells(&mut self, row: usize, col: usize, count: usize) {
        let cols = self.cols;
        let row = &mut self.rows[row];
        row.split_wide(col);
        if col >= row.0.len() {
            return;
        }
        row.split_wide(cols - count);
        row.0.truncate(cols - count);
        row.0.splice(col..col, std::iter::repeat_n(Cell::BLANK, count));
    }

    /// Removes cells at a column; the text behind them moves to the left.
    pub(super) fn delete_cells(&mut self, row: usize, col: usize, count: usize) {
        let row = &mut self.rows[row];
        row.split_wide(col);
        row.split_wide(col + count);
        let end = (col + count).min(row.0.len());
        if col < end {
            row.0.drain(col..end);
        }
    }

    /// Moves the rows of a region up by `count`; blank ones come in at its end.
    pub(super) fn scroll_up(&mut self, region: RangeInclusive<usize>, count: usize) {
        let (top, bottom) = region.into_inner();
        if top == 0 && bottom + 1 == self.rows.len() {
            self.rows.rotate_left(count);
        } else {
            self.rows.make_contiguous()[top..=bottom].rotate_left(count);
        }
        self.erase_rows(bottom + 1 - count..bottom + 1);
    }

    /// Moves the rows of a region down by `count`; blank ones come in at its start.
    pub(super) fn scroll_down(&mut self, region: RangeInclusive<usize>, count: usize) {
        let (top, bottom) = region.into_inner();
        if top == 0 && bottom + 1 == self.rows.len() {
            self.rows.rotate_right(count);
        } else {
            self.rows.make_contiguous()[top..=bottom].rotate_right(count);
        }
        self.erase_rows(top..top + count);
    }
}

impl Row {
    /// Makes the columns from `start` to `end` writable: no wide character reaches in from outside.
    fn open(&mut self, start: usize, end: usize) -> &mut [Cell] {
        self.split_wide(start);
        self.split_wide(end);
        if self.0.len() < end {
            self.0.resize(end, Cell::BLANK);
        }
        &mut self.0
    }

    /// Blanks a wide character that a border at `col` would cut in two.
    fn split_wide(&mut self, col: usize) {
        if self.0.get(col).is_some_and(|cell| cell.char == RIGHT_HALF) {
            self.0[col - 1] = Cell::BLANK;
            self.0[col] = Cell::BLANK;
        }
    }

    fn render(&self) -> String {
        let mut text = String::with_capacity(self.0.len());
        for cell in &self.0 {
            if cell.char == RIGHT_HALF {
                continue;
            }
            text.push(cell.char);
            text.extend(cell.marks.iter().take_while(|&&mark| mark != '\0'));
        }
        text.truncate(text.trim_end_matches(' ').len());
        text
    }
}
