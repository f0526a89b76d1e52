//! From JSON arguments to a [`Request`]: everything that does not belong is refused by name.

use std::collections::BTreeMap;
use std::time::Duration;

use serde_json::{Map, Value};
use tool_api::{ToolError, ToolErrorKind};

use crate::config::{Config, MAX_SIDE};
use crate::params::{Action, Arguments, Until, UntilText, UntilWord, View};
use crate::render::one_line;

/// The longest text to wait for, in characters.
pub(crate) const MAX_UNTIL: usize = 1_000;
/// How many keys one call may press.
pub(crate) const MAX_KEYS: usize = 256;
/// The signals that can be sent, without their prefix.
pub(crate) const SIGNALS: [&str; 9] = ["INT", "TERM", "HUP", "QUIT", "KILL", "STOP", "CONT", "USR1", "USR2"];

/// One call, checked.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Request {
    Start(Start),
    Write { id: String, input: String, keys: Vec<String>, wait: Wait },
    Read { id: String, view: View, max_chars: usize, wait: Wait },
    Resize { id: String, cols: u16, rows: u16 },
    Signal { id: String, signal: String },
    Kill { id: String },
    List,
}

/// What to start.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Start {
    pub(crate) command: String,
    pub(crate) workdir: Option<String>,
    pub(crate) env: BTreeMap<String, String>,
    pub(crate) cols: u16,
    pub(crate) rows: u16,
    pub(crate) wait: Wait,
}

/// What to wait for, and how long.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Wait {
    pub(crate) until: WaitUntil,
    pub(crate) time: Duration,
    /// Whether the call said how long.
    pub(crate) explicit: bool,
}

/// What ends a wait before its time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum WaitUntil {
    Quiet,
    Exit,
    Text(String),
}

const WAITING: &[Action] = &[Action::Start, Action::Write, Action::Read];

/// Every argument and the actions it is for, in the order of the schema.
const FIELDS: &[(&str, &[Action])] = &[
    ("action", &Action::ALL),
    ("id", &[Action::Write, Action::Read, Action::Resize, Action::Signal, Action::Kill]),
    ("command", &[Action::Start]),
    ("workdir", &[Action::Start]),
    ("env", &[Action::Start]),
    ("cols", &[Action::Start, Action::Resize]),
    ("rows", &[Action::Start, Action::Resize]),
    ("input", &[Action::Write]),
    ("keys", &[Action::Write]),
    ("view", &[Action::Read]),
    ("maxChars", &[Action::Read]),
    ("until", WAITING),
    ("waitMs", WAITING),
    ("signal", &[Action::Signal]),
];

impl Request {
    /// Checks the arguments of a call.
    ///
    /// # Errors
    /// The first argument that is unknown, for another action, of the wrong type, out of range, or missing.
    pub(crate) fn parse(arguments: Value, config: &Config) -> Result<Self, ToolError> {
        let Value::Object(mut map) = arguments else {
            let problem = format!("the arguments must be a JSON object, got {}", shown(&arguments));
            return Err(ToolError::new(ToolErrorKind::InvalidArguments, problem));
        };
        let action = action(&map)?;
        for name in map.keys() {
            belongs(name, action)?;
        }
        for (name, value) in &mut map {
            check(name, value, config).map_err(|problem| ToolError::argument(name, problem))?;
        }
        let arguments = serde_json::from_value(Value::Object(map)).map_err(|error| {
            ToolError::new(ToolErrorKind::InvalidArguments, "the arguments do not fit the schema").with_source(error)
        })?;
        Self::build(arguments, config)
    }

