//! How long a session lives, and what is known of it.

use std::time::{Duration, Instant};

use process::{CommandSpec, Output, Reason, SessionLimits, Since, State, Stdio, Until};

use crate::support::{PATIENCE, bench, bench_on_this_thread, bench_with, config, spec, until_exit};

#[tokio::test]
async fn limits_may_be_without_end() {
    let endless = Duration::MAX;
    let limits = SessionLimits { idle: endless, lifetime: endless, grace: endless, quiet: endless };
    let bench = bench_with(process::PoolConfig { session: limits, ..config() });
    let session = bench.start("echo lived; exit 3").await;
    assert_eq!(until_exit(&session).await, "lived\n");
    assert_eq!(session.status().await.exit_code, Some(3));
    let session = bench.start("echo; exec sleep 300").await;
    let waiting = tokio::spawn(session.waiter(Until::Quiet, Since::Start).wait(endless));
    let report = session.stop(process::EndedBecause::Killed).await;
    assert!(report.complete, "{report:?}");
    assert_eq!(waiting.await.unwrap(), Reason::Exit);
}

#[tokio::test]
async fn commands_end_with_their_engine_also_on_the_runtime_of_the_host() {
    let bench = bench_on_this_thread();
    let session = bench.start("exec sleep 300").await;
    let crate::support::Bench { engine, pool, owner } = bench;
    drop(engine);
    assert_eq!(session.waiter(Until::Exit, Since::Now).wait(PATIENCE).await, Reason::Exit);
    assert_eq!(session.status().await.state, State::Signaled);
    assert_eq!(pool.list(&owner).len(), 1);
}

#[tokio::test]
async fn a_zombie_keeps_nobody_from_being_stopped() {
    let bench = bench();
    let session =
        bench.python("import os, signal\nos.fork() or os._exit(0)\nos.kill(os.getpid(), signal.SIGSTOP)").await;
    let begin = Instant::now();
    while session.status().await.state != State::Stopped {
        assert!(begin.elapsed() < PATIENCE, "{:?}", session.status().await);
        tokio::time::sleep(Duration::from_millis(2)).await;
    }
    bench.pool.shutdown().await;
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn what_a_large_pipe_holds_comes_before_the_exit() {
    const SIZE: usize = 1 << 20;
    let bench = bench_on_this_thread();
    let directory = tempfile::tempdir().unwrap();
    let (mark, done) = (directory.path().join("pid"), directory.path().join("written"));
    let program = format!(
        "import fcntl, os\nsize = fcntl.fcntl(1, 1031, {SIZE})\nassert os.write(1, b'x' * {SIZE}) == {SIZE}\n\
         open({mark:?}, 'w').write(str(os.getpid()))\nos.rename({mark:?}, {done:?})\nos._exit(7)"
    );
    let spec = CommandSpec { stdio: Stdio::Pipes(Output::Merged), ..spec(&["python3", "-c", &program]) };
    let session = bench.start_spec("python3", spec).await;
    let begin = Instant::now();
    // On the only thread: nobody reads until the program has ended.
    let pid = loop {
        if let Ok(pid) = std::fs::read_to_string(&done) {
            break pid;
        }
        assert!(begin.elapsed() < PATIENCE);
        std::thread::sleep(Duration::from_millis(1));
    };
    while std::path::Path::new("/proc").join(&pid).exists() {
        assert!(begin.elapsed() < PATIENCE);
        std::thread::sleep(Duration::from_millis(1));
    }
    assert_eq!(until_exit(&session).await.len(), SIZE);
    assert_eq!(session.status().await.exit_code, Some(7));
}
