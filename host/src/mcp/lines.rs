//! The transport: JSON lines, and what happens to a message that no lifecycle expects.

use std::io;

use rmcp::RoleServer;
use rmcp::model::{ClientJsonRpcMessage, ClientRequest, GetMeta, JsonRpcMessage, ProtocolVersion};
use rmcp::service::{RxJsonRpcMessage, TxJsonRpcMessage};
use rmcp::transport::Transport;
use rmcp::transport::async_rw::AsyncRwTransport;
use tokio::io::{AsyncRead, AsyncWrite};

use super::overlong::Bounded;

/// The longest line that is taken, in bytes.
const MAX_LINE: usize = 16 * 1024 * 1024;

/// JSON lines over a pair of streams.
///
/// - A line over 16 MiB is dropped while it is read; a request is answered with `-32600`.
/// - A line that is not JSON is ignored. JSON that is no message, a batch among it, is answered with `-32600` and no
///   id. Both leave the connection open.
/// - Before the first request that opens a lifecycle, whatever is not a request is ignored; to the SDK it would be a
///   reason to close.
pub(crate) struct Lines<R: AsyncRead + Unpin, W: AsyncWrite> {
    inner: AsyncRwTransport<RoleServer, Bounded<R>, W>,
    open: bool,
}

impl<R, W> Lines<R, W>
where
    R: AsyncRead + Send + Unpin,
    W: AsyncWrite + Send + Unpin + 'static,
{
    pub(crate) fn new(input: R, output: W) -> Self {
        let input = Bounded::new(input, MAX_LINE);
        Self { inner: AsyncRwTransport::new_server(input, output).with_max_line_length(usize::MAX), open: false }
    }
}

impl<R, W> Transport<RoleServer> for Lines<R, W>
where
    R: AsyncRead + Send + Unpin,
    W: AsyncWrite + Send + Unpin + 'static,
{
    type Error = io::Error;

    fn send(
        &mut self,
        item: TxJsonRpcMessage<RoleServer>,
    ) -> impl Future<Output = Result<(), Self::Error>> + Send + 'static {
        self.inner.send(item)
    }

    async fn receive(&mut self) -> Option<RxJsonRpcMessage<RoleServer>> {
        loop {
            let message = self.inner.receive().await?;
            if self.open {
                return Some(message);
            }
            if let JsonRpcMessage::Request(_) = message {
                self.open = opens(&message);
                return Some(message);
            }
            tracing::debug!("ignoring a message before the first request");
        }
    }

    async fn close(&mut self) -> Result<(), Self::Error> {
        self.inner.close().await
    }
}

/// Tells whether a request opens a lifecycle: `initialize`, or any but `server/discover` and `ping` that names a known
/// version and its client by itself.
fn opens(message: &ClientJsonRpcMessage) -> bool {
    let JsonRpcMessage::Request(request) = message else { return false };
    let request = &request.request;
    match request {
        ClientRequest::InitializeRequest(_) => true,
        ClientRequest::PingRequest(_) | ClientRequest::DiscoverRequest(_) => false,
        _ => {
            let meta = request.get_meta();
            meta.missing_required_keys(&ProtocolVersion::V_2026_07_28).is_empty()
                && meta.protocol_version().is_some_and(|version| ProtocolVersion::KNOWN_VERSIONS.contains(&version))
        }
    }
}
