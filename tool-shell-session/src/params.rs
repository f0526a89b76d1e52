//! The arguments of `shell_session`, as the model reads and writes them.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What a call does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) enum Action {
    Start,
    Write,
    Read,
    Resize,
    Signal,
    Kill,
    List,
}

impl Action {
    pub(crate) const ALL: [Self; 7] =
        [Self::Start, Self::Write, Self::Read, Self::Resize, Self::Signal, Self::Kill, Self::List];

    /// Returns the word that the model writes.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Start => "start",
            Self::Write => "write",
            Self::Read => "read",
            Self::Resize => "resize",
            Self::Signal => "signal",
            Self::Kill => "kill",
            Self::List => "list",
        }
    }
}

/// Every argument of every action, flat: several hosts refuse a schema with alternatives at its root.
///
/// The field docs are the descriptions in the schema; ranges and defaults come from the configuration. Which arguments
/// belong to which action is in [`crate::request`].
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct Arguments {
    /// What to do.
    pub(crate) action: Action,
    /// The session, for example s3. For every action but start and list.
    pub(crate) id: Option<String>,
    /// start: the program to run, as a shell command line. A bare shell (bash, sh, zsh...) is refused.
    pub(crate) command: Option<String>,
    /// start: the directory to run in; a relative one is taken from the workspace root, which is the default.
    pub(crate) workdir: Option<String>,
    /// start: variables to set on top of the environment.
    pub(crate) env: Option<BTreeMap<String, String>>,
    /// start, resize: columns of the terminal.
    pub(crate) cols: Option<u16>,
    /// start, resize: rows of the terminal.
    pub(crate) rows: Option<u16>,
    /// write: the text to type. \n presses Enter; without it the line is not sent.
    pub(crate) input: Option<String>,
    /// write: keys to press after the input: enter tab escape up down left right home end pageup pagedown f1-f12
    /// backspace delete space shift-tab ctrl-x alt-x (x is any letter).
    pub(crate) keys: Option<Keys>,
    /// read: "text" is the next output in order, each part once. "screen" is what a person would see now, for
    /// full-screen programs; it consumes nothing.
    pub(crate) view: Option<View>,
    /// read: the most characters to return; the rest stays for the next read.
    pub(crate) max_chars: Option<usize>,
    /// start, write, read: what to wait for: "quiet" (default: the output paused), "exit", or {"text": "..."} in
    /// output that is printed after this call (an echo of the input does not count). The wait ends earlier when the
    /// program exits or wants input.
    pub(crate) until: Option<Until>,
    /// start, write, read: how long to wait at most, in milliseconds.
    pub(crate) wait_ms: Option<u64>,
    /// signal: what to send to the program in the foreground.
    pub(crate) signal: Option<String>,
}

/// Named keys: a list, or one text with spaces between them.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(untagged)]
pub(crate) enum Keys {
    List(Vec<String>),
    Text(String),
}

impl Keys {
    /// Returns the names in the order they are pressed.
    pub(crate) fn into_names(self) -> Vec<String> {
        match self {
            Self::List(names) => names,
            Self::Text(text) => text.split_whitespace().map(str::to_owned).collect(),
        }
    }
}

/// How `read` shows the output.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) enum View {
    #[default]
    Text,
    Screen,
}

/// What a wait is for.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(untagged)]
pub(crate) enum Until {
    Word(UntilWord),
    Text(UntilText),
}

/// What a wait is for, in one word.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) enum UntilWord {
    Quiet,
    Exit,
}

/// A text to wait for.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct UntilText {
    pub(crate) text: String,
}
