//! The built program as a child: its streams, and how it ends.

use std::fs::File;
use std::io::{Read, Write};
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde_json::{Value, json};

use crate::client::{Client, ERAS, Era, PATIENCE, texts};

/// Clients stop a server by force two seconds after they closed its input.
const GRACE: Duration = Duration::from_millis(1_500);

/// A running `toolhost mcp` in an empty workspace with an empty home, which is ended with the test.
pub(crate) struct Program {
    child: Child,
    _home: tempfile::TempDir,
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
        let client = Client::new(child.stdout.take().unwrap(), child.stdin.take().unwrap());
        (Self { child, _home: home }, client)
    }

    /// Starts it over sockets, as Node does.
    fn socketed() -> (Self, Client) {
        let (mut command, home) = Self::command();
        let (input, its_input) = UnixStream::pair().unwrap();
        let (output, its_output) = UnixStream::pair().unwrap();
        let child = command.stdin(OwnedFd::from(its_input)).stdout(OwnedFd::from(its_output)).spawn().unwrap();
        // The command holds the server's ends until it is dropped.
        drop(command);
        (Self { child, _home: home }, Client::new(output, input))
    }

    /// Starts it over one socket for both directions.
    fn one_socket() -> (Self, Client) {
        let (mut command, home) = Self::command();
        let (ours, its) = UnixStream::pair().unwrap();
        let child = command.stdin(OwnedFd::from(its.try_clone().unwrap())).stdout(OwnedFd::from(its)).spawn().unwrap();
        drop(command);
        (Self { child, _home: home }, Client::new(ours.try_clone().unwrap(), ours))
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

/// Begins a call that would last for minutes, and returns its id once it surely runs: another call that was sent
/// after it is answered.
fn begin_long(client: &mut Client) -> u64 {
    let id = client.begin_call("sleep", json!({"ms": 300_000}));
    assert_eq!(client.call("sleep", json!({"ms": 1}))["isError"], false);
    id
}

#[test]
fn it_ends_at_the_end_of_its_input_with_calls_answered() {
    for start in [|| Program::piped(&[]), Program::socketed, Program::one_socket] {
        for era in ERAS {
            let (mut program, client) = start();
            let mut client = client.open(era);
            let id = begin_long(&mut client);
            let closed = Instant::now();
            client.close();
            assert_eq!(client.result(id)["structuredContent"]["endedBecause"], "cancelled");
            assert!(program.ended().success());
            assert!(closed.elapsed() < GRACE, "{:?}", closed.elapsed());
            assert_eq!(client.rest(), Vec::<Value>::new());
        }
    }
}

#[test]
fn it_ends_at_signals_with_calls_answered() {
    for signal in [Signal::SIGTERM, Signal::SIGINT] {
        let (mut program, client) = Program::piped(&[]);
        let mut client = client.open(Era::Legacy("2025-11-25"));
        let id = begin_long(&mut client);
        let sent = Instant::now();
        program.signal(signal);
        assert_eq!(client.result(id)["structuredContent"]["endedBecause"], "cancelled");
        assert!(program.ended().success(), "{signal}");
        assert!(sent.elapsed() < GRACE, "{:?}", sent.elapsed());
    }
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
    let mut program = Program { child, _home };
    let info = json!({"name": "test", "version": "1"});
    let params = json!({"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": info});
    writeln!(input, "{}", json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params})).unwrap();
    // The input stays open: the failed write alone must end it.
    program.ended();
    drop(input);
}

#[test]
fn a_client_that_does_not_read_does_not_keep_it_alive() {
    let (mut command, home) = Program::command();
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let mut input = child.stdin.take().unwrap();
    let unread = child.stdout.take().unwrap();
    let mut program = Program { child, _home: home };
    let meta = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": {"name": "test", "version": "1"},
        "io.modelcontextprotocol/clientCapabilities": {},
    });
    for id in 0..500 {
        let params = json!({"_meta": meta});
        writeln!(input, "{}", json!({"jsonrpc": "2.0", "id": id, "method": "tools/list", "params": params})).unwrap();
    }
    let closed = Instant::now();
    drop(input);
    assert!(program.ended().success());
    assert!(closed.elapsed() < GRACE, "{:?}", closed.elapsed());
    drop(unread);
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
    let mut program = Program { child, _home: home };
    assert!(program.ended().success());
    let mut text = String::new();
    File::open(&answers).unwrap().read_to_string(&mut text).unwrap();
    let answers: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(answers.len(), 2, "{text}");
    assert!(answers[1]["result"]["tools"].as_array().is_some_and(|tools| !tools.is_empty()), "{text}");
}

#[test]
fn the_configured_wait_limit_holds() {
    let (_program, client) = Program::piped(&[("TOOLHOST_MCP__WAIT_LIMIT_MS", "100")]);
    let mut client = client.named("claude-code").open(Era::Modern);
    let result = client.call("sleep", json!({"ms": 60_000}));
    assert_eq!(result["structuredContent"]["endedBecause"], "limit", "{}", texts(&result)[0]);
}
