//! Any chunks give the same: text, tap, screen, replies, modes.

use process::echo::{TextWait, Typed};
use process::parse::{Csi, Parser, Sink, StringEnd, StringKind};
use process::screen::{LineFeed, ScreenView, Size};
use process::terminal::{Modes, Terminal};
use process::text::{Cursor, Piece};
use proptest::collection::vec;
use proptest::prelude::*;

/// Fragments of everything, well-formed and not.
fn fragment() -> impl Strategy<Value = Vec<u8>> {
    prop_oneof![
        4 => "[a-z ]{1,12}".prop_map(String::into_bytes),
        2 => prop_oneof![Just("\n"), Just("\r\n"), Just("\r"), Just("\x08"), Just("\t"), Just(" \r"), Just("\x08 \x08")]
            .prop_map(|text| text.as_bytes().to_vec()),
        2 => "[é日🚀\u{301}\u{9b}\u{9c}\u{9d}\u{85}]{1,4}".prop_map(String::into_bytes),
        3 => ("[0-9;]{0,6}", "[@A-Za-z]").prop_map(|(params, last)| format!("\x1b[{params}{last}").into_bytes()),
        2 => "(\x1b\\[[0-9;:]{0,30}m[a-zé日\t\n]{0,12}){1,4}".prop_map(String::into_bytes),
        2 => "\x1b\\[\\?(1|7|25|47|1047|1049|2004)[hl]".prop_map(String::into_bytes),
        1 => "\x1b[\\]P_^X][0-9;?a-z\n]{0,20}(\x07|\x1b\\\\|\u{9c})".prop_map(String::into_bytes),
        1 => "\x1b[()#7-9=>DEHMc][0B8]?".prop_map(String::into_bytes),
        2 => prop_oneof![Just("\x1b[6n"), Just("\x1b[c"), Just("\x1b]11;?\x07"), Just("\x1b[?1$p"), Just("\x1b[?6n")]
            .prop_map(|text| text.as_bytes().to_vec()),
        1 => vec(any::<u8>(), 1..6),
    ]
}

fn stream() -> impl Strategy<Value = Vec<u8>> {
    vec(fragment(), 0..60).prop_map(|parts| parts.concat())
}

#[derive(Debug, PartialEq)]
struct Seen {
    text: String,
    total: u64,
    tap: String,
    screen: ScreenView,
    replies: Vec<u8>,
    modes: Modes,
}

fn run(bytes: &[u8], cuts: &[usize], size: Size) -> Seen {
    let mut terminal = Terminal::new(size, 50);
    let mut tap = String::new();
    let mut see = |piece: Piece<'_>| match piece {
        Piece::Text(text) => {
            assert!(!text.is_empty());
            tap.push_str(text);
        }
        Piece::CarriageReturn => tap.push('\r'),
        Piece::Backspace => tap.push('\x08'),
    };
    let mut start = 0;
    for &cut in cuts.iter().chain([&bytes.len()]) {
        let cut = cut.clamp(start, bytes.len());
        terminal.feed(&bytes[start..cut], LineFeed::NewLine, Some(&mut see));
        start = cut;
    }
    terminal.finish(Some(&mut see));
    let total = terminal.transcript().total_chars();
    let mut cursor = terminal.transcript().cursor_at_start();
    let text = terminal.read(&mut cursor, usize::MAX).text;
    Seen { text, total, tap, screen: terminal.screen(), replies: terminal.take_replies(), modes: terminal.modes() }
}

/// Everything a parser finds, in words; neighbouring texts are one.
#[derive(Debug, Default, PartialEq)]
struct Log {
    events: Vec<String>,
    text: bool,
}

impl Log {
    fn event(&mut self, event: String) {
        self.text = false;
        self.events.push(event);
    }
}

impl Sink for Log {
    fn text(&mut self, text: &str) {
        match self.events.last_mut() {
            Some(last) if self.text => last.push_str(text),
            _ => self.events.push(text.to_owned()),
        }
        self.text = true;
    }

    fn carriage_return(&mut self) {
        self.event("CR".into());
    }

    fn backspace(&mut self) {
        self.event("BS".into());
    }

    fn control(&mut self, byte: u8) {
        self.event(format!("C0 {byte:x}"));
    }

