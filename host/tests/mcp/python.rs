//! The Python MCP SDK as a real client of the built program, in both eras.

use std::fs::{self, File};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The release of the SDK that the scripts are written for.
const SDK: &str = "mcp==2.3.0";

#[test]
fn the_python_sdk_in_the_older_era() {
    run("legacy");
}

#[test]
fn the_python_sdk_in_the_newer_era() {
    run("auto");
}

#[track_caller]
fn run(mode: &str) {
    let Some(python) = python() else { return };
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/mcp/sdk.py");
    let output = Command::new(python)
        .args(["-W", "error::SyntaxWarning"])
        .arg(script)
        .args([env!("CARGO_BIN_EXE_toolhost"), mode, "all"])
        .output()
        .unwrap();
    assert!(
        output.status.success(),
        "{}\n{}",
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    );
}

/// Returns the interpreter of a virtual environment with the SDK, which is made once for a target directory.
fn python() -> Option<PathBuf> {
    if Command::new("python3").arg("--version").output().is_err() {
        // Not by a macro, whose output the harness keeps back.
        std::io::stderr().write_all(b"skipped: the Python SDK is not tried, there is no python3 here\n").unwrap();
        return None;
    }
    let directory = Path::new(env!("CARGO_TARGET_TMPDIR")).join(SDK);
    fs::create_dir_all(env!("CARGO_TARGET_TMPDIR")).unwrap();
    // Tests run at once, in this process and in others.
    let lock = File::create(directory.with_added_extension("lock")).unwrap();
    lock.lock().unwrap();
    let python = directory.join("bin/python");
    let ready = directory.join("ready");
    if !ready.exists() {
        must(Command::new("python3").args(["-m", "venv", "--clear"]).arg(&directory));
        let pip = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check", SDK];
        must(Command::new(&python).args(pip));
        File::create(ready).unwrap();
    }
    Some(python)
}

#[track_caller]
fn must(command: &mut Command) {
    let output = command.output().unwrap_or_else(|error| panic!("{command:?}: {error}"));
    assert!(output.status.success(), "{command:?}\n{}", String::from_utf8_lossy(&output.stderr));
}
