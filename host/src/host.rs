//! The host: a registry, whom to ask, the environment, the inbox, and the chats that use them.

use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::SystemTime;

use policy::{Audit, Gate, NobodyToAsk, Policy, SecretMask};
use tokio::sync::RwLock;
use tool_api::{
    CallId, CancellationToken, ChatId, DenyAll, FixedEnv, Mask, NoticeSink, Permission, Scope, ShellEnv, ToolCall,
    ToolContext, ToolError, ToolErrorKind, ToolOutput, Workspace,
};

use crate::masking::Remembered;
use crate::{CallOptions, Chat, Inbox, Registry};

/// All that a front needs: it opens chats and makes calls.
///
/// A front shares it as `Arc<Host>` and ends it with [`Host::end`] before the program exits.
#[derive(Debug)]
pub struct Host {
    registry: Registry,
    permission: Rule,
    shell_env: Arc<dyn ShellEnv>,
    audit: Option<Arc<dyn Audit>>,
    mask: Arc<dyn Mask>,
    inbox: Arc<Inbox>,
    ending: CancellationToken,
    /// Is read by each call while it runs, so that the end of the host waits for its calls.
    calls: RwLock<()>,
    chats: AtomicU64,
    /// What the ids of this host's calls begin with, so that those of another run differ.
    run: String,
    numbered: AtomicU64,
}

/// Who decides about effects.
#[derive(Debug)]
enum Rule {
    /// A permission of the embedding host.
    Own(Arc<dyn Permission>),
    /// The policy, which asks the front of the call.
    Policy(Arc<Policy>),
}

impl Host {
    /// Makes a host that denies every effect and gives commands an empty environment, until it is told otherwise.
    pub fn new(registry: Registry) -> Self {
        let mask: Arc<dyn Mask> = Arc::new(SecretMask::new());
        Self {
            registry,
            permission: Rule::Own(Arc::new(DenyAll)),
            shell_env: Arc::new(FixedEnv::default()),
            audit: None,
            inbox: Arc::new(Inbox::new().with_mask(Arc::clone(&mask))),
            mask,
            ending: CancellationToken::new(),
            calls: RwLock::new(()),
            chats: AtomicU64::new(0),
            run: run_name(),
            numbered: AtomicU64::new(0),
        }
    }

    /// Sets whom every tool asks before an effect, instead of a policy. Before the first chat is opened.
    #[must_use]
    pub fn with_permission(mut self, permission: Arc<dyn Permission>) -> Self {
        self.permission = Rule::Own(permission);
        self
    }

    /// Sets the policy that decides about effects, and asks the approver of the call where it asks. Before the first
    /// chat is opened.
    #[must_use]
    pub fn with_policy(mut self, policy: Policy) -> Self {
        self.permission = Rule::Policy(Arc::new(policy));
        self
    }

    /// Sets where the decisions of the policy and their effects are written down. Before the first chat is opened. A
    /// permission of the embedding host keeps its own.
    #[must_use]
    pub fn with_audit(mut self, audit: Arc<dyn Audit>) -> Self {
        self.audit = Some(audit);
        self
    }

    /// Sets what hides secrets in results, errors and notices; it learns what a person gives. Before the first chat is
    /// opened, and before the inbox is taken. Without it a [`SecretMask`] hides what looks like a secret and knows no
    /// value; [`tool_api::NoMask`] hides nothing.
    #[must_use]
    pub fn with_mask(mut self, mask: Arc<dyn Mask>) -> Self {
        self.inbox = Arc::new(Inbox::new().with_mask(Arc::clone(&mask)));
        self.mask = mask;
        self
    }

    /// Sets the environment of commands.
    #[must_use]
    pub fn with_shell_env(mut self, shell_env: Arc<dyn ShellEnv>) -> Self {
        self.shell_env = shell_env;
        self
    }

    /// Returns the tools.
    pub fn registry(&self) -> &Registry {
        &self.registry
    }

    /// Returns what hides secrets, for what a front shows beside results.
    pub fn mask(&self) -> &Arc<dyn Mask> {
        &self.mask
    }

    /// Returns where notices wait for a front.
    pub fn inbox(&self) -> &Arc<Inbox> {
        &self.inbox
    }

