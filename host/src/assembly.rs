//! Assembles a host from its configuration.

use std::ffi::OsString;
use std::sync::Arc;
use std::time::Duration;

use tool_api::Tool;

use crate::builtin::{BUILTINS, Shared};
use crate::settings::{SettingError, SettingErrors};
use crate::{Host, HostEnv, Registry, RegistryConfig, RegistryError, Settings};

/// Why a host could not be assembled.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum AssembleError {
    /// The configuration makes no sense.
    #[error(transparent)]
    Settings(#[from] SettingErrors),
    /// A tool cannot be on the bus.
    #[error(transparent)]
    Registry(#[from] RegistryError),
}

/// Makes the tools of this build that the configuration has switched on. Starts nothing.
///
/// # Errors
/// A configuration that a tool refuses.
pub fn builtin_tools(settings: &Settings) -> Result<Vec<Arc<dyn Tool>>, SettingErrors> {
    let shared = Shared::default();
    let mut errors = Vec::new();
    let mut tools = Vec::with_capacity(BUILTINS.len());
    for builtin in BUILTINS.iter().filter(|builtin| settings.is_enabled(builtin)) {
        match (builtin.build)(&settings.tool(builtin.name), &shared) {
            Ok(tool) => tools.push(tool),
            Err(found) => {
                let inner = found.key.map_or(String::new(), |key| format!(".{key}"));
                let key = format!("tool.{}{inner}", builtin.name);
                let origin = settings.origin(&key);
                errors.push(SettingError::new(key, origin, found.problem));
            }
        }
    }
    if errors.is_empty() { Ok(tools) } else { Err(SettingErrors(errors)) }
}

impl RegistryConfig {
    /// Takes the limits from the configuration.
    pub fn from_settings(settings: &Settings) -> Self {
        Self {
            max_result_chars: settings.bus.max_result_chars,
            cancel_grace: Duration::from_millis(settings.bus.cancel_grace_ms),
        }
    }
}

impl Host {
    /// Assembles the host that the configuration describes. `environment` is what commands inherit from, normally the
    /// program's own. Starts nothing.
    ///
    /// # Errors
    /// A configuration that makes no sense.
    pub fn from_settings(
        settings: &Settings,
        environment: impl IntoIterator<Item = (OsString, OsString)>,
    ) -> Result<Self, AssembleError> {
        let registry = Registry::new(builtin_tools(settings)?, RegistryConfig::from_settings(settings))?;
        let shell_env = Arc::new(HostEnv::new(&settings.env, environment));
        Ok(Self::new(registry).with_policy(settings.policy()).with_shell_env(shell_env))
    }
}
