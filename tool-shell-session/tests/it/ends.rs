//! Ends: by a call, by the chat, by the project; nothing of a tree is left.

use std::sync::Arc;
use std::time::{Duration, Instant};

use serde_json::json;
use tool_api::{Scope, Workspace};
use tool_shell_session::Config;

use crate::host::{Host, run};

/// Jobs, a stopped one, and ones that left the session or the process group.
const ESCAPEES: &str = "sleep 1071& nohup sleep 1072 >/dev/null 2>&1 & setsid sleep 1073& \
     (setsid sleep 1074 >/dev/null 2>&1 &); set -m; sleep 1075 & set +m; \
     (env -i PATH=$PATH SHELL_SESSION_TEST=$SHELL_SESSION_TEST setsid sleep 1076 >/dev/null 2>&1 &); \
     sleep 1077 & kill -STOP $!; trap '' HUP TERM INT; echo up; sleep 1079";

async fn escapees(host: &Host) -> String {
    let (id, _) = host.start(ESCAPEES, Some("up\n")).await;
    let deadline = Instant::now() + Duration::from_secs(20);
    while (1071..=1079)
        .filter(|number| *number != 1078)
        .any(|number| !host.processes().iter().any(|command| command.contains(&format!("sleep {number}"))))
    {
        assert!(Instant::now() < deadline, "not all run: {:?}", host.processes());
        tokio::task::yield_now().await;
    }
    id
}

#[test]
fn kill_ends_the_whole_tree_and_says_so() {
    run(Config { grace_ms: 200, ..Config::default() }, |host| async move {
        let id = escapees(&host).await;
        let answer = host.call(json!({"action": "kill", "id": id})).await;
        assert_eq!(host.processes(), Vec::<String>::new());
        answer.expect(json!({"endedBecause": "killed", "survivors": [], "reason": "exit", "heldBy": []}));
        assert!(answer.json["stopped"].as_u64() >= Some(8), "{}", answer.text);
        assert!(answer.text.contains("nothing of its process tree is left"), "{}", answer.text);
        host.call(json!({"action": "kill", "id": id})).await.expect(json!({"stopped": 0, "endedBecause": "killed"}));
    });
}

#[test]
fn a_program_that_ignores_everything_is_killed_after_the_grace() {
    run(Config { grace_ms: 300, ..Config::default() }, |host| async move {
        let command = "trap '' HUP INT TERM QUIT; echo up; while :; do sleep 1; done";
        let (id, _) = host.start(command, Some("up\n")).await;
        let begin = Instant::now();
        let answer = host.call(json!({"action": "kill", "id": id})).await;
        assert!(begin.elapsed() < Duration::from_secs(10), "{:?}", begin.elapsed());
        answer.expect(json!({"state": "signaled", "signal": "SIGKILL", "endedBecause": "killed"}));
    });
}

#[test]
fn the_end_of_a_chat_leaves_nothing_of_it() {
    run(Config { grace_ms: 200, ..Config::default() }, |host| async move {
        escapees(&host).await;
        let other = host.chat("chat-2");
        let (kept, _) = other.start("exec cat", None).await;
        host.tool.end(&Scope::Chat(host.ctx.chat.clone())).await;
        assert!(host.processes().iter().all(|command| command.starts_with("cat")), "{:?}", host.processes());
        assert!(!host.tool.is_busy(&host.ctx.chat) && host.tool.is_busy(&other.ctx.chat));
        other.write(&kept, "still here\n", "still here").await.expect(json!({"reason": "text"}));
        host.tool.end(&Scope::Chat(host.ctx.chat.clone())).await;
    });
}

#[test]
fn the_end_of_a_project_ends_its_chats_alone() {
    run(Config::default(), |host| async move {
        let elsewhere = Arc::new(Workspace::new("/"));
        let other = host.chat("chat-2").with(|ctx| ctx.with_workspace(elsewhere.clone()));
        host.start("exec cat", None).await;
        let (kept, _) = other.start("exec cat", None).await;
        host.tool.end(&Scope::Project((*host.ctx.workspace).clone())).await;
        assert!(!host.tool.is_busy(&host.ctx.chat));
        other.write(&kept, "still here\n", "still here").await.expect(json!({"reason": "text"}));
    });
}

