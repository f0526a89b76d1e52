//! Assembles a host from its configuration.

use std::ffi::OsString;
use std::io;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use policy::{SecretMask, names_secret};
use tool_api::{Mask, Tool};

use crate::builtin::{BUILTINS, Shared};
use crate::masking::Unmasked;
use crate::settings::{SettingError, SettingErrors};
use crate::{AuditFile, Host, HostEnv, Registry, RegistryConfig, RegistryError, Settings};

/// Why a host could not be assembled.
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum AssembleError {
    /// The configuration makes no sense.
    #[error(transparent)]
    Settings(#[from] SettingErrors),
    /// A tool cannot be on the bus.
    #[error(transparent)]
    Registry(#[from] RegistryError),
    /// The audit was asked for and cannot be written.
    #[error("cannot open the audit file `{path}` (`audit.file`)")]
    Audit {
        /// The file.
        path: PathBuf,
        /// Why.
        source: Arc<io::Error>,
    },
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
    /// program's own. Starts nothing; opens the audit file, if there is one.
    ///
    /// # Errors
    /// A configuration that makes no sense, or an audit file that cannot be opened.
    pub fn from_settings(
        settings: &Settings,
        environment: impl IntoIterator<Item = (OsString, OsString)>,
    ) -> Result<Self, AssembleError> {
        let registry = Registry::new(builtin_tools(settings)?, RegistryConfig::from_settings(settings))?;
        let environment: Vec<(OsString, OsString)> = environment.into_iter().collect();
        let mask: Arc<dyn Mask> = Arc::new(mask(settings, &environment));
        let shell_env = Arc::new(HostEnv::new(&settings.env, environment));
        let shown: Arc<dyn Mask> =
            if settings.mask.enabled { Arc::clone(&mask) } else { Arc::new(Unmasked(Arc::clone(&mask))) };
        let host = Self::new(registry).with_policy(settings.policy()).with_shell_env(shell_env).with_mask(shown);
        let Some(path) = settings.audit.file.clone() else { return Ok(host) };
        match AuditFile::open(&path, mask) {
            Ok(audit) => Ok(host.with_audit(Arc::new(audit))),
            Err(error) => Err(AssembleError::Audit { path, source: Arc::new(error) }),
        }
    }
}

/// Makes the mask that knows the secrets of the host's environment and of the one that commands get.
fn mask(settings: &Settings, environment: &[(OsString, OsString)]) -> SecretMask {
    let mask = SecretMask::new();
    let is_secret = |name: &str| names_secret(name) || settings.mask.variables.iter().any(|more| more == name);
    mask.add_variables_if(environment.iter().map(|(name, value)| (name, value)), is_secret);
    mask.add_variables_if(&settings.env.set, is_secret);
    mask
}
