//! `cargo xtask bench`: the speed of the product, as ratios to floors that are built in the same run.
//!
//! The measuring programs are examples of the crates that they measure, so that this program stays quick to build.
//! Each prints rows; this task builds and runs them one after the other and joins the rows into one table.

mod document;
mod program;
mod row;
mod table;

use std::process::ExitCode;

use anyhow::{Context as _, bail};

use crate::metadata::Metadata;
use program::Plan;
use row::Verdict;

const USAGE: &str = "\
usage: cargo xtask bench [--quick] [--only GROUP] [--repetitions N] [--json] [--write]
Measures in release mode, and prints a table: each row with its floor, our value, the ratio and the limit. Ends with an
error status when a row is over its limit, but not with --quick.
  --quick          small inputs, few repetitions: shows that it works, not how fast it is
  --only GROUP     only these rows: idle, crowd, cleaner, drain, echo, spawn, policy, mask, mcp
  --repetitions N  how often each measurement is repeated (default 7, with --quick 2)
  --json           print each row as JSON instead of a table
  --write          put the table into docs/performance.md, too
";

/// Runs the task.
pub(crate) fn run(arguments: &[String]) -> anyhow::Result<ExitCode> {
    let mut plan = Plan::default();
    let mut repetitions = None;
    let (mut json, mut write) = (false, false);
    let mut rest = arguments.iter();
    while let Some(argument) = rest.next() {
        match argument.as_str() {
            "--quick" => plan.quick = true,
            "--only" => plan.only = Some(rest.next().context("`--only` needs the name of a group")?.clone()),
            "--repetitions" => {
                let given = rest.next().context("`--repetitions` needs a number")?;
                let number = given.parse().ok().filter(|number| (1..=1000).contains(number));
                repetitions = Some(number.with_context(|| format!("`--repetitions` is 1 to 1000, not `{given}`"))?);
            }
            "--json" => json = true,
            "--write" => write = true,
            "-h" | "--help" => {
                print!("{USAGE}");
                return Ok(ExitCode::SUCCESS);
            }
            other => bail!("unknown argument `{other}`\n{USAGE}"),
        }
    }
    if write && (plan.quick || plan.only.is_some()) {
        bail!("`--write` needs all rows of a full run");
    }
    plan.repetitions = repetitions.unwrap_or(if plan.quick { 2 } else { 7 });
    let programs = program::of(plan.only.as_deref())?;
    let metadata = Metadata::load()?;
    let root = metadata.workspace_root;
    for program in &programs {
        program.build(&root)?;
    }
    let mut rows = Vec::new();
    for program in &programs {
        rows.extend(program.run(&metadata.target_directory, &plan)?);
    }
    if json {
        for row in &rows {
            println!("{}", row.to_json());
        }
    } else {
        print!("{}", table::plain(&rows));
    }
    if write {
        document::write(&root, &rows, &plan)?;
    }
    let over = rows.iter().filter(|row| row.verdict() == Verdict::Over).count();
    if !json {
        println!("{} rows, {over} over their limit", rows.len());
    }
    Ok(if over > 0 && !plan.quick { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}
