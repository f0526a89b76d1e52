//! The files of the repository.

use std::io;
use std::path::Path;
use std::process::Command;

use anyhow::{Context as _, bail};

use super::lexer;

/// Every file that git tracks or would add.
#[derive(Debug)]
pub(crate) struct Tree {
    pub(crate) files: Vec<TrackedFile>,
}

#[derive(Debug)]
pub(crate) struct TrackedFile {
    /// From the root of the workspace, with `/`.
    pub(crate) path: String,
    pub(crate) bytes: usize,
    /// Empty when the file is not text.
    pub(crate) text: String,
    /// The Rust in it, without comments and the insides of literals; lines stay. Empty for other files.
    pub(crate) code: String,
}

impl Tree {
    /// Reads them all.
    pub(crate) fn load(root: &Path) -> anyhow::Result<Self> {
        let mut git = Command::new("git");
        git.args(["ls-files", "-z", "--cached", "--others", "--exclude-standard"]).current_dir(root);
        let output = git.output().context("cannot run `git`, which tells the files of the repository")?;
        if !output.status.success() {
            bail!("`git ls-files` failed: {}", String::from_utf8_lossy(&output.stderr).trim_end());
        }
        let mut files = Vec::new();
        for path in String::from_utf8_lossy(&output.stdout).split_terminator('\0') {
            match std::fs::read(root.join(path)) {
                Ok(bytes) => files.push(TrackedFile::new(path, bytes)),
                // Removed, but not yet in the index; or a link to a directory.
                Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::IsADirectory) => {}
                Err(error) => return Err(error).with_context(|| format!("cannot read {path}")),
            }
        }
        Ok(Self { files })
    }

    pub(crate) fn file(&self, path: &str) -> Option<&TrackedFile> {
        self.files.iter().find(|file| file.path == path)
    }
}

impl TrackedFile {
    pub(crate) fn new(path: &str, content: Vec<u8>) -> Self {
        let bytes = content.len();
        let text = String::from_utf8(content).unwrap_or_default();
        let code = if path.ends_with(".rs") { lexer::code(&text) } else { String::new() };
        Self { path: path.to_owned(), bytes, text, code }
    }

    pub(crate) fn is_rust(&self) -> bool {
        self.path.ends_with(".rs")
    }

    /// Whether all of it is for tests, benchmarks or examples.
    pub(crate) fn is_test_code(&self) -> bool {
        let mut parts: Vec<&str> = self.path.split('/').collect();
        let name = parts.pop().unwrap_or_default();
        name == "tests.rs" || parts.iter().any(|part| ["tests", "benches", "examples", "fuzz"].contains(part))
    }

    /// Its code up to the tests at its end.
    pub(crate) fn product_code(&self) -> &str {
        if self.is_test_code() {
            return "";
        }
        // rustfmt puts both at the start of a line.
        let tests = self.code.find("\n#[cfg(test)]\nmod ").filter(|at| {
            let module = self.code[at + "\n#[cfg(test)]\n".len()..].lines().next().unwrap_or_default();
            module.trim_end().ends_with('{')
        });
        &self.code[..tests.map_or(self.code.len(), |at| at + 1)]
    }
}

/// The numbers, from 1, of the lines that contain a word which stands alone.
pub(crate) fn lines_with(code: &str, word: &str) -> Vec<usize> {
    let stands_alone = |line: &str, at: usize| {
        let before = line[..at].chars().next_back();
        let after = line[at + word.len()..].chars().next();
        let part = |c: Option<char>| c.is_some_and(|c| c.is_alphanumeric() || c == '_');
        let opens_with_letter = word.starts_with(|c: char| c.is_alphanumeric());
        let ends_with_letter = word.ends_with(|c: char| c.is_alphanumeric());
        !(opens_with_letter && part(before) || ends_with_letter && part(after))
    };
    code.lines()
        .enumerate()
        .filter(|(_, line)| line.match_indices(word).any(|(at, _)| stands_alone(line, at)))
        .map(|(index, _)| index + 1)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_stand_alone() {
        let code = "unsafe_code\nan unsafe {\nnotunsafe\n";
        assert_eq!(lines_with(code, "unsafe"), [2]);
        assert_eq!(lines_with("std::fs::read\nstd::fs2\n", "std::fs"), [1]);
    }

    #[test]
    fn tests_at_the_end_are_not_product_code() {
        let text = "//! A.\nfn a() {}\n\n#[cfg(test)]\nmod tests {\n}\n";
        let file = TrackedFile::new("a/src/lib.rs", text.into());
        assert_eq!(file.product_code().lines().count(), 3);
        let elsewhere = TrackedFile::new("a/src/lib.rs", "//! A.\n#[cfg(test)]\nmod tests;\nfn b() {}\n".into());
        assert_eq!(elsewhere.product_code().lines().count(), 4);
        assert!(TrackedFile::new("a/src/b/tests.rs", text.into()).product_code().is_empty());
        assert!(TrackedFile::new("a/tests/it/main.rs", text.into()).product_code().is_empty());
    }

    #[test]
    fn what_is_not_text_is_empty() {
        let file = TrackedFile::new("a.png", vec![0x89, 0xff]);
        assert_eq!((file.bytes, file.text.as_str()), (2, ""));
    }
}
