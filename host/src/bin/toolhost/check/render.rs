//! An explanation as a person reads it.

use policy::{ExplainedSegment, Explanation};

use crate::output::Out;

/// Columns that the commands may take before the reasons stand further right.
const MAX_WIDTH: usize = 60;

pub(super) fn text(explanation: &Explanation, out: &Out) -> String {
    let head = out.strong(&explanation.decision.to_string());
    let mut text = format!("{head}: {}\n", explanation.reason);
    let mut rows = Vec::new();
    explanation.segments.iter().for_each(|segment| row(segment, 0, &mut rows));
    let width = rows.iter().map(|(shown, _)| shown.chars().count()).max().unwrap_or_default().min(MAX_WIDTH);
    for (shown, segment) in &rows {
        let dynamic = if segment.dynamic { " (partly known only when it runs)" } else { "" };
        let reason = out.dim(&format!("{}{dynamic}", segment.reason));
        text.push_str(&format!("  {shown:width$}  {:5}  {reason}\n", segment.decision.to_string()));
    }
    if !explanation.outside.is_empty() {
        let paths: Vec<String> = explanation.outside.iter().map(|path| policy::visible(path)).collect();
        text.push_str(&format!("outside the workspace: {}\n", paths.join(", ")));
    }
    text.push_str(&format!("smart mode: {}: {}\n", explanation.smart, explanation.smart_reason));
    if explanation.bare_shell {
        text.push_str("an interactive shell: `shell_session` never starts one, since no rule would see its commands\n");
    }
    let not_parsed = explanation.syntax_error.as_ref().map(|error| format!("it does not parse: {error}"));
    let doubted = explanation.doubt.as_ref().map(|doubt| format!("it is not understood completely: {doubt}"));
    if let Some(line) = not_parsed.or(doubted)
        && line != explanation.reason
    {
        text.push_str(&format!("{line}\n"));
    }
    text
}

fn row<'a>(segment: &'a ExplainedSegment, depth: usize, rows: &mut Vec<(String, &'a ExplainedSegment)>) {
    rows.push((format!("{}{}", "  ".repeat(depth), policy::visible(&segment.text)), segment));
    segment.inner.iter().for_each(|inner| row(inner, depth + 1, rows));
}
