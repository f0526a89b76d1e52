//! From a forked copy to the command: session, terminal, descriptors, signals, limits, directory, exec.

use std::ffi::c_char;
use std::io;
use std::os::fd::RawFd;

use crate::guardian::wire::{Failure, Header, Stage};

/// What a command leads, of its processes and its terminal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Leads {
    /// A session of its own. When it ends, the system hangs up on the foreground group of the terminal: what it left
    /// there is ended, or loses what it has not written yet.
    Session,
    /// The foreground group of the session that its parent leads, see [`ExecPlan::take_terminal`].
    Group,
}

/// All that a forked copy needs to become the command, laid out beforehand: using it allocates nothing.
pub(crate) struct ExecPlan {
    /// The request's strings, each ended by a zero byte; the pointers below point into it.
    _strings: Vec<u8>,
    _candidates: Vec<u8>,
    paths: Vec<*const c_char>,
    argv: Vec<*const c_char>,
    env: Vec<*const c_char>,
    workdir: *const c_char,
    header: Header,
    stdio: [RawFd; 3],
    /// The directory and the program that come as descriptors.
    workdir_opened: Option<RawFd>,
    program_opened: Option<RawFd>,
}

// SAFETY: the pointers point into buffers the plan owns and never changes.
unsafe impl Send for ExecPlan {}
// SAFETY: as above; a shared plan is only read.
unsafe impl Sync for ExecPlan {}

impl ExecPlan {
    /// Lays a request out: `strings` is the working directory, the arguments, the environment, each ended by a
    /// zero byte; `opened` are the descriptors that the header announces. `None` when it is not as its header says.
    pub(crate) fn new(header: Header, strings: Vec<u8>, stdio: [RawFd; 3], opened: &[RawFd]) -> Option<Self> {
        if opened.len() != usize::from(header.workdir_opened) + usize::from(header.program_opened) {
            return None;
        }
        let workdir_opened = opened.first().copied().filter(|_| header.workdir_opened);
        let program_opened = opened.last().copied().filter(|_| header.program_opened);
        let (argc, envc) = (header.argc as usize, header.envc as usize);
        let parts: Vec<&[u8]> = strings.split_inclusive(|byte| *byte == 0).collect();
        if argc == 0 || strings.last() != Some(&0) || parts.len() != 1 + argc + envc {
            return None;
        }
        let mut candidates = Vec::new();
        let mut starts = Vec::new();
        let program = parts[1];
        let searched = !program.contains(&b'/');
        if searched {
            let path = parts[1 + argc..].iter().find_map(|pair| pair.strip_prefix(b"PATH="));
            let path = path.map_or(&b"/bin:/usr/bin"[..], |path| &path[..path.len() - 1]);
            for directory in path.split(|byte| *byte == b':') {
                starts.push(candidates.len());
                // An empty entry is the working directory, which an empty prefix means just as well.
                if !directory.is_empty() {
                    candidates.extend_from_slice(directory);
                    candidates.push(b'/');
                }
                candidates.extend_from_slice(program);
            }
        }
        let pointer = |part: &[u8]| part.as_ptr().cast::<c_char>();
        let list = |parts: &[&[u8]]| {
            let mut list: Vec<_> = parts.iter().map(|part| pointer(part)).collect();
            list.push(std::ptr::null());
            list
        };
        let argv = list(&parts[1..1 + argc]);
        let env = list(&parts[1 + argc..]);
        let workdir = pointer(parts[0]);
        let paths = if searched {
            starts.iter().map(|start| pointer(&candidates[*start..])).collect()
        } else {
            vec![pointer(program)]
        };
        Some(Self {
            _strings: strings,
            _candidates: candidates,
            paths,
            argv,
            env,
            workdir,
            header,
            stdio,
            workdir_opened,
            program_opened,
        })
    }

    /// Makes the terminal, if the command has one, that of this process, which leads a session.
    pub(crate) fn take_terminal(&self) -> Result<(), Failure> {
        // SAFETY: the request takes a number; the descriptor is the caller's.
        if self.header.terminal && unsafe { libc::ioctl(self.stdio[0], libc::TIOCSCTTY as _, 0) } < 0 {
            return Err(Failure { stage: Stage::Terminal, errno: errno() });
        }
        Ok(())
    }

