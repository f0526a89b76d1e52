//! What is typed arrives whole or is refused, and never blocks the host: faults 10, 11, 12, 14, 15 and 16.

use std::time::{Duration, Instant};

use nix::sys::signal::{Signal as Number, kill};
use nix::unistd::Pid;
use process::{
    EndedBecause, Input, LONGEST_LINE, Reason, Session, Signal, Since, State, Until, WaitingFor, WriteError,
};

use crate::harness::{Shared, alone, code, numbers, spec, type_text, until_exit, until_text};
use crate::measure::{PATIENCE, cpu_time, has_program, note};

/// Fault 10.
#[test]
fn a_write_to_a_program_that_dies_ends_with_it() {
    alone(async |bench| {
        let session = bench.sh("stty raw -echo; echo p=$$; echo ready; exec sleep 100").await;
        let text = until_text(&session, "ready").await;
        let pid = numbers(&text, "p")[0];
        let (writer, input) = (session.clone(), Input::new().text("w".repeat(64 * 1024)));
        let writing = tokio::spawn(async move { writer.write(&input, PATIENCE).await });
        // Not waited for but measured: what a blocked write costs in a second.
        let cpu = cpu_time();
        tokio::time::sleep(Duration::from_secs(1)).await;
        let cpu = cpu_time() - cpu;
        assert!(!writing.is_finished());
        kill(Pid::from_raw(pid), Number::SIGKILL).unwrap();
        let killed = Instant::now();
        let error = writing.await.unwrap().unwrap_err();
        let took = killed.elapsed();
        note(format!("a blocked write costs {cpu:?} CPU a second, and ends {took:?} after the program: {error}"));
        let WriteError::Ended { written, total } = error else { panic!("{error}") };
        assert!((16_384..40_000).contains(&written) && total == 64 * 1024, "{written} of {total}");
        assert!(took < Duration::from_millis(100), "{took:?}");
        assert!(cpu < Duration::from_millis(50), "{cpu:?}");
        assert_eq!(session.status().await.signal, Some(libc::SIGKILL));
    });
}

/// Fault 11.
#[test]
fn a_write_that_is_not_read_ends_at_its_deadline() {
    alone(async |bench| {
        let script = "stty raw -echo; trap 'echo usable' USR1; echo ready; while :; do sleep 0.1; done";
        let session = bench.sh(script).await;
        until_text(&session, "ready").await;
        let begin = Instant::now();
        let limit = Duration::from_millis(500);
        let error = session.write(&Input::new().text("w".repeat(64 * 1024)), limit).await.unwrap_err();
        let took = begin.elapsed();
        let WriteError::Deadline { written, total, .. } = error else { panic!("{error}") };
        note(format!("{written} of {total} bytes in {took:?}"));
        assert!((16_384..40_000).contains(&written) && total == 64 * 1024, "{written} of {total}");
        assert!(took >= limit && took < limit * 3, "{took:?}");
        let begin = Instant::now();
        let error = session.write(&Input::new().text("x"), limit).await.unwrap_err();
        assert!(matches!(error, WriteError::Deadline { written: 0, total: 1, .. }), "{error}");
        assert!(begin.elapsed() < limit * 3);
        assert_eq!(session.status().await.state, State::Running);
        session.signal(Signal::Usr1).unwrap();
        until_text(&session, "usable").await;
        let begin = Instant::now();
        let report = session.stop(EndedBecause::Killed).await;
        assert!(begin.elapsed() < Duration::from_secs(2) && report.survivors.is_empty(), "{report:?}");
    });
}

/// The longest input of one call fits a terminal that nobody reads at the moment.
#[test]
fn the_longest_input_is_taken_before_it_is_read() {
    alone(async |bench| {
        let directory = tempfile::tempdir().unwrap();
        let go = directory.path().join("go");
        let script = format!(
            "stty raw -echo; echo ready; while [ ! -e {} ]; do sleep 0.02; done; head -c 16384 | wc -c",
            go.display()
        );
        let session = bench.sh(&script).await;
        until_text(&session, "ready").await;
        session.write(&Input::new().text("w".repeat(16_384)), PATIENCE).await.unwrap();
        std::fs::write(go, "").unwrap();
        assert_eq!(until_exit(&session).await.trim(), "16384");
    });
}

