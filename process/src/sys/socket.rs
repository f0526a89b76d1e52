//! Passing descriptors over a Unix socket.

use std::io::{self, IoSlice, IoSliceMut};
use std::os::fd::{AsFd, AsRawFd, FromRawFd, OwnedFd, RawFd};

use nix::sys::socket::{ControlMessage, ControlMessageOwned, MsgFlags, recvmsg, sendmsg};

/// Descriptors that go with every request: the control socket, then standard input, output and error.
pub(crate) const ALWAYS_PASSED: usize = 4;
/// Behind those may be the opened working directory and the opened program.
const PASSED: usize = ALWAYS_PASSED + 2;

#[cfg(target_os = "linux")]
const RECEIVE: MsgFlags = MsgFlags::MSG_CMSG_CLOEXEC;
#[cfg(not(target_os = "linux"))]
const RECEIVE: MsgFlags = MsgFlags::empty();

/// Never a SIGPIPE; on macOS the socket says so itself, see [`no_sigpipe`].
#[cfg(target_os = "linux")]
const SEND: MsgFlags = MsgFlags::MSG_NOSIGNAL;
#[cfg(not(target_os = "linux"))]
const SEND: MsgFlags = MsgFlags::empty();

/// Sends one byte with the descriptors, without waiting (`WouldBlock`).
pub(crate) fn send_descriptors(socket: impl AsFd, fds: &[RawFd]) -> io::Result<()> {
    let message = [ControlMessage::ScmRights(fds)];
    let flags = SEND | MsgFlags::MSG_DONTWAIT;
    sendmsg::<()>(socket.as_fd().as_raw_fd(), &[IoSlice::new(&[0])], &message, flags, None)?;
    Ok(())
}

/// Receives one byte with its descriptors, [`PASSED`] at most; `None` at the end.
pub(crate) fn receive_descriptors(socket: impl AsFd) -> io::Result<Option<Vec<OwnedFd>>> {
    receive_with(socket, RECEIVE)
}

/// Like [`receive_descriptors`], without waiting (`WouldBlock`).
pub(crate) fn try_receive_descriptors(socket: impl AsFd) -> io::Result<Option<Vec<OwnedFd>>> {
    receive_with(socket, RECEIVE | MsgFlags::MSG_DONTWAIT)
}

fn receive_with(socket: impl AsFd, flags: MsgFlags) -> io::Result<Option<Vec<OwnedFd>>> {
    let mut byte = [0];
    let mut buffer = [IoSliceMut::new(&mut byte)];
    let mut space = nix::cmsg_space!([RawFd; PASSED]);
    let message = recvmsg::<()>(socket.as_fd().as_raw_fd(), &mut buffer, Some(&mut space), flags)?;
    let mut fds = Vec::with_capacity(PASSED);
    for part in message.cmsgs()? {
        if let ControlMessageOwned::ScmRights(received) = part {
            for fd in received {
                // SAFETY: the kernel has just made this descriptor for us.
                fds.push(unsafe { OwnedFd::from_raw_fd(fd) });
            }
        }
    }
    Ok((message.bytes > 0).then_some(fds))
}

/// Sends what can be sent without waiting, and without SIGPIPE.
pub(crate) fn send(socket: impl AsFd, bytes: &[u8]) -> io::Result<usize> {
    let flags = SEND | MsgFlags::MSG_DONTWAIT;
    Ok(nix::sys::socket::send(socket.as_fd().as_raw_fd(), bytes, flags)?)
}

/// Receives what is there, without waiting; 0 is the end.
pub(crate) fn receive(socket: impl AsFd, bytes: &mut [u8]) -> io::Result<usize> {
    Ok(nix::sys::socket::recv(socket.as_fd().as_raw_fd(), bytes, MsgFlags::MSG_DONTWAIT)?)
}

/// Turns SIGPIPE off for this socket where `send` has no flag for it.
#[cfg(target_os = "macos")]
pub(crate) fn no_sigpipe(socket: impl AsFd) {
    let on: libc::c_int = 1;
    // SAFETY: the option's value is an int, of the size given.
    unsafe {
        libc::setsockopt(
            socket.as_fd().as_raw_fd(),
            libc::SOL_SOCKET,
            libc::SO_NOSIGPIPE,
            (&raw const on).cast(),
            std::mem::size_of::<libc::c_int>() as libc::socklen_t,
        );
    }
}

/// Linux has a flag for it.
#[cfg(not(target_os = "macos"))]
pub(crate) fn no_sigpipe(_socket: impl AsFd) {}

/// Whether this descriptor is a socket.
pub(crate) fn is_socket(fd: RawFd) -> bool {
    // SAFETY: `fstat` writes to a structure of the right type; a bad descriptor is an error.
    unsafe {
        let mut stat: libc::stat = std::mem::zeroed();
        libc::fstat(fd, &mut stat) == 0 && stat.st_mode & libc::S_IFMT == libc::S_IFSOCK
    }
}
