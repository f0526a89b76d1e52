//! Linux: processes from `/proc`, subreaper, pidfd.

use std::fs;
use std::io::{self, Read};
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::os::unix::fs::MetadataExt;

use super::Process;

/// Whether descendants whose parent ended become children of the guardian.
pub(crate) const fn subreaper() -> bool {
    true
}

/// Makes this process the parent of all descendants whose own parent ends.
pub(crate) fn become_subreaper() -> io::Result<()> {
    // SAFETY: the request takes a plain number.
    if unsafe { libc::prctl(libc::PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) } < 0 {
        return Err(io::Error::last_os_error());
    }
    Ok(())
}

/// Sets the name `ps` shows.
pub(crate) fn name_process(name: &std::ffi::CStr) {
    // SAFETY: the name is a zero-ended string; the kernel copies 16 bytes of it at most.
    unsafe { libc::prctl(libc::PR_SET_NAME, name.as_ptr()) };
}

/// Whether a program is executed by its descriptor. Before Linux 6.14 it could be, and would then be known by a number
/// instead of its name.
pub(crate) fn executes_descriptors() -> bool {
    static SINCE: std::sync::OnceLock<bool> = std::sync::OnceLock::new();
    *SINCE.get_or_init(|| {
        let release = fs::read_to_string("/proc/sys/kernel/osrelease").unwrap_or_default();
        let mut numbers = release.split(['.', '-']).map_while(|number| number.trim().parse::<u32>().ok());
        (numbers.next(), numbers.next()) >= (Some(6), Some(14))
    })
}

/// Executes an open file; returns only when that failed. A system call.
///
/// # Safety
/// Both lists hold zero-ended strings and end with a null.
pub(crate) unsafe fn execute_descriptor(
    program: i32,
    argv: *const *const libc::c_char,
    env: *const *const libc::c_char,
) {
    // SAFETY: the caller vouches for the lists; the path is an empty string.
    unsafe { libc::syscall(libc::SYS_execveat, program, c"".as_ptr(), argv, env, libc::AT_EMPTY_PATH) };
}

fn close_range(first: i32, flags: libc::c_uint) -> bool {
    // SAFETY: the callers own every descriptor from `first` on and use none of them again (or only until exec).
    unsafe { libc::syscall(libc::SYS_close_range, first as libc::c_uint, libc::c_uint::MAX, flags) == 0 }
}

/// Closes every descriptor from `first` on.
pub(crate) fn close_from(first: i32) {
    if !close_range(first, 0) {
        // SAFETY: as in `close_range`.
        (first..highest()).for_each(|fd| unsafe {
            libc::close(fd);
        });
    }
}

/// Marks every descriptor from `first` on to be closed by exec. System calls only.
pub(crate) fn set_close_on_exec_from(first: i32) {
    if !close_range(first, libc::CLOSE_RANGE_CLOEXEC) {
        // SAFETY: setting the flag of a descriptor that is not open is an error, which changes nothing.
        (first..highest()).for_each(|fd| unsafe {
            libc::fcntl(fd, libc::F_SETFD, libc::FD_CLOEXEC);
        });
    }
}

/// An end for the loops of kernels before 5.11.
fn highest() -> i32 {
    super::descriptor_limit().and_then(|limit| i32::try_from(limit).ok()).unwrap_or(i32::MAX).min(1 << 20)
}

/// Reads one process.
pub(crate) fn process(pid: i32) -> Option<Process> {
    let mut buffer = [0; 512];
    let mut length = 0;
    let mut file = fs::File::open(format!("/proc/{pid}/stat")).ok()?;
    while length < buffer.len() {
        match file.read(&mut buffer[length..]).ok()? {
            0 => break,
            count => length += count,
        }
    }
    parse_stat(&buffer[..length])
}

/// `pid (name) state parent group session ...`, proc(5); the name may hold any byte, so its end is the last `)`.
fn parse_stat(stat: &[u8]) -> Option<Process> {
    let open = stat.iter().position(|byte| *byte == b'(')?;
    let close = stat.iter().rposition(|byte| *byte == b')')?;
    let pid = std::str::from_utf8(stat.get(..open)?).ok()?.trim().parse().ok()?;
    let mut name = [0; 16];
    let found = stat.get(open + 1..close)?;
    let length = found.len().min(15);
    name[..length].copy_from_slice(&found[..length]);
    let mut fields = std::str::from_utf8(stat.get(close + 1..)?).ok()?.split_ascii_whitespace();
    let state = *fields.next()?.as_bytes().first()?;
    let parent = fields.next()?.parse().ok()?;
    let group = fields.next()?.parse().ok()?;
    let session = fields.next()?.parse().ok()?;
    // Field 22; 6 are read.
    let start = fields.nth(15)?.parse().ok()?;
    Some(Process { pid, parent, group, session, start, state, name })
}

