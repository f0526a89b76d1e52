//! The tool on the bus: parse, ask, act, render.

use std::ffi::OsStr;
use std::time::{Duration, Instant};

use async_trait::async_trait;
use process::screen::Size;
use process::{
    EndedBecause, Engine, Input, Owner, Pool, PoolConfig, PtySize, Session, SessionLimits, Signal, Since, Until,
};
use tool_api::{
    ChatId, CommandEffect, CommandKind, Effect, PermissionRequest, Scope, Tool, ToolCall, ToolContext, ToolError,
    ToolErrorKind, ToolOutput, ToolSpec,
};

use crate::config::{Config, ConfigError};
use crate::error;
use crate::params::View;
use crate::render::{Outcome, Reason, Survivor};
use crate::report::{Take, entry, outcome};
use crate::request::{Request, Start, Wait, WaitUntil};
use crate::schema;
use crate::secret::{Answer, Prompts, Typed};
use crate::start;
use crate::wait::{Waiting, unless_cancelled, until, wait_for};

/// How long `signal` waits to see its effect.
const EFFECT_OF_SIGNAL: Duration = Duration::from_millis(100);

/// The tool `shell_session`. Owns the sessions that its calls started, and starts nothing by itself.
///
/// ```
/// use process::{Engine, EngineConfig};
/// use tool_api::{Tool, ToolCall, ToolContext};
/// use tool_shell_session::{Config, ShellSession};
///
/// // The first line of a host's `main`.
/// process::run_if_requested();
///
/// let tool = ShellSession::new(Engine::new(EngineConfig::default()), Config::default()).unwrap();
/// # tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(async {
/// let call = ToolCall::new("shell_session", serde_json::json!({"action": "list"}));
/// let output = tool.call(call, &ToolContext::deny_all("chat-1", "/srv/project")).await.unwrap();
/// assert_eq!(output.as_text(), "no sessions; `start` makes one");
/// # });
/// ```
///
/// # Questions
/// A read of a session that waits for a secret asks the person for it. The question is no wait, just as one for
/// permission is not: neither `waitMs` nor the caller's wait limit bounds it, but the front's own limit for an answer.
/// It is withdrawn when the call is cancelled, when the session ends, and when the program no longer asks so; an answer
/// that comes after that is typed nowhere.
///
/// # Cancellation
/// A start, write or read that is cancelled or dropped leaves its session running and listed, and what it printed
/// unread; a start that is cancelled before the process runs leaves nothing. A kill goes on to its end.
#[derive(Debug)]
pub struct ShellSession {
    spec: ToolSpec,
    config: Config,
    pool: Pool,
    prompts: Prompts,
    #[expect(dead_code, reason = "a pool works as long as its engine is held")]
    engine: Engine,
}

impl ShellSession {
    /// Makes the tool; its sessions run in `engine`.
    ///
    /// # Errors
    /// The first value of `config` that makes no sense.
    pub fn new(engine: Engine, config: Config) -> Result<Self, ConfigError> {
        config.validate()?;
        let pool = engine.pool(PoolConfig {
            prefix: "s",
            per_chat: config.per_chat,
            total: config.total,
            finished: config.finished,
            session: SessionLimits {
                idle: Duration::from_millis(config.idle_ms),
                lifetime: Duration::from_millis(config.lifetime_ms),
                grace: Duration::from_millis(config.grace_ms),
                quiet: Duration::from_millis(config.quiet_ms),
            },
        });
        Ok(Self { spec: schema::spec(&config), config, pool, prompts: Prompts::default(), engine })
    }

