//! Waiting for a descriptor's readiness.

use std::io;
use std::os::fd::OwnedFd;

use tokio::io::Interest;
use tokio::io::unix::AsyncFd;

#[cfg(target_os = "linux")]
pub(crate) use gate::Readable;
#[cfg(not(target_os = "linux"))]
pub(crate) use portable::Readable;

/// Registers a nonblocking descriptor with the entered runtime, which keeps it until the result is dropped.
pub(crate) fn watch(descriptor: OwnedFd, interest: Interest) -> io::Result<AsyncFd<OwnedFd>> {
    // SAFETY: an `OwnedFd` is open, always names the same descriptor, and is closed only when it is dropped, which the
    // `AsyncFd` that owns it does after its registration.
    let registered = unsafe { AsyncFd::register_with_interest(descriptor, interest) };
    registered.map_err(io::Error::from)
}

#[cfg(target_os = "linux")]
mod gate {
    use std::os::fd::{AsRawFd as _, BorrowedFd, FromRawFd as _, RawFd};
    use std::sync::atomic::{AtomicBool, Ordering};

    use super::{AsyncFd, Interest, OwnedFd, io, watch};

    /// Whether a descriptor can be read, as one task wants to know it: nothing wakes the runtime while the task reads.
    ///
    /// A runtime watches for as long as a descriptor is registered. While one thread reads what a busy program prints,
    /// each further piece would wake another thread for nothing, ten thousand times a second. So there is an `epoll`
    /// between the two that tells of one event, and looks again only once the task has read all (`EPOLLONESHOT`,
    /// epoll_ctl(2)).
    #[derive(Debug)]
    pub(crate) struct Readable {
        gate: AsyncFd<OwnedFd>,
        /// There is something to read for all that is known.
        known: AtomicBool,
    }

    impl Readable {
        /// Watches a descriptor, which is registered nowhere else for reading.
        pub(crate) fn new(descriptor: BorrowedFd<'_>) -> io::Result<Self> {
            // SAFETY: the call takes a plain number.
            let epoll = unsafe { libc::epoll_create1(libc::EPOLL_CLOEXEC) };
            if epoll < 0 {
                return Err(io::Error::last_os_error());
            }
            // SAFETY: the descriptor is new, and nobody else has it.
            let epoll = unsafe { OwnedFd::from_raw_fd(epoll) };
            control(epoll.as_raw_fd(), libc::EPOLL_CTL_ADD, descriptor)?;
            Ok(Self { gate: watch(epoll, Interest::READABLE)?, known: AtomicBool::new(false) })
        }

        /// Waits until there is something to read, or an end. Returns at once from then on, until
        /// [`Readable::exhausted`].
        pub(crate) async fn ready(&self) -> io::Result<()> {
            while !self.known.load(Ordering::Relaxed) {
                let mut event = self.gate.readable().await?;
                self.known.store(take_event(event.get_inner().as_raw_fd()), Ordering::Relaxed);
                event.clear_ready();
            }
            Ok(())
        }

        /// Waits for more from now on: a read found nothing. What has come since is seen.
        pub(crate) fn exhausted(&self, descriptor: BorrowedFd<'_>) -> io::Result<()> {
            control(self.gate.as_raw_fd(), libc::EPOLL_CTL_MOD, descriptor)?;
            self.known.store(false, Ordering::Relaxed);
            Ok(())
        }
    }

    fn control(epoll: RawFd, request: libc::c_int, descriptor: BorrowedFd<'_>) -> io::Result<()> {
        let mut event = libc::epoll_event { events: (libc::EPOLLIN | libc::EPOLLONESHOT).cast_unsigned(), u64: 0 };
        // SAFETY: both descriptors are open, and `event` is a valid argument.
        let result = unsafe { libc::epoll_ctl(epoll, request, descriptor.as_raw_fd(), &mut event) };
        if result < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
    }

    /// Takes the event, if there is one, which ends the watch.
    fn take_event(epoll: RawFd) -> bool {
        let mut event = libc::epoll_event { events: 0, u64: 0 };
        // SAFETY: `event` is a valid place for one answer; the call does not wait.
        unsafe { libc::epoll_wait(epoll, &mut event, 1, 0) > 0 }
    }
}

#[cfg(not(target_os = "linux"))]
mod portable {
    use std::os::fd::BorrowedFd;

    use nix::poll::{PollFd, PollFlags, PollTimeout, poll};

    use super::{AsyncFd, Interest, OwnedFd, io, watch};

    /// Whether a descriptor can be read, as one task wants to know it.
    #[derive(Debug)]
    pub(crate) struct Readable(AsyncFd<OwnedFd>);

    impl Readable {
        /// Watches a descriptor.
        pub(crate) fn new(descriptor: BorrowedFd<'_>) -> io::Result<Self> {
            Ok(Self(watch(descriptor.try_clone_to_owned()?, Interest::READABLE)?))
        }

        /// Waits until there is something to read, or an end. Returns at once from then on, until
        /// [`Readable::exhausted`].
        pub(crate) async fn ready(&self) -> io::Result<()> {
            self.0.readable().await?.retain_ready();
            Ok(())
        }

        /// Waits for more from now on: a read found nothing. What has come since is seen.
        pub(crate) fn exhausted(&self, descriptor: BorrowedFd<'_>) -> io::Result<()> {
            // Looked at again after the runtime has noted which event this is about.
            let looked = self.0.try_io(Interest::READABLE, |_| {
                let mut wanted = [PollFd::new(descriptor, PollFlags::POLLIN)];
                if poll(&mut wanted, PollTimeout::ZERO)? > 0 { Ok(()) } else { Err(io::ErrorKind::WouldBlock.into()) }
            });
            match looked {
                Err(error) if error.kind() != io::ErrorKind::WouldBlock => Err(error),
                _ => Ok(()),
            }
        }
    }
}