    /// Opens a chat with an id that this host never gives again.
    pub fn open_chat(&self, workspace: Workspace) -> Arc<Chat> {
        let number = self.chats.fetch_add(1, Ordering::Relaxed) + 1;
        let id = ChatId::new(format!("c{number}"));
        let gate = match &self.permission {
            Rule::Own(_) => None,
            Rule::Policy(policy) => {
                let nobody = Arc::new(NobodyToAsk::new("nobody was asked yet"));
                let gate = Gate::new(id.clone(), Arc::clone(policy), nobody);
                Some(self.audit.iter().fold(gate, |gate, audit| gate.with_audit(Arc::clone(audit))))
            }
        };
        Arc::new(Chat::new(id, workspace, gate, &self.ending))
    }

    /// Makes one call of a chat.
    ///
    /// # Errors
    /// As [`Registry::call`], and a call of a chat that ended.
    ///
    /// # Cancellation
    /// By `options.cancel`, by the end of the chat or of the host, and by dropping the future.
    pub async fn call(&self, chat: &Chat, call: ToolCall, options: CallOptions) -> Result<ToolOutput, ToolError> {
        let _running = self.calls.read().await;
        let ended = chat.ended.read().await;
        if *ended || self.ending.is_cancelled() {
            return Err(ToolError::new(ToolErrorKind::State, format!("the chat `{}` has ended", chat.id())));
        }
        let cancel = chat.ending.child_token();
        let ctx = self.context(chat, &options, cancel.clone());
        let mut running = pin!(self.registry.call(call, &ctx));
        tokio::select! {
            biased;
            result = &mut running => return result,
            () = options.cancel.cancelled() => cancel.cancel(),
        }
        running.await
    }

    /// Tells whether something that the chat started still runs, or a notice waits for it.
    pub fn is_busy(&self, chat: &Chat) -> bool {
        self.registry.is_busy(chat.id()) || self.inbox.waiting(chat.id()) > 0
    }

    /// Ends a chat: cancels its calls, waits for them, then ends all that it started. Ending twice is fine.
    pub async fn end_chat(&self, chat: &Chat) {
        chat.ending.cancel();
        *chat.ended.write().await = true;
        self.registry.end(&Scope::Chat(chat.id().clone())).await;
        self.inbox.take(chat.id());
    }

    /// Ends all that was started in a workspace.
    pub async fn end_project(&self, workspace: &Workspace) {
        self.registry.end(&Scope::Project(workspace.clone())).await;
    }

    /// Ends the host: every running call is cancelled at once, then every tool ends what it holds. No call follows.
    pub async fn end(&self) {
        self.ending.cancel();
        drop(self.calls.write().await);
        self.registry.end(&Scope::Host).await;
    }

    fn context(&self, chat: &Chat, options: &CallOptions, cancel: CancellationToken) -> ToolContext {
        let notices: Arc<dyn NoticeSink> = Arc::clone(&self.inbox) as _;
        let permission: Arc<dyn Permission> = match (&self.permission, &chat.gate) {
            (Rule::Own(permission), _) => Arc::clone(permission),
            (Rule::Policy(_), Some(gate)) => Arc::new(gate.clone().with_approver(Arc::clone(&options.approver))),
            // A chat of another host.
            (Rule::Policy(_), None) => Arc::new(DenyAll),
        };
        let person = Arc::new(Remembered { person: Arc::clone(&options.person), mask: Arc::clone(&self.mask) });
        let number = self.numbered.fetch_add(1, Ordering::Relaxed) + 1;
        ToolContext::deny_all(chat.id().clone(), chat.workspace().root())
            .with_call(CallId::new(format!("{}-{number}", self.run)))
            .with_workspace(Arc::clone(chat.workspace()))
            .with_permission(permission)
            .with_notices(notices)
            .with_person(person)
            .with_mask(Arc::clone(&self.mask))
            .with_shell_env(Arc::clone(&self.shell_env))
            .with_cancel(cancel)
            .with_wait_limit(options.wait_limit)
    }
}

/// Names this run of the host: 12 random hexadecimal digits.
fn run_name() -> String {
    let mut random = [0; 6];
    if getrandom::fill(&mut random).is_err() {
        // Without a source of randomness the time tells runs apart.
        let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
        random.copy_from_slice(&(since.as_nanos() as u64).to_le_bytes()[..6]);
    }
    random.iter().map(|byte| format!("{byte:02x}")).collect()
}
