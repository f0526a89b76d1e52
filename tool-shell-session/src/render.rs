//! What a call gives back: one [`Outcome`], as JSON and as the text that the model reads.

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;
use tool_api::ToolOutput;

mod text;
mod time;

pub(crate) use text::{ended, one_line, why_ended};
pub(crate) use time::rfc3339;

/// The structured result of every action; `list` gives `sessions` alone, the others the rest.
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(deny_unknown_fields)]
pub(crate) struct Outcome {
    /// The session.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) id: Option<String>,
    /// The next output in order, clean text; it is given once.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) output: Option<String>,
    /// Characters of output that are not read yet.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) remaining_chars: Option<u64>,
    /// Characters that scrolled out unread before this output.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) lost_chars: Option<u64>,
    /// Why the call returned.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) reason: Option<Reason>,
    /// What the session is doing.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) state: Option<State>,
    /// The exit code, when it exited.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) exit_code: Option<i32>,
    /// The signal that ended it, for example SIGKILL.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) signal: Option<String>,
    /// Why it ended.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) ended_because: Option<EndedBecause>,
    /// The program in the foreground of the terminal.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) foreground: Option<String>,
    /// What the program in the foreground reads from the terminal; absent while it does not, while it is stopped, and
    /// right after input that was not waited for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) waiting_for: Option<WaitingFor>,
    /// Processes that still hold the terminal after the exit.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) held_by: Option<Vec<Process>>,
    /// The rendered screen, when it was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) screen: Option<Screen>,
    /// kill: how many processes were stopped.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) stopped: Option<u64>,
    /// kill: processes that could not be ended.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) survivors: Option<Vec<Survivor>>,
    /// list: the sessions of this chat, oldest first.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) sessions: Option<Vec<Entry>>,
    /// Facts for the text alone.
    #[serde(skip)]
    #[schemars(skip)]
    pub(crate) notes: Notes,
}

/// What the text says beyond the structured result.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Notes {
    /// What the action did, for example who got a signal.
    pub(crate) done: Option<String>,
    /// How long the session ran or runs, in milliseconds.
    pub(crate) ran_ms: u64,
    /// How a person was asked for a secret.
    pub(crate) secret: Option<String>,
    /// That note says what to do about the secret that the program still waits for.
    pub(crate) secret_is_open: bool,
    /// Columns of the terminal.
    pub(crate) cols: u16,
    /// The alternate screen is on.
    pub(crate) full_screen: bool,
    /// The call did not wait at all.
    pub(crate) unwaited: bool,
    /// The text that was waited for is in the part that is not read yet.
    pub(crate) beyond: bool,
}

/// Why a call returned.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) enum Reason {
    Text,
    Quiet,
    Exit,
    Deadline,
    Input,
    Limit,
    Cancelled,
}

/// What a session is doing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) enum State {
    Running,
    Stopped,
    Exited,
    Signaled,
}

impl State {
    /// Tells whether it is over.
    pub(crate) fn has_ended(self) -> bool {
        matches!(self, Self::Exited | Self::Signaled)
    }
}

/// Why a session ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) enum EndedBecause {
    Exit,
    Killed,
    Idle,
    Lifetime,
    ChatEnded,
    ProjectEnded,
    HostStopped,
}

/// What a program reads from the terminal.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) enum WaitingFor {
    Line,
    Secret,
    Key,
    Unknown,
}

/// A process.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Process {
    /// Its number.
    pub(crate) pid: i32,
    /// Its command line.
    pub(crate) command: String,
}

/// A process that could not be ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Survivor {
    /// Its number.
    pub(crate) pid: i32,
    /// Its command line.
    pub(crate) command: String,
    /// Its state as the system names it.
    pub(crate) state: String,
    /// Why it lives.
    pub(crate) reason: String,
}

/// The rendered screen.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Screen {
    /// Every row from the top, without trailing blanks.
    pub(crate) rows: Vec<String>,
    /// Where the cursor is: row and column, counted from 0.
    pub(crate) cursor: Cursor,
    /// Whether the alternate screen is on, as full-screen programs use it.
    pub(crate) alternate: bool,
}

/// A place on the screen, from 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Cursor {
    /// From the top, the first row is 0.
    pub(crate) row: u16,
    /// From the left, the first column is 0.
    pub(crate) col: u16,
}

/// One session in a list.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Entry {
    /// Its id.
    pub(crate) id: String,
    /// What was started.
    pub(crate) command: String,
    /// What it is doing.
    pub(crate) state: State,
    /// When it was started, RFC 3339 in UTC.
    pub(crate) started_at: String,
    /// Milliseconds since the last call on it.
    pub(crate) idle_ms: u64,
    /// Characters of output that are not read yet.
    pub(crate) unread_chars: u64,
    /// How it ended, for the text alone.
    #[serde(skip)]
    #[schemars(skip)]
    pub(crate) ended: Option<String>,
}

/// The keys that are `null` rather than missing while they have no value.
pub(crate) const NULLABLE: [&str; 4] = ["exitCode", "signal", "endedBecause", "foreground"];

impl Outcome {
    /// Makes the result of a call.
    pub(crate) fn into_output(self) -> ToolOutput {
        let text = text::of(&self);
        ToolOutput::text(text).with_structured(self.into_json())
    }

    fn into_json(self) -> Value {
        let mut value = serde_json::to_value(&self).unwrap_or_default();
        if let (Some(map), None) = (value.as_object_mut(), &self.sessions) {
            for key in NULLABLE {
                map.entry(key).or_insert(Value::Null);
            }
        }
        value
    }
}
