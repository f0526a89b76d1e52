//! Programs that ask the terminal, and output that is made to cost: faults 18, 20 and 21.

use std::time::{Duration, Instant};

use process::{EndedBecause, Session};

use crate::harness::{Shared, alone, spec, type_text, until_exit};
use crate::measure::{PATIENCE, cpu_time, forget_peak, has_program, memory, note, of_code};

/// Waits until the screen shows this; returns how long that took.
async fn shows(session: &Session, text: &str) -> Duration {
    let begin = Instant::now();
    loop {
        let screen = session.screen().unwrap();
        if screen.rows.iter().any(|row| row.contains(text)) {
            return begin.elapsed();
        }
        assert!(begin.elapsed() < PATIENCE && session.is_running(), "{text} is not shown: {screen:?}");
        tokio::time::sleep(Duration::from_millis(2)).await;
    }
}

/// Fault 18.
#[test]
fn a_program_that_asks_where_the_cursor_is_goes_on() {
    if !has_program("fzf", "a_program_that_asks_where_the_cursor_is_goes_on") {
        return;
    }
    alone(async |bench| {
        let session = bench.sh("printf 'apple\\nbanana\\ncherry\\n' | fzf --height 40%").await;
        let took = shows(&session, "banana").await;
        note(format!("fzf draws its list after {took:?}"));
        assert!(took < Duration::from_millis(500), "{took:?}");
        type_text(&session, "cherry").await;
        shows(&session, "1/3").await;
        type_text(&session, "\n").await;
        let text = until_exit(&session).await;
        assert!(text.ends_with("cherry\n"), "{text:?}");
    });
}

/// Runs a script to its end and the screen; returns the CPU time and the memory it took.
async fn cost(bench: &Shared, what: &str, argv: &[&str]) -> (Duration, u64, Session) {
    let (before, _) = memory();
    forget_peak();
    let cpu = cpu_time();
    let session = bench.start(spec(argv)).await;
    until_exit(&session).await;
    let rows = session.screen().unwrap().rows;
    assert_eq!(rows.len(), 40);
    let (cpu, peak) = (cpu_time() - cpu, memory().1.saturating_sub(before));
    note(format!("{what}: {cpu:?} CPU, {} KiB", peak / 1024));
    assert!(peak < 4 << 20, "{what}: {} KiB", peak / 1024);
    (cpu, peak, session)
}

/// Fault 20.
#[test]
fn unterminated_strings_are_bounded() {
    alone(async |bench| {
        // The first is as long as it gets, the others are as long as is telling.
        for (introducer, length) in [("]0;", "300M"), ("P", "30M"), ("_", "30M"), ("X", "30M"), ("^", "30M")] {
            let script = format!("printf '\\033{introducer}'; yes a | head -c {length}; printf '\\nVISIBLE\\n'");
            let (_, _, session) = cost(&bench, &format!("ESC {introducer} and {length}"), &["sh", "-c", &script]).await;
            let rows = session.screen().unwrap().rows;
            assert!(rows.iter().any(|row| row == "VISIBLE"), "{introducer}: {rows:?}");
        }
    });
}

/// Fault 21.
#[test]
fn a_few_bytes_never_cost_much() {
    alone(async |bench| {
        let write = |bytes: &str| format!("import sys; w=sys.stdout.buffer.write; {bytes}");
        let amplifiers = [
            ("repeats", write(r"w(b'a\x1b[65535b'*2000)")),
            ("titles", write(r"w(b'\x1b]0;'+b't'*100000+b'\x07'); w(b'\x1b[22;0t'*5000)")),
            ("combining marks", write(r"w(b'a'); w('\u0301'.encode()*5000000)")),
        ];
        for (what, program) in amplifiers {
            let (cpu, _, session) = cost(&bench, what, &["python3", "-c", &program]).await;
            // The marks are ten megabytes, which a terminal has to read in any case.
            let limit = Duration::from_millis(200);
            assert!(cpu < of_code(limit), "{what}: {cpu:?}");
            session.stop(EndedBecause::Killed).await;
        }
    });
}
