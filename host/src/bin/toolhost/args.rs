//! The command line, and the configuration that it leads to.

use std::path::PathBuf;

use clap::{Parser, Subcommand, ValueEnum};
use host::settings::parse_mode;
use host::{Host, Settings, Sources};
use policy::{Policy, Rules, WorkflowPolicy};
use tool_api::Workspace;

use crate::failure::Failure;

/// Tools for agents that work in a real terminal.
///
/// Exit codes: 0 done, for `mcp` that the client closed the connection; 1 a step of `play` failed, or the machine
/// refused; 2 bad arguments or a bad configuration; 129, 130 and 143 ended by SIGHUP, SIGINT and SIGTERM, after
/// everything that ran was ended.
#[derive(Debug, Parser)]
#[command(name = "toolhost", version, max_term_width = 100)]
pub(crate) struct Args {
    #[command(flatten)]
    pub(crate) common: Common,
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, clap::Args)]
pub(crate) struct Common {
    /// The configuration file, instead of toolhost.toml in the platform's configuration directory
    #[arg(long, global = true, value_name = "FILE", env = "TOOLHOST_CONFIG", hide_env_values = true)]
    config: Option<PathBuf>,
    /// The directory to work in, instead of the current one; its .toolhost.toml can only tighten
    #[arg(long, global = true, value_name = "DIR")]
    workspace: Option<PathBuf>,
    /// Sets one value of the configuration, for example tool.sleep.max_ms=1000; may be repeated
    #[arg(long, global = true, value_name = "KEY=VALUE")]
    set: Vec<String>,
    /// How what the rules leave open is decided: ask, smart or plan
    #[arg(long, global = true, value_name = "MODE")]
    mode: Option<String>,
    /// Refuse edits, and every command that is not known to read only
    #[arg(long, global = true)]
    read_only: bool,
    /// Refuse every command that is not known to read only
    #[arg(long, global = true)]
    no_mutating_commands: bool,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Serve the tools to an MCP client over standard input and output
    #[cfg(feature = "mcp")]
    Mcp,
    /// Make the calls of a file, one JSON object a line, and show each result as a card
    Play(Play),
    /// List the tools
    Tools {
        /// Print one JSON array, with the schemas
        #[arg(long)]
        json: bool,
    },
    /// Explain what the policy would do with a command, without running it
    Check(Check),
    /// Show every value of the configuration and where it comes from
    Config {
        /// Print one JSON object
        #[arg(long)]
        json: bool,
    },
}

/// What `play --help` says about the lines.
const LINES: &str = "\
Each line is {\"tool\": NAME, \"arguments\": {...}}, and may have
  \"say\": text shown before the call
  \"as\": a name, so that later arguments can say \"${NAME.FIELD}\" for a field of its structured
    result; \"${last.FIELD}\" is the previous result
  \"expect\": {\"text\": contained in the result, \"structured\": fields that it has,
    \"error\": contained in the error}

A step fails if it does not meet what it expects, or ends in an error that it does not expect. The
first failed step ends the play with exit code 1, and a line that is no step with exit code 2.

With --json the play goes on instead: each line that is not empty gives one JSON object, with
\"failed\" and the reason if it failed or is no step. The exit code is 1 if any did.";

#[derive(Debug, clap::Args)]
#[command(after_long_help = LINES)]
pub(crate) struct Play {
    /// The file, or - for standard input
    #[arg(value_name = "FILE")]
    pub(crate) file: PathBuf,
    /// Print one JSON object a line, and go on after a failed one
    #[arg(long)]
    pub(crate) json: bool,
    /// Who approves what needs asking: all, since you chose the file (the default for a FILE); none (the default for
    /// standard input); or ask, on the terminal. Rules that deny hold in any case
    #[arg(long, value_name = "WHO")]
    pub(crate) approve: Option<Approve>,
}

#[derive(Debug, clap::Args)]
#[command(after_help = "The exit code is 0 whatever the decision.")]
pub(crate) struct Check {
    /// The command line
    #[arg(
        value_name = "COMMAND",
        required_unless_present = "stdin",
        conflicts_with = "stdin",
        allow_hyphen_values = true
    )]
    pub(crate) command: Option<String>,
    /// Print one JSON object
    #[arg(long)]
    pub(crate) json: bool,
    /// Answer one JSON line for each line read, a command as a JSON string
    #[arg(long)]
    pub(crate) stdin: bool,
    /// Take the rules from this file alone: JSON or TOML with the table `permission`
    #[arg(long, value_name = "FILE")]
    pub(crate) rules: Option<PathBuf>,
    /// The directory that `~` means, instead of $HOME
    #[arg(long, value_name = "DIR")]
    pub(crate) home: Option<PathBuf>,
    /// How the command would be run; a session stays open for input, a line is typed into the shared shell
    #[arg(long, value_name = "KIND", default_value = "command")]
    pub(crate) kind: Kind,
}

