//! What is refused, and in which words.

use serde_json::json;

use super::*;

#[track_caller]
fn check(arguments: Value, expected: &str) {
    let error = Request::parse(arguments, &Config::default()).expect_err("it is refused");
    assert_eq!(error.kind(), ToolErrorKind::InvalidArguments);
    let report = error.report();
    assert!(!report.contains(|character: char| character.is_control() && character != '\n'), "{report:?}");
    assert_eq!(report, expected);
}

#[track_caller]
fn accept(arguments: Value) -> Request {
    Request::parse(arguments, &Config::default()).unwrap_or_else(|error| panic!("{}", error.report()))
}

fn wait(until: WaitUntil, ms: u64, explicit: bool) -> Wait {
    Wait { until, time: Duration::from_millis(ms), explicit }
}

#[test]
fn an_action_is_needed() {
    let actions = "start, write, read, resize, signal, kill, list";
    check(json!({}), &format!("argument `action`: is missing; allowed is {actions}"));
    check(json!({"action": "stop"}), &format!("argument `action`: got \"stop\"; allowed is {actions}"));
    check(json!({"action": 1}), &format!("argument `action`: got 1; allowed is {actions}"));
    check(json!({"action": null}), &format!("argument `action`: got null; allowed is {actions}"));
    check(json!([1]), "the arguments must be a JSON object, got [1]");
}

#[test]
fn unknown_arguments_are_named() {
    check(json!({"action": "kill", "id": "s1", "force": true}), "argument `force`: is unknown; `kill` takes id");
    check(
        json!({"action": "read", "id": "s1", "max_chars": 5}),
        "argument `max_chars`: is unknown, did you mean `maxChars`?; `read` takes id, view, maxChars, until, waitMs",
    );
    check(
        json!({"action": "list", "a\u{1b}[31mb": 1}),
        "argument `a\\u{1b}[31mb`: is unknown; `list` takes no argument",
    );
}

#[test]
fn arguments_of_another_action_are_refused() {
    check(
        json!({"action": "write", "id": "s1", "input": "a", "maxChars": 5}),
        "argument `maxChars`: is for read, not for `write`; `write` takes id, input, keys, until, waitMs",
    );
    check(
        json!({"action": "kill", "id": "s1", "waitMs": 5}),
        "argument `waitMs`: is for start, write, read, not for `kill`; `kill` takes id",
    );
    check(
        json!({"action": "start", "command": "cat", "id": "s1"}),
        "argument `id`: is for write, read, resize, signal, kill, not for `start`; \
         `start` takes command, workdir, env, cols, rows, until, waitMs",
    );
}

#[test]
fn missing_arguments_are_named() {
    let hint = "\nhint: action `list` names the sessions of this chat";
    for action in ["write", "read", "resize", "signal", "kill"] {
        check(json!({"action": action}), &format!("argument `id`: is missing; `{action}` needs it{hint}"));
    }
    check(json!({"action": "start"}), "argument `command`: is missing; `start` needs it");
    check(json!({"action": "resize", "id": "s1", "rows": 5}), "argument `cols`: is missing; `resize` needs it");
    check(json!({"action": "resize", "id": "s1", "cols": 5}), "argument `rows`: is missing; `resize` needs it");
    let both = "argument `cols`: is missing, and so is `rows`; `resize` needs both";
    check(json!({"action": "resize", "id": "s1"}), both);
    check(json!({"action": "signal", "id": "s1"}), "argument `signal`: is missing; `signal` needs it");
    let report = Request::parse(json!({"action": "write", "id": "s1"}), &Config::default()).unwrap_err().report();
    assert!(report.starts_with("argument `input`: is empty or missing, and so is `keys`\nhint: give"), "{report}");
}

#[test]
fn numbers_out_of_range_are_refused_not_clamped() {
    let side = "allowed is a whole number from 1 to 1000";
    for got in [json!(0), json!(1001), json!(-1), json!(1.5), json!("80"), json!(null), json!(1e300)] {
        check(
            json!({"action": "start", "command": "cat", "cols": got}),
            &format!("argument `cols`: got {got}; {side}"),
        );
        check(
            json!({"action": "resize", "id": "s1", "cols": 80, "rows": got}),
            &format!("argument `rows`: got {got}; {side}"),
        );
    }
    check(
        json!({"action": "read", "id": "s1", "maxChars": 50_001}),
        "argument `maxChars`: got 50001; allowed is a whole number from 1 to 50000",
    );
    check(
        json!({"action": "read", "id": "s1", "waitMs": 300_001}),
        "argument `waitMs`: got 300001; allowed is a whole number from 0 to 300000",
    );
    let request = accept(json!({"action": "read", "id": "s1", "maxChars": 50_000.0, "waitMs": 300_000}));
    let wait = wait(WaitUntil::Quiet, 300_000, true);
    assert_eq!(request, Request::Read { id: "s1".to_owned(), view: View::Text, max_chars: 50_000, wait });
}

