//! Typing: whole, in order, or refused.

use serde_json::json;
use tool_api::ToolErrorKind;
use tool_shell_session::Config;

use crate::host::{has, run};

#[test]
fn a_line_that_the_terminal_would_cut_is_refused() {
    run(Config::default(), |host| async move {
        let (id, _) = host.start("stty -echo; echo ready; head -n1 | wc -c", Some("ready")).await;
        let long = json!({"action": "write", "id": id, "input": format!("{}\n", "a".repeat(16_383))});
        let report = host.fail(long).await;
        assert!(report.contains("line too long: 16383 bytes") && report.contains("nothing was written"), "{report}");
        assert!(report.contains("hint: "), "{report}");
        host.write(&id, &format!("{}\n", "a".repeat(1_000)), "1001").await.expect(json!({"reason": "text"}));
    });
}

#[test]
fn a_program_that_does_not_read_gives_an_error_and_a_count() {
    run(Config { write_deadline_ms: 300, ..Config::default() }, |host| async move {
        let (id, _) = host.start("stty raw -echo; printf ready; exec sleep 1000", Some("ready")).await;
        let input = "x".repeat(16_384);
        let error = loop {
            match host.try_call(json!({"action": "write", "id": id, "input": input, "waitMs": 0})).await {
                Ok(_) => {}
                Err(error) => break error,
            }
        };
        assert_eq!(error.kind(), ToolErrorKind::State);
        let report = error.report();
        assert!(report.contains(" of 16384 bytes") && report.contains("does not read its input"), "{report}");
        host.call(json!({"action": "read", "id": id})).await.expect(json!({"state": "running"}));
    });
}

#[test]
fn two_writes_at_once_do_not_mix() {
    run(Config::default(), |host| async move {
        // Each is longer than what a terminal takes at once, so that both are under way together.
        let command = "stty raw -echo; printf ready; sleep 0.3; head -c 32000 > got; printf complete";
        let (id, _) = host.start(command, Some("ready")).await;
        let write = |character: &str| {
            host.call(json!({
                "action": "write", "id": id, "input": character.repeat(16_000), "until": {"text": "complete"},
                "waitMs": 30_000,
            }))
        };
        let (a, b) = tokio::join!(write("a"), write("b"));
        a.expect(json!({"reason": "text"}));
        b.expect(json!({"reason": "text"}));
        host.wait_for_exit(&id).await;
        let got = std::fs::read_to_string(host.root().join("got")).unwrap();
        let (a, b) = ("a".repeat(16_000), "b".repeat(16_000));
        assert!(got == format!("{a}{b}") || got == format!("{b}{a}"), "the inputs are mixed");
    });
}

#[test]
fn unknown_keys_list_near_ones_and_type_nothing() {
    run(Config::default(), |host| async move {
        let (id, _) = host.start("exec cat", None).await;
        let write = json!({"action": "write", "id": id, "input": "typed\n", "keys": ["entr"]});
        let error = host.try_call(write).await.unwrap_err();
        assert_eq!(error.kind(), ToolErrorKind::InvalidArguments);
        let report = error.report();
        assert!(report.contains("`keys`") && report.contains("entr") && report.contains("enter"), "{report}");
        let answer = host.write(&id, "second\n", "second").await;
        assert!(!answer.output().contains("typed"), "{}", answer.text);
    });
}

#[test]
fn keys_come_after_the_input() {
    run(Config::default(), |host| async move {
        let (id, _) = host.start("exec cat", None).await;
        let write = json!({
            "action": "write", "id": id, "input": "abx", "keys": "backspace enter ctrl-d", "until": "exit",
            "waitMs": 30_000,
        });
        let answer = host.call(write).await;
        answer.expect(json!({"state": "exited", "exitCode": 0})).expect_output("\nab\n");
    });
}

#[test]
fn a_control_s_in_the_text_does_not_freeze_the_output() {
    run(Config::default(), |host| async move {
        let (id, _) = host.start("while :; do echo tick; sleep 0.05; done", Some("tick")).await;
        host.write(&id, "\u{13}", "tick\ntick\n").await.expect(json!({"reason": "text"}));
    });
}

