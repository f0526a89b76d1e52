//! The terminal as a whole: answers, modes, the lazily fed screen.

use crate::{sized, terminal};
use process::keys;
use process::screen::{LineFeed, Position, Screen, Size};
use process::terminal::{Modes, Terminal};
use proptest::collection::vec;
use proptest::prelude::*;

#[track_caller]
fn check_reply(input: &str, expected: &str) {
    let mut whole = terminal(input.as_bytes());
    assert_eq!(String::from_utf8_lossy(&whole.take_replies()), expected, "{input:?}");
    assert!(whole.take_replies().is_empty());
    let mut bytes = terminal(b"");
    let mut replies = Vec::new();
    for byte in input.as_bytes() {
        bytes.feed(&[*byte], LineFeed::NewLine, None);
        replies.extend(bytes.take_replies());
    }
    assert_eq!(String::from_utf8_lossy(&replies), expected, "{input:?} byte by byte");
}

#[test]
fn queries_are_answered() {
    check_reply("\x1b[5n", "\x1b[0n");
    check_reply("\x1b[6n", "\x1b[1;1R");
    check_reply("ab\ncde\x1b[6n", "\x1b[2;4R");
    check_reply("\x1b[10;20H\x1b[?6n", "\x1b[?10;20R");
    check_reply("\x1b[6nab\x1b[6n", "\x1b[1;1R\x1b[1;3R");
    check_reply("\x1b[5;9r\x1b[?6h\x1b[2;2H\x1b[6n", "\x1b[2;2R");
    check_reply("\x1b[c", "\x1b[?62;22c");
    check_reply("\x1b[0c\u{9b}c", "\x1b[?62;22c\x1b[?62;22c");
    check_reply("\x1b[>c", "\x1b[>1;10;0c");
    check_reply("\x1b]10;?\x07", "\x1b]10;rgb:d8d8/d8d8/d8d8\x07");
    check_reply("\x1b]11;?\x1b\\", "\x1b]11;rgb:1818/1818/1818\x1b\\");
    check_reply("\x1b]10;?;?\x07", "\x1b]10;rgb:d8d8/d8d8/d8d8\x07\x1b]11;rgb:1818/1818/1818\x07");
    check_reply(
        "\x1b]4;1;?;196;?;255;?\x07",
        "\x1b]4;1;rgb:cdcd/0000/0000\x07\x1b]4;196;rgb:ffff/0000/0000\x07\x1b]4;255;rgb:eeee/eeee/eeee\x07",
    );
    check_reply("\x1b[?2026$p", "\x1b[?2026;0$y");
    check_reply("\x1b[?2004$p\x1b[?2004h\x1b[?2004$p", "\x1b[?2004;2$y\x1b[?2004;1$y");
    check_reply("\x1b[?25$p\x1b[4$p\x1b[3$p", "\x1b[?25;1$y\x1b[4;2$y\x1b[3;0$y");
    let mut version = terminal(b"\x1b[>q");
    let reply = String::from_utf8(version.take_replies()).unwrap();
    assert!(reply.starts_with("\x1bP>|toolhost(") && reply.ends_with(")\x1b\\"), "{reply:?}");
}

#[test]
fn nothing_a_program_printed_comes_back() {
    for input in [
        "\x1b]0;evil\x07\x1b[21t",
        "\x1b[20t",
        "\x1bP$qm\x1b\\",
        "\x1b]52;c;?\x07",
        "\x05",
        "\x1b[?u",
        "\x1b]10;red\x07",
        "\x1b]4;300;?\x07",
        "\x1bP+q544e\x1b\\",
        "\x1b[=c",
        "\x1b]50;?\x07",
    ] {
        check_reply(input, "");
    }
}

#[test]
fn answers_are_bounded() {
    let mut t = terminal("\x1b[6n".repeat(100_000).as_bytes());
    assert_eq!(t.take_replies(), "\x1b[1;1R".repeat(64).into_bytes());
    t.feed(b"\x1b[5n", LineFeed::NewLine, None);
    assert_eq!(t.take_replies(), b"\x1b[0n");
}

