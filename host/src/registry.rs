//! The registry: the bus that every call of every front goes through.

use std::any::Any;
use std::collections::HashMap;
use std::future::{Future, poll_fn};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::pin;
use std::sync::Arc;
use std::task::Poll;
use std::time::{Duration, Instant};

use serde_json::Value;
use tool_api::{ChatId, Scope, Tool, ToolCall, ToolContext, ToolError, ToolErrorKind, ToolOutput, ToolSpec};
use tracing::field::Empty;
use tracing::{Instrument, Span};

use crate::bound::{bound_output, clean_error, clean_output};
use crate::masking::{mask_error, mask_output};
use crate::near::{did_you_mean, quoted};
use crate::schema;

/// Bytes at which known hosts cut a description.
const MAX_DESCRIPTION: usize = 2_048;
/// Characters of a tool name that every known host accepts.
const MAX_NAME: usize = 32;

/// Limits of the bus.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RegistryConfig {
    /// Characters of text in one result; what is longer keeps its head and tail. Default 60 000, which is above what
    /// any tool of this workspace returns by itself.
    pub max_result_chars: usize,
    /// How long a tool has to come back after its call was cancelled; then the call is dropped. Default 10 s, which
    /// is above what stopping a process tree takes.
    pub cancel_grace: Duration,
}

impl Default for RegistryConfig {
    fn default() -> Self {
        Self { max_result_chars: 60_000, cancel_grace: Duration::from_secs(10) }
    }
}

/// Why a set of tools is no registry: a mistake in a tool, found when the host starts.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("tool `{tool}`: {problem}")]
pub struct RegistryError {
    tool: String,
    problem: String,
}

/// The tools of a host, in the order they are listed.
///
/// Cheap to clone.
#[derive(Clone, Debug)]
pub struct Registry {
    tools: Arc<[Arc<dyn Tool>]>,
    by_name: Arc<HashMap<String, usize>>,
    config: RegistryConfig,
}

impl Registry {
    /// Takes the tools. Core tools are listed first, otherwise the order stays.
    ///
    /// # Errors
    /// A name that is taken twice or that some host would refuse, a description over 2 048 bytes, or a schema that is
    /// not an object or has alternatives at its root.
    pub fn new(mut tools: Vec<Arc<dyn Tool>>, config: RegistryConfig) -> Result<Self, RegistryError> {
        tools.sort_by_key(|tool| !tool.spec().core);
        let mut by_name = HashMap::with_capacity(tools.len());
        for (index, tool) in tools.iter().enumerate() {
            let spec = tool.spec();
            let fail = |problem: String| RegistryError { tool: spec.name.clone(), problem };
            check_spec(spec).map_err(fail)?;
            if by_name.insert(spec.name.clone(), index).is_some() {
                return Err(fail("the name is taken by another tool".to_owned()));
            }
        }
        Ok(Self { tools: tools.into(), by_name: Arc::new(by_name), config })
    }

    /// Lists how the tools present themselves, core tools first, always in the same order.
    pub fn specs(&self) -> impl ExactSizeIterator<Item = &ToolSpec> {
        self.tools.iter().map(|tool| tool.spec())
    }

    /// Returns how one tool presents itself.
    pub fn spec(&self, name: &str) -> Option<&ToolSpec> {
        self.by_name.get(name).map(|index| self.tools[*index].spec())
    }

    /// Runs one call: look up, validate, run, check, clean, mask, bound; within one span.
    ///
    /// # Errors
    /// An unknown tool, arguments that do not fit its schema (the tool has not seen them then), what the tool itself
    /// says, a panic in the tool, or a tool that does not come back after its cancellation.
    ///
    /// # Cancellation
    /// By `ctx.cancel`, and by dropping the future.
    pub async fn call(&self, call: ToolCall, ctx: &ToolContext) -> Result<ToolOutput, ToolError> {
        let shown: String = call.name.chars().take(MAX_NAME).collect();
        let span = tracing::info_span!("call", id = %ctx.call, tool = shown, chat = %ctx.chat, outcome = Empty, duration_ms = Empty);
        let started = Instant::now();
        let result = self.steps(call, ctx).instrument(span.clone()).await;
        record(&span, &result, started.elapsed());
        result
    }

