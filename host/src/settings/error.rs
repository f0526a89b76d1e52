//! What is wrong with a configuration.

use std::fmt;

/// Where a value comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Origin(String);

impl Origin {
    pub(crate) fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }

    pub(crate) fn default_value() -> Self {
        Self::new("built-in default")
    }
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// One bad value: its key, where it comes from, and what is allowed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{}{problem} ({origin})", key_prefix(key))]
pub struct SettingError {
    /// The key, for example `tools.sleep.max_ms`; empty for a whole file.
    pub key: String,
    /// The file, variable or flag.
    pub origin: Origin,
    /// What it is, and what is allowed.
    pub problem: String,
    /// What to do about it.
    pub hint: Option<String>,
}

impl SettingError {
    pub(crate) fn new(key: impl Into<String>, origin: Origin, problem: impl Into<String>) -> Self {
        Self { key: key.into(), origin, problem: problem.into(), hint: None }
    }

    pub(crate) fn with_hint(mut self, hint: Option<String>) -> Self {
        self.hint = hint;
        self
    }
}

fn key_prefix(key: &str) -> String {
    if key.is_empty() { String::new() } else { format!("`{key}`: ") }
}

/// All that is wrong with a configuration; never empty.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub struct SettingErrors(pub Vec<SettingError>);

impl From<SettingError> for SettingErrors {
    fn from(error: SettingError) -> Self {
        Self(vec![error])
    }
}

impl fmt::Display for SettingErrors {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, error) in self.0.iter().enumerate() {
            if index > 0 {
                writeln!(f)?;
            }
            write!(f, "{error}")?;
            if let Some(hint) = &error.hint {
                write!(f, "\nhint: {hint}")?;
            }
        }
        Ok(())
    }
}