/// How a command would be run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Kind {
    Command,
    Background,
    Session,
    Line,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Approve {
    All,
    None,
    Ask,
}

impl Common {
    /// Reads the configuration, and says on standard error what the workspace's file may not set.
    pub(crate) fn settings(&self) -> Result<Settings, Failure> {
        self.settings_in(self.root()?, home())
    }

    /// Reads the configuration for a workspace and a home directory.
    pub(crate) fn settings_in(&self, root: PathBuf, home: Option<PathBuf>) -> Result<Settings, Failure> {
        let variables = std::env::vars_os()
            .filter_map(|(name, value)| Some((name.into_string().ok()?, value.to_string_lossy().into_owned())))
            .collect();
        let mut flags = Vec::new();
        for set in &self.set {
            let (key, value) = set.split_once('=').ok_or_else(|| {
                Failure::usage(format!("`--set {set}` has no `=`"), Some("for example --set tool.sleep.max_ms=1000"))
            })?;
            flags.push(("--set".to_owned(), key.trim().to_owned(), value.to_owned()));
        }
        flags.extend(self.mode.iter().map(|mode| ("--mode".to_owned(), "mode".to_owned(), mode.clone())));
        let switches = [
            ("--read-only", "read_only", self.read_only),
            ("--no-mutating-commands", "no_mutating_commands", self.no_mutating_commands),
        ];
        let on = switches.into_iter().filter(|(.., on)| *on);
        flags.extend(on.map(|(flag, key, _)| (flag.to_owned(), key.to_owned(), "true".to_owned())));
        let platform = || host::settings::user_file(|name| std::env::var_os(name).map(PathBuf::from));
        let sources = Sources {
            user_file: self.config.clone().or_else(platform),
            user_file_required: self.config.is_some(),
            workspace: Some(root),
            home,
            variables,
            flags,
        };
        let settings = Settings::load(&sources).map_err(Failure::settings)?;
        for ignored in &settings.ignored {
            tracing::warn!("`{}` is ignored: {} ({})", ignored.key, ignored.reason, ignored.origin);
        }
        Ok(settings)
    }

    /// Returns a policy of these rules and of what the flags say about the mode, without any configuration.
    pub(crate) fn policy_of(&self, rules: Rules) -> Result<Policy, Failure> {
        let mut policy = Policy::new().with_layer(rules);
        if let Some(mode) = &self.mode {
            let mode = parse_mode(&mode.as_str().into());
            policy = policy.with_mode(mode.map_err(|problem| Failure::usage(format!("`--mode`: {problem}"), None))?);
        }
        let workflow = [
            (self.read_only, WorkflowPolicy::ReadOnly),
            (self.no_mutating_commands, WorkflowPolicy::NoMutatingCommands),
        ];
        Ok(workflow
            .into_iter()
            .filter(|(on, _)| *on)
            .fold(policy, |policy, (_, workflow)| policy.with_workflow(workflow)))
    }

    /// Assembles the host.
    pub(crate) fn host(&self, settings: &Settings) -> Result<Host, Failure> {
        let host = Host::from_settings(settings, std::env::vars_os()).map_err(Failure::assemble)?;
        if settings.mask.enabled {
            // It also knows what a person types later.
            crate::logs::mask_with(host.mask());
        }
        Ok(host)
    }

    /// Returns the directories to work in.
    pub(crate) fn workspace(&self) -> Result<Workspace, Failure> {
        Ok(Workspace::new(self.root()?))
    }

    /// Returns the directory to explain commands in, which need not exist.
    pub(crate) fn described_root(&self) -> Result<PathBuf, Failure> {
        match &self.workspace {
            Some(named) if !named.exists() => std::path::absolute(named)
                .map_err(|error| Failure::machine(format!("cannot use the workspace `{}`", named.display()), error)),
            _ => self.root(),
        }
    }

    fn root(&self) -> Result<PathBuf, Failure> {
        let named = self.workspace.clone().map_or_else(std::env::current_dir, Ok);
        let fail = |error| match &self.workspace {
            Some(named) => Failure::machine(format!("cannot use the workspace `{}`", named.display()), error),
            None => Failure::machine("cannot use the current directory", error),
        };
        let root = named.and_then(|named| named.canonicalize()).map_err(fail)?;
        if root.is_dir() { Ok(root) } else { Err(fail(std::io::ErrorKind::NotADirectory.into())) }
    }
}

/// The person's home directory.
pub(crate) fn home() -> Option<PathBuf> {
    std::env::var_os("HOME").map(PathBuf::from).filter(|home| home.is_absolute())
}
