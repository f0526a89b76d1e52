//! The built program as a child: its streams, and how it ends.

use std::fs::File;
use std::io::{Read, Write};
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use nix::sys::signal::{SigSet, Signal, kill};
use nix::unistd::Pid;
use serde_json::{Value, json};

use crate::client::{Client, ERAS, Era, PATIENCE, call_with, decide, takes_less, texts};

/// Clients stop a server by force two seconds after they closed its input.
const GRACE: Duration = Duration::from_millis(1_500);

/// A running `toolhost mcp` in an empty workspace with an empty home, which is ended with the test.
pub(crate) struct Program {
    child: Child,
    _home: tempfile::TempDir,
    /// What `/proc` calls its two ends of the connection.
    #[cfg_attr(not(target_os = "linux"), expect(dead_code, reason = "only read where there is /proc"))]
    ends: Vec<String>,
}

impl Program {
    fn command() -> (Command, tempfile::TempDir) {
        let home = tempfile::tempdir().unwrap();
        let workspace = home.path().join("workspace");
        std::fs::create_dir(&workspace).unwrap();
        let mut command = Command::new(env!("CARGO_BIN_EXE_toolhost"));
        command.arg("mcp").current_dir(workspace).env("HOME", home.path()).env("XDG_CONFIG_HOME", home.path());
        (command, home)
    }

    /// Starts it over pipes, and returns the unopened client.
    pub(crate) fn piped(settings: &[(&str, &str)]) -> (Self, Client) {
        let (mut command, home) = Self::command();
        command.envs(settings.iter().copied());
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let (output, input) = (child.stdout.take().unwrap(), child.stdin.take().unwrap());
        let ends = vec![name(&input), name(&output)];
        (Self { child, _home: home, ends }, Client::new(output, input))
    }

    /// Starts it over sockets, as Node does.
    fn socketed() -> (Self, Client) {
        let (mut command, home) = Self::command();
        let (input, its_input) = UnixStream::pair().unwrap();
        let (output, its_output) = UnixStream::pair().unwrap();
        let ends = vec![name(&its_input), name(&its_output)];
        let child = command.stdin(OwnedFd::from(its_input)).stdout(OwnedFd::from(its_output)).spawn().unwrap();
        // The command holds the server's ends until it is dropped.
        drop(command);
        (Self { child, _home: home, ends }, Client::new(output, input))
    }

    /// Starts it over one socket for both directions.
    fn one_socket() -> (Self, Client) {
        let (mut command, home) = Self::command();
        let (ours, its) = UnixStream::pair().unwrap();
        let child = command.stdin(OwnedFd::from(its.try_clone().unwrap())).stdout(OwnedFd::from(its)).spawn().unwrap();
        drop(command);
        (Self { child, _home: home, ends: Vec::new() }, Client::new(ours.try_clone().unwrap(), ours))
    }

    pub(crate) fn id(&self) -> i32 {
        i32::try_from(self.child.id()).unwrap()
    }

    fn signal(&self, signal: Signal) {
        kill(Pid::from_raw(self.id()), signal).unwrap();
    }

    /// Waits for its end, for a bounded time.
    #[track_caller]
    pub(crate) fn ended(&mut self) -> ExitStatus {
        let begun = Instant::now();
        loop {
            if let Some(status) = self.child.try_wait().unwrap() {
                return status;
            }
            assert!(begun.elapsed() < PATIENCE, "it still runs");
            std::thread::sleep(Duration::from_millis(2));
        }
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        if let Ok(None) = self.child.try_wait() {
            // A gentle end lets it end what it started.
            self.signal(Signal::SIGTERM);
            self.ended();
        }
    }
}

/// Returns what `/proc` calls an open file; nothing where there is no `/proc`.
fn name(file: &impl AsRawFd) -> String {
    let link = std::fs::read_link(format!("/proc/self/fd/{}", file.as_raw_fd()));
    link.map(|link| link.display().to_string()).unwrap_or_default()
}

/// Begins a call that would last for minutes, and returns its id once it surely runs: another call that was sent
/// after it is answered.
fn begin_long(client: &mut Client) -> u64 {
    let id = client.begin_call("sleep", json!({"ms": 300_000}));
    assert_eq!(client.call("sleep", json!({"ms": 1}))["isError"], false);
    id
}

#[test]
fn it_ends_at_the_end_of_its_input_with_calls_answered() {
    let attempt = |(mut program, client): (Program, Client), era| {
        let mut client = client.open(era);
        let id = begin_long(&mut client);
        let closed = Instant::now();
        client.close();
        assert_eq!(client.result(id)["structuredContent"]["endedBecause"], "cancelled");
        assert!(program.ended().success());
        let took = closed.elapsed();
        assert_eq!(client.rest(), Vec::<Value>::new());
        took
    };
    for start in [|| Program::piped(&[]), Program::socketed, Program::one_socket] {
        for era in ERAS {
            takes_less(GRACE, || attempt(start(), era));
        }
    }
}

