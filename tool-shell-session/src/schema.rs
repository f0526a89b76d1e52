//! How the tool presents itself: its description, and the schemas of its arguments and results.

use schemars::generate::SchemaSettings;
use serde_json::{Map, Value, json};
use tool_api::{Effects, ToolSpec};

use crate::config::{Config, MAX_SIDE};
use crate::params::Arguments;
use crate::render::{NULLABLE, Outcome};
use crate::request::{MAX_KEYS, MAX_UNTIL, SIGNALS};

/// The tool's name.
pub(crate) const NAME: &str = "shell_session";
/// What its calls can do.
pub(crate) const EFFECTS: Effects = Effects::ANY;

/// Returns the spec, with the ranges and defaults of a configuration.
pub(crate) fn spec(config: &Config) -> ToolSpec {
    ToolSpec::new(NAME, description(config), input_schema(config))
        .with_title("Session")
        .with_output_schema(output_schema())
        .with_effects(EFFECTS)
        .into_core()
}

fn description(config: &Config) -> String {
    let minutes = |ms: u64| ms.div_ceil(60_000);
    format!(
        "Run a program that needs a terminal or answers while it runs, and talk to it: REPLs, debuggers, scaffolders \
that ask questions, ssh, database shells, full-screen programs (vim, top, less). For a command that just runs and \
ends, use a one-shot shell tool if there is one. A bare shell (bash, sh, zsh...) is refused: start the program itself.

action:
- start {{command}}: run it on a new terminal; gives the id and the first output.
- write {{id, input, keys}}: type. \"2+2\\n\" presses Enter at its end; keys [\"ctrl-c\"] or [\"down\", \"enter\"].
- read {{id}}: the next output; each part is given once. view \"screen\" shows a full-screen program.
- signal {{id, signal}}: to the program in the foreground. kill {{id}}: stop everything it started.
- resize {{id, cols, rows}}. list: this chat's sessions, finished ones too.

start, write and read wait up to waitMs for `until`, and end earlier when the program exits or wants input. Every \
result names why it returned (`reason`: text, quiet, exit, deadline, input, limit, cancelled), the state, and \
`waitingFor` (line, secret, key) when the program reads the terminal. \"quiet\" comes early when a program computes or \
downloads in silence: then wait for its prompt, until {{\"text\": \">>> \"}}, or read again with a longer waitMs. Never type a password: when waitingFor is \"secret\", call read, and the person \
is asked for it.

Pagers are off (PAGER=cat). At most {} sessions run in a chat; one is stopped after {} minutes without a call. Kill \
what you no longer need.",
        config.per_chat.min(config.total),
        minutes(config.idle_ms),
    )
}

fn input_schema(config: &Config) -> Value {
    let mut schema = plain_schema::<Arguments>();
    let properties = schema["properties"].as_object_mut().expect("the arguments are an object with properties");
    let mut set = |name: &str, facts: Value| {
        let property = properties.get_mut(name).and_then(Value::as_object_mut).expect("every fact names an argument");
        property.extend(facts.as_object().cloned().unwrap_or_default());
    };
    set("id", json!({"minLength": 1, "maxLength": 64}));
    set("command", json!({"minLength": 1}));
    set("workdir", json!({"minLength": 1}));
    for (name, default) in [("cols", config.cols), ("rows", config.rows)] {
        let description = format!(
            "start, resize: {} of the terminal; start takes {default} without it.",
            if name == "cols" { "columns" } else { "rows" }
        );
        set(name, json!({"description": description, "minimum": 1, "maximum": MAX_SIDE}));
    }
    set("input", json!({"maxLength": config.input_limit}));
    set("view", json!({"default": "text"}));
    set("maxChars", json!({"minimum": 1, "maximum": config.max_chars_limit, "default": config.max_chars}));
    let wait = format!(
        "start, write, read: how long to wait at most, in milliseconds; a question to the person does not count. Default {} for start, {} for write, {} for read.",
        config.start_wait_ms, config.write_wait_ms, config.read_wait_ms
    );
    set("waitMs", json!({"description": wait, "minimum": 0, "maximum": config.wait_limit_ms}));
    set("until", json!({"default": "quiet"}));
    let signals: Vec<String> =
        SIGNALS.iter().map(|name| (*name).to_owned()).chain(SIGNALS.iter().map(|name| format!("SIG{name}"))).collect();
    set("signal", json!({"enum": signals}));
    set(
        "keys",
        json!({"anyOf": [
            {"type": "array", "items": {"type": "string"}, "minItems": 1, "maxItems": MAX_KEYS},
            {"type": "string", "minLength": 1},
        ]}),
    );
    set(
        "until",
        json!({"anyOf": [
            {"type": "string", "enum": ["quiet", "exit"]},
            {
                "type": "object",
                "properties": {"text": {"type": "string", "minLength": 1, "maxLength": MAX_UNTIL}},
                "required": ["text"],
                "additionalProperties": false,
            },
        ]}),
    );
    schema
}

