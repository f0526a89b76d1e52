//! Independent implementations agree: `vte` and `strip-ansi-escapes` on text, `vt100` on screens.

use crate::{terminal, text};
use process::screen::{LineFeed, Screen, Size};
use proptest::collection::vec;
use proptest::prelude::*;

/// The printed text, by `vte`.
#[derive(Default)]
struct Printed(String);

impl vte::Perform for Printed {
    fn print(&mut self, char: char) {
        // `vte` prints C1 controls in their UTF-8 form; a terminal does not.
        if !char.is_control() {
            self.0.push(char);
        }
    }

    fn execute(&mut self, byte: u8) {
        if matches!(byte, b'\n' | b'\t') {
            self.0.push(char::from(byte));
        }
    }
}

fn by_vte(bytes: &[u8]) -> String {
    let mut printed = Printed::default();
    vte::Parser::new().advance(&mut printed, bytes);
    printed.0
}

#[test]
fn a_coloured_log() {
    let log: String = (0..3000)
        .map(|n| {
            format!("\x1b[2m{n:05}\x1b[0m \x1b[1;3{}mINFO\x1b[0m \x1b[38;5;{}mcrâte::日本\x1b[39m ok\n", n % 8, n % 256)
        })
        .collect();
    let mut ours = terminal(log.as_bytes());
    let ours = text(&mut ours);
    assert_eq!(ours, by_vte(log.as_bytes()));
    assert_eq!(ours, strip_ansi_escapes::strip_str(&log));
}

/// Sequences that a program may well print, and that both emulators take for the same. Not the alternate screen
/// (`vt100` gives it a cursor and margins of its own, xterm does not), and nothing that cuts a wide character in two.
fn drawing() -> impl Strategy<Value = String> {
    let n = || 0u16..12;
    prop_oneof![
        6 => "[a-zA-Z0-9.]{1,15}",
        1 => "[éα]{1,4}",
        3 => Just("\r\n".to_owned()),
        1 => Just("\r".to_owned()),
        1 => Just("\r\x08".to_owned()),
        3 => (1u16..12, 1u16..30).prop_map(|(row, col)| format!("\x1b[{row};{col}H")),
        // The column first: `vt100` keeps a pending wrap over moves and edits, xterm does not.
        4 => (n(), n(), "[ABCDGd]").prop_map(|(col, n, last)| format!("\x1b[{col}G\x1b[{n}{last}")),
        3 => (n(), 0u16..3, "[JK]").prop_map(|(col, n, last)| format!("\x1b[{col}G\x1b[{n}{last}")),
        3 => (n(), n(), "[P@XST]").prop_map(|(col, n, last)| format!("\x1b[{col}G\x1b[{n}{last}")),
        // `vt100` leaves the column as it is, and acts outside the margins too; row 5 is always inside.
        2 => (n(), "[LM]").prop_map(|(n, last)| format!("\x1b[5;1H\x1b[{n}{last}\r")),
        // From the first row on: `vt100` also has margins of its own mind for a cursor above them.
        2 => (5u16..9).prop_map(|bottom| format!("\x1b[1;{bottom}r\x1b[H")),
        1 => Just("\x1b[r\x1b[H".to_owned()),
        1 => Just("\x1b[7G\x1b7".to_owned()),
        1 => Just("\x1b8".to_owned()),
        1 => (1u16..6).prop_map(|n| format!("\x1b[5;1H{}", "\x1bM".repeat(n.into()))),
        1 => (30u16..38).prop_map(|n| format!("\x1b[1;{n}m")),
    ]
}

fn by_vt100(size: Size, bytes: &[u8]) -> (Vec<String>, (u16, u16)) {
    let mut parser = vt100::Parser::new(size.rows, size.cols, 0);
    parser.process(bytes);
    let rows = parser.screen().rows(0, size.cols).map(|row| row.trim_end().to_owned()).collect();
    (rows, parser.screen().cursor_position())
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(1000) })]

    #[test]
    fn text_of_sequences(parts in vec(prop_oneof![
        "[a-z日é\n\t]{1,20}",
        "\x1b\\[[0-9;:]{0,12}[ !\"$]{0,1}[@-~]",
        "\x1b\\[\\?[0-9;]{0,8}[a-z]",
        "\x1b\\][0-9]{1,3};[a-z ]{0,30}\x07",
        "\x1b[P_^][a-z0-9;]{0,30}\x1b\\\\",
        "\x1b[()*+][AB0]",
        "\x1b[6-9=>DEHMNOcno|}~]",
    ], 0..40)) {
        let stream = parts.concat();
        let mut ours = terminal(stream.as_bytes());
        prop_assert_eq!(text(&mut ours), by_vte(stream.as_bytes()));
    }

    #[test]
    fn screens(parts in vec(drawing(), 0..60)) {
        let stream = parts.concat();
        let size = Size { cols: 24, rows: 8 };
        let mut ours = Screen::new(size);
        ours.feed(stream.as_bytes(), LineFeed::Index);
        let view = ours.view();
        let (rows, _) = by_vt100(size, stream.as_bytes());
        prop_assert_eq!(view.rows, rows);
    }
}
