//! `toolhost play`: makes the calls of a file and shows each result.

mod approve;
mod step;

use std::fs::File;
use std::io::{self, BufRead, BufReader};
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;

use host::{CallOptions, Card, Chat, Host, Signals};
use policy::Approver;
use serde_json::{Value, json};
use tokio::sync::mpsc;
use tool_api::{CancellationToken, ToolCall, ToolError, ToolOutput};

use crate::args::{Common, Play};
use crate::failure::{FAILED, Failure};
use crate::output::Out;
use step::{Results, Step};

pub(crate) fn run(common: &Common, play: &Play) -> Result<ExitCode, Failure> {
    let settings = common.settings()?;
    let host = common.host(&settings)?;
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|error| Failure::machine("cannot build a runtime", error))?;
    let mut signals = {
        let _inside = runtime.enter();
        Signals::new().map_err(|error| Failure::machine("cannot handle signals", error))?
    };
    let lines = lines_of(&play.file)?;
    let chat = host.open_chat(common.workspace()?);
    let cancel = CancellationToken::new();
    let played = runtime.block_on(async {
        let mut player = Player {
            host: &host,
            chat: &chat,
            play,
            approver: approve::approver(play),
            cancel: cancel.clone(),
            out: Out::new(),
        };
        let mut playing = std::pin::pin!(player.play(lines));
        let signal = tokio::select! {
            played = &mut playing => return played,
            signal = signals.recv() => signal,
        };
        cancel.cancel();
        // The running step ends, and says so, before the host does.
        let _ = playing.await;
        Ok(ExitCode::from(signal.exit_code()))
    });
    // However it ended: nothing that was started stays.
    runtime.block_on(host.end());
    // A read of a terminal cannot be interrupted, so it is not waited for.
    runtime.shutdown_background();
    played
}

struct Player<'a> {
    host: &'a Host,
    chat: &'a Chat,
    play: &'a Play,
    approver: Arc<dyn Approver>,
    cancel: CancellationToken,
    out: Out,
}

impl Player<'_> {
    /// Plays all lines: as cards up to the first that fails, as JSON to the end.
    async fn play(&mut self, mut lines: mpsc::Receiver<io::Result<Vec<u8>>>) -> Result<ExitCode, Failure> {
        let mut results = Results::default();
        let mut number = 0;
        let mut code = ExitCode::SUCCESS;
        loop {
            let line = tokio::select! {
                line = lines.recv() => line,
                () = self.cancel.cancelled() => None,
            };
            let Some(line) = line else { return Ok(code) };
            number += 1;
            let line = line.map_err(|error| Failure::machine("cannot read the calls", error))?;
            if line.trim_ascii().is_empty() {
                continue;
            }
            let failed = match Step::parse(&line) {
                Ok(step) => self.step(&step, &mut results).await?,
                Err(problem) if self.play.json => {
                    self.out.json(&no_call(None, "invalidLine", &problem))?;
                    Some(problem)
                }
                Err(problem) => {
                    let problem = format!("line {number}: {problem}");
                    return Err(Failure::usage(problem, Some("`toolhost play --help` describes the lines")));
                }
            };
            if let Some(failed) = failed {
                code = ExitCode::from(FAILED);
                if !self.play.json {
                    eprintln!("error: line {number}: {failed}");
                    return Ok(code);
                }
            }
        }
    }

    /// Makes one call and shows it; returns why it failed, if it did.
    async fn step(&mut self, step: &Step, results: &mut Results) -> Result<Option<String>, Failure> {
        let arguments = match results.fill(&step.arguments) {
            Ok(arguments) => arguments,
            Err(problem) => {
                if self.play.json {
                    self.out.json(&no_call(Some(&step.tool), "invalidArguments", &problem))?;
                }
                return Ok(Some(problem));
            }
        };
        let head = Card::head(self.host.registry().spec(&step.tool), &step.tool, &arguments);
        let head = self.host.mask().mask("", &head, "").into_owned();
        if !self.play.json {
            if let Some(say) = &step.say {
                self.out.line(&format!("# {say}"))?;
            }
            // Before the call, so that a person sees what is waited for.
            self.out.line(&self.out.strong(&head))?;
        }
        let options =
            CallOptions::new().with_cancel(self.cancel.child_token()).with_approver(Arc::clone(&self.approver));
        let result = self.host.call(self.chat, ToolCall::new(&step.tool, arguments), options).await;
        let failed = step.failed(&result);
        let notices = self.host.inbox().take(self.chat.id()).text();
        if self.play.json {
            self.out.json(&to_json(&step.tool, &result, notices, failed.as_deref()))?;
        } else {
            let card = Card::of(head, &result);
            self.out.text(&card.indented())?;
            if let Some(notices) = notices {
                self.out.text(&Card { body: notices, ..Card::default() }.indented())?;
            }
            self.out.line("")?;
        }
        results.keep(step.name.as_deref(), &result);
        Ok(failed)
    }
}

fn to_json(tool: &str, result: &Result<ToolOutput, ToolError>, notices: Option<String>, failed: Option<&str>) -> Value {
    let mut line = match result {
        Ok(output) => {
            json!({"tool": tool, "ok": true, "text": output.as_text(), "structured": output.structured})
        }
        Err(error) => {
            let error = json!({"kind": kind(error), "message": message(error), "hint": error.hint()});
            json!({"tool": tool, "ok": false, "error": error})
        }
    };
    if let Some(notices) = notices {
        line["notices"] = notices.into();
    }
    if let Some(failed) = failed {
        line["failed"] = failed.into();
    }
    line
}

/// The result of a line that made no call.
fn no_call(tool: Option<&str>, kind: &str, problem: &str) -> Value {
    let error = json!({"kind": kind, "message": problem, "hint": null});
    json!({"tool": tool, "ok": false, "error": error, "failed": problem})
}

/// An error with its causes, without its hint.
fn message(error: &ToolError) -> String {
    let report = error.report();
    let hint = error.hint().map(|hint| format!("\nhint: {hint}")).unwrap_or_default();
    report.strip_suffix(&hint).unwrap_or(&report).to_owned()
}

/// The kind of an error as JSON has it, for example `unknownId`.
fn kind(error: &ToolError) -> String {
    let name = format!("{:?}", error.kind());
    name[..1].to_ascii_lowercase() + &name[1..]
}

/// Reads lines on a thread of its own, since neither a terminal nor a pipe can be read without blocking everywhere.
fn lines_of(path: &Path) -> Result<mpsc::Receiver<io::Result<Vec<u8>>>, Failure> {
    let file = if path == Path::new("-") {
        None
    } else {
        Some(File::open(path).map_err(|error| Failure::machine(format!("cannot open `{}`", path.display()), error))?)
    };
    let (sender, receiver) = mpsc::channel(1);
    std::thread::spawn(move || {
        let input: Box<dyn BufRead> = match file {
            Some(file) => Box::new(BufReader::new(file)),
            None => Box::new(io::stdin().lock()),
        };
        for line in input.split(b'\n') {
            let last = line.is_err();
            if sender.blocking_send(line).is_err() || last {
                break;
            }
        }
    });
    Ok(receiver)
}
