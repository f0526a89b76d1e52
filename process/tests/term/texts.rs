//! Clean text: what is removed, what is folded, what a reader gets and loses.

use crate::{sized, terminal, text};
use process::parse::Parser;
use process::screen::LineFeed;
use process::text::{Piece, Transcript};

#[track_caller]
fn check(input: &str, expected: &str) {
    check_bytes(input.as_bytes(), expected);
}

#[track_caller]
fn check_bytes(input: &[u8], expected: &str) {
    let mut whole = terminal(input);
    whole.finish(None);
    assert_eq!(text(&mut whole), expected, "in one piece: {:?}", String::from_utf8_lossy(input));
    let mut bytes = terminal(b"");
    for byte in input {
        bytes.feed(&[*byte], LineFeed::NewLine, None);
    }
    bytes.finish(None);
    assert_eq!(text(&mut bytes), expected, "byte by byte: {:?}", String::from_utf8_lossy(input));
}

#[test]
fn sequences_are_removed() {
    check("\x1b[31mred\x1b[0m", "red");
    check("\x1b[38;2;1;2;3m\x1b[4:3mx\x1b[?25l\x1b[!p\x1b[ q\x1b[>c\x1b[1;2\"py", "xy");
    check("a\x1b]0;title\x07b\x1b]0;title\x1b\\c", "abc");
    check("a\x1bPq#0;2\x1b\\b\x1b_Gi=1\x1b\\c\x1b^pm\x1b\\d\x1bXsos\x1b\\e", "abcde");
    check("a\x1b(Bb\x1b)0c\x1b#8d\x1b7e\x1b=f\x1b%Gg\x1bch", "abcdefgh");
    check("a\u{9b}31mb\u{9d}0;t\u{9c}c\u{90}d\u{9c}d\u{9f}x\u{9c}e\u{85}f\u{98}s\u{9c}g\u{9e}p\u{9c}h", "abcdefgh");
    check("a\x1b]8;;http://x\x1b\\link\x1b]8;;\x1b\\b", "alinkb");
    check("\x1bPtmux;\x1b\x1b]52;c;QQ==\x07\x1b\\x", "x");
}

#[test]
fn controls_are_removed() {
    check("a\x00b\x01\x07\x0b\x0c\x0e\x0f\x7fc", "abc");
    check("a\tb\nc", "a\tb\nc");
    let controls: String = (0u8..0x20).filter(|c| !b"\x08\t\n\r\x1b".contains(c)).map(char::from).collect();
    check(&controls, "");
}

#[test]
fn cut_and_broken_sequences() {
    check("a\x1b", "a");
    check("a\x1b[31", "a");
    check("a\x1b]0;never ended", "a");
    check("a\x1b[3\x181mb", "a1mb");
    check("a\x1b[3\x1a1mb", "a1mb");
    check("a\x1b[3\x1b[1mb", "ab");
    check("a\x1b[3\nmb", "a\nb");
    check("a\x1b]0;t\x18b", "ab");
    check("a\x1b[é", "aé");
    check("a\x1bé", "aé");
    check("a\x1b[1?2mb", "ab");
    check("a\x1b]0;\u{e9}\u{20ac}\x07b", "ab");
}

#[test]
fn invalid_utf8_is_replaced_as_the_standard_library_does() {
    for input in [
        &b"caf\xe9 x"[..],
        b"\xff\xfe",
        b"\xe2\x82",
        b"\xe2\x82x",
        b"\xf0\x9f\x98x",
        b"\xf0\x9f\xe2\x82\xac",
        b"\xed\xa0\x80",
        b"\xc0\x80",
        b"\xf4\x90\x80\x80",
        b"\x80\x80",
        b"ok\xc2",
    ] {
        check_bytes(input, &String::from_utf8_lossy(input));
    }
    check_bytes(b"\xe2\x82\x1b[m\xac", "\u{FFFD}\u{FFFD}");
}

#[test]
fn line_ends() {
    check("a\r\nb\r\r\nc\n\nd", "a\nb\nc\n\nd");
    check("\r\n", "\n");
    check("\rabc", "abc");
    check("a\r\x1b[K\nb", "a\nb");
}

#[test]
fn rewritten_lines() {
    check("abc\r", "abc");
    check("abc\rd", "d");
    check("abc\rde\rf\n", "f\n");
    check("x\nabc\rd\n", "x\nd\n");
    check("abc\r\x1b[31mdef", "def");
    let frames: String = (1..=200).map(|n| format!("\r{n:3}/200 done")).collect();
    check(&format!("start\n{frames}\nend\n"), "start\n200/200 done\nend\n");
    let emoji: String = (1..=50).map(|n| format!("\r🚀 {}é", "█".repeat(n))).collect();
    check(&emoji, &format!("🚀 {}é", "█".repeat(50)));
}

