//! `toolhost check`: what the policy would do with a command, and why.

use std::io::{self, BufRead};
use std::path::PathBuf;
use std::process::ExitCode;

use host::settings::{parse_mode, rules_file};
use policy::{ExplainedSegment, Explanation, Policy};
use serde_json::{Value, json};
use tool_api::{CommandKind, Workspace};

use crate::args::{Check, Common};
use crate::failure::Failure;
use crate::output::Out;

pub(crate) fn run(common: &Common, check: &Check) -> Result<ExitCode, Failure> {
    let checker = Checker {
        policy: policy(common, check)?,
        workspace: common.workspace()?,
        kind: if check.interactive { CommandKind::Interactive } else { CommandKind::Once },
    };
    let mut out = Out::new();
    if check.stdin {
        for line in io::stdin().lock().split(b'\n') {
            let line = line.map_err(|error| Failure::machine("cannot read the commands", error))?;
            out.json(&checker.answer(&line))?;
        }
        return Ok(ExitCode::SUCCESS);
    }
    let command = check.command.as_deref().unwrap_or_default();
    let explanation = checker.explain(command);
    if check.json {
        out.json(&to_json(&explanation))?;
    } else {
        out.text(&to_text(&explanation, &out))?;
    }
    Ok(ExitCode::SUCCESS)
}

/// Takes the rules from a file of rules alone, or else from the configuration.
fn policy(common: &Common, check: &Check) -> Result<Policy, Failure> {
    let home = check.home.clone().or_else(|| std::env::var_os("HOME").map(PathBuf::from));
    let Some(path) = &check.rules else {
        let policy = common.settings()?.policy();
        return Ok(match home {
            Some(home) => policy.with_home(home),
            None => policy,
        });
    };
    let rules = rules_file(path, home.as_deref()).map_err(Failure::settings)?;
    let mut policy = Policy::new().with_layer(rules);
    if let Some(mode) = common.mode() {
        let mode = parse_mode(&json!(mode));
        policy = policy.with_mode(mode.map_err(|problem| Failure::usage(format!("`--mode`: {problem}"), None))?);
    }
    Ok(match home {
        Some(home) => policy.with_home(home),
        None => policy,
    })
}

struct Checker {
    policy: Policy,
    workspace: Workspace,
    kind: CommandKind,
}

impl Checker {
    fn explain(&self, command: &str) -> Explanation {
        self.policy.explain(command, self.kind, &self.workspace)
    }

    /// Answers one line, a JSON string; a line that is none gets an error and the next line its answer.
    fn answer(&self, line: &[u8]) -> Value {
        match serde_json::from_slice::<String>(line) {
            Ok(command) => to_json(&self.explain(&command)),
            Err(error) => json!({"error": format!("the line is not a JSON string: {error}")}),
        }
    }
}

fn to_json(explanation: &Explanation) -> Value {
    serde_json::to_value(explanation).expect("an explanation has only what JSON has")
}

fn to_text(explanation: &Explanation, out: &Out) -> String {
    let head = out.strong(&explanation.decision.to_string());
    let mut text = format!("{head}: {}\n", explanation.reason);
    let mut rows = Vec::new();
    explanation.segments.iter().for_each(|segment| row(segment, 0, &mut rows));
    let width = rows.iter().map(|(shown, _)| shown.chars().count()).max().unwrap_or_default().min(60);
    for (shown, segment) in rows {
        text.push_str(&format!("  {shown:width$}  {:5}  {}\n", segment.decision.to_string(), out.dim(&segment.reason)));
    }
    if explanation.bare_shell {
        text.push_str("an interactive shell: `shell_session` never starts one, since no rule would see its commands\n");
    }
    if let Some(error) = &explanation.syntax_error {
        text.push_str(&format!("it does not parse: {error}\n"));
    }
    if let Some(doubt) = &explanation.doubt {
        text.push_str(&format!("it is not understood completely: {doubt}\n"));
    }
    text
}

fn row<'a>(segment: &'a ExplainedSegment, depth: usize, rows: &mut Vec<(String, &'a ExplainedSegment)>) {
    rows.push((format!("{}{}", "  ".repeat(depth), policy::visible(&segment.text)), segment));
    segment.inner.iter().for_each(|inner| row(inner, depth + 1, rows));
}
