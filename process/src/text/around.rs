//! Reading in two steps: looking at what comes next with what stands around it, then taking a part of it.

use super::{Cursor, Transcript};

/// What a read would return, and what stands around it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Around {
    /// The end of what was read before, as far as it is retained.
    pub before: String,
    /// What comes next.
    pub text: String,
    /// The beginning of what comes behind it.
    pub after: String,
    /// Characters before `text` that scrolled out unread.
    pub lost_chars: u64,
    /// The cursor that was looked from.
    from: u64,
    /// The offset of `text`.
    at: u64,
}

impl Transcript {
    /// Looks at what [`Transcript::read`] would return, with up to `context` characters on both sides. The text is
    /// frozen, what stands behind it is not.
    pub fn around(&mut self, cursor: &Cursor, max_chars: usize, context: usize) -> Around {
        let read = self.read_at(cursor.at, max_chars);
        let to = self.log.end() - read.remaining_chars;
        let at = cursor.at.clamp(self.start(), self.log.end());
        let mut around =
            Around { text: read.text, lost_chars: read.lost_chars, from: cursor.at, at, ..Around::default() };
        self.log.copy(at.saturating_sub(context as u64), at, &mut around.before);
        self.log.copy(to, to.saturating_add(context as u64), &mut around.after);
        around
    }

    /// Moves a cursor behind the first `chars` characters of what was looked at; `false`, and nothing moved, when it
    /// has moved meanwhile.
    pub fn take(&mut self, cursor: &mut Cursor, looked: &Around, chars: u64) -> bool {
        if cursor.at != looked.from {
            return false;
        }
        cursor.at = looked.at + chars;
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::Piece;

    #[test]
    fn a_part_is_taken_and_the_rest_comes_again() {
        let mut transcript = Transcript::new(100);
        transcript.push(Piece::Text("one two thrée four"));
        let mut cursor = transcript.cursor_at_start();
        let first = transcript.around(&cursor, 8, 4);
        assert_eq!((&*first.before, &*first.text, &*first.after), ("", "one two ", "thré"));
        assert!(transcript.take(&mut cursor, &first, 4));
        assert!(!transcript.take(&mut cursor, &first, 4), "it was taken already");
        let second = transcript.around(&cursor, 100, 3);
        assert_eq!((&*second.before, &*second.text, &*second.after), ("ne ", "two thrée four", ""));
        assert!(transcript.take(&mut cursor, &second, 14));
        assert_eq!(transcript.unread(&cursor), 0);
    }

    #[test]
    fn what_scrolled_out_is_lost_and_counted() {
        let mut transcript = Transcript::new(5);
        let mut cursor = transcript.cursor_at_start();
        transcript.push(Piece::Text("0123456789"));
        let around = transcript.around(&cursor, 3, 10);
        assert_eq!((&*around.text, &*around.after, around.lost_chars), ("567", "89", 5));
        assert!(transcript.take(&mut cursor, &around, 2));
        assert_eq!(transcript.read(&mut cursor, 10).text, "789");
    }

    #[test]
    fn what_is_looked_at_is_not_taken_back_and_what_is_behind_it_is() {
        let mut transcript = Transcript::new(100);
        transcript.push(Piece::Text("10%"));
        let mut cursor = transcript.cursor_at_start();
        let around = transcript.around(&cursor, 1, 10);
        assert_eq!(&*around.after, "0%");
        transcript.push(Piece::CarriageReturn);
        transcript.push(Piece::Text("20%"));
        assert!(transcript.take(&mut cursor, &around, 1));
        assert_eq!(transcript.read(&mut cursor, 10).text, "\n20%");
    }
}
