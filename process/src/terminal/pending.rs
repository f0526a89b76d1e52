//! Raw output that waits for a screen: bounded, by leaving out what would have scrolled away.

use crate::parse::Csi;
use crate::screen::{LineFeed, Screen, Size};

/// Bytes that may wait, at least; a large screen may need more.
const LIMIT: usize = 64 * 1024;

/// Output since the screen was last fed.
#[derive(Debug)]
pub(super) struct Pending {
    bytes: Vec<u8>,
    /// Where each run of one kind of line feed ends.
    runs: Vec<(usize, LineFeed)>,
    /// Something moved the cursor out of its line other than by printing and line feeds.
    moving: bool,
    limit: usize,
    rows: usize,
}

impl Pending {
    pub(super) fn new(size: Size) -> Self {
        let mut pending = Self { bytes: Vec::new(), runs: Vec::new(), moving: false, limit: 0, rows: 0 };
        pending.set_size(size);
        pending
    }

    pub(super) fn set_size(&mut self, size: Size) {
        self.rows = size.rows.into();
        self.limit = LIMIT.max(usize::from(size.cols) * self.rows * 4);
    }

    pub(super) fn len(&self) -> usize {
        self.bytes.len()
    }

    /// Notes that what waits does more than write lines one after the other.
    pub(super) fn mark_moving(&mut self) {
        self.moving = true;
    }

    pub(super) fn push(&mut self, bytes: &[u8], line_feed: LineFeed) {
        if bytes.is_empty() {
            return;
        }
        self.bytes.extend_from_slice(bytes);
        match self.runs.last_mut() {
            Some((end, kind)) if *kind == line_feed => *end = self.bytes.len(),
            _ => self.runs.push((self.bytes.len(), line_feed)),
        }
    }

    /// Feeds the screen all that waits.
    pub(super) fn flush(&mut self, screen: &mut Screen) {
        let mut start = 0;
        for &(end, line_feed) in &self.runs {
            screen.feed(&self.bytes[start..end], line_feed);
            start = end;
        }
        self.bytes.clear();
        self.runs.clear();
        self.moving = false;
    }

    /// Keeps what waits within its bound.
    pub(super) fn bound(&mut self, screen: &mut Screen) {
        if self.bytes.len() <= self.limit {
            return;
        }
        match self.droppable(screen) {
            Some(cut) => {
                self.bytes.drain(..cut);
                self.runs.retain_mut(|(end, _)| {
                    *end = end.saturating_sub(cut);
                    *end > 0
                });
                screen.skip_to_line_start();
            }
            None => self.flush(screen),
        }
    }

    /// How many bytes can be left out without a trace on the screen.
    ///
    /// That is so when only lines come, one after the other, and enough of them: from any row, as many line feeds as
    /// the screen has rows reach the bottom, and as many again scroll away every row that had something before.
    fn droppable(&self, screen: &Screen) -> Option<usize> {
        if self.moving || !screen.scrolls_plainly() {
            return None;
        }
        let half = self.bytes.len() / 2;
        let cut =
            memchr::memchr_iter(b'\n', &self.bytes[half..]).map(|at| half + at).find(|&at| self.starts_line(at))? + 1;
        let feeds = memchr::memchr_iter(b'\n', &self.bytes[cut..]).take(2 * self.rows).count();
        (feeds == 2 * self.rows).then_some(cut)
    }

    /// Whether the cursor is in the first column after the line feed at `at`.
    fn starts_line(&self, at: usize) -> bool {
        let run = self.runs.iter().find(|&&(end, _)| at < end);
        match run {
            Some((_, LineFeed::NewLine)) => true,
            _ => at > 0 && self.bytes[at - 1] == b'\r',
        }
    }
}

/// Whether a sequence changes nothing but the current row and no mode of the screen.
pub(super) fn stays_in_line(csi: Csi<'_>) -> bool {
    match csi.function() {
        (0, 0, b'm' | b'K' | b'X' | b'P' | b'@' | b'C' | b'D' | b'G' | b'a' | b'`' | b'c' | b'n') => true,
        (b'?', 0, b'h' | b'l') => {
            csi.params().filter_map(|mut subs| subs.next()).all(|mode| !matches!(mode, 6 | 7 | 47 | 1047..=1049))
        }
        (b'?', 0, b'K' | b'n') | (b'?', b'$', b'p') | (b'>', 0, _) => true,
        _ => false,
    }
}

/// The same for an escape sequence: the keypad modes, and ASCII as the character set.
pub(super) fn stays_in_line_esc(intermediates: &[u8], last: u8) -> bool {
    matches!((intermediates, last), ([], b'=' | b'>' | b'\\') | ([b'('], b'B'))
}
