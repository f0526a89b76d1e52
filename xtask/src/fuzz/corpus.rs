//! The kept corpus: one JSON string a line in the repository, one file a text for libFuzzer.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::Context as _;

/// Makes a directory that is empty.
pub(super) fn empty(directory: &Path) -> anyhow::Result<()> {
    let name = directory.display();
    if directory.exists() {
        fs::remove_dir_all(directory).with_context(|| format!("cannot empty `{name}`"))?;
    }
    fs::create_dir_all(directory).with_context(|| format!("cannot make `{name}`"))
}

/// The files in a directory, without what is below it, in order.
pub(super) fn files(directory: &Path) -> anyhow::Result<Vec<PathBuf>> {
    let entries = fs::read_dir(directory).with_context(|| format!("cannot list `{}`", directory.display()))?;
    let mut files = Vec::new();
    for entry in entries {
        let path = entry?.path();
        if path.is_file() {
            files.push(path);
        }
    }
    files.sort();
    Ok(files)
}

/// Writes each text of `kept` into a file of `directory`, which is emptied first.
pub(super) fn unpack(kept: &Path, directory: &Path) -> anyhow::Result<()> {
    empty(directory)?;
    let name = kept.display();
    let lines = fs::read_to_string(kept).with_context(|| format!("cannot read `{name}`"))?;
    for (number, line) in lines.lines().enumerate() {
        let text: String =
            serde_json::from_str(line).with_context(|| format!("`{name}` line {}: not a JSON string", number + 1))?;
        fs::write(directory.join(format!("{number:05}")), text)?;
    }
    Ok(())
}

/// Writes the texts of a directory's files into `kept`, short ones first, and says how many. What is no UTF-8 becomes
/// what the target makes of it; what is longer than `limit` bytes stays out.
pub(super) fn pack(directory: &Path, kept: &Path, limit: usize) -> anyhow::Result<usize> {
    let mut texts = Vec::new();
    for path in files(directory)? {
        let bytes = fs::read(&path).with_context(|| format!("cannot read `{}`", path.display()))?;
        if bytes.len() <= limit {
            texts.push(String::from_utf8_lossy(&bytes).into_owned());
        }
    }
    texts.sort_by(|one, other| (one.len(), one).cmp(&(other.len(), other)));
    texts.dedup();
    let mut lines = String::new();
    for text in &texts {
        lines.push_str(&serde_json::to_string(text)?);
        lines.push('\n');
    }
    fs::write(kept, lines).with_context(|| format!("cannot write `{}`", kept.display()))?;
    Ok(texts.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_packed_is_unpacked() {
        let directory = tempfile::tempdir().unwrap();
        let (found, kept) = (directory.path().join("found"), directory.path().join("kept.jsonl"));
        empty(&found).unwrap();
        for (name, bytes) in [("a", &b"ls \"x\"\n"[..]), ("b", b"a"), ("c", b"\xff"), ("d", b"too long")] {
            fs::write(found.join(name), bytes).unwrap();
        }
        assert_eq!(pack(&found, &kept, 7).unwrap(), 3);
        let seeds = directory.path().join("seeds");
        unpack(&kept, &seeds).unwrap();
        let texts: Vec<String> = files(&seeds).unwrap().iter().map(|path| fs::read_to_string(path).unwrap()).collect();
        assert_eq!(texts, ["a", "\u{fffd}", "ls \"x\"\n"]);
    }
}
