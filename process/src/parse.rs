//! Bytes of a terminal stream to text, controls and escape sequences: split-safe, bounded, linear.
//!
//! The state machine follows ECMA-48 and the VT500 parser. Plain runs are found a vector at a time and handed on as
//! slices of the input; only what a chunk boundary cuts is copied. Nothing a program prints makes it keep more than
//! [`STRING_CAP`] bytes: parameters are parsed by whoever needs them, and the payload of a control string beyond the
//! cap is counted, not stored.

mod classes;
mod colours;
mod csi;
mod scan;
mod strings;

pub use csi::Csi;

use std::mem;

use crate::sys_utf8::checked_run;

/// Bytes of a control string (OSC, DCS, APC, PM, SOS) that are kept; from here on a line feed ends the string.
pub const STRING_CAP: usize = 4096;

/// Bytes after which a control string ends whatever comes.
pub const STRING_LIMIT: usize = 1 << 20;

/// Bytes of parameters and intermediates of one CSI sequence that are kept; a longer one is ignored.
const CSI_CAP: usize = 256;

/// Bytes after which a CSI sequence without a final byte is given up, so that digits cannot be swallowed for ever.
const CSI_LIMIT: usize = 4096;

/// Input is worked on in blocks of this many bytes, so that scanning, checking and copying find it in the cache.
const BLOCK: usize = 16 * 1024;

const REPLACEMENT: &str = "\u{FFFD}";

/// Receives what a [`Parser`] finds, in order.
///
/// Every method but the three of clean text does nothing unless implemented.
pub trait Sink {
    /// Whether SGR sequences (`CSI ... m`) matter. Who says no may still be told of some, and gets the text between
    /// them in longer pieces.
    const TAKES_COLOURS: bool = true;

    /// Takes text without any control character but `\n` and `\t`. Never empty.
    fn text(&mut self, text: &str);

    /// Takes a carriage return.
    fn carriage_return(&mut self);

    /// Takes a backspace.
    fn backspace(&mut self);

    /// Takes any other C0 control (`BEL`, `VT`, `FF`, `SO`, `SI`...).
    fn control(&mut self, _byte: u8) {}

    /// Takes a CSI sequence; `end` is how many bytes of the chunk being fed were consumed with it.
    fn csi(&mut self, _csi: Csi<'_>, _end: usize) {}

    /// Takes an escape sequence that is neither CSI nor a control string, also in its C1 form.
    fn esc(&mut self, _intermediates: &[u8], _last: u8) {}

    /// Takes a control string that was properly ended and is at most [`STRING_CAP`] bytes long.
    fn string(&mut self, _kind: StringKind, _payload: &[u8], _ended_by: StringEnd) {}
}

/// Which control string (ECMA-48 5.6).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StringKind {
    /// Operating system command.
    Osc,
    /// Device control string.
    Dcs,
    /// Application program command.
    Apc,
    /// Privacy message.
    Pm,
    /// Start of string.
    Sos,
}

/// How a control string was ended; an answer is ended the same way.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StringEnd {
    /// By BEL (only OSC).
    Bell,
    /// By ST, as `ESC \` or U+009C.
    StringTerminator,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum State {
    #[default]
    Ground,
    Escape,
    EscapeIntermediate,
    Csi,
    String(StringKind),
    /// An ESC inside a control string: ST if `\` follows.
    StringEscape(StringKind),
    /// The byte 0xC2 inside a control string: ST if 0x9C follows.
    StringC2(StringKind),
}

/// The state machine. Feeding the same bytes in any chunks gives the same calls, but for where text is cut.
#[derive(Debug, Clone, Default)]
pub struct Parser {
    state: State,
    /// The start of a UTF-8 character that the last chunk cut.
    partial: [u8; 4],
    partial_len: usize,
    /// Intermediates, CSI bytes, or the payload of a string: what a boundary cut.
    held: Vec<u8>,
    /// Bytes of the sequence so far, also those not held.
    count: usize,
    line_inside: bool,
    /// Where the block being worked on starts in the chunk being fed.
    base: usize,
    lossy: String,
    /// Text between colours that is being put together.
    together: Vec<u8>,
}

impl Parser {
    /// Creates a parser at the start of a stream.
    pub fn new() -> Self {
        Self::default()
    }

