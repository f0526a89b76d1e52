//! A pool: the sessions of one tool, with their ids, owners, limits and tombstones.

use std::fmt;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::{Duration, Instant};

use super::slot::Starting;
use super::{Inner, Owner};
use crate::launch::{Child, CommandSpec, SpawnError, Stdio};
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
    /// How many finished ones of a chat stay readable. As many may have ended and still be held by processes that they
    /// left; the processes of older ones are ended.
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
    /// Starts that are under way: each counts as running.
    starting: Vec<Arc<Starting>>,
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
        let child = tokio::select! {
            child = child.join() => child.map_err(|error| StartError::Engine(std::io::Error::other(error)))??,
            () = slot.starting.called_off() => return Err(called_off()),
        };
        let parts = Parts {
            id: String::new(),
            command,
            owner: owner.clone(),
            limits: self.inner.config.session,
            child,
            size,
            retained_chars,
        };
        match self.list_new(&slot, parts, &runtime) {
            Ok(session) => session.map_err(StartError::Engine),
            Err(child) => {
                // Its owner ended in the meantime, and waits for the slot.
                let _ = runtime.spawn(async move { child.stop(Duration::ZERO, LONGEST_CALL_OFF).await }).await;
                Err(called_off())
            }
        }
    }

    /// Makes a session of a started command and lists it, unless the start was called off.
    fn list_new(
        &self,
        slot: &Slot,
        mut parts: Parts,
        runtime: &tokio::runtime::Handle,
    ) -> Result<std::io::Result<Session>, Child> {
        let mut state = self.inner.lock();
        if slot.starting.is_called_off() {
            return Err(parts.child);
        }
        state.last_id += 1;
        parts.id = format!("{}{}", self.inner.config.prefix, state.last_id);
        let session = {
            let _entered = runtime.enter();
            Session::run(parts)
        };
        if let Ok(session) = &session {
            // The session itself counts from now on.
            state.give_back(&slot.starting);
            state.sessions.push(session.clone());
            state.forget(&session.owner().chat, self.inner.config.finished);
        }
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

    /// Lets go of every command, whose guardian ends it, and takes no start any more.
    pub(super) fn abandon(&self) {
        self.inner.abandon();
    }

    async fn end(&self, because: EndedBecause, belongs: impl Fn(&Owner) -> bool) {
        let (ending, starting): (Vec<Session>, Vec<Arc<Starting>>) = {
            let mut state = self.inner.lock();
            let (ending, staying) = state.sessions.drain(..).partition(|session| belongs(session.owner()));
            state.sessions = staying;
            (ending, state.starting.iter().filter(|starting| belongs(starting.owner())).cloned().collect())
        };
        for starting in &starting {
            starting.call_off();
        }
        let stops: Vec<_> =
            ending.into_iter().map(|session| tokio::spawn(async move { session.stop(because).await })).collect();
        for stop in stops {
            // A stop that panicked has still dropped its end of the guardian's socket, which ends the tree.
            let _ = stop.await;
        }
        let starts_over = async {
            for starting in starting {
                starting.over().await;
            }
        };
        // A start that nobody polls is not waited for: its command ends as soon as somebody does, or drops it.
        let _ = tokio::time::timeout(LONGEST_CALL_OFF, starts_over).await;
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
            let starting = Arc::new(Starting::new(owner.clone()));
            state.starting.push(Arc::clone(&starting));
            return Ok(Slot { pool: Arc::clone(&self.inner), starting });
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

    fn abandon(&self) {
        let mut state = self.lock();
        state.closed = true;
        state.starting.iter().for_each(|starting| starting.call_off());
        state.sessions.iter().for_each(Session::abandon);
    }
}

impl Drop for PoolInner {
    fn drop(&mut self) {
        self.abandon();
    }
}

impl PoolState {
    fn running(&self, chat: &str) -> usize {
        let sessions = self.sessions.iter().filter(|session| session.owner().chat == chat && session.is_running());
        self.starting.iter().filter(|starting| starting.owner().chat == chat).count() + sessions.count()
    }

    /// Forgets the sessions of a chat that have ended, but for the newest `keep` finished ones and as many that
    /// processes still hold.
    fn forget(&mut self, chat: &str, keep: usize) {
        for finished in [true, false] {
            let mut ended: Vec<(Instant, Session)> = self
                .sessions
                .iter()
                .filter(|session| session.owner().chat == chat && session.is_finished() == finished)
                .filter_map(|session| session.ended_at().map(|at| (at, session.clone())))
                .collect();
            ended.sort_by_key(|(at, _)| *at);
            let excess = ended.len().saturating_sub(keep);
            for (_, old) in &ended[..excess] {
                old.abandon();
                self.sessions.retain(|session| session.id() != old.id());
            }
        }
    }

    /// Gives a reserved place back, once.
    fn give_back(&mut self, starting: &Arc<Starting>) {
        self.starting.retain(|other| !Arc::ptr_eq(other, starting));
        starting.set_over();
    }
}

/// How long the end of an owner waits for starts that it called off.
const LONGEST_CALL_OFF: Duration = Duration::from_secs(5);

fn called_off() -> StartError {
    StartError::Engine(std::io::Error::other("its chat, its project or the host ended meanwhile"))
}

/// A reserved place among the running sessions, given back when it is dropped.
struct Slot {
    pool: Arc<PoolInner>,
    starting: Arc<Starting>,
}

impl Drop for Slot {
    fn drop(&mut self) {
        self.pool.lock().give_back(&self.starting);
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