    fn csi(&mut self, csi: Csi<'_>, _end: usize) {
        self.event(format!("{csi:?}"));
    }

    fn esc(&mut self, intermediates: &[u8], last: u8) {
        self.event(format!("ESC {intermediates:?} {last}"));
    }

    fn string(&mut self, kind: StringKind, payload: &[u8], ended_by: StringEnd) {
        self.event(format!("{kind:?} {payload:?} {ended_by:?}"));
    }
}

/// The same for who does not care about colours.
#[derive(Default)]
struct Colourless(Log);

impl Sink for Colourless {
    const TAKES_COLOURS: bool = false;

    fn text(&mut self, text: &str) {
        assert!(!text.is_empty());
        self.0.text(text);
    }

    fn carriage_return(&mut self) {
        self.0.carriage_return();
    }

    fn backspace(&mut self) {
        self.0.backspace();
    }

    fn control(&mut self, byte: u8) {
        self.0.control(byte);
    }

    fn csi(&mut self, csi: Csi<'_>, end: usize) {
        // Some may come all the same.
        if csi.function() != (0, 0, b'm') {
            self.0.csi(csi, end);
        }
    }

    fn esc(&mut self, intermediates: &[u8], last: u8) {
        self.0.esc(intermediates, last);
    }

    fn string(&mut self, kind: StringKind, payload: &[u8], ended_by: StringEnd) {
        self.0.string(kind, payload, ended_by);
    }
}

/// All but the colours, from a parser that tells of each of them.
struct Filtered(Colourless);

impl Sink for Filtered {
    fn text(&mut self, text: &str) {
        self.0.text(text);
    }

    fn carriage_return(&mut self) {
        self.0.carriage_return();
    }

    fn backspace(&mut self) {
        self.0.backspace();
    }

    fn control(&mut self, byte: u8) {
        self.0.control(byte);
    }

    fn csi(&mut self, csi: Csi<'_>, end: usize) {
        self.0.csi(csi, end);
    }

    fn esc(&mut self, intermediates: &[u8], last: u8) {
        self.0.esc(intermediates, last);
    }

    fn string(&mut self, kind: StringKind, payload: &[u8], ended_by: StringEnd) {
        self.0.string(kind, payload, ended_by);
    }
}

fn parse(bytes: &[u8], cuts: &[usize]) -> Vec<String> {
    let mut log = Log::default();
    parse_to(bytes, cuts, &mut log);
    log.events
}

fn parse_to(bytes: &[u8], cuts: &[usize], sink: &mut impl Sink) {
    let mut parser = Parser::new();
    let mut start = 0;
    for &cut in cuts.iter().chain([&bytes.len()]) {
        let cut = cut.clamp(start, bytes.len());
        parser.feed(&bytes[start..cut], sink);
        start = cut;
    }
    parser.finish(sink);
}

