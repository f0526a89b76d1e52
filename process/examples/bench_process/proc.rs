//! What the kernel counts: processor time, memory, wake-ups, children.

use std::fs;

use nix::sys::resource::{Resource, UsageWho, getrlimit, getrusage, setrlimit};
use nix::sys::time::TimeValLike as _;

use crate::Result;

/// Processor time of this process so far, in milliseconds; its children are not in it.
pub(crate) fn cpu_ms() -> Result<f64> {
    let usage = getrusage(UsageWho::RUSAGE_SELF)?;
    Ok((usage.user_time() + usage.system_time()).num_microseconds() as f64 / 1e3)
}

/// Allows as many open descriptors as the system does.
pub(crate) fn raise_descriptor_limit() -> Result<()> {
    let (_, hard) = getrlimit(Resource::RLIMIT_NOFILE)?;
    Ok(setrlimit(Resource::RLIMIT_NOFILE, hard, hard)?)
}

/// Memory that only this process has, in KiB.
pub(crate) fn private_kib(pid: u32) -> Result<f64> {
    let text = fs::read_to_string(format!("/proc/{pid}/smaps_rollup"))?;
    Ok(["Private_Clean:", "Private_Dirty:"].iter().map(|name| number(&text, name)).sum())
}

/// The same of this process.
pub(crate) fn own_kib() -> Result<f64> {
    private_kib(std::process::id())
}

/// How often the threads of a process went to sleep or were interrupted, in all, but for one thread.
pub(crate) fn switches(pid: u32, but_for: Option<u32>) -> Result<f64> {
    let mut switches = 0.0;
    for task in fs::read_dir(format!("/proc/{pid}/task"))? {
        let task = task?;
        if task.file_name().to_str().and_then(|name| name.parse().ok()) == but_for {
            continue;
        }
        let text = fs::read_to_string(task.path().join("status"))?;
        switches += number(&text, "voluntary_ctxt_switches:") + number(&text, "nonvoluntary_ctxt_switches:");
    }
    Ok(switches)
}

/// The children of a process.
pub(crate) fn children(pid: u32) -> Result<Vec<u32>> {
    let mut found = Vec::new();
    for task in fs::read_dir(format!("/proc/{pid}/task"))? {
        let children = fs::read_to_string(task?.path().join("children"))?;
        found.extend(children.split_whitespace().filter_map(|pid| pid.parse::<u32>().ok()));
    }
    Ok(found)
}

/// The number after a name at the start of a line.
fn number(text: &str, name: &str) -> f64 {
    let line = text.lines().find_map(|line| line.strip_prefix(name));
    line.and_then(|line| line.split_whitespace().next()).and_then(|word| word.parse().ok()).unwrap_or(f64::NAN)
}