    async fn start(&self, start: Start, ctx: &ToolContext) -> Result<Outcome, ToolError> {
        let Start { command, workdir, env, cols, rows, wait } = start;
        let workdir = ctx.workspace.root().join(workdir.unwrap_or_default());
        let environment = start::environment(ctx.shell_env.environment(&ctx.chat, &workdir), &env);
        let shell = start::shell(self.config.shell.as_deref(), &environment);
        let effect = Effect::Command(CommandEffect {
            command: command.clone(),
            shell: shell.clone(),
            workdir: workdir.clone(),
            kind: CommandKind::Interactive,
            env: env.into_iter().collect(),
            search_path: environment.get(OsStr::new("PATH")).cloned(),
            foreground: None,
        });
        let request = PermissionRequest::new(schema::NAME, schema::EFFECTS, effect, ctx);
        let grant = unless_cancelled(ctx, ctx.permission.ask(request)).await.ok_or_else(error::nothing_done)??;
        let size = PtySize { cols, rows };
        let spec = start::spec(&shell, &command, workdir.clone(), environment, size, &grant)
            .map_err(|error| error::workdir(&workdir, &error))?;
        grant.check()?;
        // The time that a person took to approve is not the program's.
        let begin = Instant::now();
        let start = process::Start { command, spec, retained_chars: self.config.retained_chars };
        let session = self.pool.start(&owner(ctx), start).await.map_err(error::start)?;
        if let Err(changed) = grant.check_started() {
            let left = session.stop(EndedBecause::Killed).await.survivors.len();
            return Err(error::changed(session.id(), &changed, left));
        }
        // What it holds open is not held while the call waits.
        drop(grant);
        let waiter = session.waiter(until(&wait), Since::Start);
        let waiting = Waiting { ctx, session: &session, wait, begin, typed: None };
        Ok(waiting.finish(waiter, Take::Text(self.config.max_chars)).await)
    }

    async fn write(&self, session: Session, input: Input, wait: Wait, ctx: &ToolContext) -> Answered {
        let begin = Instant::now();
        let waiter = session.waiter(until(&wait), Since::Now);
        self.prompts.forget(session.id());
        match unless_cancelled(ctx, session.write(&input, self.write_deadline(ctx))).await {
            Some(Ok(())) => {}
            Some(Err(error)) => return Err(error::write(&session, error).await),
            None => {
                let mut outcome = outcome(ctx, &session, Reason::Cancelled, Take::Nothing).await;
                outcome.waiting_for = None;
                outcome.notes.done = Some("cancelled while typing: a part of the input may be typed".to_owned());
                return Ok(outcome);
            }
        }
        let waiting = Waiting { ctx, session: &session, wait, begin, typed: Some(Instant::now()) };
        Ok(waiting.finish(waiter, Take::Text(self.config.max_chars)).await)
    }

    async fn read(&self, session: Session, take: Take, mut wait: Wait, ctx: &ToolContext) -> Answered {
        let mut waiter = session.waiter(until(&wait), Since::Unread);
        let (mut note, mut typed, mut is_open) = (None, None, false);
        let answer = self.prompts.ask(&session, ctx).await?;
        // The time that a person took to answer is not the program's, and no wait of the caller's.
        let begin = Instant::now();
        match answer {
            Answer::NotAsked => {}
            Answer::Cancelled => return Ok(outcome(ctx, &session, Reason::Cancelled, Take::Nothing).await),
            Answer::Withdrawn(text) => note = Some(text),
            Answer::Note(text) => (note, is_open) = (Some(text), true),
            Answer::Given(given) => {
                let answered = session.waiter(until(&wait), Since::Now);
                let what = unless_cancelled(ctx, given.type_into(&session, self.write_deadline(ctx))).await;
                note = Some(match what {
                    None => return Ok(outcome(ctx, &session, Reason::Cancelled, Take::Nothing).await),
                    Some(Typed::Whole) => {
                        (waiter, typed) = (answered, Some(Instant::now()));
                        if !wait.explicit {
                            // What the program prints to the secret is what this read is for.
                            wait.time = wait.time.max(Duration::from_millis(self.config.write_wait_ms));
                        }
                        "the person gave the secret, and it was typed".to_owned()
                    }
                    Some(Typed::Late(note)) => note,
                    Some(Typed::Unusable(note)) => {
                        // The program waits for another one, which only another read asks for.
                        wait = Wait { until: WaitUntil::Quiet, time: Duration::ZERO, ..wait };
                        waiter = session.waiter(Until::Quiet, Since::Unread);
                        is_open = true;
                        note
                    }
                });
            }
        }
        let waiting = Waiting { ctx, session: &session, wait, begin, typed };
        let mut outcome = waiting.finish(waiter, take).await;
        outcome.notes.secret = note;
        outcome.notes.secret_is_open = is_open;
        Ok(outcome)
    }

    async fn signal(&self, session: Session, name: &str, ctx: &ToolContext) -> Answered {
        let signal: Signal = name.parse().map_err(|error| error::signal_name(&error))?;
        self.prompts.forget(session.id());
        let effect = session.waiter(Until::Exit, Since::Now);
        let who = match session.signal(signal) {
            Ok(who) => who,
            Err(error) => return Err(error::signal(&session, error).await),
        };
        let (reason, _) = wait_for(ctx, Instant::now(), effect, EFFECT_OF_SIGNAL, Take::Nothing).await;
        let mut outcome = outcome(ctx, &session, reason, Take::Nothing).await;
        outcome.notes.unwaited = true;
        let program = who.program.as_deref().unwrap_or("the foreground program");
        outcome.notes.done = Some(format!("sent {signal} to {program}, process group {}", who.group));
        Ok(outcome)
    }

