//! Who may depend on whom: the table of ARCHITECTURE.md.

use super::finding::Finding;
use super::tree::{Tree, lines_with};
use crate::metadata::{Metadata, Package};

/// What a crate may depend on within the workspace.
#[derive(Clone, Copy, Debug)]
enum Below {
    Only(&'static [&'static str]),
    All,
}

/// The layer of a crate. One that has none here is not in the table, and gets a finding.
fn below(name: &str) -> Option<Below> {
    match name {
        "tool-api" | "process" | "xtask" => Some(Below::Only(&[])),
        "policy" => Some(Below::Only(&["tool-api"])),
        "host" => Some(Below::All),
        tool if tool.starts_with("tool-") => Some(Below::Only(&["tool-api", "process"])),
        _ => None,
    }
}

/// Whether a crate is one tool or one family of tools.
fn is_tool(name: &str) -> bool {
    name.starts_with("tool-") && name != "tool-api"
}

const WHY: &str = "the layers of ARCHITECTURE.md keep a tool usable without the host, and the host without the tool";

/// No dependency against the layers. Development dependencies follow the same table: a test that needs an upper layer
/// belongs to that layer.
pub(crate) fn layers(metadata: &Metadata) -> Vec<Finding> {
    let mut findings = Vec::new();
    for package in &metadata.packages {
        let manifest = metadata.relative(&package.manifest_path);
        let Some(below) = below(&package.name) else {
            let what = format!("the crate `{}` has no layer", package.name);
            let hint = "add it to the table in ARCHITECTURE.md and to `xtask/src/tidy/layering.rs`";
            findings.push(Finding::new(&manifest, 0, what, WHY).hint(hint));
            continue;
        };
        let Below::Only(allowed) = below else { continue };
        for dependency in &package.dependencies {
            let name = dependency.name.as_str();
            // A crate may name itself for its own tests.
            if metadata.member(name).is_none() || allowed.contains(&name) || name == package.name {
                continue;
            }
            let what = format!("`{}` depends on `{name}`", package.name);
            let hint = match allowed {
                [] => format!("`{}` may depend on no crate of this workspace", package.name),
                _ => format!("`{}` may depend on {} only", package.name, allowed.join(" and ")),
            };
            findings.push(Finding::new(&manifest, 0, what, WHY).hint(hint));
        }
    }
    findings
}

/// The host takes each tool as an optional dependency.
pub(crate) fn optional_tools(metadata: &Metadata) -> Vec<Finding> {
    let Some(host) = metadata.member("host") else { return Vec::new() };
    let fixed = host
        .dependencies
        .iter()
        .filter(|dependency| is_tool(&dependency.name) && !dependency.is_dev() && !dependency.optional);
    let manifest = metadata.relative(&host.manifest_path);
    fixed
        .map(|dependency| {
            let what = format!("`{}` is not an optional dependency", dependency.name);
            let why = "a host that does not want a tool does not build it";
            Finding::new(&manifest, 0, what, why).hint("set `optional = true` and switch it on by a feature of its own")
        })
        .collect()
}

/// Only `host/src/builtin.rs` names a tool's crate or its feature.
pub(crate) fn tools_are_named_once(metadata: &Metadata, tree: &Tree) -> Vec<Finding> {
    let Some(host) = metadata.member("host") else { return Vec::new() };
    let names = tool_names(host);
    let mut findings = Vec::new();
    for file in &tree.files {
        let elsewhere = file.path.starts_with("host/src/") && !file.path.starts_with("host/src/builtin");
        if !elsewhere || !file.is_rust() || file.is_test_code() {
            continue;
        }
        let product = file.product_code().lines().count();
        for (crate_name, feature) in &names {
            // The name of a feature is inside a literal, so the text decides; comments do not match its form.
            let named = feature.iter().flat_map(|feature| {
                let form = format!("feature = \"{feature}\"");
                file.text.lines().enumerate().filter(move |(_, line)| line.contains(&form)).map(|(index, _)| index + 1)
            });
            let used = lines_with(file.product_code(), crate_name);
            for line in used.into_iter().chain(named.filter(|line| *line <= product)) {
                let what = format!("the tool `{crate_name}` is named outside `builtin.rs`");
                let why = "fronts and the bus know `dyn Tool` only, so that a tool is added in one place";
                findings.push(Finding::new(&file.path, line, what, why).hint("move it into `host/src/builtin.rs`"));
            }
        }
    }
    findings
}

