//! Pseudoterminals: opening, sizing, asking for their modes and their foreground group.

use std::io;
use std::os::fd::{AsFd, OwnedFd};

use nix::sys::termios::{
    InputFlags, LocalFlags, OutputFlags, SetArg, SpecialCharacterIndices as Char, Termios, tcgetattr, tcgetsid,
    tcsetattr,
};
use nix::unistd::{Pid, getsid};

use tokio::io::Interest;
use tokio::io::unix::AsyncFd;

use crate::sys::tty;

/// A window size in character cells.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PtySize {
    /// Columns.
    pub cols: u16,
    /// Rows.
    pub rows: u16,
}

impl Default for PtySize {
    fn default() -> Self {
        Self { cols: 120, rows: 40 }
    }
}

/// How a new terminal is set before the command sees it.
///
/// Programs that set the terminal themselves change it as they like.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PtySettings {
    /// Whether erasing takes a whole UTF-8 character (`IUTF8`); default on.
    pub utf8: bool,
    /// Whether ^S and ^Q in the input stop and start the output (`IXON`); default off: a ^S would freeze it.
    pub flow_control: bool,
    /// Whether the kernel turns LF into CR LF (`ONLCR`); default off: it costs newline-rich output 2 to 12 times,
    /// and readers here treat LF as newline.
    pub newline_to_crlf: bool,
    /// Whether what is typed comes back as output (`ECHO`); default on.
    pub echo: bool,
}

impl Default for PtySettings {
    fn default() -> Self {
        Self { utf8: true, flow_control: false, newline_to_crlf: false, echo: true }
    }
}

/// Both ends of a pseudoterminal. Closed when dropped, which hangs up on the programs in it.
#[derive(Debug)]
pub struct Pty {
    /// The host's end, nonblocking.
    pub master: OwnedFd,
    /// The program's end. The host keeps it until it has read everything: while it is open the master does not
    /// report an end, and macOS keeps unread output.
    pub slave: OwnedFd,
}

/// What a terminal is set to do with input and output now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TtyModes {
    /// Input is handed over by lines (`ICANON`).
    pub canonical: bool,
    /// Input comes back as output (`ECHO`).
    pub echo: bool,
    /// Interrupt, quit and suspend characters raise signals (`ISIG`).
    pub signals: bool,
    /// Output is processed (`OPOST`).
    pub output_processing: bool,
    /// LF is written as CR LF (`ONLCR`, with `OPOST`).
    pub newline_to_crlf: bool,
    /// CR is read as LF (`ICRNL`).
    pub cr_to_newline: bool,
    /// The character that interrupts (`VINTR`); `None` when switched off.
    pub interrupt: Option<u8>,
    /// The character that quits (`VQUIT`).
    pub quit: Option<u8>,
    /// The character that suspends (`VSUSP`).
    pub suspend: Option<u8>,
    /// The character that ends input (`VEOF`).
    pub end_of_file: Option<u8>,
}

/// The signals a terminal itself sends to its foreground process group.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TtySignal {
    /// SIGINT.
    Interrupt,
    /// SIGQUIT.
    Quit,
    /// SIGTSTP.
    Suspend,
}

/// Opens a pseudoterminal of this size, set as asked. Neither end is inherited by any program, at no moment on
/// Linux (on macOS a program started by somebody else in between could get it).
///
/// # Errors
/// `EMFILE`/`ENFILE` without descriptors, `ENOSPC` when the system has no terminal left.
pub fn open(size: PtySize, settings: PtySettings) -> io::Result<Pty> {
    // `ptsname` and setting close-on-exec late, where it is so.
    #[cfg(not(target_os = "linux"))]
    let _lock = {
        static OPENING: std::sync::Mutex<()> = std::sync::Mutex::new(());
        OPENING.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    };
    let master = tty::open_master()?;
    let slave = tty::open_slave(master.as_fd())?;
    let mut termios = tcgetattr(&slave)?;
    let utf8 = InputFlags::IUTF8;
    termios.input_flags.set(utf8, settings.utf8);
    termios.input_flags.set(InputFlags::IXON, settings.flow_control);
    termios.output_flags.set(OutputFlags::ONLCR, settings.newline_to_crlf);
    termios.local_flags.set(LocalFlags::ECHO, settings.echo);
    // On the slave: through the master it would discard output on macOS.
    tcsetattr(&slave, SetArg::TCSANOW, &termios)?;
    tty::set_size(slave.as_fd(), size.cols, size.rows)?;
    Ok(Pty { master, slave })
}

/// Sets the size; an unchanged one raises no SIGWINCH. Either end will do.
///
/// # Errors
/// Only for a descriptor that is no terminal.
pub fn resize(fd: impl AsFd, size: PtySize) -> io::Result<()> {
    tty::set_size(fd.as_fd(), size.cols, size.rows)
}

/// The size.
///
/// # Errors
/// Only for a descriptor that is no terminal.
pub fn size(fd: impl AsFd) -> io::Result<PtySize> {
    let (cols, rows) = tty::size(fd.as_fd())?;
    Ok(PtySize { cols, rows })
}

/// What the terminal is set to do now. Either end will do while the slave is open.
///
/// # Errors
/// Only for a descriptor that is no terminal.
pub fn modes(fd: impl AsFd) -> io::Result<TtyModes> {
    let termios = tcgetattr(fd)?;
    let character = |index| character(&termios, index);
    let processing = termios.output_flags.contains(OutputFlags::OPOST);
    Ok(TtyModes {
        canonical: termios.local_flags.contains(LocalFlags::ICANON),
        echo: termios.local_flags.contains(LocalFlags::ECHO),
        signals: termios.local_flags.contains(LocalFlags::ISIG),
        output_processing: processing,
        newline_to_crlf: processing && termios.output_flags.contains(OutputFlags::ONLCR),
        cr_to_newline: termios.input_flags.contains(InputFlags::ICRNL),
        interrupt: character(Char::VINTR),
        quit: character(Char::VQUIT),
        suspend: character(Char::VSUSP),
        end_of_file: character(Char::VEOF),
    })
}

