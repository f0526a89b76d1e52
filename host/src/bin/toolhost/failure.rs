//! Why the program ends without having done what it was asked, printed once.

use std::error::Error;
use std::fmt::Display;
use std::io;
use std::process::ExitCode;

use host::AssembleError;
use host::settings::SettingErrors;

/// Exit code when the machine refused, or a step of `play` failed.
pub(crate) const FAILED: u8 = 1;
/// Exit code for bad arguments and a bad configuration, as clap has it.
pub(crate) const USAGE: u8 = 2;

/// Why the program ends.
#[derive(Debug)]
pub(crate) struct Failure {
    /// What is printed, each line of it after `error: ` or `hint: `.
    message: Option<String>,
    code: u8,
}

impl Failure {
    pub(crate) fn usage(message: impl Display, hint: Option<&str>) -> Self {
        let hint = hint.map_or(String::new(), |hint| format!("\nhint: {hint}"));
        Self { message: Some(format!("error: {message}{hint}")), code: USAGE }
    }

    /// Something that the system refused, with its causes.
    pub(crate) fn machine(message: impl Display, error: impl Error) -> Self {
        let mut text = format!("error: {message}: {error}");
        let mut cause = error.source();
        while let Some(error) = cause {
            text.push_str(&format!(": {error}"));
            cause = error.source();
        }
        Self { message: Some(text), code: FAILED }
    }

    pub(crate) fn settings(errors: SettingErrors) -> Self {
        let mut text = String::new();
        for error in &errors.0 {
            text.push_str(&format!("error: {error}\n"));
            if let Some(hint) = &error.hint {
                text.push_str(&format!("hint: {hint}\n"));
            }
        }
        text.push_str("hint: `toolhost config` without this value shows every key and where its value comes from");
        Self { message: Some(text), code: USAGE }
    }

    pub(crate) fn assemble(error: AssembleError) -> Self {
        match error {
            AssembleError::Settings(errors) => Self::settings(errors),
            other => Self::machine("cannot assemble the host", other),
        }
    }

    /// Prints it on standard error, and returns the exit code.
    pub(crate) fn report(self) -> ExitCode {
        if let Some(message) = self.message {
            eprintln!("{message}");
        }
        ExitCode::from(self.code)
    }
}

impl From<io::Error> for Failure {
    /// A failed write of the results. Nobody reads them any more when the pipe is closed, so that is no failure.
    fn from(error: io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::BrokenPipe => Self { message: None, code: 0 },
            _ => Self::machine("cannot write the result", error),
        }
    }
}
