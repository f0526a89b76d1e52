//! Runs each test in a process of its own, and checks that it leaves nothing.

use std::ffi::OsString;
use std::path::PathBuf;
use std::process::{Command, Stdio as Std};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use process::{
    CommandSpec, Engine, EngineConfig, Input, Output, Owner, Pool, PoolConfig, PtySettings, PtySize, Reason, Session,
    SessionLimits, Since, Start, StartError, State, Stdio, Until,
};

use crate::measure::{Holdings, PATIENCE, assert_back_to, processes_of};

/// Names the test that a process is to run, which is this program again.
const ALONE: &str = "FAULTS_TEST_ALONE";

/// No test takes as long.
const LONGEST: Duration = Duration::from_secs(300);

/// What a test has: an engine, a pool and an owner.
pub(crate) struct Bench {
    pub(crate) engine: Engine,
    pub(crate) pool: Pool,
    pub(crate) owner: Owner,
    pools: Mutex<Vec<Pool>>,
}

/// Runs a test alone with the usual limits.
#[track_caller]
pub(crate) fn alone<F: Future<Output = ()>>(test: impl FnOnce(Shared) -> F) {
    alone_with(config(), test);
}

/// What a test is given: shared, so that it may hand it on.
pub(crate) type Shared = std::sync::Arc<Bench>;

/// Runs a test in a process of its own and checks that it left no descriptor, thread, child, zombie or process.
#[track_caller]
pub(crate) fn alone_with<F: Future<Output = ()>, T: FnOnce(Shared) -> F>(config: PoolConfig, test: T) {
    let name = test_name::<T>();
    if std::env::var(ALONE).is_ok_and(|alone| alone == name) {
        inside(config, test);
    } else {
        outside(&name);
    }
}

/// Runs a test in a process of its own that makes its own engine.
#[track_caller]
pub(crate) fn alone_bare<T: FnOnce()>(test: T) {
    let name = test_name::<T>();
    if std::env::var(ALONE).is_ok_and(|alone| alone == name) {
        warm();
        let before = Holdings::now();
        test();
        assert_back_to(&before, "at the end");
    } else {
        outside(&name);
    }
}

/// The test that a closure stands in, as libtest calls it.
fn test_name<T>() -> String {
    let name = std::any::type_name::<T>();
    let name = name.split_once("::").map_or(name, |(_, name)| name);
    name.split("::{{closure}}").next().unwrap_or_default().to_owned()
}

#[track_caller]
fn outside(name: &str) {
    // One at a time: most of them measure time.
    static ONE: Mutex<()> = Mutex::new(());
    let _one = ONE.lock().unwrap_or_else(PoisonError::into_inner);
    let log = tempfile::tempfile().unwrap();
    let mut command = Command::new(std::env::current_exe().unwrap());
    command
        .args([name, "--exact", "--nocapture", "--test-threads=1"])
        .env(ALONE, name)
        .env("RUST_BACKTRACE", "0")
        .stdin(Std::null());
    command.stdout(log.try_clone().unwrap()).stderr(log.try_clone().unwrap());
    let begin = Instant::now();
    let mut process = command.spawn().unwrap();
    let status = loop {
        if let Some(status) = process.try_wait().unwrap() {
            break Some(status);
        }
        if begin.elapsed() > LONGEST {
            process.kill().unwrap();
            process.wait().unwrap();
            break None;
        }
        std::thread::sleep(Duration::from_millis(5));
    };
    let mut text = String::new();
    let mut log = log;
    std::io::Seek::rewind(&mut log).unwrap();
    std::io::Read::read_to_string(&mut log, &mut text).unwrap();
    let told = text.lines().filter(|line| line.contains("measured: ") || line.contains("skipped: "));
    for line in told {
        println!("{name}: {}", &line[line.find("measured: ").or(line.find("skipped: ")).unwrap_or(0)..]);
    }
    assert!(status.is_some_and(|status| status.success()), "{name}: {status:?}\n{text}");
    assert!(text.contains("1 passed"), "{name} did not run:\n{text}");
    // Its guardians end what it started, however it ended.
    let end = Instant::now() + PATIENCE;
    while !processes_of(process.id()).is_empty() {
        assert!(Instant::now() < end, "{name} left {:?}", processes_of(process.id()));
        std::thread::sleep(Duration::from_millis(5));
    }
}

