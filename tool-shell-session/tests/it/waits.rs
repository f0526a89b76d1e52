//! Waits: what ends them, and that they hold nothing back.

use std::time::{Duration, Instant};

use serde_json::json;
use tool_api::CancellationToken;
use tool_shell_session::Config;

use crate::host::run;

#[test]
fn a_text_never_matches_the_typed_echo() {
    run(Config::default(), |host| async move {
        let (id, _) = host.start("PS1='$ ' sh", Some("$ ")).await;
        let begin = Instant::now();
        let answer = host.write(&id, "sleep 1 && echo done\n", "done").await;
        assert!(begin.elapsed() >= Duration::from_secs(1), "the echo was taken for the output: {}", answer.text);
        answer.expect(json!({"reason": "text"})).expect_output("\ndone\n");
    });
}

#[test]
fn a_text_that_is_printed_at_once_is_not_missed() {
    run(Config::default(), |host| async move {
        for _ in 0..20 {
            let (id, answer) = host.start("printf ready; exec cat", Some("ready")).await;
            answer.expect(json!({"reason": "text"})).expect_output("ready");
            host.call(json!({"action": "kill", "id": id})).await;
        }
    });
}

#[test]
fn every_wait_ends_at_exit() {
    run(Config::default(), |host| async move {
        for until in [json!("quiet"), json!("exit"), json!({"text": "never printed"})] {
            let start = json!({"action": "start", "command": "read x; exit 4", "until": "quiet", "waitMs": 30_000});
            let id = host.call(start).await.id();
            let write = json!({"action": "write", "id": id, "input": "go\n", "until": until, "waitMs": 60_000});
            let begin = Instant::now();
            let answer = host.call(write).await;
            assert!(begin.elapsed() < Duration::from_secs(20), "{}", answer.text);
            answer.expect(json!({"state": "exited", "exitCode": 4}));
            let again = json!({"action": "read", "id": id, "until": until, "waitMs": 60_000});
            host.call(again).await.expect(json!({"reason": "exit", "state": "exited"}));
            assert!(begin.elapsed() < Duration::from_secs(20), "a wait on what has ended waits");
        }
    });
}

#[test]
fn a_wait_ends_at_its_deadline_or_at_the_callers() {
    run(Config::default(), |host| async move {
        let start = json!({"action": "start", "command": "sleep 1000", "until": "exit", "waitMs": 50});
        let answer = host.call(start).await;
        answer.expect(json!({"reason": "deadline", "state": "running", "foreground": "sleep"}));
        let patient = json!({"action": "read", "id": answer.id(), "until": "exit", "waitMs": 60_000});
        let hasty = host.with(|ctx| ctx.with_wait_limit(Some(Duration::from_millis(50))));
        let limited = hasty.call(patient).await;
        limited.expect(json!({"reason": "limit", "state": "running"}));
        assert!(limited.text.contains("still waiting, call `read` again"), "{}", limited.text);
        let short = json!({"action": "read", "id": answer.id(), "until": "exit", "waitMs": 20});
        hasty.call(short).await.expect(json!({"reason": "deadline"}));
    });
}

#[test]
fn a_signal_during_a_wait_is_delivered_at_once() {
    run(Config::default(), |host| async move {
        let (id, _) =
            host.start("trap 'echo caught; exit 9' INT; echo set; while :; do sleep 0.1; done", Some("set")).await;
        let begin = Instant::now();
        let read = host.call(json!({"action": "read", "id": id, "until": "exit", "waitMs": 100_000}));
        let signal = host.call(json!({"action": "signal", "id": id, "signal": "INT"}));
        let (read, signal) = tokio::join!(read, signal);
        assert!(begin.elapsed() < Duration::from_secs(30), "the signal waited for the read");
        assert!(signal.text.contains("sent SIGINT to "), "{}", signal.text);
        read.expect(json!({"reason": "exit", "exitCode": 9})).expect_output("caught\n");
    });
}

#[test]
fn a_cancelled_start_leaves_the_session_running_and_listed() {
    run(Config::default(), |host| async move {
        let cancel = CancellationToken::new();
        let call = host.with(|ctx| ctx.with_cancel(cancel.clone()));
        let started = tokio::spawn(async move {
            let start = json!({"action": "start", "command": "echo up; exec cat", "until": "exit", "waitMs": 60_000});
            call.call(start).await
        });
        // Listed and with output unread: the start has begun to wait.
        loop {
            let list = host.call(json!({"action": "list"})).await;
            let sessions = list.json["sessions"].as_array().unwrap();
            if sessions.first().is_some_and(|session| session["unreadChars"].as_u64() > Some(0)) {
                break;
            }
            tokio::task::yield_now().await;
        }
        cancel.cancel();
        let answer = started.await.unwrap();
        answer.expect(json!({"reason": "cancelled", "state": "running", "output": "", "remainingChars": 3}));
        let id = answer.id();
        host.call(json!({"action": "read", "id": id})).await.expect(json!({"output": "up\n"}));

        let cancelled = CancellationToken::new();
        cancelled.cancel();
        let call = host.with(|ctx| ctx.with_cancel(cancelled));
        for arguments in [
            json!({"action": "read", "id": id, "until": "exit", "waitMs": 60_000}),
            json!({"action": "write", "id": id, "input": "x\n", "until": "exit", "waitMs": 60_000}),
        ] {
            call.call(arguments).await.expect(json!({"reason": "cancelled", "state": "running"}));
        }
        host.write(&id, "still here\n", "still here").await.expect(json!({"reason": "text"}));
    });
}

