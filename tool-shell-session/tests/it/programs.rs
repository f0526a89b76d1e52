//! Real programs: each one's text or screen, and its end.

use serde_json::json;
use tool_shell_session::Config;

use crate::host::{has, run};

#[test]
fn a_python_repl_computes() {
    if !has("python3") {
        return;
    }
    run(Config::default(), |host| async move {
        let (id, first) = host.start("python3 -q", Some(">>> ")).await;
        assert_eq!(id, "s1");
        first.expect_output(">>> ").expect(json!({"state": "running", "reason": "text"}));
        assert!(first.json["foreground"].as_str().unwrap().starts_with("python3"), "{}", first.text);
        let answer = host.call(json!({"action": "write", "id": id, "input": "2**64\n", "waitMs": 30_000})).await;
        answer.expect_output("18446744073709551616\n>>> ").expect(json!({"reason": "input", "waitingFor": "key"}));
        host.write(&id, "raise SystemExit(3)\n", "never printed").await.expect(
            json!({"state": "exited", "exitCode": 3, "endedBecause": "exit", "reason": "exit", "foreground": null}),
        );
    });
}

#[test]
fn a_scaffolder_gets_its_answers() {
    run(Config::default(), |host| async move {
        host.file(
            "create.sh",
            "read -p 'Project name: ' name\nread -p 'Use TypeScript? (y/n) ' ts\necho \"created $name, $ts\"\n",
        );
        let (id, first) = host.start("bash create.sh", None).await;
        first.expect_output("Project name: ").expect(json!({"reason": "input", "waitingFor": "line"}));
        let second = host.call(json!({"action": "write", "id": id, "input": "demo\n", "waitMs": 30_000})).await;
        second.expect_output("Use TypeScript? (y/n) ").expect(json!({"reason": "input", "waitingFor": "line"}));
        let last = host.write(&id, "y\n", "created demo, y").await;
        last.expect_output("created demo, y\n");
        host.wait_for_exit(&id).await.expect(json!({"state": "exited", "exitCode": 0}));
    });
}

#[test]
fn a_shell_keeps_its_state() {
    run(Config::default(), |host| async move {
        let (id, first) = host.start("PS1='$ ' sh", Some("$ ")).await;
        first.expect_output("$ ");
        host.write(&id, "cd / && x=41\n", "$ ").await;
        host.write(&id, "echo $((x + 1)) $PWD\n", "42 /").await.expect_output("42 /\n");
        host.write(&id, "exit 5\n", "never printed").await.expect(json!({"state": "exited", "exitCode": 5}));
    });
}

#[test]
fn ctrl_c_ends_a_loop() {
    run(Config::default(), |host| async move {
        let (id, _) = host.start("while :; do echo tick; sleep 0.05; done", Some("tick\ntick\n")).await;
        let answer = host.keys(&id, &["ctrl-c"]).await;
        if answer.json["state"] == "running" {
            host.wait_for_exit(&id).await;
        }
        host.call(json!({"action": "read", "id": id})).await.expect(json!({
            "state": "signaled", "signal": "SIGINT", "exitCode": null, "endedBecause": "exit",
        }));
    });
}

#[test]
fn less_shows_pages() {
    if !has("less") {
        return;
    }
    run(Config::default(), |host| async move {
        let lines: Vec<String> = (1..=200).map(|number| format!("line {number}")).collect();
        host.file("long.txt", &lines.join("\n"));
        let arguments =
            json!({"action": "start", "command": "less long.txt", "rows": 10, "cols": 40, "waitMs": 30_000});
        let id = host.call(arguments).await.id();
        let first = host.screen(&id, |rows| rows[0] == "line 1" && rows[9].starts_with("long.txt")).await;
        assert_eq!(first.json["screen"]["alternate"], true);
        assert!(first.text.contains("[alternate screen, 40 columns, 10 rows, cursor at row 9"), "{}", first.text);
        host.keys(&id, &["space"]).await;
        host.screen(&id, |rows| rows[0] == "line 10").await;
        host.call(json!({"action": "write", "id": id, "input": "/line 150\n"})).await;
        host.screen(&id, |rows| rows[0] == "line 150").await;
        host.keys(&id, &["q"]).await;
        host.wait_for_exit(&id).await.expect(json!({"exitCode": 0}));
    });
}

