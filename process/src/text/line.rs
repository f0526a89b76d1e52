//! What stands behind the cursor in the current line, after backspaces: the far side of a gap buffer.

use super::columns;

/// The characters behind the cursor, nearest last.
#[derive(Debug, Default)]
pub(super) struct Tail {
    behind: Vec<char>,
    /// How many of them are no spaces.
    visible: usize,
    /// The cursor went back over one half of the wide character that stands right behind it.
    half: bool,
}

impl Tail {
    pub(super) fn is_empty(&self) -> bool {
        self.behind.is_empty()
    }

    pub(super) fn len(&self) -> usize {
        self.behind.len()
    }

    pub(super) fn is_blank(&self) -> bool {
        self.visible == 0
    }

    /// How many characters will be back in the line once the cursor is forgotten.
    pub(super) fn shown_chars(&self) -> u64 {
        if self.is_blank() { 0 } else { self.behind.len() as u64 }
    }

    pub(super) fn clear(&mut self) {
        self.behind.clear();
        self.visible = 0;
        self.half = false;
    }

    /// Takes a character over which the cursor went back.
    #[inline]
    pub(super) fn push(&mut self, char: char) {
        self.behind.push(char);
        self.visible += usize::from(char != ' ');
        self.half = columns(char) == 2;
    }

    /// Makes room in front of what stands there.
    pub(super) fn insert(&mut self, spaces: usize) {
        self.half = false;
        self.behind.extend(std::iter::repeat_n(' ', spaces));
    }

    /// Goes back over the second half of a wide character, if the cursor is inside one.
    pub(super) fn leave_half(&mut self) -> bool {
        std::mem::take(&mut self.half)
    }

    #[inline]
    pub(super) fn pop(&mut self) -> Option<char> {
        self.half = false;
        let char = self.behind.pop()?;
        self.visible -= usize::from(char != ' ');
        Some(char)
    }

    /// Forgets what a printed character of that many columns covers.
    #[inline]
    pub(super) fn overwrite(&mut self, width: usize) {
        let mut covered = 0;
        while covered < width {
            let Some(char) = self.pop() else { return };
            covered += columns(char);
            while self.behind.last().is_some_and(|&next| columns(next) == 0) {
                self.pop();
            }
        }
    }

    pub(super) fn copy(&self, text: &mut String) {
        if !self.is_blank() {
            text.extend(self.behind.iter().rev());
        }
    }
}
