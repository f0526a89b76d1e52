//! The program as a person uses it: what it prints, and how it exits.

use std::fs;
use std::io::Write;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use insta::assert_snapshot;

/// One run of the program in a directory of its own, which is its home and its workspace.
pub(crate) struct Run {
    dir: tempfile::TempDir,
    args: Vec<String>,
    variables: Vec<(String, String)>,
    input: String,
}

/// What came of it; the directory is replaced by `DIR`.
#[derive(Debug)]
pub(crate) struct Ran {
    pub(crate) code: Option<i32>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Ran {
    fn both(&self) -> String {
        format!("exit code: {:?}\n--- stdout\n{}--- stderr\n{}", self.code, self.stdout, self.stderr)
    }
}

impl Run {
    pub(crate) fn new() -> Self {
        Self { dir: tempfile::tempdir().unwrap(), args: Vec::new(), variables: Vec::new(), input: String::new() }
    }

    pub(crate) fn args<'a>(mut self, args: impl IntoIterator<Item = &'a str>) -> Self {
        self.args.extend(args.into_iter().map(str::to_owned));
        self
    }

    fn file(self, name: &str, text: &str) -> Self {
        let path = self.dir.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
        self
    }

    /// Writes the person's configuration.
    fn config(self, text: &str) -> Self {
        let path = self.user_file();
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
        self
    }

    fn user_file(&self) -> PathBuf {
        let home = self.dir.path().to_owned();
        host::settings::user_file(move |name| (name == "HOME").then(|| home.clone())).unwrap()
    }

    fn variable(mut self, name: &str, value: &str) -> Self {
        self.variables.push((name.into(), value.into()));
        self
    }

    fn input(mut self, text: &str) -> Self {
        self.input = text.into();
        self
    }

    fn command(&self) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_toolhost"));
        command
            .args(&self.args)
            .current_dir(self.dir.path())
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap())
            .env("HOME", self.dir.path())
            .envs(self.variables.iter().cloned())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        command
    }

    pub(crate) fn run(self) -> Ran {
        let mut child = self.command().spawn().unwrap();
        // A program that ends before it has read everything is fine.
        let _ = child.stdin.take().unwrap().write_all(self.input.as_bytes());
        let output = child.wait_with_output().unwrap();
        let text = |bytes: Vec<u8>| {
            let dir = self.dir.path().canonicalize().unwrap();
            String::from_utf8(bytes).unwrap().replace(dir.to_str().unwrap(), "DIR")
        };
        Ran { code: output.status.code(), stdout: text(output.stdout), stderr: text(output.stderr) }
    }
}

#[test]
fn a_bad_configuration_is_one_report() {
    let run = Run::new()
        .config("mode = \"plan\"\n[bus]\nmax_result_char = 5\n[permission.bash]\n\"git *\" = \"alow\"\n")
        .variable("TOOLHOST_BUS__CANCEL_GRACE_MS", "soon")
        .args(["tools"]);
    assert_snapshot!(run.run().both());
}

#[test]
fn what_a_workspace_tried_to_loosen_is_said() {
    let run = Run::new()
        .file(".toolhost.toml", "[bus]\nmax_result_chars = 70000\n[permission.bash]\n\"rm *\" = \"allow\"\n")
        .args(["config", "--set", "bus.cancel_grace_ms=500", "--set", "tools.shell=false"]);
    let ran = run.run();
    let ours = |line: &&str| line.starts_with("bus.") || line.starts_with("ignored") || line.starts_with("permission");
    let lines: Vec<&str> = ran.stdout.lines().filter(ours).collect();
    assert_snapshot!(lines.join("\n"));
    assert_eq!(ran.code, Some(0));
    assert_eq!(ran.stderr.matches("is ignored").count(), 2, "{}", ran.stderr);
}

#[cfg(feature = "sleep")]
#[test]
fn tools_are_listed_with_their_arguments() {
    let run = Run::new().args(["tools", "--set", "tools.shell=false"]).run();
    assert_snapshot!(run.both());
    let json = Run::new().args(["tools", "--set", "tools.shell=false", "--json"]).run();
    let tools: serde_json::Value = serde_json::from_str(&json.stdout).unwrap();
    assert_eq!(tools[0]["name"], "sleep");
    assert_eq!(tools[0]["inputSchema"]["properties"]["ms"]["maximum"], 300_000);
    assert_eq!(tools.as_array().unwrap().len(), 1, "`tools.shell = false` leaves no tool that runs commands");
}

#[test]
fn check_explains() {
    let rules = "[permission.bash]\n\"git *\" = \"allow\"\n\"git push *\" = \"deny\"\n";
    let check = |command: &str| {
        let run = Run::new().config(rules).args(["check", command]).run();
        run.both().replace("DIR/Library/Application Support", "DIR/.config")
    };
    assert_snapshot!("check_allow", check("git status && git log"));
    assert_snapshot!("check_deny", check("cd sub; git push origin"));
    assert_snapshot!("check_bare_shell", check("sudo bash"));
}

