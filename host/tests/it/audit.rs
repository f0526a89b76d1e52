//! The audit file of real runs: every decision and effect is in it, and no secret.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
#[cfg(target_os = "linux")]
use std::path::PathBuf;
#[cfg(target_os = "linux")]
use std::sync::Arc;

#[cfg(target_os = "linux")]
use host::{AuditFile, CallOptions, Host, Registry, RegistryConfig, Settings, builtin_tools};
#[cfg(target_os = "linux")]
use policy::{Answer, Approver, Policy, Prompt};
use serde_json::{Value, json};
#[cfg(target_os = "linux")]
use tool_api::{NoMask, ToolCall, ToolErrorKind, Workspace};

use crate::program::{Ran, Run};

const RULES: &str =
    "[audit]\nfile = \"~/audit.jsonl\"\n[permission.bash]\n\"echo *\" = \"allow\"\n\"rm *\" = \"deny\"\n";

/// A line of a play that starts a command, and may end in an error.
fn start(command: &str, fails: bool) -> String {
    let mut step =
        json!({"tool": "shell_session", "arguments": {"action": "start", "command": command, "until": "exit"}});
    if fails {
        step["expect"] = json!({"error": "permission denied"});
    }
    step.to_string() + "\n"
}

/// Plays these lines and returns what came into the audit.
fn audited(run: Run, play: &str, args: &[&str]) -> (Ran, Vec<Value>) {
    let run = run.file("calls.jsonl", play).args(["play", "calls.jsonl"]).args(args.iter().copied());
    run.run_then(|home| {
        let path = home.join("audit.jsonl");
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
        lines(&path)
    })
}

