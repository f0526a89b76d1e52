//! Text between colours: put together to long pieces for who does not care about colours.

use super::{Parser, Sink, scan};

/// Bytes of text that are put together at most.
const ROOM: usize = 1024;

/// After this many bytes without a colour the text is handed on as slices of the input again.
const LONG: usize = 128;

/// Bytes that one piece of it may need.
const PIECE: usize = LONG + 16;

/// Bytes of parameters of a colour that is looked at here; the state machine takes longer ones.
const PARAMS: usize = 24;

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
}
