//! A host of one's own with its own person, second opinion and audit around the policy.

use std::sync::{Arc, Mutex};

use host::{CallOptions, Host, Registry, RegistryConfig};
use policy::{
    Answer, Approver, Audit, AuditError, AuditEvent, Classification, Classifier, ClassifierError, Mode, Opinion,
    Policy, Prompt, Question,
};
use tool_api::{
    CommandEffect, CommandKind, Effect, Effects, PermissionRequest, Tool, ToolCall, ToolContext, ToolError, ToolOutput,
    ToolSpec, Workspace, async_trait,
};

/// Asks for a command, and says that it would run it.
#[derive(Debug)]
struct Pretend(ToolSpec);

#[async_trait]
impl Tool for Pretend {
    fn spec(&self) -> &ToolSpec {
        &self.0
    }

    async fn call(&self, call: ToolCall, ctx: &ToolContext) -> Result<ToolOutput, ToolError> {
        let effect = Effect::Command(CommandEffect {
            command: call.arguments["command"].as_str().unwrap_or_default().to_owned(),
            shell: "/bin/sh".into(),
            workdir: ctx.workspace.root().to_owned(),
            kind: CommandKind::Once,
            env: Vec::new(),
            search_path: std::env::var_os("PATH"),
            foreground: None,
        });
        let grant = ctx.permission.ask(PermissionRequest::new("pretend", Effects::ANY, effect, ctx)).await?;
        grant.check()?;
        Ok(ToolOutput::text("it would run now"))
    }
}

/// The person: says yes to `make`.
#[derive(Debug)]
struct Likes;

#[async_trait]
impl Approver for Likes {
    async fn ask(&self, prompt: Prompt) -> Answer {
        if prompt.subject.starts_with("make") { Answer::Once } else { Answer::Reject { feedback: None } }
    }
}

/// The second opinion: has what speaks of production asked, also where it only reads.
#[derive(Debug)]
struct Careful;

#[async_trait]
impl Classifier for Careful {
    async fn classify(&self, question: Question<'_>) -> Result<Opinion, ClassifierError> {
        let mentioned = question.command.contains("production");
        let classification = if mentioned { Classification::Ask } else { Classification::Safe };
        Ok(Opinion { classification, reason: "it speaks of production".into() })
    }
}

/// The audit: keeps what happened in memory.
#[derive(Debug, Default)]
struct Kept(Mutex<Vec<String>>);

impl Audit for Kept {
    fn record(&self, event: &AuditEvent<'_>) -> Result<(), AuditError> {
        let mut kept = self.0.lock().map_err(|_| AuditError::new("the list is broken"))?;
        kept.push(format!("{} {} {:?}", event.request.call, event.id, event.what));
        Ok(())
    }
}

#[tokio::main(flavor = "current_thread")]
pub(crate) async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let schema = serde_json::json!({"type": "object", "properties": {"command": {"type": "string"}}});
    let pretend = Pretend(ToolSpec::new("pretend", "Pretends to run a command.", schema));
    let registry = Registry::new(vec![Arc::new(pretend)], RegistryConfig::default())?;
    let kept = Arc::new(Kept::default());
    let audit: Arc<dyn Audit> = kept.clone();
    let policy = Policy::new().with_mode(Mode::Smart).with_classifier(Arc::new(Careful));
    let host = Host::new(registry).with_policy(policy).with_audit(audit);

    let chat = host.open_chat(Workspace::new(std::env::current_dir()?));
    let mut allowed = Vec::new();
    for command in ["ls", "make", "ls production", "touch x", "rm -rf /"] {
        let call = ToolCall::new("pretend", serde_json::json!({"command": command}));
        let options = CallOptions::new().with_approver(Arc::new(Likes));
        allowed.push(host.call(&chat, call, options).await.is_ok());
    }
    host.end().await;
    let kept = kept.0.lock().map_err(|_| "the list is broken")?;
    kept.iter().for_each(|line| println!("{line}"));
    // `ls` only reads, `make` was approved; the others were rejected by the person, and the last one by smart mode.
    assert_eq!((allowed, kept.len()), (vec![true, true, false, false, false], 7));
    Ok(())
}
