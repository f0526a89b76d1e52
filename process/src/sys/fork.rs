//! What the fork server and the guardians need of the system: fork, quiet signals, waiting with signals open.

use std::io;
use std::os::fd::{AsRawFd, BorrowedFd, FromRawFd, OwnedFd, RawFd};
use std::time::Duration;

use nix::sys::select::{FdSet, pselect};
use nix::sys::signal::SigSet;
use nix::sys::time::TimeSpec;

/// Forks; the child runs `child` and ends with the code it returns.
///
/// To be called only in a process with one thread (the fork server and its guardians): a lock held by
/// another thread would stay locked in the child.
pub(crate) fn fork(child: impl FnOnce() -> i32) -> io::Result<i32> {
    // SAFETY: the callers have one thread, see above, so the child may do all that the parent could.
    match unsafe { libc::fork() } {
        -1 => Err(io::Error::last_os_error()),
        0 => {
            // Must not unwind into the parent's frames, which this copy would run a second time.
            let abort = ExitOnDrop;
            let code = child();
            std::mem::forget(abort);
            exit(code)
        }
        pid => Ok(pid),
    }
}

struct ExitOnDrop;

impl Drop for ExitOnDrop {
    fn drop(&mut self) {
        exit(101)
    }
}

/// Ends the process at once: no exit handlers, which belong to the program we are a copy of.
pub(crate) fn exit(code: i32) -> ! {
    // SAFETY: `_exit` has no preconditions.
    unsafe { libc::_exit(code) }
}

/// Starts a session of its own, away from the host's terminal and its signals.
pub(crate) fn new_session() -> io::Result<()> {
    // SAFETY: `setsid` has no preconditions.
    if unsafe { libc::setsid() } < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
}

extern "C" fn nothing(_signal: libc::c_int) {}

/// Puts signals in the state of the fork server and the guardians.
///
/// What a person or a service manager sends to "everything" is ignored: they end when the host is gone,
/// after their command. SIGCHLD is blocked, with a handler, so that only [`wait`] sees it.
pub(crate) fn quiet_signals() {
    let ignored = [
        libc::SIGHUP,
        libc::SIGINT,
        libc::SIGQUIT,
        libc::SIGTERM,
        libc::SIGPIPE,
        libc::SIGUSR1,
        libc::SIGUSR2,
        libc::SIGALRM,
        libc::SIGTSTP,
        libc::SIGTTIN,
        libc::SIGTTOU,
    ];
    super::exec::default_signals();
    // SAFETY: the structures are plain data and initialised; the handler does nothing at all.
    unsafe {
        for signal in ignored {
            libc::signal(signal, libc::SIG_IGN);
        }
        let mut action: libc::sigaction = std::mem::zeroed();
        let handler: extern "C" fn(libc::c_int) = nothing;
        action.sa_sigaction = handler as libc::sighandler_t;
        libc::sigemptyset(&mut action.sa_mask);
        libc::sigaction(libc::SIGCHLD, &action, std::ptr::null_mut());
        let mut blocked: libc::sigset_t = std::mem::zeroed();
        libc::sigemptyset(&mut blocked);
        libc::sigaddset(&mut blocked, libc::SIGCHLD);
        libc::sigprocmask(libc::SIG_SETMASK, &blocked, std::ptr::null_mut());
    }
}

/// No descriptor of a number from this on can be waited for, see select(2).
pub(crate) const MOST_DESCRIPTORS: u64 = 1024;

/// Waits until one of `readable` can be read, a child ends, or the time is over. Returns which can be read.
pub(crate) fn wait(readable: &[BorrowedFd<'_>], timeout: Option<Duration>) -> Vec<bool> {
    let mut set = FdSet::new();
    for fd in readable {
        set.insert(*fd);
    }
    // A longer time would be refused; the callers look again anyway.
    let timeout = timeout.map(|timeout| TimeSpec::from(timeout.min(Duration::from_secs(3600))));
    match pselect(None, &mut set, None, None, timeout.as_ref(), &SigSet::empty()) {
        Ok(count) if count > 0 => readable.iter().map(|fd| set.contains(*fd)).collect(),
        _ => vec![false; readable.len()],
    }
}

/// Moves descriptors to `first`, `first + 1`, ..., whatever is there now.
pub(crate) fn renumber<const N: usize>(fds: [OwnedFd; N], first: RawFd) -> io::Result<[OwnedFd; N]> {
    Ok(renumber_all(fds.into(), first)?.try_into().expect("as many as came in"))
}

/// Like [`renumber`].
pub(crate) fn renumber_all(fds: Vec<OwnedFd>, first: RawFd) -> io::Result<Vec<OwnedFd>> {
    let above = first + RawFd::try_from(fds.len()).unwrap_or(RawFd::MAX);
    let mut high = Vec::with_capacity(fds.len());
    for fd in &fds {
        // SAFETY: both descriptors are open; the new one is owned by nobody else.
        high.push(unsafe {
            match libc::fcntl(fd.as_raw_fd(), libc::F_DUPFD_CLOEXEC, above) {
                -1 => return Err(io::Error::last_os_error()),
                new => OwnedFd::from_raw_fd(new),
            }
        });
    }
    // Before the targets are filled, since they may be the very same numbers.
    drop(fds);
    let mut low = Vec::with_capacity(high.len());
    for (fd, target) in high.iter().zip(first..) {
        // SAFETY: nothing in this process owns `target`: it is about to be all that is open, see the callers.
        low.push(unsafe {
            if libc::dup2(fd.as_raw_fd(), target) < 0 || libc::fcntl(target, libc::F_SETFD, libc::FD_CLOEXEC) < 0 {
                return Err(io::Error::last_os_error());
            }
            OwnedFd::from_raw_fd(target)
        });
    }
    Ok(low)
}

/// Takes the socket a fork server is started with: its standard input, which is replaced by `/dev/null`.
pub(crate) fn take_stdin() -> io::Result<OwnedFd> {
    let null = std::fs::File::options().read(true).write(true).open("/dev/null")?;
    // SAFETY: at this moment nobody else uses descriptor 0; the copy is owned by nobody else.
    unsafe {
        let copy = libc::fcntl(0, libc::F_DUPFD_CLOEXEC, 3);
        if copy < 0 {
            return Err(io::Error::last_os_error());
        }
        let copy = OwnedFd::from_raw_fd(copy);
        for target in 0..3 {
            if libc::dup2(null.as_raw_fd(), target) < 0 {
                return Err(io::Error::last_os_error());
            }
        }
        Ok(copy)
    }
}
