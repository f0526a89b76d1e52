//! The program as a person uses it: what it prints, and how it exits.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use insta::assert_snapshot;

/// One run of the program in a directory of its own, which is its home and its workspace.
pub(crate) struct Run {
    dir: tempfile::TempDir,
    args: Vec<String>,
    variables: Vec<(String, String)>,
    input: Vec<u8>,
    small_files: bool,
}

/// What came of it; the directory is replaced by `DIR`.
#[derive(Debug)]
pub(crate) struct Ran {
    pub(crate) code: Option<i32>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Ran {
    pub(crate) fn both(&self) -> String {
        format!("exit code: {:?}\n--- stdout\n{}--- stderr\n{}", self.code, self.stdout, self.stderr)
    }
}

impl Run {
    pub(crate) fn new() -> Self {
        Self {
            dir: tempfile::tempdir().unwrap(),
            args: Vec::new(),
            variables: Vec::new(),
            input: Vec::new(),
            small_files: false,
        }
    }

    pub(crate) fn args<'a>(mut self, args: impl IntoIterator<Item = &'a str>) -> Self {
        self.args.extend(args.into_iter().map(str::to_owned));
        self
    }

    pub(crate) fn file(self, name: &str, text: &str) -> Self {
        let path = self.dir.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
        self
    }

    /// Its directory, which is removed after the run.
    #[cfg(all(target_os = "linux", feature = "shell-session"))]
    pub(crate) fn directory(&self) -> &Path {
        self.dir.path()
    }

    /// Writes the person's configuration.
    pub(crate) fn config(self, text: &str) -> Self {
        let path = self.user_file();
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
        self
    }

    fn user_file(&self) -> PathBuf {
        let home = self.dir.path().to_owned();
        host::settings::user_file(move |name| (name == "HOME").then(|| home.clone())).unwrap()
    }

    pub(crate) fn variable(mut self, name: &str, value: &str) -> Self {
        self.variables.push((name.into(), value.into()));
        self
    }

    pub(crate) fn input(mut self, bytes: impl AsRef<[u8]>) -> Self {
        self.input = bytes.as_ref().to_vec();
        self
    }

    /// Lets no file grow beyond a kilobyte, as a full disk would.
    #[cfg(all(unix, feature = "shell-session"))]
    pub(crate) fn with_small_files(mut self) -> Self {
        self.small_files = true;
        self
    }

    fn command(&self) -> Command {
        let program = env!("CARGO_BIN_EXE_toolhost");
        let mut command = Command::new(if self.small_files { "sh" } else { program });
        if self.small_files {
            command.args(["-c", "trap '' XFSZ; ulimit -f 1; exec \"$@\"", "sh", program]);
        }
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
        self.run_then(|_| ()).0
    }

