//! The retained characters: blocks that are filled at the end and dropped whole at the start.

use std::collections::VecDeque;
use std::mem;
use std::ops::Range;

/// Bytes a block holds; old text goes block by block, so at most one block more than retained is in memory.
const BLOCK: usize = 4 * 1024;

/// Blocks for which room is made at a time: what a deque makes on its own is up to twice what is needed.
const GROWTH: usize = 16;

#[derive(Debug, Default)]
struct Block {
    text: String,
    chars: usize,
}

/// Text with absolute character offsets; also knows how many bytes the current line has.
#[derive(Debug, Default)]
pub(super) struct Log {
    /// Blocks that were filled.
    full: VecDeque<Block>,
    /// The block that is being filled.
    last: Block,
    /// The offset of the first character in memory.
    trimmed: u64,
    end: u64,
    line_bytes: usize,
    line_chars: usize,
    /// A block that became empty as the line was taken back: its next version goes there.
    spare: Option<Block>,
}

impl Log {
    pub(super) fn end(&self) -> u64 {
        self.end
    }

    /// Bytes of the current line that are in memory.
    pub(super) fn line_bytes(&self) -> usize {
        self.line_bytes
    }

    /// Makes the end the start of the current line.
    pub(super) fn mark_line(&mut self) {
        self.line_bytes = 0;
        self.line_chars = 0;
    }

    /// Appends text; returns whether a block was filled, so that there may be something to trim.
    #[inline]
    pub(super) fn push(&mut self, text: &str) -> bool {
        let block = &mut self.last;
        if text.len() > block.text.capacity() - block.text.len() {
            self.push_parts(text);
            return true;
        }
        let chars = if let &[byte] = text.as_bytes() {
            // A copy of one byte would cost a call.
            block.text.push(char::from(byte));
            1
        } else {
            block.text.push_str(text);
            count(text)
        };
        block.chars += chars;
        self.line_bytes += text.len();
        self.line_chars += chars;
        self.end += chars as u64;
        false
    }

    /// Appends text that does not fit in the last block.
    #[cold]
    fn push_parts(&mut self, mut text: &str) {
        loop {
            let room = self.last.text.capacity() - self.last.text.len();
            let (now, later) = text.split_at(text.floor_char_boundary(room));
            if !now.is_empty() {
                self.push(now);
            }
            if later.is_empty() {
                return;
            }
            let empty = self.spare.take().unwrap_or_else(|| Block { text: String::with_capacity(BLOCK), chars: 0 });
            let full = mem::replace(&mut self.last, empty);
            // The first one has no room at all.
            if full.chars > 0 {
                if self.full.len() == self.full.capacity() {
                    self.full.reserve_exact(GROWTH);
                }
                self.full.push_back(full);
            }
            text = later;
        }
    }

    /// Whether the `n`th byte from the end, counted from 1, is a printable ASCII character of the last block.
    #[inline]
    pub(super) fn ends_printable(&self, n: usize) -> bool {
        let bytes = self.last.text.as_bytes();
        bytes.len().checked_sub(n).and_then(|at| bytes.get(at)).is_some_and(|byte| matches!(byte, b' '..=b'~'))
    }

    /// Whether the last `n` bytes, which are in the last block, are spaces.
    pub(super) fn ends_blank(&self, n: usize) -> bool {
        self.last.text.as_bytes().iter().rev().take(n).all(|&byte| byte == b' ')
    }

    /// Puts ASCII text in the place of as many bytes of ASCII at the end, which are in the last block.
    #[inline]
    pub(super) fn replace_end(&mut self, text: &str) {
        let block = &mut self.last.text;
        block.truncate(block.len() - text.len());
        if let &[byte] = text.as_bytes() {
            block.push(char::from(byte & 0x7f));
        } else {
            block.push_str(text);
        }
    }

    /// Whether the current line is ASCII of that many bytes, all in the last block.
    #[inline]
    pub(super) fn line_is_ascii(&self, bytes: usize) -> bool {
        self.line_bytes == bytes && self.line_chars == bytes && self.last.text.len() >= bytes
    }

    pub(super) fn last_char(&self) -> Option<char> {
        let last = |block: &Block| block.text.chars().next_back();
        last(&self.last).or_else(|| self.full.iter().rev().find_map(last))
    }

    #[inline]
    pub(super) fn pop(&mut self) -> Option<char> {
        loop {
            if let Some(char) = self.last.text.pop() {
                self.last.chars -= 1;
                self.end -= 1;
                self.line_bytes = self.line_bytes.saturating_sub(char.len_utf8());
                self.line_chars = self.line_chars.saturating_sub(1);
                return Some(char);
            }
            if !self.drop_last() {
                return None;
            }
        }
    }

