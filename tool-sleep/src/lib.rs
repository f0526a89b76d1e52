//! The tool `sleep`: waits without a command.
//!
//! Use it to let time pass when nothing of this host can be waited for: a deployment elsewhere, a rate limit. It runs
//! no process, so it needs no approval, and the cancellation of the turn ends it at once.
//!
//! A caller that gives up on a call after some time (`ctx.wait_limit`) gets the result before that, with
//! `endedBecause: "limit"` and how long is still to go.

use std::time::Duration;

use async_trait::async_trait;
use schemars::{JsonSchema, schema_for};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use tokio::time::Instant;
use tool_api::{Effects, Tool, ToolCall, ToolContext, ToolError, ToolErrorKind, ToolOutput, ToolSpec};

/// The largest `max_ms` that makes sense: a day.
const DAY_MS: u64 = 24 * 60 * 60 * 1000;

/// What a host can set. Every field has a default, and [`Config::validate`] refuses nonsense.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(default, deny_unknown_fields)]
pub struct Config {
    /// Milliseconds that one call may ask for at most. Default 300 000.
    pub max_ms: u64,
}

impl Default for Config {
    fn default() -> Self {
        Self { max_ms: 300_000 }
    }
}

/// A value of [`Config`] that makes no sense.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{key}`: {problem}")]
pub struct ConfigError {
    /// The field.
    pub key: &'static str,
    /// What it is, and what is allowed.
    pub problem: String,
}

impl Config {
    /// Checks every value against its range.
    ///
    /// # Errors
    /// The first field that makes no sense, with what it is and what is allowed.
    pub fn validate(&self) -> Result<(), ConfigError> {
        if (1..=DAY_MS).contains(&self.max_ms) {
            return Ok(());
        }
        Err(ConfigError { key: "max_ms", problem: format!("got {}; allowed is 1 to {DAY_MS}", self.max_ms) })
    }
}

/// The tool. Holds nothing between calls.
#[derive(Debug)]
pub struct Sleep {
    spec: ToolSpec,
    max_ms: u64,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Arguments {
    /// How long to wait, in milliseconds.
    ms: u64,
    /// Why, in a few words; the person sees it.
    #[expect(dead_code, reason = "is for the person, who sees the arguments of the call")]
    reason: Option<String>,
}

/// The structured result.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Slept {
    /// How long the wait was, in milliseconds.
    slept_ms: u64,
    /// Why it ended: "elapsed" (all of it passed), "cancelled", or "limit" (the caller would have given up; call again
    /// for the rest).
    ended_because: Ended,
}

#[derive(Clone, Copy, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
enum Ended {
    Elapsed,
    Cancelled,
    Limit,
}

const DESCRIPTION: &str = "Waits without running anything, for example for something outside this machine. To wait for \
    a command, call what watches it instead, where it is offered: shell_session read with waitMs for a session, \
    shell_output with waitMs for a background task. They return as soon as there is something. Ends at once when the \
    turn is cancelled.";

impl Sleep {
    /// Makes the tool.
    ///
    /// # Errors
    /// A configuration that makes no sense.
    pub fn new(config: Config) -> Result<Self, ConfigError> {
        config.validate()?;
        let mut input = Value::from(schema_for!(Arguments));
        // The range comes from the configuration, so no attribute can state it.
        input["properties"]["ms"]["minimum"] = json!(1);
        input["properties"]["ms"]["maximum"] = json!(config.max_ms);
        // An argument that may be left out is not one that may be `null`.
        input["properties"]["reason"]["type"] = json!("string");
        let spec = ToolSpec::new("sleep", DESCRIPTION, input)
            .with_title("Sleep")
            .with_output_schema(Value::from(schema_for!(Slept)))
            .with_effects(Effects::READ_ONLY);
        Ok(Self { spec, max_ms: config.max_ms })
    }

    fn parse(&self, arguments: Value) -> Result<Duration, ToolError> {
        // The bus has checked the schema; a host without it gets an error as well.
        if arguments.get("reason").is_some_and(Value::is_null) {
            return Err(ToolError::argument("reason", "got null, allowed is a text"));
        }
        let Arguments { ms, .. } = serde_json::from_value(arguments)
            .map_err(|error| ToolError::new(ToolErrorKind::InvalidArguments, error.to_string()))?;
        if !(1..=self.max_ms).contains(&ms) {
            return Err(ToolError::argument("ms", format!("got {ms}, allowed is 1 to {}", self.max_ms)));
        }
        Ok(Duration::from_millis(ms))
    }
}

#[async_trait]
impl Tool for Sleep {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    /// Waits. Dropping the future has no effect but the end of the wait.
    async fn call(&self, call: ToolCall, ctx: &ToolContext) -> Result<ToolOutput, ToolError> {
        let asked = self.parse(call.arguments)?;
        let (wait, at_end) = match ctx.wait_limit {
            Some(limit) if limit < asked => (limit, Ended::Limit),
            _ => (asked, Ended::Elapsed),
        };
        let started = Instant::now();
        let (slept, ended_because) = tokio::select! {
            biased;
            () = ctx.cancel.cancelled() => (started.elapsed(), Ended::Cancelled),
            // Timers of tokio end up to a millisecond late, which is not worth telling.
            () = tokio::time::sleep(wait) => (wait, at_end),
        };
        let slept_ms = millis(slept);
        let text = match ended_because {
            Ended::Elapsed => format!("slept {slept_ms} ms"),
            Ended::Cancelled => format!("slept {slept_ms} of {} ms, then the call was cancelled", millis(asked)),
            Ended::Limit => format!("slept {slept_ms} ms; still {} ms to go, call again", millis(asked - slept)),
        };
        let structured = serde_json::to_value(Slept { slept_ms, ended_because })
            .map_err(|error| ToolError::new(ToolErrorKind::Internal, "cannot write the result").with_source(error))?;
        Ok(ToolOutput::text(text).with_structured(structured))
    }
}

fn millis(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests;
