//! `cargo xtask tidy`: the rules of the repository that no compiler checks.
//!
//! Each rule is a function from what it judges to its findings, in a module by what it looks at.

mod code;
mod files;
mod finding;
mod layering;
mod lexer;
mod manifest;
mod paths;
mod programs;
mod tree;

use std::process::ExitCode;

use anyhow::bail;

use crate::metadata::Metadata;
use finding::Finding;
use tree::{TrackedFile, Tree};

const USAGE: &str = "\
usage: cargo xtask tidy [--msrv]
Checks the rules of the repository: layering, file sizes, file headers, unfinished code, `unsafe`, manifests.
  --msrv  also fail when this toolchain is newer than the `rust-version` that the manifests state, since a promise is
          only worth what was tested
";

/// A rule about one file.
type FileRule = fn(&TrackedFile) -> Vec<Finding>;

const FILE_RULES: &[FileRule] = &[
    files::weight,
    files::no_mod_rs,
    files::header,
    files::length,
    code::ignored_tests,
    code::unfinished,
    code::unsafe_place,
    code::purity,
    paths::machine_paths,
];

/// Runs the task.
pub(crate) fn run(arguments: &[String]) -> anyhow::Result<ExitCode> {
    let mut exact = manifest::Toolchain::AtLeast;
    for argument in arguments {
        match argument.as_str() {
            "--msrv" => exact = manifest::Toolchain::Exactly,
            "-h" | "--help" => {
                print!("{USAGE}");
                return Ok(ExitCode::SUCCESS);
            }
            other => bail!("unknown argument `{other}`\n{USAGE}"),
        }
    }
    let metadata = Metadata::load()?;
    let tree = Tree::load(&metadata.workspace_root)?;

    let mut findings: Vec<Finding> = Vec::new();
    for file in &tree.files {
        findings.extend(FILE_RULES.iter().flat_map(|rule| rule(file)));
    }
    findings.extend(layering::layers(&metadata));
    findings.extend(layering::optional_tools(&metadata));
    findings.extend(layering::tools_are_named_once(&metadata, &tree));
    findings.extend(programs::are_in_the_readme(&tree));
    findings.extend(manifest::inherits(&metadata, &tree));
    findings.extend(manifest::rust_version(&metadata, &manifest::installed()?, exact));

    findings.sort();
    for finding in &findings {
        println!("{finding}");
    }
    println!("tidy: {} files, {} findings", tree.files.len(), findings.len());
    Ok(if findings.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}
