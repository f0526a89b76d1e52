//! Waiting for a text: found in output, never in the echo of what was typed.

use process::echo::{TextWait, Typed};
use process::text::Piece;

/// Splits a raw stream into the pieces a parser would give.
fn push(wait: &mut TextWait, output: &str) -> bool {
    let mut start = 0;
    for (at, char) in output.char_indices() {
        let piece = match char {
            '\r' => Piece::CarriageReturn,
            '\x08' => Piece::Backspace,
            _ => continue,
        };
        if at > start {
            wait.push(Piece::Text(&output[start..at]));
        }
        wait.push(piece);
        start = at + 1;
    }
    if start < output.len() {
        wait.push(Piece::Text(&output[start..]));
    }
    wait.is_matched()
}

fn waiting(needle: &str, typed: Option<&str>) -> TextWait {
    let mut wait = TextWait::new(needle);
    if let Some(typed) = typed {
        wait.expect_echo(&Typed::new(typed));
    }
    wait
}

/// Pushes the outputs in one piece and character by character; only the last one matches.
#[track_caller]
fn check(needle: &str, typed: Option<&str>, outputs: &[&str]) {
    check_with(needle, typed, outputs, |_| {});
}

#[track_caller]
fn check_with(needle: &str, typed: Option<&str>, outputs: &[&str], set: fn(&mut TextWait)) {
    for single in [false, true] {
        let mut wait = waiting(needle, typed);
        set(&mut wait);
        for (n, output) in outputs.iter().enumerate() {
            let found = if single {
                output.chars().map(|char| push(&mut wait, char.encode_utf8(&mut [0; 4]))).last().unwrap_or(false)
            } else {
                push(&mut wait, output)
            };
            assert_eq!(found, n + 1 == outputs.len(), "{needle:?} after {output:?}, single {single}");
        }
    }
}

#[test]
fn found_in_output() {
    check("done", None, &["", "all ", "do", "done"]);
    check("aab", None, &["aa", "ab"]);
    check("a\nb", None, &["a\r", "\nb"]);
    check("a\r\nb", None, &["a\nb"]);
    check("login: ", None, &["host login:", " "]);
    check("é🚀", None, &["é", "🚀"]);
    check("ab", None, &["a\rb", "\nab"]);
    check("abd", None, &["abc", "\x08d"]);
    check("", None, &["x"]);
}

#[test]
fn the_echo_does_not_count() {
    check("done", Some("sleep 2 && echo done\n"), &["$ sleep 2 && echo ", "done\r\n", "do", "ne\r\n"]);
    check("foo", Some("foo\n"), &["foo\r\n", "foo\r\n"]);
    check("b", Some("a b\nb c\n"), &["a b\r\nb c\r\n", "b"]);
    check("x", Some("echo x\n\n"), &["$ echo x\r\n", "x"]);
    check("hello", Some("print('hello')\n"), &[">>> print('hello')\r\n", "hello\r\n"]);
    check("ready", Some("go\n"), &["g", "ready"]);
    check("done", Some("\x03echo done\n"), &["^C\r\n$ echo done\r\n", "done"]);
    check("done", Some("\x1b[A\x15echo done\n"), &["$ echo done\r\n", "done"]);
    check("b c", Some("a\tb c\n"), &["a   b c\r\n", "b c"]);
}

#[test]
fn a_line_that_is_not_echoed_does_not_hide_the_next() {
    check("done", Some("hunter2\necho done\n"), &["Password: \r\n$ echo done\r\n", "done"]);
    check("y", Some("xy\ny\n"), &["xy\r\ny\r\n", "y"]);
}

#[test]
fn output_in_front_of_the_echo_counts() {
    check("done", Some("echo done\n"), &["do", "ne\r\n"]);
    check("e", Some("echo\n"), &["e", "x"]);
    let mut wait = waiting("echo done\necho", Some("echo done\n"));
    assert!(!push(&mut wait, "echo done\necho"), "nothing reaches across an echo");
}

#[test]
fn a_second_echo_can_be_allowed() {
    let set: fn(&mut TextWait) = TextWait::allow_second_echo;
    check_with("done", Some("echo done\n"), &["echo done\r\n", "$ echo done\r\n", "done\r\n"], set);
    check_with("b", Some("a b\nc b\n"), &["a b\r\nc b\r\n", "$ a b\r\n", "$ c b\r\n", "b"], set);
    check("done", Some("echo done\n"), &["echo done\r\n", "$ echo done\r\n"]);
}

#[test]
fn the_wrapped_echo_of_a_line_editor_is_recognised() {
    let line = format!("echo {} done", "x".repeat(150));
    let typed = format!("{line}\n");
    let echo = format!("$ {} \r{}", &line[..118], &line[118..]);
    check("done", Some(&typed), &[&echo, "\r\n", "done\r\n"]);
    let echo = format!("$ {}{}\r{}", &line[..118], &line[118..119], &line[118..]);
    check("done", Some(&typed), &[&echo, "\r\n", "done\r\n"]);
    let redrawn = format!("$ ec\r$ {line}\r\n");
    check("done", Some(&typed), &[&redrawn, "done\r\n"]);
    check("ec", Some(&typed), &[&redrawn, "ec"]);
    check("done", Some("echo done\n"), &["e\x08ec\x08\x08echo done\r\n", "done"]);
}

/// What zsh 5.9 prints for a typed line on 40 columns.
#[test]
fn the_echo_of_zsh_is_recognised() {
    let typed = "echo abcdefghijklmnopqrstuvwxyzabcdefghijklmnopqrstuvwxyzabcdefghijklmnopqrstuvwxyzabcdefghijklmnopqrstuvwxyzabcdef done\n";
    let echo = "e\x08echo abcdefghijklmnopqrstuvwxyzabcdefg \rh\rhijklmnopqrstuvwxyzabcdefghijklmnopqrstu \rv\r\
        vwxyzabcdefghijklmnopqrstuvwxyzabcdef do \rn\rne\r\r\n";
    check("done", Some(typed), &[echo, "done\r\n"]);
    check("abc", Some(typed), &[echo, "abc\r\n"]);
}

#[test]
fn an_echo_may_look_like_itself() {
    check("x", Some("aaab x\n"), &["aaaab x\r\n", "x"]);
    check("aa", Some("aaa\n"), &["aaa\r\n", "a", "a"]);
}

#[test]
fn a_long_echo_and_much_output_stay_linear() {
    let line = "a".repeat(16_384);
    let mut wait = waiting("needle", Some(&format!("{line}b\n")));
    for _ in 0..200 {
        assert!(!wait.push(Piece::Text(&line)));
    }
    assert!(push(&mut wait, "c needle"));
}
