//! What a person allowed for one chat, and the questions of that chat that are still open.

use std::sync::{Mutex, MutexGuard, PoisonError};

use tool_api::CancellationToken;

use crate::rules::Pattern;

/// A chat's approvals: the patterns allowed with "always", and its open questions.
///
/// They live as long as the chat and are never written down.
#[derive(Debug, Default)]
pub struct Approvals {
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    commands: Vec<Pattern>,
    edits: Vec<Pattern>,
    directories: Vec<Pattern>,
    /// Is cancelled when a question of the chat is rejected; the next questions get a new one.
    open: CancellationToken,
}

impl Approvals {
    /// Makes the approvals of a new chat: none.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// The patterns of commands allowed so far.
    #[must_use]
    pub fn commands(&self) -> Vec<Pattern> {
        self.lock().commands.clone()
    }

    /// The patterns of paths that may be edited.
    #[must_use]
    pub fn edits(&self) -> Vec<Pattern> {
        self.lock().edits.clone()
    }

    /// The patterns of paths outside the workspace that may be touched.
    #[must_use]
    pub fn directories(&self) -> Vec<Pattern> {
        self.lock().directories.clone()
    }

    /// Forgets everything that was allowed; open questions stay open.
    pub fn clear(&self) {
        let mut state = self.lock();
        state.commands.clear();
        state.edits.clear();
        state.directories.clear();
    }

    pub(crate) fn allow_commands(&self, patterns: impl IntoIterator<Item = Pattern>) {
        add(&mut self.lock().commands, patterns);
    }

    pub(crate) fn allow_edits(&self, patterns: impl IntoIterator<Item = Pattern>) {
        add(&mut self.lock().edits, patterns);
    }

    pub(crate) fn allow_directories(&self, patterns: impl IntoIterator<Item = Pattern>) {
        add(&mut self.lock().directories, patterns);
    }

    /// A token that is cancelled when another question of the chat is rejected.
    pub(crate) fn open_question(&self) -> CancellationToken {
        self.lock().open.clone()
    }

    /// Ends the chat's other open questions.
    pub(crate) fn reject_open(&self) {
        let rejected = std::mem::take(&mut self.lock().open);
        rejected.cancel();
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        // The state is whole after every statement, so a panic elsewhere spoils nothing.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn add(list: &mut Vec<Pattern>, patterns: impl IntoIterator<Item = Pattern>) {
    for pattern in patterns {
        if !list.contains(&pattern) {
            list.push(pattern);
        }
    }
}