    async fn kill(&self, session: Session, ctx: &ToolContext) -> Answered {
        self.prompts.forget(session.id());
        let stop = unless_cancelled(ctx, session.stop(EndedBecause::Killed)).await;
        let Some(report) = stop else {
            let message = format!("cancelled while `{}` was being stopped; the stop goes on", session.id());
            return Err(ToolError::new(ToolErrorKind::Cancelled, message).with_hint("action `list` shows its end"));
        };
        let mut outcome = outcome(ctx, &session, Reason::Exit, Take::Nothing).await;
        let left = if report.survivors.is_empty() { ", nothing of its process tree is left" } else { "" };
        outcome.notes.done = Some(match report.found {
            0 => format!("it had ended before{left}"),
            1 => format!("stopped 1 process{left}"),
            found => format!("stopped {found} processes{left}"),
        });
        outcome.stopped = Some(report.found as u64);
        outcome.survivors = Some(report.survivors.into_iter().map(Survivor::from).collect());
        Ok(outcome)
    }

    async fn list(&self, ctx: &ToolContext) -> Outcome {
        let mut sessions = Vec::new();
        for session in self.pool.list(&owner(ctx)) {
            sessions.push(entry(&session).await);
        }
        Outcome { sessions: Some(sessions), ..Outcome::default() }
    }

    fn find(&self, id: &str, ctx: &ToolContext) -> Result<Session, ToolError> {
        self.pool.get(&owner(ctx), id).map_err(|_| error::unknown_id(id))
    }

    fn write_deadline(&self, ctx: &ToolContext) -> Duration {
        let deadline = Duration::from_millis(self.config.write_deadline_ms);
        ctx.wait_limit.map_or(deadline, |limit| deadline.min(limit))
    }
}

type Answered = Result<Outcome, ToolError>;

#[async_trait]
impl Tool for ShellSession {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    async fn call(&self, call: ToolCall, ctx: &ToolContext) -> Result<ToolOutput, ToolError> {
        let outcome = match Request::parse(call.arguments, &self.config)? {
            Request::Start(start) => self.start(start, ctx).await?,
            Request::Write { id, input, keys, wait } => {
                let session = self.find(&id, ctx)?;
                let typed = keys.into_iter().fold(Input::new().text(input), Input::key);
                self.write(session, typed, wait, ctx).await?
            }
            Request::Read { id, view, max_chars, wait } => {
                let take = match view {
                    View::Text => Take::Text(max_chars),
                    View::Screen => Take::Screen,
                };
                self.read(self.find(&id, ctx)?, take, wait, ctx).await?
            }
            Request::Resize { id, cols, rows } => {
                let session = self.find(&id, ctx)?;
                if !session.is_running() || session.resize(Size { cols, rows }).is_err() {
                    return Err(error::ended(&session, "nothing was resized").await);
                }
                let mut outcome = outcome(ctx, &session, Reason::Deadline, Take::Nothing).await;
                outcome.notes.unwaited = true;
                outcome.notes.done = Some(format!("the terminal now has {cols} columns and {rows} rows"));
                outcome
            }
            Request::Signal { id, signal } => self.signal(self.find(&id, ctx)?, &signal, ctx).await?,
            Request::Kill { id } => self.kill(self.find(&id, ctx)?, ctx).await?,
            Request::List => self.list(ctx).await,
        };
        Ok(outcome.into_output())
    }

    async fn end(&self, scope: &Scope) {
        match scope {
            Scope::Chat(chat) => self.pool.end_chat(chat.as_str()).await,
            Scope::Project(workspace) => self.pool.end_project(workspace.root()).await,
            Scope::Host => self.pool.shutdown().await,
            _ => {}
        }
    }

    fn is_busy(&self, chat: &ChatId) -> bool {
        self.pool.running(chat.as_str()) > 0
    }
}

fn owner(ctx: &ToolContext) -> Owner {
    Owner { chat: ctx.chat.as_str().to_owned(), project: ctx.workspace.root().to_path_buf() }
}
