//! Cards: a call and its result as a person reads them.

use serde_json::Value;
use tool_api::{ToolError, ToolOutput, ToolSpec};

/// Arguments that say what a call is about, the most telling first.
const SUBJECTS: [&str; 5] = ["command", "id", "path", "name", "ms"];
/// Characters of the head.
const MAX_HEAD: usize = 160;

/// A call and its result as a person reads them: a head, the body, one line of state, and what else there is to say.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Card {
    /// For example `Session start python3`.
    pub head: String,
    /// The output, clean text.
    pub body: String,
    /// For example `s1: exited with code 0 after 2 s`; empty when the body says it all.
    pub state: String,
    /// What the result says beside its output, for example `[stopped 2 processes]`; a line each.
    pub notes: Vec<String>,
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
    /// A tool that gives its output as a structured field too has the state in the first line of its text, then the
    /// output between lines of its own.
    pub fn of(head: String, result: &Result<ToolOutput, ToolError>) -> Self {
        let output = match result {
            Ok(output) => output,
            Err(error) => {
                return Self { head, body: error.report(), state: "failed".to_owned(), notes: Vec::new() };
            }
        };
        let text = output.as_text();
        let structured = output.structured.as_ref();
        let shown = structured.and_then(|value| screen(value).or_else(|| value["output"].as_str().map(str::to_owned)));
        let Some(body) = shown else {
            return Self { head, body: text, ..Self::default() };
        };
        let body = body.trim_end_matches('\n').to_owned();
        let (state, rest) = text.split_once('\n').unwrap_or((&text, ""));
        Self { head, state: state.to_owned(), notes: notes(rest, &body), body }
    }

    /// Returns body, state and notes, indented below the head.
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
        for note in &self.notes {
            text.push_str(&format!("  {note}\n"));
        }
        text
    }
}

/// Returns the lines of a text that are not its output.
fn notes(text: &str, output: &str) -> Vec<String> {
    let lines: Vec<&str> = text.lines().map(str::trim_end).collect();
    let shown: Vec<&str> = output.lines().map(str::trim_end).collect();
    let at = if shown.is_empty() { Some(0) } else { lines.windows(shown.len()).position(|part| part == shown) };
    // A result that was cut has its output in another form, and nothing of that may pass for a note.
    let Some(at) = at else { return Vec::new() };
    let around = lines[..at].iter().chain(&lines[at + shown.len()..]);
    around.filter(|line| !line.is_empty()).map(|line| (*line).to_owned()).collect()
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
        let killed =
            ToolOutput::text("s1: ended by SIGKILL\n[stopped 2 processes]\nbye\n\n[4 characters not read yet]")
                .with_structured(json!({"output": "bye\n\n"}));
        assert_eq!(
            card(killed),
            "  bye\n  [s1: ended by SIGKILL]\n  [stopped 2 processes]\n  [4 characters not read yet]\n"
        );
        let silent =
            ToolOutput::text("s1: ended by SIGKILL\n[stopped 1 process]").with_structured(json!({"output": ""}));
        assert_eq!(card(silent), "  [s1: ended by SIGKILL]\n  [stopped 1 process]\n");
        let cut = ToolOutput::text("s1: running\na\n[5 characters were cut here]\nb")
            .with_structured(json!({"output": "a12345b"}));
        assert_eq!(card(cut), "  a12345b\n  [s1: running]\n");
        assert_eq!(card(ToolOutput::text("slept 5 ms").with_structured(json!({"sleptMs": 5}))), "  slept 5 ms\n");
        let error = ToolError::new(ToolErrorKind::UnknownId, "no session `s9`").with_hint("list them");
        assert_eq!(Card::of("h".into(), &Err(error)).indented(), "  no session `s9`\n  hint: list them\n  [failed]\n");
    }
}
