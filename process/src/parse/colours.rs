//! Text between colours: put together to long pieces for who does not care about colours.

use super::classes::{BLOCK, Classes};
use super::{Parser, Sink, scan};

/// Bytes of text that are put together at most.
const ROOM: usize = 1024;

/// After this many bytes without a colour the text is handed on as slices of the input again.
const LONG: usize = 128;

/// Bytes that one piece of it may need.
const PIECE: usize = LONG + 16;

/// Bytes of parameters of a colour that is looked at here; the state machine takes longer ones.
const PARAMS: usize = 24;

/// Text is copied by as many bytes, and what is too much overwritten: a copy of a few bytes costs a call.
const COPY: usize = 16;

impl Parser {
    /// Goes on behind an SGR sequence as long as there are more of them and text; returns where it stopped.
    ///
    /// Whatever is not simple is left to the state machine.
    #[inline]
    pub(super) fn colours<S: Sink>(&mut self, bytes: &[u8], at: usize, sink: &mut S) -> usize {
        // Also where colours alone follow each other.
        if matches!(bytes.get(at), Some(0x20..=0x7e)) || colour(&bytes[at..]) > 0 {
            return self.together(bytes, at, sink);
        }
        at
    }

    fn together<S: Sink>(&mut self, bytes: &[u8], mut at: usize, sink: &mut S) -> usize {
        self.together.resize(ROOM, 0);
        let mut len = 0;
        while let Some(room) = self.together[len..].first_chunk_mut::<PIECE>() {
            if let Some(block) = bytes[at..].first_chunk() {
                let (taken, copied) = block_text(block, room);
                at += taken;
                len += copied;
                if taken > 0 {
                    continue;
                }
            }
            let skipped = colour(&bytes[at..]);
            at += skipped;
            let rest = &bytes[at..];
            let Some(&first) = rest.first() else { break };
            let taken = if first < 0x80 { ascii(rest, room) } else { other(rest, room) };
            at += taken;
            len += taken;
            if skipped + taken == 0 || taken > LONG {
                break;
            }
        }
        if len > 0 {
            let text = std::mem::take(&mut self.together);
            // Only whole characters are in it.
            self.run(&text[..len], sink);
            self.together = text;
        }
        at
    }
}

/// Copies the ASCII text of a block with colours in it; returns how many bytes of the block that was, and how many were
/// copied. Stops at whatever is neither, at a colour that does not end in the block, and at the start of one without
/// colours.
///
/// One bit a byte, so that nothing is looked for byte by byte: the bytes of a colour are those from its ESC to its `m`,
/// which an addition finds, since its carry runs through the parameters to what ends them.
#[inline]
fn block_text(block: &[u8; BLOCK + COPY], room: &mut [u8; PIECE]) -> (usize, usize) {
    let now = block.first_chunk().expect("the block is longer");
    let Classes { escape, bracket, params, last, no_text } = Classes::of(now);
    let starts = escape & (bracket >> 1);
    if starts == 0 {
        return (0, 0);
    }
    let (sum, carried) = (starts << 2).overflowing_add(params);
    let ends = sum & !params;
    // What is no colour, or not yet, is not to be taken: its ESC ends what is.
    let cut = if carried || starts >> (BLOCK - 2) != 0 { 1 << (BLOCK as u32 - 1 - starts.leading_zeros()) } else { 0 };
    let odd = ends & !last;
    let cut = if odd == 0 { cut } else { before(starts, odd) };
    let whole = cut.wrapping_sub(1);
    let colours = ((ends & whole) << 1).wrapping_sub(starts & whole);
    let stop = (no_text & !colours) | cut;
    let taken = stop.trailing_zeros() as usize;
    let mut text = !colours & (stop & stop.wrapping_neg()).wrapping_sub(1);
    let mut copied = 0;
    while text != 0 {
        let mut from = text.trailing_zeros() as usize;
        let run = (!(text >> from)).trailing_zeros() as usize;
        text &= text.wrapping_add(1 << from);
        let end = copied + run;
        loop {
            room[copied..copied + COPY].copy_from_slice(&block[from..from + COPY]);
            if copied + COPY >= end {
                break;
            }
            copied += COPY;
            from += COPY;
        }
        copied = end;
    }
    (taken, copied)
}

/// The last of `bits` before the first of `marks`.
#[cold]
fn before(bits: u64, marks: u64) -> u64 {
    let bits = bits & (marks & marks.wrapping_neg()).wrapping_sub(1);
    bits & 1_u64.rotate_right(1 + bits.leading_zeros())
}

/// The length of the SGR sequence at the start, or 0.
#[inline]
fn colour(bytes: &[u8]) -> usize {
    if !bytes.starts_with(b"\x1b[") {
        return 0;
    }
    let mut at = 2;
    while at < PARAMS
        && let Some(word) = bytes.get(at..).and_then(|rest| rest.first_chunk::<8>())
    {
        let others = scan::no_params(u64::from_le_bytes(*word));
        if others != 0 {
            at += (others.trailing_zeros() / 8) as usize;
            break;
        }
        at += 8;
    }
    // The last bytes of a block.
    while at < PARAMS && matches!(bytes.get(at), Some(0x30..=0x3b)) {
        at += 1;
    }
    if bytes.get(at) == Some(&b'm') { at + 1 } else { 0 }
}

