//! One engine a test, which ends with it.

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use process::pty::{PtySettings, PtySize};
use process::{
    CommandSpec, Engine, EngineConfig, Input, Owner, Pool, PoolConfig, Reason, Session, SessionLimits, Since, Start,
    Stdio, Until, WaitingFor,
};

/// Long enough for a loaded machine; a test that passes never waits for it.
pub(crate) const PATIENCE: Duration = Duration::from_secs(30);

pub(crate) struct Bench {
    /// Held: a pool starts nothing without its engine.
    pub(crate) engine: Engine,
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
    bench_of(Engine::new(EngineConfig::default()), config)
}

/// Everything runs on the thread of the test, so that nothing does while the test computes.
pub(crate) fn bench_on_this_thread() -> Bench {
    bench_of(Engine::on(tokio::runtime::Handle::current(), EngineConfig::default()), config())
}

fn bench_of(engine: Engine, config: PoolConfig) -> Bench {
    let pool = engine.pool(config);
    Bench { engine, pool, owner: Owner { chat: "chat".to_owned(), project: PathBuf::from("/") } }
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
        opened: process::Opened::default(),
    }
}

impl Bench {
    pub(crate) async fn start(&self, command: &str) -> Session {
        self.start_argv(command, &["sh", "-c", command]).await
    }

    pub(crate) async fn start_argv(&self, command: &str, argv: &[&str]) -> Session {
        self.start_spec(command, spec(argv)).await
    }

    pub(crate) async fn start_spec(&self, command: &str, spec: CommandSpec) -> Session {
        let start = Start { command: command.to_owned(), spec, retained_chars: 2_000_000 };
        self.pool.start(&self.owner, start).await.expect("the command starts")
    }

    pub(crate) async fn python(&self, program: &str) -> Session {
        self.start_argv("python3", &["python3", "-c", program]).await
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

/// Waits until the program is blocked on this: what is typed and signalled before that may meet it between two calls.
pub(crate) async fn wants(session: &Session, what: WaitingFor) {
    let begin = Instant::now();
    while session.status().await.waiting_for != Some(what) {
        assert!(begin.elapsed() < PATIENCE, "{:?}", session.status().await);
        tokio::time::sleep(Duration::from_millis(2)).await;
    }
}

/// Waits until a program is in the foreground.
pub(crate) async fn runs(session: &Session, program: &str) {
    let begin = Instant::now();
    while session.status().await.foreground.as_deref() != Some(program) {
        assert!(begin.elapsed() < PATIENCE, "{:?}", session.status().await);
        tokio::time::sleep(Duration::from_millis(2)).await;
    }
}
