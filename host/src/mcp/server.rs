//! The tools of a host as an MCP server, for both eras of the protocol.

use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::AtomicUsize;
use std::task::{Context, Poll};
use std::time::Duration;

use policy::Approver;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, ClientCapabilities, Implementation, InitializeRequestParams,
    InitializeResult, ListToolsResult, PaginatedRequestParams, ProtocolVersion, ServerCapabilities, ServerConfig, Tool,
};
use rmcp::service::{RequestContext, RoleServer};
use rmcp::{ErrorData, ServerHandler};
use serde_json::Value;
use tokio::runtime::Handle;
use tool_api::{ToolCall, ToolErrorKind};

use super::ask::{Ask, Asked, Way};
use super::rounds::{Rounds, call_identity};
use super::{Config, clients, progress, render};
use crate::{CallOptions, Chat, Host, Registry};

/// Where hosts cut the instructions of a server, in bytes.
const MAX_INSTRUCTIONS: usize = 2_048;

/// One connection: a chat of the host, reached over MCP.
#[derive(Debug)]
pub(crate) struct Server {
    host: Arc<Host>,
    chat: Arc<Chat>,
    config: Config,
    info: ServerConfig,
    tools: Vec<Tool>,
    rounds: Rounds,
    /// Where the tasks and the I/O of tools live.
    tool_runtime: Handle,
}

impl Server {
    pub(crate) fn new(host: Arc<Host>, chat: Arc<Chat>, config: Config, rounds: Rounds, tool_runtime: Handle) -> Self {
        let mut info = ServerConfig::new(ServerCapabilities::builder().enable_tools().build());
        info.server_info = Implementation::new("toolhost", env!("CARGO_PKG_VERSION"));
        info.instructions = Some(instructions(host.registry()));
        let tools = host.registry().specs().map(render::tool).collect();
        Self { host, chat, config, info, tools, rounds, tool_runtime }
    }

    /// Prepares how the client can be asked during one call.
    fn way(
        &self,
        identity: Option<&[u8]>,
        params: &mut CallToolRequestParams,
        context: &RequestContext<RoleServer>,
    ) -> Result<Way, ErrorData> {
        let able = takes_forms(context.client_capabilities().as_ref());
        let Some(identity) = identity else {
            return Ok(if able { Way::Request(context.peer.clone()) } else { Way::Unable });
        };
        let (state, responses) = (params.request_state.take(), params.input_responses.take());
        let round = self
            .rounds
            .begin(identity, state.as_deref(), responses)
            .map_err(|problem| ErrorData::invalid_params(problem, None))?;
        Ok(if able { Way::Round(round) } else { Way::Unable })
    }

    fn wait_limit(&self, context: &RequestContext<RoleServer>) -> Option<Duration> {
        Some(match self.config.wait_limit_ms {
            Some(ms) => Duration::from_millis(ms),
            None => clients::wait_limit(context.client_info().as_ref().map(|info| info.name.as_str())),
        })
    }
}

impl ServerHandler for Server {
    fn get_info(&self) -> ServerConfig {
        self.info.clone()
    }