/// The tools' crates, as code names them, with the feature of the host that switches each on.
fn tool_names(host: &Package) -> Vec<(String, Option<String>)> {
    let tools = host.dependencies.iter().filter(|dependency| is_tool(&dependency.name) && !dependency.is_dev());
    tools
        .map(|tool| {
            let switch = format!("dep:{}", tool.name);
            let feature = host.features.iter().find(|(_, members)| members.contains(&switch));
            (tool.name.replace('-', "_"), feature.map(|(name, _)| name.clone()))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::super::tree::TrackedFile;
    use super::*;
    use crate::metadata::Dependency;

    fn package(name: &str, on: &[(&str, Option<&str>)]) -> Package {
        let dependency = |(name, kind): &(&str, Option<&str>)| Dependency {
            name: (*name).to_owned(),
            kind: kind.map(str::to_owned),
            optional: false,
        };
        Package {
            name: name.to_owned(),
            manifest_path: PathBuf::from(format!("/w/{name}/Cargo.toml")),
            dependencies: on.iter().map(dependency).collect(),
            ..Package::default()
        }
    }

    fn workspace(packages: Vec<Package>) -> Metadata {
        let mut packages = packages;
        for name in ["tool-api", "process", "tool-sleep", "policy", "host"] {
            if !packages.iter().any(|package| package.name == name) {
                packages.push(package(name, &[]));
            }
        }
        Metadata { packages, workspace_root: PathBuf::from("/w"), target_directory: PathBuf::from("/w/target") }
    }

    #[track_caller]
    fn check(name: &str, on: &[(&str, Option<&str>)], expected: &[&str]) {
        let got: Vec<String> = layers(&workspace(vec![package(name, on)]))
            .iter()
            .map(|finding| finding.to_string().lines().next().unwrap_or_default().to_owned())
            .collect();
        assert_eq!(got, expected);
    }

    #[test]
    fn the_table_holds() {
        check("host", &[("policy", None), ("tool-sleep", None), ("serde", None)], &[]);
        check("tool-new", &[("tool-api", None), ("process", None)], &[]);
        check("policy", &[("process", None)], &["policy/Cargo.toml: `policy` depends on `process`"]);
        check("tool-api", &[("process", None)], &["tool-api/Cargo.toml: `tool-api` depends on `process`"]);
        check("tool-new", &[("tool-sleep", None)], &["tool-new/Cargo.toml: `tool-new` depends on `tool-sleep`"]);
        check("xtask", &[("host", Some("build"))], &["xtask/Cargo.toml: `xtask` depends on `host`"]);
        check("extra", &[], &["extra/Cargo.toml: the crate `extra` has no layer"]);
    }

    #[test]
    fn tests_follow_the_table_too() {
        check("tool-new", &[("policy", Some("dev"))], &["tool-new/Cargo.toml: `tool-new` depends on `policy`"]);
        check("tool-new", &[("tool-new", Some("dev")), ("tempfile", Some("dev"))], &[]);
    }

    fn host() -> Package {
        let mut host = package("host", &[("tool-sleep", None), ("tool-api", None)]);
        host.features.insert("sleep".to_owned(), vec!["dep:tool-sleep".to_owned()]);
        host
    }

    #[test]
    fn a_fixed_tool_is_found() {
        let mut host = host();
        assert_eq!(optional_tools(&workspace(vec![host.clone()])).len(), 1);
        host.dependencies[0].optional = true;
        assert_eq!(optional_tools(&workspace(vec![host])), []);
    }

    #[track_caller]
    fn named(path: &str, text: &str, expected: usize) {
        let tree = Tree { files: vec![TrackedFile::new(path, text.into())] };
        assert_eq!(tools_are_named_once(&workspace(vec![host()]), &tree).len(), expected, "{path}: {text}");
    }

    #[test]
    fn tools_are_named_in_one_file() {
        named("host/src/builtin.rs", "#[cfg(feature = \"sleep\")]\ntool_sleep::Sleep\n", 0);
        named("host/src/mcp.rs", "#[cfg(feature = \"sleep\")]\ntool_sleep::Sleep\n", 2);
        named("host/src/mcp.rs", "// tool_sleep is not named\nuse tool_api::Tool;\n", 0);
        named("host/src/mcp.rs", "fn a() {}\n\n#[cfg(test)]\nmod tests {\nuse tool_sleep::Sleep;\n}\n", 0);
        named("host/tests/it/main.rs", "use tool_sleep::Sleep;\n", 0);
    }
}
