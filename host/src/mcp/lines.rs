//! The transport: JSON lines, and what happens to a line that is no message, or none that a lifecycle expects.

use std::io;
use std::pin::Pin;

use rmcp::RoleServer;
use rmcp::model::{
    ClientJsonRpcMessage, ClientRequest, ErrorData, GetMeta, JsonRpcMessage, ProtocolVersion, RequestId,
    ServerJsonRpcMessage,
};
use rmcp::service::{RxJsonRpcMessage, TxJsonRpcMessage};
use rmcp::transport::Transport;
use rmcp::transport::async_rw::AsyncRwTransport;
use serde_json::error::Category;
use tokio::io::{AsyncRead, AsyncWrite, Empty, empty};

mod envelope;
mod reader;
mod surrogates;

use envelope::Envelope;
use reader::{Line, Reader};

/// The longest line that is taken, in bytes.
const MAX_LINE: usize = 16 * 1024 * 1024;
/// Answers to lines that are no messages that may wait for a client that does not read; then it is not read either.
const MAX_ANSWERS: usize = 64;

/// JSON lines over a pair of streams.
///
/// - A lone surrogate in a text (`"\ud800"`, as JavaScript writes a text that was cut inside a character) becomes
///   U+FFFD.
/// - A line over 16 MiB is dropped while it is read, and is answered with `-32600`.
/// - A line that is not JSON is answered with `-32700`, and JSON that is no message with `-32600`, so that nobody waits
///   for an answer that never comes. The id is looked for in what can be read of the line. Without one, a line that is
///   not JSON is ignored, since who sent it could not understand the answer.
/// - Before the first request that opens a lifecycle, whatever is not a request is ignored; to the SDK it would be a
///   reason to close.
///
/// The connection stays open in each case.
pub(crate) struct Lines<R, W: AsyncWrite> {
    input: Reader<R>,
    /// Only writes.
    output: AsyncRwTransport<RoleServer, Empty, W>,
    /// The answers to lines that were no messages, while they are written.
    answering: Option<Answering>,
    answers: usize,
    open: bool,
}

type Answering = Pin<Box<dyn Future<Output = io::Result<()>> + Send>>;

impl<R, W> Lines<R, W>
where
    R: AsyncRead + Send + Unpin,
    W: AsyncWrite + Send + Unpin + 'static,
{
    pub(crate) fn new(input: R, output: W) -> Self {
        let output = AsyncRwTransport::new_server(empty(), output);
        Self { input: Reader::new(input, MAX_LINE), output, answering: None, answers: 0, open: false }
    }

    /// Writes an answer behind those that are being written.
    fn answer(&mut self, answer: ServerJsonRpcMessage) {
        let sent = self.output.send(answer);
        self.answers += 1;
        self.answering = Some(match self.answering.take() {
            None => Box::pin(sent),
            Some(before) => Box::pin(async move {
                before.await?;
                sent.await
            }),
        });
    }

    /// Reads the next line; meanwhile writes the answers that wait.
    ///
    /// # Cancellation
    /// Safe: what was read of a line, and the answers, stay.
    async fn next(&mut self) -> io::Result<Option<Read>> {
        while let Some(answering) = &mut self.answering {
            let full = self.answers >= MAX_ANSWERS;
            tokio::select! {
                biased;
                written = answering => {
                    (self.answering, self.answers) = (None, 0);
                    written?;
                }
                // The end of the input has to be seen also while the client does not read.
                line = next(&mut self.input), if !full => return line,
            }
        }
        next(&mut self.input).await
    }
}

/// Reads the next message, or the answer to a line that is none.
async fn next<R: AsyncRead + Unpin>(input: &mut Reader<R>) -> io::Result<Option<Read>> {
    let read = match input.next().await? {
        None => return Ok(None),
        Some(Line::Whole(line)) => read(line),
        Some(Line::Overlong(envelope)) => {
            tracing::error!(limit = MAX_LINE, "a line was too long and is dropped");
            let error = ErrorData::invalid_request("the message is too long, at most 16 MiB are taken", None);
            if envelope.answered().is_some() { answer(&envelope, error) } else { Read::Nothing }
        }
    };
    input.done();
    Ok(Some(read))
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
        self.output.send(item)
    }

    async fn receive(&mut self) -> Option<RxJsonRpcMessage<RoleServer>> {
        loop {
            let message = match self.next().await {
                Ok(Some(Read::Message(message))) => *message,
                Ok(Some(Read::Nothing)) => continue,
                Ok(Some(Read::Answer(answer))) => {
                    self.answer(*answer);
                    continue;
                }
                Ok(None) => {
                    if let Some(answering) = &mut self.answering {
                        // An error is that of a client that is gone.
                        let _ = answering.await;
                        self.answering = None;
                    }
                    return None;
                }
                Err(error) => {
                    tracing::error!(%error, "the connection failed");
                    return None;
                }
            };
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
        self.output.close().await
    }
}

/// What a line is.
enum Read {
    Message(Box<ClientJsonRpcMessage>),
    /// No message; this is the answer to it.
    Answer(Box<ServerJsonRpcMessage>),
    /// No message, and nobody waits for an answer.
    Nothing,
}

fn read(line: &[u8]) -> Read {
    let line = line.strip_prefix(b"\xef\xbb\xbf").unwrap_or(line);
    if line.trim_ascii().is_empty() {
        return Read::Nothing;
    }
    let mut parsed = serde_json::from_slice(line);
    if let (Err(_), Some(mended)) = (&parsed, surrogates::mended(line)) {
        parsed = serde_json::from_slice(&mended);
    }
    let error: serde_json::Error = match parsed {
        Ok(message) => return Read::Message(Box::new(message)),
        Err(error) => error,
    };
    let envelope = Envelope::of(line);
    // Not the error itself, which can repeat what a person entered.
    tracing::debug!(column = error.column(), category = ?error.classify(), "a line is no message");
    match error.classify() {
        Category::Syntax | Category::Eof | Category::Io => {
            if envelope.answered().is_none() {
                return Read::Nothing;
            }
            let what = match std::str::from_utf8(line) {
                Ok(_) => error.to_string(),
                Err(error) => format!("not UTF-8 after byte {}", error.valid_up_to()),
            };
            let problem = format!("the line is not JSON: {what}");
            answer(&envelope, ErrorData::parse_error(problem, None))
        }
        Category::Data if envelope.is_notification() => Read::Nothing,
        Category::Data => {
            let problem = "the line is JSON, but no message of JSON-RPC 2.0";
            answer(&envelope, ErrorData::invalid_request(problem, None))
        }
    }
}

/// Answers a line that is no message, by its id if it has one.
fn answer(envelope: &Envelope, error: ErrorData) -> Read {
    let id = envelope.answered().cloned().and_then(|id| serde_json::from_value::<RequestId>(id).ok());
    Read::Answer(Box::new(ServerJsonRpcMessage::error(error, id)))
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
