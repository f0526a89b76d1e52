//! Limits, owners and tombstones.

use serde_json::json;
use tool_api::{Scope, ToolErrorKind};
use tool_shell_session::Config;

use crate::host::run;

#[test]
fn a_chat_at_its_limit_is_told_what_runs() {
    run(Config { per_chat: 2, ..Config::default() }, |host| async move {
        let start = json!({"action": "start", "command": "exec cat", "waitMs": 0});
        host.call(start.clone()).await;
        host.call(json!({"action": "start", "command": "sleep\t1000", "waitMs": 0})).await;
        let error = host.try_call(start.clone()).await.unwrap_err();
        assert_eq!(error.kind(), ToolErrorKind::Limit);
        assert_eq!(
            error.report(),
            "this chat already runs 2 sessions, its limit; nothing was started; running in this chat: s1 `exec cat`, \
             s2 `sleep\\t1000`\nhint: `kill` one that is not needed, then start again",
        );
        host.chat("chat-2").call(start.clone()).await;
        host.call(json!({"action": "kill", "id": "s1"})).await;
        host.call(start).await.expect(json!({"id": "s4"}));
    });
}

#[test]
fn a_host_at_its_limit_does_not_tell_of_other_chats() {
    run(Config { total: 2, ..Config::default() }, |host| async move {
        let start = json!({"action": "start", "command": "exec cat", "waitMs": 0});
        host.call(start.clone()).await;
        host.call(start.clone()).await;
        let report = host.chat("chat-2").fail(start).await;
        assert_eq!(
            report,
            "this host already runs 2 sessions, its limit; nothing was started\n\
             hint: they belong to other chats: try again when one of them has ended",
        );
    });
}

#[test]
fn finished_ones_never_count_and_the_newest_stay_readable() {
    run(Config { per_chat: 1, finished: 3, ..Config::default() }, |host| async move {
        for number in 1..=40 {
            let start = json!({
                "action": "start", "command": format!("echo number {number}; exit {number}"), "until": "exit",
                "waitMs": 30_000,
            });
            host.call(start).await.expect(json!({"exitCode": number, "output": format!("number {number}\n")}));
        }
        // The last one counts as finished once its guardian has gone, too.
        let list = loop {
            let list = host.call(json!({"action": "list"})).await;
            if list.json["sessions"].as_array().unwrap().len() == 3 {
                break list;
            }
            tokio::task::yield_now().await;
        };
        let sessions = list.json["sessions"].as_array().unwrap();
        let ids: Vec<&str> = sessions.iter().map(|session| session["id"].as_str().unwrap()).collect();
        assert_eq!(ids, ["s38", "s39", "s40"]);
        assert!(list.text.lines().all(|line| line.contains(": exited with code ")), "{}", list.text);
    });
}

#[test]
fn a_tombstone_keeps_code_and_unread_output() {
    run(Config::default(), |host| async move {
        let start = json!({"action": "start", "command": "echo last words; exit 7", "waitMs": 0});
        let id = host.call(start).await.id();
        // The start may have read a part or all of it.
        let mut end = host.call(json!({"action": "read", "id": id, "until": "exit", "waitMs": 30_000})).await;
        end.expect(json!({"state": "exited", "exitCode": 7, "endedBecause": "exit", "reason": "exit"}));
        end = host.call(json!({"action": "read", "id": id})).await;
        end.expect(json!({"state": "exited", "exitCode": 7, "output": "", "remainingChars": 0}));
        assert!(end.text.starts_with("s1: exited with code 7 after "), "{}", end.text);
        assert!(!host.tool.is_busy(&host.ctx.chat));
    });
}

#[test]
fn ids_of_other_chats_are_unknown() {
    run(Config::default(), |host| async move {
        let (id, _) = host.start("exec cat", None).await;
        let other = host.chat("chat-2");
        let hint = "hint: action `list` names the sessions of this chat";
        for (id, who) in [(id.as_str(), &other), ("s99", &host)] {
            for action in [
                json!({"action": "read", "id": id}),
                json!({"action": "write", "id": id, "input": "x"}),
                json!({"action": "resize", "id": id, "cols": 5, "rows": 5}),
                json!({"action": "signal", "id": id, "signal": "INT"}),
                json!({"action": "kill", "id": id}),
            ] {
                let error = who.try_call(action).await.unwrap_err();
                assert_eq!(error.kind(), ToolErrorKind::UnknownId);
                assert_eq!(error.report(), format!("this chat has no session `{id}`\n{hint}"));
            }
        }
        other.call(json!({"action": "list"})).await.expect(json!({"sessions": []}));
        host.write(&id, "mine\n", "mine").await.expect(json!({"reason": "text"}));
        assert!(host.tool.is_busy(&host.ctx.chat) && !host.tool.is_busy(&other.ctx.chat));
    });
}

