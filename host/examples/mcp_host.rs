//! A host of one's own: one tool, served to any MCP client over standard input and output.

use std::sync::Arc;

use host::{Host, Registry, RegistryConfig, mcp};
use serde_json::json;
use tool_api::{Effects, Tool, ToolCall, ToolContext, ToolError, ToolOutput, ToolSpec, Workspace, async_trait};

#[derive(Debug)]
struct Echo(ToolSpec);

#[async_trait]
impl Tool for Echo {
    fn spec(&self) -> &ToolSpec {
        &self.0
    }

    async fn call(&self, call: ToolCall, _ctx: &ToolContext) -> Result<ToolOutput, ToolError> {
        Ok(ToolOutput::text(call.arguments["text"].as_str().unwrap_or_default()))
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let stdio = mcp::Stdio::take()?;
    let schema = json!({"type": "object", "properties": {"text": {"type": "string", "description": "The text"}}});
    let echo = Echo(ToolSpec::new("echo", "Returns its text", schema).with_effects(Effects::READ_ONLY));
    let host = Host::new(Registry::new(vec![Arc::new(echo)], RegistryConfig::default())?);
    let workspace = Workspace::new(std::env::current_dir()?);
    mcp::serve(stdio, Arc::new(host), workspace, mcp::Config::default())?;
    Ok(())
}
