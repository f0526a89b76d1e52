//! `toolhost check`: what it explains, and what it answers programs.

use insta::assert_snapshot;
use serde_json::{Value, json};

use crate::program::Run;

const RULES: &str = "mode = \"ask\"\n\n[permission.bash]\n\"git *\" = \"allow\"\n\"git push *\" = \"deny\"\n";

/// What is explained to a person, with the person's configuration in the place where most systems have it.
fn explained<'a>(run: Run, args: impl IntoIterator<Item = &'a str>) -> String {
    run.args(["check"]).args(args).run().both().replace("DIR/Library/Application Support", "DIR/.config")
}

fn answered<'a>(run: Run, args: impl IntoIterator<Item = &'a str>) -> Value {
    let ran = run.args(["check", "--json"]).args(args).run();
    serde_json::from_str(&ran.stdout).unwrap_or_else(|error| panic!("{error}: {}", ran.both()))
}

#[test]
fn it_explains() {
    let check = |command: &str| explained(Run::new().config(RULES), [command]);
    assert_snapshot!("check_allow", check("git status && git log"));
    assert_snapshot!("check_deny", check("cd sub; sudo git push origin"));
    assert_snapshot!("check_bare_shell", check("sudo bash"));
    assert_snapshot!("check_not_understood", check("git log $(cat names) && \"$TOOL\" x"));
    assert_snapshot!("check_syntax_error", check("git log &&"));
}

#[test]
fn each_rule_is_named_with_its_file_and_line() {
    let json = "{\n  \"permission\": {\n    \"bash\": {\n      \"git *\": \"allow\",\n      \"git push *\": \"deny\"\n    }\n  }\n}\n";
    let origin = |run: Run, args: &[&str]| {
        let answer = answered(run, args.iter().copied());
        let segment = &answer["segments"][0];
        let (place, key) = segment["origin"].as_str().unwrap().split_once(": ").unwrap();
        let file = place.rsplit(['/', ' ']).next().unwrap();
        (segment["rule"].as_str().unwrap().to_owned(), format!("{file}: {key}"))
    };
    let found = |rule: &str, place: &str| (rule.to_owned(), place.to_owned());
    let expected = found("git push *", "rules.json:5: permission.bash.\"git push *\"");
    assert_eq!(origin(Run::new().file("rules.json", json), &["--rules", "rules.json", "git push"]), expected);
    let expected = found("git *", "toolhost.toml:4: permission.bash.\"git *\"");
    assert_eq!(origin(Run::new().config(RULES), &["git log"]), expected);
    let workspace = Run::new().config(RULES).file(".toolhost.toml", "# more\npermission.bash.'git log *' = 'ask'\n");
    let expected = found("git log *", ".toolhost.toml:2: permission.bash.\"git log *\"");
    assert_eq!(origin(workspace, &["git log"]), expected);
}

#[test]
fn it_answers_a_line_for_each_line() {
    let rules = r#"{"permission": {"bash": {"git *": "allow", "rm *": "deny"}}}"#;
    let run = Run::new()
        .file("rules.json", rules)
        .args(["check", "--stdin", "--rules", "rules.json"])
        .input("\"git status\"\nnot json\n\"rm x; git y\"\n\"ls \\u0022\"\n")
        .run();
    let answers: Vec<Value> = run.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(answers.len(), 4, "{}", run.both());
    assert_eq!(answers[0]["decision"], "allow");
    assert_eq!(answers[0]["segments"][0]["text"], "git status");
    assert!(answers[1]["error"].as_str().unwrap().starts_with("the line is not a JSON string"));
    assert_eq!(answers[2]["decision"], "deny");
    assert_eq!(answers[3]["decision"], "ask");
    assert!(answers[3]["syntaxError"].is_string(), "{}", answers[3]);
}

#[test]
fn it_takes_whatever_a_line_has() {
    let run = Run::new().args(["check", ""]).run();
    assert!(run.stdout.starts_with("ask: it holds no command that a rule could allow\n"), "{}", run.both());
    assert_eq!(run.code, Some(0));
    let run = Run::new().args(["check", "--stdin"]).run();
    assert_eq!((run.code, run.stdout.as_str()), (Some(0), ""), "{}", run.stderr);
    // An empty line, and bytes that are no text, get an error and the next line its answer.
    let run = Run::new().args(["check", "--stdin"]).input(b"\n\"\xff\"\n\"\"\r\n\"ls\"").run();
    let answers: Vec<Value> = run.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let decisions: Vec<Option<&str>> = answers.iter().map(|answer| answer["decision"].as_str()).collect();
    assert_eq!(decisions, [None, None, Some("ask"), Some("ask")], "{}", run.both());
}

#[test]
fn the_fields_of_an_answer() {
    let answer = answered(Run::new(), ["'git'  log \"$X\""]);
    assert_eq!(answer["decision"], "ask");
    assert!(answer["reason"].is_string() && answer["smart"].is_string(), "{answer}");
    assert_eq!(answer["bareShell"], false);
    let segment = &answer["segments"][0];
    assert_eq!(
        (&segment["text"], &segment["dynamic"], &segment["rule"]),
        (&json!("git log \"$X\""), &json!(true), &json!(null))
    );
    assert!(answer.get("syntaxError").is_none(), "{answer}");
    assert_eq!(answered(Run::new(), ["exec bash"])["bareShell"], true);
}

#[test]
fn kinds_and_bad_flags() {
    let decision = |args: &[&str]| answered(Run::new(), args.iter().copied())["decision"].clone();
    assert_eq!(decision(&["bash"]), "ask");
    assert_eq!(decision(&["--kind", "session", "bash"]), "deny");
    assert_eq!(decision(&["--kind", "background", "bash"]), "ask");
    let bad = Run::new().args(["check", "--kind", "interactive", "ls"]).run();
    assert_eq!(bad.code, Some(2), "{}", bad.both());
    let bad = Run::new().args(["check", "--mode", "yolo", "ls"]).run();
    assert_eq!(bad.code, Some(2), "{}", bad.both());
    assert!(bad.stderr.contains("allowed is \"ask\", \"smart\" or \"plan\""), "{}", bad.both());
}

#[test]
fn a_workspace_and_a_home_need_not_exist() {
    let rules = r#"{"permission": {"bash": {"~/bin/x *": "allow"}}}"#;
    let run = Run::new().file("rules.json", rules);
    let args = ["--rules", "rules.json", "--workspace", "/nonexistent/proj", "--home", "/nonexistent/ann"];
    assert_eq!(answered(run, args.into_iter().chain(["~/bin/x"]))["segments"][0]["rule"], "~/bin/x *");
}
