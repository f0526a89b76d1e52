//! How the processes of a foreground group sleep, from `/proc` (proc(5)).

use std::fs;
use std::path::{Path, PathBuf};

use super::{Seen, Sleep};
use crate::sys::{self, Process};

/// No more processes or threads than this are looked at: a probe is a glance, not a census.
const MOST: usize = 256;

/// Looks at the processes of `group` among the descendants of `leader`.
pub(super) fn members(leader: i32, group: i32) -> Seen {
    let living = descendants(leader).into_iter().filter(|process| process.group == group && !process.is_dead());
    let members: Vec<Process> = living.collect();
    let mut sleep = Sleep::Elsewhere;
    let mut program = None;
    for &Process { pid, .. } in &members {
        let its = sleep_of(pid);
        // The program to name is the one that reads; without one, the latest descendant.
        if rank(its) >= rank(sleep) {
            program = name_of(pid).or(program);
            sleep = its;
        }
    }
    let stopped = !members.is_empty() && members.iter().all(|process| matches!(process.state, b'T' | b't'));
    Seen { program, stopped, sleep: Some(sleep) }
}

fn rank(sleep: Sleep) -> u8 {
    match sleep {
        Sleep::Reading => 3,
        Sleep::OnInput => 2,
        Sleep::OnSome => 1,
        Sleep::Elsewhere => 0,
    }
}

/// Lists `leader` and its descendants, parents before children.
fn descendants(leader: i32) -> Vec<Process> {
    let mut pids = vec![leader];
    let mut found = Vec::new();
    let mut next = 0;
    while let Some(&pid) = pids.get(next)
        && next < MOST
    {
        next += 1;
        found.extend(sys::process(pid));
        // Without the kernel's lists the leader alone is seen.
        sys::children(pid, &mut pids);
    }
    found
}

fn tasks(pid: i32) -> Vec<PathBuf> {
    let Ok(entries) = fs::read_dir(format!("/proc/{pid}/task")) else {
        return Vec::new();
    };
    entries.take(MOST).filter_map(|entry| entry.ok().map(|entry| entry.path())).collect()
}

fn name_of(pid: i32) -> Option<String> {
    let comm = fs::read_to_string(format!("/proc/{pid}/comm")).ok()?;
    let comm = comm.trim_end();
    // The kernel keeps 15 bytes of the name; the executable's own name is whole, where it may be read.
    if comm.len() >= 15
        && let Ok(exe) = fs::read_link(format!("/proc/{pid}/exe"))
        && let Some(name) = exe.file_name().and_then(|name| name.to_str())
        && name.starts_with(comm)
    {
        return Some(name.to_owned());
    }
    Some(comm.to_owned())
}

/// The most telling sleep of a process's threads: a program may read the terminal in any of them.
fn sleep_of(pid: i32) -> Sleep {
    let threads: Vec<Option<Sleep>> = tasks(pid).iter().map(|task| thread_sleep(pid, task)).collect();
    let runs = threads.contains(&None);
    let most = threads.into_iter().flatten().max_by_key(|&sleep| rank(sleep)).unwrap_or(Sleep::Elsewhere);
    // A runtime keeps threads that poll while another computes.
    if most == Sleep::OnSome && runs { Sleep::Elsewhere } else { most }
}

/// How a thread sleeps, or `None` while it runs.
fn thread_sleep(pid: i32, task: &Path) -> Option<Sleep> {
    let sleep = match fs::read_to_string(task.join("syscall")) {
        Ok(line) if line.starts_with("running") => return None,
        Ok(line) => system_call(pid, &line),
        // Not ours to look into (another user's, or ptrace is restricted): the kernel function is still told.
        Err(_) => match fs::read_to_string(task.join("wchan")).as_deref() {
            Ok("wait_woken" | "n_tty_read") => Sleep::Reading,
            _ => Sleep::Elsewhere,
        },
    };
    Some(sleep)
}

/// Reads a line of `syscall`: the number and six arguments, hexadecimal; or `running`, or `-1` outside a call.
fn system_call(pid: i32, line: &str) -> Sleep {
    let mut fields = line.split_ascii_whitespace();
    let Some(number) = fields.next().and_then(|number| number.parse::<i64>().ok()) else {
        return Sleep::Elsewhere;
    };
    let argument: Vec<u64> =
        fields.take(6).map(|text| u64::from_str_radix(text.trim_start_matches("0x"), 16).unwrap_or(u64::MAX)).collect();
    let &[first, second, third, _, fifth, _] = argument.as_slice() else {
        return Sleep::Elsewhere;
    };
    match number {
        libc::SYS_read | libc::SYS_readv if is_terminal(pid, first) => Sleep::Reading,
        libc::SYS_pselect6 if first == 1 && second != 0 && fifth == 0 => Sleep::OnInput,
        libc::SYS_ppoll if second == 1 && third == 0 && is_terminal(pid, 0) => Sleep::OnInput,
        libc::SYS_pselect6 | libc::SYS_ppoll | libc::SYS_epoll_pwait => Sleep::OnSome,
        other => older_call(other, argument.as_slice(), pid),
    }
}

/// The calls that newer architectures no longer have.
#[cfg(target_arch = "x86_64")]
fn older_call(number: i64, argument: &[u64], pid: i32) -> Sleep {
    match (number, argument) {
        (libc::SYS_select, &[1, readable, _, _, 0, _]) if readable != 0 => Sleep::OnInput,
        // A negative timeout waits for ever; the kernel shows the int as it was passed, in 32 or 64 bits.
        (libc::SYS_poll, &[_, 1, timeout, ..]) if timeout as i32 == -1 && is_terminal(pid, 0) => Sleep::OnInput,
        (libc::SYS_select | libc::SYS_poll | libc::SYS_epoll_wait, _) => Sleep::OnSome,
        _ => Sleep::Elsewhere,
    }
}

#[cfg(not(target_arch = "x86_64"))]
fn older_call(_number: i64, _argument: &[u64], _pid: i32) -> Sleep {
    Sleep::Elsewhere
}

fn is_terminal(pid: i32, descriptor: u64) -> bool {
    match fs::read_link(format!("/proc/{pid}/fd/{descriptor}")) {
        Ok(target) => target.starts_with("/dev/pts") || target == Path::new("/dev/tty"),
        Err(_) => false,
    }
}
