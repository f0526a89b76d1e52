//! Two hundred sessions that print at once.

use std::time::Instant;

use process::pty::PtySettings;
use process::{Reason, Since, Until};

use crate::engine::{Bench, PATIENCE, RETAINED};
use crate::floor::Floor;
use crate::row::{Limit, Pair, alternate, median, print_alone};
use crate::{Plan, Result, inputs, proc};

const SESSIONS: usize = 200;

/// Bytes that each prints.
const PRINTED: usize = 1_000_000;

pub(crate) fn measure(plan: Plan) -> Result<()> {
    let directory = tempfile::tempdir()?;
    let path = directory.path().join("log");
    std::fs::write(&path, inputs::plain(PRINTED))?;
    let path = path.display().to_string();
    let argv: &[&str] = &["cat", &path];
    let bench = Bench::new()?;
    let (mut wall, mut memory) = (Pair::default(), Vec::new());
    let ours = || {
        let before = proc::own_kib()?;
        let time = ours(&bench, argv)?;
        memory.push((proc::own_kib()? - before) / SESSIONS as f64 - RETAINED as f64 / 1024.0);
        bench.end_all();
        Ok(time)
    };
    let repetitions = plan.repetitions.min(if plan.amount(10) == 1 { 1 } else { 3 });
    alternate(repetitions, || floor(argv), ours, |floor, ours| wall.push(floor, ours))?;
    wall.print("crowd", "200 sessions, 1 MB each, floor a thread each: wall", "ms", Limit::None);
    // The first run, since later ones find memory that the first one left.
    memory.truncate(1);
    print_alone(
        "crowd",
        "200 sessions: memory of each beyond retained text",
        "KiB",
        median(memory),
        Limit::AtMost(64.0),
    );
    Ok(())
}

fn floor(argv: &[&str]) -> Result<f64> {
    let begun = Instant::now();
    let floors = (0..SESSIONS).map(|_| Floor::start(argv, PtySettings::default())).collect::<Result<Vec<_>>>()?;
    let readers: Vec<_> = floors.into_iter().map(Floor::flood).collect();
    for (mut child, reader) in readers {
        reader.join().map_err(|_| "a reader panicked")?;
        child.wait()?;
    }
    Ok(begun.elapsed().as_secs_f64() * 1e3)
}

fn ours(bench: &Bench, argv: &[&str]) -> Result<f64> {
    bench.block_on(async {
        let begun = Instant::now();
        let mut sessions = Vec::new();
        for _ in 0..SESSIONS {
            sessions.push(bench.start(argv, PtySettings::default()).await?);
        }
        for session in &sessions {
            if session.waiter(Until::Exit, Since::Start).wait(PATIENCE).await != Reason::Exit {
                return Err("a session did not end".into());
            }
        }
        Ok(begun.elapsed().as_secs_f64() * 1e3)
    })
}
