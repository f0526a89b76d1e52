//! Permission rules from the tables `permission` of the files.

use std::path::Path;

use policy::{RuleTable, Rules};
use serde::Deserialize;
use serde_json::{Map, Value};

use super::WrittenRule;
use super::error::{Origin, SettingError, SettingErrors};
use super::layer::{Layer, Source, read};
use super::lines::Lines;
use super::workspace::Ignored;

/// Reads the table of a layer. `home` is what `~` means in patterns.
pub(super) fn rules(layer: &Layer, home: Option<&Path>) -> Result<Option<Rules>, SettingError> {
    layer.permission.as_ref().map(|table| read_table(table, &layer.origin, &layer.lines, home)).transpose()
}

fn read_table(table: &Value, origin: &Origin, lines: &Lines, home: Option<&Path>) -> Result<Rules, SettingError> {
    let table = RuleTable::deserialize(table).map_err(|error| {
        let (key, problem) = culprit(table).unwrap_or_else(|| ("permission".to_owned(), error.to_string()));
        SettingError::new(key, origin.clone(), problem)
    })?;
    Rules::located(&table, home, |permission, pattern| place(origin, lines, permission, pattern).to_string()).map_err(
        |error| {
            let cause = std::error::Error::source(&error).map_or(String::new(), |cause| format!(": {cause}"));
            SettingError::new("permission", origin.clone(), format!("{error}{cause}"))
        },
    )
}

fn place(origin: &Origin, lines: &Lines, permission: &str, pattern: Option<&str>) -> Origin {
    match lines.of(permission, pattern) {
        Some(line) => Origin::new(format!("{origin}:{line}")),
        None => origin.clone(),
    }
}

/// Lists the rules of a layer as they are written.
pub(super) fn written(layer: &Layer) -> Vec<WrittenRule> {
    let rule = |permission: &str, pattern: Option<&str>, decision: &Value| WrittenRule {
        key: key(permission, pattern),
        permission: permission.to_owned(),
        pattern: pattern.unwrap_or("*").to_owned(),
        decision: decision.as_str().unwrap_or_default().to_owned(),
        origin: place(&layer.origin, &layer.lines, permission, pattern),
    };
    let permissions = layer.permission.iter().filter_map(Value::as_object).flatten();
    let entries = permissions.flat_map(|(permission, value)| match value {
        Value::Object(patterns) => {
            patterns.iter().map(|(pattern, decision)| rule(permission, Some(pattern), decision)).collect()
        }
        decision => vec![rule(permission, None, decision)],
    });
    entries.collect()
}

fn key(permission: &str, pattern: Option<&str>) -> String {
    match pattern {
        Some(pattern) => format!("permission.{permission}.{pattern:?}"),
        None => format!("permission.{permission}"),
    }
}

/// Finds the entry that cannot be read, since the error of the whole table does not name it.
fn culprit(table: &Value) -> Option<(String, String)> {
    let problem = |permission: &str, value: Value| {
        let one = Value::from(Map::from_iter([(permission.to_owned(), value)]));
        RuleTable::deserialize(one).err().map(|error| error.to_string())
    };
    table.as_object()?.iter().find_map(|(permission, value)| {
        let entry = value.as_object().into_iter().flatten().find_map(|(pattern, decision)| {
            let one = Map::from_iter([(pattern.clone(), decision.clone())]);
            problem(permission, one.into()).map(|problem| (key(permission, Some(pattern)), problem))
        });
        let whole = || problem(permission, value.clone()).map(|problem| (key(permission, None), problem));
        match problem(permission, Map::new().into()) {
            // The name of the permission itself is unknown.
            Some(problem) => Some((key(permission, None), problem)),
            None => entry.or_else(whole),
        }
    })
}

/// Takes every `allow` out of an untrusted table, and reports each.
///
/// The strictest layer counts, but where the person's file says nothing an `allow` of the workspace would be the only
/// answer.
pub(super) fn without_allow(layer: &mut Layer, ignored: &mut Vec<Ignored>) {
    let Some(Value::Object(permissions)) = &mut layer.permission else { return };
    let mut report = |permission: &str, pattern: Option<&str>| {
        let reason = "a workspace can only ask or deny".to_owned();
        let origin = place(&layer.origin, &layer.lines, permission, pattern);
        ignored.push(Ignored { key: key(permission, pattern), origin, reason });
    };
    let allows = |value: &Value| value.as_str() == Some("allow");
    permissions.retain(|permission, value| {
        if allows(value) {
            report(permission, None);
            return false;
        }
        if let Value::Object(patterns) = value {
            patterns.retain(|pattern, decision| {
                if allows(decision) {
                    report(permission, Some(pattern));
                }
                !allows(decision)
            });
        }
        true
    });
}

/// Reads a file that has nothing but the table `permission`, JSON or TOML by its ending (`.json`) or first character.
///
/// # Errors
/// A file that cannot be read, another key, or a rule that is none.
pub fn rules_file(path: &Path, home: Option<&Path>) -> Result<Rules, SettingErrors> {
    let origin = Source::Person.origin(path);
    let fail = |problem: String| SettingErrors::from(SettingError::new("", origin.clone(), problem));
    let text = read(path, &origin)?.ok_or_else(|| fail("the file does not exist".to_owned()))?;
    let is_json = path.extension().is_some_and(|ending| ending == "json") || text.trim_start().starts_with('{');
    let (mut values, lines): (Map<String, Value>, Lines) = if is_json {
        let values = serde_json::from_str(&text).map_err(|error| fail(format!("the file is not JSON: {error}")))?;
        (values, Lines::json(&text))
    } else {
        let layer = Layer::toml(&text, origin.clone(), Source::Person)?;
        let mut values = Map::new();
        values.extend(layer.values.into_keys().map(|key| (key, Value::Null)));
        values.extend(layer.permission.map(|table| ("permission".to_owned(), table)));
        (values, layer.lines)
    };
    let table = values.shift_remove("permission");
    if let Some(key) = values.keys().next() {
        return Err(SettingError::new(key, origin, "the key is unknown; a file of rules has `permission` alone").into());
    }
    let table = table.unwrap_or_else(|| Map::new().into());
    Ok(read_table(&table, &origin, &lines, home)?)
}
