//! The configuration: defaults, the person's file, the workspace's file, variables, flags; later ones win.
//!
//! The workspace's file is untrusted: it can only tighten. What it tried to loosen is in [`Settings::ignored`].

mod error;
mod known;
mod layer;
mod lines;
mod rules;
pub(crate) mod section;
mod sources;
mod workspace;

use std::path::PathBuf;

use figment::Figment;
use policy::{Mode, Policy, Rules, WorkflowPolicy};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::builtin::BUILTINS;
use crate::env::EnvConfig;
use layer::{Layer, Source};
use section::{Problem, Section};
use sources::{defaults, flags, variables};

pub use error::{Origin, SettingError, SettingErrors};
pub use rules::rules_file;
pub use sources::user_file;
pub use workspace::Ignored;

/// The name of a workspace's file, in its root.
pub const WORKSPACE_FILE: &str = ".toolhost.toml";
/// What the name of a variable starts with; `__` separates the parts of a key.
pub const VARIABLE_PREFIX: &str = "TOOLHOST_";
/// Variables with that prefix that are no keys: the log filter, the file, and the marks that children carry.
const NO_KEYS: [&str; 4] = ["TOOLHOST_LOG", "TOOLHOST_CONFIG", "TOOLHOST_FORK_SERVER", "TOOLHOST_COOKIE"];

/// The keys of the workflow policies.
const WORKFLOW: [(&str, WorkflowPolicy); 2] =
    [("read_only", WorkflowPolicy::ReadOnly), ("no_mutating_commands", WorkflowPolicy::NoMutatingCommands)];

/// Where a configuration comes from. The library reads no environment by itself.
#[derive(Clone, Debug, Default)]
pub struct Sources {
    /// The person's file. It need not exist, unless `user_file_required`.
    pub user_file: Option<PathBuf>,
    /// The person named the file, so that a missing one is an error.
    pub user_file_required: bool,
    /// The root of the workspace, whose `.toolhost.toml` is read if there is one.
    pub workspace: Option<PathBuf>,
    /// The person's home directory, which `~` means in rules.
    pub home: Option<PathBuf>,
    /// The environment; only `TOOLHOST_*` is looked at.
    pub variables: Vec<(String, String)>,
    /// Keys that flags set: the flag's name, the key, the value.
    pub flags: Vec<(String, String, String)>,
}

/// The table `[bus]`.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(default, deny_unknown_fields)]
pub struct BusSettings {
    /// Characters of text in one result, 1 000 to 10 000 000. Default 60 000.
    pub max_result_chars: usize,
    /// Milliseconds that a tool has to come back after its call was cancelled, 100 to 600 000. Default 10 000.
    pub cancel_grace_ms: u64,
}

impl Default for BusSettings {
    fn default() -> Self {
        Self { max_result_chars: 60_000, cancel_grace_ms: 10_000 }
    }
}

/// The table `[audit]`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(default, deny_unknown_fields)]
pub struct AuditSettings {
    /// The file that decisions and effects are written to, an absolute path or one that begins with `~/`. Default
    /// none: nothing is written.
    pub file: Option<PathBuf>,
}

/// The table `[mask]`.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(default, deny_unknown_fields)]
pub struct MaskSettings {
    /// Whether secrets are hidden in results, errors and notices. The log and the audit are masked in any case.
    /// Default true.
    pub enabled: bool,
    /// Names of further variables whose values are hidden, beside those whose names say secret. Default none.
    pub variables: Vec<String>,
}

impl Default for MaskSettings {
    fn default() -> Self {
        Self { enabled: true, variables: Vec::new() }
    }
}

/// The rules of one file, without what has no effect.
#[derive(Clone, Debug, PartialEq)]
pub struct RuleLayer {
    /// The rules as they are written, in the file's order.
    pub written: Vec<WrittenRule>,
    rules: Rules,
}

/// One rule as it is written in a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WrittenRule {
    /// The key, for example `permission.bash."git *"`.
    pub key: String,
    /// The permission, for example `bash`.
    pub permission: String,
    /// The pattern; `*` for a decision for all.
    pub pattern: String,
    /// `allow`, `ask` or `deny`.
    pub decision: String,
    /// The file and the line.
    pub origin: Origin,
}

/// A valid configuration.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Limits of the bus.
    pub bus: BusSettings,
    /// The environment of commands.
    pub env: EnvConfig,
    /// Where decisions and effects are written to.
    pub audit: AuditSettings,
    /// What hides secrets.
    pub mask: MaskSettings,
    /// The permission rules, the person's first.
    pub rules: Vec<RuleLayer>,
    /// What the workspace's file tried to loosen.
    pub ignored: Vec<Ignored>,
    mode: Mode,
    /// The person's mode is `smart` and the workspace's `ask`: what either does not allow is not allowed.
    reads_asked: bool,
    workflow: Vec<WorkflowPolicy>,
    home: Option<PathBuf>,
    /// All values as they hold, in the order of the defaults.
    values: Value,
    figment: Figment,
}

