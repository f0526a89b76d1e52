//! One line of a play: the call, references to earlier results, and what is expected of it.

use std::collections::HashMap;

use serde::Deserialize;
use serde_json::{Map, Value};
use tool_api::{ToolError, ToolOutput};

/// The name of the previous result.
const LAST: &str = "last";

/// One line.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Step {
    /// The tool to call.
    pub(super) tool: String,
    /// Its arguments.
    #[serde(default)]
    pub(super) arguments: Value,
    /// Text for the person, shown before the call.
    pub(super) say: Option<String>,
    /// The name of the result.
    #[serde(rename = "as")]
    pub(super) name: Option<String>,
    /// What must hold of the result.
    expect: Option<Expect>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Expect {
    /// Is contained in the text.
    text: Option<String>,
    /// Fields that the structured result has; tables are compared field by field.
    structured: Option<Value>,
    /// Is contained in the error; without it, an error is not expected.
    error: Option<String>,
}

impl Step {
    pub(super) fn parse(line: &[u8]) -> Result<Self, String> {
        let step: Self = serde_json::from_slice(line).map_err(|error| error.to_string())?;
        match &step.name {
            Some(name) if !is_name(name) => Err(format!("`{name}` is no name: it has letters, digits and `_`")),
            _ => Ok(step),
        }
    }

    /// Returns why the step failed, if it did: an error that was not expected, or what was expected and does not hold.
    pub(super) fn failed(&self, result: &Result<ToolOutput, ToolError>) -> Option<String> {
        let Some(expect) = &self.expect else {
            return result.is_err().then(|| "the call ended in an error, and none was expected".to_owned());
        };
        match (result, &expect.error) {
            (Err(error), Some(wanted)) if error.report().contains(wanted) => None,
            (Err(error), Some(wanted)) => Some(format!("expected an error with {wanted:?}, got: {}", error.report())),
            (Err(error), None) => Some(format!("expected a result, got the error: {}", error.report())),
            (Ok(_), Some(wanted)) => Some(format!("expected an error with {wanted:?}, got a result")),
            (Ok(output), None) => expect.unmet(output),
        }
    }
}

impl Expect {
    fn unmet(&self, output: &ToolOutput) -> Option<String> {
        let text = output.as_text();
        if let Some(wanted) = self.text.as_ref().filter(|wanted| !text.contains(*wanted)) {
            return Some(format!("expected the text {wanted:?} in the result"));
        }
        let got = output.structured.as_ref().unwrap_or(&Value::Null);
        self.structured.as_ref().and_then(|wanted| difference(wanted, got, &mut String::new()))
    }
}

/// Returns the first field of `wanted` that `got` has not.
fn difference(wanted: &Value, got: &Value, path: &mut String) -> Option<String> {
    if let (Value::Object(wanted), Value::Object(_)) = (wanted, got) {
        return wanted.iter().find_map(|(name, wanted)| {
            let length = path.len();
            path.push_str(if length > 0 { "." } else { "" });
            path.push_str(name);
            let found = difference(wanted, &got[name.as_str()], path);
            path.truncate(length);
            found
        });
    }
    (wanted != got).then(|| format!("expected `{path}` to be {wanted}, got {got}"))
}

/// The structured results that later lines can refer to.
#[derive(Debug, Default)]
pub(super) struct Results(HashMap<String, Value>);

impl Results {
    /// Keeps a result as the previous one, and under its name.
    pub(super) fn keep(&mut self, name: Option<&str>, result: &Result<ToolOutput, ToolError>) {
        let structured = result.as_ref().ok().and_then(|output| output.structured.clone()).unwrap_or_default();
        if let Some(name) = name {
            self.0.insert(name.to_owned(), structured.clone());
        }
        self.0.insert(LAST.to_owned(), structured);
    }

    /// Replaces every reference in a value.
    pub(super) fn fill(&self, value: &Value) -> Result<Value, String> {
        Ok(match value {
            Value::String(text) => self.fill_text(text)?,
            Value::Array(items) => items.iter().map(|item| self.fill(item)).collect::<Result<_, _>>()?,
            Value::Object(fields) => {
                let filled = fields.iter().map(|(name, value)| Ok((name.clone(), self.fill(value)?)));
                Value::Object(filled.collect::<Result<Map<_, _>, String>>()?)
            }
            other => other.clone(),
        })
    }

