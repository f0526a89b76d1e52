//! Who a call belongs to: the chat, its workspace, and the scopes that can end.

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Names one conversation, the owner of everything its calls start.
///
/// Cheap to clone. Two chats are the same when their text is.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ChatId(Arc<str>);

impl ChatId {
    /// Names a chat; any text that the host never gives to two chats.
    pub fn new(id: impl Into<Arc<str>>) -> Self {
        Self(id.into())
    }

    /// Returns the text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for ChatId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl From<&str> for ChatId {
    fn from(id: &str) -> Self {
        Self::new(id)
    }
}

/// Names one call for the log and the audit. The host gives each call of a process an id of its own.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct CallId(Arc<str>);

impl CallId {
    /// Names a call.
    pub fn new(id: impl Into<Arc<str>>) -> Self {
        Self(id.into())
    }

    /// Returns the text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for CallId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// The directories a chat works in.
///
/// The first root is where commands start when a call names no other directory. What lies outside every root needs
/// the permission `external_directory`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Workspace {
    roots: Vec<PathBuf>,
}

impl Workspace {
    /// Makes a workspace of one root, an absolute path.
    pub fn new(root: impl Into<PathBuf>) -> Self {
        Self { roots: vec![root.into()] }
    }

    /// Adds a further root, an absolute path.
    #[must_use]
    pub fn with_root(mut self, root: impl Into<PathBuf>) -> Self {
        self.roots.push(root.into());
        self
    }

    /// Returns the directory where commands start.
    pub fn root(&self) -> &Path {
        &self.roots[0]
    }

    /// Returns every root, the starting directory first.
    pub fn roots(&self) -> &[PathBuf] {
        &self.roots
    }
}

/// What ends: one chat, everything of a workspace, or the host.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Scope {
    /// The chat was deleted.
    Chat(ChatId),
    /// The project with this workspace was disposed of.
    Project(Workspace),
    /// The host stops; no call follows.
    Host,
}
