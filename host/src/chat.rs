//! Chats: the owners of what calls start, and what a front says about one call.

use std::sync::Arc;
use std::time::Duration;

use policy::{Approver, Gate, NobodyToAsk};
use tokio::sync::RwLock;
use tool_api::{CancellationToken, ChatId, Nobody, Person, Workspace};

/// One conversation.
///
/// A front opens it with [`crate::Host::open_chat`] and ends it with [`crate::Host::end_chat`].
#[derive(Debug)]
pub struct Chat {
    id: ChatId,
    workspace: Arc<Workspace>,
    /// What was approved in this chat; none where the host has a permission of its own.
    pub(crate) gate: Option<Gate>,
    /// Cancels every call of the chat when it ends.
    pub(crate) ending: CancellationToken,
    /// Is read by each call while it runs, and written by the end of the chat, which so waits for its calls.
    pub(crate) ended: RwLock<bool>,
}

impl Chat {
    pub(crate) fn new(id: ChatId, workspace: Workspace, gate: Option<Gate>, host_ending: &CancellationToken) -> Self {
        let ending = host_ending.child_token();
        Self { id, workspace: Arc::new(workspace), gate, ending, ended: RwLock::new(false) }
    }

    /// Returns its name.
    pub fn id(&self) -> &ChatId {
        &self.id
    }

    /// Returns the directories it works in.
    pub fn workspace(&self) -> &Arc<Workspace> {
        &self.workspace
    }
}

/// What a front says about one call.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct CallOptions {
    /// Whom the policy asks. Default: nobody, so that what needs asking is denied.
    pub approver: Arc<dyn Approver>,
    /// Who gives secrets. Default: nobody.
    pub person: Arc<dyn Person>,
    /// Cancels this call. The end of its chat does so as well.
    pub cancel: CancellationToken,
    /// The longest time that the caller waits for a result, if it is known.
    pub wait_limit: Option<Duration>,
}

impl Default for CallOptions {
    fn default() -> Self {
        Self {
            approver: Arc::new(NobodyToAsk::new("this front has no way to ask a person")),
            person: Arc::new(Nobody),
            cancel: CancellationToken::new(),
            wait_limit: None,
        }
    }
}

impl CallOptions {
    /// Makes options with nobody to ask and no limit.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets whom the policy asks.
    #[must_use]
    pub fn with_approver(mut self, approver: Arc<dyn Approver>) -> Self {
        self.approver = approver;
        self
    }

    /// Sets who gives secrets.
    #[must_use]
    pub fn with_person(mut self, person: Arc<dyn Person>) -> Self {
        self.person = person;
        self
    }

    /// Sets what cancels the call.
    #[must_use]
    pub fn with_cancel(mut self, cancel: CancellationToken) -> Self {
        self.cancel = cancel;
        self
    }

    /// Sets the longest time that the caller waits for a result.
    #[must_use]
    pub fn with_wait_limit(mut self, limit: Option<Duration>) -> Self {
        self.wait_limit = limit;
        self
    }
}