#[test]
fn it_ends_at_signals_with_calls_answered() {
    let attempt = |signal, code| {
        let (mut program, client) = Program::piped(&[]);
        let mut client = client.open(Era::Legacy("2025-11-25"));
        let id = begin_long(&mut client);
        let sent = Instant::now();
        program.signal(signal);
        assert_eq!(client.result(id)["structuredContent"]["endedBecause"], "cancelled");
        assert_eq!(program.ended().code(), Some(code), "{signal}");
        sent.elapsed()
    };
    for (signal, code) in [(Signal::SIGHUP, 129), (Signal::SIGINT, 130), (Signal::SIGTERM, 143)] {
        takes_less(GRACE, || attempt(signal, code));
    }
}

#[test]
fn a_signal_that_its_parent_blocked_ends_it() {
    let mut blocked = SigSet::empty();
    blocked.add(Signal::SIGTERM);
    // A child inherits the mask of the thread that starts it.
    blocked.thread_block().unwrap();
    let (mut program, client) = Program::piped(&[]);
    blocked.thread_unblock().unwrap();
    let mut client = client.open(Era::Modern);
    assert_eq!(client.call("sleep", json!({"ms": 1}))["isError"], false);
    program.signal(Signal::SIGTERM);
    assert_eq!(program.ended().code(), Some(143));
}

#[cfg(target_os = "linux")]
#[test]
fn a_hangup_that_is_ignored_stays_ignored() {
    let (command, home) = Program::command();
    let mut shell = Command::new("sh");
    shell.args(["-c", "trap '' HUP; exec \"$0\" mcp"]).arg(env!("CARGO_BIN_EXE_toolhost"));
    shell.current_dir(command.get_current_dir().unwrap()).envs(command.get_envs().filter_map(|(k, v)| Some((k, v?))));
    let mut child = shell.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let client = Client::new(child.stdout.take().unwrap(), child.stdin.take().unwrap());
    let mut program = Program { child, _home: home, ends: Vec::new() };
    let mut client = client.open(Era::Modern);
    assert_eq!(client.call("sleep", json!({"ms": 1}))["isError"], false);
    program.signal(Signal::SIGHUP);
    assert_eq!(client.call("sleep", json!({"ms": 1}))["isError"], false);
    client.close();
    assert!(program.ended().success());
}

#[test]
fn it_ends_before_any_request() {
    let (mut program, mut client) = Program::piped(&[]);
    client.close();
    assert!(program.ended().success());
    assert_eq!(client.rest(), Vec::<Value>::new());
}

#[test]
fn it_ends_when_nobody_reads_its_answers() {
    let (mut command, _home) = Program::command();
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    drop(child.stdout.take());
    let mut input = child.stdin.take().unwrap();
    let mut program = Program { child, _home, ends: Vec::new() };
    let info = json!({"name": "test", "version": "1"});
    let params = json!({"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": info});
    writeln!(input, "{}", json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params})).unwrap();
    // The input stays open: the failed write alone must end it.
    program.ended();
    drop(input);
}

#[test]
fn a_client_that_does_not_read_does_not_keep_it_alive() {
    takes_less(GRACE, || {
        let (mut command, home) = Program::command();
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let mut input = child.stdin.take().unwrap();
        let _unread = child.stdout.take().unwrap();
        let mut program = Program { child, _home: home, ends: Vec::new() };
        let meta = json!({
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientInfo": {"name": "test", "version": "1"},
            "io.modelcontextprotocol/clientCapabilities": {},
        });
        for id in 0..500 {
            let params = json!({"_meta": meta});
            let request = json!({"jsonrpc": "2.0", "id": id, "method": "tools/list", "params": params});
            writeln!(input, "{request}").unwrap();
        }
        // These are answered by who reads.
        for id in 500..560 {
            writeln!(input, "{{\"jsonrpc\":\"2.0\",\"id\":{id},\"method\":\"x\"}} and more").unwrap();
        }
        let closed = Instant::now();
        drop(input);
        assert!(program.ended().success());
        closed.elapsed()
    });
}

