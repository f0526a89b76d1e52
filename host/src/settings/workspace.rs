//! The workspace's file: what it may say, since anybody who wrote the repository wrote it.

use std::path::Path;

use figment::value::{Dict, Value as Figment};
use serde_json::Value;

use super::WORKSPACE_FILE;
use super::error::{Origin, SettingError};
use super::known::whole;
use super::layer::{Layer, Source, insert};
use super::sections;

/// Something that a workspace's file tried to loosen, which has no effect.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ignored {
    /// The key.
    pub key: String,
    /// The file.
    pub origin: Origin,
    /// Why it has no effect.
    pub reason: String,
}

/// Reads the file of a workspace; nothing if there is none.
///
/// A link that leads out of the workspace is an error: what it leads to was not written for this purpose, and what the
/// file would have tightened must not be lost.
pub(super) fn file(root: &Path) -> Result<Option<Layer>, SettingError> {
    let path = root.join(WORKSPACE_FILE);
    let fail = |problem: &str| SettingError::new("", Source::Workspace.origin(&path), problem);
    let is_link = path.symlink_metadata().is_ok_and(|metadata| metadata.is_symlink());
    if is_link {
        let (Ok(target), Ok(root)) = (path.canonicalize(), root.canonicalize()) else {
            return Err(fail("it is a link that leads nowhere"));
        };
        if !target.starts_with(root) {
            return Err(fail("it is a link that leads out of the workspace, and is not read"));
        }
    }
    Layer::file(&path, Source::Workspace)
}

/// Returns the error of a workspace that asks for more than this version can do: it must not run looser than it asks.
pub(super) fn not_available_yet(layer: &Layer) -> Option<SettingError> {
    let mode = layer.values.get("mode")?.as_str()?;
    mode.trim().eq_ignore_ascii_case("plan").then(|| {
        let problem = "the mode \"plan\" is not available yet, and nothing runs here looser than the workspace asks";
        SettingError::new("mode", layer.origin.clone(), problem)
    })
}

/// Keeps what tightens `before`: lower limits, and what is switched off. Reports the rest.
///
/// Rules are kept whole: their layer only counts where it is stricter.
pub(super) fn tighten(layer: Layer, before: &Value, ignored: &mut Vec<Ignored>) -> Layer {
    let mut kept = Layer { origin: layer.origin.clone(), values: Dict::new(), permission: layer.permission.clone() };
    let mut path = Vec::new();
    walk(&layer.values, before, &mut path, &mut |path, value, before| match judge(path, value, before) {
        Ok(()) => insert(&mut kept.values, path, value.clone()),
        Err(reason) => {
            ignored.push(Ignored { key: path.join("."), origin: layer.origin.clone(), reason });
        }
    });
    kept
}

fn walk(values: &Dict, before: &Value, path: &mut Vec<String>, each: &mut impl FnMut(&[String], &Figment, &Value)) {
    for (name, value) in values {
        path.push(name.clone());
        match (value, &before[name.as_str()]) {
            (Figment::Dict(_, inner), before @ Value::Object(fields)) if !fields.is_empty() => {
                walk(inner, before, path, each);
            }
            (value, before) => each(path, value, before),
        }
        path.pop();
    }
}

fn judge(path: &[String], value: &Figment, before: &Value) -> Result<(), String> {
    let names: Vec<&str> = path.iter().map(String::as_str).collect();
    let limit = match names.as_slice() {
        ["tools", "shell"] | ["tools", _, "enabled"] => {
            let same = value.to_bool() == before.as_bool();
            let off = value.to_bool() == Some(false);
            return if same || off { Ok(()) } else { Err("a workspace can only switch tools off".to_owned()) };
        }
        [section @ .., key] => {
            let section = section.join(".");
            sections().any(|(known, rules)| known == section && rules.limits.contains(key))
        }
        [] => false,
    };
    let numbers = whole(value).zip(before.as_i64().map(i128::from));
    match (limit, numbers) {
        (true, Some((value, before))) if value <= before => Ok(()),
        (true, Some((value, before))) => {
            Err(format!("{value} is above {before}, and a workspace can only lower limits"))
        }
        (true, None) => Ok(()),
        (false, _) if serde_json::to_value(value).ok().as_ref() == Some(before) => Ok(()),
        (false, _) => Err("a workspace cannot set this".to_owned()),
    }
}
