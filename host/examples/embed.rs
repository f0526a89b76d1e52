//! A host of one's own: one tool, and a permission that allows what stays in the workspace.

use std::sync::Arc;

use host::{CallOptions, Host, Registry, RegistryConfig};
use tool_api::{
    Denied, DeniedKind, EditEffect, Effect, Effects, Grant, Permission, PermissionRequest, Tool, ToolCall, ToolContext,
    ToolError, ToolErrorKind, ToolOutput, ToolSpec, Workspace, async_trait,
};

/// Appends a line to a file, after asking with exactly that change.
#[derive(Debug)]
struct Note(ToolSpec);

#[async_trait]
impl Tool for Note {
    fn spec(&self) -> &ToolSpec {
        &self.0
    }

    async fn call(&self, call: ToolCall, ctx: &ToolContext) -> Result<ToolOutput, ToolError> {
        let path = ctx.workspace.root().join(call.arguments["file"].as_str().unwrap_or_default());
        let effect = Effect::Edit(EditEffect { path: path.clone(), preview: "+ noted".to_owned() });
        let grant = ctx.permission.ask(PermissionRequest::new("note", Effects::ANY, effect, ctx)).await?;
        grant.check()?;
        let refused = |error| ToolError::new(ToolErrorKind::System, "cannot write the note").with_source(error);
        std::fs::write(&path, "noted\n").map_err(refused)?;
        Ok(ToolOutput::text(format!("noted in {}", path.display())))
    }
}

/// Allows edits below the workspace.
#[derive(Debug)]
struct InWorkspace;

#[async_trait]
impl Permission for InWorkspace {
    async fn ask(&self, request: PermissionRequest) -> Result<Grant, Denied> {
        match &request.effect {
            Effect::Edit(edit) if edit.path.parent() == Some(request.workspace.root()) => Ok(Grant::new()),
            _ => Err(Denied::new(DeniedKind::Forbidden, "only files of the workspace may change")),
        }
    }
}

#[tokio::main(flavor = "current_thread")]
pub(crate) async fn main() -> Result<(), Box<dyn std::error::Error>> {
    host::run_if_requested();
    let schema = serde_json::json!({
        "type": "object",
        "properties": {"file": {"type": "string", "description": "The file, in the workspace."}},
        "required": ["file"],
        "additionalProperties": false,
    });
    let note = Note(ToolSpec::new("note", "Notes something in a file.", schema));
    let registry = Registry::new(vec![Arc::new(note)], RegistryConfig::default())?;
    let host = Host::new(registry).with_permission(Arc::new(InWorkspace));

    let root = std::env::temp_dir().join(format!("toolhost-embed-{}", std::process::id()));
    std::fs::create_dir_all(&root)?;
    let chat = host.open_chat(Workspace::new(&root));
    let call = |file: &str| ToolCall::new("note", serde_json::json!({"file": file}));
    let output = host.call(&chat, call("a.txt"), CallOptions::new()).await?;
    println!("{}", output.as_text());
    let denied = host.call(&chat, call("../outside.txt"), CallOptions::new()).await.expect_err("it is outside");
    println!("{}", denied.report());
    host.end().await;
    assert!(root.join("a.txt").exists() && !root.join("../outside.txt").exists());
    std::fs::remove_dir_all(&root)?;
    Ok(())
}