fn character(termios: &Termios, index: Char) -> Option<u8> {
    let value = termios.control_chars[index as usize];
    (value != nix::libc::_POSIX_VDISABLE).then_some(value)
}

/// The foreground process group, asked of the master. `None` when there is none, which the system also calls 0:
/// signalling that group would mean our own.
pub fn foreground(master: impl AsFd) -> Option<i32> {
    nix::unistd::tcgetpgrp(master).ok().map(Pid::as_raw).filter(|group| *group > 1)
}

/// Has the terminal signal its foreground group, with the kernel's rights, so also a setuid program. On Linux
/// nothing is discarded; on macOS unread input and output is, as by the key.
///
/// # Errors
/// Only for a descriptor that is no master.
pub fn signal_foreground(master: impl AsFd, signal: TtySignal) -> io::Result<()> {
    let number = match signal {
        TtySignal::Interrupt => libc::SIGINT,
        TtySignal::Quit => libc::SIGQUIT,
        TtySignal::Suspend => libc::SIGTSTP,
    };
    tty::signal_foreground(master.as_fd(), number)
}

/// Signals the foreground group by number, for the signals a terminal does not send itself. Returns the group.
///
/// # Errors
/// `ESRCH` when there is no foreground group, `EPERM` when it runs as somebody else (which does not mean that it
/// is gone).
pub fn kill_foreground(master: impl AsFd, signal: i32) -> io::Result<i32> {
    let gone = || io::Error::from_raw_os_error(libc::ESRCH);
    let group = foreground(&master).ok_or_else(gone)?;
    // A group that has ended stays in the foreground until another one is put there. If its number is a process of
    // another session by now, it is not the group that was meant.
    let session = tcgetsid(&master).ok();
    if session.is_some_and(|session| getsid(Some(Pid::from_raw(group))).is_ok_and(|other| other != session)) {
        return Err(gone());
    }
    crate::sys::kill_group(group, signal)?;
    Ok(group)
}

/// Bytes of input the program has not read yet, asked of the slave. In canonical mode only whole lines count. What was
/// written counts a moment later: the kernel hands it over in its own time.
///
/// # Errors
/// Only for a descriptor that is no terminal.
pub fn input_pending(slave: impl AsFd) -> io::Result<usize> {
    tty::readable_bytes(slave.as_fd())
}

/// Bytes of output that can be read at once, of a pipe; for a terminal there may be more.
pub(crate) fn readable(end: impl AsFd) -> usize {
    tty::readable_bytes(end.as_fd()).unwrap_or(0)
}

/// Registers a nonblocking descriptor, such as a master or a pipe's read end, with the runtime at hand.
///
/// # Errors
/// When the runtime cannot take one more.
pub fn register(fd: OwnedFd, interest: Interest) -> io::Result<AsyncFd<OwnedFd>> {
    crate::sys::watch::watch(fd, interest)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{Read, Write};

    #[test]
    fn a_new_terminal_is_set_as_asked() {
        let pty = open(PtySize { cols: 91, rows: 17 }, PtySettings::default()).expect("open");
        assert_eq!(size(&pty.master).expect("size"), PtySize { cols: 91, rows: 17 });
        let modes = modes(&pty.master).expect("modes");
        assert!(modes.canonical && modes.echo && modes.signals && modes.cr_to_newline && !modes.newline_to_crlf);
        assert_eq!((modes.interrupt, modes.end_of_file), (Some(3), Some(4)));
        let termios = tcgetattr(&pty.slave).expect("termios");
        assert!(termios.input_flags.contains(InputFlags::IUTF8) && !termios.input_flags.contains(InputFlags::IXON));
        resize(&pty.master, PtySize { cols: 5, rows: 6 }).expect("resize");
        assert_eq!(size(&pty.slave).expect("size"), PtySize { cols: 5, rows: 6 });
    }

    #[test]
    fn newline_translation_can_be_asked_for() {
        let settings = PtySettings { newline_to_crlf: true, ..PtySettings::default() };
        let pty = open(PtySize::default(), settings).expect("open");
        assert!(modes(&pty.master).expect("modes").newline_to_crlf);
    }

    #[test]
    fn nobody_in_the_foreground_is_no_group() {
        let pty = open(PtySize::default(), PtySettings::default()).expect("open");
        assert_eq!(foreground(&pty.master), None);
        assert_eq!(kill_foreground(&pty.master, 0).expect_err("no group").raw_os_error(), Some(libc::ESRCH));
    }

    #[test]
    fn input_is_pending_until_it_is_read() {
        let pty = open(PtySize::default(), PtySettings { echo: false, ..PtySettings::default() }).expect("open");
        let mut master = std::fs::File::from(pty.master);
        let mut slave = std::fs::File::from(pty.slave);
        master.write_all(b"abc").expect("write");
        assert_eq!(input_pending(&slave).expect("pending"), 0, "no line yet");
        master.write_all(b"d\n").expect("write");
        // The kernel hands it over in its own time.
        let end = std::time::Instant::now() + std::time::Duration::from_secs(10);
        while input_pending(&slave).expect("pending") != 5 {
            assert!(std::time::Instant::now() < end, "{:?}", input_pending(&slave));
            std::thread::yield_now();
        }
        assert_eq!(slave.read(&mut [0; 5]).expect("read"), 5);
        assert_eq!(input_pending(&slave).expect("pending"), 0);
    }
}
