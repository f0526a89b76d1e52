//! Asking the person through the client, in the way of the era that a call belongs to.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use policy::{Answer, Approver, Prompt};
use rmcp::model::{ClientResult, ElicitRequest, ServerRequest};
use rmcp::service::{Peer, PeerRequestOptions, RequestHandle, RoleServer, ServiceError};
use tokio::runtime::Handle;
use tool_api::{CancellationToken, Person, SecretAnswer, SecretRequest, async_trait};

use super::WithoutElicitation;
use super::form::{Form, Question, Reply};
use super::rounds::Round;

/// How the client of one call can be asked.
#[derive(Debug)]
pub(crate) enum Way {
    /// A request to the client, awaited within the call (protocols up to 2025-11-25).
    Request(Peer<RoleServer>),
    /// The call ends with the question and comes again with the answer (from 2026-07-28).
    Round(Round),
    /// The client did not declare elicitation with forms.
    Unable,
}

/// What came of a question.
#[derive(Debug)]
pub(crate) enum Outcome {
    Replied(Reply),
    /// The question is noted; the call must end now and will come again.
    Suspended,
    /// The client cannot ask.
    Unable,
    /// The call was cancelled while the question was open.
    Cancelled,
}

/// Asks the person on behalf of one call.
#[derive(Debug)]
pub(crate) struct Ask {
    pub(crate) way: Way,
    /// How long an answer may take.
    pub(crate) patience: Duration,
    /// What happens when the client cannot be asked.
    pub(crate) without: WithoutElicitation,
    /// Whether a secret may be asked.
    pub(crate) secrets: bool,
    /// How many questions are open.
    pub(crate) open: AtomicUsize,
}

impl Ask {
    /// Asks, and ends when `cancel` is cancelled; the client is told then that the question is void.
    pub(crate) async fn ask(&self, question: &Question, cancel: &CancellationToken) -> Outcome {
        match &self.way {
            Way::Unable => Outcome::Unable,
            Way::Round(round) => round.answer(question).map_or(Outcome::Suspended, Outcome::Replied),
            Way::Request(peer) => {
                self.open.fetch_add(1, Ordering::Relaxed);
                // Counts down also when this future is dropped.
                let _open = scopeguard(&self.open);
                request(peer, question, self.patience, cancel).await
            }
        }
    }
}

fn scopeguard(open: &AtomicUsize) -> impl Drop + '_ {
    struct Guard<'a>(&'a AtomicUsize);
    impl Drop for Guard<'_> {
        fn drop(&mut self) {
            self.0.fetch_sub(1, Ordering::Relaxed);
        }
    }
    Guard(open)
}

async fn request(
    peer: &Peer<RoleServer>,
    question: &Question,
    patience: Duration,
    cancel: &CancellationToken,
) -> Outcome {
    let request = ServerRequest::ElicitRequest(ElicitRequest::new(question.params()));
    let sent = tokio::select! {
        biased;
        () = cancel.cancelled() => return Outcome::Cancelled,
        sent = peer.send_cancellable_request(request, PeerRequestOptions::no_options()) => sent,
    };
    let mut open = match sent {
        Ok(handle) => OpenQuestion { handle: Some(handle), runtime: Handle::current() },
        Err(error) => return Outcome::Replied(Reply::None(lost(&error))),
    };
    let answer = async {
        match &mut open.handle {
            Some(handle) => (&mut handle.rx).await,
            None => std::future::pending().await,
        }
    };
    let answer = tokio::select! {
        biased;
        answer = answer => answer,
        () = cancel.cancelled() => return Outcome::Cancelled,
        () = tokio::time::sleep(patience) => {
            let reason = format!("nobody answered within {} s", patience.as_secs_f64());
            return Outcome::Replied(Reply::None(reason));
        }
    };
    open.handle = None;
    Outcome::Replied(match answer {
        Ok(Ok(ClientResult::ElicitResult(result))) => question.reply(result),
        Ok(Ok(_)) => Reply::None("the client's answer is not the result of an elicitation".into()),
        Ok(Err(error)) => Reply::None(lost(&error)),
        Err(_) => Reply::None("the client is gone".into()),
    })
}

