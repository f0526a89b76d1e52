//! `toolhost check`: what the policy would do with a command, and why.

mod render;

use std::io::{self, BufRead};
use std::path::PathBuf;
use std::process::ExitCode;

use host::settings::rules_file;
use policy::{Explanation, Policy};
use serde_json::{Value, json};
use tool_api::{CommandKind, Workspace};

use crate::args::{Check, Common, Kind, home};
use crate::failure::Failure;
use crate::output::Out;

pub(crate) fn run(common: &Common, check: &Check) -> Result<ExitCode, Failure> {
    let root = common.described_root()?;
    let checker = Checker {
        policy: policy(common, check, root.clone())?,
        workspace: Workspace::new(root),
        kind: match check.kind {
            Kind::Command => CommandKind::Once,
            Kind::Background => CommandKind::Background,
            Kind::Session => CommandKind::Interactive,
            Kind::Line => CommandKind::SharedLine,
        },
    };
    let mut out = Out::new();
    if check.stdin {
        for line in io::stdin().lock().split(b'\n') {
            let line = line.map_err(|error| Failure::machine("cannot read the commands", error))?;
            out.json(&checker.answer(&line))?;
        }
        return Ok(ExitCode::SUCCESS);
    }
    let explanation = checker.explain(check.command.as_deref().unwrap_or_default());
    if check.json {
        out.json(&to_json(&explanation))?;
    } else {
        out.text(&render::text(&explanation, &out))?;
    }
    Ok(ExitCode::SUCCESS)
}

/// Takes the rules from a file of rules alone, or else everything from the configuration.
fn policy(common: &Common, check: &Check, root: PathBuf) -> Result<Policy, Failure> {
    let named = check.home.as_ref().map(std::path::absolute).transpose();
    let named = named.map_err(|error| Failure::machine("cannot use the directory of `--home`", error))?;
    let home = named.or_else(home);
    let policy = match &check.rules {
        Some(path) => common.policy_of(rules_file(path, home.as_deref()).map_err(Failure::settings)?)?,
        None => common.settings_in(root, home.clone())?.policy(),
    };
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
