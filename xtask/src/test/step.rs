//! Running one step and keeping what it printed.

use std::io::{self, Read as _};
use std::path::Path;
use std::process::Stdio;
use std::sync::mpsc;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::Context as _;

use super::plan::Step;
use super::results::Results;
use crate::metadata::cargo;

/// How long a step's output may stay open after the step has ended.
const LINGER: Duration = Duration::from_secs(5);

/// How a step went.
#[derive(Debug)]
pub(crate) struct Done {
    pub(crate) took: Duration,
    pub(crate) output: String,
    pub(crate) results: Results,
    /// Why it failed, if it did.
    pub(crate) failure: Option<String>,
}

/// Runs a step to its end.
///
/// # Errors
/// Cargo cannot be started. A step that fails is no error.
pub(crate) fn run(step: &Step, root: &Path) -> anyhow::Result<Done> {
    let started = Instant::now();
    let (mut reader, writer) = io::pipe().context("cannot make a pipe")?;
    let mut command = cargo();
    command.args(step.arguments()).current_dir(root).stdin(Stdio::null());
    // One pipe for both, so that a compiler's words and a test's stay in order.
    command.stdout(writer.try_clone().context("cannot copy a pipe")?).stderr(writer);
    let mut child = command.spawn().context("cannot start cargo")?;
    // The command holds the writing ends; the output would never end here otherwise.
    drop(command);

    let output = Arc::new(Mutex::new(Vec::new()));
    let (closed, at_end) = mpsc::channel();
    let kept = Arc::clone(&output);
    thread::spawn(move || {
        let mut chunk = [0; 64 * 1024];
        while let Ok(count @ 1..) = reader.read(&mut chunk) {
            kept.lock().unwrap_or_else(PoisonError::into_inner).extend_from_slice(&chunk[..count]);
        }
        // Nobody listens when the wait was given up.
        let _ = closed.send(());
    });
    let status = child.wait().context("cannot wait for cargo")?;
    let lingers = at_end.recv_timeout(LINGER).is_err();
    let took = started.elapsed();

    let output = String::from_utf8_lossy(&output.lock().unwrap_or_else(PoisonError::into_inner)).into_owned();
    let results = Results::read(&output);
    let failure = if results.failed > 0 {
        Some(format!("{} failed", results.failed))
    } else if !status.success() {
        Some(status.to_string())
    } else if lingers {
        Some(format!("a process that it started still holds its output {} s after its end", LINGER.as_secs()))
    } else {
        None
    };
    Ok(Done { took, output, results, failure })
}
