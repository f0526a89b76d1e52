//! A few bytes never cost much: bounded memory whatever comes, and work that does not grow with parameters.

use crate::{sized, terminal, text};
use process::screen::LineFeed;
use process::terminal::Terminal;
use std::time::{Duration, Instant};

/// Generous: a debug build on a busy machine; what is unbounded takes minutes.
const LIMIT: Duration = Duration::from_secs(20);

#[track_caller]
fn check(input: &[u8], look: impl Fn(&mut Terminal)) {
    let start = Instant::now();
    for alternate in [false, true] {
        let mut t = terminal(if alternate { b"\x1b[?1049h" } else { b"" });
        for chunk in input.chunks(4095) {
            t.feed(chunk, LineFeed::NewLine, None);
            assert!(t.pending_bytes() <= 80 * 1024 + 4095, "{} bytes wait", t.pending_bytes());
            assert!(t.take_replies().len() < 64 * 64);
        }
        look(&mut t);
        assert!(t.screen().rows.iter().map(String::len).sum::<usize>() < 256 * 1024);
        assert!(t.transcript().total_chars() - t.transcript().start() <= 256_000);
    }
    assert!(start.elapsed() < LIMIT, "{:?}", start.elapsed());
}

#[test]
fn repeats() {
    check(&b"a\x1b[65535b".repeat(2000), |t| assert!(t.screen().rows[0].starts_with("aaaa")));
    check(&"日\x1b[65535b".repeat(50).into_bytes(), |t| assert!(t.screen().rows[0].starts_with("日日")));
}

#[test]
fn titles() {
    let title = [b"\x1b]0;", "t".repeat(100_000).as_bytes(), b"\x07"].concat();
    let mut input = title.clone();
    input.extend(b"\x1b[22;0t".repeat(5000));
    input.extend(b"shown");
    check(&input, |t| assert_eq!(text(t), "shown"));
}

#[test]
fn marks() {
    let mut input = b"a".to_vec();
    input.extend("\u{301}".repeat(1_000_000).into_bytes());
    check(&input, |t| assert_eq!(t.screen().rows[0], "a\u{301}\u{301}\u{301}"));
}

#[test]
fn to_and_fro_over_marks() {
    let mut input = "\u{301}".repeat(60_000).into_bytes();
    input.insert(0, b'a');
    input.extend(b"\x08\x1b[2C".repeat(20_000));
    check(&input, |t| assert_eq!(t.transcript().total_chars(), 60_001));
}

#[test]
fn storms() {
    check(b"ab\x08\x1b[65535@".repeat(20_000).as_slice(), |t| assert!(t.transcript().total_chars() < 200_000));
    for last in "LM@PSTXbIZABCDEFGHdJK".chars() {
        check(format!("x\x1b[65535{last}").repeat(20_000).as_bytes(), |_| {});
    }
    check(b"\x1b[9999999999;9999999999;9999999999H\x1b[99999999999999999999@".repeat(5000).as_slice(), |_| {});
    check(format!("\x1b[{}m", "1;".repeat(500_000)).as_bytes(), |_| {});
}

#[test]
fn a_large_screen() {
    let mut t = sized(1000, 1000, b"");
    let start = Instant::now();
    t.feed(&b"a\x1b[65535b\x1b[2J\x1b[65535L\x1b[65535S\n".repeat(200), LineFeed::NewLine, None);
    assert_eq!(t.screen().rows.len(), 1000);
    assert!(start.elapsed() < LIMIT, "{:?}", start.elapsed());
}

#[test]
fn strings_without_an_end() {
    for open in ["\x1b]0;", "\x1bP", "\x1b_", "\x1bX", "\x1b^", "\u{9d}", "\u{90}"] {
        let mut t = terminal(open.as_bytes());
        let chunk = b"a\n".repeat(8192);
        for _ in 0..200 {
            t.feed(&chunk, LineFeed::NewLine, None);
            assert!(t.pending_bytes() <= 80 * 1024 + chunk.len());
        }
        t.feed(b"\nVISIBLE\n", LineFeed::NewLine, None);
        assert!(text(&mut t).ends_with("a\n\nVISIBLE\n"), "{open:?}");
        let rows = t.screen().rows;
        assert_eq!(rows[38], "VISIBLE", "{open:?}: {rows:?}");
    }
}

#[test]
fn an_image_in_one_line_is_swallowed() {
    for (open, len) in [("\x1b]1337;File=inline=1:", 1_000_000), ("\x1bPq", 900_000)] {
        let input = format!("before{open}{}\x1b\\after", "A".repeat(len));
        check(input.as_bytes(), |t| assert_eq!(text(t), "beforeafter"));
    }
}

#[test]
fn a_string_ends_after_a_mebibyte() {
    let input = format!("\x1b]0;{}", "A".repeat((1 << 20) + 10));
    let mut t = terminal(input.as_bytes());
    assert_eq!(text(&mut t), "A".repeat(12), "two bytes of the limit are `0;`");
}
