//! Tools and results in the words of MCP.

use std::sync::Arc;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use rmcp::model::{CallToolResult, ContentBlock, JsonObject, MetaObject, Tool, ToolAnnotations};
use serde_json::{Value, json};
use tool_api::{Content, ToolError, ToolErrorKind, ToolOutput, ToolSpec};

/// Returns how a tool is listed.
pub(crate) fn tool(spec: &ToolSpec) -> Tool {
    let effects = spec.effects;
    let annotations = ToolAnnotations::with_title(&spec.title)
        .read_only(effects.read_only)
        .destructive(effects.destructive)
        .idempotent(effects.idempotent)
        .open_world(effects.open_world);
    let mut tool = Tool::new(spec.name.clone(), spec.description.clone(), object(&spec.input_schema))
        .with_title(&spec.title)
        .with_annotations(annotations);
    if let Some(schema) = &spec.output_schema {
        tool = tool.with_raw_output_schema(Arc::new(object(schema)));
    }
    if spec.core {
        tool = tool.with_meta(meta("anthropic/alwaysLoad", json!(true)));
    }
    tool
}

/// Returns the result of a call, with the notices that waited as a block of their own.
pub(crate) fn result(result: Result<ToolOutput, ToolError>, notices: Option<String>) -> CallToolResult {
    let mut result = match result {
        Ok(output) => {
            let mut result = CallToolResult::success(output.content.into_iter().filter_map(block).collect());
            result.structured_content = output.structured;
            result
        }
        Err(error) => {
            let mut result = CallToolResult::error(vec![ContentBlock::text(error.report())]);
            result.meta = Some(meta("toolhost/errorKind", json!(kind(error.kind()))));
            result
        }
    };
    if let Some(notices) = notices {
        result.content.push(ContentBlock::text(format!("Notices since the last call:\n\n{notices}")));
    }
    result
}

fn block(content: Content) -> Option<ContentBlock> {
    match content {
        Content::Text(text) => Some(ContentBlock::text(text)),
        Content::Image { mime_type, data } => Some(ContentBlock::image(STANDARD.encode(data), mime_type)),
        _ => None,
    }
}

fn kind(kind: ToolErrorKind) -> &'static str {
    match kind {
        ToolErrorKind::InvalidArguments => "invalidArguments",
        ToolErrorKind::UnknownTool => "unknownTool",
        ToolErrorKind::UnknownId => "unknownId",
        ToolErrorKind::Denied => "denied",
        ToolErrorKind::Suspended => "suspended",
        ToolErrorKind::Limit => "limit",
        ToolErrorKind::System => "system",
        ToolErrorKind::State => "state",
        ToolErrorKind::Cancelled => "cancelled",
        _ => "internal",
    }
}

/// The registry takes only schemas that are objects.
fn object(schema: &Value) -> JsonObject {
    schema.as_object().cloned().unwrap_or_default()
}

fn meta(key: &str, value: Value) -> MetaObject {
    MetaObject([(key.to_owned(), value)].into_iter().collect())
}

#[cfg(test)]
mod tests {
    use tool_api::Effects;

    use super::*;

    #[test]
    fn a_tool_keeps_what_its_spec_says() {
        let spec = ToolSpec::new("look", "Looks", json!({"type": "object"}))
            .with_title("Look at it")
            .with_effects(Effects::READ_ONLY)
            .with_output_schema(json!({"type": "object", "properties": {"seen": {"type": "boolean"}}}))
            .into_core();
        let expected = json!({
            "name": "look",
            "title": "Look at it",
            "description": "Looks",
            "inputSchema": {"type": "object"},
            "outputSchema": {"type": "object", "properties": {"seen": {"type": "boolean"}}},
            "annotations": {
                "title": "Look at it",
                "readOnlyHint": true,
                "destructiveHint": false,
                "idempotentHint": true,
                "openWorldHint": false,
            },
            "_meta": {"anthropic/alwaysLoad": true},
        });
        assert_eq!(serde_json::to_value(tool(&spec)).unwrap(), expected);
    }

    #[test]
    fn a_result_has_blocks_structure_and_notices() {
        let mut output = ToolOutput::text("done").with_structured(json!({"seen": true}));
        output.content.push(Content::Image { mime_type: "image/png".into(), data: vec![1, 2, 3] });
        let result = serde_json::to_value(result(Ok(output), Some("t1 ended".into()))).unwrap();
        assert_eq!(result["content"][0]["text"], "done");
        assert_eq!(result["content"][1]["data"], "AQID");
        assert_eq!(result["content"][2]["text"], "Notices since the last call:\n\nt1 ended");
        assert_eq!(result["structuredContent"], json!({"seen": true}));
        assert_eq!(result["isError"], false);
    }

    #[test]
    fn an_error_is_text_for_the_model() {
        let error = ToolError::new(ToolErrorKind::Limit, "too many").with_hint("stop one");
        let result = serde_json::to_value(result(Err(error), None)).unwrap();
        assert_eq!(result["isError"], true);
        assert_eq!(result["content"][0]["text"], "too many\nhint: stop one");
        assert_eq!(result["_meta"]["toolhost/errorKind"], "limit");
    }
}
