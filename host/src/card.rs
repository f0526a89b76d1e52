//! Cards: a call and its result as a person reads them.

use serde_json::Value;
use tool_api::{ToolError, ToolOutput, ToolSpec};

/// Arguments that say what a call is about, the most telling first.
const SUBJECTS: [&str; 5] = ["command", "id", "path", "name", "ms"];
/// Characters of the head.
const MAX_HEAD: usize = 160;

/// A call and its result as a person reads them: a head, the body, and one line of state.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Card {
    /// For example `Session start python3`.
    pub head: String,
    /// The output, clean text.
    pub body: String,
    /// For example `s1: exited with code 0 after 2 s`; empty when the body says it all.
    pub state: String,
}

impl Card {
    /// Makes the head of a call: the tool's title, the action, and the command or what else it is about.
    pub fn head(spec: Option<&ToolSpec>, name: &str, arguments: &Value) -> String {
        let mut head = spec.map_or(name, |spec| spec.title.as_str()).to_owned();
        let mut add = |value: &Value| {
            let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
            head.push(' ');
            // Line breaks and what hides text are shown, since a person judges by the head.
            head.extend(text.chars().map(|c| if c.is_control() { '\u{23ce}' } else { c }));
        };
        if let Some(action) = arguments.get("action") {
            add(action);
        }
        if let Some(subject) = SUBJECTS.iter().find_map(|name| arguments.get(*name)) {
            add(subject);
        }
        match head.char_indices().nth(MAX_HEAD) {
            Some((cut, _)) => format!("{}...", &head[..cut]),
            None => head,
        }
    }

    /// Makes the card of a result.
    ///
    /// A tool that gives its output as a structured field too has the state in the first line of its text.
    pub fn of(head: String, result: &Result<ToolOutput, ToolError>) -> Self {
        let output = match result {
            Ok(output) => output,
            Err(error) => return Self { head, body: error.report(), state: "failed".to_owned() },
        };
        let text = output.as_text();
        let structured = output.structured.as_ref();
        let shown = structured.and_then(|value| screen(value).or_else(|| value["output"].as_str().map(str::to_owned)));
        match shown {
            Some(body) => {
                let state = text.lines().next().unwrap_or_default().to_owned();
                Self { head, body: body.trim_end_matches('\n').to_owned(), state }
            }
            None => Self { head, body: text, state: String::new() },
        }
    }

    /// Returns body and state, indented below the head.
    pub fn indented(&self) -> String {
        let mut text = String::new();
        for line in self.body.lines() {
            text.push_str(if line.is_empty() { "" } else { "  " });
            text.push_str(line);
            text.push('\n');
        }
        if !self.state.is_empty() {
            text.push_str(&format!("  [{}]\n", self.state));
        }
        text
    }
}

fn screen(structured: &Value) -> Option<String> {
    let rows: Vec<&str> = structured["screen"]["rows"].as_array()?.iter().filter_map(Value::as_str).collect();
    let used = rows.iter().rposition(|row| !row.trim().is_empty()).map_or(0, |last| last + 1);
    Some(rows[..used].join("\n"))
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use tool_api::ToolErrorKind;

    use super::*;

    #[test]
    fn head_has_title_action_and_subject() {
        let spec = ToolSpec::new("shell_session", "", json!({})).with_title("Session");
        let head = |arguments: Value| Card::head(Some(&spec), "shell_session", &arguments);
        assert_eq!(head(json!({"action": "start", "command": "python3\n-q"})), "Session start python3\u{23ce}-q");
        assert_eq!(head(json!({"action": "read", "id": "s1", "waitMs": 5})), "Session read s1");
        assert_eq!(Card::head(None, "nope", &json!({})), "nope");
        assert_eq!(head(json!({"command": "x".repeat(500)})).chars().count(), MAX_HEAD + 3);
    }

    #[test]
    fn body_is_output_or_screen_or_text() {
        let card = |output: ToolOutput| Card::of("h".into(), &Ok(output)).indented();
        let output = ToolOutput::text("s1: running cat (quiet)\na\n\nb").with_structured(json!({"output": "a\n\nb\n"}));
        assert_eq!(card(output), "  a\n\n  b\n  [s1: running cat (quiet)]\n");
        let screen = json!({"screen": {"rows": ["~", "", "x", "", ""]}});
        assert_eq!(
            card(ToolOutput::text("s1: running vim").with_structured(screen)),
            "  ~\n\n  x\n  [s1: running vim]\n"
        );
        assert_eq!(card(ToolOutput::text("slept 5 ms").with_structured(json!({"sleptMs": 5}))), "  slept 5 ms\n");
        let error = ToolError::new(ToolErrorKind::UnknownId, "no session `s9`").with_hint("list them");
        assert_eq!(Card::of("h".into(), &Err(error)).indented(), "  no session `s9`\n  hint: list them\n  [failed]\n");
    }
}
