//! What is typed: whole, in order, in time, and for the modes that the program has set.

use std::time::{Duration, Instant};

use process::{Input, WaitingFor, WriteError};

use crate::support::{PATIENCE, bench, bench_on_this_thread, type_text, until_exit, until_text, wants};

#[tokio::test]
async fn an_interrupt_alone_begins_a_new_line() {
    let bench = bench();
    let program = "import signal\nsignal.signal(2, lambda *a: print('interrupted', flush=True))\n\
                   print('ready', flush=True)\nprint(len(input()))";
    let session = bench.python(program).await;
    until_text(&session, "ready").await;
    wants(&session, WaitingFor::Line).await;
    type_text(&session, &"a".repeat(3000)).await;
    session.write(&Input::new().key("ctrl-c"), PATIENCE).await.unwrap();
    until_text(&session, "interrupted").await;
    type_text(&session, &("b".repeat(2000) + "\n")).await;
    let text = until_exit(&session).await;
    assert!(text.ends_with("2000\n"), "{text:?}");
}

#[tokio::test]
async fn typing_nothing_begins_no_new_line() {
    let bench = bench();
    let session = bench.start("exec cat").await;
    wants(&session, WaitingFor::Line).await;
    type_text(&session, &"a".repeat(3000)).await;
    type_text(&session, "").await;
    let refused = session.write(&Input::new().text("b".repeat(2000)), PATIENCE).await;
    assert!(matches!(refused, Err(WriteError::LineTooLong { length: 5000 })), "{refused:?}");
    bench.pool.shutdown().await;
}

#[tokio::test]
async fn the_end_of_input_ends_a_line() {
    let bench = bench();
    let session = bench.start("stty -echo; echo ready; cat | wc -c").await;
    until_text(&session, "ready").await;
    session.write(&Input::new().text("a".repeat(3000)).key("ctrl-d"), PATIENCE).await.unwrap();
    session.write(&Input::new().text("b".repeat(2000) + "\n").key("ctrl-d"), PATIENCE).await.unwrap();
    let text = until_exit(&session).await;
    assert_eq!(text.trim(), "5001");
}

#[tokio::test]
async fn a_secret_that_waits_for_its_prompt_keeps_nobody_from_typing() {
    let bench = bench();
    let session = bench.start("bash -c 'read x; read -s -p S: y; echo \"<$x,$y>\"'").await;
    let secret = {
        let session = session.clone();
        tokio::spawn(async move { session.type_secret(b"ab", PATIENCE).await })
    };
    // Lets it begin to wait.
    tokio::task::yield_now().await;
    let begin = Instant::now();
    session.write(&Input::new().text("go\n"), PATIENCE).await.unwrap();
    assert!(begin.elapsed() < PATIENCE / 2, "it waited for the secret");
    secret.await.unwrap().unwrap();
    let text = until_exit(&session).await;
    assert!(text.ends_with("<go,ab>\n"), "{text:?}");
}

#[tokio::test]
async fn a_deadline_covers_the_wait_for_other_input() {
    let bench = bench();
    let session = bench.start("stty raw -echo; echo ready; sleep 300").await;
    until_text(&session, "ready").await;
    let first = {
        let session = session.clone();
        tokio::spawn(async move { session.write(&Input::new().text("x".repeat(100_000)), PATIENCE).await })
    };
    // Until nothing more is taken it has the terminal.
    tokio::time::sleep(Duration::from_millis(100)).await;
    let begin = Instant::now();
    let second = session.write(&Input::new().text("y"), Duration::from_millis(200)).await;
    assert!(matches!(second, Err(WriteError::Deadline { written: 0, total: 1, .. })), "{second:?}");
    assert!(begin.elapsed() < PATIENCE / 2, "{:?}", begin.elapsed());
    bench.pool.shutdown().await;
    assert!(matches!(first.await.unwrap(), Err(WriteError::Ended { .. })));
}

#[tokio::test]
async fn questions_that_nobody_reads_the_answers_of_are_forgotten() {
    let bench = bench();
    let program = "import os, time, tty\ntty.setraw(0)\n\
                   for _ in range(5000): os.write(1, b'\\x1b[c' * 50)\n\
                   os.write(1, b'asked')\ntime.sleep(300)";
    let session = bench.python(program).await;
    until_text(&session, "asked").await;
    // Whoever types waits for one answer, not for each.
    let begin = Instant::now();
    let outcome = session.write(&Input::new().text("x".repeat(100_000)), Duration::from_secs(3)).await;
    let Err(WriteError::Deadline { .. }) = outcome else { panic!("{outcome:?}") };
    assert!(begin.elapsed() < PATIENCE, "{:?}", begin.elapsed());
    bench.pool.shutdown().await;
}

#[tokio::test]
async fn answers_come_in_the_order_of_the_questions() {
    let bench = bench();
    // 20 questions at once, each in a write of its own, and what they are answered by.
    let program = "import os, tty\ntty.setraw(0)\n\
                   for n in range(200):\n\
                   \x20for _ in range(10): os.write(1, b'\\x1b[5n'); os.write(1, b'\\x1b[c')\n\
                   \x20want = b'\\x1b[0n\\x1b[?62;22c' * 10\n\
                   \x20got = b''\n\
                   \x20while len(got) < len(want): got += os.read(0, len(want) - len(got))\n\
                   \x20assert got == want, got\n\
                   os.write(1, b'in order')";
    let session = bench.python(program).await;
    let text = until_exit(&session).await;
    assert_eq!(text, "in order");
}

#[tokio::test]
async fn input_is_typed_for_the_modes_that_are_set_by_then() {
    let bench = bench_on_this_thread();
    let directory = tempfile::tempdir().unwrap();
    let mark = directory.path().join("switched");
    let program = format!(
        "import os, tty\ntty.setraw(0)\nos.write(1, b'\\x1b[?2004h')\nopen({mark:?}, 'w').close()\n\
         got = b''\nwhile not got.endswith(b'.'): got += os.read(0, 100)\nprint(repr(got))"
    );
    let session = bench.python(&program).await;
    let begin = Instant::now();
    // On the only thread: nobody reads meanwhile.
    while !mark.exists() {
        assert!(begin.elapsed() < PATIENCE);
        std::thread::sleep(Duration::from_millis(1));
    }
    session.write(&Input::new().text("a\nb").key("alt-."), PATIENCE).await.unwrap();
    let text = until_exit(&session).await;
    assert!(text.contains(r"\x1b[200~a\rb\x1b[201~"), "{text:?}");
}
