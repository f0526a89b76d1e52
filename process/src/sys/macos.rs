//! macOS: processes from `libproc` and `sysctl`. Written from the headers, compiled, not run by the authors.

use std::io;

use super::Process;

/// Orphans go to launchd.
pub(crate) const fn subreaper() -> bool {
    false
}

/// There is none.
pub(crate) fn become_subreaper() -> io::Result<()> {
    Ok(())
}

/// Not offered to a process about itself.
pub(crate) fn name_process(_name: &std::ffi::CStr) {}

/// An end for the loops below.
fn highest() -> i32 {
    super::descriptor_limit().and_then(|limit| i32::try_from(limit).ok()).unwrap_or(i32::MAX).min(1 << 16)
}

/// This system executes paths only.
pub(crate) const fn executes_descriptors() -> bool {
    false
}

/// Fails; see [`executes_descriptors`].
///
/// # Safety
/// It does nothing.
pub(crate) unsafe fn execute_descriptor(
    _program: i32,
    _argv: *const *const libc::c_char,
    _env: *const *const libc::c_char,
) {
}

/// Closes every descriptor from `first` on.
pub(crate) fn close_from(first: i32) {
    // SAFETY: the callers own every descriptor from `first` on and use none of them again.
    (first..highest()).for_each(|fd| unsafe {
        libc::close(fd);
    });
}

/// Marks every descriptor from `first` on to be closed by exec. System calls only.
pub(crate) fn set_close_on_exec_from(first: i32) {
    // SAFETY: setting the flag of a descriptor that is not open is an error, which changes nothing.
    (first..highest()).for_each(|fd| unsafe {
        libc::fcntl(fd, libc::F_SETFD, libc::FD_CLOEXEC);
    });
}

/// Reads one process.
pub(crate) fn process(pid: i32) -> Option<Process> {
    // SAFETY: the structure is plain data, written by the call up to the size given; `getsid` takes a number.
    let (info, session) = unsafe {
        let mut info: libc::proc_bsdinfo = std::mem::zeroed();
        let size = i32::try_from(size_of::<libc::proc_bsdinfo>()).ok()?;
        let written = libc::proc_pidinfo(pid, libc::PROC_PIDTBSDINFO, 0, (&raw mut info).cast(), size);
        if written != size {
            return None;
        }
        (info, libc::getsid(pid))
    };
    let mut name = [0; 16];
    for (to, from) in name[..15].iter_mut().zip(info.pbi_comm) {
        *to = from.cast_unsigned();
    }
    // sys/proc.h: SIDL 1, SRUN 2, SSLEEP 3, SSTOP 4, SZOMB 5.
    let state = match info.pbi_status {
        2 => b'R',
        4 => b'T',
        5 => b'Z',
        _ => b'S',
    };
    let start = info.pbi_start_tvsec * 1_000_000 + info.pbi_start_tvusec;
    let (parent, group) = (info.pbi_ppid.cast_signed(), info.pbi_pgid.cast_signed());
    Some(Process { pid, parent, group, session, start, state, name })
}

/// Adds the children of a process to `found`. False when they cannot be listed.
pub(crate) fn children(pid: i32, found: &mut Vec<i32>) -> bool {
    found.extend(all_processes().iter().filter(|process| process.parent == pid).map(|process| process.pid));
    true
}

/// Every process that can be seen.
pub(crate) fn all_processes() -> Vec<Process> {
    // SAFETY: a null buffer asks for the number; the second call writes at most the size given.
    let pids = unsafe {
        let count = usize::try_from(libc::proc_listallpids(std::ptr::null_mut(), 0)).unwrap_or(0);
        let mut pids = vec![0_i32; count + 64];
        let size = i32::try_from(size_of_val(pids.as_slice())).unwrap_or(0);
        let count = usize::try_from(libc::proc_listallpids(pids.as_mut_ptr().cast(), size)).unwrap_or(0);
        pids.truncate(count);
        pids
    };
    pids.into_iter().filter_map(process).collect()
}

/// `KERN_PROCARGS2`: the number of arguments, the program's path, padding, the arguments, the environment.
fn arguments(pid: i32) -> Option<Vec<u8>> {
    let mut name = [libc::CTL_KERN, libc::KERN_PROCARGS2, pid];
    let mut size = 0;
    // SAFETY: a null buffer asks for the size; the second call writes at most the size given.
    unsafe {
        if libc::sysctl(name.as_mut_ptr(), 3, std::ptr::null_mut(), &mut size, std::ptr::null_mut(), 0) < 0 {
            return None;
        }
        let mut bytes = vec![0_u8; size];
        if libc::sysctl(name.as_mut_ptr(), 3, bytes.as_mut_ptr().cast(), &mut size, std::ptr::null_mut(), 0) < 0 {
            return None;
        }
        bytes.truncate(size);
        Some(bytes)
    }
}

/// Whether the arguments or the environment a process was started with have this text.
pub(crate) fn environment_contains(pid: i32, text: &[u8]) -> bool {
    arguments(pid).is_some_and(|bytes| memchr::memmem::find(&bytes, text).is_some())
}

/// Not asked; all processes of a command are taken for holders.
pub(crate) fn holds(_pid: i32, _file: (u64, u64)) -> bool {
    true
}

/// The command line, words joined by spaces; `None` where it may not be read.
pub(crate) fn command_line(pid: i32) -> Option<String> {
    let bytes = arguments(pid)?;
    let count = usize::try_from(i32::from_ne_bytes(bytes.get(..4)?.try_into().ok()?)).ok()?;
    let mut words = bytes.get(4..)?.split(|byte| *byte == 0);
    words.next()?;
    let words = words.skip_while(|word| word.is_empty()).take(count);
    let text: Vec<_> = words.map(String::from_utf8_lossy).collect();
    Some(text.join(" ")).filter(|text| !text.is_empty())
}

/// Not told.
pub(crate) fn wait_channel(_pid: i32) -> Option<String> {
    None
}

/// Signals this process if it still is the one that was seen; there is no way to pin it meanwhile.
pub(crate) fn signal(target: &Process, number: i32) -> io::Result<()> {
    if process(target.pid).is_none_or(|now| now.start != target.start) {
        return Err(io::Error::from_raw_os_error(libc::ESRCH));
    }
    super::kill(target.pid, number)
}