fn lines(path: &Path) -> Vec<Value> {
    let text = fs::read_to_string(path).unwrap();
    assert!(text.is_empty() || text.ends_with('\n'), "every line is whole: {text:?}");
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// What a test says about a line: the parts that do not differ from run to run.
fn summary(line: &Value) -> String {
    let part = |key: &str| line[key].as_str().unwrap_or("-").to_owned();
    match line["event"].as_str() {
        Some("decision") => format!("{} {}: {}", part("decision"), part("by"), part("command")),
        Some("effect") => format!("effect {}", part("outcome")),
        other => panic!("an event {other:?}: {line}"),
    }
}

/// Checks that each effect follows the decision of the same call and request that allowed it, once.
fn check_pairs(lines: &[Value]) {
    let mut allowed: BTreeMap<(String, String), bool> = BTreeMap::new();
    for line in lines {
        let id = (line["call"].as_str().unwrap().to_owned(), line["request"].as_str().unwrap().to_owned());
        assert!(line["time"].as_str().unwrap().ends_with('Z') && line["chat"] == "c1", "{line}");
        if line["event"] == "decision" {
            let before = allowed.insert(id, line["decision"] == "allow");
            assert_eq!(before, None, "one decision a request: {line}");
        } else {
            assert_eq!(allowed.insert(id, false), Some(true), "an effect without a decision that allows it: {line}");
        }
    }
}

#[test]
fn every_decision_and_effect_of_a_play_is_written_down() {
    let play = [
        start("echo one", false),
        start("rm -rf two", true),
        start("true three", false),
        start("bash", true),
        r#"{"tool": "shell_session", "arguments": {"action": "list"}}"#.to_owned() + "\n",
        r#"{"tool": "shell_session", "arguments": {"action": "start", "command": "echo", "cols": 0}, "expect": {"error": "cols"}}"#
            .to_owned()
            + "\n",
    ];
    let (ran, lines) = audited(Run::new().config(RULES), &play.concat(), &[]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    let found: Vec<String> = lines.iter().map(summary).collect();
    assert_eq!(
        found,
        [
            "allow rule: echo one",
            "effect begun",
            "deny rule: rm -rf two",
            "allow preset: true three",
            "effect begun",
            "deny policy: bash",
        ]
    );
    check_pairs(&lines);
    assert!(
        lines[0]["reason"].as_str().unwrap().contains("toolhost.toml:4: permission.bash.\"echo *\""),
        "{}",
        lines[0]
    );
    assert_eq!((&lines[0]["effect"], &lines[0]["kind"]), (&json!("command"), &json!("session")));
    assert_eq!(lines[0]["tool"], "shell_session");
    assert!(lines[0]["workdir"].as_str().unwrap().starts_with('/'), "{}", lines[0]);
}

#[test]
fn what_nobody_answered_is_written_down() {
    let (ran, lines) = audited(Run::new().config(RULES), &start("true", true), &["--approve", "none"]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    assert_eq!(lines.iter().map(summary).collect::<Vec<_>>(), ["deny no_answer: true"]);
    assert!(lines[0]["reason"].as_str().unwrap().contains("no rule allows `true`"), "{}", lines[0]);
}

#[test]
fn secrets_are_not_written_down() {
    let secret = "tr0ub4dor-and-3";
    let command = format!("echo {secret} > out; test -s out");
    let run = Run::new().config(RULES).variable("DB_PASSWORD", secret);
    let (ran, lines) = audited(run, &start(&command, false), &[]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    assert_eq!(lines.len(), 2);
    assert_eq!(lines[0]["command"], "echo [secret hidden: DB_PASSWORD] > out; test -s out");
    assert!(lines.iter().all(|line| !line.to_string().contains(secret)), "{lines:?}");
}

#[cfg(target_os = "linux")]
#[test]
fn an_effect_that_is_refused_after_its_approval_is_written_down() {
    check_swap(Answer::Once, "once");
    check_swap(Answer::Preset { reason: "it is set so".into() }, "preset");
}

#[cfg(target_os = "linux")]
#[track_caller]
fn check_swap(answer: Answer, by: &str) {
    use std::os::unix::fs::PermissionsExt;

    // While the person is asked, the script that they see is another one.
    let script = |dir: &Path, text: &str| {
        let path = dir.join("run.sh");
        fs::write(&path, text).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    };
    let audit = |dir: &Path| Arc::new(AuditFile::open(dir.join("audit.jsonl"), Arc::new(NoMask)).unwrap());
    let dir = tempfile::tempdir().unwrap();
    let root = dir.path().canonicalize().unwrap();
    script(&root, "#!/bin/sh\necho fine\n");
    let swap = Swap(root.clone(), answer);
    let registry = Registry::new(builtin_tools(&Settings::defaults()).unwrap(), RegistryConfig::default()).unwrap();
    let host = Host::new(registry).with_policy(Policy::new()).with_audit(audit(&root));
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let chat = host.open_chat(Workspace::new(&root));
        let call = ToolCall::new("shell_session", json!({"action": "start", "command": "./run.sh"}));
        let options = CallOptions::new().with_approver(Arc::new(swap));
        let error = host.call(&chat, call, options).await.unwrap_err();
        assert_eq!(error.kind(), ToolErrorKind::Denied, "{error}");
        host.end().await;
    });
    let lines = lines(&root.join("audit.jsonl"));
    assert_eq!(
        lines.iter().map(summary).collect::<Vec<_>>(),
        [format!("allow {by}: ./run.sh"), "effect refused".to_owned()]
    );
    assert!(lines[1]["reason"].as_str().unwrap().contains("run.sh"), "{}", lines[1]);
    check_pairs(&lines);
}

/// Answers, and has put another script in the place of the one that was shown.
#[cfg(target_os = "linux")]
#[derive(Debug)]
struct Swap(PathBuf, Answer);

#[cfg(target_os = "linux")]
#[policy::async_trait]
impl Approver for Swap {
    async fn ask(&self, _prompt: Prompt) -> Answer {
        fs::write(self.0.join("run.sh"), "#!/bin/sh\necho evil\n").unwrap();
        self.1.clone()
    }
}

#[test]
fn calls_of_two_runs_have_ids_of_their_own() {
    let mut calls = Vec::new();
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("audit.jsonl");
    let set = format!("audit.file={}", file.display());
    for _ in 0..2 {
        let play = [start("echo a", false), start("echo b", false)].concat();
        let run = Run::new().config(RULES).file("calls.jsonl", &play);
        let ran = run.args(["play", "calls.jsonl", "--set", &set]).run();
        assert_eq!(ran.code, Some(0), "{ran:?}");
    }
    let lines = lines(&file);
    for line in lines.iter().filter(|line| line["event"] == "decision") {
        calls.push(line["call"].as_str().unwrap().to_owned());
    }
    calls.sort();
    calls.dedup();
    assert_eq!((calls.len(), lines.len()), (4, 8), "{lines:?}");
}

#[test]
fn an_audit_that_cannot_be_written_stops_the_start() {
    for (file, part) in [("/nonexistent/audit.jsonl", "No such file"), ("/dev/null", "not a regular file")] {
        let run = Run::new().file("calls.jsonl", &start("echo ran > here", false));
        let set = format!("audit.file={file}");
        let (ran, ran_it) =
            run.args(["play", "calls.jsonl", "--set", &set]).run_then(|home| home.join("here").exists());
        assert_eq!((ran.code, ran_it), (Some(1), false), "{ran:?}");
        assert!(ran.stderr.contains("`audit.file`") && ran.stderr.contains(part), "{ran:?}");
    }
}

#[test]
fn an_audit_that_is_lost_on_the_way_denies() {
    let play = [start("echo gone; rm -f ~/audit.jsonl", false), start("touch ~/after", true)];
    let run = Run::new().config("audit.file = \"~/audit.jsonl\"").file("calls.jsonl", &play.concat());
    let (ran, happened) = run.args(["play", "calls.jsonl"]).run_then(|home| home.join("after").exists());
    assert_eq!((ran.code, happened), (Some(0), false), "{ran:?}");
    assert!(ran.stdout.contains("nothing happens that is not written down"), "{ran:?}");
}

#[test]
fn a_full_disk_denies() {
    // A file system of its own is not to be had everywhere; a limit on the size of files is.
    let run = Run::new().config("audit.file = \"~/audit.jsonl\"").file("calls.jsonl", &start("touch ~/after", true));
    let run = run.file("audit.jsonl", &"{}\n".repeat(400)).args(["play", "calls.jsonl"]);
    let (ran, happened) = run.with_small_files().run_then(|home| home.join("after").exists());
    assert_eq!((ran.code, happened), (Some(0), false), "{ran:?}");
    assert!(ran.stdout.contains("the audit cannot be written"), "{ran:?}");
}
