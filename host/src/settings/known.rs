//! Judges values against the tree of defaults, which is the list of all keys and of their types.

use figment::value::{Dict, Value as Figment};
use serde_json::{Map, Value};

use super::error::SettingError;
use super::layer::Layer;
use crate::near::{did_you_mean, quoted};

/// Reports every unknown key and every value of another type than its default.
pub(super) fn check(layer: &Layer, defaults: &Value, errors: &mut Vec<SettingError>) {
    if let Value::Object(known) = defaults {
        check_table(layer, &layer.values, known, "", errors);
    }
}

fn check_table(layer: &Layer, values: &Dict, known: &Map<String, Value>, at: &str, errors: &mut Vec<SettingError>) {
    for (name, value) in values {
        let key = if at.is_empty() { name.clone() } else { format!("{at}.{name}") };
        let mut fail = |problem: String, hint: Option<String>| {
            errors.push(SettingError::new(&key, layer.origin.clone(), problem).with_hint(hint));
        };
        let Some(default) = known.get(name) else {
            let permission = at.is_empty() && name == "permission";
            let problem = if permission { "rules are set in a file only" } else { "the key is unknown" };
            let mut names: Vec<&str> = known.keys().map(String::as_str).collect();
            if at.is_empty() {
                names.push("permission");
            }
            let hint = if at == "tools" {
                format!(
                    "the table of a tool is `[tool.{name}]`; `tools.shell` switches off every one that runs commands"
                )
            } else {
                did_you_mean(name, names.iter().copied())
                    .unwrap_or_else(|| format!("the keys here are {}", quoted(&names, "and")))
            };
            fail(problem.to_owned(), (!permission).then_some(hint));
            continue;
        };
        match (default, value) {
            // An empty table of defaults is a table of any names.
            (Value::Object(inner), Figment::Dict(..)) if inner.is_empty() => {}
            (Value::Object(inner), Figment::Dict(_, values)) => check_table(layer, values, inner, &key, errors),
            (default, value) if fits(default, value) => {}
            (default, value) => {
                let hint = (key == "tools.shell" && matches!(value, Figment::Dict(..)))
                    .then(|| "the table of the tool `shell` is `[tool.shell]`".to_owned());
                fail(format!("got {}; allowed is {}", shown(value), expected(default)), hint);
            }
        }
    }
}

fn fits(default: &Value, value: &Figment) -> bool {
    match default {
        Value::Null => !matches!(value, Figment::Dict(..) | Figment::Array(..)),
        Value::Bool(_) => matches!(value, Figment::Bool(..)),
        Value::Number(_) => whole(value).is_some_and(|number| number >= 0),
        // Variables that look like numbers are texts all the same.
        Value::String(_) => matches!(value, Figment::String(..) | Figment::Num(..) | Figment::Char(..)),
        Value::Array(_) => matches!(value, Figment::Array(..)),
        Value::Object(_) => matches!(value, Figment::Dict(..)),
    }
}

/// Returns a whole number; figment keeps signed and unsigned ones apart.
pub(super) fn whole(value: &Figment) -> Option<i128> {
    value.to_i128().or_else(|| value.to_u128().and_then(|number| i128::try_from(number).ok()))
}

fn expected(default: &Value) -> &'static str {
    match default {
        Value::Null => "one value",
        Value::Bool(_) => "true or false",
        Value::Number(_) => "a whole number of at least 0",
        Value::String(_) => "text",
        Value::Array(_) => "a list",
        Value::Object(_) => "a table",
    }
}

fn shown(value: &Figment) -> String {
    match value {
        Figment::Dict(..) => "a table".to_owned(),
        Figment::Array(..) => "a list".to_owned(),
        other => serde_json::to_string(other).unwrap_or_else(|_| "a value".to_owned()),
    }
}

/// Calls `each` with the key and the value of every leaf; tables of any names are leaves.
pub(super) fn leaves(values: &Value, key: &mut String, each: &mut impl FnMut(&str, &Value)) {
    match values {
        Value::Object(fields) if key.is_empty() || (!fields.is_empty() && key != "env.set") => {
            for (name, value) in fields {
                let length = key.len();
                if length > 0 {
                    key.push('.');
                }
                key.push_str(name);
                leaves(value, key, each);
                key.truncate(length);
            }
        }
        leaf => each(key, leaf),
    }
}

/// Puts merged values into the order of the defaults.
pub(super) fn in_order(defaults: &Value, merged: &Value) -> Value {
    let (Value::Object(order), Value::Object(fields)) = (defaults, merged) else { return merged.clone() };
    if order.is_empty() {
        return merged.clone();
    }
    let null = Value::Null;
    order.iter().map(|(name, default)| (name.clone(), in_order(default, fields.get(name).unwrap_or(&null)))).collect()
}

/// Finds the key that a check refuses by setting one changed key at a time.
///
/// Deserializers of tables do not say which key they stumbled over.
pub(super) fn culprit(
    table: &Value,
    defaults: &Value,
    check: impl Fn(&Value) -> Result<(), String>,
) -> Option<(String, String)> {
    let (Value::Object(fields), Value::Object(_)) = (table, defaults) else { return None };
    fields.iter().filter(|(name, value)| defaults.get(name.as_str()) != Some(*value)).find_map(|(name, value)| {
        let mut one = defaults.clone();
        one[name.as_str()] = value.clone();
        check(&one).err().map(|problem| (name.clone(), problem))
    })
}