#[test]
fn backspaces() {
    check("abc\x08X", "abX");
    check("abc\x08\x08X", "aXc");
    check("abc\x08 \x08d\n", "abd\n");
    check("abc\x08 \x08\r\n", "ab\n");
    check("N\x08NA\x08A", "NA");
    check("_\x08x_\x08y", "xy");
    check("\x08\x08a", "a");
    check("a\n\x08b", "a\nb");
    check("日\x08\x08x", "x");
    check("e\u{301}\x08x", "x");
    check("abc\x08\x08\n", "abc\n");
    check("abc\x08\x08\rX", "X");
    check("/\x08-\x08\\\x08|\x08 \x08done", "done");
    check("abc\x08\x08xy", "axy");
    check("abc\x08\x08xyz\n", "axyz\n");
    check("abc\x08\x08\x1b[31mxy\x1b[K!", "axy!");
    check("ab\x08\x08é!", "é!");
    check("ab\x08\x08\x08\x08xy", "xy");
    check("é\x08x", "x");
}

/// What bash 5.2 prints for these keys.
#[test]
fn a_line_editor_works_in_the_line() {
    let back = "\x08".repeat(8);
    check(
        &format!("$ echo hello wrld done{back}\x1b[1@o{} x\x08\x1b[Ky\r\n", "\x1b[C".repeat(8)),
        "$ echo hello world done y\n",
    );
    check("日本\x08\x08\x1b[K\x08\x08\x1b[KX done\r\n", "X done\n");
    check("abcdef\x08\x08\x08\x08\x1b[Kx\n", "abx\n");
    check("abcdef\x08\x08\x08\x1b[2Px\n", "abcx\n");
    check("abcdef\x08\x08\x1b[9Cx\n", "abcdefx\n");
    // Nobody went back: sequences mean nothing to text.
    check("abc\x1b[K\x1b[2P\x1b[C\x1b[@d", "abcd");
    check("abc\r\x1b[K\x1b[Cd", "d");
}

#[test]
fn zsh_wraps_by_itself() {
    let zsh = "$ e\x08echo abcdefghijklmnopqrstuvwxyzabcdefg \r\x1b[Kh\rhijklmnopqrstuvwxyz\r\r\nout\n\
        \x1b[1m\x1b[7m#\x1b[27m\x1b[1m\x1b[0m                                       \r \r\r\x1b[0m\x1b[J$ \x1b[K";
    let expected = "$ echo abcdefghijklmnopqrstuvwxyzabcdefghijklmnopqrstuvwxyz\nout\n$ ";
    assert_eq!(text(&mut sized(40, 20, zsh.as_bytes())), expected);
}

#[test]
fn a_line_editor_wraps_by_itself() {
    let line = "x".repeat(130);
    let echoed = format!("$ {} \r{}\r\n", &line[..118], &line[118..]);
    check(&echoed, &format!("$ {line}\n"));
    // The other way of readline: the next character, then the row again from its start.
    let long: String = ('a'..='z').cycle().take(300).collect();
    let first = &long[..118];
    let second = &long[118..238];
    let third = &long[238..];
    let echoed = format!("$ {first}{}\r{second} \r{third}", &long[118..119]);
    check(&echoed, &format!("$ {long}"));
    // Not at the margin, it is a new version.
    check("50% \r60% ", "60% ");
    let mut pipe = Transcript::new(1000);
    let mut parser = Parser::new();
    pipe.feed(&mut parser, format!("{} \ry", "x".repeat(120)).as_bytes());
    assert_eq!(pipe.read_at(0, 1000).text, "y", "a pipe has no margin");
    let mut narrow = sized(10, 5, b"0123456789 \rabc");
    assert_eq!(text(&mut narrow), "0123456789abc");
}

#[test]
fn what_was_read_is_not_taken_back() {
    let mut t = terminal(b"10%");
    let mut cursor = t.transcript().cursor_at_start();
    assert_eq!(t.read(&mut cursor, 100).text, "10%");
    t.feed(b"\r20%\r30%", LineFeed::NewLine, None);
    assert_eq!(t.unread(&cursor), 4);
    assert_eq!(t.read(&mut cursor, 100).text, "\n30%");
    t.feed(b"\r", LineFeed::NewLine, None);
    assert_eq!(t.read(&mut cursor, 100).text, "");
    t.feed(b"\nnext", LineFeed::NewLine, None);
    assert_eq!(t.read(&mut cursor, 100).text, "\nnext");
}

#[test]
fn half_a_line_was_read() {
    let mut t = terminal(b"abcdef");
    let mut cursor = t.transcript().cursor_at_start();
    let read = t.read(&mut cursor, 3);
    assert_eq!((read.text.as_str(), read.remaining_chars), ("abc", 3));
    t.feed(b"\rxyz", LineFeed::NewLine, None);
    assert_eq!(t.read(&mut cursor, 100).text, "\nxyz");
    t.feed(b"\x08\x08\x08\x08Z", LineFeed::NewLine, None);
    assert_eq!(t.read(&mut cursor, 100).text, "Z");
}

