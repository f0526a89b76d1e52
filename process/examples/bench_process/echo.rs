//! A line typed into a session until it comes back, alone and beside sessions that flood.

use std::time::Instant;

use process::pty::PtySettings;
use process::{Input, Reason, Session, Since, Until};

use crate::engine::{Bench, PATIENCE};
use crate::floor::Floor;
use crate::row::{Limit, Pair, alternate, median, percentile};
use crate::{Plan, Result};

/// The terminal itself echoes nothing, so that what comes back was read and written by the program.
const SETTINGS: PtySettings = PtySettings { utf8: true, flow_control: false, newline_to_crlf: false, echo: false };

const FLOODS: usize = 4;

pub(crate) fn measure(plan: Plan) -> Result<()> {
    let lines = plan.amount(2_000);
    for (name, bench, limit) in [
        ("alone, engine on the caller's thread", Bench::on_one_thread()?, Limit::RatioAtMost(1.6)),
        ("alone, engine on its own threads", Bench::new()?, Limit::None),
    ] {
        let mut pair = Pair::default();
        let ours = || {
            let session = bench.block_on(bench.start(&["cat"], SETTINGS))?;
            let times = echoes(&bench, &session, lines);
            bench.end_all();
            times
        };
        alternate(
            plan.repetitions,
            || floor_echoes(lines),
            ours,
            |floor, ours| {
                pair.push(median(floor), median(ours));
            },
        )?;
        pair.print("echo", name, "us", limit);
    }
    flooded(plan, "4 x `yes`", &["yes"])?;
    flooded(plan, "4 x one long line", &["sh", "-c", "exec tr '\\0' a < /dev/zero"])
}

fn flooded(plan: Plan, name: &str, flood: &[&str]) -> Result<()> {
    let lines = plan.amount(1_000);
    let bench = Bench::new()?;
    let (mut middle, mut tail) = (Pair::default(), Pair::default());
    let floor = || {
        let floods = (0..FLOODS).map(|_| Ok(Floor::start(flood, SETTINGS)?.flood())).collect::<Result<Vec<_>>>()?;
        let times = floor_echoes(lines);
        for (mut child, reader) in floods {
            child.kill()?;
            child.wait()?;
            reader.join().map_err(|_| "a reader panicked")?;
        }
        times
    };
    let ours = || {
        for _ in 0..FLOODS {
            bench.block_on(bench.start(flood, SETTINGS))?;
        }
        let session = bench.block_on(bench.start(&["cat"], SETTINGS))?;
        let times = echoes(&bench, &session, lines);
        bench.end_all();
        times
    };
    alternate(plan.repetitions, floor, ours, |floor, ours| {
        tail.push(percentile(floor.clone(), 0.99) / 1e3, percentile(ours.clone(), 0.99) / 1e3);
        middle.push(median(floor) / 1e3, median(ours) / 1e3);
    })?;
    middle.print("echo", &format!("beside {name}, floor a thread each: median"), "ms", Limit::AtMost(0.6));
    tail.print("echo", &format!("beside {name}: 99 of 100"), "ms", Limit::AtMost(2.0));
    Ok(())
}

/// The time of each echo of a plain loop, in microseconds.
fn floor_echoes(lines: usize) -> Result<Vec<f64>> {
    let mut floor = Floor::start(&["cat"], SETTINGS)?;
    let mut times = Vec::with_capacity(lines);
    for number in 0..lines {
        let line = format!("line {number};\n");
        let begun = Instant::now();
        floor.echo(&line)?;
        times.push(begun.elapsed().as_secs_f64() * 1e6);
    }
    floor.end()?;
    Ok(times)
}

/// The time of each echo of a session, in microseconds: a wait for the text, the write, the text.
fn echoes(bench: &Bench, session: &Session, lines: usize) -> Result<Vec<f64>> {
    bench.block_on(async {
        let mut times = Vec::with_capacity(lines);
        for number in 0..lines {
            let line = format!("line {number};\n");
            let begun = Instant::now();
            let waiter = session.waiter(Until::Text(line.trim_end().to_owned()), Since::Unread);
            session.write(&Input::new().text(&line), PATIENCE).await?;
            let reason = waiter.wait(PATIENCE).await;
            times.push(begun.elapsed().as_secs_f64() * 1e6);
            if reason != Reason::Text {
                return Err(format!("the echo did not come: {reason:?}").into());
            }
        }
        Ok(times)
    })
}
