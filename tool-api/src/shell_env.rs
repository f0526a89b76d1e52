//! The environment that commands run in.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fmt::Debug;
use std::path::Path;

use crate::ChatId;

/// A complete environment: every variable that a command gets, and nothing else.
pub type Environment = BTreeMap<OsString, OsString>;

/// Supplies the environment of commands.
///
/// ```
/// use std::path::Path;
/// use tool_api::{ChatId, Environment, FixedEnv, ShellEnv};
///
/// let env = FixedEnv::new([("LANG", "C.UTF-8")]);
/// let variables: Environment = env.environment(&ChatId::new("chat-1"), Path::new("/srv/project"));
/// assert_eq!(variables.len(), 1);
/// ```
pub trait ShellEnv: Debug + Send + Sync {
    /// Returns the whole environment for a command of a chat in a directory. Must not block for long: it is called
    /// before every start.
    fn environment(&self, chat: &ChatId, workdir: &Path) -> Environment;
}

/// The same environment for every command.
#[derive(Clone, Debug, Default)]
pub struct FixedEnv(Environment);

impl FixedEnv {
    /// Takes the variables.
    pub fn new<K: Into<OsString>, V: Into<OsString>>(variables: impl IntoIterator<Item = (K, V)>) -> Self {
        Self(variables.into_iter().map(|(name, value)| (name.into(), value.into())).collect())
    }
}

impl ShellEnv for FixedEnv {
    fn environment(&self, _chat: &ChatId, _workdir: &Path) -> Environment {
        self.0.clone()
    }
}
