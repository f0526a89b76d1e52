//! `xtask tidy`.

use std::process::Command;

use crate::workspace::Workspace;

/// A crate that keeps every rule, under the name of one that the layers know.
fn tidy_workspace() -> Workspace {
    let manifest = "[package]\nname = \"process\"\nversion.workspace = true\nedition.workspace = true\n\
                    rust-version.workspace = true\nlicense.workspace = true\n\n[lints]\nworkspace = true\n";
    let workspace = Workspace::new(
        &["process"],
        &[("process/Cargo.toml", manifest), ("process/src/lib.rs", "//! What it is.\n"), (".gitignore", "/target/\n")],
    );
    let root = "[workspace]\nresolver = \"3\"\nmembers = [\"process\"]\n\n[workspace.package]\nversion = \"0.1.0\"\n\
                edition = \"2024\"\nrust-version = \"1.85\"\nlicense = \"MIT\"\n\n[workspace.lints.rust]\n";
    workspace.write("Cargo.toml", root);
    let git = Command::new("git").args(["init", "--quiet"]).current_dir(workspace.path()).status();
    assert!(git.expect("git is installed").success());
    workspace
}

#[test]
fn a_tidy_workspace_passes() {
    let outcome = tidy_workspace().xtask(&["tidy"]);
    assert_eq!(outcome.code, Some(0), "{outcome:?}");
    assert_eq!(outcome.stdout, "tidy: 4 files, 0 findings\n");
}

#[test]
fn findings_say_where_what_why_and_what_to_do() {
    let workspace = tidy_workspace();
    workspace.write("process/src/a.rs", "fn a() {}\n");
    let outcome = workspace.xtask(&["tidy"]);
    assert_eq!(outcome.code, Some(1), "{outcome:?}");
    let expected = "\
process/src/a.rs:1: the file does not open with a `//!` sentence
  why: who looks for a place reads the first lines only
  hint: say in its first line what the file is, with a full stop
tidy: 5 files, 1 findings
";
    assert_eq!(outcome.stdout, expected);
}

#[test]
fn outside_of_a_repository_it_says_so() {
    let manifest = "[package]\nname = \"process\"\nversion = \"0.1.0\"\nedition = \"2024\"\n";
    let workspace = Workspace::new(&["process"], &[("process/Cargo.toml", manifest), ("process/src/lib.rs", "")]);
    let outcome = workspace.xtask(&["tidy"]);
    assert_eq!(outcome.code, Some(2), "{outcome:?}");
    assert!(outcome.stderr.starts_with("error: `git ls-files` failed: "), "{outcome:?}");
}
