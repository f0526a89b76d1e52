//! Writing results: plain text, with some emphasis on a terminal.

use std::io::{self, IsTerminal, Write};

/// Standard output.
#[derive(Debug)]
pub(crate) struct Out {
    stdout: io::Stdout,
    emphasis: bool,
}

impl Out {
    pub(crate) fn new() -> Self {
        let stdout = io::stdout();
        let emphasis = stdout.is_terminal() && std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty());
        Self { stdout, emphasis }
    }

    /// Writes a line at once.
    pub(crate) fn line(&mut self, text: &str) -> io::Result<()> {
        let mut stdout = self.stdout.lock();
        writeln!(stdout, "{text}")?;
        stdout.flush()
    }

    /// Writes text as it is, at once.
    pub(crate) fn text(&mut self, text: &str) -> io::Result<()> {
        let mut stdout = self.stdout.lock();
        stdout.write_all(text.as_bytes())?;
        stdout.flush()
    }

    /// Writes a JSON value on one line.
    pub(crate) fn json(&mut self, value: &serde_json::Value) -> io::Result<()> {
        self.line(&value.to_string())
    }

    /// Makes a head bold.
    pub(crate) fn strong(&self, text: &str) -> String {
        if self.emphasis { format!("\u{1b}[1m{text}\u{1b}[0m") } else { text.to_owned() }
    }

    /// Makes an aside dim.
    pub(crate) fn dim(&self, text: &str) -> String {
        if self.emphasis { format!("\u{1b}[2m{text}\u{1b}[0m") } else { text.to_owned() }
    }
}
