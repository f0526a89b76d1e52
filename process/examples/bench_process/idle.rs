//! What a session costs while nothing happens: memory, wake-ups, its guardian.

use std::time::Duration;

use process::pty::PtySettings;
use process::{Since, Until};

use crate::engine::{Bench, PATIENCE, RETAINED};
use crate::row::{Limit, median, print_alone};
use crate::{Plan, Result, proc};

/// Sessions; many, since memory is counted by pages.
const SESSIONS: usize = 100;

/// What is printed by those that print: more than is retained.
const PRINTED: usize = 1_000_000;

pub(crate) fn measure(plan: Plan) -> Result<()> {
    silent(plan)?;
    after_output()
}

fn silent(plan: Plan) -> Result<()> {
    let bench = Bench::new()?;
    let this = std::process::id();
    // What the first one starts stays: the engine's threads, the fork server.
    start(&bench, 1, "sleep 1000")?;
    let before = proc::own_kib()?;
    start(&bench, SESSIONS, "sleep 1000")?;
    let each = (proc::own_kib()? - before) / SESSIONS as f64;
    print_alone("idle", "a silent session: memory of the host", "KiB", each, Limit::AtMost(32.0));

    let servers = proc::children(this)?;
    let guardians = servers.iter().map(|server| proc::children(*server)).collect::<Result<Vec<_>>>()?.concat();
    let memory = guardians.iter().map(|guardian| proc::private_kib(*guardian)).collect::<Result<Vec<_>>>()?;
    print_alone("idle", "a guardian: private memory", "KiB", median(memory), Limit::AtMost(1024.0));

    let counted = || -> Result<(f64, f64)> {
        let all = guardians.iter().map(|guardian| proc::switches(*guardian, None)).collect::<Result<Vec<_>>>()?;
        // The main thread, whose number is the process's, is the one that measures.
        Ok((proc::switches(this, Some(this))?, all.iter().sum()))
    };
    std::thread::sleep(Duration::from_millis(500));
    let before = counted()?;
    std::thread::sleep(Duration::from_secs(plan.amount(10) as u64));
    let after = counted()?;
    let host = after.0 - before.0;
    print_alone("idle", "100 silent sessions: wake-ups of the host", "count", host, Limit::AtMost(0.0));
    print_alone("idle", "100 silent sessions: wake-ups of guardians", "count", after.1 - before.1, Limit::AtMost(0.0));
    Ok(())
}

fn after_output() -> Result<()> {
    let bench = Bench::new()?;
    start(&bench, 1, "sleep 1000")?;
    let before = proc::own_kib()?;
    start(&bench, SESSIONS, &format!("yes 0123456789 | head -c {PRINTED}; echo; echo done-printing; exec sleep 1000"))?;
    let each = (proc::own_kib()? - before) / SESSIONS as f64 - RETAINED as f64 / 1024.0;
    print_alone("idle", "after 1 MB of output: memory beyond retained text", "KiB", each, Limit::AtMost(32.0));
    Ok(())
}

/// Starts sessions, and waits until each has printed what it prints.
fn start(bench: &Bench, sessions: usize, script: &str) -> Result<()> {
    bench.block_on(async {
        for _ in 0..sessions {
            let session = bench.start(&["sh", "-c", script], PtySettings::default()).await?;
            if script.contains("done-printing") {
                session.waiter(Until::Text("\ndone-printing".to_owned()), Since::Start).wait(PATIENCE).await;
            }
        }
        Ok(())
    })
}
