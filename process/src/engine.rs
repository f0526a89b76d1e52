//! Who may run how much: the engine that starts commands, and pools with ids, owners, limits and tombstones.

mod pool;
mod slot;

use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

pub use self::pool::{LimitReached, Pool, PoolConfig, Running, Start, StartError, UnknownId};

use crate::launch::{Launcher, LauncherConfig};
use crate::session::Session;

/// The owner of a session: a chat, and the project that it works in.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Owner {
    /// The chat's name.
    pub chat: String,
    /// The project's directory.
    pub project: PathBuf,
}

/// How an engine starts commands.
#[derive(Clone, Debug, Default)]
pub struct EngineConfig {
    /// How commands are forked.
    pub launcher: LauncherConfig,
}

/// Threads that read. A read of a terminal may wait in the kernel for output on its way, so that two are not enough
/// for a session that answers beside several that flood; idle ones cost nothing.
const THREADS: usize = 4;

/// Starts commands and supervises them, shared by every tool; cheap to clone.
///
/// An engine starts nothing before the first command: no thread, no process. Its tasks run on a few threads of its own,
/// so a host whose runtime is busy, or has one thread, does not slow a command's output. When the last clone is
/// dropped the tasks end and every command is stopped.
#[derive(Clone, Debug)]
pub struct Engine {
    inner: Arc<Inner>,
}

#[derive(Debug)]
struct Inner {
    launcher: Launcher,
    runtime: Runtime,
    pools: Mutex<Vec<Pool>>,
}

#[derive(Debug)]
enum Runtime {
    Given(tokio::runtime::Handle),
    Own(Mutex<Option<tokio::runtime::Runtime>>),
}

impl Engine {
    /// Makes an engine with threads of its own.
    pub fn new(config: EngineConfig) -> Self {
        Self::with(config, Runtime::Own(Mutex::new(None)))
    }

    /// Makes an engine that runs its tasks on a runtime of the host, which has I/O and time enabled.
    pub fn on(runtime: tokio::runtime::Handle, config: EngineConfig) -> Self {
        Self::with(config, Runtime::Given(runtime))
    }

    fn with(config: EngineConfig, runtime: Runtime) -> Self {
        let launcher = Launcher::new(config.launcher);
        Self { inner: Arc::new(Inner { launcher, runtime, pools: Mutex::default() }) }
    }

    /// Makes a pool of sessions. Its prefix is not used by another pool of this engine.
    pub fn pool(&self, config: PoolConfig) -> Pool {
        let pool = Pool::new(Arc::downgrade(&self.inner), config);
        self.inner.pools.lock().unwrap_or_else(PoisonError::into_inner).push(pool.clone());
        pool
    }

    /// Finds a session of any pool by its id.
    ///
    /// # Errors
    /// The same for an id that never was and for one of another chat.
    pub fn find(&self, owner: &Owner, id: &str) -> Result<Session, UnknownId> {
        let pools = self.inner.pools.lock().unwrap_or_else(PoisonError::into_inner);
        pools.iter().find_map(|pool| pool.get(owner, id).ok()).ok_or_else(|| UnknownId::new(id))
    }
}

impl Inner {
    /// Returns the runtime of the tasks, which is started here the first time.
    fn handle(&self) -> std::io::Result<tokio::runtime::Handle> {
        match &self.runtime {
            Runtime::Given(handle) => Ok(handle.clone()),
            Runtime::Own(runtime) => {
                let mut runtime = runtime.lock().unwrap_or_else(PoisonError::into_inner);
                if let Some(runtime) = &*runtime {
                    return Ok(runtime.handle().clone());
                }
                let started = tokio::runtime::Builder::new_multi_thread()
                    .worker_threads(THREADS)
                    .thread_name("process-io")
                    .enable_all()
                    .build()?;
                let handle = started.handle().clone();
                *runtime = Some(started);
                Ok(handle)
            }
        }
    }
}

impl Drop for Inner {
    fn drop(&mut self) {
        // On a runtime of the host the tasks would go on, as long as somebody holds a pool.
        for pool in self.pools.get_mut().unwrap_or_else(PoisonError::into_inner) {
            pool.abandon();
        }
        if let Runtime::Own(runtime) = &mut self.runtime
            && let Some(runtime) = runtime.get_mut().unwrap_or_else(PoisonError::into_inner).take()
        {
            // Waiting for the threads could block an async host; the tasks' own ends stop the commands.
            runtime.shutdown_background();
        }
    }
}
