//! Finding the end of plain text, many bytes at a time and without `unsafe`.

use crate::sys_vector::{ascii, widest};

/// Bytes that are looked at together.
const BLOCK: usize = 64;

/// Whether a byte is a control that is no text.
#[inline(always)]
pub(super) const fn is_control(byte: u8) -> bool {
    (byte < 0x20 && byte != b'\t' && byte != b'\n') || byte == 0x7f
}

#[inline(always)]
const fn is_special(byte: u8) -> bool {
    is_control(byte) || byte == 0xc2
}

/// How many blocks at the start have no byte that `matters`. Branch-free in a block, so that the compiler uses vectors.
#[inline(always)]
fn blocks_without(bytes: &[u8], matters: impl Fn(u8) -> bool) -> usize {
    let none = |block: &&[u8; BLOCK]| block.iter().fold(0, |any, &byte| any | u8::from(matters(byte))) == 0;
    bytes.as_chunks::<BLOCK>().0.iter().take_while(none).count()
}

const ONES: u64 = 0x0101_0101_0101_0101;
const LOW: u64 = 0x7f7f_7f7f_7f7f_7f7f;
const HIGH: u64 = 0x8080_8080_8080_8080;

/// The high bit of every byte of `word` that equals `byte`; exact, no carry crosses a byte.
pub(super) const fn equal(word: u64, byte: u8) -> u64 {
    let x = word ^ (ONES * byte as u64);
    !(((x & LOW) + LOW) | x) & HIGH
}

/// The high bit of every special byte of `word`.
const fn special(word: u64) -> u64 {
    let control = !(((word & LOW) + ONES * 0x60) | word) & HIGH;
    (control & !equal(word, b'\t') & !equal(word, b'\n')) | equal(word, 0x7f) | equal(word, 0xc2)
}

/// The high bit of every byte of `word` that is no ASCII text.
#[inline(always)]
pub(super) const fn no_ascii_text(word: u64) -> u64 {
    let low = word & LOW;
    // Sums reach the high bit from a certain byte on: 0x20, 0x09, 0x0B and 0x7F.
    let line_or_tab = (low + ONES * 0x77) & !(low + ONES * 0x75);
    ((!(low + ONES * 0x60) & !line_or_tab) | (low + ONES) | word) & HIGH
}

/// The high bit of every byte of `word` that is no parameter byte (0x30 to 0x3B) of a sequence.
#[inline(always)]
pub(super) const fn no_params(word: u64) -> u64 {
    let digits = word ^ (ONES * 0x30);
    (((digits & LOW) + ONES * 0x74) | digits) & HIGH
}

/// The index at or after `at` of the first special byte.
fn next_special(bytes: &[u8], mut at: usize) -> usize {
    // Short runs are common between colours: a few words first, then vectors.
    let mut words = 0;
    loop {
        let rest = &bytes[at..];
        if words >= 4 {
            let blocks = widest(|| blocks_without(rest, is_special));
            at += blocks * BLOCK;
            // The hit is in the next block, or fewer bytes than that are left.
            words = -8;
            if blocks == 0 && rest.len() < BLOCK {
                words = i32::MIN;
            }
            continue;
        }
        let Some(word) = rest.first_chunk::<8>() else {
            return rest.iter().position(|&byte| is_special(byte)).map_or(bytes.len(), |n| at + n);
        };
        let found = special(u64::from_le_bytes(*word));
        if found != 0 {
            return at + (found.trailing_zeros() / 8) as usize;
        }
        at += 8;
        words += 1;
    }
}

/// The end of the run of text that starts at `at`: the next control, or the 0xC2 of a C1 control.
///
/// A 0xC2 that is the last byte belongs to the run, as a cut character.
pub(super) fn plain_run(bytes: &[u8], at: usize) -> usize {
    let mut from = at;
    loop {
        let end = next_special(bytes, from);
        match bytes.get(end) {
            Some(0xc2) if !matches!(bytes.get(end + 1), Some(0x80..=0x9f)) => from = end + 1,
            _ => return end,
        }
    }
}

/// Each printable ASCII character.
static LETTERS: [&str; 95] = {
    let mut rest = " !\"#$%&'()*+,-./0123456789:;<=>?@ABCDEFGHIJKLMNOPQRSTUVWXYZ[\\]^_`abcdefghijklmnopqrstuvwxyz{|}~";
    let mut letters = [""; 95];
    let mut at = 0;
    while at < letters.len() {
        (letters[at], rest) = rest.split_at(1);
        at += 1;
    }
    letters
};

