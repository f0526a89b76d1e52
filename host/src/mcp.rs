//! The MCP front: the tools of a host over standard input and output, in both eras of the protocol.
//!
//! One connection is one chat. A client of the protocols up to 2025-11-25 opens it with `initialize` and can be asked
//! within a call; one of 2026-07-28 says who it is in every request, and a call that needs an answer ends with the
//! question (`input_required`) and comes again with the answer.
//!
//! A program with a log of its own keeps the target `rmcp` at `info` or above: below it the SDK logs whole messages, and
//! a message may hold a secret that a person typed.
//!
//! The connection ends at the end of input, at SIGTERM, SIGINT and SIGHUP, and when the client no longer reads: every running
//! call is cancelled at once, its answer is still written if that is possible, and then the host ends all that it
//! started.

use std::sync::Arc;
use std::time::Duration;

use rmcp::ServiceExt;
use rmcp::service::ServerInitializeError;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::runtime::{Builder, Handle};
use tokio_util::sync::CancellationToken;
use tool_api::Workspace;

use crate::{Chat, Host, Signalled, Signals};

mod ask;
mod clients;
mod config;
mod form;
mod lines;
mod progress;
mod render;
mod rounds;
mod server;
mod stdio;

pub use config::{Config, ConfigError, WithoutElicitation};
pub use stdio::Stdio;

use lines::Lines;
use rounds::Rounds;
use server::Server;
use stdio::Watched;

/// How long the answers of cancelled calls may take once the connection ends. Clients stop a server by force two
/// seconds after they closed its input, and the processes have to end in that time as well.
const LAST_ANSWERS: Duration = Duration::from_millis(700);

/// Why the front could not run.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ServeError {
    /// A runtime could not be built.
    #[error("cannot build a runtime")]
    Runtime(#[source] std::io::Error),
    /// The standard streams cannot be used.
    #[error("cannot use standard input and output")]
    Stdio(#[source] std::io::Error),
    /// The signals that end the front cannot be taken over.
    #[error("cannot handle signals")]
    Signals(#[source] std::io::Error),
    /// The system gives no random bytes for the key that seals request states.
    #[error("the system gives no random bytes")]
    Random(#[source] getrandom::Error),
}

/// Why the connection of [`serve`] ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ended {
    /// The client closed it, or no longer reads.
    Closed,
    /// A signal asked the host to end.
    Signal(Signalled),
}

/// Serves a host to one MCP client over standard input and output, until the connection ends or a signal asks to stop
/// ([`Signals`]); then ends the host. Blocks; must not be called inside a runtime.
///
/// # Errors
/// The front could not start. However the connection ends, it is no error.
pub fn serve(stdio: Stdio, host: Arc<Host>, workspace: Workspace, config: Config) -> Result<Ended, ServeError> {
    let front = Builder::new_current_thread().enable_all().build().map_err(ServeError::Runtime)?;
    let mut signals = {
        let _inside = front.enter();
        Signals::new().map_err(ServeError::Signals)?
    };
    let tools = Builder::new_multi_thread().worker_threads(2).enable_all().build().map_err(ServeError::Runtime)?;
    let served = front.block_on(async {
        let (input, output) = stdio.open().map_err(ServeError::Stdio)?;
        let chat = host.open_chat(workspace);
        let over = CancellationToken::new();
        let connection = connection(input, output, &host, chat, config, tools.handle().clone(), over.clone());
        let mut connection = std::pin::pin!(connection);
        let signal = tokio::select! {
            biased;
            served = &mut connection => return served.map(|()| Ended::Closed),
            signal = signals.recv() => signal,
        };
        over.cancel();
        connection.await?;
        Ok(Ended::Signal(signal))
    });
    // Not waited for: a read of a terminal cannot be interrupted.
    front.shutdown_background();
    tools.block_on(host.end());
    tools.shutdown_background();
    served
}

/// Serves one chat of a host to one MCP client over any pair of streams, until the input ends or `stop` is cancelled;
/// then ends the chat. For hosts that have a connection of their own.
///
/// # Errors
/// The system gives no random bytes.
///
/// # Cancellation
/// By `stop`. When the future is dropped, the chat is not ended.
pub async fn serve_streams<R, W>(
    input: R,
    output: W,
    host: &Arc<Host>,
    workspace: Workspace,
    config: Config,
    stop: CancellationToken,
) -> Result<(), ServeError>
where
    R: AsyncRead + Send + Unpin + 'static,
    W: AsyncWrite + Send + Unpin + 'static,
{
    let chat = host.open_chat(workspace);
    let served = connection(input, output, host, Arc::clone(&chat), config, Handle::current(), stop).await;
    host.end_chat(&chat).await;
    served
}

/// Serves until the input ends, the output fails or `over` is cancelled, and then a moment for the last answers.
async fn connection<R, W>(
    input: R,
    output: W,
    host: &Arc<Host>,
    chat: Arc<Chat>,
    config: Config,
    tools: Handle,
    over: CancellationToken,
) -> Result<(), ServeError>
where
    R: AsyncRead + Send + Unpin + 'static,
    W: AsyncWrite + Send + Unpin + 'static,
{
    let rounds = Rounds::new(Duration::from_millis(config.answer_timeout_ms)).map_err(ServeError::Random)?;
    let lines = Lines::new(Watched::new(input, over.clone()), Watched::new(output, over.clone()));
    let server = Server::new(Arc::clone(host), chat, config, rounds, tools);
    let serving = async {
        match server.serve_with_ct(lines, over.clone()).await {
            Ok(running) => {
                if let Err(error) = running.waiting().await {
                    tracing::error!(%error, "the connection failed");
                }
            }
            Err(ServerInitializeError::ConnectionClosed(_) | ServerInitializeError::Cancelled) => {}
            // A client that is gone already is no error of this side.
            Err(error) if over.is_cancelled() => tracing::debug!(%error, "the client is gone"),
            Err(error) => tracing::error!(%error, "the connection could not be opened"),
        }
    };
    let overdue = async {
        over.cancelled().await;
        tokio::time::sleep(LAST_ANSWERS).await;
    };
    tokio::select! {
        biased;
        () = serving => {}
        () = overdue => tracing::warn!("some calls did not end in time"),
    }
    over.cancel();
    Ok(())
}
