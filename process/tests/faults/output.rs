//! Output is never lost, and never more than is asked for or kept: faults 1, 2, 4, 5, 6 and 8.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use process::{EndedBecause, Engine, EngineConfig, Input, Reason, Session, Signal, Since, State, Until};

use crate::harness::{
    alone, alone_bare, alone_with, code, config, ended, owner, piped, spec, start_in, type_text, until_exit,
    until_text, wide,
};
use crate::measure::{PATIENCE, forget_peak, is_alive, memory, note};

/// Fault 1: the harness checks descriptors, zombies and processes.
#[test]
fn three_thousand_short_sessions_lose_nothing() {
    const SESSIONS: usize = 3000;
    alone_with(wide(), async |bench| {
        let load = bench.load().await;
        let begin = Instant::now();
        let next = Arc::new(AtomicUsize::new(0));
        let workers: Vec<_> = (0..8)
            .map(|worker| {
                let (bench, next) = (Arc::clone(&bench), Arc::clone(&next));
                tokio::spawn(async move {
                    let owner = owner(&format!("worker {worker}"));
                    let (mut lost, mut wrong) = (0, 0);
                    loop {
                        let number = next.fetch_add(1, Ordering::Relaxed);
                        if number >= SESSIONS {
                            return (lost, wrong);
                        }
                        let size = if number % 4 == 3 { 70_000 } else { 5_000 };
                        let script = format!("head -c {size} /dev/zero | tr '\\0' x; exit 7");
                        let session = start_in(&bench.pool, &owner, spec(&["sh", "-c", &script])).await.unwrap();
                        assert_eq!(session.waiter(Until::Exit, Since::Unread).wait(PATIENCE).await, Reason::Exit);
                        let read = session.read(usize::MAX);
                        assert!(read.text.bytes().all(|byte| byte == b'x') && read.text.len() <= size);
                        lost += size - read.text.len();
                        wrong += usize::from(code(&session).await != Some(7));
                    }
                })
            })
            .collect();
        let (mut lost, mut wrong) = (0, 0);
        for worker in workers {
            let (its_lost, its_wrong) = worker.await.unwrap();
            lost += its_lost;
            wrong += its_wrong;
        }
        note(format!("{SESSIONS} sessions in {:?}, {lost} bytes lost, {wrong} codes wrong", begin.elapsed()));
        assert_eq!((lost, wrong), (0, 0));
        load.stop(EndedBecause::Killed).await;
    });
}

/// Fault 2.
#[test]
fn a_background_process_holds_the_terminal_but_not_the_exit() {
    alone(async |bench| {
        let session = bench.sh("(setsid sleep 60 &) ; sleep 0.2; echo done; exit 3").await;
        until_text(&session, "done\n").await;
        let begin = Instant::now();
        assert_eq!(session.waiter(Until::Exit, Since::Unread).wait(PATIENCE).await, Reason::Exit);
        assert!(begin.elapsed() < Duration::from_millis(100), "{:?}", begin.elapsed());
        let status = session.status().await;
        assert_eq!((status.state, status.exit_code), (State::Exited, Some(3)));
        let [holder] = status.held_by.as_slice() else { panic!("{status:?}") };
        assert_eq!(holder.command, "sleep 60");
        assert!(!session.is_running());
        let report = session.stop(EndedBecause::Killed).await;
        assert_eq!((report.found, report.survivors.len()), (1, 0), "{report:?}");
        assert!(!is_alive(holder.pid));
        // It ended by itself before it was stopped.
        assert_eq!(session.status().await.ended_because, Some(EndedBecause::Exit));
    });
}