    async fn initialize(
        &self,
        request: InitializeRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<InitializeResult, ErrorData> {
        let result = self.negotiate_initialize(&request)?;
        // What counts from now on is what was agreed, not what was asked for.
        let mut agreed = request;
        agreed.protocol_version = result.protocol_version.clone();
        context.peer.set_peer_info(agreed);
        Ok(result)
    }

    async fn list_tools(
        &self,
        request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        if request.is_some_and(|request| request.cursor.is_some()) {
            return Err(ErrorData::invalid_params("the list has one page, this cursor is not from it", None));
        }
        Ok(ListToolsResult::with_all_items(self.tools.clone()))
    }

    fn get_tool(&self, name: &str) -> Option<Tool> {
        self.tools.iter().find(|tool| tool.name == name).cloned()
    }

    async fn call_tool(
        &self,
        mut params: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let Some(spec) = self.host.registry().spec(&params.name) else {
            let names: Vec<&str> = self.tools.iter().map(|tool| &*tool.name).collect();
            let problem = format!("no tool is named `{}`; the tools are {}", params.name, names.join(", "));
            let problem = self.host.mask().mask("", &problem, "").into_owned();
            return Err(ErrorData::invalid_params(problem, None));
        };
        let modern = context.protocol_version().is_some_and(|version| version >= ProtocolVersion::V_2026_07_28);
        let identity = modern.then(|| call_identity(&params.name, params.arguments.as_ref()));
        let ask = Arc::new(Ask {
            way: self.way(identity.as_deref(), &mut params, &context)?,
            patience: Duration::from_millis(self.config.answer_timeout_ms),
            without: self.config.without_elicitation,
            secrets: self.config.secrets,
            open: AtomicUsize::new(0),
        });
        let asked = Arc::new(Asked(Arc::clone(&ask)));
        let approver: Arc<dyn Approver> = asked.clone();
        let options = CallOptions::new()
            .with_approver(approver)
            .with_person(asked)
            .with_cancel(context.ct.clone())
            .with_wait_limit(self.wait_limit(&context));
        let call = ToolCall::new(params.name, Value::Object(params.arguments.unwrap_or_default()));
        let running = self.host.call(&self.chat, call, options);
        let running = Within { runtime: &self.tool_runtime, inner: Box::pin(running) };
        let result = match context.meta.get_progress_token() {
            None => running.await,
            Some(token) => {
                let every = Duration::from_millis(self.config.progress_ms);
                tokio::select! {
                    biased;
                    result = running => result,
                    () = progress::tell(&context.peer, token, &spec.title, &ask, every) => unreachable!("it never ends"),
                }
            }
        };
        if let (Err(error), Some(identity), Way::Round(round)) = (&result, &identity, &ask.way)
            && error.kind() == ToolErrorKind::Suspended
            && let Some(required) = self.rounds.suspend(identity, round)
        {
            return Ok(CallToolResponse::InputRequired(required));
        }
        // The answer of a cancelled call is dropped, and notices must not be lost with it.
        let notices = if context.ct.is_cancelled() { None } else { self.host.inbox().take(self.chat.id()).text() };
        Ok(CallToolResponse::Complete(render::result(result, notices)))
    }
}

/// Polls a future on this thread inside another runtime, whose workers get what it spawns.
///
/// A call that only computes never leaves the thread of the connection, and the readers of a flooding command never
/// delay it.
struct Within<'a, F> {
    runtime: &'a Handle,
    inner: Pin<Box<F>>,
}

impl<F: Future> Future for Within<'_, F> {
    type Output = F::Output;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let _inside = self.runtime.enter();
        self.inner.as_mut().poll(cx)
    }
}

/// A client that declares elicitation without a mode means forms: the modes came later than elicitation.
fn takes_forms(capabilities: Option<&ClientCapabilities>) -> bool {
    capabilities
        .and_then(|capabilities| capabilities.elicitation.as_ref())
        .is_some_and(|elicitation| elicitation.form.is_some() || elicitation.url.is_none())
}

/// What a model reads before it has seen any tool.
fn instructions(registry: &Registry) -> String {
    let mut text = String::from(
        "toolhost runs programs on this machine. Look for its tools when a program needs a terminal or input while it \
         runs (a REPL, a debugger, an installer that asks, a full-screen program), when a command runs longer than \
         one call, or when you have to wait.\n\
         What a call does may need the person's approval; a denied call has done nothing. A result with the reason \
         `limit` came back early because this client waits no longer: call again to go on waiting.\n\
         Tools:",
    );
    for spec in registry.specs() {
        let line = format!("\n- {}: {}", spec.name, spec.title);
        if text.len() + line.len() > MAX_INSTRUCTIONS {
            break;
        }
        text.push_str(&line);
    }
    text
}