    /// Runs, and looks at its directory before that is removed.
    pub(crate) fn run_then<T>(self, look: impl FnOnce(&Path) -> T) -> (Ran, T) {
        let mut child = self.command().spawn().unwrap();
        // A program that ends before it has read everything is fine.
        let _ = child.stdin.take().unwrap().write_all(&self.input);
        let output = child.wait_with_output().unwrap();
        let text = |bytes: Vec<u8>| {
            let dir = self.dir.path().canonicalize().unwrap();
            String::from_utf8(bytes).unwrap().replace(dir.to_str().unwrap(), "DIR")
        };
        let ran = Ran { code: output.status.code(), stdout: text(output.stdout), stderr: text(output.stderr) };
        (ran, look(self.dir.path()))
    }
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
fn help_describes_the_lines_of_a_play_and_the_exit_codes() {
    let help = Run::new().args(["play", "--help"]).run().stdout;
    assert!(
        help.contains("\nEach line is {\"tool\": NAME") && help.contains("The exit code is 1 if any did."),
        "{help}"
    );
    let help = Run::new().args(["--help"]).run().stdout;
    assert!(help.contains("129, 130 and 143"), "{help}");
    let help = Run::new().args(["check", "--help"]).run().stdout;
    assert!(help.contains("The exit code is 0 whatever the decision."), "{help}");
}

#[cfg(feature = "sleep")]
const CALLS: &str = r#"{"say": "A nap.", "tool": "sleep", "arguments": {"ms": 20}, "as": "nap"}

{"tool": "sleep", "arguments": {"ms": "${nap.sleptMs}"}, "expect": {"structured": {"sleptMs": 20}}}
{"tool": "slep", "arguments": {}, "expect": {"error": "no tool is named"}}
{"tool": "sleep", "arguments": {"ms": 1}, "expect": {"text": "slept 2 ms"}}
{"tool": "sleep", "arguments": {"ms": 0, "msec": 1}}
not a call
{"tool": "sleep", "arguments": {"ms": "${nap.missing}"}}
{"tool": "sleep", "arguments": {"ms": 2}}
"#;

#[cfg(feature = "sleep")]
#[test]
fn play_shows_cards_up_to_the_first_failure() {
    let play = |calls: &str| Run::new().file("calls.jsonl", calls).args(["play", "calls.jsonl"]).run();
    assert_snapshot!("play_cards", play(CALLS).both());
    let unexpected: String = CALLS.lines().skip(5).map(|line| format!("{line}\n")).collect();
    assert_snapshot!("play_unexpected_error", play(&unexpected).both());
    let fine = play("{\"tool\": \"slep\", \"arguments\": {}, \"expect\": {\"error\": \"no tool\"}}\n");
    assert_eq!(fine.code, Some(0), "{}", fine.both());
}

#[cfg(feature = "sleep")]
#[test]
fn play_as_json_answers_every_line() {
    let json = |calls: &str| Run::new().args(["play", "-", "--json"]).input(calls).run();
    let ran = json(CALLS);
    assert_snapshot!("play_json", ran.both());
    assert_eq!(ran.stdout.lines().count(), CALLS.lines().filter(|line| !line.is_empty()).count());
    for bad in
        ["not a call\n", "{\"tool\": \"slep\"}\n", "{\"tool\": \"sleep\", \"arguments\": {\"ms\": \"${x.y}\"}}\n"]
    {
        let ran = json(bad);
        assert_eq!((ran.code, ran.stdout.contains("\"failed\":")), (Some(1), true), "{bad}: {}", ran.both());
    }
    assert_eq!(json("{\"tool\": \"sleep\", \"arguments\": {\"ms\": 1.0}}\n").code, Some(0));
}

#[test]
fn bad_lines_and_files_of_a_play_are_named() {
    let run = Run::new().args(["play", "-"]).input("{\"tool\": \"sleep\", \"args\": {}}\n").run();
    assert_snapshot!("play_bad_line", run.both());
    let run = Run::new().args(["play", "-", "--json"]).input(b"{\"tool\": \"\xff\"}\n").run();
    assert!(run.code == Some(1) && run.stdout.contains("invalid unicode code point"), "{}", run.both());
    let run = Run::new().args(["play", "missing.jsonl"]).run();
    assert_eq!((run.code, run.stdout.as_str()), (Some(1), ""));
    assert!(run.stderr.starts_with("error: cannot open `missing.jsonl`: "), "{}", run.stderr);
}

#[cfg(all(unix, feature = "shell-session"))]
#[test]
fn the_card_of_a_kill_says_what_it_did() {
    let calls = r#"{"tool": "shell_session", "arguments": {"action": "start", "command": "sleep 1000 & echo up; wait", "until": {"text": "up"}, "waitMs": 20000}}
{"tool": "shell_session", "arguments": {"action": "kill", "id": "${last.id}"}}
"#;
    let run = Run::new().file("calls.jsonl", calls).args(["play", "calls.jsonl"]).run();
    assert!(run.stdout.contains(" processes, nothing of its process tree is left]\n"), "{}", run.both());
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
    for (signal, code) in [("-HUP", 129), ("-INT", 130), ("-TERM", 143)] {
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
