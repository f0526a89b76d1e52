//! Starting commands: each with a terminal or pipes of its own, and a guardian that owns its processes.

mod child;
mod direct;
mod error;
mod report;
mod server;
mod spec;

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use crate::guardian::{self, AtStart};
pub use child::{Child, Exit};
pub use error::{SpawnError, SpawnErrorKind, Stage};
pub use report::{ProcessInfo, StopReport, Survivor, SurvivorReason};
use server::Servers;
pub use spec::{CommandSpec, Io, Opened, Output, Pipes, Stdio};

/// The variable every command has in its environment, with a value of its own for each.
///
/// Processes that lost their guardian are found by it.
pub const COOKIE: &str = "TOOLHOST_COOKIE";

/// Which program serves as fork server.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Guardian {
    /// This very program, if it called [`run_if_requested`](crate::run_if_requested); else none.
    #[default]
    Automatic,
    /// A program that calls [`run_if_requested`](crate::run_if_requested), such as `toolhost-guardian`.
    Program(PathBuf),
    /// None: commands are forked from the host.
    ///
    /// Weaker. Processes are found by session, group, parent and [`COOKIE`]: one that leaves all four (`env -i
    /// setsid` by a parent that ended) is not found, a chain of quick forks may run away, and nothing ends the
    /// commands of a host that was killed. At the leader's end the system hangs up on its background jobs in the
    /// terminal. A large host pays for every fork.
    Without,
}

/// How commands are started.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct LauncherConfig {
    /// Which program serves as fork server.
    pub guardian: Guardian,
    /// How long a start may take, until the program is executed; default 30 seconds.
    pub spawn_timeout: Duration,
}

impl Default for LauncherConfig {
    fn default() -> Self {
        Self { guardian: Guardian::Automatic, spawn_timeout: Duration::from_secs(30) }
    }
}

/// Starts commands. Cheap to clone; the clones share one fork server, which is started by the first command and
/// ends with the last clone and the last [`Child`].
///
/// Works on any `tokio` runtime with I/O and time enabled. A command belongs to the runtime it was started on.
#[derive(Debug, Clone)]
pub struct Launcher {
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    config: LauncherConfig,
    at_start: AtStart,
    servers: Servers,
}

impl Launcher {
    /// Notes the configuration; starts nothing.
    pub fn new(config: LauncherConfig) -> Self {
        let at_start = guardian::at_start()
            .unwrap_or_else(|| AtStart { descriptor_limit: crate::sys::descriptor_limit(), creation_mask: None });
        Self { shared: Arc::new(Shared { config, at_start, servers: Servers::default() }) }
    }

    /// Whether commands get a guardian; see [`Guardian::Without`] for what is different if not.
    pub fn is_guarded(&self) -> bool {
        !matches!(self.shared.config.guardian, Guardian::Without)
            && (self.shared.config.guardian != Guardian::Automatic || guardian::at_start().is_some())
    }

    /// Starts a command. When this returns the program is being executed.
    ///
    /// Dropping the future ends whatever was started.
    ///
    /// # Errors
    /// A [`SpawnError`] when it was not started; nothing is left of it then.
    pub async fn spawn(&self, spec: CommandSpec) -> Result<Child, SpawnError> {
        let cookie = child::new_cookie();
        let request = spec::Request::new(&spec, &cookie, self.shared.at_start)?;
        let (io, stdio) = spec::open(&spec.stdio).map_err(|error| SpawnError::io(Stage::Open, &error))?;
        let program = match &self.shared.config.guardian {
            _ if !self.is_guarded() => return direct::spawn(request, io, stdio, cookie).await,
            Guardian::Program(program) => program.clone(),
            _ => guardian::own_program().map_err(|error| SpawnError::io(Stage::Server, &error))?,
        };
        let start = self.shared.servers.spawn(&program, request, io, stdio, cookie);
        match tokio::time::timeout(self.shared.config.spawn_timeout, start).await {
            Ok(result) => result,
            Err(_) => Err(SpawnError::guardian(
                format!("the command was not started within {:?}", self.shared.config.spawn_timeout),
                "the machine may be overloaded, or the program or directory be on a file system that does not answer",
            )),
        }
    }
}
