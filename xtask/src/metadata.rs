//! What `cargo metadata` says about the workspace.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, bail};
use serde::Deserialize;

/// The workspace that the current directory is in.
#[derive(Debug, Deserialize)]
pub(crate) struct Metadata {
    /// The members, in no particular order.
    pub(crate) packages: Vec<Package>,
    pub(crate) workspace_root: PathBuf,
    /// Where cargo puts what it builds.
    pub(crate) target_directory: PathBuf,
}

/// One member.
#[derive(Clone, Debug, Default, Deserialize)]
pub(crate) struct Package {
    pub(crate) name: String,
    pub(crate) manifest_path: PathBuf,
    /// What each feature switches on: features, `dep:name`, `name/feature`.
    pub(crate) features: BTreeMap<String, Vec<String>>,
    pub(crate) dependencies: Vec<Dependency>,
    /// The oldest Rust that the manifest promises.
    pub(crate) rust_version: Option<String>,
}

/// One line of a member's dependency tables.
#[derive(Clone, Debug, Default, Deserialize)]
pub(crate) struct Dependency {
    pub(crate) name: String,
    /// `None` for a normal one, else `dev` or `build`.
    pub(crate) kind: Option<String>,
    pub(crate) optional: bool,
}

impl Dependency {
    pub(crate) fn is_dev(&self) -> bool {
        self.kind.as_deref() == Some("dev")
    }
}

impl Metadata {
    /// Asks cargo, without the network.
    pub(crate) fn load() -> anyhow::Result<Self> {
        let output = cargo().args(["metadata", "--no-deps", "--format-version", "1"]).output();
        let output = output.context("cannot run `cargo metadata`")?;
        if !output.status.success() {
            bail!("`cargo metadata` failed: {}", String::from_utf8_lossy(&output.stderr).trim_end());
        }
        serde_json::from_slice(&output.stdout).context("`cargo metadata` printed what is not understood")
    }

    /// The members, each after the members that it depends on.
    pub(crate) fn in_order(&self) -> Vec<&Package> {
        let mut order: Vec<&Package> = Vec::new();
        let mut seen: Vec<&str> = Vec::new();
        for package in &self.packages {
            self.visit(package, &mut seen, &mut order);
        }
        order
    }

    fn visit<'a>(&'a self, package: &'a Package, seen: &mut Vec<&'a str>, order: &mut Vec<&'a Package>) {
        // Development dependencies may go in a circle; the first one met is then first.
        if seen.contains(&package.name.as_str()) {
            return;
        }
        seen.push(&package.name);
        for dependency in &package.dependencies {
            if let Some(member) = self.member(&dependency.name) {
                self.visit(member, seen, order);
            }
        }
        order.push(package);
    }

    pub(crate) fn member(&self, name: &str) -> Option<&Package> {
        self.packages.iter().find(|package| package.name == name)
    }

    /// A path as people write it: from the root of the workspace.
    pub(crate) fn relative(&self, path: &Path) -> String {
        path.strip_prefix(&self.workspace_root).unwrap_or(path).to_string_lossy().replace('\\', "/")
    }
}

/// The cargo that runs this task, without what `cargo run` sets for the program it runs.
///
/// Those variables describe `xtask`; a test that reads them would take them for its own.
pub(crate) fn cargo() -> Command {
    let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    for (name, _) in std::env::vars_os() {
        let text = name.to_string_lossy();
        if ["CARGO_PKG_", "CARGO_MANIFEST_", "CARGO_BIN_"].iter().any(|prefix| text.starts_with(prefix)) {
            command.env_remove(&name);
        }
    }
    command
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dependencies_come_first() {
        let package = |name: &str, on: &[&str]| Package {
            name: name.to_owned(),
            dependencies: on
                .iter()
                .map(|name| Dependency { name: (*name).to_owned(), ..Dependency::default() })
                .collect(),
            ..Package::default()
        };
        let packages =
            vec![package("top", &["serde", "middle", "base"]), package("base", &[]), package("middle", &["base"])];
        let metadata = Metadata { packages, workspace_root: PathBuf::new(), target_directory: PathBuf::new() };
        let names: Vec<&str> = metadata.in_order().iter().map(|package| package.name.as_str()).collect();
        assert_eq!(names, ["base", "middle", "top"]);
    }
}
