//! The examples run.

#[test]
fn decide() {
    crate::decide::main().unwrap();
}

#[test]
fn embed() {
    crate::embed::main().unwrap();
}

#[cfg(all(unix, feature = "cli", feature = "shell-session"))]
#[test]
fn tour() {
    use crate::program::Run;

    for program in ["python3", "vim", "setsid"] {
        if std::process::Command::new(program).arg("--version").output().is_err() {
            eprintln!("skipped: the tour needs `{program}`");
            return;
        }
    }
    let tour = concat!(env!("CARGO_MANIFEST_DIR"), "/../examples/tour.jsonl");
    let run = Run::new().args(["play", tour]).run();
    assert_eq!((run.code, run.stderr.as_str()), (Some(0), ""), "{}", run.stdout);
    assert!(run.stdout.contains("vim wrote: hello world"), "{}", run.stdout);
}
