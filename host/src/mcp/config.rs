//! Settings of the MCP front.

use serde::{Deserialize, Serialize};

/// What happens to a question when the client cannot ask the person.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum WithoutElicitation {
    /// What needs asking is denied, and the model is told why.
    #[default]
    Deny,
    /// What needs asking is allowed: the client itself asks before it calls a tool. What a rule denies stays denied.
    Allow,
}

/// The largest time that makes sense: a day.
const DAY_MS: u64 = 24 * 60 * 60 * 1000;

/// What a host can set for the MCP front. Every field has a default, and [`Config::validate`] refuses nonsense.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Config {
    /// What happens to a question when the client cannot ask the person. Default `deny`.
    pub without_elicitation: WithoutElicitation,
    /// Whether a program's question for a secret may be put to the person as a form of the client. Default `true`. The
    /// MCP specification advises against secrets in forms, since a client may keep what is entered.
    pub secrets: bool,
    /// Milliseconds that an answer of the person may take, 100 to 86 400 000; then it counts as no. Default 600 000.
    pub answer_timeout_ms: u64,
    /// Milliseconds between two progress notifications, 10 to 600 000. Default 10 000.
    pub progress_ms: u64,
    /// Milliseconds that a call may wait before it returns with the reason `limit`, 100 to 86 400 000. Default: by the
    /// name of the client, 50 000 if it is not known.
    pub wait_limit_ms: Option<u64>,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            without_elicitation: WithoutElicitation::Deny,
            secrets: true,
            answer_timeout_ms: 600_000,
            progress_ms: 10_000,
            wait_limit_ms: None,
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

impl Config {
    /// Checks every value against its range.
    ///
    /// # Errors
    /// The first field that makes no sense, with what it is and what is allowed.
    pub fn validate(&self) -> Result<(), ConfigError> {
        range("answer_timeout_ms", self.answer_timeout_ms, 100, DAY_MS)?;
        range("progress_ms", self.progress_ms, 10, 600_000)?;
        self.wait_limit_ms.map_or(Ok(()), |limit| range("wait_limit_ms", limit, 100, DAY_MS))
    }
}

fn range(key: &'static str, value: u64, low: u64, high: u64) -> Result<(), ConfigError> {
    if (low..=high).contains(&value) {
        return Ok(());
    }
    Err(ConfigError { key, problem: format!("got {value}; allowed is {low} to {high}") })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn refuses_nonsense_by_name() {
        assert_eq!(Config::default().validate(), Ok(()));
        let check = |config: Config, key: &str| assert_eq!(config.validate().unwrap_err().key, key);
        check(Config { answer_timeout_ms: 0, ..Config::default() }, "answer_timeout_ms");
        check(Config { progress_ms: 9, ..Config::default() }, "progress_ms");
        check(Config { wait_limit_ms: Some(DAY_MS + 1), ..Config::default() }, "wait_limit_ms");
        check(Config { wait_limit_ms: Some(0), ..Config::default() }, "wait_limit_ms");
    }
}
