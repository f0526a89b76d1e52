//! The tools that this build offers: the only place that names their Cargo features.

use std::sync::Arc;

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use tool_api::Tool;

/// A tool that this build offers, before it is configured.
pub(crate) struct Builtin {
    /// Its table under `tools` in the configuration, and its name on the bus.
    pub(crate) name: &'static str,
    /// `tools.shell = false` switches it off.
    pub(crate) runs_commands: bool,
    /// The keys that a workspace may lower.
    pub(crate) limits: &'static [&'static str],
    /// Its configuration when nothing is set, as a JSON object.
    pub(crate) defaults: fn() -> Value,
    /// Checks a configuration.
    pub(crate) check: fn(&Value) -> Result<(), Problem>,
    /// Makes the tool from a configuration that was checked.
    pub(crate) build: Build,
}

type Build = fn(&Value, &mut Shared) -> Result<Arc<dyn Tool>, Problem>;

/// Why a tool refuses its configuration.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Problem {
    /// The key, where it is known.
    pub(crate) key: Option<&'static str>,
    /// What it is, and what is allowed.
    pub(crate) problem: String,
}

/// What the tools of one host share.
#[derive(Debug, Default)]
pub(crate) struct Shared {}

/// Every tool of this build, in the order they are listed.
pub(crate) const BUILTINS: &[Builtin] = &[
    #[cfg(feature = "sleep")]
    Builtin {
        name: "sleep",
        runs_commands: false,
        limits: &["max_ms"],
        defaults: defaults::<tool_sleep::Config>,
        check: |table| {
            parse::<tool_sleep::Config>(table)?.validate().map_err(|error| Problem::at(error.key, error.problem))
        },
        build: |table, _shared| {
            let tool = tool_sleep::Sleep::new(parse(table)?);
            Ok(Arc::new(tool.map_err(|error| Problem::at(error.key, error.problem))?))
        },
    },
];

impl Problem {
    fn at(key: &'static str, problem: String) -> Self {
        Self { key: Some(key), problem }
    }
}

fn defaults<T: Default + Serialize>() -> Value {
    serde_json::to_value(T::default()).expect("a configuration has only what JSON has")
}

fn parse<T: DeserializeOwned>(table: &Value) -> Result<T, Problem> {
    serde_json::from_value(table.clone()).map_err(|error| Problem { key: None, problem: error.to_string() })
}
