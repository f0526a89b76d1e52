//! What a host can set for `shell_session`: the shell, the limits and the times.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

/// What a host can set. Every field has a default, and [`Config::validate`] refuses nonsense.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(default, deny_unknown_fields)]
pub struct Config {
    /// The shell that runs `SHELL -c command`: bash, sh, dash or zsh, whose grammar a permission can be decided by. An
    /// absolute path, or a name that is looked up in `PATH`. Without it: `$SHELL` if that is bash, else bash, else
    /// `/bin/sh`.
    pub shell: Option<PathBuf>,
    /// Columns of a new terminal. Default 120.
    pub cols: u16,
    /// Rows of a new terminal. Default 40.
    pub rows: u16,
    /// How many sessions may run in one chat. Default 4.
    pub per_chat: usize,
    /// How many sessions may run in the host. Default 8.
    pub total: usize,
    /// How many finished sessions stay readable. Default 16.
    pub finished: usize,
    /// Milliseconds without any call on a session, after which it is stopped. Default 900 000 (15 minutes).
    pub idle_ms: u64,
    /// Milliseconds after which a session is stopped in any case. Default 7 200 000 (2 hours).
    pub lifetime_ms: u64,
    /// Characters of output that a session retains; what is pushed out unread is counted as lost. Default 256 000.
    pub retained_chars: usize,
    /// Characters that a result carries when the call does not say. Default 10 000.
    pub max_chars: usize,
    /// Characters that a call may ask for at most. Default 50 000.
    pub max_chars_limit: usize,
    /// Characters that one write may have at most. Default 16 384.
    pub input_limit: usize,
    /// Milliseconds that `start` waits when the call does not say. Default 1 000.
    pub start_wait_ms: u64,
    /// Milliseconds that `write` waits when the call does not say. Default 1 000.
    pub write_wait_ms: u64,
    /// Milliseconds that `read` waits when the call does not say. Default 0.
    pub read_wait_ms: u64,
    /// Milliseconds that a call may ask to wait at most. Default 300 000.
    pub wait_limit_ms: u64,
    /// Milliseconds without output after which it counts as quiet. Default 250.
    pub quiet_ms: u64,
    /// Milliseconds between the polite stop of a process tree and the hard one. Default 2 000.
    pub grace_ms: u64,
    /// Milliseconds that a program has to take its input, and to switch its echo off before a secret. Default 5 000.
    pub write_deadline_ms: u64,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            shell: None,
            cols: 120,
            rows: 40,
            per_chat: 4,
            total: 8,
            finished: 16,
            idle_ms: 15 * 60 * 1000,
            lifetime_ms: 2 * 60 * 60 * 1000,
            retained_chars: 256_000,
            max_chars: 10_000,
            max_chars_limit: 50_000,
            input_limit: 16_384,
            start_wait_ms: 1_000,
            write_wait_ms: 1_000,
            read_wait_ms: 0,
            wait_limit_ms: 300_000,
            quiet_ms: 250,
            grace_ms: 2_000,
            write_deadline_ms: 5_000,
        }
    }
}

/// A value of [`Config`] that makes no sense.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{key}`: {problem}")]
pub struct ConfigError {
    /// The field.
    pub key: &'static str,
    /// What it is, and what is allowed.
    pub problem: String,
}

/// The largest side of a terminal that a call may ask for.
pub(crate) const MAX_SIDE: u16 = 1_000;

/// The shells that can be set. Others have a grammar of their own: what was approved would not be what runs.
const SHELLS: [&str; 4] = ["bash", "sh", "dash", "zsh"];

const DAY_MS: u64 = 24 * 60 * 60 * 1000;

impl Config {
    /// Checks every value against its range. `per_chat` may be over `total`, which then decides.
    ///
    /// # Errors
    /// The first field that makes no sense, with what it is and what is allowed.
    pub fn validate(&self) -> Result<(), ConfigError> {
        if let Some(shell) = &self.shell {
            let is_known = shell.file_name().is_some_and(|name| SHELLS.iter().any(|known| name == *known));
            let is_relative_path = shell.is_relative() && shell.components().count() != 1;
            if !is_known || is_relative_path {
                let problem = format!(
                    "got {shell:?}; allowed is bash, sh, dash or zsh, by its name or by an absolute path to it"
                );
                return Err(ConfigError { key: "shell", problem });
            }
        }
        let side = u64::from(MAX_SIDE);
        for (key, value, low, high) in [
            ("cols", u64::from(self.cols), 1, side),
            ("rows", u64::from(self.rows), 1, side),
            ("per_chat", self.per_chat as u64, 1, 1_000),
            ("total", self.total as u64, 1, 1_000),
            ("finished", self.finished as u64, 0, 10_000),
            ("idle_ms", self.idle_ms, 1_000, 30 * DAY_MS),
            ("lifetime_ms", self.lifetime_ms, 1_000, 30 * DAY_MS),
            ("retained_chars", self.retained_chars as u64, 1_000, 100_000_000),
            ("max_chars", self.max_chars as u64, 1, self.max_chars_limit as u64),
            ("max_chars_limit", self.max_chars_limit as u64, 1, 1_000_000),
            ("input_limit", self.input_limit as u64, 1, 1_000_000),
            ("start_wait_ms", self.start_wait_ms, 0, self.wait_limit_ms),
            ("write_wait_ms", self.write_wait_ms, 0, self.wait_limit_ms),
            ("read_wait_ms", self.read_wait_ms, 0, self.wait_limit_ms),
            ("wait_limit_ms", self.wait_limit_ms, 0, DAY_MS),
            ("quiet_ms", self.quiet_ms, 10, 60_000),
            ("grace_ms", self.grace_ms, 0, 60_000),
            ("write_deadline_ms", self.write_deadline_ms, 10, 600_000),
        ] {
            if !(low..=high).contains(&value) {
                return Err(ConfigError { key, problem: format!("got {value}; allowed is {low} to {high}") });
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(toml: serde_json::Value, expected: Result<(), &str>) {
        let config: Config = serde_json::from_value(toml).expect("the fields are known");
        let got = config.validate().map_err(|error| error.to_string());
        assert_eq!(got, expected.map_err(str::to_owned));
    }

    #[test]
    fn nonsense_is_refused_with_its_key() {
        check(serde_json::json!({}), Ok(()));
        check(serde_json::json!({"shell": "zsh"}), Ok(()));
        check(serde_json::json!({"shell": "/bin/zsh"}), Ok(()));
        for shell in ["bash", "sh", "/usr/bin/dash"] {
            check(serde_json::json!({"shell": shell}), Ok(()));
        }
        for shell in ["bin/zsh", "fish", "/usr/bin/fish", "python3", "", "/", "zsh -f"] {
            let allowed = "allowed is bash, sh, dash or zsh, by its name or by an absolute path to it";
            let expected = format!("`shell`: got {shell:?}; {allowed}");
            check(serde_json::json!({"shell": shell}), Err(&expected));
        }
        check(serde_json::json!({"rows": 0}), Err("`rows`: got 0; allowed is 1 to 1000"));
        check(serde_json::json!({"max_chars": 60_000}), Err("`max_chars`: got 60000; allowed is 1 to 50000"));
        check(serde_json::json!({"wait_limit_ms": 500}), Err("`start_wait_ms`: got 1000; allowed is 0 to 500"));
    }

    #[test]
    fn unknown_keys_are_refused() {
        let error = serde_json::from_value::<Config>(serde_json::json!({"idle": 5})).unwrap_err();
        assert!(error.to_string().contains("unknown field `idle`"), "{error}");
    }
}