/// Fault 12.
#[test]
fn a_line_too_long_for_the_terminal_is_refused_whole() {
    alone(async |bench| {
        let session = bench.sh("stty -echo; echo ready; head -n1 | wc -c").await;
        until_text(&session, "ready").await;
        let line = format!("{}\n", "a".repeat(16_384));
        let error = session.write(&Input::new().text(line), PATIENCE).await.unwrap_err();
        assert!(matches!(error, WriteError::LineTooLong { length: 16_384 }), "{error}");
        assert!(error.to_string().contains(&LONGEST_LINE.to_string()), "{error}");
        type_text(&session, "b\n").await;
        assert_eq!(until_exit(&session).await.trim(), "2", "something was written before");
    });
}

/// A line of 5 000 bytes to `cat`, at once and in two pieces; and the longest that fits.
#[test]
fn a_line_is_never_cut_silently() {
    alone(async |bench| {
        let session = bench.sh("stty -echo; echo ready; exec cat").await;
        until_text(&session, "ready\n").await;
        let error = session.write(&Input::new().text(format!("{}\n", "x".repeat(5000))), PATIENCE).await.unwrap_err();
        assert!(matches!(error, WriteError::LineTooLong { length: 5000 }), "{error}");
        type_text(&session, &"y".repeat(3000)).await;
        let error = session.write(&Input::new().text(format!("{}\n", "x".repeat(2000))), PATIENCE).await.unwrap_err();
        assert!(matches!(error, WriteError::LineTooLong { length: 5000 }), "{error}");
        type_text(&session, &format!("{}\nend\n", "z".repeat(LONGEST_LINE - 3000))).await;
        let text = until_text(&session, "end\n").await;
        assert_eq!(text, format!("{}{}\nend\n", "y".repeat(3000), "z".repeat(LONGEST_LINE - 3000)));
    });
}

/// Fault 14.
#[test]
fn a_secret_waits_for_its_prompt_and_is_nowhere() {
    alone(async |bench| {
        let session = bench.python("import time,getpass; time.sleep(0.5); print(len(getpass.getpass()))").await;
        session.type_secret(b"hunter2", PATIENCE).await.unwrap();
        let text = until_exit(&session).await;
        assert!(text.ends_with("7\n"), "{text}");
        let seen = format!("{text} {:?} {:?} {session:?}", session.screen(), session.status().await);
        assert!(!seen.contains("hunter2"), "{seen}");
    });
}

/// A secret that nobody asks for is not typed.
#[test]
fn a_secret_without_a_prompt_is_not_typed() {
    alone(async |bench| {
        let session = bench.sh("echo ready; read x; echo got:$x").await;
        until_text(&session, "ready").await;
        let error = session.type_secret(b"hunter2", Duration::from_millis(200)).await.unwrap_err();
        assert!(matches!(error, WriteError::NoSecretPrompt), "{error}");
        type_text(&session, "\n").await;
        assert!(until_exit(&session).await.ends_with("got:\n"));
    });
}

/// Fault 15: those that ask for a secret.
#[test]
fn secret_prompts_are_recognised() {
    alone(async |bench| {
        let directory = tempfile::tempdir().unwrap();
        let key = directory.path().join("key");
        let keygen = ["ssh-keygen", "-t", "ed25519", "-f", key.to_str().unwrap()];
        let programs: [(&[&str], &str); 4] = [
            (&["bash", "-c", "read -s -p S: x"], "S:"),
            (&keygen, "passphrase"),
            (&["openssl", "enc", "-aes-256-cbc", "-pbkdf2", "-in", "/etc/hostname"], "password:"),
            (&["python3", "-c", "import getpass;getpass.getpass()"], "Password:"),
        ];
        for (argv, prompt) in programs {
            if !has_program(argv[0], "secret_prompts_are_recognised") {
                continue;
            }
            let session = bench.start(spec(argv)).await;
            until_text(&session, prompt).await;
            let begin = Instant::now();
            while session.status().await.waiting_for != Some(WaitingFor::Secret) {
                assert!(begin.elapsed() < Duration::from_millis(300), "{argv:?}: {:?}", session.status().await);
                tokio::time::sleep(Duration::from_millis(1)).await;
            }
            note(format!("{} asks for a secret: seen after {:?}", argv[0], begin.elapsed()));
            assert_eq!(session.waiter(Until::Quiet, Since::Unread).wait(PATIENCE).await, Reason::Input);
            session.stop(EndedBecause::Killed).await;
        }
    });
}

