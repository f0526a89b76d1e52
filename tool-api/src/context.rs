//! All that a tool may touch during one call.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use tokio_util::sync::CancellationToken;

use crate::{
    CallId, ChatId, DenyAll, Discard, FixedEnv, Mask, NoMask, Nobody, NoticeSink, Permission, Person, ShellEnv,
    Workspace,
};

/// All that a tool may touch during one call, given by the host.
///
/// Cloning is cheap. New needs of tools become fields here, so that [`crate::Tool`] stays small.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct ToolContext {
    /// The chat the call belongs to, and so the owner of what it starts.
    pub chat: ChatId,
    /// Names the call.
    pub call: CallId,
    /// The directories of the chat.
    pub workspace: Arc<Workspace>,
    /// Whom to ask before an effect.
    pub permission: Arc<dyn Permission>,
    /// Where to tell what happens after the call.
    pub notices: Arc<dyn NoticeSink>,
    /// The person, who can be asked for a secret that the model must not see.
    pub person: Arc<dyn Person>,
    /// The environment of commands.
    pub shell_env: Arc<dyn ShellEnv>,
    /// Hides secrets in what the tool hands out piece by piece.
    pub mask: Arc<dyn Mask>,
    /// Is cancelled when the caller no longer wants the result. A tool watches it in every wait.
    pub cancel: CancellationToken,
    /// The longest time that the caller waits for a result, if it is known. A longer wait returns before it and says
    /// that it goes on.
    pub wait_limit: Option<Duration>,
}

impl ToolContext {
    /// Makes a context that denies every effect, discards notices, has nobody to ask and an empty environment.
    ///
    /// A host replaces what it provides; a test replaces what it needs.
    pub fn deny_all(chat: impl Into<ChatId>, root: impl Into<PathBuf>) -> Self {
        Self {
            chat: chat.into(),
            call: CallId::new("call"),
            workspace: Arc::new(Workspace::new(root)),
            permission: Arc::new(DenyAll),
            notices: Arc::new(Discard),
            person: Arc::new(Nobody),
            shell_env: Arc::new(FixedEnv::default()),
            mask: Arc::new(NoMask),
            cancel: CancellationToken::new(),
            wait_limit: None,
        }
    }

    /// Replaces the name of the call.
    #[must_use]
    pub fn with_call(mut self, call: CallId) -> Self {
        self.call = call;
        self
    }

    /// Replaces what hides secrets.
    #[must_use]
    pub fn with_mask(mut self, mask: Arc<dyn Mask>) -> Self {
        self.mask = mask;
        self
    }

    /// Replaces whom to ask before an effect.
    #[must_use]
    pub fn with_permission(mut self, permission: Arc<dyn Permission>) -> Self {
        self.permission = permission;
        self
    }

    /// Replaces where notices go.
    #[must_use]
    pub fn with_notices(mut self, notices: Arc<dyn NoticeSink>) -> Self {
        self.notices = notices;
        self
    }

    /// Replaces who is asked for secrets.
    #[must_use]
    pub fn with_person(mut self, person: Arc<dyn Person>) -> Self {
        self.person = person;
        self
    }

    /// Replaces the environment of commands.
    #[must_use]
    pub fn with_shell_env(mut self, shell_env: Arc<dyn ShellEnv>) -> Self {
        self.shell_env = shell_env;
        self
    }

    /// Replaces the workspace.
    #[must_use]
    pub fn with_workspace(mut self, workspace: Arc<Workspace>) -> Self {
        self.workspace = workspace;
        self
    }

    /// Replaces the cancellation token.
    #[must_use]
    pub fn with_cancel(mut self, cancel: CancellationToken) -> Self {
        self.cancel = cancel;
        self
    }

    /// Replaces the longest time that the caller waits for a result.
    #[must_use]
    pub fn with_wait_limit(mut self, limit: Option<Duration>) -> Self {
        self.wait_limit = limit;
        self
    }
}
