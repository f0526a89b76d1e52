//! A table of the configuration that belongs to a tool or a front, which checks it.

use std::path::{Path, PathBuf};

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

/// A table of the configuration and its owner's judgement.
pub(crate) struct Section {
    /// The keys that a workspace may lower.
    pub(crate) limits: &'static [&'static str],
    /// The table when nothing is set, a JSON object; it names every key.
    pub(crate) defaults: fn() -> Value,
    /// Checks a whole table.
    pub(crate) check: fn(&Value) -> Result<(), Problem>,
}

/// Why an owner refuses its table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Problem {
    /// The key, where it is known.
    pub(crate) key: Option<&'static str>,
    /// What it is, and what is allowed.
    pub(crate) problem: String,
}

impl Problem {
    pub(crate) fn at(key: &'static str, problem: String) -> Self {
        Self { key: Some(key), problem }
    }
}

impl Section {
    /// Returns the defaults of a `Config` as a table.
    pub(crate) fn defaults<T: Default + Serialize>() -> Value {
        serde_json::to_value(T::default()).expect("a configuration has only what JSON has")
    }

    /// Reads a table as a `Config`.
    pub(crate) fn parse<T: DeserializeOwned>(table: &Value) -> Result<T, Problem> {
        T::deserialize(table).map_err(|error| Problem { key: None, problem: error.to_string() })
    }
}

/// The tables of the host itself and of its fronts.
pub(super) const HOST: &[(&str, Section)] = &[
    (
        "bus",
        Section { limits: &["max_result_chars"], defaults: Section::defaults::<super::BusSettings>, check: check_bus },
    ),
    ("audit", Section { limits: &[], defaults: Section::defaults::<super::AuditSettings>, check: check_audit }),
    (
        "mask",
        Section {
            limits: &[],
            defaults: Section::defaults::<super::MaskSettings>,
            check: |table| Section::parse::<super::MaskSettings>(table).map(|_| ()),
        },
    ),
    ("env", Section { limits: &[], defaults: Section::defaults::<crate::EnvConfig>, check: check_env }),
    #[cfg(feature = "mcp")]
    (
        "mcp",
        Section {
            limits: &[],
            defaults: Section::defaults::<crate::mcp::Config>,
            check: |table| {
                Section::parse::<crate::mcp::Config>(table)?
                    .validate()
                    .map_err(|error| Problem::at(error.key, error.problem))
            },
        },
    ),
];

fn check_bus(table: &Value) -> Result<(), Problem> {
    let bus: super::BusSettings = Section::parse(table)?;
    let ranges = [
        ("max_result_chars", bus.max_result_chars as u64, 1_000, 10_000_000),
        ("cancel_grace_ms", bus.cancel_grace_ms, 100, 600_000),
    ];
    match ranges.into_iter().find(|(_, value, low, high)| !(low..=high).contains(&value)) {
        Some((key, value, low, high)) => Err(Problem::at(key, format!("got {value}; allowed is {low} to {high}"))),
        None => Ok(()),
    }
}

fn check_audit(table: &Value) -> Result<(), Problem> {
    let audit: super::AuditSettings = Section::parse(table)?;
    // Whether there is a home directory is not known here.
    match audit.file.map(|path| absolute(&path, Some(Path::new("/")))) {
        Some(Err(problem)) => Err(Problem::at("file", problem)),
        _ => Ok(()),
    }
}

/// Returns a path that is absolute or begins with `~/` as an absolute one.
pub(super) fn absolute(path: &Path, home: Option<&Path>) -> Result<PathBuf, String> {
    let shown = path.display();
    if path.is_absolute() {
        return Ok(path.to_owned());
    }
    match (path.strip_prefix("~"), home) {
        (Ok(rest), Some(home)) if !rest.as_os_str().is_empty() => Ok(home.join(rest)),
        (Ok(_), None) => Err(format!("got \"{shown}\", and the home directory is not known")),
        _ => Err(format!("got \"{shown}\"; allowed is an absolute path, or one that begins with `~/`")),
    }
}

fn check_env(table: &Value) -> Result<(), Problem> {
    let env: crate::EnvConfig = Section::parse(table)?;
    let bad = |name: &str, value: &str| name.is_empty() || name.contains(['=', '\0']) || value.contains('\0');
    match env.set.iter().find(|(name, value)| bad(name, value)) {
        Some((name, _)) => {
            let problem = format!("got {name:?}; a name is not empty and has no `=`, and nothing has a NUL character");
            Err(Problem::at("set", problem))
        }
        None => Ok(()),
    }
}
