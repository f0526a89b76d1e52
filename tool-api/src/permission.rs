//! Asking before an effect.

use std::ffi::OsString;
use std::fmt::Debug;
use std::path::PathBuf;
use std::sync::Arc;

use async_trait::async_trait;
use tokio_util::sync::CancellationToken;

use crate::{CallId, ChatId, Effects, Workspace};

/// How a command is run, which decides what a person is asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum CommandKind {
    /// It runs to its end with no input.
    Once,
    /// It runs in the background with no input.
    Background,
    /// It stays open for input on a terminal, so that what is typed later is not asked again.
    Interactive,
    /// It is one line typed into the shell that person and agent share. `foreground` of the effect names the program
    /// that would get it instead, if one is running there.
    SharedLine,
}

impl CommandKind {
    /// Tells whether the process stays open for input after the approval.
    pub fn stays_open(self) -> bool {
        matches!(self, Self::Interactive)
    }
}

/// A command that a tool wants to run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CommandEffect {
    /// The whole command text, as the shell will get it.
    pub command: String,
    /// The shell that runs it, an absolute path or a program name.
    pub shell: PathBuf,
    /// The directory it starts in, absolute.
    pub workdir: PathBuf,
    /// How it is run.
    pub kind: CommandKind,
    /// The variables that this call sets on top of the host's environment.
    pub env: Vec<(String, String)>,
    /// The `PATH` that its programs are looked up in; none when the environment has none.
    pub search_path: Option<OsString>,
    /// The program that would get a [`CommandKind::SharedLine`] instead of the shell.
    pub foreground: Option<String>,
}

/// A change to a file that a tool wants to make.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EditEffect {
    /// The file, absolute.
    pub path: PathBuf,
    /// What would change, as a person reads it.
    pub preview: String,
}

/// Something that a tool wants to read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReadEffect {
    /// What is read, as a person reads it.
    pub what: String,
    /// The file, absolute, if it is one.
    pub path: Option<PathBuf>,
}

/// The concrete effect that permission is asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Effect {
    /// Running a command.
    Command(CommandEffect),
    /// Changing a file.
    Edit(EditEffect),
    /// Reading.
    Read(ReadEffect),
}

/// One request for permission.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct PermissionRequest {
    /// The tool that asks.
    pub tool: String,
    /// What it would do.
    pub effect: Effect,
    /// What the tool's calls can do in general.
    pub effects: Effects,
    /// The chat it is for.
    pub chat: ChatId,
    /// The call that would do it.
    pub call: CallId,
    /// The directories of the chat.
    pub workspace: Arc<Workspace>,
    /// Is cancelled when the answer is no longer wanted; a question to a person ends then.
    pub cancel: CancellationToken,
}

impl PermissionRequest {
    /// Makes a request of a tool in a call's context.
    pub fn new(tool: impl Into<String>, effects: Effects, effect: Effect, ctx: &crate::ToolContext) -> Self {
        Self {
            tool: tool.into(),
            effect,
            effects,
            chat: ctx.chat.clone(),
            call: ctx.call.clone(),
            workspace: Arc::clone(&ctx.workspace),
            cancel: ctx.cancel.clone(),
        }
    }
}

/// Something that must still hold right before an approved effect, for example that the program is the one approved.
pub trait Condition: Debug + Send + Sync {
    /// Checks it. May read files.
    ///
    /// # Errors
    /// Says what no longer holds; the effect must not happen.
    fn check(&self) -> Result<(), Denied>;

    /// Checks right after a command was started what could have changed since [`Condition::check`], but for what the
    /// command may have changed itself. May read files.
    ///
    /// # Errors
    /// Says what does not hold; the command must be stopped at once.
    fn check_started(&self) -> Result<(), Denied> {
        Ok(())
    }

    /// Learns that a condition of the same grant does not hold, so that the effect does not happen or is taken back.
    fn refused(&self, _denied: &Denied) {}
}

/// The directory that a granted command starts in.
#[derive(Clone, Debug, Default)]
pub enum StartDirectory {
    /// Whatever the path of the effect leads to at the start.
    #[default]
    ByPath,
    /// This open directory, wherever it or another one of its name is by then.
    Opened(OpenedDirectory),
    /// It could not be opened when permission was asked: nothing may be started.
    Unavailable(Arc<std::io::Error>),
}

/// Something that is open: only held and handed on here. On systems other than Unix nothing is opened beforehand.
#[cfg(unix)]
pub type Handle = std::os::fd::OwnedFd;
/// Something that is open: on this system nothing is opened beforehand.
#[cfg(not(unix))]
pub type Handle = std::convert::Infallible;

/// An open directory.
#[derive(Clone, Debug)]
pub struct OpenedDirectory {
    /// Where it was when it was opened, without symbolic links.
    pub path: PathBuf,
    /// The directory. It may be open only as a place (`O_PATH`), which is enough to go there.
    pub file: Arc<Handle>,
}

/// Permission for exactly one effect.
///
/// A tool calls [`Grant::check`] right before the effect. One that starts a command starts it in
/// [`Grant::directory`], executes [`Grant::program`] where the system can, and calls [`Grant::check_started`] right
/// after that.
#[derive(Clone, Debug, Default)]
pub struct Grant {
    conditions: Vec<Arc<dyn Condition>>,
    directory: StartDirectory,
    program: Option<Arc<Handle>>,
}