/// Copies the ASCII text at the start; returns its length, or a little over [`LONG`].
#[inline]
fn ascii(bytes: &[u8], room: &mut [u8; PIECE]) -> usize {
    let mut at = 0;
    while at <= LONG
        && let Some(word) = bytes.get(at..).and_then(|rest| rest.first_chunk::<8>())
    {
        // Copied as a word, whose length is known: a copy of a few bytes costs a call.
        room[at..at + 8].copy_from_slice(word);
        let found = scan::no_ascii_text(u64::from_le_bytes(*word));
        if found != 0 {
            at += (found.trailing_zeros() / 8) as usize;
            return at;
        }
        at += 8;
    }
    while at <= LONG
        && let Some(&byte) = bytes.get(at)
        && byte < 0x80
        && !scan::is_control(byte)
    {
        room[at] = byte;
        at += 1;
    }
    at
}

/// Copies the text at the start, which starts with another character; returns its length, or 0 if it is not simple.
fn other(bytes: &[u8], room: &mut [u8; PIECE]) -> usize {
    let end = scan::plain_run(bytes, 0);
    let run = &bytes[..end];
    // A character never goes on behind a colour, so each run is checked alone.
    if end > LONG || std::str::from_utf8(run).is_err() {
        return 0;
    }
    room[..end].copy_from_slice(run);
    end
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths() {
        let check = |input: &str, expected: usize| {
            assert_eq!(colour(input.as_bytes()), expected, "{input:?} at the end");
            assert_eq!(colour(format!("{input}, and some more text").as_bytes()), expected, "{input:?}");
        };
        check("\x1b[m", 3);
        check("\x1b[1;31m", 7);
        check("\x1b[38:2::1:22:333m", 17);
        check("\x1b[38;5;123;48;5;12m", 19);
        check("\x1b[?1m", 0);
        check("\x1b[1 m", 0);
        check("\x1b[1K", 0);
        check("\x1b]m", 0);
        check("\x1bm", 0);
        check(&format!("\x1b[{}m", "1".repeat(PARAMS + 9)), 0);
        assert_eq!(colour(b"\x1b[12"), 0);
        assert_eq!(colour(b"\x1b["), 0);
        assert_eq!(colour(b"\x1b"), 0);
    }

    /// Text, with what changes it, and no colours.
    struct Plain(Vec<String>);

    impl Sink for Plain {
        const TAKES_COLOURS: bool = false;

        fn text(&mut self, text: &str) {
            match self.0.last_mut() {
                Some(last) if !last.starts_with('<') => last.push_str(text),
                _ => self.0.push(text.to_owned()),
            }
        }

        fn carriage_return(&mut self) {
            self.0.push("<CR".to_owned());
        }

        fn backspace(&mut self) {
            self.0.push("<BS".to_owned());
        }

        fn csi(&mut self, csi: crate::parse::Csi<'_>, _end: usize) {
            if csi.last() != b'm' {
                self.0.push(format!("<{csi:?}"));
            }
        }
    }

    fn plain<'a>(chunks: impl Iterator<Item = &'a [u8]>) -> Vec<String> {
        let (mut parser, mut plain) = (Parser::new(), Plain(Vec::new()));
        chunks.for_each(|chunk| parser.feed(chunk, &mut plain));
        parser.finish(&mut plain);
        plain.0
    }

    #[test]
    fn blocks_give_what_bytes_give() {
        const PARTS: &[&[u8]] = &[
            b"a",
            b"word",
            b"some text, and some more",
            b" ",
            b"\n",
            b"\t",
            b"\x1b[m",
            b"\x1b[0m",
            b"\x1b[1;31m",
            b"\x1b[38;5;123m",
            b"\x1b[38:2::1:22:333m",
            b"\x1b[1;2;3;4;5;6;7;8;9;10;11;12;13;14;15;16m",
            b"m",
            b"[",
            b"0;1",
            b"\x1b",
            b"\x1b[",
            b"\x1b[1",
            b"\x1b[K",
            b"\x1b[?1m",
            b"\x1b[ m",
            b"\x1b[1\nm",
            b"\x1b\x1b[1m",
            b"\x1b[\x1b[2m",
            b"\x1b[1\x1b[m",
            "\u{e9}".as_bytes(),
            "\u{6f22}\u{5b57}".as_bytes(),
            b"\xff",
            b"\r",
            b"\x08",
            b"\x7f",
            b"\x1b[1\x7fm",
        ];
        let mut seed = 1_u64;
        let mut next = |below: usize| {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (seed >> 33) as usize % below
        };
        for round in 0..4000 {
            // Now all parts, now mostly simple ones, of which long runs are taken together.
            let kinds = if round % 2 == 0 { PARTS.len() } else { 12 };
            let mut bytes = Vec::new();
            for _ in 0..next(80) + 1 {
                bytes.extend_from_slice(PARTS[next(kinds)]);
            }
            let expected = plain(bytes.chunks(1));
            assert_eq!(plain(std::iter::once(&bytes[..])), expected, "{:?}", bytes.escape_ascii().to_string());
            let size = next(150) + 1;
            assert_eq!(plain(bytes.chunks(size)), expected, "by {size}: {:?}", bytes.escape_ascii().to_string());
        }
    }
}
