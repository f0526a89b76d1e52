//! From the request to the first output of a program, in small and in large hosts.

use std::hint::black_box;
use std::time::Instant;

use process::pty::PtySettings;
use process::{Reason, Until};

use crate::engine::{Bench, PATIENCE};
use crate::floor::Floor;
use crate::row::{Limit, Pair, alternate, median};
use crate::{Plan, Result};

const ARGV: &[&str] = &["/bin/echo", "hello"];

pub(crate) fn measure(plan: Plan) -> Result<()> {
    // Started while the process is small, as in a host that runs its first command early, and in one that does not.
    let early = Bench::new()?;
    run(plan, "small host", &early)?;
    let heap = black_box(vec![1_u8; 1 << 30]);
    run(plan, "1 GiB resident", &early)?;
    run(plan, "1 GiB resident, engine started after", &Bench::new()?)?;
    drop(heap);
    let open = (0..5_000).map(|_| std::fs::File::open("/dev/null")).collect::<std::io::Result<Vec<_>>>()?;
    run(plan, "5 000 open descriptors", &early)?;
    drop(open);
    Ok(())
}

fn run(plan: Plan, name: &str, bench: &Bench) -> Result<()> {
    let starts = plan.amount(100);
    let mut pair = Pair::default();
    let ours = || {
        let times = (0..starts).map(|_| ours(bench)).collect::<Result<Vec<_>>>();
        bench.end_all();
        times
    };
    let floor = || (0..starts).map(|_| floor()).collect();
    alternate(plan.repetitions, floor, ours, |floor, ours| pair.push(median(floor), median(ours)))?;
    pair.print("spawn", name, "us", Limit::RatioAtMost(1.6));
    Ok(())
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
        let reason = session.first_waiter(Until::Text("hello".to_owned())).wait(PATIENCE).await;
        let time = begun.elapsed().as_secs_f64() * 1e6;
        if reason != Reason::Text {
            return Err(format!("the program printed nothing: {reason:?}").into());
        }
        session.first_waiter(Until::Exit).wait(PATIENCE).await;
        Ok(time)
    })
}
