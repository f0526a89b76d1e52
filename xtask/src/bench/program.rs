//! The measuring programs: how each is built, called and read.

use std::path::Path;
use std::process::{Command, Stdio};

use anyhow::{Context as _, bail};

use super::row::Row;
use crate::metadata::cargo;

/// What is asked of a run.
#[derive(Clone, Debug, Default)]
pub(crate) struct Plan {
    pub(crate) repetitions: usize,
    pub(crate) quick: bool,
    pub(crate) only: Option<String>,
}

/// An example of a crate that prints rows.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Program {
    package: &'static str,
    example: &'static str,
    /// What else of the package it runs.
    needs: &'static [&'static str],
    groups: &'static [&'static str],
}

const PROGRAMS: &[Program] = &[
    Program {
        package: "process",
        example: "bench_process",
        needs: &[],
        groups: &["idle", "crowd", "cleaner", "drain", "echo", "spawn"],
    },
    Program { package: "policy", example: "bench_policy", needs: &[], groups: &["policy"] },
    Program { package: "policy", example: "bench_mask", needs: &[], groups: &["mask"] },
    Program {
        package: "host",
        example: "mcp_latency",
        needs: &["--example=bare_rmcp", "--example=mcp_host", "--bin=toolhost"],
        groups: &["mcp"],
    },
];

/// The programs that measure a group, or all.
///
/// # Errors
/// There is no such group.
pub(crate) fn of(group: Option<&str>) -> anyhow::Result<Vec<Program>> {
    let Some(group) = group else {
        return Ok(PROGRAMS.to_vec());
    };
    let found: Vec<Program> = PROGRAMS.iter().filter(|program| program.groups.contains(&group)).copied().collect();
    if found.is_empty() {
        let groups: Vec<&str> = PROGRAMS.iter().flat_map(|program| program.groups).copied().collect();
        bail!("there is no group `{group}`; the groups are {}", groups.join(", "));
    }
    Ok(found)
}

impl Program {
    /// Builds it and what it needs, all before anything is measured.
    pub(crate) fn build(&self, root: &Path) -> anyhow::Result<()> {
        let mut command = cargo();
        command.args(["build", "--release", "--package", self.package, "--example", self.example]);
        let status = command.args(self.needs).current_dir(root).status().context("cannot start cargo")?;
        if !status.success() {
            bail!("the benchmark `{}` of `{}` does not build", self.example, self.package);
        }
        Ok(())
    }

    /// Runs what was built, whatever has changed since, and reads its rows.
    pub(crate) fn run(&self, target: &Path, plan: &Plan) -> anyhow::Result<Vec<Row>> {
        let mut command = Command::new(target.join("release/examples").join(self.example));
        command.args(["--repetitions", &plan.repetitions.to_string()]);
        if plan.quick {
            command.arg("--quick");
        }
        if let Some(only) = &plan.only {
            command.args(["--only", only]);
        }
        self.read(&mut command)
    }

    fn read(&self, command: &mut Command) -> anyhow::Result<Vec<Row>> {
        let output = command.stderr(Stdio::inherit()).output();
        let output = output.with_context(|| format!("cannot start the benchmark `{}`", self.example))?;
        let text = String::from_utf8(output.stdout).context("a benchmark printed something that is no text")?;
        if !output.status.success() {
            bail!("the benchmark `{}` of `{}` ended with {}", self.example, self.package, output.status);
        }
        let row = |line: &str| serde_json::from_str(line).with_context(|| format!("this is no row: {line}"));
        text.lines().map(row).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// All examples of a workspace are built into one folder, where one would take the place of another.
    #[test]
    fn no_two_programs_have_one_name() {
        let mut names: Vec<&str> = PROGRAMS.iter().map(|program| program.example).collect();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), PROGRAMS.len());
    }

    #[test]
    fn each_group_has_its_program() {
        assert_eq!(of(None).expect("all").len(), PROGRAMS.len());
        assert_eq!(of(Some("drain")).expect("one")[0].package, "process");
        let error = of(Some("drian")).expect_err("no such group").to_string();
        assert!(error.contains("`drian`") && error.contains("drain"), "{error}");
    }
}
