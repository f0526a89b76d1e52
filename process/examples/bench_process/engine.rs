//! The engine as a host sets it up, with limits that do not get in the way.

use std::ffi::OsString;
use std::time::Duration;

use process::pty::{PtySettings, PtySize};
use process::{CommandSpec, Engine, EngineConfig, Owner, Pool, PoolConfig, Session, SessionLimits, Start, Stdio};

use crate::Result;

/// Longer than anything here takes.
pub(crate) const PATIENCE: Duration = Duration::from_secs(300);

/// Clean characters that each session retains, as by default.
pub(crate) const RETAINED: usize = 256_000;

/// One engine, one pool, and the runtime that calls them.
pub(crate) struct Bench {
    runtime: tokio::runtime::Runtime,
    /// Held: a pool starts nothing without its engine.
    _engine: Engine,
    pool: Pool,
    owner: Owner,
}

impl Bench {
    /// An engine with threads of its own, as the host has it.
    pub(crate) fn new() -> Result<Self> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        Ok(Self::with(Engine::new(EngineConfig::default()), runtime))
    }

    /// An engine that runs on the thread of its caller.
    pub(crate) fn on_one_thread() -> Result<Self> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        Ok(Self::with(Engine::on(runtime.handle().clone(), EngineConfig::default()), runtime))
    }

    fn with(engine: Engine, runtime: tokio::runtime::Runtime) -> Self {
        let session = SessionLimits::default();
        let pool = engine.pool(PoolConfig { prefix: "b", per_chat: 1_000, total: 1_000, finished: 1_000, session });
        let owner = Owner { chat: "bench".to_owned(), project: "/".into() };
        Self { runtime, _engine: engine, pool, owner }
    }

    pub(crate) fn block_on<T>(&self, future: impl Future<Output = T>) -> T {
        self.runtime.block_on(future)
    }

    pub(crate) async fn start(&self, argv: &[&str], settings: PtySettings) -> Result<Session> {
        let spec = CommandSpec {
            argv: argv.iter().map(OsString::from).collect(),
            env: std::env::vars_os().collect(),
            workdir: "/".into(),
            stdio: Stdio::Pty(PtySize::default(), settings),
            opened: process::Opened::default(),
        };
        let start = Start { command: argv.join(" "), spec, retained_chars: RETAINED };
        Ok(self.pool.start(&self.owner, start).await?)
    }

    /// Ends all sessions and forgets them.
    pub(crate) fn end_all(&self) {
        self.runtime.block_on(self.pool.end_chat(&self.owner.chat));
    }
}

impl Drop for Bench {
    fn drop(&mut self) {
        self.end_all();
    }
}