    /// Feeds the next bytes.
    pub fn feed<S: Sink>(&mut self, bytes: &[u8], sink: &mut S) {
        for (n, block) in bytes.chunks(BLOCK).enumerate() {
            self.base = n * BLOCK;
            self.block(block, sink);
        }
        self.base = 0;
    }

    /// Ends the stream: a cut character becomes U+FFFD, a cut sequence is dropped. The parser can be used again.
    pub fn finish<S: Sink>(&mut self, sink: &mut S) {
        if mem::take(&mut self.partial_len) > 0 {
            sink.text(REPLACEMENT);
        }
        self.state = State::Ground;
        self.held.clear();
    }

    /// Whether the parser is between sequences and characters.
    pub fn is_idle(&self) -> bool {
        self.state == State::Ground && self.partial_len == 0
    }

    /// Whether a line feed came inside a sequence or a control string since the last call.
    pub(crate) fn take_line_inside(&mut self) -> bool {
        mem::take(&mut self.line_inside)
    }

    fn block<S: Sink>(&mut self, bytes: &[u8], sink: &mut S) {
        let mut at = if self.partial_len > 0 { self.complete_character(bytes, sink) } else { 0 };
        while at < bytes.len() {
            at = match self.state {
                State::Ground => self.ground(bytes, at, sink),
                State::Escape | State::EscapeIntermediate => self.escape(bytes, at, sink),
                State::Csi => self.csi(bytes, at, sink),
                State::String(kind) => self.string(kind, bytes, at, sink),
                State::StringEscape(kind) => self.string_escape(kind, bytes, at, sink),
                State::StringC2(kind) => self.string_c2(kind, bytes, at, sink),
            };
        }
    }

    /// Works from `at` until a sequence is cut or the block ends; returns where it stopped.
    fn ground<S: Sink>(&mut self, bytes: &[u8], mut at: usize, sink: &mut S) -> usize {
        while at < bytes.len() {
            match bytes[at] {
                0x1b => match Csi::scan(&bytes[at + 1..]) {
                    Some((csi, len)) => {
                        at += 1 + len;
                        if !S::TAKES_COLOURS && csi.function() == (0, 0, b'm') {
                            at = self.colours(bytes, at, sink);
                        } else {
                            sink.csi(csi, self.base + at);
                        }
                    }
                    None => {
                        self.state = State::Escape;
                        self.held.clear();
                        return at + 1;
                    }
                },
                0xc2 if matches!(bytes.get(at + 1), Some(0x80..=0x9f)) => {
                    self.c1(bytes[at + 1], sink);
                    at += 2;
                    if self.state != State::Ground {
                        return at;
                    }
                }
                byte if scan::is_control(byte) => {
                    self.execute(byte, sink);
                    at += 1;
                }
                _ => {
                    if let Some(letter) = scan::lone_letter(&bytes[at..]) {
                        sink.text(letter);
                        at += 1;
                        continue;
                    }
                    if let Some(text) = scan::short_run(&bytes[at..]) {
                        sink.text(text);
                        at += text.len();
                        continue;
                    }
                    // Both at once for what is at hand; what is left over goes the longer way.
                    let whole = bytes.len() - scan::cut_character(&bytes[at..]);
                    if let Some((len @ 1.., Some(text))) = checked_run(&bytes[at..whole]) {
                        sink.text(text);
                        at += len;
                        continue;
                    }
                    let end = scan::plain_run(bytes, at);
                    let cut = if end == bytes.len() { end - scan::cut_character(&bytes[at..end]) } else { end };
                    self.run(&bytes[at..cut], sink);
                    if cut < end {
                        self.partial_len = end - cut;
                        self.partial[..end - cut].copy_from_slice(&bytes[cut..end]);
                        return end;
                    }
                    at = end;
                }
            }
        }
        at
    }

    fn run<S: Sink>(&mut self, run: &[u8], sink: &mut S) {
        if run.is_empty() {
            return;
        }
        // What the vector check costs to start is worth it for longer runs only.
        let text = if run.len() < 64 { std::str::from_utf8(run).ok() } else { simdutf8::basic::from_utf8(run).ok() };
        match text {
            Some(text) => sink.text(text),
            None => self.broken_run(run, sink),
        }
    }

