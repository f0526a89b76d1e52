//! Draining a terminal: from the start of a program to its end, with everything read, cleaned and retained.

use std::time::Instant;

use process::pty::PtySettings;
use process::{Reason, Since, Until};

use crate::engine::{Bench, PATIENCE};
use crate::floor::Floor;
use crate::row::{Limit, Pair, alternate};
use crate::{Plan, Result, inputs, proc};

/// Wall time and own processor time, both in milliseconds.
type Times = (f64, f64);

pub(crate) fn measure(plan: Plan) -> Result<()> {
    let directory = tempfile::tempdir()?;
    let file = |name: &str, bytes: Vec<u8>| -> Result<String> {
        let path = directory.path().join(name);
        std::fs::write(&path, bytes)?;
        Ok(path.display().to_string())
    };
    let lines = plan.amount(3_000_000).to_string();
    let line = file("line", inputs::one_line(plan.amount(50 << 20)))?;
    let colours = file("colours", inputs::colours(plan.amount(50 << 20)))?;
    let bench = Bench::new()?;
    let ours = PtySettings::default();
    let streams: [(&str, &[&str]); 3] =
        [("seq", &["seq", "1", &lines]), ("one line", &["cat", &line]), ("dense colours", &["cat", &colours])];
    for (name, argv) in streams {
        let (mut wall, mut cpu) = (Pair::default(), Pair::default());
        alternate(
            plan.repetitions,
            || drain_floor(argv, ours),
            || drain_ours(&bench, argv),
            |floor, ours| {
                wall.push(floor.0, ours.0);
                cpu.push(floor.1, ours.1);
            },
        )?;
        wall.print("drain", &format!("{name}: wall"), "ms", Limit::RatioAtMost(1.2));
        cpu.print("drain", &format!("{name}: own CPU"), "ms", Limit::RatioAtMost(1.4));
    }

    let argv: &[&str] = &["seq", "1", &lines];
    let default = PtySettings { newline_to_crlf: true, ..PtySettings::default() };
    let mut wall = Pair::default();
    alternate(
        plan.repetitions,
        || drain_floor(argv, default),
        || drain_ours(&bench, argv),
        |floor, ours| {
            // As speeds, so that more is better.
            wall.push(1e3 / floor.0, 1e3 / ours.0);
        },
    )?;
    wall.print("drain", "seq, floor on default settings: speed", "runs/s", Limit::RatioAtLeast(3.0));
    Ok(())
}

fn drain_floor(argv: &[&str], settings: PtySettings) -> Result<Times> {
    let (begun, cpu) = (Instant::now(), proc::cpu_ms()?);
    let total = Floor::start(argv, settings)?.drain()?;
    if total == 0 {
        return Err("the program printed nothing".into());
    }
    Ok((begun.elapsed().as_secs_f64() * 1e3, proc::cpu_ms()? - cpu))
}

fn drain_ours(bench: &Bench, argv: &[&str]) -> Result<Times> {
    let (begun, cpu) = (Instant::now(), proc::cpu_ms()?);
    let read = bench.block_on(async {
        let session = bench.start(argv, PtySettings::default()).await?;
        let reason = session.waiter(Until::Exit, Since::Start).wait(PATIENCE).await;
        Ok::<_, Box<dyn std::error::Error>>((reason, session.read(usize::MAX)))
    });
    let times = (begun.elapsed().as_secs_f64() * 1e3, proc::cpu_ms()? - cpu);
    let (reason, read) = read?;
    if reason != Reason::Exit || read.text.is_empty() || read.remaining_chars > 0 {
        return Err(format!("the program was not read to its end: {reason:?}").into());
    }
    bench.end_all();
    Ok(times)
}
