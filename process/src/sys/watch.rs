//! Waiting for a descriptor's readiness.

use std::io;
use std::os::fd::OwnedFd;

use tokio::io::Interest;
use tokio::io::unix::AsyncFd;

/// Registers a nonblocking descriptor with the entered runtime, which keeps it until the result is dropped.
pub(crate) fn watch(descriptor: OwnedFd, interest: Interest) -> io::Result<AsyncFd<OwnedFd>> {
    // SAFETY: an `OwnedFd` is open, always names the same descriptor, and is closed only when it is dropped, which the
    // `AsyncFd` that owns it does after its registration.
    let registered = unsafe { AsyncFd::register_with_interest(descriptor, interest) };
    registered.map_err(io::Error::from)
}