#[test]
fn modes() {
    let check = |input: &str, expected: Modes| assert_eq!(terminal(input.as_bytes()).modes(), expected, "{input:?}");
    let none = Modes::default();
    check("", none);
    check("\x1b[?1h\x1b=", Modes { application_cursor: true, application_keypad: true, ..none });
    check("\x1b[?1;2004h\x1b[?1l", Modes { bracketed_paste: true, ..none });
    check("\x1b[?1049h", Modes { alternate_screen: true, ..none });
    check("\x1b[?47h\x1b[?1049l", none);
    check(
        "\x1b[?1002;1006h\x1b[?1004h\x1b[?25l",
        Modes { mouse: true, focus_events: true, hidden_cursor: true, ..none },
    );
    check("\x1b[?1h\x1b[?2004h\x1b[?1049h\x1bc", none);
    check("\x1b[?1h\x1b[?2004h\x1b[!p", Modes { bracketed_paste: true, ..none });
}

/// A screen that was fed everything shows the same as one that was fed late.
#[track_caller]
fn check_lazy(cols: u16, rows: u16, chunks: &[(Vec<u8>, LineFeed)]) {
    let size = Size { cols, rows };
    let mut eager = Screen::new(size);
    let mut lazy = Terminal::new(size, 1000);
    let bound = (64 * 1024).max(usize::from(cols) * usize::from(rows) * 4) + 16 * 1024;
    for (chunk, line_feed) in chunks {
        eager.feed(chunk, *line_feed);
        lazy.feed(chunk, *line_feed, None);
        assert!(lazy.pending_bytes() <= bound);
    }
    assert_eq!(lazy.screen(), eager.view());
}

#[test]
fn what_is_left_out_leaves_no_trace() {
    let log = |n: usize| (0..n).flat_map(|n| format!("\x1b[3{}mline {n}\x1b[m\x1b[K tail\n", n % 8).into_bytes());
    let bare = |n: usize| (0..n).map(|n| format!("{n}\n")).collect::<String>().into_bytes();
    let crlf = |n: usize| (0..n).map(|n| format!("{n} \r\n")).collect::<String>().into_bytes();
    let (new_line, index) = (LineFeed::NewLine, LineFeed::Index);
    check_lazy(80, 24, &[(log(100_000).collect(), new_line)]);
    check_lazy(80, 24, &[(bare(100_000), new_line), (b"end".to_vec(), new_line)]);
    check_lazy(80, 24, &[(bare(100_000), index), (b"end".to_vec(), index)]);
    check_lazy(80, 24, &[(crlf(100_000), index), (bare(50_000), new_line), (crlf(30), index)]);
    check_lazy(80, 24, &[(b"\x1b[?25l\x1b[5;10r".to_vec(), new_line), (bare(100_000), new_line)]);
    check_lazy(80, 24, &[(b"\x1b#8\x1b[H".to_vec(), new_line), (bare(100_000), new_line)]);
    check_lazy(80, 24, &[(b"\x1b]0;".to_vec(), new_line), (bare(100_000), new_line)]);
    check_lazy(80, 24, &[(b"\x1b(0".to_vec(), new_line), (b"lqk\n".repeat(50_000), new_line)]);
    check_lazy(10, 1000, &[(b"\x1b#8\x1b[H".to_vec(), new_line), (b"\n".repeat(100_000), new_line)]);
    check_lazy(1000, 5, &[(b"x".repeat(300_000), new_line), (bare(10), new_line)]);
    check_lazy(
        80,
        24,
        &[(b"\x1b[?1049h".to_vec(), new_line), (bare(50_000), new_line), (b"\x1b[?1049lx".to_vec(), new_line)],
    );
    let mut updates = bare(40_000);
    for n in 0..2000 {
        updates.extend(format!("\x1b[{};1Hn {n}\x1b[24;1H{n}\n", n % 24).into_bytes());
    }
    check_lazy(80, 24, &[(updates, new_line)]);
}

/// A part of a line without a line feed: plain, coloured, or with a character of two columns.
fn part_of_a_line() -> impl Strategy<Value = Vec<u8>> {
    prop_oneof![
        4 => (0u8..26, 0usize..30_000).prop_map(|(first, len)| {
            (0..len).map(|at| b'a' + ((usize::from(first) + at) % 26) as u8).collect()
        }),
        2 => "\x1b\\[(3[0-7]|7|)m".prop_map(String::into_bytes),
        1 => "[日\t]".prop_map(String::into_bytes),
        1 => "\r|\x08|\n|\x1b\\[K|\x1b\\[2;3H|\x1b\\[2;4r|\x1b\\[\\?7[hl]".prop_map(String::into_bytes),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(100) })]

    #[test]
    fn wraps_that_are_left_out_leave_no_trace(
        parts in vec(part_of_a_line(), 1..16),
        cols in 1u16..90,
        rows in 1u16..30,
        chunk in 1usize..40_000,
    ) {
        let whole = parts.concat();
        // Neither chunks of the program nor those of the reader matter.
        let as_printed: Vec<_> = parts.into_iter().map(|part| (part, LineFeed::Index)).collect();
        check_lazy(cols, rows, &as_printed);
        let as_read: Vec<_> = whole.chunks(chunk).map(|part| (part.to_vec(), LineFeed::Index)).collect();
        check_lazy(cols, rows, &as_read);
    }
}

