//! What a configuration is read from beside its files: the defaults, variables and flags.

use std::path::{Path, PathBuf};

use policy::Mode;
use serde_json::{Map, Value, json};

use super::error::Origin;
use super::layer::Layer;
use super::{NO_KEYS, VARIABLE_PREFIX, WORKFLOW, section};
use crate::builtin::BUILTINS;

/// Returns where the platform keeps a person's configuration: `$XDG_CONFIG_HOME` or `~/.config`, on macOS
/// `~/Library/Application Support`, on Windows `%APPDATA%`; with `toolhost.toml`.
pub fn user_file(variable: impl Fn(&str) -> Option<PathBuf>) -> Option<PathBuf> {
    let absolute = |name: &str| variable(name).filter(|path| path.is_absolute());
    let directory = if cfg!(windows) {
        absolute("APPDATA")
    } else if cfg!(target_os = "macos") {
        absolute("HOME").map(|home| home.join("Library/Application Support"))
    } else {
        absolute("XDG_CONFIG_HOME").or_else(|| absolute("HOME").map(|home| home.join(".config")))
    };
    directory.map(|directory| directory.join(Path::new("toolhost.toml")))
}

pub(super) fn defaults() -> Value {
    let mut tools = Map::new();
    for tool in BUILTINS {
        let mut table = Map::from_iter([("enabled".to_owned(), json!(true))]);
        if let Value::Object(values) = (tool.section.defaults)() {
            table.extend(values);
        }
        tools.insert(tool.name.to_owned(), table.into());
    }
    let mut all = Map::from_iter([("mode".to_owned(), json!(Mode::default()))]);
    all.extend(WORKFLOW.iter().map(|(key, _)| ((*key).to_owned(), json!(false))));
    all.extend(section::HOST.iter().map(|(key, section)| ((*key).to_owned(), (section.defaults)())));
    // The switch of every tool that runs commands, apart from the tables of the tools: one of them is named `shell`.
    all.insert("tools".to_owned(), json!({"shell": true}));
    all.insert("tool".to_owned(), tools.into());
    all.into()
}

/// One layer a variable, so that each value knows its variable.
pub(super) fn variables(all: &[(String, String)]) -> Vec<Layer> {
    let mut ours: Vec<_> =
        all.iter().filter(|(name, _)| name.starts_with(VARIABLE_PREFIX) && !NO_KEYS.contains(&name.as_str())).collect();
    ours.sort();
    let layers = ours.into_iter().map(|(name, value)| {
        let mut layer = Layer::new(Origin::new(format!("variable {name}")));
        let path: Vec<String> =
            name[VARIABLE_PREFIX.len()..].to_ascii_lowercase().split("__").map(Into::into).collect();
        layer.set(&path, value);
        layer
    });
    layers.collect()
}

pub(super) fn flags(all: &[(String, String, String)]) -> Vec<Layer> {
    let layers = all.iter().map(|(flag, key, value)| {
        let mut layer = Layer::new(Origin::new(format!("flag {flag}")));
        let path: Vec<String> = key.split('.').map(Into::into).collect();
        layer.set(&path, value);
        layer
    });
    layers.collect()
}