#[test]
fn check_answers_a_line_for_each_line() {
    let rules = r#"{"permission": {"bash": {"git *": "allow", "rm *": "deny"}}}"#;
    let run = Run::new()
        .file("rules.json", rules)
        .args(["check", "--stdin", "--rules", "rules.json"])
        .input("\"git status\"\nnot json\n\"rm x; git y\"\n\"ls \\u0022\"\n")
        .run();
    let answers: Vec<serde_json::Value> = run.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(answers.len(), 4, "{}", run.both());
    assert_eq!(answers[0]["decision"], "allow");
    assert_eq!(answers[0]["segments"][0]["text"], "git status");
    assert!(answers[1]["error"].as_str().unwrap().starts_with("the line is not a JSON string"));
    assert_eq!(answers[2]["decision"], "deny");
    assert_eq!(answers[3]["decision"], "ask");
    assert!(answers[3]["syntaxError"].is_string(), "{}", answers[3]);
}

#[cfg(feature = "sleep")]
#[test]
fn play_shows_cards_and_fails_loudly() {
    let calls = r#"{"say": "A nap.", "tool": "sleep", "arguments": {"ms": 20}, "as": "nap"}

{"tool": "sleep", "arguments": {"ms": "${nap.sleptMs}"}, "expect": {"structured": {"sleptMs": 20}}}
{"tool": "slep", "arguments": {}, "expect": {"error": "no tool is named"}}
{"tool": "sleep", "arguments": {"ms": 0, "msec": 1}}
{"tool": "sleep", "arguments": {"ms": 1}, "expect": {"text": "slept 2 ms"}}
{"tool": "sleep", "arguments": {"ms": 2}}
"#;
    assert_snapshot!("play_cards", Run::new().file("calls.jsonl", calls).args(["play", "calls.jsonl"]).run().both());
    let json = Run::new().args(["play", "-", "--json"]).input(calls).run();
    assert_snapshot!("play_json", json.both());
}

#[test]
fn bad_lines_and_files_of_a_play_are_named() {
    let run = Run::new().args(["play", "-"]).input("{\"tool\": \"sleep\", \"args\": {}}\n").run();
    assert_snapshot!("play_bad_line", run.both());
    let run = Run::new().args(["play", "missing.jsonl"]).run();
    assert_eq!((run.code, run.stdout.as_str()), (Some(1), ""));
    assert!(run.stderr.starts_with("error: cannot open `missing.jsonl`: "), "{}", run.stderr);
}

#[cfg(all(unix, feature = "shell-session"))]
#[test]
fn calls_of_a_pipe_need_an_approval_that_was_given() {
    let call = "{\"tool\": \"shell_session\", \"arguments\": {\"action\": \"start\", \"command\": \"echo ran\", \"until\": \"exit\"}}\n";
    let denied = Run::new().args(["play", "-", "--json"]).input(call).run();
    assert!(denied.stdout.contains("\"kind\":\"denied\""), "{}", denied.both());
    assert!(denied.stdout.contains("are not approved unless"), "{}", denied.both());
    let approved = Run::new().args(["play", "-", "--json", "--approve", "all"]).input(call).run();
    assert!(approved.stdout.contains("\"exitCode\":0"), "{}", approved.both());
}

#[cfg(all(unix, feature = "shell-session", feature = "sleep"))]
#[test]
fn a_signal_ends_everything_that_was_started() {
    use std::io::{BufRead, BufReader};

    let calls = r#"{"tool": "shell_session", "arguments": {"action": "start", "command": "setsid sleep 1000 & echo up; sleep 1000", "until": {"text": "up"}, "waitMs": 20000}}
{"tool": "sleep", "arguments": {"ms": 300000}}
"#;
    for (signal, code) in [("-INT", 130), ("-TERM", 143)] {
        let run = Run::new().file("calls.jsonl", calls).args(["play", "calls.jsonl"]);
        let mut child = run.command().spawn().unwrap();
        let mut shown = BufReader::new(child.stdout.take().unwrap());
        let mut line = String::new();
        while shown.read_line(&mut line).unwrap() > 0 && !line.starts_with("Sleep") {
            line.clear();
        }
        let directory = run.dir.path().canonicalize().unwrap();
        assert_ne!(crate::contract::processes_that_name(&directory).len(), 1, "the session runs beside the program");
        let pid = child.id().to_string();
        assert!(Command::new("kill").args([signal, pid.as_str()]).status().unwrap().success());
        assert_eq!(child.wait().unwrap().code(), Some(code), "{signal}");
        assert_eq!(crate::contract::processes_that_name(&directory), Vec::<String>::new(), "{signal}");
    }
}

#[cfg(unix)]
#[test]
fn nobody_reads_the_result_and_nobody_complains() {
    let run = Run::new().args(["tools"]);
    let mut child = run.command().spawn().unwrap();
    drop(child.stdin.take());
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    assert_eq!(String::from_utf8_lossy(&output.stderr), "");
}