/// One value and where it comes from.
#[derive(Clone, Debug, PartialEq)]
pub struct Setting {
    /// The key, for example `tool.sleep.max_ms`.
    pub key: String,
    /// The value.
    pub value: Value,
    /// Where it comes from.
    pub origin: Origin,
}

impl Settings {
    /// Reads and checks every source.
    ///
    /// # Errors
    /// All bad values, each with its key, its file or variable, and what is allowed.
    pub fn load(sources: &Sources) -> Result<Self, SettingErrors> {
        let defaults = defaults();
        let mut errors = Vec::new();
        let mut figment = Figment::from(Layer::defaults(&defaults));
        let mut rules = Vec::new();
        let home = sources.home.as_deref();
        let mut add_rules = |layer: &Layer, errors: &mut Vec<SettingError>| match rules::rules(layer, home) {
            Ok(found) => rules.extend(found.map(|rules| RuleLayer { written: rules::written(layer), rules })),
            Err(error) => errors.push(error),
        };
        if let Some(path) = &sources.user_file {
            match Layer::file(path, Source::Person) {
                Ok(Some(layer)) => {
                    known::check(&layer, &defaults, &mut errors);
                    add_rules(&layer, &mut errors);
                    figment = figment.merge(layer);
                }
                Ok(None) if sources.user_file_required => {
                    errors.push(SettingError::new("", Source::Person.origin(path), "the file does not exist"));
                }
                Ok(None) => {}
                Err(error) => errors.push(error),
            }
        }
        let mut ignored = Vec::new();
        let mut reads_asked = false;
        if let Some(root) = &sources.workspace {
            match workspace::file(root) {
                Ok(Some(layer)) => {
                    known::check(&layer, &defaults, &mut errors);
                    errors.extend(workspace::unknown_mode(&layer));
                    let before: Value = figment.extract().unwrap_or_else(|_| defaults.clone());
                    let mut layer = workspace::tighten(layer, &before, &mut ignored);
                    // Read first, so that a mistake is an error also where the rule has no effect.
                    if let Err(error) = rules::rules(&layer, home) {
                        errors.push(error);
                    } else {
                        rules::without_allow(&mut layer, &mut ignored);
                        add_rules(&layer, &mut errors);
                    }
                    reads_asked = before["mode"] == json!(Mode::Smart) && layer.values.contains_key("mode");
                    figment = figment.merge(layer);
                }
                Ok(None) => {}
                Err(error) => errors.push(error),
            }
        }
        let asked_by = origin_of(&figment, "mode");
        for layer in variables(&sources.variables).into_iter().chain(flags(&sources.flags)) {
            known::check(&layer, &defaults, &mut errors);
            figment = figment.merge(layer);
        }
        let mode: Value = figment.extract_inner("mode").unwrap_or_default();
        let mode = parse_mode(&mode).unwrap_or_else(|problem| {
            errors.push(SettingError::new("mode", origin_of(&figment, "mode"), problem));
            Mode::default()
        });
        if !errors.is_empty() {
            return Err(SettingErrors(errors));
        }
        let mut settings = Self::check(figment, &defaults, mode)?;
        settings.audit.file = match settings.audit.file.take().map(|path| section::absolute(&path, home)).transpose() {
            Ok(path) => path,
            Err(problem) => {
                return Err(SettingError::new("audit.file", settings.origin("audit.file"), problem).into());
            }
        };
        // Flags and variables are the person's, and come later.
        settings.reads_asked = reads_asked && mode == Mode::Ask && settings.origin("mode") == asked_by;
        (settings.rules, settings.ignored, settings.home) = (rules, ignored, sources.home.clone());
        Ok(settings)
    }

    /// The defaults alone.
    pub fn defaults() -> Self {
        Self::load(&Sources::default()).expect("the defaults are valid, which the tests check")
    }

    /// Makes the policy: the rules of every file, the mode, the workflow policies, the home directory.
    pub fn policy(&self) -> Policy {
        let policy = match self.reads_asked {
            true => Policy::new().with_mode(Mode::Smart).with_reads_asked(),
            false => Policy::new().with_mode(self.mode),
        };
        let policy = self.workflow.iter().fold(policy, |policy, workflow| policy.with_workflow(*workflow));
        let policy = self.rules.iter().fold(policy, |policy, layer| policy.with_layer(layer.rules.clone()));
        match &self.home {
            Some(home) => policy.with_home(home),
            None => policy,
        }
    }

    /// Lists every value and where it comes from, in the order of the defaults.
    pub fn list(&self) -> Vec<Setting> {
        let mut list = Vec::new();
        known::leaves(&self.values, &mut String::new(), &mut |key, value| {
            list.push(Setting { key: key.to_owned(), value: value.clone(), origin: self.origin(key) });
        });
        list
    }

    /// Tells whether a tool of this build is on.
    pub(crate) fn is_enabled(&self, tool: &crate::builtin::Builtin) -> bool {
        let shell = self.values["tools"]["shell"] == json!(true);
        self.values["tool"][tool.name]["enabled"] == json!(true) && (!tool.runs_commands || shell)
    }

