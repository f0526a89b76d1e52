//! Terminal requests.

use std::io;
use std::os::fd::{AsRawFd, BorrowedFd, FromRawFd, OwnedFd};

fn check(result: libc::c_int) -> io::Result<libc::c_int> {
    if result < 0 { Err(io::Error::last_os_error()) } else { Ok(result) }
}

/// Opens a master: nonblocking, close-on-exec from its first moment on Linux.
#[cfg(target_os = "linux")]
pub(crate) fn open_master() -> io::Result<OwnedFd> {
    let flags = libc::O_RDWR | libc::O_NOCTTY | libc::O_CLOEXEC | libc::O_NONBLOCK;
    // SAFETY: the new descriptor is owned by nobody else; the calls on it have no other preconditions.
    unsafe {
        let master = OwnedFd::from_raw_fd(check(libc::posix_openpt(flags))?);
        check(libc::grantpt(master.as_raw_fd()))?;
        check(libc::unlockpt(master.as_raw_fd()))?;
        Ok(master)
    }
}

/// Opens a master: nonblocking, close-on-exec a moment later, which macOS cannot do in one step.
#[cfg(not(target_os = "linux"))]
pub(crate) fn open_master() -> io::Result<OwnedFd> {
    // SAFETY: the new descriptor is owned by nobody else; the calls on it have no other preconditions.
    unsafe {
        let master = OwnedFd::from_raw_fd(check(libc::posix_openpt(libc::O_RDWR | libc::O_NOCTTY))?);
        check(libc::fcntl(master.as_raw_fd(), libc::F_SETFD, libc::FD_CLOEXEC))?;
        check(libc::fcntl(master.as_raw_fd(), libc::F_SETFL, libc::O_RDWR | libc::O_NONBLOCK))?;
        check(libc::grantpt(master.as_raw_fd()))?;
        check(libc::unlockpt(master.as_raw_fd()))?;
        Ok(master)
    }
}

/// Opens the slave without a look at any path, so also in another mount namespace (Linux 4.13).
#[cfg(target_os = "linux")]
pub(crate) fn open_slave(master: BorrowedFd<'_>) -> io::Result<OwnedFd> {
    let flags = libc::O_RDWR | libc::O_NOCTTY | libc::O_CLOEXEC;
    // SAFETY: the request takes open flags and makes a descriptor that is owned by nobody else.
    unsafe {
        let slave = libc::ioctl(master.as_raw_fd(), libc::TIOCGPTPEER as _, flags);
        Ok(OwnedFd::from_raw_fd(check(slave)?))
    }
}

/// Opens the slave by its name.
#[cfg(not(target_os = "linux"))]
pub(crate) fn open_slave(master: BorrowedFd<'_>) -> io::Result<OwnedFd> {
    let flags = libc::O_RDWR | libc::O_NOCTTY | libc::O_CLOEXEC;
    // SAFETY: `ptsname` uses one static buffer; the caller holds the lock around opening terminals.
    unsafe {
        let name = libc::ptsname(master.as_raw_fd());
        if name.is_null() {
            return Err(io::Error::last_os_error());
        }
        Ok(OwnedFd::from_raw_fd(check(libc::open(name, flags))?))
    }
}

/// Sets the window size; an unchanged size raises no SIGWINCH.
pub(crate) fn set_size(fd: BorrowedFd<'_>, cols: u16, rows: u16) -> io::Result<()> {
    let size = libc::winsize { ws_row: rows, ws_col: cols, ws_xpixel: 0, ws_ypixel: 0 };
    // SAFETY: the request reads a `winsize`.
    check(unsafe { libc::ioctl(fd.as_raw_fd(), libc::TIOCSWINSZ as _, &size) })?;
    Ok(())
}

/// The window size: columns, rows.
pub(crate) fn size(fd: BorrowedFd<'_>) -> io::Result<(u16, u16)> {
    let mut size = libc::winsize { ws_row: 0, ws_col: 0, ws_xpixel: 0, ws_ypixel: 0 };
    // SAFETY: the request writes a `winsize`.
    check(unsafe { libc::ioctl(fd.as_raw_fd(), libc::TIOCGWINSZ as _, &mut size) })?;
    Ok((size.ws_col, size.ws_row))
}

/// Bytes that can be read from this descriptor.
pub(crate) fn readable_bytes(fd: BorrowedFd<'_>) -> io::Result<usize> {
    let mut count: libc::c_int = 0;
    // SAFETY: the request writes an `int`.
    check(unsafe { libc::ioctl(fd.as_raw_fd(), libc::FIONREAD as _, &mut count) })?;
    Ok(usize::try_from(count).unwrap_or(0))
}

/// Asks the terminal to signal its foreground group, with the kernel's own rights.
pub(crate) fn signal_foreground(master: BorrowedFd<'_>, signal: i32) -> io::Result<()> {
    // SAFETY: the request takes the signal's number by value.
    check(unsafe { libc::ioctl(master.as_raw_fd(), libc::TIOCSIG as _, signal) })?;
    Ok(())
}
