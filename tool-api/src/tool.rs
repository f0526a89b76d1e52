//! What a tool is.

use std::fmt::Debug;

use async_trait::async_trait;
use serde_json::{Map, Value};

use crate::{ChatId, Scope, ToolContext, ToolError, ToolOutput};

/// What the calls of a tool can do, as hints for a front. Permission never depends on them alone.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Effects {
    /// Changes nothing.
    pub read_only: bool,
    /// Can remove or overwrite.
    pub destructive: bool,
    /// The same call twice has the effect of one.
    pub idempotent: bool,
    /// Can reach beyond this machine.
    pub open_world: bool,
}

impl Effects {
    /// A tool that only observes.
    pub const READ_ONLY: Self = Self { read_only: true, destructive: false, idempotent: true, open_world: false };
    /// A tool that can run any command.
    pub const ANY: Self = Self { read_only: false, destructive: true, idempotent: false, open_world: true };
}

/// How a tool presents itself.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct ToolSpec {
    /// Its name: at most 32 of `a-z0-9_`, which every known host accepts.
    pub name: String,
    /// A short title for people.
    pub title: String,
    /// What the model reads, the essential first; under 2 048 bytes, since hosts cut there.
    pub description: String,
    /// The JSON schema of the arguments, an object without alternatives at its root.
    pub input_schema: Value,
    /// The JSON schema of [`ToolOutput::structured`], an object.
    pub output_schema: Option<Value>,
    /// What its calls can do.
    pub effects: Effects,
    /// Is listed before others, for hosts that show a part at a time.
    pub core: bool,
}

impl ToolSpec {
    /// Makes a spec that promises nothing about effects; the title is the name.
    pub fn new(name: impl Into<String>, description: impl Into<String>, input_schema: Value) -> Self {
        let name = name.into();
        Self {
            title: name.clone(),
            name,
            description: description.into(),
            input_schema,
            output_schema: None,
            effects: Effects::ANY,
            core: false,
        }
    }

    /// Sets the title for people.
    #[must_use]
    pub fn with_title(mut self, title: impl Into<String>) -> Self {
        self.title = title.into();
        self
    }

    /// Sets the schema of the structured result.
    #[must_use]
    pub fn with_output_schema(mut self, schema: Value) -> Self {
        self.output_schema = Some(schema);
        self
    }

    /// Sets what its calls can do.
    #[must_use]
    pub fn with_effects(mut self, effects: Effects) -> Self {
        self.effects = effects;
        self
    }

    /// Lists it before others.
    #[must_use]
    pub fn into_core(mut self) -> Self {
        self.core = true;
        self
    }
}

/// One call by the model.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct ToolCall {
    /// The tool's name.
    pub name: String,
    /// The arguments, a JSON object; anything else fails validation.
    pub arguments: Value,
}

impl ToolCall {
    /// Makes a call. `null` arguments count as none.
    pub fn new(name: impl Into<String>, arguments: Value) -> Self {
        let arguments = if arguments.is_null() { Value::Object(Map::new()) } else { arguments };
        Self { name: name.into(), arguments }
    }
}

/// A tool on the bus, shared as `Arc<dyn Tool>`.
///
/// # Cancellation
/// A call ends soon after `ctx.cancel` is cancelled, and its future is safe to drop at every `.await`: what it started
/// is then in a state that the tool documents.
///
/// See the [crate] documentation for an example.
#[async_trait]
pub trait Tool: Debug + Send + Sync {
    /// Returns how the tool presents itself; the same for the life of the tool.
    fn spec(&self) -> &ToolSpec;

    /// Runs one call.
    ///
    /// # Errors
    /// Everything the model can act on, with text that says what happened, why, and what to do. A command that ends
    /// with a non-zero code is a result, not an error.
    async fn call(&self, call: ToolCall, ctx: &ToolContext) -> Result<ToolOutput, ToolError>;

    /// Ends all that the tool holds for a scope, and returns when it has ended. Ending twice is fine.
    async fn end(&self, scope: &Scope) {
        let _ = scope;
    }

    /// Tells whether something that the chat owns still runs, so that the host keeps the chat in memory.
    fn is_busy(&self, chat: &ChatId) -> bool {
        let _ = chat;
        false
    }
}
