//! From the request to the first output of a program, in small and in large hosts.

use std::hint::black_box;
use std::time::{Duration, Instant};

use process::pty::PtySettings;
use process::{Reason, Since, Until};

use crate::engine::{Bench, PATIENCE};
use crate::floor::Floor;
use crate::row::{Limit, Pair, alternate, median};
use crate::{Plan, Result};

/// Between two starts: commands are started now and then, and what the last one left to do is done.
const PAUSE: Duration = Duration::from_millis(10);

const ARGV: &[&str] = &["/bin/echo", "hello"];

pub(crate) fn measure(plan: Plan) -> Result<()> {
    // Started while the process is small, as in a host that runs its first command early, and in one that does not.
    let early = Bench::new()?;
    run(plan, "small host", &early, PAUSE)?;
    run(plan, "small host, one right after the other", &early, Duration::ZERO)?;
    let heap = black_box(vec![1_u8; 1 << 30]);
    run(plan, "1 GiB resident", &early, PAUSE)?;
    run(plan, "1 GiB resident, engine started after", &Bench::new()?, PAUSE)?;
    drop(heap);
    let open = (0..5_000).map(|_| std::fs::File::open("/dev/null")).collect::<std::io::Result<Vec<_>>>()?;
    run(plan, "5 000 open descriptors", &early, PAUSE)?;
    drop(open);
    Ok(())
}

fn run(plan: Plan, name: &str, bench: &Bench, pause: Duration) -> Result<()> {
    let starts = plan.amount(100);
    let mut pair = Pair::default();
    let ours = || {
        let times = (0..starts).map(|_| paused(pause, || ours(bench))).collect::<Result<Vec<_>>>();
        bench.end_all();
        times
    };
    let floor = || (0..starts).map(|_| paused(pause, floor)).collect();
    alternate(plan.repetitions, floor, ours, |floor, ours| pair.push(median(floor), median(ours)))?;
    let limit = if pause.is_zero() { Limit::None } else { Limit::RatioAtMost(1.6) };
    pair.print("spawn", name, "us", limit);
    Ok(())
}

fn paused(pause: Duration, start: impl FnOnce() -> Result<f64>) -> Result<f64> {
    std::thread::sleep(pause);
    start()
}

fn floor() -> Result<f64> {
    let begun = Instant::now();
    let mut floor = Floor::start(ARGV, PtySettings::default())?;
    if floor.read()?.is_empty() {
        return Err("the program printed nothing".into());
    }
    let time = begun.elapsed().as_secs_f64() * 1e6;
    floor.drain()?;
    Ok(time)
}

fn ours(bench: &Bench) -> Result<f64> {
    bench.block_on(async {
        let begun = Instant::now();
        let session = bench.start(ARGV, PtySettings::default()).await?;
        let reason = session.waiter(Until::Text("hello".to_owned()), Since::Start).wait(PATIENCE).await;
        let time = begun.elapsed().as_secs_f64() * 1e6;
        if reason != Reason::Text {
            return Err(format!("the program printed nothing: {reason:?}").into());
        }
        session.waiter(Until::Exit, Since::Start).wait(PATIENCE).await;
        Ok(time)
    })
}
