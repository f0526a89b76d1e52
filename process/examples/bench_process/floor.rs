//! What a plain C program would do: start a program on a terminal, read until the end or until an answer came.

use std::io::Write as _;
use std::os::fd::{AsFd, OwnedFd};
use std::process::{Child, Command};

use nix::errno::Errno;
use nix::fcntl::{FcntlArg, OFlag, fcntl};
use process::pty::{self, PtySettings, PtySize};

use crate::Result;

const BUFFER: usize = 64 * 1024;

/// A program on a terminal of its own, read with blocking reads.
pub(crate) struct Floor {
    child: Child,
    master: std::fs::File,
    buffer: Vec<u8>,
}

impl Floor {
    pub(crate) fn start(argv: &[&str], settings: PtySettings) -> Result<Self> {
        let pty = pty::open(PtySize::default(), settings)?;
        let flags = OFlag::from_bits_retain(fcntl(&pty.master, FcntlArg::F_GETFL)?);
        fcntl(&pty.master, FcntlArg::F_SETFL(flags - OFlag::O_NONBLOCK))?;
        let (program, arguments) = argv.split_first().ok_or("there is no program to run")?;
        let end = || -> Result<OwnedFd> { Ok(pty.slave.as_fd().try_clone_to_owned()?) };
        // `posix_spawn`, since nothing runs between fork and exec. The command and its ends of the terminal are
        // dropped here, or the master would never report the end.
        let child = Command::new(program).args(arguments).stdin(end()?).stdout(end()?).stderr(end()?).spawn()?;
        Ok(Self { child, master: pty.master.into(), buffer: vec![0; BUFFER] })
    }

    /// Reads once; 0 bytes at the end.
    pub(crate) fn read(&mut self) -> Result<&[u8]> {
        loop {
            match nix::unistd::read(&self.master, &mut self.buffer) {
                Ok(count) => return Ok(&self.buffer[..count]),
                Err(Errno::EINTR) => {}
                // How Linux reports that nobody has the other end open.
                Err(Errno::EIO) => return Ok(&[]),
                Err(error) => return Err(error.into()),
            }
        }
    }

    /// Reads and discards until the end; returns how many bytes came.
    pub(crate) fn drain(mut self) -> Result<usize> {
        let mut total = 0;
        loop {
            match self.read()?.len() {
                0 => break,
                count => total += count,
            }
        }
        self.child.wait()?;
        Ok(total)
    }

    /// Types a line and reads until as many bytes came back.
    pub(crate) fn echo(&mut self, line: &str) -> Result<()> {
        self.master.write_all(line.as_bytes())?;
        let mut left = line.len();
        while left > 0 {
            match self.read()?.len() {
                0 => return Err("the program has ended".into()),
                count => left = left.saturating_sub(count),
            }
        }
        Ok(())
    }

    pub(crate) fn end(mut self) -> Result<()> {
        self.child.kill()?;
        self.child.wait()?;
        Ok(())
    }

    /// Reads on a thread of its own until the program has ended; returns the program, to end it.
    pub(crate) fn flood(mut self) -> (Child, std::thread::JoinHandle<()>) {
        let mut buffer = std::mem::take(&mut self.buffer);
        let master = self.master;
        let reader =
            std::thread::spawn(
                move || {
                    while matches!(nix::unistd::read(&master, &mut buffer), Ok(1..) | Err(Errno::EINTR)) {}
                },
            );
        (self.child, reader)
    }
}
