//! Measures the engine against floors built in the same run; `cargo xtask bench` runs it and prints the table.
//!
//! Each line of output is one row, as JSON. `--repetitions N`, `--quick` (small inputs), `--only GROUP`.

#[cfg(target_os = "linux")]
mod cleaner;
#[cfg(target_os = "linux")]
mod crowd;
#[cfg(target_os = "linux")]
mod drain;
#[cfg(target_os = "linux")]
mod echo;
#[cfg(target_os = "linux")]
mod engine;
#[cfg(target_os = "linux")]
mod floor;
#[cfg(target_os = "linux")]
mod idle;
#[cfg(target_os = "linux")]
mod inputs;
#[cfg(target_os = "linux")]
mod proc;
#[cfg(target_os = "linux")]
mod row;
#[cfg(target_os = "linux")]
mod spawn;

#[cfg(target_os = "linux")]
type Result<T> = std::result::Result<T, Box<dyn std::error::Error>>;

/// What is asked of a run.
#[cfg(target_os = "linux")]
#[derive(Clone, Copy, Debug)]
struct Plan {
    /// How often each measurement is repeated.
    repetitions: usize,
    /// How much is measured.
    scale: Scale,
}

#[cfg(target_os = "linux")]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Scale {
    /// Enough for ratios to settle.
    Full,
    /// Enough to see that it works.
    Quick,
}

#[cfg(target_os = "linux")]
impl Plan {
    /// An amount, or a tenth of it in a quick run.
    fn amount(self, full: usize) -> usize {
        match self.scale {
            Scale::Full => full,
            Scale::Quick => full.div_ceil(10),
        }
    }
}

/// A group of rows and what measures it.
#[cfg(target_os = "linux")]
type Group = (&'static str, fn(Plan) -> Result<()>);

/// In an order in which none disturbs a later one: what looks at the memory of a fresh process comes first.
#[cfg(target_os = "linux")]
const GROUPS: &[Group] = &[
    ("idle", idle::measure),
    ("crowd", crowd::measure),
    ("cleaner", cleaner::measure),
    ("drain", drain::measure),
    ("echo", echo::measure),
    ("spawn", spawn::measure),
];

#[cfg(target_os = "linux")]
fn main() -> Result<()> {
    process::run_if_requested();
    let mut plan = Plan { repetitions: 7, scale: Scale::Full };
    let mut only = None;
    let mut arguments = std::env::args().skip(1);
    while let Some(argument) = arguments.next() {
        match argument.as_str() {
            "--quick" => plan.scale = Scale::Quick,
            "--repetitions" => plan.repetitions = arguments.next().ok_or("how many repetitions?")?.parse()?,
            "--only" => only = arguments.next(),
            other => return Err(format!("unknown argument `{other}`").into()),
        }
    }
    proc::raise_descriptor_limit()?;
    for (name, measure) in GROUPS {
        if only.as_deref().is_none_or(|only| only == *name) {
            measure(plan)?;
        }
    }
    Ok(())
}

#[cfg(not(target_os = "linux"))]
fn main() {
    eprintln!("the floors and the counters are Linux's; there is nothing to measure here");
}