/// Fault 4: the engine runs on the test's own thread, which does not read while it is in here.
#[test]
fn an_interrupt_loses_no_unread_output() {
    alone_bare(|| {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        for by_key in [false, true] {
            runtime.block_on(async {
                let engine = Engine::on(tokio::runtime::Handle::current(), EngineConfig::default());
                let pool = engine.pool(config());
                let directory = tempfile::tempdir().unwrap();
                let written = directory.path().join("written");
                let program = format!(
                    "import os,signal,time; signal.signal(2,lambda *a: os._exit(42)); \
                     [os.write(1,b'%05d'%i) for i in range(1000)]; \
                     open({:?},'w').close(); time.sleep(30)",
                    written.to_str().unwrap()
                );
                let session = start_in(&pool, &owner("chat"), spec(&["python3", "-c", &program])).await.unwrap();
                let begin = Instant::now();
                while !written.exists() {
                    assert!(begin.elapsed() < PATIENCE, "nothing was written");
                    std::thread::sleep(Duration::from_millis(2));
                }
                if by_key {
                    session.write(&Input::new().key("ctrl-c"), PATIENCE).await.unwrap();
                } else {
                    session.signal(Signal::Int).unwrap();
                }
                let text = until_exit(&session).await;
                let expected: String = (0..1000).map(|number| format!("{number:05}")).collect();
                assert_eq!(text, expected);
                assert_eq!(code(&session).await, Some(42));
                pool.shutdown().await;
            });
        }
    });
}

/// Fault 5, and a slow reader never sees more than it asked for.
#[test]
fn a_flood_is_kept_in_bounds_while_somebody_reads_slowly() {
    const BYTES: u64 = 1 << 30;
    alone(async |bench| {
        let (before, _) = memory();
        forget_peak();
        let begin = Instant::now();
        let session = bench.start(piped(&["sh", "-c", "yes | head -c 1G"])).await;
        let ending = session.waiter(Until::Exit, Since::Unread).wait(5 * PATIENCE);
        tokio::pin!(ending);
        let (mut read, mut lost) = (0, 0);
        let mut take = |most: usize| {
            let part = session.read(most);
            let chars = part.text.chars().count();
            assert!(chars <= most, "{chars} of at most {most} characters");
            assert!(part.text.chars().all(|char| char == 'y' || char == '\n'));
            read += chars as u64;
            lost += part.lost_chars;
            part.remaining_chars
        };
        let reason = loop {
            tokio::select! {
                reason = &mut ending => break reason,
                () = tokio::time::sleep(Duration::from_secs(1)) => drop(take(1024)),
            }
        };
        assert_eq!(reason, Reason::Exit);
        while take(50_000) > 0 {}
        let (_, peak) = memory();
        note(format!("1 GiB in {:?}, {lost} characters lost, {} KiB more", begin.elapsed(), (peak - before) / 1024));
        assert_eq!(read + lost, BYTES);
        assert!(lost > 0);
        assert!(peak - before < 8 << 20, "{} KiB", (peak - before) / 1024);
        assert_eq!(code(&session).await, Some(0));
    });
}

/// 300 MB without a newline; what scrolled out unread is counted by the read that comes too late.
#[test]
fn one_endless_line_is_kept_in_bounds() {
    const BYTES: u64 = 300_000_000;
    alone(async |bench| {
        for stdio in [piped, spec] {
            let (before, _) = memory();
            forget_peak();
            let begin = Instant::now();
            let session = bench.start(stdio(&["sh", "-c", "head -c 300000000 /dev/zero | tr '\\0' x"])).await;
            assert_eq!(session.waiter(Until::Exit, Since::Unread).wait(5 * PATIENCE).await, Reason::Exit);
            let (_, peak) = memory();
            let grown = peak.saturating_sub(before) / 1024;
            note(format!("300 MB in one line in {:?}, {grown} KiB more", begin.elapsed()));
            assert!(grown < 8 << 10, "{grown} KiB");
            let read = session.read(50_000);
            assert_eq!((read.lost_chars, read.text.len()), (BYTES - 256_000, 50_000));
            assert_eq!(read.remaining_chars, 206_000);
        }
    });
}

