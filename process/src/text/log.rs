//! The retained characters: blocks that are filled at the end and dropped whole at the start.

use std::collections::VecDeque;

/// Bytes a block holds; old text goes block by block, so at most one block more than retained is in memory.
const BLOCK: usize = 4 * 1024;

#[derive(Debug, Default)]
struct Block {
    text: String,
    chars: usize,
}

/// Text with absolute character offsets; also knows how many bytes the current line has.
#[derive(Debug, Default)]
pub(super) struct Log {
    blocks: VecDeque<Block>,
    /// The offset of the first character in memory.
    trimmed: u64,
    end: u64,
    line_bytes: usize,
    line_chars: usize,
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
        match self.blocks.back_mut() {
            Some(block) if block.text.len() + text.len() <= BLOCK => {
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
            _ => {
                self.push_parts(text);
                true
            }
        }
    }

    /// Appends text that does not fit in the last block.
    #[cold]
    fn push_parts(&mut self, mut text: &str) {
        while !text.is_empty() {
            let room = self.blocks.back().map_or(0, |block| BLOCK - block.text.len());
            let (now, later) = text.split_at(text.floor_char_boundary(room));
            if now.is_empty() {
                let block = self.spare.take();
                self.blocks.push_back(block.unwrap_or_else(|| Block { text: String::with_capacity(BLOCK), chars: 0 }));
                continue;
            }
            self.push(now);
            text = later;
        }
    }

    pub(super) fn last_char(&self) -> Option<char> {
        self.blocks.iter().rev().find_map(|block| block.text.chars().next_back())
    }

    #[inline]
    pub(super) fn pop(&mut self) -> Option<char> {
        while let Some(block) = self.blocks.back_mut() {
            if let Some(char) = block.text.pop() {
                block.chars -= 1;
                self.end -= 1;
                self.line_bytes = self.line_bytes.saturating_sub(char.len_utf8());
                self.line_chars = self.line_chars.saturating_sub(1);
                return Some(char);
            }
            self.drop_back();
        }
        None
    }

    /// Takes back the current line.
    pub(super) fn truncate_line(&mut self) {
        let (mut bytes, mut chars) = (self.line_bytes, self.line_chars);
        self.end -= chars as u64;
        while bytes > 0 {
            let Some(block) = self.blocks.back_mut() else { break };
            // Kept when it becomes empty, since the next version of the line goes there.
            if block.text.len() >= bytes {
                block.text.truncate(block.text.len() - bytes);
                block.chars -= chars;
                break;
            }
            bytes -= block.text.len();
            chars -= block.chars;
            self.drop_back();
        }
        self.mark_line();
    }

    /// Takes back everything from the offset `to` on, which lies in the current line.
    pub(super) fn truncate(&mut self, to: u64) {
        while self.end > to && self.pop().is_some() {}
    }

    /// Shows the bytes of the current line from byte `from` of it on, part by part.
    pub(super) fn each_line_part(&self, from: usize, mut part: impl FnMut(&str)) {
        let mut left = self.line_bytes.saturating_sub(from);
        let mut first = self.blocks.len();
        while left > 0 && first > 0 {
            first -= 1;
            let len = self.blocks[first].text.len();
            if len >= left {
                part(&self.blocks[first].text[len - left..]);
                first += 1;
                break;
            }
            left -= len;
        }
        for block in self.blocks.iter().skip(first) {
            part(&block.text);
        }
    }

    /// Drops whole blocks before the offset `start`.
    pub(super) fn trim(&mut self, start: u64) {
        while let Some(block) = self.blocks.front() {
            let next = self.trimmed + block.chars as u64;
            if next > start || self.blocks.len() == 1 {
                return;
            }
            self.trimmed = next;
            if let Some(mut block) = self.blocks.pop_front() {
                block.text.clear();
                block.chars = 0;
                self.spare = Some(block);
            }
        }
    }

    /// Appends the characters from `from` to `to` to `out`.
    pub(super) fn copy(&self, from: u64, to: u64, out: &mut String) {
        let mut at = self.trimmed;
        for block in &self.blocks {
            let end = at + block.chars as u64;
            if end > from && at < to {
                let first = from.saturating_sub(at) as usize;
                let last = (to.min(end) - at) as usize;
                out.push_str(&block.text[block.byte_of(first)..block.byte_of(last)]);
            }
            at = end;
        }
    }

    /// Appends the last `lines` lines, but nothing before the offset `start`.
    pub(super) fn tail(&self, start: u64, lines: usize, out: &mut String) {
        if lines == 0 {
            return;
        }
        let mut feeds = 0;
        let mut first_seen = true;
        for (n, block) in self.blocks.iter().enumerate().rev() {
            for at in memchr::memrchr_iter(b'\n', block.text.as_bytes()) {
                let at_very_end = first_seen && at + 1 == block.text.len();
                first_seen = false;
                if at_very_end {
                    continue;
                }
                feeds += 1;
                if feeds == lines {
                    let from = self.offset_of(n, at + 1).max(start);
                    self.copy(from, self.end, out);
                    return;
                }
            }
            first_seen &= block.text.is_empty();
        }
        self.copy(start, self.end, out);
    }

    fn offset_of(&self, block: usize, byte: usize) -> u64 {
        let before: usize = self.blocks.iter().take(block).map(|block| block.chars).sum();
        self.trimmed + (before + self.blocks[block].text[..byte].chars().count()) as u64
    }

    fn drop_back(&mut self) {
        if let Some(mut block) = self.blocks.pop_back() {
            block.text.clear();
            block.chars = 0;
            self.spare = Some(block);
        }
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