#[test]
fn the_end_of_the_host_takes_no_start_any_more() {
    run(Config { grace_ms: 200, ..Config::default() }, |host| async move {
        escapees(&host).await;
        host.tool.end(&Scope::Host).await;
        assert_eq!(host.processes(), Vec::<String>::new());
        let report = host.fail(json!({"action": "start", "command": "exec cat"})).await;
        assert!(report.contains("nothing was started"), "{report}");
    });
}

#[test]
fn a_child_that_holds_the_terminal_does_not_hide_the_exit() {
    run(Config::default(), |host| async move {
        // Not before the child has left the session: the end of a session hangs up on its foreground group.
        let command = "(setsid sh -c ': >left; exec sleep 1000' &); until [ -e left ]; do :; done; echo done; exit 3";
        let start = json!({"action": "start", "command": command, "until": "exit", "waitMs": 30_000});
        let begin = Instant::now();
        let answer = host.call(start).await;
        assert!(begin.elapsed() < Duration::from_secs(20), "the exit was held back");
        answer.expect(json!({"state": "exited", "exitCode": 3})).expect_output("done\n");
        let held_by = answer.json["heldBy"].as_array().unwrap();
        assert_eq!(held_by.len(), 1, "{}", answer.text);
        assert!(held_by[0]["command"].as_str().unwrap().contains("sleep 1000"), "{}", answer.text);
        assert!(answer.text.contains("[still holding the terminal: "), "{}", answer.text);
        host.call(json!({"action": "kill", "id": answer.id()})).await.expect(json!({
            "stopped": 1, "survivors": [], "heldBy": [], "exitCode": 3,
        }));
        assert_eq!(host.processes(), Vec::<String>::new());
    });
}

#[test]
fn signals_reach_the_foreground_program() {
    run(Config::default(), |host| async move {
        let (id, _) = host.start("trap 'echo usr1' USR1; echo up; while :; do sleep 0.05; done", Some("up\n")).await;
        let stopped = host.call(json!({"action": "signal", "id": id, "signal": "SIGSTOP"})).await;
        stopped.expect(json!({"state": "stopped", "reason": "deadline"}));
        let head = stopped.text.lines().next();
        assert_eq!(head, Some("s1: stopped: `signal` CONT lets it go on, and what is typed waits until then"));
        let going = host.call(json!({"action": "signal", "id": id, "signal": "CONT"})).await;
        going.expect(json!({"state": "running", "reason": "deadline"}));
        assert!(!going.text.contains("deadline"), "nothing was waited for: {}", going.text);
        let (id, _) = host.start("echo up; exec sleep 1000", Some("up\n")).await;
        let answer = host.call(json!({"action": "signal", "id": id, "signal": "KILL"})).await;
        answer.expect(json!({"state": "signaled", "signal": "SIGKILL", "endedBecause": "exit", "reason": "exit"}));
        assert!(answer.text.contains("[sent SIGKILL to "), "{}", answer.text);
    });
}

#[test]
fn a_stopped_program_waits_for_nothing() {
    run(Config::default(), |host| async move {
        for command in ["exec cat", "read -r -s -p 'Password: ' x"] {
            let (id, first) = host.start(command, None).await;
            first.expect(json!({"reason": "input"}));
            let stopped = host.call(json!({"action": "signal", "id": id, "signal": "STOP"})).await;
            stopped.expect(json!({"state": "stopped"}));
            let read = host.call(json!({"action": "read", "id": id})).await;
            for answer in [stopped, read] {
                assert_eq!(answer.json.get("waitingFor"), None, "{}", answer.text);
                assert!(!answer.text.contains("waits for a") && !answer.text.contains("secret"), "{}", answer.text);
            }
            host.call(json!({"action": "signal", "id": id, "signal": "CONT"})).await;
            let read = json!({"action": "read", "id": id, "waitMs": 30_000});
            host.call(read).await.expect(json!({"state": "running", "reason": "input"}));
        }
    });
}
