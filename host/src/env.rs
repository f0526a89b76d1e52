//! The environment that commands get: the host's own, without what must not reach them.
//!
//! Dropped from what is inherited, unless `include` names it:
//! - what makes a program load or run something else than was approved: `LD_*`, `DYLD_*`, `BASH_ENV`, `ENV`,
//!   `SHELLOPTS`, `BASHOPTS`, `PS4`, `PROMPT_COMMAND`, `CDPATH`, exported bash functions;
//! - what belongs to the host or to its terminal: `TOOLHOST_*`, `COLUMNS`, `LINES`, `OLDPWD`;
//! - what is named like a secret: a word of the name is or ends in KEY, SECRET, TOKEN, PASSWORD and the like.
//!
//! `SSH_AUTH_SOCK` is inherited: it is no secret itself, `git push` needs it, and every command that could use it was
//! approved and could read the key files as well. `exclude = ["SSH_AUTH_SOCK"]` or `inherit = "core"` drops it.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::path::Path;

use serde::{Deserialize, Serialize};
use tool_api::{ChatId, Environment, ShellEnv};

/// The table `[env]` of the configuration. Patterns have `*` for any run of characters.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(default, deny_unknown_fields)]
pub struct EnvConfig {
    /// How much of the host's environment commands inherit. Default `all`.
    pub inherit: Inherit,
    /// Names and patterns of variables that are inherited in any case. Default none.
    pub include: Vec<String>,
    /// Names and patterns of variables that are not inherited, which wins over `include`. Default none.
    pub exclude: Vec<String>,
    /// Variables that every command gets, whatever is inherited. Default none.
    pub set: BTreeMap<String, String>,
}

/// How much of the host's environment commands inherit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Inherit {
    /// All but what the [`HostEnv`] drops.
    #[default]
    All,
    /// What nearly every program needs: home, path, user, shell, language, time zone, temporary directory, `XDG_*`.
    Core,
    /// Nothing.
    None,
}

const CORE: [&str; 13] = [
    "HOME",
    "PATH",
    "USER",
    "LOGNAME",
    "SHELL",
    "LANG",
    "LANGUAGE",
    "LC_*",
    "TZ",
    "TMPDIR",
    "TERMINFO",
    "TERMINFO_DIRS",
    "XDG_*",
];

const DROPPED: [&str; 15] = [
    "LD_*",
    "DYLD_*",
    "BASH_ENV",
    "ENV",
    "SHELLOPTS",
    "BASHOPTS",
    "PS4",
    "PROMPT_COMMAND",
    "CDPATH",
    "BASH_FUNC_*",
    "TOOLHOST_*",
    "COLUMNS",
    "LINES",
    "OLDPWD",
    "_",
];

/// Words that end a word of a secret's name.
const SECRET_WORDS: [&str; 16] = [
    "KEY",
    "KEYS",
    "APIKEYS",
    "SECRET",
    "SECRETS",
    "TOKEN",
    "TOKENS",
    "PASSWORD",
    "PASSWORDS",
    "PASSWD",
    "PASSPHRASE",
    "CREDENTIAL",
    "CREDENTIALS",
    "COOKIE",
    "PRIVKEY",
    "PASS",
];

/// The default [`ShellEnv`]: the environment of the host's start, filtered as the configuration says.
#[derive(Debug)]
pub struct HostEnv {
    variables: Environment,
}

impl HostEnv {
    /// Filters `inherited`, normally the host's own environment.
    pub fn new(config: &EnvConfig, inherited: impl IntoIterator<Item = (OsString, OsString)>) -> Self {
        let mut variables: Environment =
            inherited.into_iter().filter(|(name, _)| is_inherited(config, &name.to_string_lossy())).collect();
        variables.extend(config.set.iter().map(|(name, value)| (name.into(), value.into())));
        Self { variables }
    }
}

impl ShellEnv for HostEnv {
    /// Adds `PWD`, which tells shells the name by which the directory was reached.
    fn environment(&self, _chat: &ChatId, workdir: &Path) -> Environment {
        let mut variables = self.variables.clone();
        if !variables.is_empty() {
            variables.insert(OsStr::new("PWD").to_owned(), workdir.as_os_str().to_owned());
        }
        variables
    }
}

