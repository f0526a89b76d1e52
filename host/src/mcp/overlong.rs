//! Lines that are too long: dropped while they are read, and turned into a short request that gets an error.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use serde_json::{Value, json};
use tokio::io::{AsyncRead, ReadBuf};

/// The method that stands in for a request whose line was too long.
pub(crate) const OVERLONG: &str = "toolhost/overlong";

/// Bytes that are read at once.
const CHUNK: usize = 8 * 1024;
/// The longest id that is kept of a dropped line, in bytes of JSON.
const MAX_ID: usize = 256;

/// A stream of lines in which no line is longer than a limit.
///
/// A longer one ends at the limit, which makes it no JSON, and is followed by a request of the method [`OVERLONG`]
/// with its id, so that the client gets an answer and does not wait for one forever.
#[derive(Debug)]
pub(crate) struct Bounded<R> {
    inner: R,
    chunk: Box<[u8]>,
    /// What is ready to be read, from `given` on.
    ready: Vec<u8>,
    given: usize,
    lines: Lines,
}

impl<R> Bounded<R> {
    pub(crate) fn new(inner: R, limit: usize) -> Self {
        let chunk = vec![0; CHUNK].into_boxed_slice();
        Self { inner, chunk, ready: Vec::with_capacity(CHUNK), given: 0, lines: Lines::new(limit) }
    }
}

impl<R: AsyncRead + Unpin> AsyncRead for Bounded<R> {
    fn poll_read(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let this = &mut *self;
        while this.given == this.ready.len() {
            this.ready.clear();
            this.given = 0;
            let mut chunk = ReadBuf::new(&mut this.chunk);
            ready!(Pin::new(&mut this.inner).poll_read(cx, &mut chunk))?;
            if chunk.filled().is_empty() {
                return Poll::Ready(Ok(()));
            }
            this.lines.take(chunk.filled(), &mut this.ready);
        }
        let rest = &this.ready[this.given..];
        let count = rest.len().min(buf.remaining());
        buf.put_slice(&rest[..count]);
        this.given += count;
        Poll::Ready(Ok(()))
    }
}

#[derive(Debug)]
struct Lines {
    limit: usize,
    length: usize,
    id: IdFinder,
}

impl Lines {
    fn new(limit: usize) -> Self {
        Self { limit, length: 0, id: IdFinder::default() }
    }

    /// Takes the next bytes of the stream and appends what is left of them.
    fn take(&mut self, mut bytes: &[u8], out: &mut Vec<u8>) {
        while !bytes.is_empty() {
            let end = bytes.iter().position(|byte| *byte == b'\n');
            let (piece, rest) = bytes.split_at(end.unwrap_or(bytes.len()));
            self.id.feed(piece);
            let room = self.limit.saturating_sub(self.length);
            out.extend_from_slice(&piece[..piece.len().min(room)]);
            self.length = self.length.saturating_add(piece.len());
            bytes = rest;
            if end.is_some() {
                bytes = &bytes[1..];
                out.push(b'\n');
                self.end_line(out);
            }
        }
    }

    fn end_line(&mut self, out: &mut Vec<u8>) {
        let id = std::mem::take(&mut self.id).found();
        if std::mem::take(&mut self.length) <= self.limit {
            return;
        }
        tracing::error!(limit = self.limit, "a line was too long and is dropped");
        if let Some(id) = id {
            out.extend_from_slice(json!({"jsonrpc": "2.0", "id": id, "method": OVERLONG}).to_string().as_bytes());
            out.push(b'\n');
        }
    }
}

/// Finds the member `id` of a JSON object that is seen byte by byte and never whole.
#[derive(Debug, Default)]
struct IdFinder {
    depth: usize,
    in_string: bool,
    escaped: bool,
    /// The last string at depth 1, as far as it can be `id`.
    key: Vec<u8>,
    /// The raw value of `id`.
    value: Vec<u8>,
    capturing: bool,
}

impl IdFinder {
    fn feed(&mut self, mut bytes: &[u8]) {
        while let Some((first, rest)) = bytes.split_first() {
            self.step(*first);
            bytes = rest;
            // Long strings inside the parameters are most of a long line.
            if self.in_string && !self.escaped && self.depth > 1 && !self.capturing {
                let end = bytes.iter().position(|byte| matches!(byte, b'"' | b'\\'));
                bytes = &bytes[end.unwrap_or(bytes.len())..];
            }
        }
    }

    fn step(&mut self, byte: u8) {
        if self.in_string {
            self.capture(byte);
            match byte {
                _ if self.escaped => self.escaped = false,
                b'\\' => self.escaped = true,
                b'"' => self.in_string = false,
                _ if self.depth == 1 && self.key.len() < 3 => self.key.push(byte),
                _ => {}
            }
            return;
        }
        match byte {
            b'}' | b']' => {
                self.depth = self.depth.saturating_sub(1);
                self.capturing &= self.depth > 0;
            }
            b',' if self.depth == 1 => self.capturing = false,
            b':' if self.depth == 1 => {
                self.capturing = self.key == b"id";
                if self.capturing {
                    self.value.clear();
                }
                return;
            }
            b'{' | b'[' => self.depth += 1,
            b'"' => {
                self.in_string = true;
                if self.depth == 1 {
                    self.key.clear();
                }
            }
            _ => {}
        }
        self.capture(byte);
    }

    fn capture(&mut self, byte: u8) {
        if self.capturing && self.value.len() <= MAX_ID {
            self.value.push(byte);
        }
    }

    fn found(self) -> Option<Value> {
        let id = serde_json::from_slice(&self.value).ok()?;
        matches!(id, Value::Number(_) | Value::String(_)).then_some(id)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check_id(line: &str, expected: Option<Value>) {
        let mut finder = IdFinder::default();
        finder.feed(line.as_bytes());
        assert_eq!(finder.found(), expected, "{line}");
    }

    #[test]
    fn finds_the_id_wherever_it_is() {
        check_id(r#"{"jsonrpc":"2.0","id":7,"method":"x"}"#, Some(json!(7)));
        check_id(r#"{"method":"x","params":{"id":1,"a":["id",{"id":2}]},"id":"a\"b"}"#, Some(json!("a\"b")));
        check_id(r#"{ "id" : 12 , "method" : "id" }"#, Some(json!(12)));
        check_id(r#"{"note":"\"id\":3","idx":4,"id":5}"#, Some(json!(5)));
        check_id(r#"{"method":"x","params":{"id":1}}"#, None);
        check_id(r#"{"id":null,"method":"x"}"#, None);
        check_id(r#"{"id":{"id":1},"method":"x"}"#, None);
        check_id(r#"{"id":"unterminated"#, None);
        check_id(r#"[{"id":1}]"#, None);
        check_id("}}}:::,,,\"id\"", None);
    }

    fn through(limit: usize, text: &str, piece: usize) -> String {
        let mut lines = Lines::new(limit);
        let mut out = Vec::new();
        for bytes in text.as_bytes().chunks(piece) {
            lines.take(bytes, &mut out);
        }
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn only_long_lines_change() {
        let long = format!(r#"{{"id":9,"method":"{}"}}"#, "x".repeat(100));
        let text = format!("{{}}\n\n{long}\n{{\"id\":1}}\nrest");
        let stand_in = json!({"jsonrpc": "2.0", "id": 9, "method": OVERLONG});
        for piece in [1, 7, 1_000] {
            assert_eq!(through(1_000, &text, piece), text);
            let expected = format!("{{}}\n\n{}\n{stand_in}\n{{\"id\":1}}\nrest", &long[..20]);
            assert_eq!(through(20, &text, piece), expected);
        }
    }
}
