//! Counting what a process has and what is left of one, from `/proc`.

use std::time::{Duration, Instant};

/// Longer than anything takes on a loaded machine; a test that passes never waits for it.
pub(crate) const PATIENCE: Duration = Duration::from_secs(30);

/// What this process has at a moment.
#[derive(Debug)]
pub(crate) struct Holdings {
    pub(crate) descriptors: Vec<String>,
    pub(crate) threads: Vec<String>,
    /// Children, zombies too.
    pub(crate) children: Vec<String>,
}

impl Holdings {
    pub(crate) fn now() -> Self {
        Self { descriptors: descriptors(), threads: threads(), children: children() }
    }

    /// Whether nothing was added since `before`.
    fn within(&self, before: &Self) -> bool {
        self.descriptors.len() <= before.descriptors.len()
            && self.threads.len() <= before.threads.len()
            && self.children.len() <= before.children.len()
            && !self.children.iter().any(|child| child.contains(" Z "))
    }
}

/// Waits until this process has no more than it had, and no process of a command that it started is left.
#[track_caller]
pub(crate) fn assert_back_to(before: &Holdings, when: &str) {
    let end = Instant::now() + PATIENCE / 3;
    loop {
        let (now, left) = (Holdings::now(), processes_of(std::process::id()));
        if now.within(before) && left.is_empty() {
            return;
        }
        assert!(
            Instant::now() < end,
            "{when} something is left:\nprocesses {left:?}\nnow {now:#?}\nbefore {before:#?}"
        );
        std::thread::sleep(Duration::from_millis(5));
    }
}

fn descriptors() -> Vec<String> {
    let name = |entry: std::fs::DirEntry| {
        let target = std::fs::read_link(entry.path()).map(|path| path.display().to_string());
        format!("{} {}", entry.file_name().display(), target.unwrap_or_default())
    };
    std::fs::read_dir("/proc/self/fd").unwrap().flatten().map(name).collect()
}

fn threads() -> Vec<String> {
    let name = |entry: std::fs::DirEntry| std::fs::read_to_string(entry.path().join("comm")).unwrap_or_default();
    std::fs::read_dir("/proc/self/task").unwrap().flatten().map(name).collect()
}

fn children() -> Vec<String> {
    let own = std::process::id().to_string();
    let child = |pid: i32| stat(pid).filter(|stat| stat[1] == own).map(|stat| format!("{pid} {} ", stat.join(" ")));
    pids().into_iter().filter_map(child).collect()
}

fn pids() -> Vec<i32> {
    let entries = std::fs::read_dir("/proc").unwrap().flatten();
    entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok()).collect()
}

/// State, parent, group, session, ...
pub(crate) fn stat(pid: i32) -> Option<Vec<String>> {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    let fields = stat.rsplit_once(')')?.1;
    Some(fields.split_whitespace().map(str::to_owned).collect())
}

/// Whether there is such a process and it is no zombie.
pub(crate) fn is_alive(pid: i32) -> bool {
    stat(pid).is_some_and(|stat| !matches!(stat[0].as_str(), "Z" | "X"))
}

/// The living processes with this text in their environment.
pub(crate) fn with_environment(text: &str) -> Vec<i32> {
    let has = |pid: &i32| {
        std::fs::read(format!("/proc/{pid}/environ"))
            .is_ok_and(|bytes| bytes.windows(text.len()).any(|window| window == text.as_bytes()))
    };
    pids().into_iter().filter(|pid| is_alive(*pid)).filter(has).collect()
}

/// The living processes of all commands that the host with this pid started: a cookie begins with that number.
pub(crate) fn processes_of(host: u32) -> Vec<i32> {
    with_environment(&format!("{}={host}-", process::COOKIE))
}

/// Waits until something holds; returns how long that took.
#[track_caller]
pub(crate) fn until(what: &'static str, holds: impl Fn() -> bool) -> impl Future<Output = Duration> {
    let begin = Instant::now();
    async move {
        while !holds() {
            assert!(begin.elapsed() < PATIENCE, "not within {PATIENCE:?}: {what}");
            tokio::time::sleep(Duration::from_millis(2)).await;
        }
        begin.elapsed()
    }
}

/// The CPU time of this process, all threads.
pub(crate) fn cpu_time() -> Duration {
    let usage = nix::sys::resource::getrusage(nix::sys::resource::UsageWho::RUSAGE_SELF).unwrap();
    let duration = |time: nix::sys::time::TimeVal| {
        Duration::from_secs(time.tv_sec() as u64) + Duration::from_micros(time.tv_usec() as u64)
    };
    duration(usage.user_time()) + duration(usage.system_time())
}

/// The memory of this process, in bytes: what it has now, and the most it had since [`forget_peak`].
pub(crate) fn memory() -> (u64, u64) {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let field = |name: &str| {
        let line = status.lines().find_map(|line| line.strip_prefix(name)).unwrap();
        line.trim_end_matches("kB").trim().parse::<u64>().unwrap() * 1024
    };
    (field("VmRSS:"), field("VmHWM:"))
}

/// Starts measuring the peak of memory anew (proc(5), `clear_refs`).
pub(crate) fn forget_peak() {
    std::fs::write("/proc/self/clear_refs", "5").unwrap();
}

/// How often threads of this name went to sleep by themselves.
pub(crate) fn sleeps(thread: &str) -> u64 {
    let mut total = 0;
    for task in std::fs::read_dir("/proc/self/task").unwrap().flatten() {
        let name = std::fs::read_to_string(task.path().join("comm")).unwrap_or_default();
        let status = std::fs::read_to_string(task.path().join("status")).unwrap_or_default();
        if name.trim_end() == thread {
            let count = status.lines().find_map(|line| line.strip_prefix("voluntary_ctxt_switches:"));
            total += count.unwrap().trim().parse::<u64>().unwrap();
        }
    }
    total
}

/// Tells what a measurement gave.
pub(crate) fn note(text: impl std::fmt::Display) {
    println!("measured: {text}");
}

/// A limit of time that a debug build, whose code is many times slower, is not held to.
pub(crate) fn of_code(limit: Duration) -> Duration {
    if cfg!(debug_assertions) { limit * 20 } else { limit }
}

/// Whether a program is there; says so when a test is skipped for want of it.
pub(crate) fn has_program(program: &str, test: &str) -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let found = std::env::split_paths(&path).any(|directory| directory.join(program).is_file());
    if !found {
        println!("skipped: {test} needs the program {program}");
    }
    found
}

/// Whether tests that need root can run; says so when not.
pub(crate) fn is_root(test: &str) -> bool {
    let root = nix::unistd::geteuid().is_root();
    if !root {
        println!("skipped: {test} needs root");
    }
    root
}