fn single(bytes: &[u8]) -> Vec<usize> {
    (0..bytes.len()).collect()
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(600) })]

    #[test]
    fn terminals(bytes in stream(), mut cuts in vec(0usize..400, 0..8), cols in 1u16..30, rows in 1u16..8) {
        cuts.sort_unstable();
        let size = Size { cols, rows };
        let whole = run(&bytes, &[], size);
        prop_assert_eq!(&run(&bytes, &cuts, size), &whole);
        prop_assert_eq!(&run(&bytes, &single(&bytes), size), &whole);
        prop_assert!(whole.text.chars().all(|char| !char.is_control() || char == '\n' || char == '\t'), "{:?}", whole.text);
        let rows_are_clean = whole.screen.rows.iter().all(|row| row.chars().all(|char| !char.is_control()));
        prop_assert!(rows_are_clean, "{:?}", whole.screen.rows);
        prop_assert!(whole.text.chars().count() <= 50);
    }

    /// What is there is the same before and after it is read, wherever the cursor stands in a line.
    #[test]
    fn characters_behind_the_cursor(
        parts in vec(prop_oneof!["[ab ]{1,3}", "\x08{1,3}", "[\r\né]", Just("\x1b[K".to_owned())], 0..20),
        cols in 1u16..9,
    ) {
        let text = parts.concat();
        let mut terminal = Terminal::new(Size { cols, rows: 3 }, 1000);
        let mut fed = 0;
        for part in &parts {
            terminal.feed(part.as_bytes(), LineFeed::NewLine, None);
            fed += part.len();
            let mut whole = Terminal::new(Size { cols, rows: 3 }, 1000);
            whole.feed(&text.as_bytes()[..fed], LineFeed::NewLine, None);
            let total = terminal.transcript().total_chars();
            let tail = terminal.transcript().tail(1000);
            prop_assert_eq!(total, whole.transcript().total_chars());
            let read = whole.read(&mut Cursor::default(), usize::MAX).text;
            prop_assert_eq!(read.chars().count() as u64, total);
            prop_assert_eq!(read, tail);
        }
    }

    #[test]
    fn parsers(bytes in prop_oneof![stream(), vec(any::<u8>(), 0..300)], mut cuts in vec(0usize..400, 0..8)) {
        cuts.sort_unstable();
        let whole = parse(&bytes, &[]);
        prop_assert_eq!(&parse(&bytes, &cuts), &whole);
        prop_assert_eq!(&parse(&bytes, &single(&bytes)), &whole);
    }

    #[test]
    fn colours_only_cut_text(
        bytes in prop_oneof![stream(), vec("(\x1b\\[[0-9;]{0,30}m)?[a-z\t\r\né日\u{85}]{0,150}", 0..40).prop_map(|all| all.concat().into_bytes())],
        mut cuts in vec(0usize..4000, 0..8),
    ) {
        cuts.sort_unstable();
        let mut all = Filtered(Colourless::default());
        parse_to(&bytes, &[], &mut all);
        for cuts in [&[][..], &cuts] {
            let mut log = Colourless::default();
            parse_to(&bytes, cuts, &mut log);
            prop_assert_eq!(&log.0.events, &all.0.0.events);
        }
    }

    #[test]
    fn plain_bytes_are_decoded_as_the_standard_library_does(bytes in vec(prop_oneof![0x20u8..0x7f, 0x80u8..], 0..200)) {
        let lossy = String::from_utf8_lossy(&bytes).into_owned();
        prop_assume!(!lossy.chars().any(char::is_control));
        let size = Size { cols: 1000, rows: 5 };
        prop_assert_eq!(run(&bytes, &single(&bytes), size).tap, lossy);
    }

    #[test]
    fn readers_get_every_character_once(
        chunks in vec(stream(), 1..6),
        sizes in vec(1usize..40, 1..20),
    ) {
        // What was read is final: the reads together are what a reader of the frozen text sees at the end.
        let mut terminal = Terminal::new(Size::default(), 100_000);
        let mut cursor = terminal.transcript().cursor_at_start();
        let mut read = String::new();
        for (chunk, size) in chunks.iter().zip(sizes.iter().cycle()) {
            terminal.feed(chunk, LineFeed::NewLine, None);
            let got = terminal.read(&mut cursor, *size);
            prop_assert!(got.text.chars().count() <= *size);
            prop_assert_eq!(got.lost_chars, 0);
            prop_assert_eq!(got.remaining_chars, terminal.unread(&cursor));
            read += &got.text;
        }
        read += &terminal.read(&mut cursor, usize::MAX).text;
        prop_assert_eq!(terminal.transcript_mut().read_at(0, usize::MAX).text, read);
    }

    #[test]
    fn waits(parts in vec("[ab \r\n]{1,5}", 0..12), needle in "[ab]{1,3}", typed in "[ab]{0,4}\n") {
        let whole = parts.concat();
        let feed = |pieces: &[&str]| {
            let mut terminal = Terminal::new(Size::default(), 100);
            let mut wait = TextWait::new(&needle);
            wait.expect_echo(&Typed::new(&typed));
            for piece in pieces {
                terminal.feed(piece.as_bytes(), LineFeed::NewLine, Some(&mut |piece: Piece<'_>| {
                    wait.push(piece);
                }));
            }
            wait.is_matched()
        };
        let cut: Vec<&str> = parts.iter().map(String::as_str).collect();
        let single: Vec<&str> = whole.split_inclusive(|_: char| true).collect();
        prop_assert_eq!(feed(&[&whole]), feed(&cut));
        prop_assert_eq!(feed(&[&whole]), feed(&single));
    }
}
