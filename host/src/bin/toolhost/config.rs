//! `toolhost config`: every value and where it comes from.

use std::process::ExitCode;

use host::Settings;
use host::settings::Setting;
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
    let list = settings.list();
    let shown: Vec<(String, &Setting)> =
        list.iter().map(|setting| (format!("{} = {}", setting.key, setting.value), setting)).collect();
    let width = shown.iter().map(|(text, _)| text.chars().count()).max().unwrap_or_default().min(60);
    let mut text = String::new();
    for (assignment, setting) in shown {
        let origin = out.dim(&format!("# {}", setting.origin));
        text.push_str(&format!("{assignment:width$}  {origin}\n"));
    }
    for rules in &settings.rules {
        text.push_str(&format!("permission = {}  {}\n", rules.table, out.dim(&format!("# {}", rules.origin))));
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
    let rules: Vec<Value> =
        settings.rules.iter().map(|rules| json!({"table": rules.table, "origin": rules.origin.to_string()})).collect();
    let ignored: Vec<Value> = settings
        .ignored
        .iter()
        .map(|found| json!({"key": found.key, "origin": found.origin.to_string(), "reason": found.reason}))
        .collect();
    json!({"values": values, "permission": rules, "ignored": ignored})
}
