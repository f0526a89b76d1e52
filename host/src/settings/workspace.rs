//! The workspace's file: what it may say, since anybody who wrote the repository wrote it.

use std::path::Path;

use figment::value::{Dict, Value as Figment};
use policy::Mode;
use serde_json::Value;

use super::WORKSPACE_FILE;
use super::error::{Origin, SettingError};
use super::known::whole;
use super::layer::{Layer, Source, insert};
use super::{parse_mode, sections};

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

/// Returns the error of a workspace that asks for a mode which does not exist: nothing may run looser than it asks.
pub(super) fn unknown_mode(layer: &Layer) -> Option<SettingError> {
    let mode = serde_json::to_value(layer.values.get("mode")?).unwrap_or_default();
    let problem = parse_mode(&mode).err()?;
    Some(SettingError::new("mode", layer.origin.clone(), problem))
}

/// Keeps what tightens `before`: lower limits, and what is switched off. Reports the rest.
///
/// Rules are kept whole: their layer only counts where it is stricter.
pub(super) fn tighten(layer: Layer, before: &Value, ignored: &mut Vec<Ignored>) -> Layer {
    let mut kept = Layer { values: Dict::new(), ..layer.clone() };
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
        ["mode"] => return judge_mode(value, before),
        ["tools", "shell"] | ["tool", _, "enabled"] => return judge_switch(value, before, false, "tools"),
        ["read_only" | "no_mutating_commands"] => return judge_switch(value, before, true, "workflow policies"),
        ["mask", "enabled"] => return judge_switch(value, before, true, "the mask"),
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

/// Lets a workspace set a switch one way only.
fn judge_switch(value: &Figment, before: &Value, tight: bool, what: &str) -> Result<(), String> {
    if value.to_bool() == Some(tight) || value.to_bool() == before.as_bool() {
        return Ok(());
    }
    Err(format!("a workspace can only switch {what} {}", if tight { "on" } else { "off" }))
}

/// Lets a workspace set a stricter mode only.
fn judge_mode(value: &Figment, before: &Value) -> Result<(), String> {
    let read = |value: &Value| parse_mode(value).map(strictness);
    let asked = serde_json::to_value(value).unwrap_or_default();
    match (read(&asked), read(before)) {
        (Ok(asked), Ok(before)) if asked >= before => Ok(()),
        _ => Err(format!("a workspace can only set a stricter mode than {before}")),
    }
}

/// Puts modes into an order. `smart` is the mildest, since it runs some commands that nobody saw; where a workspace sets
/// `ask` on top of it, what it refuses stays refused. `plan` runs nothing that changes anything.
fn strictness(mode: Mode) -> u8 {
    match mode {
        Mode::Smart => 0,
        Mode::Ask => 1,
        _ => 2,
    }
}
