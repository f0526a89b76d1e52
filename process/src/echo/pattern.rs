//! A text to look for, one byte at a time (Knuth, Morris, Pratt).

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

    pub(super) fn len(&self) -> usize {
        self.text.len()
    }

    /// How much is matched after one more byte, when `matched` was before it.
    pub(super) fn step(&self, mut matched: usize, byte: u8) -> usize {
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
    pub(super) fn undo_char(&self, matched: usize) -> usize {
        self.text[..self.text.floor_char_boundary(matched)].char_indices().next_back().map_or(0, |(at, _)| at)
    }
}
