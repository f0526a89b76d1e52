//! A text to look for, one byte at a time (Knuth, Morris, Pratt).

/// How much of a pattern the last bytes match.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Progress {
    matched: usize,
    /// The same in front of the last character, for when that is taken back.
    before: usize,
}

impl Progress {
    /// Takes the next byte; returns whether the whole pattern is matched now.
    pub(super) fn step(&mut self, pattern: &Pattern, byte: u8) -> bool {
        if byte & 0xc0 != 0x80 {
            self.before = self.matched;
        }
        self.matched = pattern.step(self.matched, byte);
        self.matched == pattern.len()
    }

    /// Takes back the last character; of those before it, only what is certain still counts.
    pub(super) fn undo_char(&mut self, pattern: &Pattern) {
        self.matched = self.before;
        self.before = pattern.undo_char(self.before);
    }

    /// How far back what may still become the pattern reaches; `doubt` if the last byte may yet be taken back.
    pub(super) fn reach(self, doubt: bool) -> usize {
        if doubt && self.before > 0 { self.matched.max(self.before + 1) } else { self.matched }
    }
}

/// A text and where to go on after a mismatch.
#[derive(Debug)]
pub(super) struct Pattern {
    text: String,
    /// For each length matched so far, the length of the next shorter start that also matches.
    fallback: Vec<u32>,
}

impl Pattern {
    pub(super) fn new(text: &str) -> Self {
        let bytes = text.as_bytes();
        let mut fallback = vec![0u32; bytes.len() + 1];
        let mut matched = 0;
        for at in 1..bytes.len() {
            while matched > 0 && bytes[at] != bytes[matched] {
                matched = fallback[matched] as usize;
            }
            if bytes[at] == bytes[matched] {
                matched += 1;
            }
            fallback[at + 1] = matched as u32;
        }
        Self { text: text.to_owned(), fallback }
    }

    fn len(&self) -> usize {
        self.text.len()
    }

    /// How much is matched after one more byte, when `matched` was before it.
    fn step(&self, mut matched: usize, byte: u8) -> usize {
        let bytes = self.text.as_bytes();
        if matched == bytes.len() {
            matched = self.fallback[matched] as usize;
        }
        while matched > 0 && bytes.get(matched) != Some(&byte) {
            matched = self.fallback[matched] as usize;
        }
        matched + usize::from(bytes.get(matched) == Some(&byte))
    }

    /// How much is surely matched when the last character is taken back.
    fn undo_char(&self, matched: usize) -> usize {
        self.text[..self.text.floor_char_boundary(matched)].char_indices().next_back().map_or(0, |(at, _)| at)
    }
}
