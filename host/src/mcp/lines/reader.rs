//! Reads lines of a bounded length; a longer one is dropped while it is read, and only who sent it is kept.

use std::io;

use tokio::io::{AsyncBufReadExt, AsyncRead, BufReader};

use super::envelope::{Envelope, Finder};

/// A buffer larger than this is not kept for the next line.
const KEPT: usize = 1024 * 1024;

/// Reads the lines of a stream.
#[derive(Debug)]
pub(super) struct Reader<R> {
    input: BufReader<R>,
    limit: usize,
    line: Vec<u8>,
    /// Looks for the envelope of a line that is over the limit.
    overlong: Option<Finder>,
}

/// What the next line was.
#[derive(Debug)]
pub(super) enum Line<'a> {
    /// The line without its end.
    Whole(&'a [u8]),
    /// It was longer than the limit.
    Overlong(Envelope),
}

impl<R: AsyncRead + Unpin> Reader<R> {
    pub(super) fn new(input: R, limit: usize) -> Self {
        Self { input: BufReader::new(input), limit, line: Vec::new(), overlong: None }
    }

    /// Reads the next line; none at the end of the input. What follows the last line end is no message.
    ///
    /// # Cancellation
    /// Safe: a line of which a part was read goes on with the next call, as long as `done` was not called for it.
    pub(super) async fn next(&mut self) -> io::Result<Option<Line<'_>>> {
        loop {
            let ready = self.input.fill_buf().await?;
            if ready.is_empty() {
                return Ok(None);
            }
            let end = ready.iter().position(|byte| *byte == b'\n');
            let piece = &ready[..end.unwrap_or(ready.len())];
            if let Some(finder) = &mut self.overlong {
                finder.feed(piece);
            } else if self.line.len() + piece.len() > self.limit {
                let mut finder = Finder::default();
                finder.feed(&self.line);
                finder.feed(piece);
                self.overlong = Some(finder);
                self.line = Vec::new();
            } else {
                self.line.extend_from_slice(piece);
            }
            let used = end.map_or(ready.len(), |end| end + 1);
            self.input.consume(used);
            if end.is_some() {
                break;
            }
        }
        Ok(Some(match self.overlong.take() {
            Some(finder) => Line::Overlong(finder.found()),
            None => Line::Whole(self.line.strip_suffix(b"\r").unwrap_or(&self.line)),
        }))
    }

    /// Forgets the line that [`Reader::next`] returned.
    pub(super) fn done(&mut self) {
        if self.line.capacity() > KEPT {
            self.line = Vec::new();
        }
        self.line.clear();
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// Reads all lines, given in pieces; an overlong one is shown by its id.
    fn through(limit: usize, text: &str, piece: usize) -> Vec<String> {
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        let mut reader =
            Reader { input: BufReader::with_capacity(piece, text.as_bytes()), ..Reader::new(&b""[..], limit) };
        let mut lines = Vec::new();
        while let Some(line) = runtime.block_on(reader.next()).unwrap() {
            lines.push(match line {
                Line::Whole(line) => String::from_utf8(line.to_vec()).unwrap(),
                Line::Overlong(envelope) => format!("overlong {}", json!(envelope.id)),
            });
            reader.done();
        }
        lines
    }

    #[test]
    fn only_long_lines_are_dropped() {
        let long = format!(r#"{{"id":9,"method":"{}"}}"#, "x".repeat(100));
        let text = format!("{{}}\r\n\n{long}\n{{\"id\":1}}\nrest");
        for piece in [1, 7, 1_000] {
            assert_eq!(through(1_000, &text, piece), ["{}", "", &long, r#"{"id":1}"#], "{piece}");
            assert_eq!(through(20, &text, piece), ["{}", "", "overlong 9", r#"{"id":1}"#], "{piece}");
        }
    }
}