    /// Ends all that every tool holds for a scope, and returns when it has ended.
    ///
    /// A tool that panics or takes longer than `cancel_grace` three times over does not keep the others from ending.
    pub async fn end(&self, scope: &Scope) {
        let patience = self.config.cancel_grace * 3;
        for tool in self.tools.iter() {
            match tokio::time::timeout(patience, without_panic(tool.end(scope))).await {
                Ok(Ok(())) => {}
                Ok(Err(panic)) => tracing::error!(tool = tool.spec().name, panic, "the tool panicked while ending"),
                Err(_) => tracing::error!(tool = tool.spec().name, "the tool did not end in time"),
            }
        }
    }

    /// Tells whether something that the chat owns still runs in any tool.
    pub fn is_busy(&self, chat: &ChatId) -> bool {
        self.tools.iter().any(|tool| tool.is_busy(chat))
    }

    /// Checks a result against the output schema that its tool declares; for the tests of tools.
    ///
    /// # Errors
    /// What does not fit.
    pub fn check_output(spec: &ToolSpec, output: &ToolOutput) -> Result<(), String> {
        let Some(schema) = &spec.output_schema else { return Ok(()) };
        let Some(structured) = &output.structured else {
            return Err("the output schema is declared, but the result has no structured form".to_owned());
        };
        let problems = schema::check(schema, structured);
        if problems.is_empty() {
            return Ok(());
        }
        let problems: Vec<String> =
            problems.iter().map(|found| format!("`{}` {}", found.path, found.problem)).collect();
        Err(format!("the structured form does not fit the output schema: {}", problems.join("; ")))
    }

    /// The way of a call, one step a line.
    async fn steps(&self, mut call: ToolCall, ctx: &ToolContext) -> Result<ToolOutput, ToolError> {
        let output = async {
            let tool = self.look_up(&call.name)?;
            schema::spell_integers(&tool.spec().input_schema, &mut call.arguments);
            validate(tool.spec(), &call.arguments)?;
            let output = self.run(tool, call, ctx).await?;
            check_declared(tool.spec(), &output)?;
            Ok(output)
        };
        let output = output.await.map_err(|error| mask_error(clean_error(error), &*ctx.mask))?;
        let output = mask_output(clean_output(output), &*ctx.mask);
        Ok(bound_output(output, self.config.max_result_chars))
    }

    fn look_up(&self, name: &str) -> Result<&dyn Tool, ToolError> {
        if let Some(index) = self.by_name.get(name) {
            return Ok(&*self.tools[*index]);
        }
        let names: Vec<&str> = self.specs().map(|spec| spec.name.as_str()).collect();
        let shown: String = name.chars().take(64).collect();
        let hint = match did_you_mean(name, names.iter().copied()) {
            Some(near) => near,
            None if names.is_empty() => "this host has no tools".to_owned(),
            None => format!("the tools are {}", quoted(&names, "and")),
        };
        Err(ToolError::new(ToolErrorKind::UnknownTool, format!("no tool is named `{shown}`")).with_hint(hint))
    }

    async fn run(&self, tool: &dyn Tool, call: ToolCall, ctx: &ToolContext) -> Result<ToolOutput, ToolError> {
        let mut running = pin!(without_panic(tool.call(call, ctx)));
        let overdue = async {
            ctx.cancel.cancelled().await;
            tokio::time::sleep(self.config.cancel_grace).await;
        };
        tokio::select! {
            biased;
            result = &mut running => result.unwrap_or_else(|panic| {
                let message = format!("the tool `{}` failed inside: {panic}", tool.spec().name);
                Err(ToolError::new(ToolErrorKind::Internal, message)
                    .with_hint("this is a defect of the tool; other calls still work"))
            }),
            () = overdue => {
                let message = format!("the call was cancelled and `{}` did not come back in time", tool.spec().name);
                Err(ToolError::new(ToolErrorKind::Cancelled, message))
            }
        }
    }
}