#[test]
fn vim_edits_a_file() {
    if !has("vim") {
        return;
    }
    run(Config::default(), |host| async move {
        let path = host.file("note.txt", "one\n");
        let (id, first) = host.start("vim -N -u NONE -i NONE -n '+set showmode' note.txt", Some("note.txt")).await;
        let hint = "[a full-screen program is on: `read` with view \"screen\" shows it whole]";
        assert!(first.text.ends_with(hint), "{}", first.text);
        host.screen(&id, |rows| rows[0] == "one" && rows[1] == "~").await;
        host.call(json!({"action": "write", "id": id, "input": "Otwo"})).await;
        let insert = host.screen(&id, |rows| rows[39].contains("-- INSERT --")).await;
        assert_eq!(insert.rows()[..2], ["two", "one"]);
        assert_eq!(insert.json["screen"]["cursor"], json!({"row": 0, "col": 3}));
        host.keys(&id, &["escape"]).await;
        host.call(json!({"action": "resize", "id": id, "cols": 60, "rows": 20})).await;
        host.screen(&id, |rows| rows.len() == 20 && rows[18] == "~").await;
        host.call(json!({"action": "write", "id": id, "input": ":wq\n"})).await;
        host.wait_for_exit(&id).await.expect(json!({"exitCode": 0}));
        assert_eq!(std::fs::read_to_string(path).unwrap(), "two\none\n");
    });
}

#[test]
fn top_shows_its_table() {
    if !has("top") {
        return;
    }
    run(Config::default(), |host| async move {
        let (id, _) = host.start("top -d 60", None).await;
        host.screen(&id, |rows| rows.iter().any(|row| row.contains("PID") && row.contains("COMMAND"))).await;
        host.keys(&id, &["q"]).await;
        host.wait_for_exit(&id).await.expect(json!({"exitCode": 0}));
    });
}

#[test]
fn git_log_needs_no_pager_key() {
    if !has("git") {
        return;
    }
    run(Config::default(), |host| async move {
        let git = "git -c user.name=a -c user.email=a@b -c init.defaultBranch=main";
        let command = format!(
            "{git} init -q . && {git} commit -q --allow-empty -m first && for i in $(seq 2 60); do \
             {git} commit -q --allow-empty -m \"commit $i\"; done; git log --oneline"
        );
        let (id, _) = host.start(&command, Some(" first")).await;
        let answer = host.wait_for_exit(&id).await;
        answer.expect(json!({"exitCode": 0}));
    });
}

#[test]
fn fzf_draws_its_list_without_an_alternate_screen() {
    if !has("fzf") {
        return;
    }
    run(Config::default(), |host| async move {
        let (id, _) = host.start("printf 'one\\ntwo\\nthree\\n' | fzf --height 40%", None).await;
        let list = host.screen(&id, |rows| rows.iter().any(|row| row.contains("3/3"))).await;
        assert_eq!(list.json["screen"]["alternate"], false);
        host.call(json!({"action": "write", "id": id, "input": "tw"})).await;
        host.screen(&id, |rows| rows.iter().any(|row| row.contains("1/3"))).await;
        host.keys(&id, &["enter"]).await;
        let end = host.wait_for_exit(&id).await;
        end.expect(json!({"exitCode": 0}));
    });
}

#[test]
fn a_node_readline_prompt_is_answered() {
    if !has("node") {
        return;
    }
    run(Config::default(), |host| async move {
        host.file(
            "ask.js",
            "const rl = require('readline').createInterface({ input: process.stdin, output: process.stdout });\n\
             rl.question('Name? ', (name) => { console.log('Hello ' + name); rl.close(); });\n",
        );
        let (id, first) = host.start("node ask.js", Some("Name? ")).await;
        first.expect_output("Name? ");
        host.write(&id, "Ada\n", "Hello Ada").await.expect_output("Hello Ada");
        host.wait_for_exit(&id).await.expect(json!({"exitCode": 0}));
    });
}

#[test]
fn a_debugger_steps() {
    if !has("python3") {
        return;
    }
    run(Config::default(), |host| async move {
        host.file("sum.py", "total = 0\nfor i in range(5):\n    total += i\nprint('total', total)\n");
        let (id, _) = host.start("python3 -m pdb sum.py", Some("(Pdb) ")).await;
        host.write(&id, "b 4\n", "(Pdb) ").await.expect_output("Breakpoint 1 at");
        host.write(&id, "c\n", "(Pdb) ").await.expect_output("print('total', total)");
        host.write(&id, "p total * 2\n", "(Pdb) ").await.expect_output("20\n(Pdb) ");
        host.write(&id, "q\n", "never printed").await.expect(json!({"state": "exited", "exitCode": 0}));
    });
}
