//! Words for what a schema allows and for what a value is.

use serde_json::{Map, Value};

use super::{resolve, types};
use crate::bound::grouped;
use crate::near::quoted;

/// Characters of a value that a message repeats.
const SHOWN: usize = 80;

/// Says what a schema allows, for example `an integer from 1 to 1 000`.
pub(super) fn describe(root: &Value, schema: &Map<String, Value>) -> String {
    if let Some(only) = schema.get("const") {
        return only.to_string();
    }
    if let Some(values) = schema.get("enum").and_then(Value::as_array) {
        let values: Vec<String> = values.iter().filter(|value| !value.is_null()).map(Value::to_string).collect();
        return match values.as_slice() {
            [one] => one.clone(),
            [start @ .., last] => format!("{} or {last}", start.join(", ")),
            [] => "null".to_owned(),
        };
    }
    for keyword in ["anyOf", "oneOf"] {
        if let Some(choices) = schema.get(keyword).and_then(Value::as_array) {
            let choices: Vec<String> = choices
                .iter()
                .filter_map(|choice| resolve(root, choice).as_object())
                .map(|choice| describe(root, choice))
                .filter(|text| text != "null")
                .collect();
            return choices.join(" or ");
        }
    }
    let all = types(schema);
    let named: Vec<String> = all
        .iter()
        .filter(|name| **name != "null" || all.len() == 1)
        .map(|name| describe_type(root, schema, name))
        .collect();
    if named.is_empty() { "any value".to_owned() } else { named.join(" or ") }
}

fn describe_type(root: &Value, schema: &Map<String, Value>, name: &str) -> String {
    match name {
        "integer" => format!("an integer{}", range(schema)),
        "number" => format!("a number{}", range(schema)),
        "string" => format!("text{}", length(schema, "minLength", "maxLength", "characters")),
        "boolean" => "true or false".to_owned(),
        "array" => {
            let items = schema.get("items").and_then(|items| resolve(root, items).as_object());
            let items = items.map_or(String::new(), |items| format!(", each {}", describe(root, items)));
            format!("a list{}{items}", length(schema, "minItems", "maxItems", "items"))
        }
        "object" => {
            let properties = schema.get("properties").and_then(Value::as_object);
            let names: Vec<&str> = properties.into_iter().flatten().map(|(name, _)| name.as_str()).collect();
            if names.is_empty() { "an object".to_owned() } else { format!("an object with {}", quoted(&names, "and")) }
        }
        other => other.to_owned(),
    }
}

fn range(schema: &Map<String, Value>) -> String {
    let limit = |keyword: &str| schema.get(keyword).map(number);
    let above = limit("exclusiveMinimum").map(|min| format!(" above {min}"));
    let below = limit("exclusiveMaximum").map(|max| format!(" below {max}"));
    match (limit("minimum"), limit("maximum")) {
        (Some(min), Some(max)) => format!(" from {min} to {max}"),
        (Some(min), None) => format!(" of at least {min}{}", below.unwrap_or_default()),
        (None, Some(max)) => format!("{} of at most {max}", above.unwrap_or_default()),
        (None, None) => above.unwrap_or_default() + &below.unwrap_or_default(),
    }
}

fn length(schema: &Map<String, Value>, min: &str, max: &str, unit: &str) -> String {
    let limit = |keyword: &str| schema.get(keyword).filter(|limit| limit.as_u64() != Some(0)).map(number);
    let units = |count: &str| if count == "1" { unit.strip_suffix('s').unwrap_or(unit) } else { unit };
    match (limit(min), limit(max)) {
        (Some(min), Some(max)) => format!(" of {min} to {max} {unit}"),
        (Some(min), None) => format!(" of at least {min} {}", units(&min)),
        (None, Some(max)) => format!(" of at most {max} {}", units(&max)),
        (None, None) => String::new(),
    }
}

/// Integers with grouped thousands, since schemas may spell them as floats (`1000.0`).
fn number(value: &Value) -> String {
    match value.as_f64() {
        Some(number) if number >= 0.0 && number.fract() == 0.0 && number < 9e15 => grouped(number as usize),
        _ => value.to_string(),
    }
}

/// Shows a value, shortened.
pub(super) fn got(value: &Value) -> String {
    match value {
        Value::String(text) if text.chars().count() > SHOWN => {
            format!("text of {} characters", grouped(text.chars().count()))
        }
        Value::Array(_) | Value::Object(_) => {
            let text = value.to_string();
            match text.char_indices().nth(SHOWN) {
                Some((cut, _)) => format!("{}...", &text[..cut]),
                None => text,
            }
        }
        other => other.to_string(),
    }
}