#[test]
fn nothing_waits_on_the_alternate_screen() {
    let mut t = sized(80, 24, b"\x1b[?1049hfull screen");
    assert_eq!(t.pending_bytes(), 0);
    assert_eq!(t.screen().rows[0], "full screen");
    assert!(t.screen().alternate);
    t.feed(b"\x1b[?1049lback", LineFeed::Index, None);
    assert_eq!(t.screen().rows[0], "back");
}

#[test]
fn resizing_comes_after_what_was_printed_before() {
    let mut t = sized(20, 5, b"0123456789abcdef\n");
    t.resize(Size { cols: 10, rows: 5 });
    t.feed(b"0123456789abcdef", LineFeed::NewLine, None);
    assert_eq!(t.screen().rows, ["0123456789", "0123456789", "abcdef", "", ""]);
    assert_eq!(t.screen().cursor, Position { row: 2, col: 6 });
}

#[track_caller]
fn check_key(name: &str, expected: &str) {
    let bytes = keys::encode(name, &Modes::default()).expect("the key is known");
    assert_eq!(String::from_utf8_lossy(&bytes), expected, "{name}");
}

#[test]
fn keys_are_encoded() {
    check_key("enter", "\r");
    check_key("Tab", "\t");
    check_key("ESCAPE", "\x1b");
    check_key("up", "\x1b[A");
    check_key("end", "\x1b[F");
    check_key("pageup", "\x1b[5~");
    check_key("f1", "\x1bOP");
    check_key("F12", "\x1b[24~");
    check_key("backspace", "\x7f");
    check_key("delete", "\x1b[3~");
    check_key("space", " ");
    check_key("ctrl-c", "\x03");
    check_key("Ctrl-C", "\x03");
    check_key("ctrl-[", "\x1b");
    check_key("ctrl-\\", "\x1c");
    check_key("ctrl-space", "\0");
    check_key("ctrl--", "\x1f");
    check_key("alt-x", "\x1bx");
    check_key("alt--", "\x1b-");
    check_key("alt-enter", "\x1b\r");
    check_key("ctrl-alt-a", "\x1b\x01");
    check_key("shift-tab", "\x1b[Z");
    check_key("ctrl-left", "\x1b[1;5D");
    check_key("shift-up", "\x1b[1;2A");
    check_key("ctrl-shift-f5", "\x1b[15;6~");
    check_key("alt-é", "\x1bé");
    check_key("q", "q");
    check_key("-", "-");
    for name in keys::NAMES {
        assert!(keys::encode(name, &Modes::default()).is_ok(), "{name}");
    }
    let application = Modes { application_cursor: true, ..Modes::default() };
    assert_eq!(keys::encode("up", &application).unwrap(), b"\x1bOA");
    assert_eq!(keys::encode("home", &application).unwrap(), b"\x1bOH");
    assert_eq!(keys::encode("ctrl-up", &application).unwrap(), b"\x1b[1;5A");
}

#[test]
fn unknown_keys_list_near_ones() {
    let check = |name: &str, near: &[&str]| {
        let error = keys::encode(name, &Modes::default()).unwrap_err();
        assert_eq!(error.near, near, "{name}");
        assert!(error.to_string().starts_with("unknown key `"), "{error}");
    };
    check("entr", &["enter", "end"]);
    check("pagedwon", &["pagedown"]);
    check("ctrl-lfet", &["ctrl-left"]);
    check("crtl-x", &["ctrl-x"]);
    check("f13", &["f1", "f10", "f11"]);
    check("warp-drive", &[]);
    check("", &[]);
    check("ctrl-é", &[]);
    let long = keys::encode(&"\x1b[x".repeat(10_000), &Modes::default()).unwrap_err();
    assert!(long.to_string().len() < 500 && !long.to_string().contains('\x1b'));
}
