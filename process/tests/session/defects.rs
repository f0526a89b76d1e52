//! What a hostile user found once.

use std::time::{Duration, Instant};

use process::{EndedBecause, Input, Reason, SessionLimits, Signal, Since, State, Until, WaitingFor, WriteError};

use crate::support::{PATIENCE, bench, bench_with, config, runs, type_text, until_exit, until_text, wants};

#[tokio::test]
async fn what_ignores_the_request_to_end_is_killed_and_said_to_be() {
    let bench = bench();
    let session = bench.start("trap '' HUP INT TERM QUIT; echo ready; while :; do sleep 0.1; done").await;
    until_text(&session, "ready").await;
    let report = session.stop(EndedBecause::Killed).await;
    assert!(report.survivors.is_empty() && report.killed > 0, "{report:?}");
    let status = session.status().await;
    assert_eq!((status.state, status.signal), (State::Signaled, Some(9)));
    assert_eq!(status.ended_because, Some(EndedBecause::Killed));
    assert_eq!(bench.pool.running("chat"), 0);
}

#[tokio::test]
async fn a_grace_is_given_whole() {
    let limits = SessionLimits { grace: Duration::from_secs(20), ..SessionLimits::default() };
    let bench = bench_with(process::PoolConfig { session: limits, ..config() });
    let session = bench
        .start("trap 'sleep 2.5; echo saved; exit 3' TERM; trap '' HUP; echo ready; while :; do sleep 0.1; done")
        .await;
    until_text(&session, "ready").await;
    let report = session.stop(EndedBecause::Killed).await;
    assert_eq!((report.killed, report.survivors.len()), (0, 0), "{report:?}");
    assert_eq!(session.status().await.exit_code, Some(3));
    assert!(session.read(usize::MAX).text.ends_with("saved\n"));
}

#[tokio::test]
async fn an_interrupt_does_not_queue_behind_input_that_nobody_reads() {
    let bench = bench();
    let session = bench.start("stty -icanon -echo; echo ready; sleep 300; echo woken").await;
    until_text(&session, "ready").await;
    // dash loses an interrupt that comes between two of its commands.
    runs(&session, "sleep").await;
    let blocked = {
        let session = session.clone();
        tokio::spawn(async move { session.write(&Input::new().text("x".repeat(100_000)), PATIENCE).await })
    };
    let waiter = session.waiter(Until::Exit, Since::Unread);
    let begin = Instant::now();
    session.write(&Input::new().key("ctrl-c"), PATIENCE).await.unwrap();
    assert!(begin.elapsed() < Duration::from_secs(5), "it queued");
    assert_eq!(waiter.wait(PATIENCE).await, Reason::Exit);
    assert!(blocked.await.unwrap().is_err());
}

#[tokio::test]
async fn what_another_call_types_is_no_output() {
    let bench = bench();
    let session = bench.start("read line; sleep 0.3; echo pong").await;
    let ping = tokio::spawn(session.waiter(Until::Text("ping".into()), Since::Unread).wait(PATIENCE));
    let pong = session.waiter(Until::Text("pong".into()), Since::Unread);
    type_text(&session, "ping\n").await;
    assert_eq!(pong.wait(PATIENCE).await, Reason::Text);
    assert_eq!(ping.await.unwrap(), Reason::Exit);
}

#[tokio::test]
async fn an_interrupt_throws_away_the_line_that_was_begun() {
    let bench = bench();
    let script = "try:\n input('one: ')\nexcept KeyboardInterrupt: print('stopped')\nprint(repr(input('two: ')))";
    let session = bench.start_argv("python3", &["python3", "-c", script]).await;
    until_text(&session, "one: ").await;
    wants(&session, WaitingFor::Line).await;
    session.write(&Input::new().text("abc").key("ctrl-c"), PATIENCE).await.unwrap();
    until_text(&session, "two: ").await;
    type_text(&session, "def\r\n").await;
    let text = until_exit(&session).await;
    assert!(text.ends_with("'def'\n"), "{text:?}");
}

#[tokio::test]
async fn a_secret_is_one_line() {
    let bench = bench();
    let session = bench.start("bash -c 'read -s -p S: x; read y; echo \"<$x,$y>\"'").await;
    until_text(&session, "S:").await;
    for secret in ["a\nb", "\u{3}"] {
        let refused = session.type_secret(secret.as_bytes(), PATIENCE).await;
        assert!(matches!(refused, Err(WriteError::ControlInSecret)), "{refused:?}");
    }
    session.type_secret(b"ab", PATIENCE).await.unwrap();
    type_text(&session, "c\n").await;
    assert!(until_exit(&session).await.contains("<ab,c>"));
}

#[tokio::test]
async fn a_stopped_program_wants_no_input() {
    let bench = bench();
    let session = bench.start("exec cat").await;
    assert_eq!(session.waiter(Until::Quiet, Since::Unread).wait(PATIENCE).await, Reason::Input);
    session.signal(Signal::Stop).unwrap();
    let begin = Instant::now();
    let status = loop {
        let status = session.status().await;
        if status.state == State::Stopped {
            break status;
        }
        assert!(begin.elapsed() < PATIENCE, "{status:?}");
    };
    assert_eq!(status.waiting_for, None);
    session.signal(Signal::Cont).unwrap();
    session.write(&Input::new().text("x\n").key("ctrl-d"), PATIENCE).await.unwrap();
    assert_eq!(until_exit(&session).await, "x\nx\n");
}

#[tokio::test]
async fn a_wait_for_something_else_returns_at_a_prompt_that_nobody_has_read() {
    let bench = bench();
    let session = bench.start("printf 'Name: '; read name; echo hello $name").await;
    assert_eq!(session.waiter(Until::Quiet, Since::Unread).wait(PATIENCE).await, Reason::Input);
    // The prompt is unread: who waits for the end learns that it does not come by itself.
    assert_eq!(session.waiter(Until::Exit, Since::Unread).wait(PATIENCE).await, Reason::Input);
    // It is read: who waits now expects somebody else to answer.
    assert_eq!(session.read(usize::MAX).text, "Name: ");
    let waiting = tokio::spawn(session.waiter(Until::Exit, Since::Unread).wait(PATIENCE));
    // As long as a second waiter takes to give up, which sees the prompt settled for more than a second.
    assert_eq!(
        session.waiter(Until::Text("no".into()), Since::Unread).wait(Duration::from_millis(1500)).await,
        Reason::Deadline
    );
    type_text(&session, "x\n").await;
    assert_eq!(waiting.await.unwrap(), Reason::Exit);
}