/// Fault 6.
#[test]
fn a_flooding_session_does_not_starve_others_and_is_gone_when_killed() {
    alone(async |bench| {
        let flood = bench.sh("exec yes").await;
        let echo = bench.sh("stty -echo; echo ready; exec cat").await;
        until_text(&echo, "ready\n").await;
        let mut latencies = Vec::new();
        let begin = Instant::now();
        while begin.elapsed() < Duration::from_secs(1) || latencies.len() < 100 {
            let word = format!("word{}\n", latencies.len());
            let waiter = echo.waiter(Until::Text(word.clone()), Since::Unread);
            let sent = Instant::now();
            type_text(&echo, &word).await;
            assert_eq!(waiter.wait(PATIENCE).await, Reason::Text);
            latencies.push(sent.elapsed());
            assert!(flood.read(10_000).text.chars().count() <= 10_000);
        }
        latencies.sort();
        let p99 = latencies[latencies.len() * 99 / 100];
        note(format!("echo beside a flood: median {:?}, p99 {p99:?}", latencies[latencies.len() / 2]));
        assert!(p99 < Duration::from_millis(50), "{p99:?}");
        let begin = Instant::now();
        let report = flood.stop(EndedBecause::Killed).await;
        assert!(begin.elapsed() < Duration::from_secs(1), "{report:?}");
        assert_eq!(report.survivors, []);
        ended(&flood).await;
    });
}

/// Fault 8: characters that reads cut.
#[test]
fn characters_cut_by_reads_are_whole() {
    alone(async |bench| {
        let session = bench.python("print('é'*100000)").await;
        let text = until_exit(&session).await;
        assert_eq!(text, format!("{}\n", "é".repeat(100_000)));
    });
}

/// Fault 8: a program that writes a byte at a time has the same text and screen as one that writes all at once.
#[test]
fn sequences_cut_anywhere_are_whole() {
    alone(async |bench| {
        let bytes = r"b'\x1b]0;a\x07\x1b[31m\xc3\xa9\x1b[0m \xf0\x9f\x98\x80\x1b[2;5Hx\x1b[1mend\r\n'";
        let whole = bench.python(&format!("import os; os.write(1, {bytes})")).await;
        let slowly = format!("import os,time; [(os.write(1, bytes([b])), time.sleep(.002)) for b in {bytes}]");
        let cut = bench.python(&slowly).await;
        let texts = (until_exit(&whole).await, until_exit(&cut).await);
        assert!(texts.0.contains("é 😀") && !texts.0.contains('\u{fffd}'), "{texts:?}");
        assert_eq!(texts.0, texts.1);
        let screens = (whole.screen().unwrap(), cut.screen().unwrap());
        assert!(screens.0.rows.iter().any(|row| row.contains('é')), "{screens:?}");
        assert_eq!((screens.0.rows, screens.0.cursor), (screens.1.rows, screens.1.cursor));
    });
}

/// A character, or an escape sequence, whose halves come in two calls.
#[test]
fn what_is_cut_between_two_calls_is_whole() {
    alone(async |bench| {
        let program = "import os\nfor part in [b'\\xc3', b'\\xa9\\x1b[3', b'1mred\\x1b]0;ti', b'tle\\x07end\\n']:\n \
                       os.write(1, part)\n os.read(0, 1)";
        let session = bench.start(spec(&["sh", "-c", "stty raw -echo; exec python3 -c \"$0\"", program])).await;
        let mut reads = Vec::new();
        for expected in 1..=4 {
            // The part is there when the program reads its next key.
            let waits = session.waiter(Until::Quiet, Since::Unread).wait(PATIENCE).await;
            assert_eq!(waits, Reason::Input, "part {expected}");
            reads.push(session.read(10_000).text);
            type_text(&session, "x").await;
        }
        assert_eq!(reads, ["", "é", "red", "end\n"]);
    });
}