fn is_inherited(config: &EnvConfig, name: &str) -> bool {
    let named = |patterns: &[String]| patterns.iter().any(|pattern| matches(pattern, name));
    if named(&config.exclude) {
        return false;
    }
    if named(&config.include) {
        return true;
    }
    let wanted = match config.inherit {
        Inherit::All => true,
        Inherit::Core => CORE.iter().any(|pattern| matches(pattern, name)),
        Inherit::None => false,
    };
    wanted && !DROPPED.iter().any(|pattern| matches(pattern, name)) && !is_secret_name(name)
}

/// Tells whether a variable's name says that its value is secret. What the mask hides by name is among them; others (a
/// `TOKEN_FILE`) are kept from commands all the same, which costs less than to hide their values wherever they stand.
pub(crate) fn is_secret_name(name: &str) -> bool {
    if policy::names_secret(name) {
        return true;
    }
    let name = name.to_ascii_uppercase();
    let mut words = name.split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| !word.is_empty());
    // `PWD` is the directory, `MYSQL_PWD` is a password.
    let password = name != "PWD" && name != "OLDPWD" && name.ends_with("PWD");
    password || words.any(|word| SECRET_WORDS.iter().any(|secret| word.ends_with(secret)))
}

/// Matches a whole name against a pattern with `*` for any run of characters.
fn matches(pattern: &str, name: &str) -> bool {
    match pattern.split_once('*') {
        None => pattern == name,
        Some((start, rest)) => name.strip_prefix(start).is_some_and(|name| {
            (0..=name.len()).filter(|cut| name.is_char_boundary(*cut)).any(|cut| matches(rest, &name[cut..]))
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HOST: [(&str, &str); 20] = [
        ("PATH", "/usr/bin"),
        ("HOME", "/home/ann"),
        ("LC_ALL", "C.UTF-8"),
        ("EDITOR", "vim"),
        ("SSH_AUTH_SOCK", "/run/agent"),
        ("KEYBOARD_LAYOUT", "dvorak"),
        ("PWD", "/elsewhere"),
        ("OLDPWD", "/before"),
        ("COLUMNS", "80"),
        ("LD_PRELOAD", "/tmp/evil.so"),
        ("BASH_ENV", "/tmp/evil.sh"),
        ("BASH_FUNC_ls%%", "() { evil; }"),
        ("TOOLHOST_MODE", "ask"),
        ("OPENAI_API_KEY", "x"),
        ("GITHUB_TOKEN", "x"),
        ("GITHUB_PAT", "x"),
        ("SESSION_JWT", "x"),
        ("MyApp.clientSecret", "x"),
        ("MYSQL_PWD", "x"),
        ("AWS_SECRET_ACCESS_KEY", "x"),
    ];

    #[track_caller]
    fn check(config: EnvConfig, expected: &[&str]) {
        let env = HostEnv::new(&config, HOST.map(|(name, value)| (name.into(), value.into())));
        let variables = env.environment(&"c1".into(), Path::new("/work"));
        let names: Vec<&str> = variables.keys().map(|name| name.to_str().unwrap()).collect();
        assert_eq!(names, expected);
        if let Some(workdir) = variables.get(OsStr::new("PWD")) {
            assert_eq!(workdir, "/work");
        }
    }

    #[test]
    fn drops_injection_host_and_secrets() {
        let expected = ["EDITOR", "HOME", "KEYBOARD_LAYOUT", "LC_ALL", "PATH", "PWD", "SSH_AUTH_SOCK"];
        check(EnvConfig::default(), &expected);
    }

    #[test]
    fn inherits_less_when_told() {
        check(EnvConfig { inherit: Inherit::Core, ..EnvConfig::default() }, &["HOME", "LC_ALL", "PATH", "PWD"]);
        check(EnvConfig { inherit: Inherit::None, ..EnvConfig::default() }, &[]);
    }

    #[test]
    fn include_exclude_and_set() {
        let config = EnvConfig {
            inherit: Inherit::None,
            include: vec!["GITHUB_TOKEN".into(), "*_ALL".into(), "SSH_*".into()],
            exclude: vec!["SSH_AUTH_SOCK".into()],
            set: BTreeMap::from([("CI".into(), "1".into()), ("LD_PRELOAD".into(), "/mine.so".into())]),
        };
        check(config, &["CI", "GITHUB_TOKEN", "LC_ALL", "LD_PRELOAD", "PWD"]);
    }
}
