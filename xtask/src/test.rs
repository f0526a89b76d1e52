//! `cargo xtask test`: every crate by itself, checked and tested in each set of its features.
//!
//! A workspace-wide `cargo test` builds with the features of all crates together, so a crate that forgot one of its
//! own passes there and fails for whoever uses it alone. One crate and one set at a time finds that.

mod plan;
mod report;
mod results;
mod step;

use std::process::ExitCode;

use anyhow::bail;

use crate::metadata::Metadata;
use report::Report;

const USAGE: &str = "\
usage: cargo xtask test [--crate NAME]... [--list]
Checks (`cargo check`) and tests (`cargo test`) every crate of the workspace by itself: without features, with each
feature alone, with all; sets that switch on the same are built once. Goes on after a failure, lists failures at the
end, and closes with `N passed, N failed`: the tests that ran, in every set, and for a step that failed without a
failed test (it did not compile, say) one more.
  --crate NAME  only this crate; may be given several times
  --list        print the commands, run nothing
";

/// Runs the task.
pub(crate) fn run(arguments: &[String]) -> anyhow::Result<ExitCode> {
    let mut only = Vec::new();
    let mut list = false;
    let mut rest = arguments.iter();
    while let Some(argument) = rest.next() {
        match argument.as_str() {
            "--crate" => match rest.next() {
                Some(name) => only.push(name.as_str()),
                None => bail!("`--crate` needs the name of a crate"),
            },
            "--list" => list = true,
            "-h" | "--help" => {
                print!("{USAGE}");
                return Ok(ExitCode::SUCCESS);
            }
            other => bail!("unknown argument `{other}`\n{USAGE}"),
        }
    }
    let metadata = Metadata::load()?;
    if let Some(name) = only.iter().find(|name| metadata.member(name).is_none()) {
        let names: Vec<&str> = metadata.packages.iter().map(|package| package.name.as_str()).collect();
        bail!("there is no crate `{name}`; the crates are {}", names.join(", "));
    }
    let chosen = metadata.in_order().into_iter().filter(|package| only.is_empty() || only.contains(&&*package.name));
    let steps: Vec<plan::Step> = chosen.flat_map(plan::steps).collect();
    if list {
        for step in &steps {
            println!("cargo {}", step.arguments().join(" "));
        }
        return Ok(ExitCode::SUCCESS);
    }

    let mut report = Report::new(&steps);
    for step in &steps {
        report.starts(step);
        let done = step::run(step, &metadata.workspace_root)?;
        report.ended(step, &done);
    }
    Ok(report.close())
}
