//! Asking the person for what a program reads with echo off, once for each prompt.

use std::collections::HashMap;
use std::fmt;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use process::{LONGEST_LINE, Session, Since, State, Until, WaitingFor, WriteError};
use tool_api::{Secret, SecretAnswer, SecretRequest, ToolContext, ToolError, ToolErrorKind};

use crate::render::one_line;

/// How long a prompt may come after the echo was switched off.
const PROMPT_TIME: Duration = Duration::from_millis(500);
/// The time between two looks at a program that a person is asked for.
const BETWEEN_LOOKS: Duration = Duration::from_millis(100);
/// The time between the two looks that have to agree: between two reads a program is not seen reading.
const SECOND_LOOK: Duration = Duration::from_millis(50);

/// The prompts that a person was asked about and did not answer, by session.
#[derive(Debug, Default)]
pub(crate) struct Prompts(Mutex<HashMap<String, String>>);

/// What came of asking.
#[derive(Debug)]
pub(crate) enum Answer<'a> {
    /// No secret is wanted.
    NotAsked,
    /// A secret, to be typed.
    Given(Given<'a>),
    /// Nobody wants it any more; the note says why.
    Withdrawn(String),
    /// There is none, and what can be done.
    Note(String),
    /// The call was cancelled.
    Cancelled,
}

/// What came of typing a secret; each note says why it was not.
#[derive(Debug)]
pub(crate) enum Typed {
    Whole,
    /// Nobody wants it any more.
    Late(String),
    /// The program waits for another one.
    Unusable(String),
}

/// Why nobody wants a secret any more.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Gone {
    /// The session has ended.
    Ended,
    /// The program goes on without it, or asks for something else.
    Moved,
}

impl Prompts {
    /// Asks the person if the session waits for a secret. Reads nothing of its output.
    ///
    /// The question is withdrawn when the call is cancelled, and when nobody wants the answer any more.
    ///
    /// # Errors
    /// [`ToolErrorKind::Suspended`] when the front asks first and calls again.
    pub(crate) async fn ask(&self, session: &Session, ctx: &ToolContext) -> Result<Answer<'_>, ToolError> {
        let status = session.status().await;
        if status.waiting_for != Some(WaitingFor::Secret) {
            self.forget(session.id());
            return Ok(Answer::NotAsked);
        }
        let Prompt { place, words, .. } = prompt(session).await;
        let Some(mark) = self.mark(session.id(), place) else {
            let note = "the person was asked for this secret already; unless another call still waits for the answer, tell \
                        the person what waits for it, or `kill` the session";
            return Ok(Answer::Note(note.to_owned()));
        };
        let program = status.foreground.unwrap_or_else(|| one_line(session.command(), 60));
        let request = SecretRequest {
            chat: ctx.chat.clone(),
            program: format!("{} in session {}", one_line(&program, 60), session.id()),
            prompt: words.clone(),
            cancel: ctx.cancel.child_token(),
        };
        let _void_when_it_ends = request.cancel.clone().drop_guard();
        let answer = tokio::select! {
            biased;
            () = ctx.cancel.cancelled() => return Ok(Answer::Cancelled),
            answer = ctx.person.secret(request) => answer,
            gone = until_gone(session, &words) => {
                return Ok(Answer::Withdrawn(format!("the question to the person was withdrawn: {gone}")));
            }
        };
        match answer {
            SecretAnswer::Given(secret) => Ok(Answer::Given(Given { secret, words, _mark: mark })),
            SecretAnswer::Suspended => {
                let message = format!("the person is asked for the secret that session `{}` waits for", session.id());
                Err(ToolError::new(ToolErrorKind::Suspended, message).with_hint("call again when it is answered"))
            }
            SecretAnswer::Unavailable => {
                let note = "it asks for a secret, and nobody can be asked here: a person can use a client that \
                            answers such questions, or set the program up to need none (an agent, a key file); never \
                            type a secret with `write`";
                Ok(Answer::Note(note.to_owned()))
            }
            _ => {
                mark.keep();
                let note = "the person did not give the secret, and the program still waits for it; `kill` it, or \
                            press ctrl-c, if it is not wanted";
                Ok(Answer::Note(note.to_owned()))
            }
        }
    }

    /// Lets the next prompt of a session be asked, even one that looks the same.
    pub(crate) fn forget(&self, id: &str) {
        self.lock().remove(id);
    }

    /// Marks a prompt as asked; `None` when it is already.
    fn mark(&self, id: &str, place: String) -> Option<Mark<'_>> {
        let mut asked = self.lock();
        if asked.get(id) == Some(&place) {
            return None;
        }
        asked.insert(id.to_owned(), place);
        Some(Mark { prompts: self, id: Some(id.to_owned()) })
    }

    /// Locks the marks. No holder awaits or leaves them half changed.
    fn lock(&self) -> MutexGuard<'_, HashMap<String, String>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A prompt that is being asked; forgotten when it is dropped, so that a call that was cut off can be made again.
#[derive(Debug)]
struct Mark<'a> {
    prompts: &'a Prompts,
    id: Option<String>,
}

