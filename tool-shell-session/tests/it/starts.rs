//! What a start gives the program, and how it fails.

use serde_json::json;
use tool_api::ToolErrorKind;
use tool_shell_session::Config;

use crate::host::run;

#[test]
fn the_program_gets_a_terminal_and_its_environment() {
    run(Config::default(), |host| async move {
        std::fs::create_dir(host.root().join("sub")).unwrap();
        let command = "tty >/dev/null && echo tty; stty size; pwd; \
                       echo $TERM $PAGER $GIT_PAGER $LANG \"[$A]\"; test -t 0 -a -t 1 -a -t 2 && echo all three";
        let start = json!({
            "action": "start", "command": command, "workdir": "sub", "env": {"A": "x=$(touch p)\n'y"},
            "cols": 101, "rows": 33, "until": "exit", "waitMs": 30_000,
        });
        let answer = host.call(start).await;
        let root = host.root().display();
        answer.expect(json!({
            "output": format!("tty\n33 101\n{root}/sub\nxterm-256color cat cat C.UTF-8 [x=$(touch p)\n'y]\nall three\n"),
            "exitCode": 0, "remainingChars": 0, "lostChars": 0,
        }));
        assert!(!host.root().join("sub/p").exists());
    });
}

#[test]
fn a_program_that_does_not_exist_is_the_shells_answer() {
    run(Config::default(), |host| async move {
        let start = json!({"action": "start", "command": "no-such-program-at-all", "until": "exit", "waitMs": 30_000});
        let answer = host.call(start).await;
        answer.expect(json!({"state": "exited", "exitCode": 127})).expect_output("no-such-program-at-all");
        assert!(answer.text.starts_with("s1: exited with code 127 after "), "{}", answer.text);
    });
}

#[test]
fn what_fails_before_the_program_runs_is_an_error_with_a_way_out() {
    run(Config::default(), |host| async move {
        let missing = json!({"action": "start", "command": "pwd", "workdir": "no/such"});
        let error = host.try_call(missing).await.unwrap_err();
        assert_eq!(error.kind(), ToolErrorKind::System);
        let report = error.report();
        assert!(report.contains("no/such") && report.contains("hint: "), "{report}");

        let long = json!({"action": "start", "command": format!(": {}", "x".repeat(200_000))});
        let report = host.fail(long).await;
        assert!(report.contains("too long") && report.contains("hint: "), "{report}");

        host.call(json!({"action": "list"})).await.expect(json!({"sessions": []}));
        assert!(!host.tool.is_busy(&host.ctx.chat));
    });
}

#[test]
fn a_shell_that_does_not_exist_is_named() {
    run(Config { shell: Some("/no/such/zsh".into()), ..Config::default() }, |host| async move {
        let report = host.fail(json!({"action": "start", "command": "pwd"})).await;
        assert!(report.contains("/no/such/zsh"), "{report}");
        host.call(json!({"action": "list"})).await.expect(json!({"sessions": []}));
    });
}

#[test]
fn nonsense_in_the_configuration_is_refused() {
    let engine = process::Engine::new(process::EngineConfig::default());
    let config = Config { per_chat: 0, ..Config::default() };
    let error = tool_shell_session::ShellSession::new(engine, config).unwrap_err();
    assert_eq!((error.key, error.to_string().as_str()), ("per_chat", "`per_chat`: got 0; allowed is 1 to 1000"));
}
