//! The last steps before a result leaves the bus: clean text, bounded size.

use serde_json::Value;
use tool_api::{Content, ToolError, ToolOutput};

/// Replaces what no text for the model may have (control characters but `\n` and `\t`) by U+FFFD.
///
/// Tools clean the output of commands themselves; this catches what reaches a text in another way, for example an
/// argument that an error repeats.
pub(crate) fn clean_output(mut output: ToolOutput) -> ToolOutput {
    for block in &mut output.content {
        if let Content::Text(text) = block {
            clean(text);
        }
    }
    output
}

/// Does the same to an error. Keeps the error itself, with its causes, when there is nothing to replace.
pub(crate) fn clean_error(error: ToolError) -> ToolError {
    let report = error.report();
    if !report.chars().any(is_forbidden) {
        return error;
    }
    let mut message = report;
    let mut hint = error.hint().map(str::to_owned);
    if let Some(hint) = &mut hint {
        let kept = message.len() - "\nhint: ".len() - hint.len();
        message.truncate(kept);
        clean(hint);
    }
    clean(&mut message);
    let cleaned = ToolError::new(error.kind(), message);
    match hint {
        Some(hint) => cleaned.with_hint(hint),
        None => cleaned,
    }
}

/// Bounds the text of a result to `max_chars` characters, and each text of its structured form as well.
///
/// What is too long keeps its head and its tail, with the number of characters that were cut between them.
pub(crate) fn bound_output(mut output: ToolOutput, max_chars: usize) -> ToolOutput {
    let texts = output.content.iter().filter(|block| matches!(block, Content::Text(_))).count();
    let total: usize = output.content.iter().map(text_chars).sum();
    if total > max_chars {
        let share = max_chars / texts.max(1);
        for block in &mut output.content {
            if let Content::Text(text) = block {
                bound(text, share);
            }
        }
    }
    if let Some(structured) = &mut output.structured {
        bound_value(structured, max_chars);
    }
    output
}

fn text_chars(block: &Content) -> usize {
    match block {
        Content::Text(text) => text.chars().count(),
        _ => 0,
    }
}

fn bound_value(value: &mut Value, max_chars: usize) {
    match value {
        Value::String(text) => bound(text, max_chars),
        Value::Array(items) => items.iter_mut().for_each(|item| bound_value(item, max_chars)),
        Value::Object(fields) => fields.values_mut().for_each(|field| bound_value(field, max_chars)),
        _ => {}
    }
}

fn bound(text: &mut String, max_chars: usize) {
    // A character is at least a byte, so most texts are judged without counting.
    if text.len() <= max_chars {
        return;
    }
    let chars = text.chars().count();
    if chars <= max_chars {
        return;
    }
    let tail_chars = max_chars / 3;
    let head_chars = max_chars - tail_chars;
    let head = byte_index(text, head_chars);
    let tail = byte_index(text, chars - tail_chars);
    let cut = chars - max_chars;
    *text = format!("{}\n[{} characters were cut here]\n{}", &text[..head], grouped(cut), &text[tail..]);
}

fn byte_index(text: &str, chars: usize) -> usize {
    text.char_indices().nth(chars).map_or(text.len(), |(index, _)| index)
}

/// Writes a number with spaces between its thousands.
pub(crate) fn grouped(number: usize) -> String {
    let digits = number.to_string();
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(' ');
        }
        text.push(digit);
    }
    text
}

fn clean(text: &mut String) {
    if text.chars().any(is_forbidden) {
        *text = text.chars().map(|c| if is_forbidden(c) { char::REPLACEMENT_CHARACTER } else { c }).collect();
    }
}

fn is_forbidden(c: char) -> bool {
    c.is_control() && c != '\n' && c != '\t'
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use tool_api::ToolErrorKind;

    use super::*;

    #[test]
    fn keeps_head_and_tail_and_counts() {
        let output = ToolOutput::text("a".repeat(50) + &"é".repeat(50)).with_structured(json!({"n": ["b".repeat(40)]}));
        let output = bound_output(output, 30);
        assert_eq!(output.as_text(), "aaaaaaaaaaaaaaaaaaaa\n[70 characters were cut here]\néééééééééé");
        assert_eq!(
            output.structured,
            Some(json!({"n": ["bbbbbbbbbbbbbbbbbbbb\n[10 characters were cut here]\nbbbbbbbbbb"]}))
        );
    }

    #[test]
    fn leaves_what_fits() {
        let output = ToolOutput::text("é".repeat(30));
        assert_eq!(bound_output(output.clone(), 30), output);
    }

    #[test]
    fn replaces_control_characters() {
        let output = clean_output(ToolOutput::text("a\u{1b}[1mb\n\tc\u{9b}\u{7f}"));
        assert_eq!(output.as_text(), "a\u{fffd}[1mb\n\tc\u{fffd}\u{fffd}");
        let error = ToolError::new(ToolErrorKind::UnknownId, "no session `\u{7}`").with_hint("see \u{1b}list");
        let error = clean_error(error);
        assert_eq!(error.kind(), ToolErrorKind::UnknownId);
        assert_eq!(error.report(), "no session `\u{fffd}`\nhint: see \u{fffd}list");
    }

    #[test]
    fn groups_thousands() {
        assert_eq!(grouped(1_234_567), "1 234 567");
        assert_eq!(grouped(999), "999");
        assert_eq!(grouped(1_000), "1 000");
    }
}
