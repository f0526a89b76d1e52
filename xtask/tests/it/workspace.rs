//! A workspace in a temporary directory.

use std::fs;
use std::path::Path;
use std::process::Command;

use tempfile::TempDir;

#[derive(Debug)]
pub(crate) struct Workspace(TempDir);

/// What `xtask` printed, and whether it was satisfied.
#[derive(Debug)]
pub(crate) struct Outcome {
    pub(crate) code: Option<i32>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Workspace {
    /// Makes one with these files and a manifest that names the members.
    pub(crate) fn new(members: &[&str], files: &[(&str, &str)]) -> Self {
        let workspace = Self(tempfile::tempdir().expect("a temporary directory can be made"));
        let manifest = format!("[workspace]\nresolver = \"3\"\nmembers = {members:?}\n");
        workspace.write("Cargo.toml", &manifest);
        for (path, text) in files {
            workspace.write(path, text);
        }
        workspace
    }

    pub(crate) fn path(&self) -> &Path {
        self.0.path()
    }

    pub(crate) fn write(&self, path: &str, text: &str) {
        let path = self.path().join(path);
        fs::create_dir_all(path.parent().expect("a file has a directory")).expect("a directory can be made");
        fs::write(path, text).expect("a file can be written");
    }

    pub(crate) fn xtask(&self, arguments: &[&str]) -> Outcome {
        let output = Command::new(env!("CARGO_BIN_EXE_xtask"))
            .args(arguments)
            .current_dir(self.path())
            .env("CARGO_TARGET_DIR", self.path().join("target"))
            .output()
            .expect("xtask was built");
        Outcome {
            code: output.status.code(),
            stdout: String::from_utf8_lossy(&output.stdout).into_owned(),
            stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
        }
    }
}
