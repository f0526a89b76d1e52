//! Checks a value against the part of JSON schema that tool arguments and results use.
//!
//! It exists instead of a validator crate because its messages are what the model acts on: each names the argument,
//! what it got and what is allowed. Checked are `type`, `const`, `enum`, `minimum`, `maximum` (and the exclusive
//! ones), `minLength`, `maxLength`, `minItems`, `maxItems`, `items`, `properties`, `required`, `additionalProperties`,
//! `anyOf`, `oneOf` (as `anyOf`), `allOf` and local `$ref`. Every other keyword is the tool's own to check.

mod describe;
mod integers;

use serde_json::{Map, Value};

use crate::near::{did_you_mean, quoted};
use describe::{describe, got};
use integers::is_integer;

pub(crate) use integers::spell_integers;

/// References followed in a row; more can only be a cycle.
const MAX_REFERENCES: usize = 32;

/// One thing that is wrong with a value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Problem {
    /// Where, for example `until.text` or `keys[2]`; empty for the value itself.
    pub(crate) path: String,
    /// What is wrong and what is allowed.
    pub(crate) problem: String,
    /// What to do about it.
    pub(crate) hint: Option<String>,
}

/// Returns all that is wrong with `value`, in the order of the value.
pub(crate) fn check(schema: &Value, value: &Value) -> Vec<Problem> {
    let mut checker = Checker { root: schema, problems: Vec::new() };
    checker.check(schema, value, &mut String::new());
    checker.problems
}

struct Checker<'a> {
    root: &'a Value,
    problems: Vec<Problem>,
}

impl<'a> Checker<'a> {
    fn check(&mut self, schema: &'a Value, value: &Value, path: &mut String) {
        // `true` and `{}` allow everything; `false` allows nothing.
        let Some(schema) = resolve(self.root, schema).as_object() else {
            if schema == &Value::Bool(false) {
                self.add(path, "is not allowed here".to_owned(), None);
            }
            return;
        };
        let allows = |keyword: &str| schema.get(keyword).and_then(Value::as_array);
        if let Some(parts) = allows("allOf") {
            parts.iter().for_each(|part| self.check(part, value, path));
        }
        if let Some(choices) = allows("anyOf").or_else(|| allows("oneOf")) {
            self.check_choices(choices, value, path);
        }
        let fits = type_fits(schema, value)
            && schema.get("const").is_none_or(|only| only == value)
            && allows("enum").is_none_or(|values| values.contains(value))
            && number_fits(schema, value)
            && text_fits(schema, value);
        if !fits {
            let allowed = describe(self.root, schema);
            self.add(path, format!("got {}, allowed is {allowed}", got(value)), None);
            return;
        }
        match value {
            Value::Object(fields) => self.check_object(schema, fields, path),
            Value::Array(items) => self.check_array(schema, items, path),
            _ => {}
        }
    }

    fn check_choices(&mut self, choices: &'a [Value], value: &Value, path: &mut String) {
        let mut same_type = Vec::new();
        for choice in choices {
            let mut inner = Checker { root: self.root, problems: Vec::new() };
            inner.check(choice, value, path);
            if inner.problems.is_empty() {
                return;
            }
            let typed = resolve(self.root, choice).as_object();
            if typed.is_some_and(|typed| typed.contains_key("type") && type_fits(typed, value)) {
                same_type.push(inner.problems);
            }
        }
        // A list or an object that only one choice can mean is explained from inside.
        if let (true, [_]) = (value.is_object() || value.is_array(), same_type.as_slice()) {
            self.problems.append(&mut same_type[0]);
            return;
        }
        let allowed: Vec<String> = choices
            .iter()
            .filter_map(|choice| resolve(self.root, choice).as_object())
            .map(|choice| describe(self.root, choice))
            .filter(|text| text != "null")
            .collect();
        self.add(path, format!("got {}, allowed is {}", got(value), allowed.join(" or ")), None);
    }

