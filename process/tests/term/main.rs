//! The terminal side as its users see it: tables, any chunking, oracles, amplifiers.

mod amplifiers;
mod chunking;
mod oracles;
mod screens;
mod terminals;
mod texts;
mod waits;

use process::screen::{LineFeed, Size};
use process::terminal::Terminal;

/// A terminal of the default size that has read `bytes`.
fn terminal(bytes: &[u8]) -> Terminal {
    sized(120, 40, bytes)
}

fn sized(cols: u16, rows: u16, bytes: &[u8]) -> Terminal {
    let mut terminal = Terminal::new(Size { cols, rows }, 256_000);
    terminal.feed(bytes, LineFeed::NewLine, None);
    terminal
}

/// Everything a new reader gets.
fn text(terminal: &mut Terminal) -> String {
    let mut cursor = terminal.transcript().cursor_at_start();
    terminal.read(&mut cursor, usize::MAX).text
}