    fn build(arguments: Arguments, config: &Config) -> Result<Self, ToolError> {
        let action = arguments.action;
        let id = || {
            let missing = || missing("id", action).with_hint("action `list` names the sessions of this chat");
            arguments.id.clone().ok_or_else(missing)
        };
        let wait = |default_ms: u64| Wait {
            until: match &arguments.until {
                None | Some(Until::Word(UntilWord::Quiet)) => WaitUntil::Quiet,
                Some(Until::Word(UntilWord::Exit)) => WaitUntil::Exit,
                Some(Until::Text(UntilText { text })) => WaitUntil::Text(text.clone()),
            },
            time: Duration::from_millis(arguments.wait_ms.unwrap_or(default_ms)),
            explicit: arguments.wait_ms.is_some(),
        };
        Ok(match action {
            Action::Start => Self::Start(Start {
                wait: wait(config.start_wait_ms),
                command: arguments.command.ok_or_else(|| missing("command", action))?,
                workdir: arguments.workdir,
                env: arguments.env.unwrap_or_default(),
                cols: arguments.cols.unwrap_or(config.cols),
                rows: arguments.rows.unwrap_or(config.rows),
            }),
            Action::Write => {
                let (id, wait) = (id()?, wait(config.write_wait_ms));
                let input = arguments.input.unwrap_or_default();
                let keys = arguments.keys.map(|keys| keys.into_names()).unwrap_or_default();
                if input.is_empty() && keys.is_empty() {
                    let hint = r#"give `input` (a text, "\n" presses Enter), `keys` (for example ["ctrl-c"]), or both; to only wait, use action `read`"#;
                    return Err(ToolError::argument("input", "is empty or missing, and so is `keys`").with_hint(hint));
                }
                Self::Write { id, input, keys, wait }
            }
            Action::Read => Self::Read {
                id: id()?,
                view: arguments.view.unwrap_or_default(),
                max_chars: arguments.max_chars.unwrap_or(config.max_chars),
                wait: wait(config.read_wait_ms),
            },
            Action::Resize if arguments.cols.is_none() && arguments.rows.is_none() => {
                id()?;
                return Err(ToolError::argument("cols", "is missing, and so is `rows`; `resize` needs both"));
            }
            Action::Resize => Self::Resize {
                id: id()?,
                cols: arguments.cols.ok_or_else(|| missing("cols", action))?,
                rows: arguments.rows.ok_or_else(|| missing("rows", action))?,
            },
            Action::Signal => {
                Self::Signal { id: id()?, signal: arguments.signal.ok_or_else(|| missing("signal", action))? }
            }
            Action::Kill => Self::Kill { id: id()? },
            Action::List => Self::List,
        })
    }
}

fn action(map: &Map<String, Value>) -> Result<Action, ToolError> {
    let allowed = || format!("allowed is {}", listed(Action::ALL.map(Action::name)));
    let Some(value) = map.get("action") else {
        return Err(ToolError::argument("action", format!("is missing; {}", allowed())));
    };
    let found = Action::ALL.into_iter().find(|action| value.as_str() == Some(action.name()));
    found.ok_or_else(|| ToolError::argument("action", format!("got {}; {}", shown(value), allowed())))
}

fn belongs(name: &str, action: Action) -> Result<(), ToolError> {
    let taken = || {
        let names = FIELDS.iter().filter(|(name, actions)| *name != "action" && actions.contains(&action));
        match listed(names.map(|(name, _)| *name)) {
            names if names.is_empty() => format!("`{}` takes no argument", action.name()),
            names => format!("`{}` takes {names}", action.name()),
        }
    };
    match FIELDS.iter().find(|(known, _)| *known == name) {
        Some((_, actions)) if actions.contains(&action) => Ok(()),
        Some((_, actions)) => {
            let owners = listed(actions.iter().map(|action| action.name()));
            let problem = format!("is for {owners}, not for `{}`; {}", action.name(), taken());
            Err(ToolError::argument(name, problem))
        }
        None => {
            let plain = |name: &str| name.replace(['_', '-'], "").to_lowercase();
            let near = FIELDS.iter().find(|(known, _)| plain(known) == plain(name));
            let near = near.map_or_else(String::new, |(known, _)| format!(", did you mean `{known}`?"));
            Err(ToolError::argument(&one_line(name, 40), format!("is unknown{near}; {}", taken())))
        }
    }
}

