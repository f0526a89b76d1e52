//! Output and screens with secrets hidden, also those that two reads or two rows share.

use std::ops::Range;
use std::time::Duration;

use process::Session;
use process::screen::ScreenView;
use process::text::TextRead;
use tool_api::Mask;
use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// Characters that are looked at around what is read.
const CONTEXT: usize = 4096;
/// How long what may be the beginning of a secret is kept back for its end. A program that pauses longer in the middle
/// of a line has most likely said what it wanted to.
const PATIENCE: Duration = Duration::from_secs(2);

/// Reads at most `max_chars` characters, as the program printed them, and returns them with secrets hidden.
///
/// A secret is hidden as well when a part of it was read before, or is not read yet. While `more_comes`, what may be
/// the beginning of one at the very end stays unread for a moment; it is given once it went on, the program asks for
/// something or ends, or the moment is over.
pub(crate) fn read(session: &Session, max_chars: usize, more_comes: bool, mask: &dyn Mask) -> TextRead {
    let mut masked = String::new();
    let mut read = session.read_with(max_chars, CONTEXT, |around, paused| {
        let mut end = around.text.len();
        if more_comes && around.after.is_empty() && paused < PATIENCE {
            let seen = [around.before.as_str(), &around.text].concat();
            end -= mask.unfinished(&seen).min(end);
        }
        let after = [&around.text[end..], &around.after].concat();
        masked = mask.mask(&around.before, &around.text[..end], &after).into_owned();
        end
    });
    read.text = masked;
    read
}

/// Replaces each secret on a screen by as many columns of `*`. Rows that are full go on in the next one, as a terminal
/// wraps; each row is looked at by itself, too.
pub(crate) fn screen(mut view: ScreenView, mask: &dyn Mask) -> ScreenView {
    let cols = usize::from(view.size.cols);
    let joined = hidden(&view.rows, |row| row.width() < cols, mask);
    let apart = hidden(&view.rows, |_| true, mask);
    for (row, text) in view.rows.iter_mut().enumerate() {
        let ranges: Vec<&Range<usize>> = joined[row].iter().chain(&apart[row]).collect();
        if !ranges.is_empty() {
            *text = covered(text, &ranges);
        }
    }
    view
}

/// Returns what is to be hidden of each row, when a row that `ends` is followed by a line end.
fn hidden(rows: &[String], ends: impl Fn(&str) -> bool, mask: &dyn Mask) -> Vec<Vec<Range<usize>>> {
    let mut text = String::new();
    let mut starts = Vec::with_capacity(rows.len());
    for row in rows {
        starts.push(text.len());
        text.push_str(row);
        if ends(row) {
            text.push('\n');
        }
    }
    let mut hidden = vec![Vec::new(); rows.len()];
    for secret in mask.secrets("", &text, "") {
        let first = starts.partition_point(|start| *start <= secret.start).saturating_sub(1);
        for (row, start) in starts.iter().enumerate().skip(first) {
            if *start >= secret.end {
                break;
            }
            let from = secret.start.max(*start) - start;
            let to = (secret.end - start).min(rows[row].len());
            if from < to {
                hidden[row].push(from..to);
            }
        }
    }
    hidden
}

fn covered(row: &str, ranges: &[&Range<usize>]) -> String {
    let mut text = String::with_capacity(row.len());
    for (at, char) in row.char_indices() {
        if ranges.iter().any(|range| range.contains(&at)) {
            text.extend(std::iter::repeat_n('*', char.width().unwrap_or_default()));
        } else {
            text.push(char);
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use std::borrow::Cow;

    use process::screen::{Position, Size};

    use super::*;

    /// Hides what is between two `%`.
    #[derive(Debug)]
    struct Percent;

    impl Mask for Percent {
        fn mask<'t>(&self, _before: &str, text: &'t str, _after: &str) -> Cow<'t, str> {
            Cow::Borrowed(text)
        }

        fn secrets(&self, _before: &str, text: &str, _after: &str) -> Vec<Range<usize>> {
            let signs: Vec<usize> = text.match_indices('%').map(|(at, _)| at).collect();
            let pairs = signs.chunks_exact(2).map(|pair| pair[0]..pair[1] + 1);
            pairs.filter(|range| !text[range.clone()].contains('\n')).collect()
        }

        fn unfinished(&self, _text: &str) -> usize {
            0
        }
    }

    #[track_caller]
    fn check<const N: usize>(rows: [&str; N], masked: [&str; N]) {
        let rows = rows.map(str::to_owned).to_vec();
        let size = Size { cols: 6, rows: N as u16 };
        let view = ScreenView { rows, cursor: Position::default(), alternate: false, size };
        assert_eq!(screen(view, &Percent).rows, masked);
    }

    #[test]
    fn the_layout_stays() {
        check(["a %bc%", "", "d"], ["a ****", "", "d"]);
        check(["%日é%x"], ["*****x"]);
        check(["a %bcd", "efghij", "k% l"], ["a ****", "******", "** l"]);
        check(["a %b", "c% d"], ["a %b", "c% d"]);
    }
}
