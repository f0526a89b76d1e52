//! System calls the standard library and `nix` do not offer as safe functions; the only `unsafe` of this crate.
#![expect(unsafe_code, reason = "fork, exec, signals and terminal requests have no safe form")]

pub(crate) mod exec;
pub(crate) mod fork;
#[cfg(target_os = "linux")]
mod linux;
#[cfg(target_os = "macos")]
mod macos;
pub(crate) mod socket;
pub(crate) mod tty;
pub(crate) mod watch;

#[cfg(target_os = "linux")]
pub(crate) use linux::{
    all_processes, become_subreaper, children, close_from, command_line, environment_contains, execute_descriptor,
    executes_descriptors, holds, name_process, process, set_close_on_exec_from, signal, subreaper, wait_channel,
};
#[cfg(target_os = "macos")]
pub(crate) use macos::{
    all_processes, become_subreaper, children, close_from, command_line, environment_contains, execute_descriptor,
    executes_descriptors, holds, name_process, process, set_close_on_exec_from, signal, subreaper, wait_channel,
};

/// One process, read at one moment. `(pid, start)` is its identity: a pid alone is used again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Process {
    pub(crate) pid: i32,
    pub(crate) parent: i32,
    pub(crate) group: i32,
    pub(crate) session: i32,
    /// When it started, in a unit of the system's own.
    pub(crate) start: u64,
    /// The state letter of `ps`.
    pub(crate) state: u8,
    /// The kernel's short name, padded with zeros.
    pub(crate) name: [u8; 16],
}

impl Process {
    /// A zombie holds nothing but its number.
    pub(crate) fn is_dead(&self) -> bool {
        matches!(self.state, b'Z' | b'X' | b'x')
    }

    pub(crate) fn name(&self) -> String {
        let end = self.name.iter().position(|byte| *byte == 0).unwrap_or(self.name.len());
        String::from_utf8_lossy(&self.name[..end]).into_owned()
    }
}

/// The soft limit of open descriptors, or `None` when it cannot be read.
pub(crate) fn descriptor_limit() -> Option<u64> {
    let mut limit = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
    // SAFETY: `limit` is a valid place for the answer.
    let result = unsafe { libc::getrlimit(libc::RLIMIT_NOFILE, &mut limit) };
    (result == 0).then_some(limit.rlim_cur)
}

/// Sets the soft limit of open descriptors, never above the hard one; `u64::MAX` asks for the hard one.
pub(crate) fn set_descriptor_limit(soft: u64) {
    let mut limit = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
    // SAFETY: `limit` is a valid place for the answer, and then a valid argument.
    unsafe {
        if libc::getrlimit(libc::RLIMIT_NOFILE, &mut limit) == 0 {
            limit.rlim_cur = soft.min(limit.rlim_max);
            libc::setrlimit(libc::RLIMIT_NOFILE, &limit);
        }
    }
}

/// The file creation mask. Only right while the process has one thread, since reading it means setting it.
pub(crate) fn creation_mask() -> u32 {
    // SAFETY: `umask` has no preconditions.
    unsafe {
        let mask = libc::umask(0o077);
        libc::umask(mask);
        #[expect(clippy::useless_conversion, reason = "the type is narrower elsewhere")]
        u32::from(mask)
    }
}

/// How a child ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Ended {
    Code(i32),
    Signal(i32),
}

/// What `reap` found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Reaped {
    /// This child ended and is gone now.
    Child(i32, Ended),
    /// This child was stopped.
    Stopped(i32),
    /// There are children, none has ended.
    None,
    /// There is no child.
    NoChildren,
}

/// Reaps one ended child, or tells of a stopped one, without waiting.
pub(crate) fn reap() -> Reaped {
    loop {
        let mut status = 0;
        // SAFETY: `status` is a valid place for the answer.
        let found = unsafe { libc::waitpid(-1, &mut status, libc::WNOHANG | libc::WUNTRACED) };
        match found {
            0 => return Reaped::None,
            found if found > 0 && libc::WIFSTOPPED(status) => return Reaped::Stopped(found),
            found if found > 0 => {
                let ended = if libc::WIFSIGNALED(status) {
                    Ended::Signal(libc::WTERMSIG(status))
                } else {
                    Ended::Code(libc::WEXITSTATUS(status))
                };
                return Reaped::Child(found, ended);
            }
            _ if std::io::Error::last_os_error().raw_os_error() == Some(libc::EINTR) => {}
            _ => return Reaped::NoChildren,
        }
    }
}

/// `kill(2)` with a plain number, for processes that cannot be reaped behind our back: own unreaped children.
///
/// Numbers up to 1 are refused: they mean groups, everybody, or init.
pub(crate) fn kill(pid: i32, signal: i32) -> std::io::Result<()> {
    if pid <= 1 {
        return Err(std::io::Error::from_raw_os_error(libc::ESRCH));
    }
    // SAFETY: `kill` has no memory preconditions.
    if unsafe { libc::kill(pid, signal) } == 0 { Ok(()) } else { Err(std::io::Error::last_os_error()) }
}

/// Signals a process group. Numbers up to 1 are refused: 0 is our own group, 1 is everybody.
pub(crate) fn kill_group(group: i32, signal: i32) -> std::io::Result<()> {
    if group <= 1 {
        return Err(std::io::Error::from_raw_os_error(libc::ESRCH));
    }
    // SAFETY: `kill` has no memory preconditions.
    if unsafe { libc::kill(-group, signal) } == 0 { Ok(()) } else { Err(std::io::Error::last_os_error()) }
}
