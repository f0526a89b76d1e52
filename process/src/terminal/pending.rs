//! Raw output that waits for a screen: bounded, by leaving out what would have scrolled away.

use std::ops::Range;

use crate::parse::Csi;
use crate::screen::{LineFeed, Screen, Size};
use crate::sys_vector::widest;

/// Bytes that may wait, at least; a large screen may need more.
const LIMIT: usize = 64 * 1024;

/// Bytes that may wait once they have to be shown in any case.
const LIMIT_MOVING: usize = 16 * 1024;

/// After this many more bytes it is looked at what can be left out, so that little waits while nothing comes.
const LOOK: usize = 4 * 1024;

/// Output since the screen was last fed.
#[derive(Debug)]
pub(super) struct Pending {
    bytes: Vec<u8>,
    /// Where each run of one kind of line feed ends.
    runs: Vec<(usize, LineFeed)>,
    /// Something moved the cursor out of its line other than by printing and line feeds.
    moving: bool,
    /// How many bytes at the end print a character of one column each, and nothing else.
    plain: usize,
    /// At how many bytes it is looked next.
    look_at: usize,
    limit: usize,
    cols: usize,
    rows: usize,
}

impl Pending {
    pub(super) fn new(size: Size) -> Self {
        let mut pending = Self {
            bytes: Vec::new(),
            runs: Vec::new(),
            moving: false,
            plain: 0,
            look_at: LOOK,
            limit: 0,
            cols: 0,
            rows: 0,
        };
        pending.set_size(size);
        pending
    }

    pub(super) fn set_size(&mut self, size: Size) {
        self.cols = size.cols.into();
        self.rows = size.rows.into();
        self.limit = LIMIT.max(self.cols * self.rows * 4);
    }

    pub(super) fn len(&self) -> usize {
        self.bytes.len()
    }

    /// Notes that what waits does more than write lines one after the other.
    pub(super) fn mark_moving(&mut self) {
        self.moving = true;
    }

    pub(super) fn push(&mut self, bytes: &[u8], line_feed: LineFeed) {
        self.plain = 0;
        if bytes.is_empty() {
            return;
        }
        self.bytes.extend_from_slice(bytes);
        match self.runs.last_mut() {
            Some((end, kind)) if *kind == line_feed => *end = self.bytes.len(),
            _ => self.runs.push((self.bytes.len(), line_feed)),
        }
    }

    /// Adds bytes of which [`is_plain`] holds, outside any sequence.
    pub(super) fn push_plain(&mut self, bytes: &[u8], line_feed: LineFeed) {
        let plain = self.plain + bytes.len();
        self.push(bytes, line_feed);
        self.plain = plain;
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
        self.plain = 0;
        self.rest();
    }

    /// Keeps what waits within its bound.
    pub(super) fn bound(&mut self, screen: &mut Screen) {
        if self.bytes.len() < self.look_at {
            return;
        }
        if self.moving || !screen.scrolls_plainly() {
            if self.bytes.len() > LIMIT_MOVING {
                self.flush(screen);
            }
        } else if let Some(cut) = self.lines_to_drop() {
            self.remove(0..cut);
            screen.skip_to_line_start();
        } else if let Some(wraps) = self.wraps_to_drop() {
            self.plain -= wraps.len();
            self.remove(wraps);
        } else if self.bytes.len() > self.limit {
            self.flush(screen);
        }
        self.rest();
    }

    /// Gives memory back, and looks again after more has come.
    fn rest(&mut self) {
        self.look_at = self.bytes.len() + LOOK;
        if self.bytes.capacity() > 2 * self.look_at {
            self.bytes.shrink_to(self.look_at);
        }
    }

    fn remove(&mut self, range: Range<usize>) {
        self.runs.retain_mut(|(end, _)| {
            *end -= range.len().min(end.saturating_sub(range.start));
            *end > 0
        });
        self.bytes.drain(range);
    }

    /// How many bytes at the start can be left out without a trace on the screen.
    ///
    /// That is so when only lines come, one after the other, and enough of them: from any row, as many line feeds as
    /// the screen has rows reach the bottom, and as many again scroll away every row that had something before.
    fn lines_to_drop(&self) -> Option<usize> {
        let feeds = memchr::memrchr_iter(b'\n', &self.bytes);
        feeds.skip(2 * self.rows).find(|&at| self.starts_line(at)).map(|at| at + 1)
    }

    /// Which bytes of a long line can be left out: whole rows of it, after which the cursor is in the same column, and
    /// behind which come as many as scroll away everything.
    fn wraps_to_drop(&self) -> Option<Range<usize>> {
        let rows = self.plain / self.cols;
        let dropped = rows.checked_sub(2 * self.rows + 1)?;
        let start = self.bytes.len() - self.plain;
        (dropped > 0).then_some(start..start + dropped * self.cols)
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

/// Whether all bytes print a character of one column each.
pub(super) fn is_plain(bytes: &[u8]) -> bool {
    let printable = |bytes: &[u8]| bytes.iter().fold(true, |all, byte| all & matches!(byte, 0x20..=0x7e));
    let (blocks, rest) = bytes.as_chunks::<64>();
    widest(|| blocks.iter().all(|block| printable(block))) && printable(rest)
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