fn output_schema() -> Value {
    let mut schema = plain_schema::<Outcome>();
    for key in NULLABLE {
        let property = &mut schema["properties"][key];
        property["type"] = json!([property["type"], "null"]);
        if let Some(Value::Array(words)) = property.get_mut("enum") {
            words.push(Value::Null);
        }
    }
    schema
}

/// Returns the schema of a type in plain words: no references, no `null` beside a type, no notes of Rust's types.
fn plain_schema<T: schemars::JsonSchema>() -> Value {
    let mut settings = SchemaSettings::draft2020_12();
    settings.inline_subschemas = true;
    let mut schema = settings.into_generator().into_root_schema_for::<T>().to_value();
    plain(&mut schema);
    if let Some(root) = schema.as_object_mut() {
        root.shift_remove("$schema");
        root.shift_remove("title");
        root.shift_remove("description");
    }
    schema
}

fn plain(schema: &mut Value) {
    match schema {
        Value::Object(map) => {
            map.shift_remove("format");
            if map.get("default").is_some_and(Value::is_null) {
                map.shift_remove("default");
            }
            without_null(map);
            words(map);
            if let Some(Value::String(text)) = map.get_mut("description") {
                *text = text.replace('\n', " ");
            }
            map.values_mut().for_each(plain);
        }
        Value::Array(values) => values.iter_mut().for_each(plain),
        _ => {}
    }
}

/// An argument that may be left out is not one that may be `null`.
fn without_null(map: &mut Map<String, Value>) {
    if let Some(Value::Array(types)) = map.get_mut("type") {
        types.retain(|name| name != "null");
        if let [only] = types.as_slice() {
            let only = only.clone();
            map.insert("type".to_owned(), only);
        }
    }
    if let Some(Value::Array(words)) = map.get_mut("enum") {
        words.retain(|word| !word.is_null());
    }
    if let Some(Value::Array(choices)) = map.get_mut("anyOf") {
        choices.retain(|choice| choice["type"] != "null");
        if let [only] = choices.as_slice() {
            let only = only.as_object().cloned().unwrap_or_default();
            map.shift_remove("anyOf");
            for (name, value) in only {
                map.entry(name).or_insert(value);
            }
        }
    }
}

/// Documented variants come as one constant each; a list of words reads better.
fn words(map: &mut Map<String, Value>) {
    let Some(Value::Array(choices)) = map.get("oneOf") else { return };
    let constants: Option<Vec<Value>> = choices.iter().map(|choice| choice.get("const").cloned()).collect();
    if let Some(constants) = constants {
        map.shift_remove("oneOf");
        map.insert("type".to_owned(), Value::from("string"));
        map.insert("enum".to_owned(), Value::Array(constants));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hosts_can_show_it_whole() {
        let spec = spec(&Config::default());
        assert!(spec.description.len() < 2_048, "{} bytes", spec.description.len());
        for schema in [&spec.input_schema, spec.output_schema.as_ref().expect("it has one")] {
            assert_eq!(schema["type"], "object");
            assert_eq!(schema["additionalProperties"], false);
            for word in ["anyOf", "oneOf", "allOf", "$ref", "$defs"] {
                assert!(schema.get(word).is_none(), "{word} at the root");
            }
            let text = schema.to_string();
            assert!(!text.contains("$ref") && !text.contains("uint"), "{text}");
            for (name, property) in schema["properties"].as_object().expect("it has properties") {
                assert!(property["description"].is_string(), "{name}: {property}");
            }
        }
        assert_eq!(spec.input_schema["required"], json!(["action"]));
        assert!(!spec.input_schema.to_string().contains("null"), "{}", spec.input_schema);
    }

    #[test]
    fn ranges_and_defaults_are_the_configured_ones() {
        let config = Config { max_chars: 7, max_chars_limit: 9, wait_limit_ms: 5_000, rows: 24, ..Config::default() };
        let schema = input_schema(&config);
        let properties = &schema["properties"];
        assert_eq!(properties["maxChars"]["default"], 7);
        assert_eq!(properties["maxChars"]["maximum"], 9);
        assert_eq!(properties["waitMs"]["maximum"], 5_000);
        assert_eq!(
            properties["rows"]["description"],
            "start, resize: rows of the terminal; start takes 24 without it."
        );
        assert_eq!(properties["action"]["enum"], json!(["start", "write", "read", "resize", "signal", "kill", "list"]));
        assert_eq!(properties["view"]["enum"], json!(["text", "screen"]));
        let output = output_schema();
        assert_eq!(output["properties"]["exitCode"]["type"], json!(["integer", "null"]));
        assert_eq!(output["properties"]["state"]["enum"], json!(["running", "stopped", "exited", "signaled"]));
        let because = json!(["exit", "killed", "idle", "lifetime", "chatEnded", "projectEnded", "hostStopped", null]);
        assert_eq!(output["properties"]["endedBecause"]["enum"], because);
    }
}