/// Checks one value and says what is wrong with it. A whole number that is written with a fraction, which JSON schema
/// counts as an integer, is rewritten.
fn check(name: &str, value: &mut Value, config: &Config) -> Result<(), String> {
    match name {
        "id" => text(value, 1, 64, Nul::Refused),
        "command" => match text(value, 1, usize::MAX, Nul::Refused) {
            Ok(()) if value.as_str().is_some_and(|command| command.trim().is_empty()) => {
                Err("is only blanks".to_owned())
            }
            outcome => outcome,
        },
        "workdir" => text(value, 1, usize::MAX, Nul::Refused),
        // A NUL in the input is the key ctrl-space.
        "input" => text(value, 0, config.input_limit, Nul::Allowed),
        "cols" | "rows" => integer(value, 1, u64::from(MAX_SIDE)),
        "maxChars" => integer(value, 1, config.max_chars_limit as u64),
        "waitMs" => integer(value, 0, config.wait_limit_ms),
        "view" => word(value, &["text", "screen"]),
        "signal" => {
            let known = value.as_str().is_some_and(|name| SIGNALS.contains(&name.strip_prefix("SIG").unwrap_or(name)));
            if known { Ok(()) } else { Err(got(value, &format!("{}, with or without SIG", listed(SIGNALS)))) }
        }
        "env" => env(value),
        "until" => until(value),
        "keys" => keys(value),
        _ => Ok(()),
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Nul {
    Allowed,
    Refused,
}

fn text(value: &Value, low: usize, high: usize, nul: Nul) -> Result<(), String> {
    let Some(text) = value.as_str() else { return Err(got(value, "a text")) };
    let length = text.chars().count();
    if length < low {
        return Err("is empty".to_owned());
    }
    if length > high {
        return Err(format!("has {length} characters; allowed are {low} to {high}"));
    }
    if nul == Nul::Refused && text.contains('\0') {
        return Err("contains a NUL character, which no program can be given".to_owned());
    }
    Ok(())
}

fn integer(value: &mut Value, low: u64, high: u64) -> Result<(), String> {
    let whole = value.as_u64().or_else(|| {
        let float = value.as_f64().filter(|float| float.fract() == 0.0 && (0.0..9e15).contains(float));
        float.map(|float| float as u64)
    });
    match whole {
        Some(number) if (low..=high).contains(&number) => {
            *value = Value::from(number);
            Ok(())
        }
        _ => Err(got(value, &format!("a whole number from {low} to {high}"))),
    }
}

fn word(value: &Value, allowed: &[&str]) -> Result<(), String> {
    let known = value.as_str().is_some_and(|word| allowed.contains(&word));
    if known { Ok(()) } else { Err(got(value, &listed(allowed.iter().copied()))) }
}

fn env(value: &Value) -> Result<(), String> {
    let Some(map) = value.as_object() else { return Err(got(value, "an object of texts")) };
    for (name, value) in map {
        if name.is_empty() || name.contains(['=', '\0']) {
            return Err(format!("has the variable name {}; a name is not empty and has no `=`", shown_text(name)));
        }
        text(value, 0, usize::MAX, Nul::Refused).map_err(|problem| format!("`{}` {problem}", one_line(name, 40)))?;
    }
    Ok(())
}

fn until(value: &Value) -> Result<(), String> {
    let wrong = || got(value, r#""quiet", "exit" or {"text": "..."}"#);
    match value {
        Value::String(word) if word == "quiet" || word == "exit" => Ok(()),
        Value::Object(map) if map.len() == 1 && map.contains_key("text") => {
            text(&map["text"], 1, MAX_UNTIL, Nul::Refused).map_err(|problem| format!("`text` {problem}"))
        }
        _ => Err(wrong()),
    }
}

fn keys(value: &Value) -> Result<(), String> {
    let count = match value {
        Value::String(names) => names.split_whitespace().count(),
        Value::Array(names) if names.iter().all(Value::is_string) => names.len(),
        _ => return Err(got(value, r#"a list of key names, for example ["down", "enter"]"#)),
    };
    if (1..=MAX_KEYS).contains(&count) { Ok(()) } else { Err(format!("has {count} keys; allowed are 1 to {MAX_KEYS}")) }
}

fn missing(name: &str, action: Action) -> ToolError {
    ToolError::argument(name, format!("is missing; `{}` needs it", action.name()))
}

fn got(value: &Value, allowed: &str) -> String {
    format!("got {}; allowed is {allowed}", shown(value))
}

fn listed<'a>(words: impl IntoIterator<Item = &'a str>) -> String {
    words.into_iter().collect::<Vec<_>>().join(", ")
}

fn shown(value: &Value) -> String {
    one_line(&value.to_string(), 60)
}

fn shown_text(text: &str) -> String {
    shown(&Value::from(text))
}

#[cfg(test)]
mod tests;