    /// A reference has a dot (`${repl.id}`), which no variable of a shell has, so scripts need no escapes.
    fn fill_text(&self, text: &str) -> Result<Value, String> {
        let mut filled = String::new();
        let mut rest = text;
        while let Some(start) = rest.find("${") {
            let Some(length) = rest[start..].find('}') else { break };
            let inside = &rest[start + 2..start + length];
            let after = &rest[start + length + 1..];
            match inside.split_once('.').filter(|(name, path)| is_name(name) && path.split('.').all(is_name)) {
                Some((name, path)) => {
                    let value = self.find(name, path)?;
                    // A text that is nothing but a reference keeps the type of the value.
                    if start == 0 && after.is_empty() && filled.is_empty() {
                        return Ok(value.clone());
                    }
                    filled.push_str(&rest[..start]);
                    filled.push_str(&value.as_str().map_or_else(|| value.to_string(), str::to_owned));
                    rest = after;
                }
                None => {
                    filled.push_str(&rest[..start + 2]);
                    rest = &rest[start + 2..];
                }
            }
        }
        filled.push_str(rest);
        Ok(filled.into())
    }

    fn find(&self, name: &str, path: &str) -> Result<&Value, String> {
        let result = self.0.get(name).ok_or_else(|| format!("no earlier line is named `{name}`"))?;
        let pointer = format!("/{}", path.replace('.', "/"));
        result
            .pointer(&pointer)
            .filter(|value| !value.is_null())
            .ok_or_else(|| format!("the result of `{name}` has no field `{path}`"))
    }
}

fn is_name(text: &str) -> bool {
    !text.is_empty() && text.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use tool_api::ToolErrorKind;

    use super::*;

    fn results() -> Results {
        let mut results = Results::default();
        let output = ToolOutput::text("x").with_structured(json!({"id": "s1", "n": 5, "screen": {"rows": ["a"]}}));
        results.keep(Some("repl"), &Ok(output));
        results
    }

    #[test]
    fn references_are_filled_and_scripts_are_left_alone() {
        let filled = results().fill(&json!({
            "id": "${repl.id}", "n": "${last.n}", "row": "${repl.screen.rows.0}!", "both": "${repl.id}-${repl.n}",
            "script": "echo ${HOME} ${x:-y.z} $repl.id ${", "list": ["${repl.id}", 7]
        }));
        let expected = json!({
            "id": "s1", "n": 5, "row": "a!", "both": "s1-5",
            "script": "echo ${HOME} ${x:-y.z} $repl.id ${", "list": ["s1", 7]
        });
        assert_eq!(filled, Ok(expected));
        assert_eq!(results().fill(&json!("${other.id}")), Err("no earlier line is named `other`".to_owned()));
        assert_eq!(results().fill(&json!("${repl.pid}")), Err("the result of `repl` has no field `pid`".to_owned()));
    }

    #[track_caller]
    fn check(expect: Value, result: Result<ToolOutput, ToolError>, unmet: Option<&str>) {
        let line = json!({"tool": "t", "expect": expect}).to_string();
        assert_eq!(Step::parse(line.as_bytes()).unwrap().failed(&result).as_deref(), unmet);
    }

    #[test]
    fn expectations_fail_loudly() {
        let output =
            || Ok(ToolOutput::text("exited with code 0").with_structured(json!({"exitCode": 0, "a": {"b": 1}})));
        let error = || Err(ToolError::new(ToolErrorKind::Denied, "permission denied"));
        check(json!({"text": "code 0", "structured": {"exitCode": 0, "a": {"b": 1}}}), output(), None);
        check(json!({"text": "code 1"}), output(), Some("expected the text \"code 1\" in the result"));
        check(json!({"structured": {"a": {"b": 2}}}), output(), Some("expected `a.b` to be 2, got 1"));
        check(json!({"structured": {"id": "s1"}}), output(), Some("expected `id` to be \"s1\", got null"));
        check(json!({"error": "denied"}), error(), None);
        check(json!({"error": "unknown"}), error(), Some("expected an error with \"unknown\", got: permission denied"));
        check(json!({"error": "denied"}), output(), Some("expected an error with \"denied\", got a result"));
        check(json!({}), error(), Some("expected a result, got the error: permission denied"));
        check(Value::Null, error(), Some("the call ended in an error, and none was expected"));
        check(Value::Null, output(), None);
    }

    #[test]
    fn unknown_fields_of_a_line_are_refused() {
        let error = Step::parse(br#"{"tool": "sleep", "argument": {}}"#).unwrap_err();
        assert!(error.starts_with("unknown field `argument`, expected one of `tool`, `arguments`"), "{error}");
        assert!(Step::parse(br#"{"tool": "sleep", "as": "a.b"}"#).unwrap_err().contains("is no name"));
    }
}
