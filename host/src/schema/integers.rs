//! Integers that are spelled with a fraction of zero, which JSON schema takes and deserializers do not.

use serde_json::{Map, Number, Value};

use super::{resolve, types};

/// Alternatives within alternatives that are followed; more can only be a schema that goes round.
const MAX_ALTERNATIVES: usize = 8;

/// Where a float begins to leave out integers.
const EXACT: f64 = 9_007_199_254_740_992.0;

/// Tells whether a number is an integer, however it is spelled: `5`, `5.0` and `5e0`.
pub(super) fn is_integer(number: &Number) -> bool {
    number.is_i64() || number.is_u64() || number.as_f64().is_some_and(|number| number.fract() == 0.0)
}

/// Spells each number as an integer where the schema wants one and it is one, so that `5.0` reaches a tool as `5`.
pub(crate) fn spell_integers(root: &Value, value: &mut Value) {
    spell(root, root, value, 0);
}

/// `depth` counts the alternatives that were followed without going deeper in the value, where a schema can go round.
fn spell(root: &Value, schema: &Value, value: &mut Value, depth: usize) {
    let Some(schema) = resolve(root, schema).as_object() else { return };
    if depth < MAX_ALTERNATIVES {
        let choices = ["anyOf", "oneOf", "allOf"].into_iter().filter_map(|keyword| schema.get(keyword)?.as_array());
        choices.flatten().for_each(|choice| spell(root, choice, value, depth + 1));
    }
    match value {
        Value::Number(number) => {
            if types(schema).contains(&"integer")
                && let Some(integer) = integer(number)
            {
                *number = integer.into();
            }
        }
        Value::Array(items) => {
            if let Some(schema) = schema.get("items") {
                items.iter_mut().for_each(|item| spell(root, schema, item, 0));
            }
        }
        Value::Object(fields) => {
            for (name, value) in fields {
                if let Some(schema) = field(schema, name) {
                    spell(root, schema, value, 0);
                }
            }
        }
        _ => {}
    }
}

fn field<'a>(schema: &'a Map<String, Value>, name: &str) -> Option<&'a Value> {
    let known = schema.get("properties").and_then(|properties| properties.get(name));
    known.or_else(|| schema.get("additionalProperties"))
}

/// Returns the integer that a float is.
fn integer(number: &Number) -> Option<i64> {
    let float = number.as_f64().filter(|float| number.is_f64() && float.fract() == 0.0 && float.abs() < EXACT)?;
    // Exact, since it is a whole number within the range.
    Some(float as i64)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn spells_integers_wherever_the_schema_wants_them() {
        let schema = json!({
            "properties": {
                "n": {"type": ["integer", "null"]},
                "x": {"type": "number"},
                "list": {"items": {"$ref": "#/$defs/N"}},
                "either": {"anyOf": [{"type": "string"}, {"$ref": "#/$defs/N"}]}
            },
            "additionalProperties": {"type": "integer"},
            "$defs": {"N": {"type": "integer"}}
        });
        let mut value =
            json!({"n": 5.0, "x": 5.0, "list": [1.0, -0.0, 2.5], "either": 1e3, "more": 7.0, "text": "5.0"});
        spell_integers(&schema, &mut value);
        let expected = json!({"n": 5, "x": 5.0, "list": [1, 0, 2.5], "either": 1000, "more": 7, "text": "5.0"});
        assert_eq!(value.to_string(), expected.to_string());
    }

    #[test]
    fn leaves_what_no_integer_can_hold() {
        let schema = json!({"type": "integer"});
        for text in ["1e300", "9007199254740993.0", "18446744073709551615", "-5"] {
            let mut value: Value = serde_json::from_str(text).unwrap();
            let before = value.clone();
            spell_integers(&schema, &mut value);
            assert_eq!(value, before, "{text}");
        }
    }

    #[test]
    fn a_schema_that_goes_round_ends() {
        let schema =
            json!({"$ref": "#/$defs/A", "$defs": {"A": {"anyOf": [{"$ref": "#/$defs/A"}, {"type": "integer"}]}}});
        let mut value = json!(5.0);
        spell_integers(&schema, &mut value);
        assert_eq!(value, json!(5));
    }
}