#[test]
fn reads_are_bounded_and_go_on() {
    let mut t = terminal("aé日🚀\nb".as_bytes());
    let mut cursor = t.transcript().cursor_at_start();
    let mut all = String::new();
    for left in (0..6).rev() {
        let read = t.read(&mut cursor, 1);
        assert_eq!((read.remaining_chars, read.lost_chars), (left, 0));
        all += &read.text;
    }
    assert_eq!(all, "aé日🚀\nb");
    assert_eq!(t.read(&mut cursor, 10).text, "");
    assert_eq!(cursor.offset(), 6);
}

#[test]
fn exactly_the_last_characters_are_retained() {
    for (retained, unit) in [(10, "a"), (10, "é"), (1000, "日本\n"), (256_000, "0123456789\n"), (7, "🚀x\n")] {
        let mut t = Transcript::new(retained);
        let mut parser = Parser::new();
        let mut other = t.cursor_at_start();
        let input = unit.repeat(3 * retained.max(30_000));
        for chunk in input.as_bytes().chunks(4095) {
            t.feed(&mut parser, chunk);
        }
        let total = input.chars().count() as u64;
        assert_eq!(t.total_chars(), total);
        let read = t.read(&mut other, usize::MAX);
        assert_eq!(read.lost_chars, total - retained as u64);
        let expected: String = input.chars().skip(total as usize - retained).collect();
        assert!(read.text == expected, "{retained} of {unit:?}");
        assert_eq!(t.read(&mut other, 10).lost_chars, 0);
    }
}

#[test]
fn a_rewritten_line_gives_back_what_it_had_pushed_out() {
    let mut t = Transcript::new(10);
    let mut parser = Parser::new();
    t.feed(&mut parser, b"12345678\nabcdefghijk\rz");
    assert_eq!(t.read_at(0, 100).text, "12345678\nz");
}

#[test]
fn a_line_without_end_is_bounded() {
    let mut t = Transcript::new(1000);
    let mut parser = Parser::new();
    let chunk = [b'x'; 4095];
    for _ in 0..10_000 {
        t.feed(&mut parser, &chunk);
    }
    t.feed(&mut parser, b"\rnext");
    let read = t.read_at(0, usize::MAX);
    assert_eq!(read.lost_chars, 10_000 * 4095 + 5 - 1000);
    assert!(read.text.ends_with("xxx\nnext"), "a line that long is not taken back");
}

#[test]
fn two_readers_do_not_hinder_each_other() {
    let mut t = terminal(b"one\n");
    let mut first = t.transcript().cursor_at_start();
    let mut second = t.transcript_mut().cursor_at_end();
    t.feed(b"two\n", LineFeed::NewLine, None);
    assert_eq!(t.read(&mut second, 100).text, "two\n");
    assert_eq!(t.read(&mut first, 100).text, "one\ntwo\n");
    assert_eq!(t.transcript_mut().read_at(4, 100).text, "two\n");
}

#[test]
fn last_lines() {
    let check = |input: &str, lines: usize, expected: &str| {
        assert_eq!(terminal(input.as_bytes()).transcript().tail(lines), expected, "{input:?} {lines}");
    };
    check("a\nb\nc\n", 2, "b\nc\n");
    check("a\nb\nc", 2, "b\nc");
    check("a\nb\nc\n\n", 2, "c\n\n");
    check("a\n", 5, "a\n");
    check("", 5, "");
    check("a\nb", 0, "");
    check("a\n  \x08\x08", 1, "a\n");
    check("a\nbc\x08\x08", 1, "bc");
    check("a\né\x08", 1, "é");
    let long: String = (0..20_000).map(|n| format!("line é {n}\n")).collect();
    check(&long, 2, "line é 19998\nline é 19999\n");
    check(&long, 3000, &long.lines().skip(17_000).map(|line| format!("{line}\n")).collect::<String>());
}

#[test]
fn two_streams_have_a_decoder_each() {
    let (mut out, mut err, mut t) = (Parser::new(), Parser::new(), Transcript::new(1000));
    t.feed(&mut out, b"a\xf0\x9f");
    t.feed(&mut err, b"E\x1b[");
    t.feed(&mut out, b"\x9a\x80b");
    t.feed(&mut err, b"31mF\xe2");
    t.finish(&mut out);
    t.finish(&mut err);
    assert_eq!(t.read_at(0, 100).text, "aE🚀bF\u{FFFD}");
}

#[test]
fn a_tap_sees_text_before_it_is_folded() {
    let mut seen = Vec::new();
    let mut t = terminal(b"");
    let mut tap = |piece: Piece<'_>| seen.push(format!("{piece:?}"));
    t.feed(b"\x1b[1ma\rb\x08\n", LineFeed::NewLine, Some(&mut tap));
    assert_eq!(seen, [r#"Text("a")"#, "CarriageReturn", r#"Text("b")"#, "Backspace", r#"Text("\n")"#]);
}
