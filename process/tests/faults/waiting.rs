//! Waits end for the right reason, at once, and never stand in the way of another call.

use std::time::{Duration, Instant};

use process::{Input, Reason, Signal, Since, State, Until};

use crate::harness::{alone, code, silent, type_text, until_exit, until_text};
use crate::measure::PATIENCE;

/// Words do not make a prompt.
#[test]
fn words_are_not_taken_for_a_prompt() {
    alone(async |bench| {
        for words in ["Starting: ", "collecting ... ", "Password: ", "Continue? [y/N] ", "$ ", ">>> "] {
            let session = bench.sh(&format!("printf '{words}'; sleep 1; echo up; exit 6")).await;
            assert_eq!(session.waiter(Until::Quiet, Since::Unread).wait(PATIENCE).await, Reason::Quiet, "{words}");
            let status = session.status().await;
            assert_eq!((status.state, status.waiting_for), (State::Running, None), "{words}: {status:?}");
            assert_eq!(session.waiter(Until::Exit, Since::Unread).wait(PATIENCE).await, Reason::Exit, "{words}");
            assert_eq!(session.read(1000).text, format!("{words}up\n"));
        }
    });
}

/// Every wait ends at the exit, also one that begins after it.
#[test]
fn every_wait_ends_at_the_exit() {
    alone(async |bench| {
        let session = bench.sh("echo begin; sleep 0.3; exit 4").await;
        until_text(&session, "begin").await;
        let begin = Instant::now();
        let waits = [
            tokio::spawn(session.waiter(Until::Exit, Since::Unread).wait(PATIENCE)),
            tokio::spawn(session.waiter(Until::Text("never".into()), Since::Unread).wait(PATIENCE)),
            tokio::spawn(session.waiter(Until::Quiet, Since::Now).wait(PATIENCE)),
        ];
        for wait in waits {
            assert_eq!(wait.await.unwrap(), Reason::Exit);
        }
        assert!(begin.elapsed() < PATIENCE / 10, "{:?}", begin.elapsed());
        let begin = Instant::now();
        for until in [Until::Exit, Until::Text("never".into()), Until::Quiet] {
            assert_eq!(session.waiter(until, Since::Unread).wait(PATIENCE).await, Reason::Exit);
        }
        assert!(begin.elapsed() < Duration::from_millis(200), "{:?}", begin.elapsed());
        assert_eq!(code(&session).await, Some(4));
    });
}

/// Ctrl-C while another call waits.
#[test]
fn an_interrupt_does_not_queue_behind_a_wait() {
    alone(async |bench| {
        let session = bench.sh("trap 'echo caught; exit 9' INT; echo ready; while :; do sleep 0.05; done").await;
        until_text(&session, "ready").await;
        let waiting = tokio::spawn(session.waiter(Until::Text("never".into()), Since::Unread).wait(PATIENCE));
        let begin = Instant::now();
        session.write(&Input::new().key("ctrl-c"), PATIENCE).await.unwrap();
        assert!(begin.elapsed() < Duration::from_millis(200), "{:?}", begin.elapsed());
        assert_eq!(waiting.await.unwrap(), Reason::Exit);
        assert!(until_exit(&session).await.contains("caught"));
        assert_eq!(code(&session).await, Some(9));
    });
}

/// A wait that is given up changes nothing.
#[test]
fn a_wait_can_be_dropped() {
    alone(async |bench| {
        let session = bench.sh("sleep 0.2; echo late; sleep 0.1; exit 2").await;
        for _ in 0..50 {
            let wait = session.waiter(Until::Text("late".into()), Since::Unread).wait(PATIENCE);
            if tokio::time::timeout(Duration::from_millis(1), wait).await.is_ok() {
                break;
            }
        }
        assert_eq!(until_exit(&session).await, "late\n");
        assert_eq!(code(&session).await, Some(2));
    });
}

/// Ctrl-Z stops what is in the foreground, which says so, and it can be continued.
#[test]
fn what_is_stopped_can_be_continued() {
    alone(async |bench| {
        let session = bench.start(silent(&["cat"])).await;
        session.write(&Input::new().key("ctrl-z"), PATIENCE).await.unwrap();
        let begin = Instant::now();
        while session.status().await.state != State::Stopped {
            assert!(begin.elapsed() < PATIENCE, "{:?}", session.status().await);
        }
        session.signal(Signal::Cont).unwrap();
        type_text(&session, "awake\n").await;
        until_text(&session, "awake").await;
        assert_eq!(session.status().await.state, State::Running);
    });
}
