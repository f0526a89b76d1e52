//! `cargo xtask fuzz`: runs a fuzz target with libFuzzer, from the corpus that the repository keeps.
//!
//! The targets are a workspace of their own in `fuzz/`, so that nothing else needs a C++ compiler. Coverage comes from
//! the compiler's own pass, which the stable toolchain has; no sanitizer is needed, as nothing there is `unsafe`.

mod corpus;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

use anyhow::{Context as _, bail};

use crate::metadata::{Metadata, cargo};

const USAGE: &str = "\
usage: cargo xtask fuzz [TARGET] [--seconds N] [--merge]
Builds the fuzz targets and runs one of them (default `analysis`), from the texts in fuzz/corpus/TARGET.jsonl and from
what earlier runs found on this machine. Ends with an error status when a text breaks what must hold, and names the file
that holds it. Needs a C++ compiler.
  --seconds N  how long (default 60)
  --merge      afterwards put the fewest texts that reach everything into fuzz/corpus/TARGET.jsonl
";

/// What the compiler adds so that libFuzzer sees which code ran, and what was compared with what.
const COVERAGE: &str = "-Cpasses=sancov-module -Cllvm-args=-sanitizer-coverage-level=4 \
    -Cllvm-args=-sanitizer-coverage-inline-8bit-counters -Cllvm-args=-sanitizer-coverage-pc-table \
    -Cllvm-args=-sanitizer-coverage-trace-compares --cfg fuzzing -Ccodegen-units=1";

/// Bytes of the longest text: a command may be this long.
const MAX_LENGTH: usize = 16_384;
/// Bytes of the longest text that is kept, and characters of it.
const MAX_KEPT: usize = 1024;
/// Seconds after which one text hangs, and MiB beyond which the target takes too much memory.
const MAX_SECONDS: u32 = 10;
const MAX_MEMORY: u32 = 2048;

/// What is asked of a run.
struct Plan {
    target: String,
    seconds: u32,
    merge: Merge,
}

#[derive(PartialEq, Eq)]
enum Merge {
    Nothing,
    IntoCorpus,
}

/// Runs the task.
pub(crate) fn run(arguments: &[String]) -> anyhow::Result<ExitCode> {
    let mut plan = Plan { target: "analysis".to_owned(), seconds: 60, merge: Merge::Nothing };
    let mut rest = arguments.iter();
    while let Some(argument) = rest.next() {
        match argument.as_str() {
            "--seconds" => {
                let given = rest.next().context("`--seconds` needs a number")?;
                let number = given.parse().ok().filter(|seconds| (1..=604_800).contains(seconds));
                plan.seconds = number.with_context(|| format!("`--seconds` is 1 to 604800, not `{given}`"))?;
            }
            "--merge" => plan.merge = Merge::IntoCorpus,
            "-h" | "--help" => {
                print!("{USAGE}");
                return Ok(ExitCode::SUCCESS);
            }
            other if other.starts_with('-') => bail!("unknown argument `{other}`\n{USAGE}"),
            target => plan.target = target.to_owned(),
        }
    }
    let metadata = Metadata::load()?;
    let fuzz = metadata.workspace_root.join("fuzz");
    let kept = fuzz.join("corpus").join(format!("{}.jsonl", plan.target));
    if !kept.exists() {
        bail!("there is no fuzz target `{}`: no `{}`", plan.target, metadata.relative(&kept));
    }
    // A directory of its own, as everything is built with other flags than elsewhere.
    let work = metadata.target_directory.join("fuzz");
    let target = Target { program: build(&fuzz, &work, &plan.target)?, work: work.join("work").join(&plan.target) };
    let seeds = target.work.join("seeds");
    let found = target.work.join("found");
    corpus::unpack(&kept, &seeds)?;
    fs::create_dir_all(&found).with_context(|| format!("cannot make `{}`", found.display()))?;
    let status = target.fuzz(&found, &seeds, plan.seconds)?;
    if !status {
        println!("the text that did it, to be tried again by `{} FILE`:", target.program.display());
        for path in corpus::files(&target.work)? {
            println!("  {}", path.display());
        }
        return Ok(ExitCode::FAILURE);
    }
    if plan.merge == Merge::IntoCorpus {
        let merged = target.work.join("merged");
        corpus::empty(&merged)?;
        target.merge(&merged, &[&seeds, &found])?;
        let number = corpus::pack(&merged, &kept, MAX_KEPT)?;
        println!("{}: {number} texts", metadata.relative(&kept));
    }
    Ok(ExitCode::SUCCESS)
}

/// Builds a target; what is built again when nothing changed is nothing.
fn build(fuzz: &Path, work: &Path, target: &str) -> anyhow::Result<PathBuf> {
    let triple = host_triple()?;
    let mut command = cargo();
    command.args(["build", "--release", "--bin", target, "--target", &triple]).current_dir(fuzz);
    // With a target named, the flags are not those of build scripts, which have nothing to link the pass to.
    command.env("RUSTFLAGS", COVERAGE).env("CARGO_TARGET_DIR", work);
    if !command.status().context("cannot start cargo")?.success() {
        bail!("the fuzz target `{target}` does not build");
    }
    Ok(work.join(triple).join("release").join(target))
}

fn host_triple() -> anyhow::Result<String> {
    let rustc = std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let output = Command::new(rustc).arg("-vV").output().context("cannot run rustc")?;
    let text = String::from_utf8_lossy(&output.stdout);
    let triple = text.lines().find_map(|line| line.strip_prefix("host: ")).context("rustc does not name its host")?;
    Ok(triple.to_owned())
}

/// A built target, and the directory for what its runs find.
struct Target {
    program: PathBuf,
    work: PathBuf,
}

impl Target {
    /// Whether everything held for the whole time.
    fn fuzz(&self, found: &Path, seeds: &Path, seconds: u32) -> anyhow::Result<bool> {
        let mut command = Command::new(&self.program);
        command.args([found, seeds]);
        command.args([
            format!("-max_total_time={seconds}"),
            format!("-max_len={MAX_LENGTH}"),
            "-len_control=50".to_owned(),
        ]);
        command.args([format!("-timeout={MAX_SECONDS}"), format!("-rss_limit_mb={MAX_MEMORY}")]);
        command.arg(format!("-artifact_prefix={}/", self.work.display()));
        command.args(["-print_final_stats=1", "-verbosity=1"]);
        Ok(command.status().context("cannot start the fuzz target")?.success())
    }

    /// Copies the fewest texts of `from` that reach what all of them reach.
    fn merge(&self, into: &Path, from: &[&Path]) -> anyhow::Result<()> {
        let mut command = Command::new(&self.program);
        command.args(["-set_cover_merge=1".to_owned(), format!("-max_len={MAX_KEPT}")]);
        let status = command.arg(into).args(from).status().context("cannot start the fuzz target")?;
        if !status.success() {
            bail!("the texts could not be merged");
        }
        Ok(())
    }
}
