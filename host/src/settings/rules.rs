//! Permission rules from the tables `permission` of the files.

use std::path::Path;

use policy::{RuleTable, Rules};
use serde::Deserialize;
use serde_json::{Map, Value};

use super::error::{Origin, SettingError, SettingErrors};
use super::layer::{Layer, Source, read};
use super::workspace::Ignored;

/// Reads the table of a layer. `home` is what `~` means in patterns.
pub(super) fn rules(layer: &Layer, home: Option<&Path>) -> Result<Option<Rules>, SettingError> {
    layer.permission.as_ref().map(|table| read_table(table, &layer.origin, home)).transpose()
}

fn read_table(table: &Value, origin: &Origin, home: Option<&Path>) -> Result<Rules, SettingError> {
    let table = RuleTable::deserialize(table).map_err(|error| {
        let (key, problem) = culprit(table).unwrap_or_else(|| ("permission".to_owned(), error.to_string()));
        SettingError::new(key, origin.clone(), problem)
    })?;
    Rules::new(&table, &origin.to_string(), home).map_err(|error| {
        let cause = std::error::Error::source(&error).map_or(String::new(), |cause| format!(": {cause}"));
        SettingError::new("permission", origin.clone(), format!("{error}{cause}"))
    })
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
            problem(permission, one.into()).map(|problem| (format!("permission.{permission}.{pattern:?}"), problem))
        });
        let whole = || problem(permission, value.clone()).map(|problem| (format!("permission.{permission}"), problem));
        match problem(permission, Map::new().into()) {
            // The name of the permission itself is unknown.
            Some(problem) => Some((format!("permission.{permission}"), problem)),
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
    let mut report = |key: String| {
        let reason = "a workspace can only ask or deny".to_owned();
        ignored.push(Ignored { key, origin: layer.origin.clone(), reason });
    };
    let allows = |value: &Value| value.as_str() == Some("allow");
    permissions.retain(|permission, value| {
        if allows(value) {
            report(format!("permission.{permission}"));
            return false;
        }
        if let Value::Object(patterns) = value {
            patterns.retain(|pattern, decision| {
                if allows(decision) {
                    report(format!("permission.{permission}.{pattern:?}"));
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
    let mut values: Map<String, Value> = if is_json {
        serde_json::from_str(&text).map_err(|error| fail(format!("the file is not JSON: {error}")))?
    } else {
        let layer = Layer::toml(&text, origin.clone(), Source::Person)?;
        let mut values = Map::new();
        values.extend(layer.values.into_keys().map(|key| (key, Value::Null)));
        values.extend(layer.permission.map(|table| ("permission".to_owned(), table)));
        values
    };
    let table = values.shift_remove("permission");
    if let Some(key) = values.keys().next() {
        return Err(SettingError::new(key, origin, "the key is unknown; a file of rules has `permission` alone").into());
    }
    let table = table.unwrap_or_else(|| Map::new().into());
    Ok(read_table(&table, &origin, home)?)
}