#[test]
fn output_is_given_in_parts_and_in_order() {
    run(Config { max_chars: 100, ..Config::default() }, |host| async move {
        let start = json!({"action": "start", "command": "seq 1 300", "until": "exit", "waitMs": 30_000});
        let first = host.call(start).await;
        let whole: String = (1..=300).map(|number| format!("{number}\n")).collect();
        assert_eq!(first.output().chars().count(), 100);
        first.expect(json!({"remainingChars": whole.len() - 100, "lostChars": 0}));
        assert!(first.text.contains("characters not read yet: `read` gives the next part]"), "{}", first.text);
        let mut got = first.output().to_owned();
        while got.len() < whole.len() {
            let next = host.call(json!({"action": "read", "id": "s1", "maxChars": 256})).await;
            assert!(!next.output().is_empty() && next.output().len() <= 256);
            got.push_str(next.output());
        }
        assert_eq!(got, whole);
    });
}

#[test]
fn lost_output_is_counted() {
    run(Config { retained_chars: 1_000, ..Config::default() }, |host| async move {
        let command = "head -c 5000 /dev/zero | tr '\\0' x; echo; exit 2";
        let start = json!({"action": "start", "command": command, "until": "exit", "waitMs": 30_000});
        let answer = host.call(start).await;
        let lost = answer.json["lostChars"].as_u64().unwrap();
        assert_eq!(lost + answer.output().len() as u64, 5_001, "{}", answer.text);
        assert!(answer.output().len() >= 1_000 && lost > 3_000, "{}", answer.text);
        assert!(answer.text.contains("characters lost before this"), "{}", answer.text);
    });
}

#[test]
fn a_session_without_calls_or_too_old_is_stopped() {
    for (config, because) in [
        (Config { idle_ms: 1_000, ..Config::default() }, "idle"),
        (Config { lifetime_ms: 1_000, ..Config::default() }, "lifetime"),
    ] {
        run(config, move |host| async move {
            let (id, _) = host.start("exec cat", None).await;
            host.wait_for_exit(&id).await.expect(json!({"endedBecause": because}));
            host.tool.end(&Scope::Chat(host.ctx.chat.clone())).await;
        });
    }
}

#[test]
fn characters_are_whole_over_reads() {
    run(Config { max_chars: 1, ..Config::default() }, |host| async move {
        let start = json!({"action": "start", "command": "printf 'é😀漢e'", "until": "exit", "waitMs": 30_000});
        let mut got = host.call(start).await.output().to_owned();
        for _ in 0..3 {
            got.push_str(host.call(json!({"action": "read", "id": "s1", "maxChars": 1})).await.output());
        }
        assert_eq!(got, "é😀漢e");
    });
}

#[test]
fn a_progress_bar_is_one_line() {
    run(Config::default(), |host| async move {
        let command = "for i in $(seq 200); do printf '\\r\\033[32m%3d%%\\033[0m' $((i / 2)); done; echo";
        let start = json!({"action": "start", "command": command, "until": "exit", "waitMs": 30_000});
        host.call(start).await.expect(json!({"output": "100%\n"}));
    });
}

#[test]
fn starts_at_the_same_time_keep_the_limit() {
    run(Config { per_chat: 3, ..Config::default() }, |host| async move {
        let starts: Vec<_> = (0..12)
            .map(|_| {
                let host = host.clone();
                let start = json!({"action": "start", "command": "exec cat", "waitMs": 0});
                tokio::spawn(async move { host.try_call(start).await.map(|answer| answer.id()) })
            })
            .collect();
        let mut ids = std::collections::BTreeSet::new();
        for start in starts {
            match start.await.unwrap() {
                Ok(id) => assert!(ids.insert(id), "an id was given twice"),
                Err(error) => assert_eq!(error.kind(), ToolErrorKind::Limit),
            }
        }
        assert_eq!(ids.len(), 3);
    });
}

#[test]
fn a_kill_ends_the_waits_of_others() {
    run(Config::default(), |host| async move {
        let (id, _) = host.start("echo up; exec cat", Some("up\n")).await;
        let read = || host.call(json!({"action": "read", "id": id, "until": "exit", "waitMs": 100_000}));
        let (a, b, kill) = tokio::join!(read(), read(), host.call(json!({"action": "kill", "id": id})));
        for answer in [a, b] {
            answer.expect(json!({"reason": "exit", "endedBecause": "killed"}));
        }
        kill.expect(json!({"survivors": [], "stopped": 1}));
    });
}
