//! What programs ask a terminal, and the answers: a fixed vocabulary that never repeats what a program printed.

use super::modes::ModeTable;
use crate::parse::{Csi, StringEnd};
use crate::screen::Screen;
use std::io::Write as _;

/// Answers that may wait to be taken; more questions go unanswered.
const MAX_WAITING: usize = 64;

const FOREGROUND: [u8; 3] = [0xd8; 3];
const BACKGROUND: [u8; 3] = [0x18; 3];

/// Answers in the order of the questions.
#[derive(Debug, Default)]
pub(super) struct Replies {
    bytes: Vec<u8>,
    waiting: usize,
}

/// Whether the answer tells where the cursor is.
pub(super) fn needs_cursor(csi: Csi<'_>) -> bool {
    matches!(csi.function(), (0 | b'?', 0, b'n')) && csi.param(0, 0) == 6
}

impl Replies {
    pub(super) fn take(&mut self) -> Vec<u8> {
        self.waiting = 0;
        std::mem::take(&mut self.bytes)
    }

    pub(super) fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }

    pub(super) fn has_room(&self) -> bool {
        self.waiting < MAX_WAITING
    }

    pub(super) fn csi(&mut self, csi: Csi<'_>, modes: &ModeTable, screen: &Screen) {
        let first = csi.param(0, 0);
        match (csi.function(), first) {
            // DSR: no fault.
            ((0, 0, b'n'), 5) => self.reply(format_args!("\x1b[0n")),
            ((0, 0, b'n'), 6) => {
                let (row, col) = screen.reported_cursor();
                self.reply(format_args!("\x1b[{row};{col}R"));
            }
            ((b'?', 0, b'n'), 6) => {
                let (row, col) = screen.reported_cursor();
                self.reply(format_args!("\x1b[?{row};{col}R"));
            }
            // DA1: a VT220 with colours.
            ((0, 0, b'c'), 0) => self.reply(format_args!("\x1b[?62;22c")),
            // DA2: a version so low that nobody asks for more.
            ((b'>', 0, b'c'), 0) => self.reply(format_args!("\x1b[>1;10;0c")),
            ((b'>', 0, b'q'), 0) => {
                self.reply(format_args!("\x1bP>|toolhost({})\x1b\\", env!("CARGO_PKG_VERSION")));
            }
            ((b'?', b'$', b'p'), mode) => {
                self.reply(format_args!("\x1b[?{mode};{}$y", modes.report_private(mode)));
            }
            ((0, b'$', b'p'), mode) => {
                self.reply(format_args!("\x1b[{mode};{}$y", modes.report_ansi(mode)));
            }
            _ => {}
        }
    }

    /// Answers what colours are in use; everything else an OSC can be is not answered.
    pub(super) fn osc(&mut self, payload: &[u8], ended_by: StringEnd) {
        let end = match ended_by {
            StringEnd::Bell => "\x07",
            StringEnd::StringTerminator => "\x1b\\",
        };
        let mut parts = payload.split(|&byte| byte == b';');
        match parts.next() {
            Some(b"4") => {
                while let (Some(index), Some(b"?")) = (parts.next(), parts.next()) {
                    let index = std::str::from_utf8(index).ok().and_then(|digits| digits.parse().ok());
                    if let Some(index) = index {
                        self.reply(format_args!("\x1b]4;{index};{}{end}", Rgb(palette(index))));
                    }
                }
            }
            // Each further `?` asks for the next of foreground, background and cursor.
            Some(first @ (b"10" | b"11" | b"12")) => {
                for (number, part) in (10 + first[1] - b'0'..=12).zip(parts) {
                    if part == b"?" {
                        let colour = if number == 11 { BACKGROUND } else { FOREGROUND };
                        self.reply(format_args!("\x1b]{number};{}{end}", Rgb(colour)));
                    }
                }
            }
            _ => {}
        }
    }

    fn reply(&mut self, answer: std::fmt::Arguments<'_>) {
        if self.has_room() {
            self.waiting += 1;
            self.bytes.write_fmt(answer).expect("writing to memory succeeds");
        }
    }
}

/// A colour as X11 spells it, four digits a part.
struct Rgb([u8; 3]);

impl std::fmt::Display for Rgb {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let [r, g, b] = self.0;
        write!(f, "rgb:{r:02x}{r:02x}/{g:02x}{g:02x}/{b:02x}{b:02x}")
    }
}

/// The palette xterm starts with: 16 named colours, a 6x6x6 cube, 24 greys.
fn palette(index: u8) -> [u8; 3] {
    const NAMED: [[u8; 3]; 16] = [
        [0, 0, 0],
        [205, 0, 0],
        [0, 205, 0],
        [205, 205, 0],
        [0, 0, 238],
        [205, 0, 205],
        [0, 205, 205],
        [229, 229, 229],
        [127, 127, 127],
        [255, 0, 0],
        [0, 255, 0],
        [255, 255, 0],
        [92, 92, 255],
        [255, 0, 255],
        [0, 255, 255],
        [255, 255, 255],
    ];
    match index {
        0..=15 => NAMED[usize::from(index)],
        16..=231 => {
            let level = |n: u8| if n == 0 { 0 } else { 55 + 40 * n };
            let n = index - 16;
            [level(n / 36), level(n / 6 % 6), level(n % 6)]
        }
        232..=255 => [8 + 10 * (index - 232); 3],
    }
}
