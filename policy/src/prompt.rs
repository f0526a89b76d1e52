//! The question a person gets, and the answers to it.

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use async_trait::async_trait;
use tool_api::{CancellationToken, CommandEffect, CommandKind, EditEffect, ReadEffect};

use crate::outside::DIRECTORY;
use crate::visible::visible;

/// One question for a person, about exactly one effect.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Prompt {
    /// Names this question, unique for the life of the host.
    pub id: String,
    /// The same for every question about exactly this effect of this chat, and for no other: a front that asks later
    /// and lets the call run again finds its answer by it.
    pub binding: String,
    /// What kind of thing is asked, for example `Run command`.
    pub title: &'static str,
    /// What else a person must know, for example that the process stays open.
    pub note: Option<&'static str>,
    /// The whole command, or the file and its change; everything in it is visible.
    pub subject: String,
    /// The directory a command starts in.
    pub workdir: Option<PathBuf>,
    /// Programs that are not where a system keeps its programs, each with the file that its name leads to.
    pub runs: Vec<String>,
    /// Which rule or reason asks.
    pub reason: String,
    /// What "always" would allow for this chat; empty when it is not offered.
    pub always: Vec<String>,
    /// Is cancelled when the answer is no longer wanted.
    pub cancel: CancellationToken,
}

/// What a person answered.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Answer {
    /// This effect, this time.
    Once,
    /// This effect, and what [`Prompt::always`] names for the rest of the chat.
    Always,
    /// This effect, this time, without anybody having been asked: the person set it so beforehand.
    Preset {
        /// What they set, lowercase without a full stop.
        reason: String,
    },
    /// No. The feedback reaches the model.
    Reject {
        /// What the person said, if anything.
        feedback: Option<String>,
    },
    /// Nobody answered: no front can ask, it was lost, or its limit passed.
    NoAnswer {
        /// Why, lowercase without a full stop.
        reason: String,
    },
    /// The front cannot ask in the middle of a call. It has recorded the question, asks it after the call ended, and
    /// has the call run again.
    Suspended,
}

/// Whom a [`crate::Gate`] asks: a front's way to a person.
///
/// Dropping the future withdraws the question. A panic counts as no answer.
#[async_trait]
pub trait Approver: fmt::Debug + Send + Sync {
    /// Asks a person; ends with [`Answer::NoAnswer`] at the front's own limit and when `prompt.cancel` is cancelled.
    async fn ask(&self, prompt: Prompt) -> Answer;
}

/// Has nobody to ask, so whatever needs asking is denied with the given explanation.
#[derive(Clone, Debug)]
pub struct NobodyToAsk {
    reason: String,
}

impl NobodyToAsk {
    /// Says why nobody can be asked, lowercase without a full stop.
    #[must_use]
    pub fn new(reason: impl Into<String>) -> Self {
        Self { reason: reason.into() }
    }
}

#[async_trait]
impl Approver for NobodyToAsk {
    async fn ask(&self, _prompt: Prompt) -> Answer {
        Answer::NoAnswer { reason: self.reason.clone() }
    }
}

/// What all questions have.
#[derive(Debug)]
pub(crate) struct Asking<'a> {
    pub(crate) chat: &'a str,
    pub(crate) tool: &'a str,
    pub(crate) reason: String,
    pub(crate) always: Vec<String>,
    pub(crate) cancel: CancellationToken,
}

