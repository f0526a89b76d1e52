//! Writing to a session: text, keys and secrets, each call's input in one piece.

use std::sync::Arc;
use std::time::{Duration, Instant};

use super::run::Link;
use super::{Inner, Session, Shared};
use crate::keys::{self, UnknownKey};
use crate::pty::TtyModes;
use crate::terminal::Modes;

/// The longest line that a terminal in line mode takes; what is longer is cut by the kernel without an error.
/// Linux: `N_TTY_BUF_SIZE` less one (`drivers/tty/n_tty.c`); macOS: `MAX_CANON` less one (`sys/syslimits.h`).
#[cfg(target_os = "linux")]
pub const LONGEST_LINE: usize = 4095;
/// The longest line that a terminal in line mode takes; what is longer is cut by the kernel without an error.
#[cfg(not(target_os = "linux"))]
pub const LONGEST_LINE: usize = 1023;

/// How long the terminal's answers wait for a program that does not read.
const LONGEST_ANSWER: Duration = Duration::from_secs(1);

/// How often a terminal is looked at while a secret waits for its prompt.
const PROMPT_LOOK: Duration = Duration::from_millis(10);

/// What to type: text and named keys, in order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Input {
    parts: Vec<Part>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Part {
    Text(String),
    Key(String),
}

impl Input {
    /// Makes an input that types nothing yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Types text; each `\n` presses Enter.
    #[must_use]
    pub fn text(mut self, text: impl Into<String>) -> Self {
        self.parts.push(Part::Text(text.into()));
        self
    }

    /// Presses a named key, see [`keys::encode`].
    #[must_use]
    pub fn key(mut self, name: impl Into<String>) -> Self {
        self.parts.push(Part::Key(name.into()));
        self
    }

    /// The text alone, whose echo is expected back.
    fn typed_text(&self) -> String {
        let texts = self.parts.iter().filter_map(|part| match part {
            Part::Text(text) => Some(text.as_str()),
            Part::Key(_) => None,
        });
        texts.collect()
    }
}

/// Why input was not written, or not all of it.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum WriteError {
    /// The command has ended, or takes no input.
    #[error("the process has ended; {written} of {total} bytes were written")]
    Ended {
        /// Bytes that the terminal took before.
        written: usize,
        /// Bytes to write.
        total: usize,
    },
    /// The program did not read its input in time.
    #[error("the program does not read its input: {written} of {total} bytes were written in {waited:?}")]
    Deadline {
        /// Bytes that the terminal took.
        written: usize,
        /// Bytes to write.
        total: usize,
        /// How long was waited.
        waited: Duration,
    },
    /// A line is longer than a terminal in line mode takes. Nothing was written.
    #[error(
        "line too long: {length} bytes, but the terminal is in line mode and takes {LONGEST_LINE} bytes a line; nothing was written"
    )]
    LineTooLong {
        /// The length of the line with what was typed of it before, in bytes.
        length: usize,
    },
    /// A key has no such name. Nothing was written.
    #[error(transparent)]
    Key(#[from] UnknownKey),
    /// No program asked for a secret in time. Nothing was written.
    #[error("no program reads a line with echo off; nothing was written")]
    NoSecretPrompt,
    /// A secret has a control character, which the program would take for the end of the line or for a signal.
    /// Nothing was written.
    #[error("the secret contains a control character; nothing was written")]
    ControlInSecret,
    /// The terminal refused.
    #[error("the terminal refused input after {written} of {total} bytes")]
    Terminal {
        /// Bytes that the terminal took before.
        written: usize,
        /// Bytes to write.
        total: usize,
        /// Its error.
        #[source]
        source: std::io::Error,
    },
}

/// Encoded input: bytes, and signals in place of the characters that stand for them.
///
/// A terminal that turns `^C` into a signal throws away the output that was not read yet; sending the signal itself
/// loses nothing.
#[derive(Debug, PartialEq, Eq)]
enum Item {
    Bytes(Vec<u8>),
    Signal(i32),
}

impl Session {
    /// Types `input`, in one piece: what another call types comes before or after it. The deadline covers the wait for
    /// that, too.
    ///
    /// Dropping the future may leave a part of the input typed.
    ///
    /// # Errors
    /// See [`WriteError`]; unknown keys and too long lines are refused before anything is typed.
    pub async fn write(&self, input: &Input, deadline: Duration) -> Result<(), WriteError> {
        let inner = &self.inner;
        let begin = Instant::now();
        let (link, _, items) = inner.encode(input)?;
        if !items.is_empty() && items.iter().all(|item| matches!(item, Item::Signal(_))) {
            // An interrupt does not queue behind input that nobody reads.
            inner.lock().typed_of_line = 0;
            return inner.write_items(&link, &items, begin, deadline).await;
        }
        let Ok(_piece) = tokio::time::timeout(deadline, inner.writing.lock()).await else {
            return Err(WriteError::Deadline { written: 0, total: total(&items), waited: deadline });
        };
        // Once more: the program may have changed its terminal while another call's input was written.
        inner.catch_up(&link);
        let (link, tty, items) = inner.encode(input)?;
        let before = inner.lock().typed_of_line;
        let rest = check_lines(&items, tty, before)?;
        inner.lock().typed_of_line = rest;
        inner.expect_echo(&input.typed_text(), tty);
        inner.write_items(&link, &items, begin, deadline).await
    }