#[test]
fn files_serve_as_streams() {
    let (mut command, home) = Program::command();
    let (requests, answers) = (home.path().join("requests"), home.path().join("answers"));
    let info = json!({"name": "test", "version": "1"});
    let params = json!({"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": info});
    let lines = [
        json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params}),
        json!({"jsonrpc": "2.0", "method": "notifications/initialized"}),
        json!({"jsonrpc": "2.0", "id": 2, "method": "tools/list"}),
    ];
    std::fs::write(&requests, lines.map(|line| format!("{line}\n")).concat()).unwrap();
    let child = command.stdin(File::open(&requests).unwrap()).stdout(File::create(&answers).unwrap()).spawn().unwrap();
    let mut program = Program { child, _home: home, ends: Vec::new() };
    assert!(program.ended().success());
    let mut text = String::new();
    File::open(&answers).unwrap().read_to_string(&mut text).unwrap();
    let answers: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(answers.len(), 2, "{text}");
    assert!(answers[1]["result"]["tools"].as_array().is_some_and(|tools| !tools.is_empty()), "{text}");
}

/// Starts a session that waits at a prompt, once approved, and returns its id.
fn session(client: &mut Client, command: &str, prompt: &str) -> String {
    let arguments = json!({"action": "start", "command": command, "until": {"text": prompt}, "waitMs": 30_000});
    let result = call_with(client, "shell_session", arguments, |_| decide("once"));
    assert!(texts(&result)[0].contains(prompt), "{result}");
    result["structuredContent"]["id"].as_str().unwrap().to_owned()
}

#[test]
fn an_answer_never_reaches_the_log() {
    for era in ERAS {
        let (mut command, home) = Program::command();
        let log = home.path().join("log");
        command.env("TOOLHOST_LOG", "trace,rmcp=trace,rmcp::service=trace,[serve_inner]=trace");
        command.stderr(File::create(&log).unwrap());
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let client = Client::new(child.stdout.take().unwrap(), child.stdin.take().unwrap());
        let mut program = Program { child, _home: home, ends: Vec::new() };
        let mut client = client.open(era);
        let asks = "bash -c 'read -rsp \"Password: \" word; echo; echo \"${#word} characters\"; cat'";
        let id = session(&mut client, asks, "Password:");
        let arguments = json!({"action": "read", "id": id, "waitMs": 1_000});
        let mut shown = String::new();
        let begun = Instant::now();
        while !shown.contains("7 characters") {
            assert!(begun.elapsed() < PATIENCE, "{shown}");
            let result = call_with(
                &mut client,
                "shell_session",
                arguments.clone(),
                |_| json!({"action": "accept", "content": {"secret": "hunter2"}}),
            );
            shown.push_str(texts(&result)[0]);
        }
        client.close();
        program.ended();
        assert!(!shown.contains("hunter2") && client.rest().iter().all(|line| !line.to_string().contains("hunter2")));
        let log = std::fs::read_to_string(log).unwrap();
        assert!(log.contains("shell_session"), "{log}");
        assert!(!log.contains("hunter2"), "{log}");
    }
}

/// Commands are started by another process, and what they hold outlives this one: nothing but the program itself may
/// hold the connection open.
#[cfg(target_os = "linux")]
#[test]
fn the_connection_is_open_in_no_other_process() {
    for start in [|| Program::piped(&[]), Program::socketed] {
        let (mut program, client) = start();
        let mut client = client.open(Era::Modern);
        session(&mut client, "echo ready; cat", "ready");
        let held = |process: i32| -> Vec<String> {
            let open = std::fs::read_dir(format!("/proc/{process}/fd")).unwrap();
            let links = open.filter_map(|fd| std::fs::read_link(fd.unwrap().path()).ok());
            links.map(|link| link.display().to_string()).filter(|link| program.ends.contains(link)).collect()
        };
        assert_eq!(held(program.id()).len(), 2, "{:?}", program.ends);
        let others = descendants(program.id());
        // What forks, what guards, and the command.
        assert!(others.len() >= 3, "{others:?}");
        for process in others {
            assert_eq!(held(process), Vec::<String>::new(), "process {process}");
        }
        client.close();
        program.ended();
    }
}

/// Returns the processes below a process.
#[cfg(target_os = "linux")]
fn descendants(process: i32) -> Vec<i32> {
    let mut found = vec![process];
    let mut next = 0;
    while let Some(parent) = found.get(next) {
        let children = std::fs::read_dir(format!("/proc/{parent}/task"))
            .unwrap()
            .filter_map(|task| std::fs::read_to_string(task.unwrap().path().join("children")).ok());
        let children: Vec<i32> = children
            .flat_map(|list| list.split_whitespace().map(|id| id.parse().unwrap()).collect::<Vec<_>>())
            .collect();
        found.extend(children);
        next += 1;
    }
    found.split_off(1)
}

#[test]
fn the_configured_wait_limit_holds() {
    let (_program, client) = Program::piped(&[("TOOLHOST_MCP__WAIT_LIMIT_MS", "100")]);
    let mut client = client.named("claude-code").open(Era::Modern);
    let result = client.call("sleep", json!({"ms": 60_000}));
    assert_eq!(result["structuredContent"]["endedBecause"], "limit", "{}", texts(&result)[0]);
}