#[test]
fn what_has_ended_takes_no_input() {
    run(Config::default(), |host| async move {
        let (id, _) = host.start("exit 6", None).await;
        for (arguments, nothing) in [
            (json!({"action": "write", "id": id, "input": "x\n"}), "nothing was typed"),
            (json!({"action": "signal", "id": id, "signal": "INT"}), "nothing was signalled"),
            (json!({"action": "resize", "id": id, "cols": 80, "rows": 24}), "nothing was resized"),
        ] {
            let error = host.try_call(arguments).await.unwrap_err();
            assert_eq!(error.kind(), ToolErrorKind::State);
            let expected = format!(
                "session `s1` exited with code 6; {nothing}\nhint: `read` gives the output that is not read yet"
            );
            assert_eq!(error.report(), expected);
        }
        host.call(json!({"action": "kill", "id": id})).await.expect(json!({
            "stopped": 0, "survivors": [], "exitCode": 6, "endedBecause": "exit",
        }));
    });
}

#[test]
fn an_interrupt_loses_no_output() {
    if !has("python3") {
        return;
    }
    run(Config::default(), |host| async move {
        let program = "import os,signal,time; signal.signal(2,lambda *a: os._exit(42)); \
                       [os.write(1,b'%05d'%i) for i in range(1000)]; time.sleep(1000)";
        let start = json!({
            "action": "start", "command": format!("exec python3 -c \"{program}\""), "until": {"text": "00999"},
            "waitMs": 30_000,
        });
        let first = host.call(start).await;
        let end = host.keys(&first.id(), &["ctrl-c"]).await;
        end.expect(json!({"state": "exited", "exitCode": 42}));
        assert_eq!(first.output().len() + end.output().len(), 5_000);
    });
}

#[test]
fn the_end_of_the_program_ends_a_write() {
    run(Config { write_deadline_ms: 60_000, ..Config::default() }, |host| async move {
        let (id, _) = host.start("stty raw -echo; printf ready; exec sleep 1000", Some("ready")).await;
        let input = "x".repeat(16_384);
        let fill = async {
            loop {
                let write = json!({"action": "write", "id": id, "input": input, "waitMs": 0});
                if let Err(error) = host.try_call(write).await {
                    break error.report();
                }
            }
        };
        // The second piece does not fit, so the kill comes while it waits or before it begins.
        let kill = host.call(json!({"action": "signal", "id": id, "signal": "KILL"}));
        let (report, _) = tokio::join!(fill, kill);
        assert!(report.starts_with("session `s1` ended by SIGKILL; "), "{report}");
        assert!(report.contains(" bytes were typed") || report.contains("nothing was typed"), "{report}");
    });
}

#[test]
fn several_lines_are_a_paste_where_the_program_wants_that() {
    run(Config::default(), |host| async move {
        let (id, _) = host.start("PS1='$ ' exec bash --norc --noprofile -i", Some("$ ")).await;
        let paste = host
            .call(json!({"action": "write", "id": id, "input": "echo fi''rst\necho sec''ond", "waitMs": 30_000}))
            .await;
        assert!(!paste.output().contains("first"), "the paste ran line by line: {}", paste.text);
        host.write(&id, "\n", "second").await.expect_output("first\n").expect_output("second\n");
    });
}

#[test]
fn input_that_was_not_waited_for_tells_no_wait_of_the_program() {
    run(Config::default(), |host| async move {
        // It reads keys, so that it is blocked again at once.
        let (id, first) = host.start("stty -icanon -echo; printf ready; exec cat", None).await;
        assert!(first.json.get("waitingFor").is_some(), "{}", first.text);
        for _ in 0..20 {
            let write = json!({"action": "write", "id": id, "input": "x", "waitMs": 0});
            let answer = host.call(write).await;
            answer.expect(json!({"state": "running"}));
            assert_eq!(answer.json.get("waitingFor"), None, "{}", answer.text);
            assert!(!answer.text.contains("waits for"), "{}", answer.text);
        }
        let waited = json!({"action": "write", "id": id, "input": "x", "waitMs": 30_000});
        host.call(waited).await.expect(json!({"reason": "input", "waitingFor": "key"}));
    });
}