    /// Hands on a run with invalid UTF-8.
    #[cold]
    fn broken_run<S: Sink>(&mut self, run: &[u8], sink: &mut S) {
        self.lossy.clear();
        for chunk in run.utf8_chunks() {
            self.lossy.push_str(chunk.valid());
            if !chunk.invalid().is_empty() {
                self.lossy.push_str(REPLACEMENT);
            }
        }
        sink.text(&self.lossy);
    }

    /// Goes on with a character that the last block cut; returns how many bytes it took.
    fn complete_character<S: Sink>(&mut self, bytes: &[u8], sink: &mut S) -> usize {
        for (at, &byte) in bytes.iter().enumerate() {
            self.partial[self.partial_len] = byte;
            let whole = self.partial_len + 1;
            match std::str::from_utf8(&self.partial[..whole]) {
                Ok(text) => {
                    self.partial_len = 0;
                    match self.partial {
                        [0xc2, c1 @ 0x80..=0x9f, ..] => self.c1(c1, sink),
                        _ => sink.text(text),
                    }
                    return at + 1;
                }
                Err(error) if error.error_len().is_none() => self.partial_len = whole,
                Err(_) => {
                    self.partial_len = 0;
                    sink.text(REPLACEMENT);
                    return at;
                }
            }
        }
        bytes.len()
    }

    fn execute<S: Sink>(&mut self, byte: u8, sink: &mut S) {
        match byte {
            b'\r' => sink.carriage_return(),
            0x08 => sink.backspace(),
            b'\n' => {
                self.line_inside = true;
                sink.text("\n");
            }
            b'\t' => sink.text("\t"),
            0x00 | 0x18 | 0x1a | 0x7f => {}
            _ => sink.control(byte),
        }
    }

    /// Acts on a C1 control, given as its code (0x80 to 0x9F).
    fn c1<S: Sink>(&mut self, code: u8, sink: &mut S) {
        self.held.clear();
        self.state = State::Ground;
        self.open(code - 0x40, sink);
    }

    /// Acts on the byte after ESC.
    fn open<S: Sink>(&mut self, byte: u8, sink: &mut S) {
        self.count = 0;
        self.state = match byte {
            b'[' => State::Csi,
            b']' => State::String(StringKind::Osc),
            b'P' => State::String(StringKind::Dcs),
            b'_' => State::String(StringKind::Apc),
            b'^' => State::String(StringKind::Pm),
            b'X' => State::String(StringKind::Sos),
            _ => {
                sink.esc(&[], byte);
                State::Ground
            }
        };
    }

    fn escape<S: Sink>(&mut self, bytes: &[u8], at: usize, sink: &mut S) -> usize {
        let byte = bytes[at];
        match byte {
            0x20..=0x2f => {
                if self.held.len() < 4 {
                    self.held.push(byte);
                }
                self.state = State::EscapeIntermediate;
            }
            0x30..=0x7e if self.state == State::Escape => self.open(byte, sink),
            0x30..=0x7e => {
                self.state = State::Ground;
                sink.esc(&self.held, byte);
                self.held.clear();
            }
            _ => return self.anywhere(bytes, at, sink),
        }
        at + 1
    }

    fn csi<S: Sink>(&mut self, bytes: &[u8], at: usize, sink: &mut S) -> usize {
        let byte = bytes[at];
        match byte {
            0x20..=0x3f => {
                self.count += 1;
                if self.count > CSI_LIMIT {
                    self.state = State::Ground;
                    self.held.clear();
                } else if self.held.len() <= CSI_CAP {
                    // One byte over the cap marks the sequence as too long.
                    self.held.push(byte);
                }
            }
            0x40..=0x7e => {
                self.state = State::Ground;
                if let Some(csi) = Csi::new(&self.held, byte) {
                    sink.csi(csi, self.base + at + 1);
                }
                self.held.clear();
            }
            _ => return self.anywhere(bytes, at, sink),
        }
        at + 1
    }

    /// Acts on a byte that means the same inside every escape sequence; returns where to go on.
    fn anywhere<S: Sink>(&mut self, bytes: &[u8], at: usize, sink: &mut S) -> usize {
        match bytes[at] {
            0x18 | 0x1a => {
                self.state = State::Ground;
                self.held.clear();
            }
            0x1b => {
                self.state = State::Escape;
                self.held.clear();
            }
            // Not part of any sequence: it is given up, and the character is not lost.
            0x80.. => {
                self.state = State::Ground;
                self.held.clear();
                return at;
            }
            byte => self.execute(byte, sink),
        }
        at + 1
    }
}
