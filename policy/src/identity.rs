//! What was approved is what runs: the files behind a command line, looked at before it is decided and again right
//! before it starts.
//!
//! For every name that is known beforehand the file is looked up as the shell will do it: in the `PATH` of the command,
//! from its working directory, with the interpreters that a `#!` line names, and with the script that an interpreter is
//! given. Device, inode, size, modification time and, up to 64 MiB, the SHA-256 of each are bound; of the working
//! directory its device and inode. A name that leads to nothing is bound, too: what appears afterwards is a change.
//! The change time of the inode, which nobody can set, tells whether a file has to be read again.
//!
//! The working directory and the shell are opened at the look, and the command starts from those, so that for them
//! nothing can come in between. What the shell looks up itself is checked right before the start and, as far as the
//! command has not had time to change it itself, right after it. What stays open:
//! - names that are known only when the command runs (`$x`, `$(...)`), which are asked anyway;
//! - what a program reads on its own: libraries, modules, a makefile that is not named;
//! - the moment between the check and the shell's own look, for a swap that is undone or comes later than the second
//!   check; and writes through a mapping that was made before, which are not seen until the system notes their time;
//! - the shared shell, whose `PATH`, functions and aliases live on from line to line: its lines are bound to what a
//!   fresh shell would run;
//! - other systems than Unix, where nothing is bound.

#[cfg(unix)]
mod builtins;
#[cfg(unix)]
mod change;
#[cfg(unix)]
mod directory;
#[cfg(unix)]
mod file;
#[cfg(unix)]
mod look;
#[cfg(unix)]
mod operand;
#[cfg(unix)]
mod plan;
#[cfg(not(unix))]
mod unbound;

#[cfg(unix)]
use std::path::Path;
use std::path::PathBuf;
#[cfg(unix)]
use std::sync::Arc;

use tool_api::{Denied, Effect, Grant, PermissionRequest, StartDirectory};

#[cfg(unix)]
pub(crate) use plan::Plan;
#[cfg(not(unix))]
pub(crate) use unbound::Plan;

use crate::prompt::Prompt;
#[cfg(unix)]
use crate::visible::visible;

/// What is known of files that were read already; shared by the clones.
#[derive(Clone, Debug, Default)]
pub(crate) struct Identities {
    #[cfg(unix)]
    read: Arc<file::Read>,
}

/// The directory that a command starts in, and the path that it was asked for by.
#[derive(Clone, Debug, Default)]
pub(crate) struct Entered {
    directory: StartDirectory,
    asked: PathBuf,
}

/// Opens the directory that a command starts in, and lets the request name where it really is.
///
/// What is decided about the request from then on is decided about the open directory.
pub(crate) fn enter(request: &mut PermissionRequest) -> Entered {
    let Effect::Command(effect) = &mut request.effect else { return Entered::default() };
    let asked = effect.workdir.clone();
    #[cfg(unix)]
    {
        let directory = directory::open(&effect.workdir, request.workspace.roots());
        if let StartDirectory::Opened(opened) = &directory {
            effect.workdir.clone_from(&opened.path);
        }
        Entered { directory, asked }
    }
    #[cfg(not(unix))]
    Entered { directory: StartDirectory::ByPath, asked }
}

/// The files behind a command line as they were at one moment.
#[derive(Clone, Debug)]
pub(crate) struct Identity {
    #[cfg(unix)]
    bound: Arc<look::Bound>,
    directory: StartDirectory,
}

impl Identity {
    /// Looks at the files. Reading large ones is done by a thread that may block, so this needs a tokio runtime.
    ///
    /// # Errors
    /// When the look itself fails, which is a denial.
    pub(crate) async fn look(known: &Identities, plan: Plan, entered: Entered) -> Result<Self, Denied> {
        let Entered { directory, asked } = entered;
        #[cfg(unix)]
        {
            let opened = match &directory {
                StartDirectory::Opened(opened) => Some(opened.clone()),
                _ => None,
            };
            let bound = look::Bound::new(plan, asked, opened, Arc::clone(&known.read)).await?;
            Ok(Self { bound: Arc::new(bound), directory })
        }
        #[cfg(not(unix))]
        {
            let _ = (known, plan, asked);
            Ok(Self { directory })
        }
    }

    /// The permission for what was looked at, and nothing else.
    pub(crate) fn grant(self) -> Grant {
        let grant = Grant::new().with_directory(self.directory);
        #[cfg(unix)]
        let grant = {
            let shell = self.bound.shell();
            let grant = grant.with_condition(self.bound);
            match shell {
                Some(shell) => grant.with_program(shell),
                None => grant,
            }
        };
        grant
    }

    /// Has a question name what it is about: an answer to it is for the same files and no others, and programs that are
    /// not where a system keeps its programs are shown.
    pub(crate) fn show(&self, prompt: &mut Prompt) {
        #[cfg(unix)]
        {
            prompt.binding.push_str(&self.bound.digest());
            let shown =
                |(name, path): (&str, &Path)| format!("{} is {}", visible(name), visible(&path.to_string_lossy()));
            prompt.runs = self.bound.unusual().into_iter().map(shown).collect();
        }
        #[cfg(not(unix))]
        let _ = prompt;
    }
}