/// Adds the children of a process, of all its threads, to `found`. False when this kernel keeps no such list.
pub(crate) fn children(pid: i32, found: &mut Vec<i32>) -> bool {
    let Ok(threads) = fs::read_dir(format!("/proc/{pid}/task")) else {
        // The process is gone, which is no reason to doubt the list.
        return true;
    };
    let mut text = String::new();
    for thread in threads.flatten() {
        text.clear();
        match fs::File::open(thread.path().join("children")).and_then(|mut file| file.read_to_string(&mut text)) {
            Ok(_) => found.extend(text.split_ascii_whitespace().filter_map(|child| child.parse::<i32>().ok())),
            Err(_) if thread.path().exists() => return false,
            Err(_) => {}
        }
    }
    true
}

/// Every process that can be seen.
pub(crate) fn all_processes() -> Vec<Process> {
    let Ok(entries) = fs::read_dir("/proc") else { return Vec::new() };
    entries
        .flatten()
        .filter_map(|entry| entry.file_name().to_str().and_then(|name| name.parse().ok()))
        .filter_map(process)
        .collect()
}

/// Whether the environment a process was started with has this text. False when it may not be read.
pub(crate) fn environment_contains(pid: i32, text: &[u8]) -> bool {
    fs::read(format!("/proc/{pid}/environ")).is_ok_and(|environment| memchr::memmem::find(&environment, text).is_some())
}

/// Whether a process has this file (device, inode) open. False when its descriptors may not be read.
pub(crate) fn holds(pid: i32, file: (u64, u64)) -> bool {
    let Ok(entries) = fs::read_dir(format!("/proc/{pid}/fd")) else { return false };
    entries.flatten().any(|entry| {
        // Follows to the file itself, also to a pipe.
        fs::metadata(entry.path()).is_ok_and(|metadata| (metadata.dev(), metadata.ino()) == file)
    })
}

/// The command line, words joined by spaces; `None` for a zombie or a process that may not be read.
pub(crate) fn command_line(pid: i32) -> Option<String> {
    let mut bytes = Vec::new();
    fs::File::open(format!("/proc/{pid}/cmdline")).ok()?.take(4096).read_to_end(&mut bytes).ok()?;
    let text = String::from_utf8_lossy(&bytes);
    let text = text.trim_end_matches('\0').replace('\0', " ");
    (!text.is_empty()).then_some(text)
}

/// The kernel function a process sleeps in.
pub(crate) fn wait_channel(pid: i32) -> Option<String> {
    let channel = fs::read_to_string(format!("/proc/{pid}/wchan")).ok()?;
    let channel = channel.trim();
    (!channel.is_empty() && channel != "0").then(|| channel.to_owned())
}

/// Signals exactly this process: if its number is used by another one by now, nothing happens (`ESRCH`).
pub(crate) fn signal(target: &Process, number: i32) -> io::Result<()> {
    let gone = || io::Error::from_raw_os_error(libc::ESRCH);
    if target.pid <= 1 {
        return Err(gone());
    }
    // SAFETY: the call takes plain numbers and makes a descriptor that is owned by nobody else.
    let pidfd = unsafe { libc::syscall(libc::SYS_pidfd_open, target.pid, 0) };
    let pidfd = match i32::try_from(pidfd) {
        // SAFETY: see above.
        Ok(fd) if fd >= 0 => Some(unsafe { OwnedFd::from_raw_fd(fd) }),
        _ if io::Error::last_os_error().raw_os_error() == Some(libc::ESRCH) => return Err(gone()),
        // Before Linux 5.3, or no descriptor left: the check below is then a moment old when the signal is sent.
        _ => None,
    };
    // The descriptor pins the process; if it is the one that was meant now, it stays so.
    if process(target.pid).is_none_or(|now| now.start != target.start) {
        return Err(gone());
    }
    let Some(pidfd) = pidfd else { return super::kill(target.pid, number) };
    let none = std::ptr::null::<libc::siginfo_t>();
    // SAFETY: the descriptor is open; no further information goes with the signal.
    match unsafe { libc::syscall(libc::SYS_pidfd_send_signal, pidfd.as_raw_fd(), number, none, 0) } {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_may_hold_anything() {
        let stat = b"42 (a) R (b) S 7 8 9 0 -1 4194304 1 0 0 0 0 0 0 0 20 0 1 0 12345 1 1";
        let found = parse_stat(stat).expect("it is whole");
        assert_eq!((found.pid, found.parent, found.group, found.session), (42, 7, 8, 9));
        assert_eq!((found.state, found.start, found.name().as_str()), (b'S', 12345, "a) R (b"));
    }

    #[test]
    fn a_short_line_is_no_process() {
        assert_eq!(parse_stat(b"42 (a) S 7 8"), None);
        assert_eq!(parse_stat(b""), None);
    }

    #[test]
    fn the_wrong_start_time_gets_no_signal() {
        let own = process(std::process::id().cast_signed()).expect("we are running");
        assert!(signal(&own, 0).is_ok());
        let other = Process { start: own.start + 1, ..own };
        assert_eq!(signal(&other, 0).expect_err("not it").raw_os_error(), Some(libc::ESRCH));
    }
}