fn check_spec(spec: &ToolSpec) -> Result<(), String> {
    let plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_';
    if spec.name.is_empty() || spec.name.len() > MAX_NAME || !spec.name.chars().all(plain) {
        return Err(format!("a name has 1 to {MAX_NAME} of `a-z`, `0-9` and `_`"));
    }
    if spec.description.len() > MAX_DESCRIPTION {
        return Err(format!("the description has {} bytes, at most {MAX_DESCRIPTION}", spec.description.len()));
    }
    for (what, schema) in [("input", Some(&spec.input_schema)), ("output", spec.output_schema.as_ref())] {
        let Some(schema) = schema else { continue };
        if schema.get("type").and_then(Value::as_str) != Some("object") {
            return Err(format!("the {what} schema is not of type `object`"));
        }
        if let Some(keyword) = ["anyOf", "oneOf", "allOf", "$ref"].iter().find(|word| schema.get(**word).is_some()) {
            return Err(format!("the {what} schema has `{keyword}` at its root, which hosts refuse"));
        }
    }
    Ok(())
}

fn validate(spec: &ToolSpec, arguments: &Value) -> Result<(), ToolError> {
    let problems = schema::check(&spec.input_schema, arguments);
    if problems.is_empty() {
        return Ok(());
    }
    let messages: Vec<String> = problems
        .iter()
        .map(|found| match found.path.as_str() {
            "" => format!("the arguments: {}", found.problem),
            path => format!("argument `{path}`: {}", found.problem),
        })
        .collect();
    let error = ToolError::new(ToolErrorKind::InvalidArguments, messages.join("; "));
    Err(match problems.into_iter().find_map(|found| found.hint) {
        Some(hint) => error.with_hint(hint),
        None => error,
    })
}

/// A tool that breaks its own output schema is found by every debug build, and logged by a release build: the effect
/// has happened then, so that the result is worth more than the rule.
fn check_declared(spec: &ToolSpec, output: &ToolOutput) -> Result<(), ToolError> {
    if cfg!(debug_assertions) {
        Registry::check_output(spec, output).map_err(|problem| ToolError::new(ToolErrorKind::Internal, problem))
    } else {
        if spec.output_schema.is_some() && output.structured.is_none() {
            tracing::warn!(tool = spec.name, "the result has no structured form");
        }
        Ok(())
    }
}

fn record(span: &Span, result: &Result<ToolOutput, ToolError>, duration: Duration) {
    let outcome = match result {
        Ok(_) => "ok".to_owned(),
        Err(error) => format!("{:?}", error.kind()),
    };
    span.record("outcome", outcome.as_str());
    span.record("duration_ms", duration.as_millis() as u64);
    span.in_scope(|| tracing::debug!(outcome, duration_ms = duration.as_millis() as u64, "call ended"));
}

/// Runs a future; a panic in it becomes its message.
async fn without_panic<T>(future: impl Future<Output = T>) -> Result<T, String> {
    let mut future = pin!(future);
    // After a panic the future is dropped and not polled again, so nothing sees its broken state.
    poll_fn(|cx| match catch_unwind(AssertUnwindSafe(|| future.as_mut().poll(cx))) {
        Ok(Poll::Pending) => Poll::Pending,
        Ok(Poll::Ready(value)) => Poll::Ready(Ok(value)),
        Err(panic) => Poll::Ready(Err(panic_message(&*panic))),
    })
    .await
}

fn panic_message(panic: &(dyn Any + Send)) -> String {
    let message = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
    message.or_else(|| panic.downcast_ref::<String>().cloned()).unwrap_or_else(|| "it panicked".to_owned())
}
