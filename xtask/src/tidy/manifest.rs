//! Rules about manifests and the toolchain.

use std::process::Command;

use anyhow::Context as _;

use super::finding::Finding;
use super::tree::Tree;
use crate::metadata::Metadata;

/// What every crate takes from the root manifest: the section, and the line in it.
const INHERITED: &[(&str, &str)] = &[
    ("[lints]", "workspace = true"),
    ("[package]", "license.workspace = true"),
    ("[package]", "edition.workspace = true"),
    ("[package]", "rust-version.workspace = true"),
    ("[package]", "version.workspace = true"),
];

/// Every crate inherits lints, licence, edition, version and the minimum Rust.
pub(crate) fn inherits(metadata: &Metadata, tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    for package in &metadata.packages {
        let path = metadata.relative(&package.manifest_path);
        let Some(file) = tree.file(&path) else { continue };
        for (section, line) in INHERITED {
            if !has(&file.text, section, line) {
                let what = format!("`{line}` is missing in `{section}`");
                let why = "a crate with rules or a licence of its own is noticed too late";
                findings.push(Finding::new(&path, 0, what, why).hint(format!("add `{line}` to `{section}`")));
            }
        }
    }
    findings
}

fn has(manifest: &str, section: &str, line: &str) -> bool {
    let mut inside = false;
    manifest.lines().map(str::trim).any(|text| {
        if text.starts_with('[') {
            inside = text == section;
        }
        inside && text == line
    })
}

/// How the toolchain must stand to the minimum that the manifests state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Toolchain {
    AtLeast,
    Exactly,
}

/// The version of the compiler, as `1.95.0`.
pub(crate) fn installed() -> anyhow::Result<String> {
    let rustc = std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let output = Command::new(rustc).arg("--version").output().context("cannot run `rustc --version`")?;
    let text = String::from_utf8_lossy(&output.stdout);
    let version = text.split_whitespace().nth(1).context("`rustc --version` printed no version")?;
    Ok(version.to_owned())
}

/// The stated minimum is the Rust that runs here.
pub(crate) fn rust_version(metadata: &Metadata, installed: &str, toolchain: Toolchain) -> Vec<Finding> {
    let mut findings = Vec::new();
    for package in &metadata.packages {
        let path = metadata.relative(&package.manifest_path);
        let stated = package.rust_version.as_deref().unwrap_or_default();
        let why = "the minimum Rust is a promise to who builds this, and holds only if it was built with it";
        let (Some(minimum), Some(here)) = (minor(stated), minor(installed)) else {
            let what = format!("`rust-version` is `{stated}`, rustc is `{installed}`; both must be versions");
            findings.push(Finding::new(&path, 0, what, why).hint("state `rust-version` in `[workspace.package]`"));
            continue;
        };
        if here < minimum || (toolchain == Toolchain::Exactly && here != minimum) {
            let what = format!("`rust-version` is {stated}, but this is rustc {installed}");
            let hint = if here < minimum {
                format!("install Rust {stated}")
            } else {
                format!("run with Rust {stated}, or state {}.{} in `[workspace.package]`", here.0, here.1)
            };
            findings.push(Finding::new(&path, 0, what, why).hint(hint));
        }
    }
    findings
}

/// Major and minor of a version; patches promise nothing.
fn minor(version: &str) -> Option<(u32, u32)> {
    let mut parts = version.split(['.', '-']);
    Some((parts.next()?.parse().ok()?, parts.next()?.parse().ok()?))
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::super::tree::TrackedFile;
    use super::*;
    use crate::metadata::Package;

    fn workspace(rust_version: Option<&str>) -> Metadata {
        let package = Package {
            name: "a".to_owned(),
            manifest_path: PathBuf::from("/w/a/Cargo.toml"),
            rust_version: rust_version.map(str::to_owned),
            ..Package::default()
        };
        Metadata {
            packages: vec![package],
            workspace_root: PathBuf::from("/w"),
            target_directory: PathBuf::from("/w/target"),
        }
    }

    #[test]
    fn crates_inherit() {
        let whole = "[package]\nname = \"a\"\nversion.workspace = true\nedition.workspace = true\n\
                     rust-version.workspace = true\nlicense.workspace = true\n\n[lints]\nworkspace = true\n";
        let count = |text: &str| {
            let tree = Tree { files: vec![TrackedFile::new("a/Cargo.toml", text.into())] };
            inherits(&workspace(None), &tree).len()
        };
        assert_eq!(count(whole), 0);
        assert_eq!(count(&whole.replace("[lints]", "[dependencies.x]")), 1);
        assert_eq!(count(&whole.replace("license.workspace = true", "license = \"MIT\"")), 1);
        assert_eq!(count(""), INHERITED.len());
    }

    #[track_caller]
    fn check(stated: Option<&str>, installed: &str, toolchain: Toolchain, expected: usize) {
        assert_eq!(rust_version(&workspace(stated), installed, toolchain).len(), expected, "{stated:?} {installed}");
    }

    #[test]
    fn the_stated_minimum_is_what_runs() {
        use Toolchain::{AtLeast, Exactly};
        check(Some("1.95"), "1.95.3", Exactly, 0);
        check(Some("1.95"), "1.96.0-beta.1", AtLeast, 0);
        check(Some("1.95"), "1.96.0-nightly", Exactly, 1);
        check(Some("1.95"), "1.94.0", AtLeast, 1);
        check(None, "1.95.0", AtLeast, 1);
    }
}
