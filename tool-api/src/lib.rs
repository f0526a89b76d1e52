//! The contract of the tool bus: what a tool is, whom it asks, and where it tells.
//!
//! A host holds its tools as `Arc<dyn Tool>` and knows nothing else of them. A tool gets all it may touch in its
//! [`ToolContext`]: the chat it works for, the workspace, [`Permission`] to ask before an effect, [`NoticeSink`] to
//! tell something later, and a token that cancels the call. A new need of tools becomes a field there, not a new
//! method here.
//!
//! This crate does no I/O, reads no clock and knows no tool and no front, so anything can depend on it.
//!
//! ```
//! use std::sync::Arc;
//! use tool_api::{Tool, ToolCall, ToolContext, ToolError, ToolOutput, ToolSpec, async_trait};
//!
//! #[derive(Debug)]
//! struct Echo(ToolSpec);
//!
//! #[async_trait]
//! impl Tool for Echo {
//!     fn spec(&self) -> &ToolSpec {
//!         &self.0
//!     }
//!
//!     async fn call(&self, call: ToolCall, _ctx: &ToolContext) -> Result<ToolOutput, ToolError> {
//!         Ok(ToolOutput::text(call.arguments["text"].as_str().unwrap_or_default()))
//!     }
//! }
//!
//! # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
//! let schema = serde_json::json!({"type": "object", "properties": {"text": {"type": "string"}}});
//! let tool: Arc<dyn Tool> = Arc::new(Echo(ToolSpec::new("echo", "Returns its text", schema)));
//! let call = ToolCall::new("echo", serde_json::json!({"text": "hello"}));
//! let output = tool.call(call, &ToolContext::deny_all("chat-1", "/srv/project")).await.unwrap();
//! assert_eq!(output.as_text(), "hello");
//! # });
//! ```

mod chat;
mod context;
mod error;
mod mask;
mod notice;
mod output;
mod permission;
mod person;
mod shell_env;
mod tool;

pub use async_trait::async_trait;
pub use chat::{CallId, ChatId, Scope, Workspace};
pub use context::ToolContext;
pub use error::{ToolError, ToolErrorKind};
pub use mask::{Mask, NoMask};
pub use notice::{Discard, Notice, NoticeKind, NoticeSink};
pub use output::{Content, ToolOutput};
pub use permission::{
    CommandEffect, CommandKind, Condition, Denied, DeniedKind, DenyAll, EditEffect, Effect, Grant, Handle,
    OpenedDirectory, Permission, PermissionRequest, ReadEffect, StartDirectory,
};
pub use person::{Nobody, Person, Secret, SecretAnswer, SecretRequest};
pub use shell_env::{Environment, FixedEnv, ShellEnv};
pub use tokio_util::sync::CancellationToken;
pub use tool::{Effects, Tool, ToolCall, ToolSpec};