#[test]
fn a_null_is_no_value() {
    for (action, name) in [
        ("start", "command"),
        ("start", "workdir"),
        ("start", "env"),
        ("start", "cols"),
        ("write", "input"),
        ("write", "keys"),
        ("read", "id"),
        ("read", "view"),
        ("read", "maxChars"),
        ("read", "until"),
        ("read", "waitMs"),
        ("signal", "signal"),
    ] {
        let error = Request::parse(json!({"action": action, name: null}), &Config::default()).unwrap_err();
        let report = error.report();
        assert!(report.starts_with(&format!("argument `{name}`: got null; allowed is ")), "{report}");
    }
}

#[test]
fn texts_that_cannot_be_given_are_refused() {
    let nul = "contains a NUL character, which no program can be given";
    check(json!({"action": "start", "command": "a\0b"}), &format!("argument `command`: {nul}"));
    check(json!({"action": "start", "command": "a", "workdir": "/\0"}), &format!("argument `workdir`: {nul}"));
    check(json!({"action": "start", "command": "a", "env": {"A": "\0"}}), &format!("argument `env`: `A` {nul}"));
    check(json!({"action": "start", "command": ""}), "argument `command`: is empty");
    for blanks in [" ", "\t\n ", "\u{a0}"] {
        check(json!({"action": "start", "command": blanks}), "argument `command`: is only blanks");
    }
    check(json!({"action": "start", "command": ["ls"]}), "argument `command`: got [\"ls\"]; allowed is a text");
    check(
        json!({"action": "start", "command": "a", "env": {"A=B": "c"}}),
        "argument `env`: has the variable name \"A=B\"; a name is not empty and has no `=`",
    );
    check(json!({"action": "start", "command": "a", "env": {"A": 1}}), "argument `env`: `A` got 1; allowed is a text");
    check(
        json!({"action": "write", "id": "s1", "input": "é".repeat(16_385)}),
        "argument `input`: has 16385 characters; allowed are 0 to 16384",
    );
    accept(json!({"action": "write", "id": "s1", "input": "é".repeat(16_384)}));
}

#[test]
fn words_are_listed() {
    check(
        json!({"action": "read", "id": "s1", "view": "raw"}),
        "argument `view`: got \"raw\"; allowed is text, screen",
    );
    let signals = "INT, TERM, HUP, QUIT, KILL, STOP, CONT, USR1, USR2, with or without SIG";
    for got in [json!("WINCH"), json!("SIGSIGINT"), json!("SIG"), json!(9)] {
        check(
            json!({"action": "signal", "id": "s1", "signal": got}),
            &format!("argument `signal`: got {got}; allowed is {signals}"),
        );
    }
    let until = r#"allowed is "quiet", "exit" or {"text": "..."}"#;
    for got in [json!("done"), json!({}), json!({"text": "a", "re": "b"}), json!({"quiet": true}), json!(5)] {
        check(json!({"action": "read", "id": "s1", "until": got}), &format!("argument `until`: got {got}; {until}"));
    }
    check(json!({"action": "read", "id": "s1", "until": {"text": ""}}), "argument `until`: `text` is empty");
    check(json!({"action": "write", "id": "s1", "keys": []}), "argument `keys`: has 0 keys; allowed are 1 to 256");
    check(
        json!({"action": "write", "id": "s1", "keys": [1]}),
        r#"argument `keys`: got [1]; allowed is a list of key names, for example ["down", "enter"]"#,
    );
}

#[test]
fn defaults_depend_on_the_action() {
    let start = accept(json!({"action": "start", "command": "cat"}));
    let expected = Start {
        command: "cat".to_owned(),
        workdir: None,
        env: BTreeMap::new(),
        cols: 120,
        rows: 40,
        wait: wait(WaitUntil::Quiet, 1_000, false),
    };
    assert_eq!(start, Request::Start(expected));
    let read = accept(json!({"action": "read", "id": "s1", "until": "exit"}));
    let expected = Request::Read {
        id: "s1".to_owned(),
        view: View::Text,
        max_chars: 10_000,
        wait: wait(WaitUntil::Exit, 0, false),
    };
    assert_eq!(read, expected);
    let write = accept(json!({"action": "write", "id": "s1", "keys": "down  enter", "until": {"text": "> "}}));
    let expected = Request::Write {
        id: "s1".to_owned(),
        input: String::new(),
        keys: vec!["down".to_owned(), "enter".to_owned()],
        wait: wait(WaitUntil::Text("> ".to_owned()), 1_000, false),
    };
    assert_eq!(write, expected);
    assert_eq!(accept(json!({"action": "list"})), Request::List);
}
