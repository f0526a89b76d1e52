//! The tools that this build offers: the only place that names their Cargo features.

use std::sync::Arc;

use serde_json::Value;
use tool_api::Tool;

use crate::settings::section::{Problem, Section};

/// A tool that this build offers, before it is configured.
pub(crate) struct Builtin {
    /// Its name on the bus and its table under `tool` in the configuration.
    pub(crate) name: &'static str,
    /// `tools.shell = false` switches it off.
    pub(crate) runs_commands: bool,
    /// Its configuration.
    pub(crate) section: Section,
    /// Makes the tool from a configuration that was checked.
    pub(crate) build: Build,
}

type Build = fn(&Value, &Shared) -> Result<Arc<dyn Tool>, Problem>;

/// Serves as the fork server of commands when this process was started as one, and then never returns. Else, and in a
/// build without a tool that runs commands, returns at once.
///
/// The first line of `main` of every program that assembles a host. Without it commands are run by a weaker fallback,
/// see the crate `process`.
pub fn run_if_requested() {
    #[cfg(all(unix, feature = "shell-session"))]
    process::run_if_requested();
}

/// What the tools of one host share.
#[derive(Debug, Default)]
pub(crate) struct Shared {
    #[cfg(all(unix, feature = "shell-session"))]
    engine: std::cell::OnceCell<process::Engine>,
}

#[cfg(all(unix, feature = "shell-session"))]
impl Shared {
    /// Returns the one engine of the host; it starts nothing before the first command.
    fn engine(&self) -> process::Engine {
        self.engine.get_or_init(|| process::Engine::new(process::EngineConfig::default())).clone()
    }
}

/// Every tool of this build, in the order they are listed.
pub(crate) const BUILTINS: &[Builtin] = &[
    #[cfg(all(unix, feature = "shell-session"))]
    Builtin {
        name: "shell_session",
        runs_commands: true,
        section: Section {
            limits: &[
                "per_chat",
                "total",
                "finished",
                "idle_ms",
                "lifetime_ms",
                "retained_chars",
                "max_chars",
                "max_chars_limit",
                "input_limit",
                "wait_limit_ms",
            ],
            defaults: Section::defaults::<tool_shell_session::Config>,
            check: |table| {
                let config = Section::parse::<tool_shell_session::Config>(table)?;
                config.validate().map_err(|error| Problem::at(error.key, error.problem))
            },
        },
        build: |table, shared| {
            let tool = tool_shell_session::ShellSession::new(shared.engine(), Section::parse(table)?);
            Ok(Arc::new(tool.map_err(|error| Problem::at(error.key, error.problem))?))
        },
    },
    #[cfg(feature = "sleep")]
    Builtin {
        name: "sleep",
        runs_commands: false,
        section: Section {
            limits: &["max_ms"],
            defaults: Section::defaults::<tool_sleep::Config>,
            check: |table| {
                Section::parse::<tool_sleep::Config>(table)?
                    .validate()
                    .map_err(|error| Problem::at(error.key, error.problem))
            },
        },
        build: |table, _shared| {
            let tool = tool_sleep::Sleep::new(Section::parse(table)?);
            Ok(Arc::new(tool.map_err(|error| Problem::at(error.key, error.problem))?))
        },
    },
];