    fn check_object(&mut self, schema: &'a Map<String, Value>, fields: &Map<String, Value>, path: &mut String) {
        let properties = schema.get("properties").and_then(Value::as_object);
        let known = |name: &str| properties.and_then(|properties| properties.get(name));
        let names = || properties.into_iter().flat_map(|properties| properties.keys().map(String::as_str));
        for name in schema.get("required").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str) {
            if !fields.contains_key(name) {
                let allowed = known(name).and_then(|schema| resolve(self.root, schema).as_object());
                let allowed = allowed.map_or(String::new(), |schema| format!(": {}", describe(self.root, schema)));
                within(path, name, |path| self.add(path, format!("is required{allowed}"), None));
            }
        }
        for (name, value) in fields {
            let schema = known(name).or_else(|| schema.get("additionalProperties"));
            within(path, name, |path| match schema {
                Some(Value::Bool(false)) => {
                    let names: Vec<&str> = names().collect();
                    let hint = if names.is_empty() {
                        "no argument is known here".to_owned()
                    } else {
                        format!("known arguments are {}", quoted(&names, "and"))
                    };
                    let near = did_you_mean(name, names).map_or(String::new(), |near| format!(", {near}"));
                    self.add(path, format!("is unknown{near}"), Some(hint));
                }
                Some(schema) => self.check(schema, value, path),
                None => {}
            });
        }
    }

    fn check_array(&mut self, schema: &'a Map<String, Value>, items: &[Value], path: &mut String) {
        let limit = |keyword: &str| schema.get(keyword).and_then(Value::as_u64);
        let count = items.len() as u64;
        if limit("minItems").is_some_and(|min| count < min) || limit("maxItems").is_some_and(|max| count > max) {
            let allowed = describe(self.root, schema);
            self.add(path, format!("got {count} items, allowed is {allowed}"), None);
            return;
        }
        if let Some(schema) = schema.get("items") {
            for (index, item) in items.iter().enumerate() {
                let length = path.len();
                path.push_str(&format!("[{index}]"));
                self.check(schema, item, path);
                path.truncate(length);
            }
        }
    }

    fn add(&mut self, path: &str, problem: String, hint: Option<String>) {
        self.problems.push(Problem { path: path.to_owned(), problem, hint });
    }
}

fn within(path: &mut String, name: &str, check: impl FnOnce(&mut String)) {
    let length = path.len();
    if length > 0 {
        path.push('.');
    }
    // A name comes from the model and may be of any length.
    path.extend(name.chars().take(64));
    check(path);
    path.truncate(length);
}

/// Follows local references.
pub(crate) fn resolve<'a>(root: &'a Value, mut schema: &'a Value) -> &'a Value {
    for _ in 0..MAX_REFERENCES {
        let Some(reference) = schema.get("$ref").and_then(Value::as_str) else { return schema };
        let Some(target) = reference.strip_prefix('#').and_then(|pointer| root.pointer(pointer)) else { return schema };
        schema = target;
    }
    schema
}

/// Returns the types that a schema allows; empty when it allows all.
pub(crate) fn types(schema: &Map<String, Value>) -> Vec<&str> {
    match schema.get("type") {
        Some(Value::String(one)) => vec![one],
        Some(Value::Array(many)) => many.iter().filter_map(Value::as_str).collect(),
        _ => Vec::new(),
    }
}

fn type_fits(schema: &Map<String, Value>, value: &Value) -> bool {
    let types = types(schema);
    types.is_empty()
        || types.iter().any(|name| match (*name, value) {
            ("null", Value::Null) | ("boolean", Value::Bool(_)) | ("string", Value::String(_)) => true,
            ("array", Value::Array(_)) | ("object", Value::Object(_)) | ("number", Value::Number(_)) => true,
            ("integer", Value::Number(number)) => is_integer(number),
            _ => false,
        })
}

fn number_fits(schema: &Map<String, Value>, value: &Value) -> bool {
    let Value::Number(number) = value else { return true };
    let number = number.as_f64().unwrap_or(f64::NAN);
    let limit = |keyword: &str| schema.get(keyword).and_then(Value::as_f64);
    limit("minimum").is_none_or(|min| number >= min)
        && limit("maximum").is_none_or(|max| number <= max)
        && limit("exclusiveMinimum").is_none_or(|min| number > min)
        && limit("exclusiveMaximum").is_none_or(|max| number < max)
}

fn text_fits(schema: &Map<String, Value>, value: &Value) -> bool {
    let Value::String(text) = value else { return true };
    let limit = |keyword: &str| schema.get(keyword).and_then(Value::as_u64);
    if limit("minLength").is_none() && limit("maxLength").is_none() {
        return true;
    }
    let chars = text.chars().count() as u64;
    limit("minLength").is_none_or(|min| chars >= min) && limit("maxLength").is_none_or(|max| chars <= max)
}

#[cfg(test)]
mod tests;