impl Grant {
    /// Makes a grant without conditions.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a condition that is checked right before the effect.
    #[must_use]
    pub fn with_condition(mut self, condition: Arc<dyn Condition>) -> Self {
        self.conditions.push(condition);
        self
    }

    /// Sets the directory that the command starts in.
    #[must_use]
    pub fn with_directory(mut self, directory: StartDirectory) -> Self {
        self.directory = directory;
        self
    }

    /// Sets the open file of the program that is executed: for a command line, of its shell.
    #[must_use]
    pub fn with_program(mut self, program: Arc<Handle>) -> Self {
        self.program = Some(program);
        self
    }

    /// Returns the directory that the command starts in.
    pub fn directory(&self) -> &StartDirectory {
        &self.directory
    }

    /// Returns the open file of the program that is executed. It may be open only as a place (`O_PATH`).
    pub fn program(&self) -> Option<&Arc<Handle>> {
        self.program.as_ref()
    }

    /// Checks every condition.
    ///
    /// # Errors
    /// The first condition that does not hold; the effect must not happen.
    pub fn check(&self) -> Result<(), Denied> {
        self.each(|condition| condition.check())
    }

    /// Checks every condition right after the command was started.
    ///
    /// # Errors
    /// The first condition that does not hold; the command must be stopped at once.
    pub fn check_started(&self) -> Result<(), Denied> {
        self.each(|condition| condition.check_started())
    }

    fn each(&self, check: impl Fn(&dyn Condition) -> Result<(), Denied>) -> Result<(), Denied> {
        self.conditions.iter().try_for_each(|condition| check(&**condition)).inspect_err(|denied| {
            self.conditions.iter().for_each(|condition| condition.refused(denied));
        })
    }
}

/// Why permission was not granted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum DeniedKind {
    /// A rule or the mode forbids it.
    Forbidden,
    /// The person rejected it.
    Rejected,
    /// Nobody could be asked, or nobody answered in time.
    NoAnswer,
    /// The question was recorded; the front asks it and calls again.
    Suspended,
    /// The call was cancelled while it was asked.
    Cancelled,
    /// What was approved is no longer what would run.
    Changed,
    /// The policy itself failed, which counts as no.
    Failed,
}

/// A denial: nothing may happen.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{reason}")]
pub struct Denied {
    kind: DeniedKind,
    reason: String,
    feedback: Option<String>,
    hint: Option<String>,
}

impl Denied {
    /// Makes a denial; the reason is lowercase without a full stop.
    pub fn new(kind: DeniedKind, reason: impl Into<String>) -> Self {
        Self { kind, reason: reason.into(), feedback: None, hint: None }
    }

    /// Adds what the person said.
    #[must_use]
    pub fn with_feedback(mut self, feedback: impl Into<String>) -> Self {
        self.feedback = Some(feedback.into());
        self
    }

    /// Adds what to do about it.
    #[must_use]
    pub fn with_hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    /// Returns the kind.
    pub fn kind(&self) -> DeniedKind {
        self.kind
    }

    /// Returns the reason.
    pub fn reason(&self) -> &str {
        &self.reason
    }

    /// Returns what the person said, if anything.
    pub fn feedback(&self) -> Option<&str> {
        self.feedback.as_deref()
    }

    /// Returns what to do about it, if that is known.
    pub fn hint(&self) -> Option<&str> {
        self.hint.as_deref()
    }
}

/// Whom a tool asks before an effect.
///
/// A tool asks with the concrete effect, before any part of it; a denied call has done nothing at all. Implementations
/// fail closed: an error inside is a denial.
///
/// ```
/// use tool_api::{Denied, DeniedKind, Effect, Grant, Permission, PermissionRequest, async_trait};
///
/// /// Grants reading and nothing else.
/// #[derive(Debug)]
/// struct ReadOnly;
///
/// #[async_trait]
/// impl Permission for ReadOnly {
///     async fn ask(&self, request: PermissionRequest) -> Result<Grant, Denied> {
///         match request.effect {
///             Effect::Read(_) => Ok(Grant::new()),
///             _ => Err(Denied::new(DeniedKind::Forbidden, "only reading is allowed here")),
///         }
///     }
/// }
/// # let _ = ReadOnly;
/// ```
#[async_trait]
pub trait Permission: Debug + Send + Sync {
    /// Asks for one effect. May wait for a person; ends with a denial when `request.cancel` is cancelled.
    ///
    /// # Errors
    /// The denial, with its reason. Dropping the future withdraws the question.
    async fn ask(&self, request: PermissionRequest) -> Result<Grant, Denied>;
}

/// Denies everything.
#[derive(Clone, Copy, Debug, Default)]
pub struct DenyAll;

#[async_trait]
impl Permission for DenyAll {
    async fn ask(&self, _request: PermissionRequest) -> Result<Grant, Denied> {
        Err(Denied::new(DeniedKind::Forbidden, "this host denies every effect"))
    }
}