    /// Takes back the current line.
    #[inline]
    pub(super) fn truncate_line(&mut self) {
        let (mut bytes, mut chars) = (self.line_bytes, self.line_chars);
        self.end -= chars as u64;
        // Kept when it becomes empty, since the next version of the line goes there.
        while self.last.text.len() < bytes {
            bytes -= self.last.text.len();
            chars -= self.last.chars;
            if !self.drop_last() {
                break;
            }
        }
        self.last.text.truncate(self.last.text.len().saturating_sub(bytes));
        self.last.chars = self.last.chars.saturating_sub(chars);
        self.mark_line();
    }

    /// Takes back everything from the offset `to` on, which lies in the current line.
    pub(super) fn truncate(&mut self, to: u64) {
        while self.end > to && self.pop().is_some() {}
    }

    /// Shows the bytes of the current line from byte `from` of it on, part by part.
    pub(super) fn each_line_part(&self, from: usize, mut part: impl FnMut(&str)) {
        let mut left = self.line_bytes.saturating_sub(from);
        let (mut parts, mut skip) = (0, 0);
        for block in self.blocks().rev() {
            if left == 0 {
                break;
            }
            parts += 1;
            skip = block.text.len().saturating_sub(left);
            left = left.saturating_sub(block.text.len());
        }
        for block in self.blocks().skip(self.full.len() + 1 - parts) {
            part(&block.text[skip..]);
            skip = 0;
        }
    }

    fn blocks(&self) -> impl DoubleEndedIterator<Item = &Block> {
        self.full.iter().chain(std::iter::once(&self.last))
    }

    /// Drops whole blocks before the offset `start`.
    pub(super) fn trim(&mut self, start: u64) {
        while let Some(block) = self.full.front() {
            let next = self.trimmed + block.chars as u64;
            if next > start {
                return;
            }
            self.trimmed = next;
            self.full.pop_front();
            self.spare = None;
        }
    }

    /// Appends the characters from `from` to `to` to `out`.
    pub(super) fn copy(&self, from: u64, to: u64, out: &mut String) {
        let mut at = self.trimmed;
        for block in self.blocks() {
            let end = at + block.chars as u64;
            if end > from && at < to {
                let first = from.saturating_sub(at) as usize;
                let last = (to.min(end) - at) as usize;
                out.push_str(&block.text[block.byte_of(first)..block.byte_of(last)]);
            }
            at = end;
        }
    }

    /// Appends the last `lines` lines of `range`, which ends in the last block. A line feed at its very end opens no
    /// further line, unless more follows.
    pub(super) fn tail(&self, range: Range<u64>, lines: usize, more_follows: bool, out: &mut String) {
        if lines == 0 {
            return;
        }
        let mut feeds = 0;
        let mut at_end = !more_follows;
        let mut end = self.end;
        for block in self.blocks().rev() {
            let over = end.saturating_sub(range.end) as usize;
            let text = &block.text[..block.byte_of(block.chars - over)];
            for at in memchr::memrchr_iter(b'\n', text.as_bytes()) {
                if mem::take(&mut at_end) && at + 1 == text.len() {
                    continue;
                }
                feeds += 1;
                if feeds == lines {
                    let from = end.min(range.end) - count(&text[at + 1..]) as u64;
                    self.copy(from.max(range.start), range.end, out);
                    return;
                }
            }
            at_end &= text.is_empty();
            end -= block.chars as u64;
        }
        self.copy(range.start, range.end, out);
    }

    /// Goes back to the block before the last one, all of which was taken back.
    #[cold]
    fn drop_last(&mut self) -> bool {
        let Some(before) = self.full.pop_back() else {
            self.last.text.clear();
            self.last.chars = 0;
            return false;
        };
        let mut block = mem::replace(&mut self.last, before);
        block.text.clear();
        block.chars = 0;
        self.spare = Some(block);
        true
    }
}

impl Block {
    fn byte_of(&self, char: usize) -> usize {
        if self.chars == self.text.len() || char == 0 {
            return char;
        }
        if char == self.chars {
            return self.text.len();
        }
        self.text.char_indices().nth(char).map_or(self.text.len(), |(at, _)| at)
    }
}

/// Counts characters.
#[inline]
fn count(text: &str) -> usize {
    if text.is_ascii() { text.len() } else { text.chars().count() }
}
