//! Modes and workflow policies over the protocol: what is asked, what is refused, and what the model is told.

use host::mcp::{Config, WithoutElicitation};
use policy::{Mode, Policy, RuleTable, Rules, WorkflowPolicy};
use serde_json::{Value, json};

use crate::approvals::{commands, denied};
use crate::client::{Client, ERAS, Era, call_with, decide, texts};
use crate::embedded::Fixture;

fn opened(policy: Policy, era: Era) -> (Fixture, Client) {
    let (fixture, client) = Fixture::serve_policy(Config::default(), policy);
    (fixture, client.open(era))
}

fn rules(table: &str) -> Rules {
    let table: RuleTable = serde_json::from_str(table).unwrap();
    Rules::new(&table, "toolhost.toml:3", None).unwrap()
}

/// Calls `gate` where nobody may be asked.
#[track_caller]
fn unasked(client: &mut Client, arguments: Value) -> Value {
    call_with(client, "gate", arguments, |params| panic!("asked: {params}"))
}

#[test]
fn the_question_of_a_session_start_shows_all_of_it() {
    let command = format!("make \"a\u{1b}[2J b\"\nmake \u{202e}{} end", "long ".repeat(300));
    for era in ERAS {
        let policy = Policy::new().with_layer(rules(r#"{"bash": {"make *": "ask"}}"#));
        let (fixture, mut client) = opened(policy, era);
        let mut asked = Vec::new();
        let result = call_with(&mut client, "gate", commands(&[&command]), |params| {
            asked.push(params["message"].as_str().unwrap().to_owned());
            decide("once")
        });
        assert!(texts(&result)[0].starts_with("ran make"), "{era:?} {result}");
        let [message] = asked.as_slice() else { panic!("{asked:?}") };
        assert!(message.starts_with("Run interactive command\n"), "{message}");
        let note = "The process stays open for input: what is typed into it later is not asked again.";
        assert!(message.contains(note), "{message}");
        assert!(message.contains(&"long ".repeat(300)) && message.contains(" end\n"), "nothing is cut: {message}");
        assert!(!message.contains(['\u{1b}', '\u{202e}']), "what a person cannot see is shown: {message:?}");
        assert!(message.contains("<U+001B>") && message.contains("<U+202E>"), "{message:?}");
        let workdir = std::env::temp_dir();
        assert!(message.contains(&format!("Directory: {}", workdir.display())), "{message}");
        assert!(message.contains("Asked because it is not understood completely"), "{message}");
        let result = call_with(&mut client, "gate", commands(&["make all"]), |params| {
            let message = params["message"].as_str().unwrap();
            let reason = "Asked because `make all` must be asked, says toolhost.toml:3: permission.bash.\"make *\"";
            assert!(message.contains(reason), "{message}");
            decide("once")
        });
        assert_eq!(texts(&result), ["ran make all"]);
        assert_eq!(fixture.ran().len(), 2);
    }
}

#[test]
fn plan_mode_refuses_and_says_which_mode() {
    for era in ERAS {
        // Not even a rule or a client that asks by itself allows it.
        let policy = Policy::new().with_mode(Mode::Plan).with_layer(rules(r#"{"bash": "allow", "edit": "allow"}"#));
        let config = Config { without_elicitation: WithoutElicitation::Allow, ..Config::default() };
        let (fixture, client) = Fixture::serve_policy(config, policy);
        let mut client = client.with_capabilities(json!({})).open(era);
        for command in ["python3", "touch x", "ls"] {
            let text = denied(&unasked(&mut client, commands(&[command])));
            assert!(text.contains("plan mode starts no interactive command"), "{text}");
            assert!(text.contains("the person can leave plan mode"), "{text}");
        }
        let text = denied(&unasked(&mut client, json!({"edits": ["notes.txt"], "commands": []})));
        assert!(text.contains("plan mode changes no files"), "{text}");
        assert!(fixture.ran().is_empty());
    }
}

#[test]
fn workflow_policies_refuse_and_say_which() {
    for era in ERAS {
        let allow = || rules(r#"{"bash": "allow", "edit": "allow"}"#);
        let policy = Policy::new().with_workflow(WorkflowPolicy::ReadOnly).with_layer(allow());
        let (fixture, mut client) = opened(policy, era);
        let text = denied(&unasked(&mut client, commands(&["touch x"])));
        assert!(text.contains("`readOnly`") && text.contains("`touch` makes or changes files"), "{text}");
        let text = denied(&unasked(&mut client, json!({"edits": ["notes.txt"], "commands": []})));
        assert!(text.contains("`readOnly`"), "{text}");
        assert_eq!(texts(&unasked(&mut client, commands(&["cat notes.txt"]))), ["ran cat notes.txt"]);

        let policy = Policy::new().with_workflow(WorkflowPolicy::NoMutatingCommands).with_layer(allow());
        let (also, mut client) = opened(policy, era);
        let text = denied(&unasked(&mut client, commands(&["touch x"])));
        assert!(text.contains("`noMutatingCommands`"), "{text}");
        let result = unasked(&mut client, json!({"edits": ["notes.txt"], "commands": ["cat x"]}));
        assert_eq!(texts(&result), ["ran cat x"], "edits go by rules");
        assert_eq!((fixture.ran().len(), also.ran().len()), (1, 1));
    }
}

#[test]
fn smart_mode_asks_for_what_stays_open_or_changes_something() {
    for era in ERAS {
        let (fixture, mut client) = opened(Policy::new().with_mode(Mode::Smart), era);
        for command in ["python3", "less notes.txt", "touch x", "no-such-program"] {
            let mut asked = 0;
            let result = call_with(&mut client, "gate", commands(&[command]), |_| {
                asked += 1;
                decide("reject")
            });
            denied(&result);
            assert_eq!(asked, 1, "{command}");
        }
        let text = denied(&unasked(&mut client, commands(&["rm -rf /"])));
        assert!(text.contains("smart mode refuses it"), "{text}");
        assert!(fixture.ran().is_empty());
        assert_eq!(texts(&unasked(&mut client, commands(&["git log"]))), ["ran git log"]);
    }
}

#[test]
fn who_cannot_be_asked_learns_the_setting_that_changes_it() {
    for era in ERAS {
        let ls = || rules(r#"{"bash": {"ls *": "allow"}}"#);
        for (capabilities, policy, allows_ls) in [
            (json!({}), Policy::new(), false),
            (json!({"elicitation": {"url": {}}}), Policy::new().with_layer(ls()), true),
        ] {
            let (fixture, client) = Fixture::serve_policy(Config::default(), policy);
            let mut client = client.with_capabilities(capabilities).open(era);
            let text = denied(&client.call("gate", commands(&["make one"])));
            assert!(text.contains("declares no elicitation"), "{text}");
            assert!(text.contains("`mcp.without_elicitation = \"allow\"`"), "{text}");
            assert!(text.contains("toolhost.toml: `permission.bash.\"make one *\" = \"allow\"`"), "{text}");
            let text = denied(&client.call("gate", json!({"edits": ["notes.txt"], "commands": []})));
            assert!(text.contains("`permission.edit.\"") && text.contains("notes.txt\" = \"allow\"`"), "{text}");
            let text = denied(&client.call("gate", commands(&["ls /nonexistent/data/x"])));
            assert!(text.contains("outside the workspace") && text.contains("without_elicitation"), "{text}");
            // A rule is named where it alone makes the difference.
            assert!(
                !allows_ls || text.contains("`permission.external_directory.\"/nonexistent/data/*\" = \"allow\"`"),
                "{text}"
            );
            assert!(fixture.ran().is_empty());
        }
    }
}