    /// Returns the configuration of a tool of this build.
    pub(crate) fn tool(&self, name: &str) -> Value {
        without_enabled(&self.values["tool"][name])
    }

    /// Returns the configuration of the MCP front.
    #[cfg(feature = "mcp")]
    pub fn mcp(&self) -> crate::mcp::Config {
        Section::parse(&self.values["mcp"]).expect("every section was checked")
    }

    /// Returns where the value of a key comes from.
    pub fn origin(&self, key: &str) -> Origin {
        origin_of(&self.figment, key)
    }

    fn check(figment: Figment, defaults: &Value, mode: Mode) -> Result<Self, SettingErrors> {
        let merged: Value = figment
            .extract()
            .map_err(|error| SettingError::new("", Origin::new("configuration"), error.to_string()))?;
        let values = known::in_order(defaults, &merged);
        let mut errors = Vec::new();
        let mut fail = |key: String, problem: String| {
            let origin = origin_of(&figment, &key);
            errors.push(SettingError::new(key, origin, problem));
        };
        for (key, section) in sections() {
            let pointer = format!("/{}", key.replace('.', "/"));
            let table = values.pointer(&pointer).map(without_enabled).unwrap_or_default();
            if let Err((inner, problem)) = judge(section, &table) {
                let full = |inner: &str| format!("{key}.{inner}");
                let is_default = |inner: &str| origin_of(&figment, &full(inner)) == Origin::default_value();
                match inner {
                    None => fail(key, problem),
                    // Nobody set it, so it is refused because of another key, and that one is to blame.
                    Some(inner) if is_default(&inner) => match cause(section, &table) {
                        Some(set) => {
                            let got = &table[set.as_str()];
                            let problem = format!("got {got}, which the default of `{inner}` does not fit: {problem}");
                            fail(full(&set), problem);
                        }
                        None => fail(full(&inner), problem),
                    },
                    Some(inner) => fail(full(&inner), problem),
                }
            }
        }
        if !errors.is_empty() {
            return Err(SettingErrors(errors));
        }
        let typed = "every section was checked";
        let bus = Section::parse(&values["bus"]).expect(typed);
        let env = Section::parse(&values["env"]).expect(typed);
        let audit = Section::parse(&values["audit"]).expect(typed);
        let mask = Section::parse(&values["mask"]).expect(typed);
        let on = |(key, policy): &(&str, WorkflowPolicy)| (values[*key] == json!(true)).then_some(*policy);
        let workflow = WORKFLOW.iter().filter_map(on).collect();
        let (rules, ignored) = (Vec::new(), Vec::new());
        Ok(Self {
            bus,
            env,
            audit,
            mask,
            rules,
            ignored,
            mode,
            reads_asked: false,
            workflow,
            home: None,
            values,
            figment,
        })
    }
}

/// Reads a mode.
///
/// # Errors
/// What is allowed, for a mode that does not exist.
pub fn parse_mode(value: &Value) -> Result<Mode, String> {
    let allowed = "allowed is \"ask\", \"smart\" or \"plan\"";
    let text = value.as_str().ok_or_else(|| format!("got {value}; {allowed}"))?;
    text.parse().map_err(|_| format!("got {value}; {allowed}"))
}

/// Lists every section with its key.
fn sections() -> impl Iterator<Item = (String, &'static Section)> {
    let host = section::HOST.iter().map(|(key, section)| ((*key).to_owned(), section));
    host.chain(BUILTINS.iter().map(|tool| (format!("tool.{}", tool.name), &tool.section)))
}

/// Returns what a section refuses: the key where that can be found, and the problem.
fn judge(section: &Section, table: &Value) -> Result<(), (Option<String>, String)> {
    let Err(Problem { key, problem }) = (section.check)(table) else { return Ok(()) };
    if let Some(key) = key {
        return Err((Some(key.to_owned()), problem));
    }
    let check = |table: &Value| (section.check)(table).map_err(|found| found.problem);
    match known::culprit(table, &(section.defaults)(), check) {
        Some((key, problem)) => Err((Some(key), problem)),
        None => Err((None, problem)),
    }
}

/// Returns the key that was set and makes the section refuse its defaults.
fn cause(section: &Section, table: &Value) -> Option<String> {
    let check = |table: &Value| (section.check)(table).map_err(|found| found.problem);
    known::culprit(table, &(section.defaults)(), check).map(|(key, _)| key)
}

fn origin_of(figment: &Figment, key: &str) -> Origin {
    figment.find_metadata(key).map_or_else(Origin::default_value, |metadata| Origin::new(metadata.name.to_string()))
}

fn without_enabled(table: &Value) -> Value {
    let mut table = table.clone();
    if let Value::Object(fields) = &mut table {
        fields.shift_remove("enabled");
    }
    table
}

#[cfg(test)]
mod tests;
