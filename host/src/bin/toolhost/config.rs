//! `toolhost config`: every value and where it comes from.

use std::process::ExitCode;

use host::Settings;
use host::settings::Origin;
use serde_json::{Map, Value, json};

use crate::args::Common;
use crate::failure::Failure;
use crate::output::Out;

pub(crate) fn run(common: &Common, as_json: bool) -> Result<ExitCode, Failure> {
    let settings = common.settings()?;
    let mut out = Out::new();
    if as_json {
        out.json(&to_json(&settings))?;
    } else {
        out.text(&to_text(&settings, &out))?;
    }
    Ok(ExitCode::SUCCESS)
}

fn to_text(settings: &Settings, out: &Out) -> String {
    let values =
        settings.list().into_iter().map(|setting| (format!("{} = {}", setting.key, setting.value), setting.origin));
    let rules = settings.rules.iter().flat_map(|layer| &layer.written);
    let rules = rules.map(|rule| (format!("{} = {:?}", rule.key, rule.decision), rule.origin.clone()));
    let shown: Vec<(String, Origin)> = values.chain(rules).collect();
    let width = shown.iter().map(|(text, _)| text.chars().count()).max().unwrap_or_default().min(60);
    let mut text = String::new();
    for (assignment, origin) in shown {
        text.push_str(&format!("{assignment:width$}  {}\n", out.dim(&format!("# {origin}"))));
    }
    for ignored in &settings.ignored {
        text.push_str(&format!("ignored: {} in {}: {}\n", ignored.key, ignored.origin, ignored.reason));
    }
    text
}

fn to_json(settings: &Settings) -> Value {
    let values: Map<String, Value> = settings
        .list()
        .into_iter()
        .map(|setting| (setting.key, json!({"value": setting.value, "origin": setting.origin.to_string()})))
        .collect();
    let rules: Vec<Value> = settings
        .rules
        .iter()
        .flat_map(|layer| &layer.written)
        .map(|rule| {
            json!({
                "permission": rule.permission,
                "pattern": rule.pattern,
                "decision": rule.decision,
                "origin": rule.origin.to_string(),
            })
        })
        .collect();
    let ignored: Vec<Value> = settings
        .ignored
        .iter()
        .map(|found| json!({"key": found.key, "origin": found.origin.to_string(), "reason": found.reason}))
        .collect();
    json!({"values": values, "permission": rules, "ignored": ignored})
}