impl Prompt {
    pub(crate) fn command(asking: Asking<'_>, effect: &CommandEffect) -> Self {
        let (title, note) = match effect.kind {
            CommandKind::Interactive => (
                "Run interactive command",
                Some("The process stays open for input: what is typed into it later is not asked again."),
            ),
            CommandKind::SharedLine if effect.foreground.is_some() => (
                "Run in the shared shell",
                Some("A program runs in the foreground of the shared shell and will get this line as its input."),
            ),
            CommandKind::SharedLine => ("Run in the shared shell", None),
            CommandKind::Background => ("Run command", Some("It runs in the background.")),
            _ => ("Run command", None),
        };
        let mut subject = visible(&effect.command);
        for (name, value) in &effect.env {
            subject.push_str(&format!("\nwith {}={}", visible(name), visible(value)));
        }
        if let Some(program) = &effect.foreground {
            subject.push_str(&format!("\ntyped into {}", visible(program)));
        }
        let binding = [
            "command",
            &format!("{:?}", effect.kind),
            &effect.command,
            &effect.shell.to_string_lossy(),
            &effect.workdir.to_string_lossy(),
            &format!("{:?}", effect.env),
            &format!("{:?}", effect.foreground),
        ];
        Self::new(asking, title, note, subject, Some(effect.workdir.clone()), &binding)
    }

    pub(crate) fn edit(asking: Asking<'_>, effect: &EditEffect) -> Self {
        let title = if is_notebook(&effect.path) { "Edit notebook" } else { "Edit file" };
        let path = effect.path.to_string_lossy();
        let subject = format!("{}\n{}", visible(&path), visible(&effect.preview));
        Self::new(asking, title, None, subject, None, &["edit", &path, &effect.preview])
    }

    pub(crate) fn read(asking: Asking<'_>, effect: &ReadEffect) -> Self {
        let path = effect.path.as_deref().map(Path::to_string_lossy).unwrap_or_default();
        Self::new(asking, "Read", None, visible(&effect.what), None, &["read", &effect.what, &path])
    }

    fn new(
        asking: Asking<'_>,
        title: &'static str,
        note: Option<&'static str>,
        subject: String,
        workdir: Option<PathBuf>,
        bound: &[&str],
    ) -> Self {
        static LAST: AtomicU64 = AtomicU64::new(0);
        let number = LAST.fetch_add(1, Ordering::Relaxed) + 1;
        let mut binding = String::new();
        for part in [asking.chat, asking.tool].iter().chain(bound) {
            // The length keeps parts apart, whatever is in them.
            binding.push_str(&format!("{}:{part}", part.len()));
        }
        Self {
            id: format!("a{number}"),
            binding,
            title,
            note,
            subject,
            workdir,
            runs: Vec::new(),
            reason: visible(&asking.reason),
            always: asking.always,
            cancel: asking.cancel,
        }
    }
}

impl Prompt {
    /// The rules that would allow for good what "always" allows for this chat: each a permission of the configuration and
    /// a pattern.
    #[must_use]
    pub fn rules(&self) -> Vec<(&'static str, &str)> {
        // Of all that is asked only a command has a directory.
        let own = if self.workdir.is_some() { "bash" } else { "edit" };
        let rules = self.always.iter().map(|pattern| match pattern.strip_prefix(DIRECTORY) {
            Some(directory) => ("external_directory", directory),
            None => (own, pattern.as_str()),
        });
        rules.collect()
    }
}

fn is_notebook(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("ipynb"))
}

impl fmt::Display for Prompt {
    /// The whole question as plain text, for fronts that show no more than that.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{}\n", self.title)?;
        for line in self.subject.lines() {
            writeln!(f, "    {line}")?;
        }
        writeln!(f)?;
        if let Some(note) = self.note {
            writeln!(f, "{note}")?;
        }
        if let Some(workdir) = &self.workdir {
            writeln!(f, "Directory: {}", visible(&workdir.to_string_lossy()))?;
        }
        for program in &self.runs {
            writeln!(f, "Runs: {program}")?;
        }
        write!(f, "Asked because {}", self.reason)?;
        if !self.always.is_empty() {
            let patterns: Vec<String> = self.always.iter().map(|pattern| format!("`{}`", visible(pattern))).collect();
            write!(f, "\n\"Always\" allows for this chat: {}", patterns.join(", "))?;
        }
        Ok(())
    }
}
