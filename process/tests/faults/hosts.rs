//! Hosts that tests kill or starve: this test binary, with a name in its environment.

use std::io::{BufRead, BufReader, Read, Write};
use std::process::{Child, ChildStdout, Command, ExitStatus, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use process::{EndedBecause, Engine, EngineConfig, Reason, Session, Since, SpawnErrorKind, StartError, State, Until};

use crate::harness::{numbers, owner, piped, silent, spec, start_in, type_text, until_text, wide};
use crate::measure::{Holdings, PATIENCE};
use crate::shapes::ESCAPEES;

const NAME: &str = "FAULTS_TEST_HOST";

/// Runs the host that this process was started as, and does not return then.
pub(crate) fn run_if_named() {
    let Ok(name) = std::env::var(NAME) else { return };
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    match name.as_str() {
        "doomed" => runtime.block_on(doomed()),
        "storm" => runtime.block_on(storm()),
        "full" => runtime.block_on(full(&arguments[0])),
        "clock" => runtime.block_on(clock(&arguments[0])),
        other => panic!("there is no host {other}"),
    }
    std::process::exit(0);
}

/// A running host.
pub(crate) struct Host {
    process: Child,
    lines: BufReader<ChildStdout>,
}

impl Host {
    /// Starts a host through other programs, such as `sh -c 'ulimit -n 40; exec "$@"'`.
    pub(crate) fn start(name: &str, wrapper: &[&str], arguments: &[&str]) -> Self {
        Self::start_with(name, wrapper, arguments, &[])
    }

    /// The same with more in its environment.
    pub(crate) fn start_with(name: &str, wrapper: &[&str], arguments: &[&str], env: &[(&str, &str)]) -> Self {
        let own = std::env::current_exe().unwrap();
        let words: Vec<&str> = wrapper.iter().copied().chain([own.to_str().unwrap()]).collect();
        Self::run(name, &words, arguments, env)
    }

    /// Starts a copy of this program, which ends `words`, as host.
    pub(crate) fn through(name: &str, words: &[&str], arguments: &[&str]) -> Self {
        Self::run(name, words, arguments, &[])
    }

    fn run(name: &str, words: &[&str], arguments: &[&str], env: &[(&str, &str)]) -> Self {
        let mut command = Command::new(words[0]);
        command.args(&words[1..]).args(arguments).env(NAME, name).envs(env.iter().copied());
        let mut process = command.stdin(Stdio::null()).stdout(Stdio::piped()).spawn().unwrap();
        let lines = BufReader::new(process.stdout.take().unwrap());
        Self { process, lines }
    }

    pub(crate) fn pid(&self) -> u32 {
        self.process.id()
    }

    /// Reads its lines up to this one.
    pub(crate) fn lines_until(&mut self, last: &str) -> Vec<String> {
        let mut lines = Vec::new();
        loop {
            let mut line = String::new();
            assert!(self.lines.read_line(&mut line).unwrap() > 0, "the host ended after {lines:?}");
            match line.trim_end() {
                line if line == last => return lines,
                line => lines.push(line.to_owned()),
            }
        }
    }

    /// Ends it as nothing can prepare for.
    pub(crate) fn kill(&mut self) {
        self.process.kill().unwrap();
        self.process.wait().unwrap();
    }

    /// All its lines and how it ended.
    pub(crate) fn finish(&mut self) -> (Vec<String>, ExitStatus) {
        let lines = self.lines.by_ref().lines().map(Result::unwrap).collect();
        (lines, self.process.wait().unwrap())
    }
}

impl Drop for Host {
    fn drop(&mut self) {
        // Of one that has ended already there is nothing to kill.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// Says a line at once.
fn say(line: impl std::fmt::Display) {
    println!("{line}");
    std::io::stdout().flush().unwrap();
}

/// Three terminals with eight escapees each, and a background command; then waits to be killed.
async fn doomed() {
    let engine = Engine::new(EngineConfig::default());
    let pool = engine.pool(wide());
    for _ in 0..3 {
        let session = start_in(&pool, &owner("chat"), spec(&["sh", "-c", ESCAPEES])).await.unwrap();
        let text = until_text(&session, "ready").await;
        numbers(&text, "p").iter().for_each(|pid| say(format!("p={pid}")));
    }
    let task = start_in(&pool, &owner("chat"), piped(&["sh", "-c", "echo p=$$; exec sleep 999"])).await.unwrap();
    say(until_text(&task, "\n").await.trim());
    say("ready");
    std::future::pending::<()>().await;
}

/// Short sessions one after the other, eight at a time, until it is killed; `ready` after a hundred.
async fn storm() {
    let engine = Engine::new(EngineConfig::default());
    let pool = engine.pool(wide());
    let count = Arc::new(std::sync::atomic::AtomicUsize::new(0));
    for worker in 0..8 {
        let (pool, count) = (pool.clone(), Arc::clone(&count));
        tokio::spawn(async move {
            loop {
                let script = "sleep 5 & setsid sleep 6 & head -c 5000 /dev/zero | tr '\\0' x; exit 7";
                let chat = owner(&format!("worker {worker}"));
                let session = start_in(&pool, &chat, spec(&["sh", "-c", script])).await.unwrap();
                assert_eq!(session.waiter(Until::Exit, Since::Unread).wait(PATIENCE).await, Reason::Exit);
                if count.fetch_add(1, std::sync::atomic::Ordering::Relaxed) == 100 {
                    say("ready");
                }
                session.stop(EndedBecause::Killed).await;
            }
        });
    }
    std::future::pending::<()>().await;
}

/// Opens sessions until the machine refuses one.
async fn full(kind: &str) {
    let kind = match kind {
        "descriptors" => SpawnErrorKind::Descriptors,
        "terminals" => SpawnErrorKind::Terminals,
        "processes" => SpawnErrorKind::Processes,
        other => panic!("{other}"),
    };
    let engine = Engine::new(EngineConfig::default());
    let pool = engine.pool(wide());
    let chat = owner("chat");
    // One process each, which says what it hears.
    let start = || start_in(&pool, &chat, silent(&["cat"]));
    let mut sessions = Vec::new();
    let error = loop {
        match start().await {
            Ok(session) => sessions.push(session),
            Err(error) => break error,
        }
        assert!(sessions.len() < 100, "nothing is refused");
    };
    let StartError::Spawn(spawn) = &error else { panic!("{error}") };
    assert_eq!(spawn.kind(), kind, "{spawn}");
    say(format!("refused after {}: {spawn}", sessions.len()));
    assert!(!sessions.is_empty());
    // Nothing of the refused one is left.
    let before = Holdings::now();
    if let Ok(session) = start().await {
        // What the refused one gave back may be enough for it.
        assert_eq!(kind, SpawnErrorKind::Processes);
        sessions.push(session);
    }
    let begin = Instant::now();
    while Holdings::now().descriptors.len() > before.descriptors.len() && kind != SpawnErrorKind::Processes {
        assert!(begin.elapsed() < PATIENCE, "{:?}, before {before:?}", Holdings::now());
        tokio::time::sleep(Duration::from_millis(2)).await;
    }
    let running: Vec<Session> = pool.list(&chat).into_iter().filter(Session::is_running).collect();
    assert_eq!(running.len(), sessions.len());
    for (number, session) in sessions.iter().enumerate() {
        echoes(session, &format!("old{number}\n")).await;
    }
    let last = sessions.pop().unwrap();
    let report = last.stop(EndedBecause::Killed).await;
    assert_eq!(report.survivors, []);
    let again = start().await.unwrap_or_else(|error| panic!("after one has ended: {error}"));
    echoes(&again, "new\n").await;
    for session in sessions.iter().chain([&again]) {
        echoes(session, "still\n").await;
    }
    pool.shutdown().await;
    say("end");
}

async fn echoes(session: &Session, line: &str) {
    let waiter = session.waiter(Until::Text(line.to_owned()), Since::Unread);
    type_text(session, line).await;
    assert_eq!(waiter.wait(PATIENCE).await, Reason::Text, "{line}");
}

/// Waits and lives by the clock while the wall clock jumps; `stamp` is the file that sets it.
async fn clock(stamp: &str) {
    let jump = |offset: &str| std::fs::write(stamp, format!("{offset}\n")).unwrap();
    let wall = || std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap().as_secs();
    let engine = Engine::new(EngineConfig::default());
    let mut config = wide();
    config.session.idle = Duration::from_secs(60);
    config.session.lifetime = Duration::from_secs(120);
    let pool = engine.pool(config);
    let session =
        start_in(&pool, &owner("chat"), spec(&["sh", "-c", "stty -echo; echo ready; exec cat"])).await.unwrap();
    until_text(&session, "ready").await;
    for offset in ["+3600s", "-3600s", "+0s"] {
        let (began, before) = (Instant::now(), wall());
        let waiting =
            tokio::spawn(session.waiter(Until::Text("never".into()), Since::Unread).wait(Duration::from_millis(600)));
        jump(offset);
        while wall().abs_diff(before) < 1800 {
            assert!(began.elapsed() < PATIENCE, "the clock does not jump");
            tokio::time::sleep(Duration::from_millis(2)).await;
        }
        assert_eq!(waiting.await.unwrap(), Reason::Deadline, "{offset}");
        let took = began.elapsed();
        assert!(took >= Duration::from_millis(600) && took < Duration::from_secs(3), "{offset}: {took:?}");
        let status = session.status().await;
        assert_eq!(status.state, State::Running, "{offset}: {status:?}");
        assert!(status.ran_for < Duration::from_secs(30) && status.idle < Duration::from_secs(30), "{status:?}");
        let word = format!("word{offset}\n");
        echoes(&session, &word).await;
    }
    let begin = Instant::now();
    jump("+7200s");
    let report = session.stop(EndedBecause::Killed).await;
    assert!(begin.elapsed() < Duration::from_secs(2) && report.elapsed < Duration::from_secs(2), "{report:?}");
    assert_eq!(session.status().await.ended_because, Some(EndedBecause::Killed));
    say("end");
}
