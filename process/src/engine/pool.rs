//! A pool: the sessions of one tool, with their ids, owners, limits and tombstones.

use std::fmt;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use super::{Inner, Owner};
use crate::launch::{CommandSpec, SpawnError, Stdio};
use crate::screen::Size;
use crate::session::{EndedBecause, Parts, Session, SessionLimits};

/// The limits of a pool.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PoolConfig {
    /// What its ids begin with, for example `s`.
    pub prefix: &'static str,
    /// How many sessions a chat may have running.
    pub per_chat: usize,
    /// How many may run in all.
    pub total: usize,
    /// How many finished ones of a chat stay readable.
    pub finished: usize,
    /// The limits of each session.
    pub session: SessionLimits,
}

/// What to start.
#[derive(Clone, Debug)]
pub struct Start {
    /// The command as the model gave it.
    pub command: String,
    /// What is executed.
    pub spec: CommandSpec,
    /// How much clean output is retained, in characters.
    pub retained_chars: usize,
}

/// Why a command was not started. Nothing of it is left.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StartError {
    /// As many run as may.
    #[error(transparent)]
    Limit(#[from] LimitReached),
    /// The system refused.
    #[error(transparent)]
    Spawn(#[from] SpawnError),
    /// The engine has been shut down, or cannot run its tasks.
    #[error("the engine cannot run a command")]
    Engine(#[source] std::io::Error),
}

/// As many sessions run as may.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub struct LimitReached {
    /// The limit that is reached.
    pub limit: usize,
    /// Whether it is the limit of the whole host; else it is the chat's.
    pub host: bool,
    /// What this chat has running.
    pub running: Vec<Running>,
}

/// A running session, named in a refusal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Running {
    /// Its id.
    pub id: String,
    /// Its command.
    pub command: String,
}

impl fmt::Display for LimitReached {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let whose = if self.host { "this host" } else { "this chat" };
        write!(f, "{whose} already runs {}, which is its limit", self.limit)?;
        if !self.running.is_empty() {
            f.write_str("; of this chat run")?;
            for (index, running) in self.running.iter().enumerate() {
                let command: String = running.command.chars().take(60).collect();
                write!(f, "{} {} (`{command}`)", if index == 0 { "" } else { "," }, running.id)?;
            }
        }
        Ok(())
    }
}

/// No session of this chat has this id.
///
/// The same for an id that never was and for one of another chat, so that nobody learns what others run.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("unknown id `{id}`")]
pub struct UnknownId {
    id: String,
}

impl UnknownId {
    pub(super) fn new(id: &str) -> Self {
        Self { id: id.to_owned() }
    }
}

/// The sessions of one tool; cheap to clone.
#[derive(Clone, Debug)]
pub struct Pool {
    inner: Arc<PoolInner>,
}

#[derive(Debug)]
struct PoolInner {
    engine: Weak<Inner>,
    config: PoolConfig,
    state: Mutex<PoolState>,
}

#[derive(Debug, Default)]
struct PoolState {
    last_id: u64,
    /// In the order of their starts.
    sessions: Vec<Session>,
    /// Chats of starts that are under way: each counts as running.
    starting: Vec<String>,
    /// No start is taken any more.
    closed: bool,
}

impl Pool {
    pub(super) fn new(engine: Weak<Inner>, config: PoolConfig) -> Self {
        Self { inner: Arc::new(PoolInner { engine, config, state: Mutex::default() }) }
    }

    /// Starts a command for `owner`.
    ///
    /// When the future is dropped before the command runs, nothing is left of it; after that it runs and is listed.
    ///
    /// # Errors
    /// See [`StartError`].
    pub async fn start(&self, owner: &Owner, start: Start) -> Result<Session, StartError> {
        let slot = self.reserve(owner)?;
        let gone = || StartError::Engine(std::io::Error::other("the engine was shut down"));
        let engine = self.inner.engine.upgrade().ok_or_else(gone)?;
        let runtime = engine.handle().map_err(StartError::Engine)?;
        let (size, command, retained_chars) = (start.size(), start.command, start.retained_chars);
        let spec = start.spec;
        // On the engine's own runtime, whose reactor the descriptors stay with.
        let child = AbortOnDrop(runtime.spawn(async move { engine.launcher.spawn(spec).await }));
        let child = child.join().await.map_err(|error| StartError::Engine(std::io::Error::other(error)))??;

        let mut state = self.inner.lock();
        state.last_id += 1;
        let parts = Parts {
            id: format!("{}{}", self.inner.config.prefix, state.last_id),
            command,
            owner: owner.clone(),
            limits: self.inner.config.session,
            child,
            size,
            retained_chars,
        };
        let session = {
            let _entered = runtime.enter();
            Session::run(parts).map_err(StartError::Engine)?
        };
        state.sessions.push(session.clone());
        slot.settle(&mut state);
        state.forget(&owner.chat, self.inner.config.finished);
        Ok(session)
    }

    /// Finds a session, running or finished, and counts as a call on it.
    ///
    /// # Errors
    /// The same for an id that never was and for one of another chat.
    pub fn get(&self, owner: &Owner, id: &str) -> Result<Session, UnknownId> {
        let state = self.inner.lock();
        let found = state.sessions.iter().find(|session| session.id() == id && session.owner() == owner);
        let session = found.ok_or_else(|| UnknownId::new(id))?;
        session.touch();
        Ok(session.clone())
    }

