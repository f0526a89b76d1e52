//! One source of configuration: a file, a variable, a flag.

use std::io;
use std::path::Path;

use figment::providers::{Format, Toml};
use figment::value::{Dict, Map, Value};
use figment::{Metadata, Profile, Provider};

use super::error::{Origin, SettingError};
use super::lines::Lines;

/// Bytes of a configuration file that are read.
const MAX_FILE: u64 = 1024 * 1024;

/// Whose file it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Source {
    /// A file that the person named or wrote.
    Person,
    /// The workspace's.
    Workspace,
}

impl Source {
    pub(crate) fn origin(self, path: &Path) -> Origin {
        Origin::new(match self {
            Self::Person => format!("file {}", path.display()),
            Self::Workspace => format!("workspace file {}", path.display()),
        })
    }
}

/// The values of one source, without its rules.
#[derive(Clone, Debug)]
pub(crate) struct Layer {
    pub(crate) origin: Origin,
    pub(crate) values: Dict,
    /// The table `permission` in the order of the file, since the last matching rule wins.
    pub(crate) permission: Option<serde_json::Value>,
    /// Where the entries of that table stand.
    pub(super) lines: Lines,
}

impl Layer {
    pub(crate) fn new(origin: Origin) -> Self {
        Self { origin, values: Dict::new(), permission: None, lines: Lines::default() }
    }

    pub(crate) fn defaults(tree: &serde_json::Value) -> Self {
        let mut layer = Self::new(Origin::default_value());
        if let Ok(Value::Dict(_, values)) = Value::serialize(tree) {
            layer.values = values;
        }
        layer
    }

    /// Reads a TOML file; nothing if there is none.
    pub(crate) fn file(path: &Path, source: Source) -> Result<Option<Self>, SettingError> {
        let origin = source.origin(path);
        read(path, &origin)?.map(|text| Self::toml(&text, origin, source)).transpose()
    }

    /// Reads TOML. An error shows the line that it is about, but of the person's own file only.
    pub(crate) fn toml(text: &str, origin: Origin, source: Source) -> Result<Self, SettingError> {
        let fail = |error: &<Toml as Format>::Error| {
            let problem = match (source, error.span()) {
                (Source::Person, _) => error.to_string().trim_end().to_owned(),
                (Source::Workspace, Some(span)) => {
                    let before = text.get(..span.start).unwrap_or(text);
                    format!("parse error at line {}", before.matches('\n').count() + 1)
                }
                (Source::Workspace, None) => "parse error".to_owned(),
            };
            SettingError::new("", origin.clone(), format!("the file is not TOML: {problem}"))
        };
        let mut values: Dict = Toml::from_str(text).map_err(|error| fail(&error))?;
        let (permission, lines) = match values.remove("permission") {
            // Dictionaries of figment are sorted, so the rules are read once more, in their order.
            Some(_) => {
                let all: serde_json::Map<String, serde_json::Value> =
                    Toml::from_str(text).map_err(|error| fail(&error))?;
                (all.get("permission").cloned(), Lines::toml(text))
            }
            None => (None, Lines::default()),
        };
        spell(&mut values);
        Ok(Self { origin, values, permission, lines })
    }

    /// Sets one value by its path, from text as in a variable: `5`, `true`, `[a, b]` or plain text.
    pub(crate) fn set(&mut self, path: &[String], text: &str) {
        let Ok(value) = text.parse::<Value>();
        insert(&mut self.values, path, value);
        spell(&mut self.values);
    }
}

/// Other spellings of keys: the names that workflow policies have elsewhere.
const SPELLINGS: [(&str, &str); 2] = [("readOnly", "read_only"), ("noMutatingCommands", "no_mutating_commands")];

/// Gives every key its one spelling.
fn spell(values: &mut Dict) {
    for (other, own) in SPELLINGS {
        if let Some(value) = values.remove(other) {
            values.insert(own.to_owned(), value);
        }
    }
}

/// Reads a file; nothing if there is none.
pub(crate) fn read(path: &Path, origin: &Origin) -> Result<Option<String>, SettingError> {
    let fail = |problem: String| SettingError::new("", origin.clone(), problem);
    match std::fs::metadata(path) {
        // A directory, or a device that never ends.
        Ok(metadata) if !metadata.is_file() => return Err(fail("it is not a file".to_owned())),
        Ok(metadata) if metadata.len() > MAX_FILE => {
            return Err(fail(format!("the file has {} bytes, at most {MAX_FILE}", metadata.len())));
        }
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        _ => {}
    }
    std::fs::read_to_string(path).map(Some).map_err(|error| fail(format!("cannot read the file: {error}")))
}

pub(crate) fn insert(values: &mut Dict, path: &[String], value: Value) {
    let Some((name, rest)) = path.split_first() else { return };
    if rest.is_empty() {
        values.insert(name.clone(), value);
        return;
    }
    let mut inner = match values.remove(name) {
        Some(Value::Dict(_, inner)) => inner,
        _ => Dict::new(),
    };
    insert(&mut inner, rest, value);
    values.insert(name.clone(), inner.into());
}

impl Provider for Layer {
    fn metadata(&self) -> Metadata {
        Metadata::named(self.origin.to_string())
    }

    fn data(&self) -> Result<Map<Profile, Dict>, figment::Error> {
        Ok(Profile::Default.collect(self.values.clone()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rules_keep_their_order() {
        let text = "mode = 'ask'\n[permission.bash]\n'z *' = 'allow'\n'a *' = 'deny'\n'm *' = 'ask'\n";
        let layer = Layer::toml(text, Origin::new("file x"), Source::Person).unwrap();
        assert_eq!(layer.permission.unwrap().to_string(), r#"{"bash":{"z *":"allow","a *":"deny","m *":"ask"}}"#);
        assert_eq!(layer.values.keys().collect::<Vec<_>>(), ["mode"]);
    }
}