#[test]
fn a_start_that_is_cancelled_before_it_runs_leaves_nothing() {
    run(Config::default(), |host| async move {
        let cancelled = CancellationToken::new();
        cancelled.cancel();
        let call = host.with(|ctx| ctx.with_cancel(cancelled));
        let error = call.fail(json!({"action": "start", "command": "touch made"})).await;
        assert_eq!(error, "the call was cancelled before anything was started");
        host.call(json!({"action": "list"})).await.expect(json!({"sessions": []}));
        assert!(!host.root().join("made").exists());
    });
}

#[test]
fn dropping_a_call_leaves_the_session_running() {
    run(Config::default(), |host| async move {
        let (id, _) = host.start("exec cat", None).await;
        let read = host.call(json!({"action": "read", "id": id, "until": "exit", "waitMs": 60_000}));
        assert!(tokio::time::timeout(Duration::from_millis(50), read).await.is_err(), "the read waits");
        host.write(&id, "still here\n", "still here").await.expect(json!({"state": "running", "reason": "text"}));
    });
}

#[test]
fn words_that_look_like_a_prompt_are_not_one() {
    run(Config::default(), |host| async move {
        let start = json!({"action": "start", "command": "printf 'Starting: '; sleep 1000", "waitMs": 30_000});
        let answer = host.call(start).await;
        answer.expect(json!({"reason": "quiet", "state": "running"})).expect_output("Starting: ");
        assert!(answer.json.get("waitingFor").is_none(), "{}", answer.text);
    });
}

#[test]
fn without_a_wait_no_deadline_is_told() {
    run(Config::default(), |host| async move {
        let start = json!({"action": "start", "command": "echo up; exec sleep 1000", "waitMs": 0});
        let start = host.call(start).await;
        let id = start.id();
        host.call(json!({"action": "read", "id": id, "until": {"text": "never"}, "waitMs": 50})).await;
        for arguments in [
            json!({"action": "read", "id": id}),
            json!({"action": "read", "id": id, "until": "exit"}),
            json!({"action": "read", "id": id, "until": {"text": "up"}, "waitMs": 0}),
            json!({"action": "read", "id": id, "view": "screen"}),
            json!({"action": "write", "id": id, "input": "x", "waitMs": 0}),
            json!({"action": "resize", "id": id, "cols": 80, "rows": 24}),
            json!({"action": "signal", "id": id, "signal": "CONT"}),
        ] {
            let answer = host.call(arguments.clone()).await;
            let reason = answer.json["reason"].as_str().unwrap();
            assert!(["deadline", "quiet"].contains(&reason), "{arguments}: {}", answer.text);
            assert!(!answer.text.contains("deadline"), "{arguments}: {}", answer.text);
        }
        let waited = host.call(json!({"action": "read", "id": id, "until": "exit", "waitMs": 20})).await;
        assert!(waited.text.contains("(deadline: the time to wait is over)"), "{}", waited.text);
    });
}

#[test]
fn both_views_give_the_same_reason_at_the_same_prompt() {
    run(Config::default(), |host| async move {
        for command in ["read -r -p 'Name: ' x", "stty -icanon; printf '> '; exec cat", "read -r -s -p 'Secret: ' x"] {
            let start = json!({"action": "start", "command": command, "until": {"text": ": "}, "waitMs": 1_000});
            let id = host.call(start).await.id();
            // Until it is seen waiting.
            while host.call(json!({"action": "read", "id": id})).await.json.get("waitingFor").is_none() {}
            for wait in [0, 30_000] {
                for view in ["text", "screen", "text"] {
                    let read = json!({"action": "read", "id": id, "view": view, "waitMs": wait});
                    host.call(read).await.expect(json!({"reason": "input"}));
                }
            }
        }
    });
}

#[test]
fn a_text_that_is_not_read_yet_is_said_to_be_so() {
    run(Config { max_chars: 20, ..Config::default() }, |host| async move {
        let (id, first) = host.start("seq 1 50; echo the end; exec sleep 1000", Some("the end")).await;
        first.expect(json!({"reason": "text"}));
        assert!(!first.output().contains("the end"));
        assert!(first.text.contains("(text: it appeared in what is not read yet, read on)"), "{}", first.text);
        let (other, whole) = host.start("echo the end; exec sleep 1000", Some("the end")).await;
        assert!(whole.text.starts_with("s2: ") && whole.text.contains("(text: it appeared)"), "{}", whole.text);
        for id in [id, other] {
            host.call(json!({"action": "kill", "id": id})).await;
        }
    });
}