/// A run of one printable ASCII character in front of a control; finding and checking a run costs many times that.
#[inline]
pub(super) fn lone_letter(bytes: &[u8]) -> Option<&'static str> {
    match *bytes {
        [letter, next, ..] if is_control(next) => LETTERS.get(usize::from(letter).wrapping_sub(0x20)).copied(),
        _ => None,
    }
}

/// A run of a few ASCII characters in front of a control; `None` if it is anything else.
#[inline]
pub(super) fn short_run(bytes: &[u8]) -> Option<&str> {
    let word = bytes.first_chunk::<8>()?;
    let len = (no_ascii_text(u64::from_le_bytes(*word)).trailing_zeros() / 8) as usize;
    if word.get(len)? < &0x80 { ascii(word, len) } else { None }
}

/// How many bytes at the end of `run` are the start of a UTF-8 character that is not whole.
pub(super) fn cut_character(run: &[u8]) -> usize {
    for back in 1..=run.len().min(3) {
        let byte = run[run.len() - back];
        if byte < 0x80 {
            return 0;
        }
        if byte >= 0xc0 {
            let tail = &run[run.len() - back..];
            let cut =
                std::str::from_utf8(tail).is_err_and(|error| error.valid_up_to() == 0 && error.error_len().is_none());
            return if cut { back } else { 0 };
        }
    }
    0
}

/// The index of the first byte in `bytes` that can matter inside a control string: a C0 control or 0xC2.
pub(super) fn string_run(bytes: &[u8]) -> usize {
    let matters = |byte: u8| byte < 0x20 || byte == 0xc2;
    let at = widest(|| blocks_without(bytes, matters)) * BLOCK;
    bytes[at..].iter().position(|&byte| matters(byte)).map_or(bytes.len(), |n| at + n)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_byte_is_found_at_every_place() {
        for byte in 0..=255u8 {
            for len in [1, 7, 8, 9, 40, 63, 64, 65, 130, 300] {
                for place in [0, len / 3, len / 2, len - 1] {
                    let mut bytes = vec![b'a'; len];
                    bytes[place] = byte;
                    let expected = if is_special(byte) { place } else { len };
                    assert_eq!(next_special(&bytes, 0), expected, "byte {byte:#x} at {place} of {len}");
                }
            }
        }
    }

    #[test]
    fn lone_letters_are_themselves() {
        for byte in 0..=255u8 {
            let printable = (0x20..=0x7e).contains(&byte);
            let text = [byte];
            let expected = if printable { std::str::from_utf8(&text).ok() } else { None };
            assert_eq!(lone_letter(&[byte, b'\r']), expected);
            assert_eq!(lone_letter(&[byte, b'a']), None);
            assert_eq!(lone_letter(&[byte]), None);
        }
    }

    #[test]
    fn neighbours_do_not_hide_a_byte() {
        for pair in 0..=u16::MAX {
            let [a, b] = pair.to_le_bytes();
            let bytes = [b'x', a, b, b'x', b'x', b'x', b'x', b'x'];
            let expected = bytes.iter().position(|&byte| is_special(byte)).unwrap_or(8);
            assert_eq!(next_special(&bytes, 0), expected, "{bytes:x?}");
            let first = |found: u64| (found.trailing_zeros() / 8) as usize;
            let word = u64::from_le_bytes(bytes);
            let text = |byte: &u8| byte.is_ascii() && !is_control(*byte);
            let expected = bytes.iter().position(|byte| !text(byte)).unwrap_or(8);
            assert_eq!(first(no_ascii_text(word)), expected, "{bytes:x?}");
            let short = short_run(&bytes);
            let ends = bytes.get(expected).is_some_and(u8::is_ascii);
            assert_eq!(short.map(str::as_bytes), ends.then(|| &bytes[..expected]), "{bytes:x?}");
            let param = |byte: &u8| (0x30..=0x3b).contains(byte);
            let digits = [b'0', a, b, b'0', b'0', b'0', b'0', b'0'];
            let expected = digits.iter().position(|byte| !param(byte)).unwrap_or(8);
            assert_eq!(first(no_params(u64::from_le_bytes(digits))), expected, "{digits:x?}");
        }
    }
}