/// A question that the client has. When it is dropped without an answer, the client is told that it is void.
struct OpenQuestion {
    handle: Option<RequestHandle<RoleServer>>,
    runtime: Handle,
}

impl Drop for OpenQuestion {
    fn drop(&mut self) {
        if let Some(handle) = self.handle.take() {
            // Beside the call: a client that does not read must not hold it.
            self.runtime.spawn(async move { handle.cancel(Some("no longer asked".to_owned())).await });
        }
    }
}

fn lost(error: &ServiceError) -> String {
    match error {
        ServiceError::McpError(error) => format!("the client refused to ask: {}", error.message),
        ServiceError::Cancelled { .. } => "the client withdrew the question".into(),
        _ => "the client is gone".into(),
    }
}

/// The person behind the client of one call: approves, and gives secrets.
#[derive(Clone, Debug)]
pub(crate) struct Asked(pub(crate) Arc<Ask>);

#[async_trait]
impl Approver for Asked {
    async fn ask(&self, prompt: Prompt) -> Answer {
        let question = Question {
            form: Form::Approval { always: !prompt.always.is_empty() },
            message: prompt.to_string(),
            binding: prompt.binding.clone(),
        };
        let reason = match self.0.ask(&question, &prompt.cancel).await {
            Outcome::Suspended => return Answer::Suspended,
            Outcome::Replied(Reply::Once) => return Answer::Once,
            Outcome::Replied(Reply::Always) => return Answer::Always,
            Outcome::Replied(Reply::Reject(feedback)) => return Answer::Reject { feedback },
            Outcome::Replied(Reply::Declined) => return Answer::Reject { feedback: None },
            Outcome::Unable if self.0.without == WithoutElicitation::Allow => {
                return Answer::Preset { reason: "`mcp.without_elicitation` is \"allow\"".into() };
            }
            Outcome::Unable => unable(&prompt.rules()),
            Outcome::Replied(Reply::Dismissed) => "the person closed the question without an answer".into(),
            Outcome::Replied(Reply::None(reason)) => reason,
            Outcome::Replied(Reply::Secret(_)) => "the client's answer belongs to another form".into(),
            Outcome::Cancelled => "the question was withdrawn".into(),
        };
        Answer::NoAnswer { reason }
    }
}

/// Says why nobody can be asked, and what the person can set.
fn unable(rules: &[(&str, &str)]) -> String {
    let mut reason = "this client cannot ask the person (it declares no elicitation with forms); the person can set \
                      `mcp.without_elicitation = \"allow\"` where the client itself asks, or allow it by a rule"
        .to_owned();
    if !rules.is_empty() {
        let rule = |(permission, pattern): &(&str, &str)| format!("`permission.{permission}.{pattern:?} = \"allow\"`");
        let rules: Vec<String> = rules.iter().map(rule).collect();
        reason.push_str(&format!(" in their toolhost.toml: {}", rules.join(", ")));
    }
    reason
}

#[async_trait]
impl Person for Asked {
    async fn secret(&self, request: SecretRequest) -> SecretAnswer {
        if !self.0.secrets {
            return SecretAnswer::Unavailable;
        }
        let message = format!(
            "{} asks for a secret:\n\n{}\n\nWhat you enter is typed into the program. The model does not see it.",
            request.program, request.prompt
        );
        let question = Question { form: Form::Secret, message, binding: request.program };
        match self.0.ask(&question, &request.cancel).await {
            Outcome::Replied(Reply::Secret(secret)) => SecretAnswer::Given(secret),
            Outcome::Replied(_) | Outcome::Cancelled => SecretAnswer::Refused,
            Outcome::Suspended => SecretAnswer::Suspended,
            Outcome::Unable => SecretAnswer::Unavailable,
        }
    }
}