fn runtime() -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap()
}

/// Does everything once that a process does only once, such as `tokio`'s own descriptors.
fn warm() {
    runtime().block_on(async {
        let engine = Engine::new(EngineConfig::default());
        let pool = engine.pool(config());
        let session = start_in(&pool, &owner("warm"), spec(&["true"])).await.unwrap();
        until_exit(&session).await;
        pool.shutdown().await;
    });
    let end = Instant::now() + PATIENCE;
    while !Holdings::now().children.is_empty() {
        assert!(Instant::now() < end, "{:?}", Holdings::now());
        std::thread::sleep(Duration::from_millis(5));
    }
    // The thread that takes note of the fork server's end may outlive it by a moment.
    std::thread::sleep(Duration::from_millis(20));
}

#[track_caller]
fn inside<F: Future<Output = ()>>(config: PoolConfig, test: impl FnOnce(Shared) -> F) {
    warm();
    let outer = Holdings::now();
    let runtime = runtime();
    runtime.block_on(async {
        let engine = Engine::new(EngineConfig::default());
        let pool = engine.pool(config);
        let bench = Bench { engine, pool, owner: owner("chat"), pools: Mutex::default() };
        let bench = std::sync::Arc::new(bench);
        // The engine's threads and its fork server stay until it ends.
        let warm = start_in(&bench.pool(config), &owner("warm"), spec(&["true"])).await.unwrap();
        until_exit(&warm).await;
        ended(&warm).await;
        let inner = Holdings::now();
        tokio::time::timeout(LONGEST, test(std::sync::Arc::clone(&bench))).await.expect("the test ends");
        let pools: Vec<Pool> = bench.pools.lock().unwrap().drain(..).chain([bench.pool.clone()]).collect();
        for pool in pools {
            pool.shutdown().await;
        }
        assert_back_to(&inner, "after the shutdown of the pools");
    });
    drop(runtime);
    assert_back_to(&outer, "after the end of the engine");
}

/// Waits until nothing of a session is left but its text.
pub(crate) async fn ended(session: &Session) {
    let end = Instant::now() + PATIENCE;
    loop {
        let status = session.status().await;
        if matches!(status.state, State::Exited | State::Signaled) && status.held_by.is_empty() {
            return;
        }
        assert!(Instant::now() < end, "{status:?}");
        tokio::time::sleep(Duration::from_millis(2)).await;
    }
}

pub(crate) fn owner(chat: &str) -> Owner {
    Owner { chat: chat.to_owned(), project: PathBuf::from("/project").join(chat) }
}

pub(crate) fn config() -> PoolConfig {
    PoolConfig { prefix: "s", per_chat: 4, total: 8, finished: 16, session: SessionLimits::default() }
}

/// The limits of a pool that many sessions run in.
pub(crate) fn wide() -> PoolConfig {
    PoolConfig { per_chat: 1000, total: 1000, ..config() }
}

fn environment() -> Vec<(OsString, OsString)> {
    let known = ["PATH", "HOME", "LANG", "TMPDIR"];
    let mut env: Vec<(OsString, OsString)> =
        std::env::vars_os().filter(|(name, _)| known.iter().any(|known| name == known)).collect();
    env.extend([("TERM", "xterm-256color"), ("PAGER", "cat")].map(|(name, value)| (name.into(), value.into())));
    env
}

/// A command on a terminal.
pub(crate) fn spec(argv: &[&str]) -> CommandSpec {
    CommandSpec {
        argv: argv.iter().map(OsString::from).collect(),
        env: environment(),
        workdir: std::env::temp_dir(),
        stdio: Stdio::Pty(PtySize::default(), PtySettings::default()),
        opened: process::Opened::default(),
    }
}

