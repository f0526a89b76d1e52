//! What a model reads when its arguments are wrong.

use serde_json::json;

use super::*;

fn schema() -> Value {
    json!({
        "type": "object",
        "additionalProperties": false,
        "required": ["action"],
        "properties": {
            "action": {"type": "string", "enum": ["start", "write"]},
            "cols": {"type": ["integer", "null"], "minimum": 1, "maximum": 1000},
            "ratio": {"type": "number", "exclusiveMinimum": 0},
            "input": {"type": ["string", "null"], "maxLength": 16384},
            "loud": {"type": "boolean"},
            "keys": {"type": "array", "maxItems": 2, "items": {"type": "string"}},
            "env": {"type": "object", "additionalProperties": {"type": "string"}},
            "until": {"anyOf": [{"$ref": "#/$defs/Until"}, {"type": "null"}]}
        },
        "$defs": {
            "Until": {"anyOf": [
                {"type": "string", "enum": ["quiet", "exit"]},
                {
                    "type": "object",
                    "properties": {"text": {"type": "string", "minLength": 1}},
                    "required": ["text"],
                    "additionalProperties": false
                }
            ]}
        }
    })
}

#[track_caller]
fn expect(value: Value, expected: &[&str]) {
    let problems: Vec<String> =
        check(&schema(), &value).into_iter().map(|found| format!("{}: {}", found.path, found.problem)).collect();
    assert_eq!(problems, expected);
}

#[test]
fn accepts_what_fits() {
    expect(json!({"action": "start"}), &[]);
    expect(
        json!({"action": "write", "cols": null, "ratio": 0.5, "input": "é", "loud": true, "keys": ["a", "b"],
            "env": {"A": "b"}, "until": {"text": "x"}}),
        &[],
    );
    expect(json!({"action": "start", "until": "exit", "cols": 1000}), &[]);
    expect(json!({"action": "start", "until": null}), &[]);
}

#[test]
fn names_argument_value_and_range() {
    expect(json!({"action": "start", "cols": 0}), &["cols: got 0, allowed is an integer from 1 to 1 000"]);
    expect(json!({"action": "start", "cols": 5.0}), &[]);
    expect(json!({"action": "start", "cols": 5.5}), &["cols: got 5.5, allowed is an integer from 1 to 1 000"]);
    expect(json!({"action": "start", "cols": "80"}), &["cols: got \"80\", allowed is an integer from 1 to 1 000"]);
    expect(json!({"action": "start", "ratio": 0}), &["ratio: got 0, allowed is a number above 0"]);
    expect(json!({"action": "start", "loud": 1}), &["loud: got 1, allowed is true or false"]);
    expect(
        json!({"action": "start", "input": "x".repeat(16385)}),
        &["input: got text of 16 385 characters, allowed is text of at most 16 384 characters"],
    );
    expect(json!({"action": "stop"}), &["action: got \"stop\", allowed is \"start\" or \"write\""]);
}

#[test]
fn counts_one_of_a_kind() {
    for (limit, expected) in [("minLength", "at least 1 character"), ("maxLength", "at most 1 character")] {
        let schema = json!({"type": "object", "properties": {"a": {"type": "string", limit: 1}}});
        assert_eq!(check(&schema, &json!({"a": 5}))[0].problem, format!("got 5, allowed is text of {expected}"));
    }
}

#[test]
fn reports_all_unknown_and_missing_names() {
    expect(
        json!({"colls": 3, "banana": true}),
        &[
            "action: is required: \"start\" or \"write\"",
            "colls: is unknown, did you mean `cols`?",
            "banana: is unknown",
        ],
    );
    let hint = check(&schema(), &json!({"action": "start", "x": 1}))[0].hint.clone();
    assert_eq!(
        hint.as_deref(),
        Some("known arguments are `action`, `cols`, `ratio`, `input`, `loud`, `keys`, `env` and `until`")
    );
}

#[test]
fn looks_inside() {
    expect(json!({"action": "start", "keys": ["a", 2]}), &["keys[1]: got 2, allowed is text"]);
    expect(
        json!({"action": "start", "keys": ["a", "b", "c"]}),
        &["keys: got 3 items, allowed is a list of at most 2 items, each text"],
    );
    expect(json!({"action": "start", "env": {"A": 1}}), &["env.A: got 1, allowed is text"]);
    expect(
        json!({"action": "start", "until": "never"}),
        &["until: got \"never\", allowed is \"quiet\", \"exit\" or an object with `text`"
            .replace("\"quiet\", \"exit\"", "\"quiet\" or \"exit\"")
            .as_str()],
    );
    expect(
        json!({"action": "start", "until": {"text": ""}}),
        &["until: got {\"text\":\"\"}, allowed is \"quiet\" or \"exit\" or an object with `text`"],
    );
}

#[test]
fn a_reference_cycle_ends() {
    let schema = json!({"$ref": "#/$defs/A", "$defs": {"A": {"$ref": "#/$defs/A"}}});
    assert_eq!(check(&schema, &json!(1)), []);
}
