//! `xtask test`.

#[cfg(unix)]
use std::{fs, process::Command};

use crate::workspace::Workspace;

fn manifest(name: &str, rest: &str) -> String {
    format!("[package]\nname = \"{name}\"\nversion = \"0.1.0\"\nedition = \"2024\"\n{rest}")
}

const PASSING: &str = "#[test]\nfn holds() {\n    eprintln!(\"skipped: needs `a-program`\");\n}\n";

#[test]
fn goes_on_after_a_failure_and_counts() {
    let failing = "#[test]\nfn breaks() {\n    panic!(\"the reason\");\n}\n#[test]\nfn holds() {}\n";
    let workspace = Workspace::new(
        &["bad", "good"],
        &[
            ("bad/Cargo.toml", &manifest("bad", "")),
            ("bad/src/lib.rs", failing),
            ("good/Cargo.toml", &manifest("good", "")),
            ("good/src/lib.rs", PASSING),
        ],
    );
    let outcome = workspace.xtask(&["test"]);
    assert_eq!(outcome.code, Some(1), "{outcome:?}");
    let lines: Vec<&str> = outcome.stdout.lines().collect();
    assert_eq!(lines.last(), Some(&"2 passed, 1 failed"), "{outcome:?}");
    assert!(lines.contains(&"    skipped: needs `a-program`"), "{outcome:?}");
    assert!(lines.contains(&"the reason"), "the output of a failing step is whole: {outcome:?}");
    assert!(
        lines.ends_with(&["2 passed, 1 failed"]) && outcome.stdout.contains("\n  bad: test: 1 failed\n      breaks\n")
    );
    assert!(lines.iter().any(|line| line.starts_with("good: test") && line.contains("ok")), "{outcome:?}");
}

#[test]
fn a_feature_that_only_builds_with_another_is_found() {
    let source = "#[cfg(feature = \"a\")]\npub fn a() -> u8 {\n    b()\n}\n#[cfg(feature = \"b\")]\npub fn b() -> u8 {\n    1\n}\n";
    let workspace = Workspace::new(
        &["one"],
        &[
            ("one/Cargo.toml", &manifest("one", "[features]\ndefault = [\"a\", \"b\"]\na = []\nb = []\n")),
            ("one/src/lib.rs", source),
        ],
    );
    let outcome = workspace.xtask(&["test", "--crate", "one"]);
    assert_eq!(outcome.code, Some(1), "{outcome:?}");
    // The check and the test of feature `a` alone; no test exists.
    assert!(outcome.stdout.ends_with("\n0 passed, 2 failed\n"), "{outcome:?}");
    assert!(outcome.stdout.contains("  one: check, feature a: "), "{outcome:?}");
}

#[test]
fn passes_and_lists() {
    let workspace =
        Workspace::new(&["good"], &[("good/Cargo.toml", &manifest("good", "")), ("good/src/lib.rs", PASSING)]);
    let listed = workspace.xtask(&["test", "--list"]);
    let expected = "cargo check --package good\ncargo test --package good --no-fail-fast -- --show-output\n";
    assert_eq!((listed.code, listed.stdout.as_str()), (Some(0), expected), "{listed:?}");
    let outcome = workspace.xtask(&["test"]);
    assert_eq!(outcome.code, Some(0), "{outcome:?}");
    assert!(outcome.stdout.ends_with("\n1 passed, 0 failed\n"), "{outcome:?}");
}

#[test]
fn unknown_words_are_refused() {
    let workspace =
        Workspace::new(&["good"], &[("good/Cargo.toml", &manifest("good", "")), ("good/src/lib.rs", PASSING)]);
    let outcome = workspace.xtask(&["test", "--crate", "god"]);
    assert_eq!(outcome.code, Some(2), "{outcome:?}");
    assert_eq!(outcome.stderr, "error: there is no crate `god`; the crates are good\n");
    assert_eq!(workspace.xtask(&["tets"]).code, Some(2));
    assert_eq!(workspace.xtask(&["test", "--lsit"]).code, Some(2));
}

/// Ends a process that a test left behind, also when this test fails.
#[cfg(unix)]
#[derive(Debug)]
struct Left(String);

#[cfg(unix)]
impl Drop for Left {
    fn drop(&mut self) {
        let _ = Command::new("kill").arg(&self.0).status();
    }
}

#[cfg(unix)]
#[test]
fn a_process_that_a_test_left_behind_is_found() {
    let source = r#"
#[test]
fn leaves() {
    let child = std::process::Command::new("sleep").arg("300").spawn().unwrap();
    std::fs::write(concat!(env!("CARGO_MANIFEST_DIR"), "/pid"), child.id().to_string()).unwrap();
}
"#;
    let workspace =
        Workspace::new(&["leaky"], &[("leaky/Cargo.toml", &manifest("leaky", "")), ("leaky/src/lib.rs", source)]);
    let outcome = workspace.xtask(&["test"]);
    let _left = Left(fs::read_to_string(workspace.path().join("leaky/pid")).expect("the test ran"));
    assert_eq!(outcome.code, Some(1), "{outcome:?}");
    let failure = "  leaky: test: a process that it started still holds its output 5 s after its end\n";
    assert!(outcome.stdout.contains(failure), "{outcome:?}");
    assert!(outcome.stdout.ends_with("\n1 passed, 1 failed\n"), "{outcome:?}");
}