/// A command on a terminal that does not echo.
pub(crate) fn silent(argv: &[&str]) -> CommandSpec {
    let settings = PtySettings { echo: false, ..PtySettings::default() };
    CommandSpec { stdio: Stdio::Pty(PtySize::default(), settings), ..spec(argv) }
}

/// A command with pipes.
pub(crate) fn piped(argv: &[&str]) -> CommandSpec {
    CommandSpec { stdio: Stdio::Pipes(Output::Merged), ..spec(argv) }
}

pub(crate) async fn start_in(pool: &Pool, owner: &Owner, spec: CommandSpec) -> Result<Session, StartError> {
    let command = spec.argv.last().map(|last| last.to_string_lossy().into_owned()).unwrap_or_default();
    pool.start(owner, Start { command, spec, retained_chars: 256_000 }).await
}

impl Bench {
    /// Another pool, which is shut down with the others.
    pub(crate) fn pool(&self, config: PoolConfig) -> Pool {
        let pool = self.engine.pool(config);
        self.pools.lock().unwrap().push(pool.clone());
        pool
    }

    pub(crate) async fn start(&self, spec: CommandSpec) -> Session {
        start_in(&self.pool, &self.owner, spec).await.expect("the command starts")
    }

    /// Starts a script on a terminal.
    pub(crate) async fn sh(&self, script: &str) -> Session {
        self.start(spec(&["sh", "-c", script])).await
    }

    /// Starts a Python program on a terminal.
    pub(crate) async fn python(&self, program: &str) -> Session {
        self.start(spec(&["python3", "-c", program])).await
    }

    /// Starts three busy loops; stopping the session ends them.
    pub(crate) async fn load(&self) -> Session {
        let pool = self.pool(config());
        let script = "for i in 1 2 3; do sh -c 'while :; do :; done' & done; echo loaded; wait";
        let load = start_in(&pool, &owner("load"), piped(&["sh", "-c", script])).await.unwrap();
        until_text(&load, "loaded").await;
        load
    }
}

/// Waits for a text and returns all output up to then.
#[track_caller]
pub(crate) fn until_text(session: &Session, text: &str) -> impl Future<Output = String> {
    let waiter = session.waiter(Until::Text(text.to_owned()), Since::Unread);
    let (session, text) = (session.clone(), text.to_owned());
    let location = std::panic::Location::caller();
    async move {
        let mut seen = session.read(usize::MAX).text;
        let mut waiter = Some(waiter);
        let end = Instant::now() + PATIENCE;
        while !seen.contains(&text) {
            let again = || session.waiter(Until::Text(text.clone()), Since::Unread);
            let reason = waiter.take().unwrap_or_else(again).wait(PATIENCE).await;
            seen.push_str(&session.read(usize::MAX).text);
            // A program that waits for a line may print on all the same.
            let over = reason == Reason::Exit || Instant::now() > end;
            assert!(!over || seen.contains(&text), "{location}: `{text}` did not come ({reason:?}): {seen:?}");
        }
        seen
    }
}

/// Waits for the end and returns all output.
pub(crate) async fn until_exit(session: &Session) -> String {
    let end = Instant::now() + 4 * PATIENCE;
    // What waits for a line is no end.
    while session.waiter(Until::Exit, Since::Unread).wait(PATIENCE).await != Reason::Exit {
        assert!(Instant::now() < end, "{}: {:?}", session.command(), session.status().await);
    }
    session.read(usize::MAX).text
}

pub(crate) async fn type_text(session: &Session, text: &str) {
    session.write(&Input::new().text(text), PATIENCE).await.expect("the input is taken");
}

/// The numbers a script printed as `name=NUMBER`.
pub(crate) fn numbers(text: &str, name: &str) -> Vec<i32> {
    let prefix = format!("{name}=");
    text.split_whitespace().filter_map(|word| word.strip_prefix(&prefix)?.parse().ok()).collect()
}

/// The exit code of a session that has ended.
pub(crate) async fn code(session: &Session) -> Option<i32> {
    session.status().await.exit_code
}