    /// Types a secret and Enter as soon as the foreground program reads a line with echo off. What other calls type
    /// meanwhile comes before it.
    ///
    /// # Errors
    /// [`WriteError::NoSecretPrompt`] when no program does before the deadline, [`WriteError::ControlInSecret`] for a
    /// secret of more than a line; nothing is typed then.
    pub async fn type_secret(&self, secret: &[u8], deadline: Duration) -> Result<(), WriteError> {
        if secret.iter().any(u8::is_ascii_control) {
            return Err(WriteError::ControlInSecret);
        }
        let inner = &self.inner;
        let begin = Instant::now();
        let left = || deadline.saturating_sub(begin.elapsed());
        loop {
            if inner.takes_secret()?.is_some()
                && let Ok(_piece) = tokio::time::timeout(left(), inner.writing.lock()).await
                // Another call may have answered the prompt.
                && let Some((link, tty)) = inner.takes_secret()?
            {
                let mut line = secret.to_vec();
                line.push(b'\n');
                let items = [Item::Bytes(line)];
                check_lines(&items, tty, 0)?;
                inner.lock().typed_of_line = 0;
                let outcome = inner.write_items(&link, &items, Instant::now(), deadline).await;
                if let [Item::Bytes(mut line)] = items {
                    line.fill(0);
                }
                return outcome;
            }
            if left().is_zero() {
                return Err(WriteError::NoSecretPrompt);
            }
            tokio::time::sleep(PROMPT_LOOK).await;
        }
    }
}

const ENDED: WriteError = WriteError::Ended { written: 0, total: 0 };

impl Inner {
    /// Encodes input for the terminal as it is set now.
    fn encode(&self, input: &Input) -> Result<(Arc<Link>, TtyModes, Vec<Item>), WriteError> {
        let (link, modes) = self.writable()?;
        let tty = link.tty().and_then(|tty| tty.modes().ok()).ok_or(ENDED)?;
        let items = encode(input, tty, modes)?;
        Ok((link, tty, items))
    }

    /// Returns the terminal if it takes lines and does not echo them.
    fn takes_secret(&self) -> Result<Option<(Arc<Link>, TtyModes)>, WriteError> {
        let (link, _) = self.writable()?;
        let tty = link.tty().and_then(|tty| tty.modes().ok()).ok_or(ENDED)?;
        Ok((tty.canonical && !tty.echo).then_some((link, tty)))
    }

    fn writable(&self) -> Result<(Arc<Link>, Modes), WriteError> {
        let shared = self.lock();
        match &shared.link {
            Some(link) if shared.end.is_none() && link.tty().is_some() => {
                Ok((Arc::clone(link), shared.terminal.modes()))
            }
            _ => Err(ENDED),
        }
    }

    /// Writes until `deadline` has passed since `begin`.
    async fn write_items(
        &self,
        link: &Link,
        items: &[Item],
        begin: Instant,
        deadline: Duration,
    ) -> Result<(), WriteError> {
        let total = total(items);
        let mut written = 0;
        for item in items {
            match item {
                Item::Signal(signal) => {
                    if let Some(tty) = link.tty() {
                        // The group may be gone between two bytes; then there is nobody to interrupt.
                        let _ = tty.signal_foreground(*signal);
                        // As with the key, what was typed before and not read is gone; output is not.
                        tty.discard_input();
                    }
                }
                Item::Bytes(bytes) => {
                    let mut rest = bytes.as_slice();
                    while !rest.is_empty() {
                        let left = deadline.saturating_sub(begin.elapsed());
                        let step = tokio::select! {
                            biased;
                            () = self.ended() => return Err(WriteError::Ended { written, total }),
                            step = tokio::time::timeout(left, link.write_some(rest)) => step,
                        };
                        match step {
                            Ok(Ok(count)) => {
                                written += count;
                                rest = &rest[count..];
                            }
                            Ok(Err(source)) => return Err(WriteError::Terminal { written, total, source }),
                            Err(_) => return Err(WriteError::Deadline { written, total, waited: deadline }),
                        }
                    }
                }
            }
        }
        Ok(())
    }

    /// Waits until the command itself has ended.
    async fn ended(&self) {
        loop {
            let changed = self.changed.notified();
            tokio::pin!(changed);
            changed.as_mut().enable();
            if self.lock().end.is_some() {
                return;
            }
            changed.await;
        }
    }

