//! Every reason that a wait returns for.

use std::time::{Duration, Instant};

use process::{EndedBecause, Input, Reason, Signal, Since, State, Until, WaitingFor};

use crate::support::{PATIENCE, bench, type_text, until_exit, until_text};

#[tokio::test]
async fn a_repl_computes_and_wants_input_again() {
    let bench = bench();
    let python = bench.start("python3 -q -i").await;
    until_text(&python, ">>> ").await;
    let waiter = python.waiter(Until::Quiet, Since::Now);
    type_text(&python, "6*7\n").await;
    assert_eq!(waiter.wait(PATIENCE).await, Reason::Input);
    let status = python.status().await;
    assert_eq!(status.state, State::Running);
    assert_eq!(status.waiting_for, Some(WaitingFor::Key));
    assert!(status.foreground.as_deref().is_some_and(|name| name.starts_with("python")), "{status:?}");
    assert_eq!(python.read(100).text, "6*7\n42\n>>> ");
    let report = python.stop(EndedBecause::Killed).await;
    assert!(report.survivors.is_empty(), "{report:?}");
    let status = python.status().await;
    assert_eq!(status.ended_because, Some(EndedBecause::Killed));
}

#[tokio::test]
async fn the_echo_of_what_was_typed_never_matches() {
    let bench = bench();
    let shell = bench.start("PS1='$ ' bash --norc -i").await;
    until_text(&shell, "$ ").await;
    let begin = Instant::now();
    let line = "sleep 0.5 && echo done\n";
    let waiter = shell.waiter(Until::Text("done".into()), Since::Now);
    type_text(&shell, line).await;
    assert_eq!(waiter.wait(PATIENCE).await, Reason::Text);
    assert!(begin.elapsed() >= Duration::from_millis(500), "the echo was taken for the output");
    bench.pool.shutdown().await;
}

#[tokio::test]
async fn a_signal_is_delivered_while_another_call_waits() {
    let bench = bench();
    let sleeper = bench.start("trap 'exit 9' INT; echo ready; while :; do sleep 0.1; done").await;
    until_text(&sleeper, "ready").await;
    let waiting = tokio::spawn(sleeper.waiter(Until::Exit, Since::Unread).wait(PATIENCE));
    let got = sleeper.signal(Signal::Int).expect("somebody is in the foreground");
    assert!(got.group > 1);
    assert_eq!(waiting.await.unwrap(), Reason::Exit);
    let status = sleeper.status().await;
    assert_eq!((status.state, status.exit_code), (State::Exited, Some(9)));
}

#[tokio::test]
async fn a_line_prompt_and_a_secret_prompt_are_told_apart() {
    let bench = bench();
    for (command, expected) in
        [("cat", WaitingFor::Line), ("bash -c 'read -s -p S: x; echo got ${#x}'", WaitingFor::Secret)]
    {
        let session = bench.start(command).await;
        assert_eq!(session.waiter(Until::Quiet, Since::Unread).wait(PATIENCE).await, Reason::Input, "{command}");
        assert_eq!(session.status().await.waiting_for, Some(expected), "{command}");
        if expected == WaitingFor::Secret {
            session.type_secret(b"hunter2", PATIENCE).await.expect("a prompt is there");
            let text = until_exit(&session).await;
            assert!(text.contains("got 7") && !text.contains("hunter2"), "{text}");
        }
    }
    bench.pool.shutdown().await;
}

#[tokio::test]
async fn a_secret_is_held_until_echo_is_off() {
    let bench = bench();
    let session = bench.start("python3 -c 'import time,getpass; time.sleep(0.5); print(len(getpass.getpass()))'").await;
    session.type_secret(b"hunter2", PATIENCE).await.expect("the prompt comes");
    let text = until_exit(&session).await;
    assert!(text.ends_with("7\n") && !text.contains("hunter2"), "{text}");
}

#[tokio::test]
async fn the_last_bytes_come_before_the_exit() {
    let bench = bench();
    for size in [1, 5_000, 70_000] {
        let session = bench.start(&format!("head -c {size} /dev/zero | tr '\\0' x; exit 7")).await;
        let text = until_exit(&session).await;
        assert_eq!(text.len(), size);
        assert_eq!(session.status().await.exit_code, Some(7));
    }
}

#[tokio::test]
async fn ctrl_c_loses_no_output() {
    let bench = bench();
    let script = "import os,signal,time; signal.signal(2,lambda *a: os._exit(42)); \
                  [os.write(1,b'%05d'%i) for i in range(1000)]; os.write(1,b'!'); time.sleep(30)";
    let session = bench.start_argv("python3", &["python3", "-c", script]).await;
    let waiter = session.waiter(Until::Text("!".into()), Since::Unread);
    assert_eq!(waiter.wait(PATIENCE).await, Reason::Text);
    session.write(&Input::new().key("ctrl-c"), PATIENCE).await.unwrap();
    let text = until_exit(&session).await;
    assert_eq!(text.len(), 5001);
    assert_eq!(session.status().await.exit_code, Some(42));
}
