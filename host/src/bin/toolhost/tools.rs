//! `toolhost tools`: the tools of this build with their arguments.

use std::process::ExitCode;

use serde_json::{Value, json};
use tool_api::ToolSpec;

use crate::args::Common;
use crate::failure::Failure;
use crate::output::Out;

/// Columns of the text.
const WIDTH: usize = 100;

pub(crate) fn run(common: &Common, as_json: bool) -> Result<ExitCode, Failure> {
    let settings = common.settings()?;
    let host = common.host(&settings)?;
    let mut out = Out::new();
    if as_json {
        out.json(&host.registry().specs().map(to_json).collect())?;
        return Ok(ExitCode::SUCCESS);
    }
    let tools: Vec<String> = host.registry().specs().map(|spec| to_text(spec, &out)).collect();
    if tools.is_empty() {
        out.line("no tools: this build has none, or the configuration switches all of them off")?;
    }
    out.text(&tools.join("\n"))?;
    Ok(ExitCode::SUCCESS)
}

fn to_json(spec: &ToolSpec) -> Value {
    json!({
        "name": spec.name,
        "title": spec.title,
        "description": spec.description,
        "inputSchema": spec.input_schema,
        "outputSchema": spec.output_schema,
        "core": spec.core,
        "effects": {
            "readOnly": spec.effects.read_only,
            "destructive": spec.effects.destructive,
            "idempotent": spec.effects.idempotent,
            "openWorld": spec.effects.open_world,
        },
    })
}

fn to_text(spec: &ToolSpec, out: &Out) -> String {
    let mut text = format!("{}\n{}", out.strong(&spec.name), wrapped(&spec.description, "  "));
    let required: Vec<&str> =
        spec.input_schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
    for (name, schema) in spec.input_schema["properties"].as_object().into_iter().flatten() {
        let needed = if required.contains(&name.as_str()) { "" } else { "?" };
        let what = schema["description"].as_str().unwrap_or_default();
        text.push_str(&format!("\n  {}\n{}", out.strong(&format!("{name}{needed}")), wrapped(what, "    ")));
    }
    text.push('\n');
    text
}

/// Wraps a text at word boundaries; a word that is longer than a line keeps a line of its own.
fn wrapped(text: &str, indent: &str) -> String {
    let mut lines = Vec::new();
    for paragraph in text.lines() {
        let mut line = String::new();
        for word in paragraph.split_whitespace() {
            if !line.is_empty() && indent.len() + line.chars().count() + 1 + word.chars().count() > WIDTH {
                lines.push(format!("{indent}{line}"));
                line.clear();
            }
            if !line.is_empty() {
                line.push(' ');
            }
            line.push_str(word);
        }
        lines.push(if line.is_empty() { String::new() } else { format!("{indent}{line}") });
    }
    lines.join("\n")
}