    /// Writes the terminal's own answers, which are short, each after any input that is being written, until there is
    /// none.
    pub(super) async fn answer(&self, link: &Link) {
        loop {
            let _piece = self.writing.lock().await;
            let replies = self.lock().next_replies();
            if replies.is_empty() {
                return;
            }
            if self.write_items(link, &[Item::Bytes(replies)], Instant::now(), LONGEST_ANSWER).await.is_err() {
                // A program that asks and then does not read its answers loses them.
                self.lock().terminal.take_replies();
            }
        }
    }
}

impl Shared {
    /// Tells whether there are answers that nobody writes yet; they are the caller's to write then.
    pub(super) fn begins_to_answer(&mut self, modes: Option<TtyModes>) -> bool {
        if !self.terminal.has_replies() {
            return false;
        }
        if modes.is_none_or(|modes| modes.canonical) {
            // Whoever asks a terminal reads keys first; in line mode an answer would be typed into a shell.
            self.terminal.take_replies();
            return false;
        }
        !std::mem::replace(&mut self.answering, true)
    }

    /// Takes the answers that are there; without any, nobody writes answers from now on.
    fn next_replies(&mut self) -> Vec<u8> {
        let replies = self.terminal.take_replies();
        self.answering = !replies.is_empty();
        replies
    }
}

fn total(items: &[Item]) -> usize {
    items.iter().map(Item::len).sum()
}

impl Item {
    fn len(&self) -> usize {
        match self {
            Self::Bytes(bytes) => bytes.len(),
            Self::Signal(_) => 1,
        }
    }
}

fn encode(input: &Input, tty: TtyModes, modes: Modes) -> Result<Vec<Item>, UnknownKey> {
    let mut bytes = Vec::new();
    for part in &input.parts {
        match part {
            Part::Text(text) => type_text(text, tty, modes, &mut bytes),
            Part::Key(name) => bytes.extend_from_slice(&keys::encode(name, &modes)?),
        }
    }
    Ok(split_signals(bytes, tty))
}

/// Turns `\n` into what Enter sends, and marks several lines as a paste where the program asked for that.
fn type_text(text: &str, tty: TtyModes, modes: Modes, bytes: &mut Vec<u8>) {
    let text = text.replace("\r\n", "\n");
    const PASTE: (&str, &str) = ("\x1b[200~", "\x1b[201~");
    // A terminal in line mode ends a line at `\n` whatever its settings; a program that reads keys expects `\r`.
    let enter = if tty.canonical { "\n" } else { "\r" };
    let (lines, last_enter) = match text.strip_suffix('\n') {
        Some(lines) => (lines, enter),
        None => (text.as_str(), ""),
    };
    let several = lines.trim_matches('\n').contains('\n');
    let paste = modes.bracketed_paste && !tty.canonical && several && !lines.contains('\x1b');
    if paste {
        bytes.extend_from_slice(PASTE.0.as_bytes());
    }
    bytes.extend_from_slice(lines.replace('\n', enter).as_bytes());
    if paste {
        bytes.extend_from_slice(PASTE.1.as_bytes());
    }
    bytes.extend_from_slice(last_enter.as_bytes());
}

fn split_signals(bytes: Vec<u8>, tty: TtyModes) -> Vec<Item> {
    let mut items = Vec::new();
    let mut run = Vec::new();
    for byte in bytes {
        match signal_of(byte, tty) {
            Some(signal) => {
                if !run.is_empty() {
                    items.push(Item::Bytes(std::mem::take(&mut run)));
                }
                items.push(Item::Signal(signal));
            }
            None => run.push(byte),
        }
    }
    if !run.is_empty() {
        items.push(Item::Bytes(run));
    }
    items
}

/// The signal that a character stands for in this terminal.
fn signal_of(byte: u8, tty: TtyModes) -> Option<i32> {
    let characters = [(tty.interrupt, libc::SIGINT), (tty.quit, libc::SIGQUIT), (tty.suspend, libc::SIGTSTP)];
    let found = characters.into_iter().find(|&(character, _)| character == Some(byte));
    found.filter(|_| tty.signals).map(|(_, signal)| signal)
}

/// Checks that no line is cut by the terminal; returns the length of the last, unfinished one.
fn check_lines(items: &[Item], tty: TtyModes, before: usize) -> Result<usize, WriteError> {
    if !tty.canonical {
        return Ok(0);
    }
    let ends_line = |byte| byte == b'\n' || (byte == b'\r' && tty.cr_to_newline) || Some(byte) == tty.end_of_file;
    let (mut length, mut longest) = (before, 0);
    for item in items {
        match item {
            Item::Signal(_) => length = 0,
            Item::Bytes(bytes) => {
                for &byte in bytes {
                    length = if ends_line(byte) { 0 } else { length + 1 };
                    longest = longest.max(length);
                }
            }
        }
    }
    if longest > LONGEST_LINE { Err(WriteError::LineTooLong { length: longest }) } else { Ok(length) }
}