impl Mark<'_> {
    fn keep(mut self) {
        self.id = None;
    }
}

impl Drop for Mark<'_> {
    fn drop(&mut self) {
        if let Some(id) = &self.id {
            self.prompts.forget(id);
        }
    }
}

/// A secret that a person gave to a prompt, which is not asked again meanwhile.
#[derive(Debug)]
pub(crate) struct Given<'a> {
    secret: Secret,
    words: String,
    _mark: Mark<'a>,
}

impl Given<'_> {
    /// Types the secret and Enter, if the program still asks for it. The line end that a form may add is left out.
    ///
    /// Dropping the future may leave the secret typed.
    pub(crate) async fn type_into(self, session: &Session, deadline: Duration) -> Typed {
        let line = without_line_end(self.secret.expose());
        let late = |gone: Gone| {
            Typed::Late(format!("the person's answer came too late and was discarded, not typed anywhere: {gone}"))
        };
        if let Some(gone) = gone(session, &self.words).await {
            return late(gone);
        }
        let unusable = |why: &str| {
            Typed::Unusable(format!("the person's secret was not typed: {why}; the next `read` asks the person again"))
        };
        match session.type_secret(line, deadline).await {
            Ok(()) => Typed::Whole,
            Err(WriteError::Ended { written: 0, .. }) => late(Gone::Ended),
            Err(WriteError::NoSecretPrompt) => late(Gone::Moved),
            Err(WriteError::ControlInSecret) => unusable("it contains a control character"),
            Err(WriteError::LineTooLong { .. }) => {
                unusable(&format!("it is longer than the {LONGEST_LINE} bytes that a line may have"))
            }
            // How many bytes is left out: it tells about the secret.
            Err(_) => Typed::Late("the person's secret was not typed whole: the program stopped reading".to_owned()),
        }
    }
}

impl fmt::Display for Gone {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Ended => "the session has ended",
            Self::Moved => "the program no longer waits for that secret",
        })
    }
}

fn without_line_end(secret: &[u8]) -> &[u8] {
    let line = secret.strip_suffix(b"\n").unwrap_or(secret);
    line.strip_suffix(b"\r").unwrap_or(line)
}

/// Returns once nobody wants the answer to a prompt any more.
async fn until_gone(session: &Session, words: &str) -> Gone {
    loop {
        tokio::time::sleep(BETWEEN_LOOKS).await;
        if let Some(gone) = gone(session, words).await {
            return gone;
        }
    }
}

/// Tells whether nobody wants the answer to a prompt any more. The prompt may have grown, as it does when it is printed
/// in parts; with other words it is another one, and what a person answered to the first is not for it.
async fn gone(session: &Session, words: &str) -> Option<Gone> {
    for pause in [Duration::ZERO, SECOND_LOOK] {
        tokio::time::sleep(pause).await;
        let status = session.status().await;
        if matches!(status.state, State::Exited | State::Signaled) {
            return Some(Gone::Ended);
        }
        if status.waiting_for == Some(WaitingFor::Secret)
            && here(session).words.starts_with(words.trim_end_matches('…'))
        {
            return None;
        }
    }
    Some(Gone::Moved)
}

/// What a program printed before it waits.
#[derive(Debug, Default, PartialEq, Eq)]
struct Prompt {
    /// Tells it from another one with the same words.
    place: String,
    words: String,
    /// The line of the cursor has none, and the words are of a line above.
    is_above: bool,
}

/// Returns the prompt of a program that just began to wait.
///
/// A program may switch the echo off just before it prints the prompt, so an empty line gets some time to be filled;
/// after that the prompt is the line above. What is printed in parts may come in parts.
async fn prompt(session: &Session) -> Prompt {
    let begin = Instant::now();
    let mut prompt = here(session);
    loop {
        session.waiter(Until::Quiet, Since::Now).wait(SECOND_LOOK).await;
        let before = std::mem::replace(&mut prompt, here(session));
        let may_change = session.is_running() && begin.elapsed() < PROMPT_TIME;
        if !may_change || (prompt == before && !prompt.is_above) {
            return prompt;
        }
    }
}

/// Returns the line that the cursor is on: programs print a prompt and stay behind it.
fn here(session: &Session) -> Prompt {
    let Some(screen) = session.screen() else { return Prompt::default() };
    let mut rows = screen.rows.iter().take(screen.cursor.row + 1).rev().map(|row| row.trim());
    let line = rows.next().unwrap_or_default();
    let is_above = line.is_empty();
    let line = if is_above { rows.find(|row| !row.is_empty()).unwrap_or_default() } else { line };
    let words = one_line(line, 200);
    Prompt { place: format!("{} {words}", screen.cursor.row), words, is_above }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_line_end_is_left_out() {
        for (given, typed) in [("a", "a"), ("a\n", "a"), ("a\r\n", "a"), ("a\r", "a"), ("a\n\n", "a\n"), ("\n", "")] {
            assert_eq!(without_line_end(given.as_bytes()), typed.as_bytes());
        }
    }
}
