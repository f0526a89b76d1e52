//! The programs the tests run: this test binary, with a name in its environment.

use std::ffi::OsString;
use std::io::Write;
use std::path::Path;
use std::process::{Command, ExitStatus, Stdio};
use std::time::Duration;

use tokio::io::{AsyncBufReadExt, BufReader, Lines};

use crate::support::PATIENCE;

mod bomb;
mod hosts;

const NAME: &str = "GUARD_TEST_FIXTURE";

/// Runs the fixture this process was started as, and does not return then.
pub(crate) fn run_if_named() {
    let Ok(name) = std::env::var(NAME) else { return };
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match name.as_str() {
        "args" => println!("{arguments:?}"),
        "bomb" => bomb::run(&arguments),
        "leak" => std::process::exit(hosts::leaked_terminals()),
        "root-pause" => hosts::pause_as_root(),
        "doomed-host" => hosts::doomed(),
        "odd-host" => hosts::odd(&arguments),
        "full-host" => hosts::full(&arguments),
        "unprivileged-host" => hosts::unprivileged(&arguments),
        "pid-host" => hosts::pid_reuse(&arguments),
        other => panic!("there is no fixture {other}"),
    }
    std::process::exit(0);
}

/// The environment variable that makes this program a fixture.
pub(crate) fn named(name: &str) -> (OsString, OsString) {
    (NAME.into(), name.into())
}

/// A fixture that runs a host of its own.
pub(crate) struct Helper {
    process: tokio::process::Child,
    lines: Lines<BufReader<tokio::process::ChildStdout>>,
}

impl Helper {
    /// Starts this program as fixture.
    pub(crate) fn start(name: &str, arguments: &[&str]) -> Self {
        Self::start_through(name, &[], &std::env::current_exe().unwrap(), arguments)
    }

    /// Starts `program` as fixture through other programs, such as `setpriv`.
    pub(crate) fn start_through(name: &str, wrapper: &[&str], program: &Path, arguments: &[&str]) -> Self {
        let mut words: Vec<OsString> = wrapper.iter().map(Into::into).collect();
        words.push(program.into());
        words.extend(arguments.iter().map(Into::into));
        let mut command = Command::new(&words[0]);
        command.args(&words[1..]).env(NAME, name).stdin(Stdio::null()).stdout(Stdio::piped());
        let mut process = tokio::process::Command::from(command).kill_on_drop(true).spawn().unwrap();
        let lines = BufReader::new(process.stdout.take().unwrap()).lines();
        Self { process, lines }
    }

    /// Reads its lines up to this one.
    pub(crate) async fn lines_until(&mut self, last: &str) -> Vec<String> {
        let mut lines = Vec::new();
        loop {
            let line =
                tokio::time::timeout(PATIENCE, self.lines.next_line()).await.expect("the helper says it").unwrap();
            match line {
                Some(line) if line == last => return lines,
                Some(line) => lines.push(line),
                None => panic!("the helper ended after {lines:?}"),
            }
        }
    }

    /// Ends it as nothing can prepare for.
    pub(crate) fn kill(&mut self) {
        self.process.start_kill().unwrap();
    }

    /// All its lines and how it ended.
    pub(crate) async fn finish(mut self) -> (Vec<String>, ExitStatus) {
        let mut lines = Vec::new();
        while let Some(line) = self.lines.next_line().await.unwrap() {
            lines.push(line);
        }
        (lines, self.process.wait().await.unwrap())
    }
}

/// Runs a host in a fixture.
fn host(run: impl Future<Output = ()>) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(run);
}

/// Says a line at once.
fn say(line: impl std::fmt::Display) {
    println!("{line}");
    std::io::stdout().flush().unwrap();
}

/// Waits to be killed.
async fn wait_to_be_killed() {
    tokio::time::sleep(2 * PATIENCE + Duration::from_secs(1)).await;
}