/// Fault 15: those that do not.
#[test]
fn other_programs_never_ask_for_a_secret() {
    alone(async |bench| {
        let programs: [&[&str]; 4] = [&["vim", "-u", "NONE"], &["top"], &["bash", "--norc", "-i"], &["sleep", "9"]];
        let mut sessions = Vec::new();
        for argv in programs {
            if has_program(argv[0], "other_programs_never_ask_for_a_secret") {
                sessions.push(bench.start(spec(argv)).await);
            }
        }
        let other = bench.pool(crate::harness::config());
        sessions.push(crate::harness::start_in(&other, &bench.owner, spec(&["cat"])).await.unwrap());
        let begin = Instant::now();
        let mut looks = 0;
        let mut named = vec![0; sessions.len()];
        while begin.elapsed() < Duration::from_secs(2) || looks < 50 {
            looks += 1;
            for (session, named) in sessions.iter().zip(&mut named) {
                let status = session.status().await;
                assert_ne!(status.waiting_for, Some(WaitingFor::Secret), "{}: {status:?}", session.command());
                *named += usize::from(status.foreground.is_some());
            }
        }
        note(format!("{looks} looks at {} programs", sessions.len()));
        assert!(named.iter().all(|named| *named > looks / 2), "{named:?} of {looks}");
    });
}

/// Fault 16.
#[test]
fn a_stop_character_does_not_freeze_the_output() {
    alone(async |bench| {
        let session = bench.sh("while :; do echo tick; sleep 0.1; done").await;
        until_text(&session, "tick").await;
        type_text(&session, "\x13").await;
        for _ in 0..3 {
            let waiter = session.waiter(Until::Text("tick".into()), Since::Unread);
            assert_eq!(waiter.wait(PATIENCE).await, Reason::Text);
        }
    });
}

/// Two calls that type at once: each one's input is one piece.
#[test]
fn two_writes_do_not_mix() {
    alone(async |bench| {
        // Squeezes runs of the same letter.
        let script = "stty raw -echo; echo ready; head -c 120000 | tr -s ab; echo .";
        let session = bench.sh(script).await;
        until_text(&session, "ready").await;
        let write = |letter: &str| {
            let (session, input) = (session.clone(), Input::new().text(letter.repeat(60_000)));
            tokio::spawn(async move { session.write(&input, PATIENCE).await })
        };
        let (a, b) = (write("a"), write("b"));
        a.await.unwrap().unwrap();
        b.await.unwrap().unwrap();
        let text = until_exit(&session).await;
        assert!(["ab.", "ba."].contains(&text.trim()), "{text:?}");
    });
}

/// Several lines to a program that has switched bracketed paste on arrive as one paste.
#[test]
fn several_lines_are_one_paste() {
    alone(async |bench| {
        let mut shell = spec(&["bash", "--norc", "--noprofile", "-i"]);
        shell.env.push(("PS1".into(), "ready> ".into()));
        let session = bench.start(shell).await;
        // What it switches on comes right before its prompt.
        until_text(&session, "ready> ").await;
        wants(&session, WaitingFor::Key).await;
        // Run line by line, the second line would be what `read` reads.
        type_text(&session, "echo start; read -r answer\necho got:$answer\n").await;
        wants(&session, WaitingFor::Line).await;
        let waiter = session.waiter(Until::Text("got:yes".into()), Since::Now);
        type_text(&session, "yes\n").await;
        assert_eq!(waiter.wait(PATIENCE).await, Reason::Text, "{}", session.read(10_000).text);
    });
}

/// Waits until a program wants this.
async fn wants(session: &Session, what: WaitingFor) {
    let begin = Instant::now();
    while session.status().await.waiting_for != Some(what) {
        assert!(begin.elapsed() < PATIENCE, "{:?} {}", session.status().await, session.read(10_000).text);
        tokio::time::sleep(Duration::from_millis(2)).await;
    }
}

/// Environment values are data.
#[test]
fn a_value_in_the_environment_is_never_executed() {
    alone(async |bench: Shared| {
        let directory = tempfile::tempdir().unwrap();
        let value = "a\ntouch p; $(touch p) `touch p`";
        let mut spec = spec(&["sh", "-c", "printf '%s.' \"$X\"; echo; sh -c :; exit 3"]);
        spec.workdir = directory.path().into();
        spec.env.push(("X".into(), value.into()));
        let session = bench.start(spec).await;
        assert_eq!(until_exit(&session).await, format!("{value}.\n"));
        assert_eq!(code(&session).await, Some(3));
        assert!(!directory.path().join("p").exists());
    });
}
