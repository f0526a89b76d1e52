//! A secret is hidden although two reads or two rows of the screen share it, and nothing is lost by that.

use std::borrow::Cow;
use std::io::Write;
use std::ops::Range;
use std::sync::Arc;

use serde_json::{Value, json};
use tool_api::Mask;
use tool_shell_session::Config;

use crate::host::{Host, run};

const DIGITS: usize = 12;

/// Hides `tok-` and twelve digits.
#[derive(Debug)]
struct Tokens;

impl Mask for Tokens {
    fn mask<'t>(&self, before: &str, text: &'t str, after: &str) -> Cow<'t, str> {
        let mut masked = text.to_owned();
        for secret in self.secrets(before, text, after).into_iter().rev() {
            masked.replace_range(secret, "[hidden]");
        }
        Cow::Owned(masked)
    }

    fn secrets(&self, before: &str, text: &str, after: &str) -> Vec<Range<usize>> {
        let whole = [before, text, after].concat();
        let (from, to) = (before.len(), before.len() + text.len());
        let tokens =
            whole.match_indices("tok-").map(|(at, word)| at..at + word.len() + digits(&whole[at + word.len()..]));
        let tokens = tokens.filter(|token| token.len() == 4 + DIGITS && token.start < to && token.end > from);
        tokens.map(|token| token.start.max(from) - from..token.end.min(to) - from).collect()
    }

    fn unfinished(&self, text: &str) -> usize {
        let Some(at) = text.rfind("tok-") else { return 0 };
        let is_open = digits(&text[at + 4..]) == text.len() - at - 4 && text.len() - at < 4 + DIGITS;
        if is_open { text.len() - at } else { 0 }
    }
}

fn digits(text: &str) -> usize {
    text.bytes().take(DIGITS).take_while(u8::is_ascii_digit).count()
}

fn masked(host: &Host) -> Host {
    host.with(|ctx| ctx.with_mask(Arc::new(Tokens)))
}

/// A pipe with a name, on which a program waits without asking the terminal for anything.
fn fifo(host: &Host) -> std::path::PathBuf {
    let path = host.root().join("go");
    assert!(std::process::Command::new("mkfifo").arg(&path).status().unwrap().success());
    path
}

fn output(answer: &Value) -> &str {
    answer["output"].as_str().unwrap()
}

#[test]
fn a_token_that_comes_in_two_writes() {
    run(Config::default(), |host| async move {
        let host = masked(&host);
        let go = fifo(&host);
        let command = "printf 'a tok-123456'; read -r x < go; printf '789012 b\\n'";
        let start = json!({"action": "start", "command": command, "until": {"text": "a tok-123456"}, "waitMs": 30_000});
        let first = host.call(start).await;
        first.expect(json!({"reason": "text", "output": "a ", "remainingChars": 10}));
        std::fs::OpenOptions::new().write(true).open(&go).unwrap().write_all(b"\n").unwrap();
        let rest =
            host.call(json!({"action": "read", "id": first.json["id"], "until": "exit", "waitMs": 30_000})).await;
        rest.expect(json!({"output": "[hidden] b\n", "remainingChars": 0, "exitCode": 0}));
    });
}

#[test]
fn what_is_kept_back_is_given_when_nothing_follows() {
    run(Config::default(), |host| async move {
        let host = masked(&host);
        let go = fifo(&host);
        let start = json!({"action": "start", "command": "printf 'a tok-12'; read -r x < go", "until": {"text": "tok-12"}, "waitMs": 30_000});
        let first = host.call(start).await;
        let id = &first.json["id"];
        let mut seen = output(&first.json).to_owned();
        while seen.len() < 8 {
            let read = host.call(json!({"action": "read", "id": id, "waitMs": 100})).await;
            read.expect(json!({"state": "running"}));
            seen.push_str(output(&read.json));
        }
        assert_eq!(seen, "a tok-12");
        std::fs::OpenOptions::new().write(true).open(&go).unwrap().write_all(b"\n").unwrap();
    });
}

#[test]
fn prompts_and_ends_are_given_at_once() {
    run(Config::default(), |host| async move {
        let host = masked(&host);
        let (_, prompt) = host.start("printf 'tok-12'; read -r x", None).await;
        prompt.expect(json!({"reason": "input", "output": "tok-12", "remainingChars": 0}));
        let end = json!({"action": "start", "command": "printf 'tok-12'", "until": "exit", "waitMs": 30_000});
        host.call(end).await.expect(json!({"reason": "exit", "output": "tok-12", "remainingChars": 0}));
    });
}

#[test]
fn a_token_that_max_chars_divides() {
    run(Config::default(), |host| async move {
        let host = masked(&host);
        let go = fifo(&host);
        let command = "read -r x < go; printf 'x tok-123456789012 y\\n'";
        let id = host.call(json!({"action": "start", "command": command, "waitMs": 1})).await.id();
        std::fs::OpenOptions::new().write(true).open(&go).unwrap().write_all(b"\n").unwrap();
        let mut pieces = String::new();
        for remaining in [13, 5, 0] {
            let read = json!({"action": "read", "id": id, "maxChars": 8, "until": "exit", "waitMs": 30_000});
            let read = host.call(read).await;
            read.expect(json!({"remainingChars": remaining}));
            pieces.push_str(output(&read.json));
        }
        assert_eq!(pieces, "x [hidden][hidden][hidden] y\n");
    });
}

#[test]
fn a_token_that_the_screen_wraps() {
    run(Config::default(), |host| async move {
        let host = masked(&host);
        let command = "printf '%070dtok-123456789012 end\\n' 7; exec cat";
        let start = json!({"action": "start", "command": command, "cols": 80, "rows": 5, "until": {"text": "end"}, "waitMs": 30_000});
        let id = host.call(start).await.json["id"].clone();
        let screen = host.call(json!({"action": "read", "id": id, "view": "screen"})).await;
        let rows = screen.json["screen"]["rows"].as_array().unwrap();
        assert_eq!(rows[0], format!("{:070}{}", 7, "*".repeat(10)));
        assert_eq!(rows[1], format!("{} end", "*".repeat(6)));
        assert!(!screen.text.contains("tok-"), "{}", screen.text);
    });
}