    /// Becomes the command; returns only when that failed. Makes system calls only, so it may run after a fork of
    /// a process with threads.
    pub(crate) fn exec(&self, leads: Leads) -> Failure {
        let failed = |stage| Failure { stage, errno: errno() };
        // SAFETY: every pointer points into the plan's own zero-ended strings and null-ended lists; the descriptors
        // are those of this process, which is about to be replaced and uses none of them in another way.
        unsafe {
            match leads {
                Leads::Session if libc::setsid() < 0 => return failed(Stage::Session),
                Leads::Group if libc::setpgid(0, 0) < 0 => return failed(Stage::Session),
                // From the background, while SIGTTOU is still ignored.
                Leads::Group if self.header.terminal && libc::tcsetpgrp(self.stdio[0], libc::getpid()) < 0 => {
                    return failed(Stage::Terminal);
                }
                Leads::Session | Leads::Group => {}
            }
            default_signals();
            let mut stdio = self.stdio;
            let (mut workdir, mut program) = (self.workdir_opened, self.program_opened);
            for fd in stdio.iter_mut().chain(&mut workdir).chain(&mut program) {
                if *fd < 3 {
                    *fd = libc::fcntl(*fd, libc::F_DUPFD_CLOEXEC, 3);
                    if *fd < 0 {
                        return failed(Stage::Stdio);
                    }
                }
            }
            if leads == Leads::Session
                && let Err(failure) = self.take_terminal()
            {
                return failure;
            }
            for (fd, target) in stdio.iter().zip(0..) {
                if libc::dup2(*fd, target) < 0 {
                    return failed(Stage::Stdio);
                }
            }
            super::set_close_on_exec_from(3);
            if let Some(limit) = self.header.descriptor_limit {
                super::set_descriptor_limit(limit);
            }
            if let Some(mask) = self.header.creation_mask {
                libc::umask(mask as libc::mode_t);
            }
            let entered = match workdir {
                Some(workdir) => libc::fchdir(workdir),
                None => libc::chdir(self.workdir),
            };
            if entered < 0 {
                return failed(Stage::Workdir);
            }
            let mut mask: libc::sigset_t = std::mem::zeroed();
            libc::sigemptyset(&mut mask);
            libc::sigprocmask(libc::SIG_SETMASK, &mask, std::ptr::null_mut());
            let (mut denied, mut replaced) = (false, false);
            if let Some(program) = program
                && self.header.executes_descriptors
            {
                // Fails for a script, whose interpreter is told a path, and where a container forbids the call. What else
                // is wrong is said again below.
                super::execute_descriptor(program, self.argv.as_ptr(), self.env.as_ptr());
            }
            for path in &self.paths {
                // What lies on the way to the program in `PATH` is passed over by this, too.
                if program.is_some_and(|program| !is_same(program, *path)) {
                    replaced = true;
                    continue;
                }
                libc::execve(*path, self.argv.as_ptr(), self.env.as_ptr());
                match errno() {
                    libc::EACCES => denied = true,
                    // The next directory may have it, as in execvp(3).
                    libc::ENOENT | libc::ENOTDIR | libc::ENODEV | libc::ESTALE | libc::ETIMEDOUT => {}
                    other => return Failure { stage: Stage::Exec, errno: other },
                }
            }
            let errno = match (replaced, denied) {
                (true, _) => libc::ESTALE,
                (false, true) => libc::EACCES,
                (false, false) => errno(),
            };
            Failure { stage: Stage::Exec, errno }
        }
    }
}

/// Gives every signal its default action, also those the C library keeps for itself and would not let us set.
#[cfg(target_os = "linux")]
pub(crate) fn default_signals() {
    // All zero is the default action without flags and with an empty mask, whatever the order of the fields is.
    let action = [0_u64; 8];
    for signal in 1..=64 {
        // SAFETY: the buffer is larger than the kernel's structure; a signal that cannot be set is an error, which
        // changes nothing. The last argument is the size of the kernel's set of signals in bytes.
        unsafe { libc::syscall(libc::SYS_rt_sigaction, signal, action.as_ptr(), 0, 8) };
    }
}

/// Gives every signal its default action.
#[cfg(not(target_os = "linux"))]
pub(crate) fn default_signals() {
    // SAFETY: the structure is plain data; signals that cannot be set are an error, which changes nothing.
    unsafe {
        let mut action: libc::sigaction = std::mem::zeroed();
        action.sa_sigaction = libc::SIG_DFL;
        libc::sigemptyset(&mut action.sa_mask);
        for signal in 1..=31 {
            libc::sigaction(signal, &action, std::ptr::null_mut());
        }
    }
}

/// Whether a path leads to an open file. A system call each.
///
/// # Safety
/// `path` is a zero-ended string.
unsafe fn is_same(file: RawFd, path: *const c_char) -> bool {
    // SAFETY: the structures are plain data, valid places for the answers; the caller vouches for the path.
    unsafe {
        let mut opened: libc::stat = std::mem::zeroed();
        let mut found: libc::stat = std::mem::zeroed();
        libc::fstat(file, &mut opened) == 0
            && libc::stat(path, &mut found) == 0
            && (opened.st_dev, opened.st_ino) == (found.st_dev, found.st_ino)
    }
}

fn errno() -> i32 {
    io::Error::last_os_error().raw_os_error().unwrap_or(0)
}

/// Makes a `tokio` command become `plan` instead of what it names; a failure is also written to `failure`.
///
/// Only for hosts without a guardian: this forks the host.
pub(crate) fn replace(command: &mut tokio::process::Command, plan: ExecPlan, failure: std::os::fd::OwnedFd) {
    use std::os::fd::AsRawFd;
    let attempt = move || {
        let failed = plan.exec(Leads::Session);
        let bytes = failed.encode();
        // SAFETY: the buffer is valid for its length. After a fork of a process with threads only system calls may
        // be made; `exec` and this are nothing else, and an error from a number does not allocate.
        unsafe { libc::write(failure.as_raw_fd(), bytes.as_ptr().cast(), bytes.len()) };
        Err(io::Error::from_raw_os_error(failed.errno))
    };
    // SAFETY: see inside: system calls only.
    unsafe { command.pre_exec(attempt) };
}
