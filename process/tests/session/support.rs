//! One engine a test, which ends with it.

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use process::pty::{PtySettings, PtySize};
use process::{
    CommandSpec, Engine, EngineConfig, Input, Owner, Pool, PoolConfig, Reason, Session, SessionLimits, Since, Start,
    Stdio, Until,
};

/// Long enough for a loaded machine; a test that passes never waits for it.
pub(crate) const PATIENCE: Duration = Duration::from_secs(30);

pub(crate) struct Bench {
    /// Held: a pool starts nothing without its engine.
    _engine: Engine,
    pub(crate) pool: Pool,
    pub(crate) owner: Owner,
}

pub(crate) fn config() -> PoolConfig {
    PoolConfig { prefix: "s", per_chat: 4, total: 8, finished: 16, session: SessionLimits::default() }
}

pub(crate) fn bench() -> Bench {
    bench_with(config())
}

pub(crate) fn bench_with(config: PoolConfig) -> Bench {
    let engine = Engine::new(EngineConfig::default());
    let pool = engine.pool(config);
    Bench { _engine: engine, pool, owner: Owner { chat: "chat".to_owned(), project: PathBuf::from("/") } }
}

pub(crate) fn environment() -> Vec<(OsString, OsString)> {
    let mut env: Vec<(OsString, OsString)> =
        std::env::vars_os().filter(|(name, _)| ["PATH", "HOME", "LANG"].iter().any(|known| name == known)).collect();
    env.push(("TERM".into(), "xterm-256color".into()));
    env.push(("PAGER".into(), "cat".into()));
    env
}

pub(crate) fn spec(argv: &[&str]) -> CommandSpec {
    CommandSpec {
        argv: argv.iter().map(OsString::from).collect(),
        env: environment(),
        workdir: std::env::temp_dir(),
        stdio: Stdio::Pty(PtySize::default(), PtySettings::default()),
    }
}

impl Bench {
    pub(crate) async fn start(&self, command: &str) -> Session {
        self.start_argv(command, &["sh", "-c", command]).await
    }

    pub(crate) async fn start_argv(&self, command: &str, argv: &[&str]) -> Session {
        let start = Start { command: command.to_owned(), spec: spec(argv), retained_chars: 256_000 };
        self.pool.start(&self.owner, start).await.expect("the command starts")
    }
}

/// Waits for a text and returns all output up to then.
#[track_caller]
pub(crate) fn until_text(session: &Session, text: &str) -> impl Future<Output = String> {
    let waiter = session.waiter(Until::Text(text.to_owned()), Since::Unread);
    let (session, text) = (session.clone(), text.to_owned());
    async move {
        let mut seen = session.read(usize::MAX).text;
        if seen.contains(&text) {
            return seen;
        }
        let reason = waiter.wait(PATIENCE).await;
        seen.push_str(&session.read(usize::MAX).text);
        assert!(seen.contains(&text), "`{text}` did not come ({reason:?}): {seen:?}");
        seen
    }
}

/// Waits for the end and returns all output.
pub(crate) async fn until_exit(session: &Session) -> String {
    let waiter = session.waiter(Until::Exit, Since::Unread);
    assert_eq!(waiter.wait(PATIENCE).await, Reason::Exit);
    session.read(usize::MAX).text
}

pub(crate) async fn type_text(session: &Session, text: &str) {
    session.write(&Input::new().text(text), PATIENCE).await.expect("the input is taken");
}
