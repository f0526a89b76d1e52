//! The front inside the test's process, over a socket, with tools that the test can look into.

use std::os::unix::net::UnixStream;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;

use host::{Host, Registry, RegistryConfig, mcp};
use serde_json::{Value, json};
use tool_api::{
    CancellationToken, CommandEffect, CommandKind, EditEffect, Effect, Effects, Notice, NoticeKind, PermissionRequest,
    SecretAnswer, SecretRequest, Tool, ToolCall, ToolContext, ToolError, ToolErrorKind, ToolOutput, ToolSpec,
    Workspace, async_trait,
};

use crate::client::Client;

/// What the tools of a fixture did.
#[derive(Debug, Default)]
pub(crate) struct Seen {
    /// Commands that the tool `gate` got permission for and did.
    pub(crate) ran: Mutex<Vec<String>>,
    /// Calls of `wait` that began, and that were cancelled.
    pub(crate) waiting: AtomicUsize,
    pub(crate) cancelled: AtomicUsize,
}

pub(crate) struct Fixture {
    pub(crate) seen: Arc<Seen>,
    pub(crate) stop: CancellationToken,
    serving: Option<JoinHandle<()>>,
}

impl Fixture {
    /// Serves a fresh host without rules and returns the unopened client of it.
    pub(crate) fn serve(config: mcp::Config) -> (Self, Client) {
        Self::serve_policy(config, policy::Policy::new())
    }

    /// Serves a fresh host with this policy.
    pub(crate) fn serve_policy(config: mcp::Config, policy: policy::Policy) -> (Self, Client) {
        let seen = Arc::new(Seen::default());
        let stop = CancellationToken::new();
        let (ours, theirs) = UnixStream::pair().unwrap();
        theirs.set_nonblocking(true).unwrap();
        let tools: Vec<Arc<dyn Tool>> = ["gate", "secret", "wait", "note", "limit"]
            .into_iter()
            .map(|name| Arc::new(Fake { spec: spec(name), seen: Arc::clone(&seen) }) as Arc<dyn Tool>)
            .collect();
        let registry = Registry::new(tools, RegistryConfig::default()).unwrap();
        let serving = {
            let stop = stop.clone();
            std::thread::spawn(move || {
                let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
                runtime.block_on(async {
                    let host = Arc::new(Host::new(registry).with_policy(policy));
                    let stream = tokio::net::UnixStream::from_std(theirs).unwrap();
                    let (input, output) = tokio::io::split(stream);
                    let workspace = Workspace::new(std::env::temp_dir());
                    mcp::serve_streams(input, output, &host, workspace, config, stop).await.unwrap();
                    host.end().await;
                });
            })
        };
        let client = Client::new(ours.try_clone().unwrap(), ours);
        (Self { seen, stop, serving: Some(serving) }, client)
    }

    pub(crate) fn ran(&self) -> Vec<String> {
        self.seen.ran.lock().unwrap().clone()
    }
}

impl Drop for Fixture {
    fn drop(&mut self) {
        self.stop.cancel();
        if let Some(serving) = self.serving.take()
            && serving.join().is_err()
            && !std::thread::panicking()
        {
            panic!("the server panicked");
        }
    }
}

#[derive(Debug)]
struct Fake {
    spec: ToolSpec,
    seen: Arc<Seen>,
}

fn spec(name: &str) -> ToolSpec {
    let schema = json!({
        "type": "object",
        "properties": {
            "commands": {"type": "array", "items": {"type": "string"}, "description": "What to run"},
            "edits": {"type": "array", "items": {"type": "string"}, "description": "What to change"},
            "prompts": {"type": "array", "items": {"type": "string"}, "description": "What to ask"},
        },
        "additionalProperties": false,
    });
    let spec = ToolSpec::new(name, "A tool of the tests", schema).with_title(format!("The {name}"));
    match name {
        "gate" => spec.into_core(),
        _ => spec.with_effects(Effects::READ_ONLY),
    }
}

#[async_trait]
impl Tool for Fake {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    async fn call(&self, call: ToolCall, ctx: &ToolContext) -> Result<ToolOutput, ToolError> {
        match self.spec.name.as_str() {
            "gate" => {
                self.edit(&strings(&call.arguments["edits"]), ctx).await?;
                self.gate(&strings(&call.arguments["commands"]), ctx).await
            }
            "secret" => secret(&strings(&call.arguments["prompts"]), ctx).await,
            "wait" => {
                self.seen.waiting.fetch_add(1, Ordering::SeqCst);
                ctx.cancel.cancelled().await;
                self.seen.cancelled.fetch_add(1, Ordering::SeqCst);
                Err(ToolError::new(ToolErrorKind::Cancelled, "the wait was cancelled"))
            }
            "limit" => Ok(ToolOutput::text(format!("{:?}", ctx.wait_limit))),
            _ => {
                ctx.notices.notify(Notice {
                    chat: ctx.chat.clone(),
                    kind: NoticeKind::Exit,
                    source: "t1".into(),
                    sequence: 1,
                    text: "t1 exited with code 0".into(),
                    bytes: None,
                });
                Ok(ToolOutput::text("noted"))
            }
        }
    }
}

impl Fake {
    /// Asks for every edit.
    async fn edit(&self, paths: &[String], ctx: &ToolContext) -> Result<(), ToolError> {
        for path in paths {
            let effect = EditEffect { path: ctx.workspace.root().join(path), preview: "+ more".into() };
            let request = PermissionRequest::new("gate", self.spec.effects, Effect::Edit(effect), ctx);
            ctx.permission.ask(request).await?.check()?;
        }
        Ok(())
    }

    /// Asks for every command, then runs them all.
    async fn gate(&self, commands: &[String], ctx: &ToolContext) -> Result<ToolOutput, ToolError> {
        for command in commands {
            let effect = Effect::Command(CommandEffect {
                command: command.clone(),
                shell: "/bin/sh".into(),
                workdir: ctx.workspace.root().to_owned(),
                kind: CommandKind::Interactive,
                env: Vec::new(),
                search_path: None,
                foreground: None,
            });
            ctx.permission.ask(PermissionRequest::new("gate", self.spec.effects, effect, ctx)).await?.check()?;
        }
        self.seen.ran.lock().unwrap().extend(commands.iter().cloned());
        Ok(ToolOutput::text(format!("ran {}", commands.join(", "))))
    }
}

/// Asks for every secret, then tells how long they are together.
async fn secret(prompts: &[String], ctx: &ToolContext) -> Result<ToolOutput, ToolError> {
    let mut length = 0;
    for prompt in prompts {
        let request = SecretRequest {
            chat: ctx.chat.clone(),
            program: "ssh in session s1".into(),
            prompt: prompt.clone(),
            cancel: ctx.cancel.clone(),
        };
        match ctx.person.secret(request).await {
            SecretAnswer::Given(secret) => length += secret.expose().len(),
            SecretAnswer::Suspended => return Err(ToolError::new(ToolErrorKind::Suspended, "a secret is needed")),
            other => return Ok(ToolOutput::text(format!("{other:?}"))),
        }
    }
    Ok(ToolOutput::text(format!("{length} characters")))
}

fn strings(value: &Value) -> Vec<String> {
    value.as_array().into_iter().flatten().filter_map(Value::as_str).map(str::to_owned).collect()
}
