//! One pass of echoes: the typed lines that are still expected.

use super::pattern::{Pattern, Progress};
use std::collections::VecDeque;
use std::sync::Arc;

/// How many of the expected lines are looked for at once.
const AHEAD: usize = 4;

#[derive(Debug)]
struct Expected {
    line: Arc<Pattern>,
    progress: Progress,
}

/// The lines still expected, in the order they were typed.
#[derive(Debug, Default)]
pub(super) struct Pass {
    lines: VecDeque<Expected>,
}

impl Pass {
    pub(super) fn expect(&mut self, line: Arc<Pattern>) {
        self.lines.push_back(Expected { line, progress: Progress::default() });
    }

    /// Takes the next byte; returns the line whose echo it ends.
    ///
    /// A later line waits while an earlier one may be on its way: it could be a part of it.
    pub(super) fn step(&mut self, byte: u8) -> Option<Arc<Pattern>> {
        let mut ended = None;
        let mut earlier = false;
        for (n, expected) in self.lines.iter_mut().take(AHEAD).enumerate() {
            if expected.progress.step(&expected.line, byte) && !earlier {
                ended = Some(n);
            }
            earlier |= expected.progress.reach(false) > 0;
        }
        self.lines.remove(ended?).map(|expected| expected.line)
    }

    /// Takes back the last character.
    pub(super) fn undo_char(&mut self) {
        for expected in self.lines.iter_mut().take(AHEAD) {
            expected.progress.undo_char(&expected.line);
        }
    }

    /// Forgets what has come of the lines, not the lines.
    pub(super) fn restart(&mut self) {
        for expected in self.lines.iter_mut().take(AHEAD) {
            expected.progress = Progress::default();
        }
    }

    /// How many bytes back the farthest start of what may still become an echo is; `doubt` if the last byte may yet be
    /// taken back.
    pub(super) fn reach(&self, doubt: bool) -> usize {
        self.lines.iter().take(AHEAD).map(|expected| expected.progress.reach(doubt)).max().unwrap_or(0)
    }
}