/// Reads never return more than they may, in order, and say what remains.
#[test]
fn a_read_returns_at_most_what_it_may() {
    alone(async |bench| {
        let session = bench.sh("seq 1 10000").await;
        assert_eq!(session.waiter(Until::Exit, Since::Unread).wait(PATIENCE).await, Reason::Exit);
        let expected: String = (1..=10_000).map(|number| format!("{number}\n")).collect();
        let mut text = String::new();
        loop {
            let part = session.read(777);
            assert!(part.text.chars().count() <= 777 && part.lost_chars == 0);
            text.push_str(&part.text);
            assert_eq!(part.remaining_chars as usize, expected.len() - text.len());
            if part.remaining_chars == 0 {
                break;
            }
        }
        assert_eq!(text, expected);
    });
}

/// A progress bar.
#[test]
fn two_hundred_frames_are_one_line() {
    alone(async |bench| {
        let session = bench.sh("for i in $(seq 200); do printf '\\r%3d%%' $i; done; echo; echo end").await;
        assert_eq!(session.waiter(Until::Exit, Since::Unread).wait(PATIENCE).await, Reason::Exit);
        assert_eq!(session.read(10_000).text, "200%\nend\n");
    });
}

/// Output that a helper of the shell writes on: `exec > >(tee f)`.
#[test]
fn output_through_a_process_substitution_is_all_there() {
    alone(async |bench| {
        let directory = tempfile::tempdir().unwrap();
        for stdio in [spec, piped] {
            let mut spec = stdio(&["bash", "-c", "exec > >(tee f); echo hi; exit 5"]);
            spec.workdir = directory.path().into();
            let session = bench.start(spec).await;
            let mut text = until_exit(&session).await;
            assert_eq!(code(&session).await, Some(5));
            ended(&session).await;
            text.push_str(&session.read(usize::MAX).text);
            let file = std::fs::read_to_string(directory.path().join("f")).unwrap();
            assert_eq!((text.as_str(), file.as_str()), ("hi\n", "hi\n"));
        }
    });
}

/// `sleep 300 & echo done` and `(sleep 60 &)`, with pipes and on a terminal.
#[test]
fn a_child_in_the_background_does_not_hang_the_call_and_lives() {
    alone(async |bench| {
        for stdio in [piped, spec] {
            for (script, command) in [("sleep 300 & echo done", "sleep 300"), ("(sleep 60 &); echo done", "sleep 60")] {
                let begin = Instant::now();
                let session = bench.start(stdio(&["sh", "-c", script])).await;
                assert_eq!(until_exit(&session).await, "done\n");
                assert!(begin.elapsed() < Duration::from_secs(2), "{:?}", begin.elapsed());
                holds(&session, command).await;
            }
        }
    });
}

/// What a child in the background prints after the exit is read, too.
#[test]
fn output_after_the_exit_is_read() {
    alone(async |bench| {
        for stdio in [piped, spec] {
            let directory = tempfile::tempdir().unwrap();
            let go = directory.path().join("go");
            let script =
                format!("(while [ ! -e {} ]; do sleep 0.02; done; echo late) & echo early; exit 3", go.display());
            let session = bench.start(stdio(&["sh", "-c", &script])).await;
            assert_eq!(until_exit(&session).await, "early\n");
            assert_eq!(code(&session).await, Some(3));
            std::fs::write(go, "").unwrap();
            ended(&session).await;
            assert_eq!(session.read(100).text, "late\n");
        }
    });
}

/// Checks that one process still holds the output of an ended session, and that a stop ends it.
async fn holds(session: &Session, command: &str) {
    let begin = Instant::now();
    let pid = loop {
        let status = session.status().await;
        let [holder] = status.held_by.as_slice() else { panic!("{command}: {status:?}") };
        // It may not have executed its program yet.
        if holder.command == command {
            break holder.pid;
        }
        assert!(begin.elapsed() < PATIENCE, "{command}: {holder:?}");
    };
    assert!(is_alive(pid));
    session.stop(EndedBecause::Killed).await;
    assert!(!is_alive(pid));
}
