//! The standard descriptors as non-blocking streams that nothing else in the process can reach.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio_util::sync::CancellationToken;

/// The standard input and output, taken for the protocol.
///
/// Take them before anything else runs: afterwards descriptor 0 reads nothing and descriptor 1 goes where errors go,
/// so a stray print cannot corrupt the protocol and a command that is started later cannot inherit the connection.
#[derive(Debug)]
pub struct Stdio {
    #[cfg(unix)]
    input: std::os::fd::OwnedFd,
    #[cfg(unix)]
    output: std::os::fd::OwnedFd,
}

#[cfg(unix)]
impl Stdio {
    /// Takes descriptors 0 and 1.
    ///
    /// # Errors
    /// A descriptor is closed or cannot be duplicated.
    pub fn take() -> io::Result<Self> {
        use std::os::fd::AsFd;

        let input = io::stdin().as_fd().try_clone_to_owned()?;
        let output = io::stdout().as_fd().try_clone_to_owned()?;
        nix::unistd::dup2_stdin(std::fs::File::open("/dev/null")?)?;
        nix::unistd::dup2_stdout(io::stderr())?;
        Ok(Self { input, output })
    }

    /// Makes streams of them; inside a runtime with I/O.
    pub(crate) fn open(self) -> io::Result<(Input, Output)> {
        Ok((Input::new(self.input)?, Output::new(self.output)?))
    }
}

#[cfg(not(unix))]
impl Stdio {
    /// Takes the standard streams.
    ///
    /// # Errors
    /// None on this platform.
    pub fn take() -> io::Result<Self> {
        Ok(Self {})
    }

    /// Makes streams of them; inside a runtime with I/O.
    pub(crate) fn open(self) -> io::Result<(Input, Output)> {
        Ok((Input::Blocking(tokio::io::stdin()), Output::Blocking(tokio::io::stdout())))
    }
}

/// What requests come from.
#[derive(Debug)]
pub(crate) enum Input {
    #[cfg(unix)]
    Pipe(tokio::net::unix::pipe::Receiver),
    /// Hosts on Node give their servers sockets, not pipes.
    #[cfg(unix)]
    Socket(tokio::net::UnixStream),
    /// A file or a terminal, which no reactor can wait for.
    #[cfg(unix)]
    Blocking(tokio::fs::File),
    #[cfg(not(unix))]
    Blocking(tokio::io::Stdin),
}

/// Where answers go.
#[derive(Debug)]
pub(crate) enum Output {
    #[cfg(unix)]
    Pipe(tokio::net::unix::pipe::Sender),
    #[cfg(unix)]
    Socket(tokio::net::UnixStream),
    #[cfg(unix)]
    Blocking(tokio::fs::File),
    #[cfg(not(unix))]
    Blocking(tokio::io::Stdout),
}

#[cfg(unix)]
mod wrap {
    use std::fs::{File, OpenOptions};
    use std::io::{self, IsTerminal};
    use std::os::fd::{AsRawFd, OwnedFd};
    use std::os::unix::fs::{FileTypeExt, OpenOptionsExt};

    use tokio::net::UnixStream;
    use tokio::net::unix::pipe;

    use super::{Input, Output};

    enum Kind {
        Pipe,
        Socket,
        Other,
    }

    impl Input {
        pub(super) fn new(fd: OwnedFd) -> io::Result<Self> {
            let (fd, kind) = kind(fd)?;
            Ok(match kind {
                Kind::Pipe => Self::Pipe(pipe::Receiver::from_owned_fd(reopen(fd, OpenOptions::new().read(true)))?),
                Kind::Socket => Self::Socket(socket(fd)?),
                Kind::Other => {
                    if fd.is_terminal() {
                        tracing::warn!("standard input is a terminal; an MCP client is expected there");
                    }
                    Self::Blocking(tokio::fs::File::from_std(File::from(fd)))
                }
            })
        }
    }

    impl Output {
        pub(super) fn new(fd: OwnedFd) -> io::Result<Self> {
            let (fd, kind) = kind(fd)?;
            Ok(match kind {
                Kind::Pipe => Self::Pipe(pipe::Sender::from_owned_fd(reopen(fd, OpenOptions::new().write(true)))?),
                Kind::Socket => Self::Socket(socket(fd)?),
                Kind::Other => Self::Blocking(tokio::fs::File::from_std(File::from(fd))),
            })
        }
    }

    fn kind(fd: OwnedFd) -> io::Result<(OwnedFd, Kind)> {
        let file = File::from(fd);
        let file_type = file.metadata()?.file_type();
        let kind = if file_type.is_fifo() {
            Kind::Pipe
        } else if file_type.is_socket() {
            Kind::Socket
        } else {
            Kind::Other
        };
        Ok((file.into(), kind))
    }

    /// Opens a pipe anew, so that its non-blocking flag is not shared with whoever else holds it. Where that is not
    /// possible the given descriptor serves.
    fn reopen(fd: OwnedFd, options: &mut OpenOptions) -> OwnedFd {
        if !cfg!(target_os = "linux") {
            return fd;
        }
        let path = format!("/proc/self/fd/{}", fd.as_raw_fd());
        match options.custom_flags(nix::fcntl::OFlag::O_NONBLOCK.bits()).open(path) {
            Ok(file) => file.into(),
            Err(_) => fd,
        }
    }

    fn socket(fd: OwnedFd) -> io::Result<UnixStream> {
        let stream = std::os::unix::net::UnixStream::from(fd);
        stream.set_nonblocking(true)?;
        UnixStream::from_std(stream)
    }
}

macro_rules! each {
    ($stream:expr, $inner:ident => $body:expr) => {
        match $stream {
            #[cfg(unix)]
            Self::Pipe($inner) => $body,
            #[cfg(unix)]
            Self::Socket($inner) => $body,
            Self::Blocking($inner) => $body,
        }
    };
}

impl AsyncRead for Input {
    fn poll_read(self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        each!(self.get_mut(), inner => Pin::new(inner).poll_read(cx, buf))
    }
}

impl AsyncWrite for Output {
    fn poll_write(self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>> {
        each!(self.get_mut(), inner => Pin::new(inner).poll_write(cx, buf))
    }

    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        each!(self.get_mut(), inner => Pin::new(inner).poll_flush(cx))
    }

    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        each!(self.get_mut(), inner => Pin::new(inner).poll_shutdown(cx))
    }
}

/// A stream that cancels a token when its other side is gone: at the end of input, or at any error.
#[derive(Debug)]
pub(crate) struct Watched<S> {
    inner: S,
    gone: CancellationToken,
}

impl<S> Watched<S> {
    pub(crate) fn new(inner: S, gone: CancellationToken) -> Self {
        Self { inner, gone }
    }

    fn noted<T>(&self, result: io::Result<T>) -> io::Result<T> {
        if result.is_err() {
            self.gone.cancel();
        }
        result
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for Watched<S> {
    fn poll_read(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let (before, room) = (buf.filled().len(), buf.remaining());
        let result = ready!(Pin::new(&mut self.inner).poll_read(cx, buf));
        if room > 0 && buf.filled().len() == before {
            self.gone.cancel();
        }
        Poll::Ready(self.noted(result))
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Watched<S> {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>> {
        let result = ready!(Pin::new(&mut self.inner).poll_write(cx, buf));
        Poll::Ready(self.noted(result))
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let result = ready!(Pin::new(&mut self.inner).poll_flush(cx));
        Poll::Ready(self.noted(result))
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let result = ready!(Pin::new(&mut self.inner).poll_shutdown(cx));
        Poll::Ready(self.noted(result))
    }
}