    /// Lists the sessions of a chat, running and finished, in the order of their starts.
    pub fn list(&self, owner: &Owner) -> Vec<Session> {
        let mut state = self.inner.lock();
        state.forget(&owner.chat, self.inner.config.finished);
        state.sessions.iter().filter(|session| session.owner() == owner).cloned().collect()
    }

    /// Counts the running sessions of a chat.
    pub fn running(&self, chat: &str) -> usize {
        self.inner.lock().running(chat)
    }

    /// Ends all that a chat owns and forgets it.
    pub async fn end_chat(&self, chat: &str) {
        self.end(EndedBecause::ChatEnded, |owner| owner.chat == chat).await;
    }

    /// Ends all that belongs to a project and forgets it.
    pub async fn end_project(&self, project: &Path) {
        self.end(EndedBecause::ProjectEnded, |owner| owner.project == project).await;
    }

    /// Ends everything and takes no start any more.
    pub async fn shutdown(&self) {
        self.inner.lock().closed = true;
        self.end(EndedBecause::HostStopped, |_| true).await;
    }

    async fn end(&self, because: EndedBecause, belongs: impl Fn(&Owner) -> bool) {
        let ending: Vec<Session> = {
            let mut state = self.inner.lock();
            let (ending, staying) = state.sessions.drain(..).partition(|session| belongs(session.owner()));
            state.sessions = staying;
            ending
        };
        let stops: Vec<_> =
            ending.into_iter().map(|session| tokio::spawn(async move { session.stop(because).await })).collect();
        for stop in stops {
            // A stop that panicked has still dropped its end of the guardian's socket, which ends the tree.
            let _ = stop.await;
        }
    }

    fn reserve(&self, owner: &Owner) -> Result<Slot, StartError> {
        let config = &self.inner.config;
        let mut state = self.inner.lock();
        if state.closed {
            return Err(StartError::Engine(std::io::Error::other("the host is stopping")));
        }
        let mine = state.running(&owner.chat);
        let all = state.starting.len() + state.sessions.iter().filter(|session| session.is_running()).count();
        let (limit, host) = if mine >= config.per_chat {
            (config.per_chat, false)
        } else if all >= config.total {
            (config.total, true)
        } else {
            state.starting.push(owner.chat.clone());
            return Ok(Slot { pool: Arc::clone(&self.inner), chat: Some(owner.chat.clone()) });
        };
        let running = state
            .sessions
            .iter()
            .filter(|session| session.owner().chat == owner.chat && session.is_running())
            .map(|session| Running { id: session.id().to_owned(), command: session.command().to_owned() })
            .collect();
        Err(LimitReached { limit, host, running }.into())
    }
}

impl Start {
    fn size(&self) -> Size {
        match self.spec.stdio {
            Stdio::Pty(size, _) => Size { cols: size.cols, rows: size.rows },
            Stdio::Pipes(_) => Size::default(),
        }
    }
}

impl PoolInner {
    /// Locks the state. No holder awaits, and a panic while it is held leaves a list that still holds.
    fn lock(&self) -> MutexGuard<'_, PoolState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for PoolInner {
    fn drop(&mut self) {
        for session in &self.lock().sessions {
            session.abandon();
        }
    }
}

impl PoolState {
    fn running(&self, chat: &str) -> usize {
        let sessions = self.sessions.iter().filter(|session| session.owner().chat == chat && session.is_running());
        self.starting.iter().filter(|starting| *starting == chat).count() + sessions.count()
    }

    /// Forgets the finished sessions of a chat beyond the newest `keep`.
    fn forget(&mut self, chat: &str, keep: usize) {
        let mut finished: Vec<(std::time::Instant, String)> = self
            .sessions
            .iter()
            .filter(|session| session.owner().chat == chat && session.is_finished())
            .filter_map(|session| session.ended_at().map(|at| (at, session.id().to_owned())))
            .collect();
        finished.sort();
        let excess = finished.len().saturating_sub(keep);
        for (_, id) in &finished[..excess] {
            self.sessions.retain(|session| session.id() != id);
        }
    }
}

/// A reserved place among the running sessions, given back when it is dropped.
struct Slot {
    pool: Arc<PoolInner>,
    chat: Option<String>,
}

impl Slot {
    /// Gives the place back under a lock that is already held: the session itself counts from now on.
    fn settle(mut self, state: &mut PoolState) {
        if let Some(chat) = self.chat.take() {
            give_back(state, &chat);
        }
    }
}

impl Drop for Slot {
    fn drop(&mut self) {
        if let Some(chat) = self.chat.take() {
            give_back(&mut self.pool.lock(), &chat);
        }
    }
}

fn give_back(state: &mut PoolState, chat: &str) {
    if let Some(index) = state.starting.iter().position(|starting| starting == chat) {
        state.starting.swap_remove(index);
    }
}

/// A task that is aborted when nobody waits for it any more.
struct AbortOnDrop<T>(tokio::task::JoinHandle<T>);

impl<T> AbortOnDrop<T> {
    async fn join(mut self) -> Result<T, tokio::task::JoinError> {
        (&mut self.0).await
    }
}

impl<T> Drop for AbortOnDrop<T> {
    fn drop(&mut self) {
        self.0.abort();
    }
}
