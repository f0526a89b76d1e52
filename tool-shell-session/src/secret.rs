//! Asking the person for what a program reads with echo off, once for each prompt.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use process::{Session, Since, Until, WaitingFor};
use tool_api::{Secret, SecretAnswer, SecretRequest, ToolContext, ToolError, ToolErrorKind};

use crate::render::one_line;
use crate::tool::unless_cancelled;

/// How long a prompt may come after the echo was switched off.
const PROMPT_TIME: Duration = Duration::from_millis(500);

/// The prompts that a person was asked about and did not answer, by session.
#[derive(Debug, Default)]
pub(crate) struct Prompts(Mutex<HashMap<String, String>>);

/// What came of asking.
#[derive(Debug)]
pub(crate) enum Answer {
    /// No secret is wanted.
    NotAsked,
    /// The secret, to be typed.
    Secret(Secret),
    /// There is none, and what can be done.
    Note(String),
    /// The call was cancelled.
    Cancelled,
}

impl Prompts {
    /// Asks the person if the session waits for a secret. Reads nothing of its output.
    ///
    /// # Errors
    /// [`ToolErrorKind::Suspended`] when the front asks first and calls again.
    pub(crate) async fn ask(&self, session: &Session, ctx: &ToolContext) -> Result<Answer, ToolError> {
        let status = session.status().await;
        if status.waiting_for != Some(WaitingFor::Secret) {
            self.forget(session.id());
            return Ok(Answer::NotAsked);
        }
        let (place, prompt) = prompt(session).await;
        let Some(mark) = self.mark(session.id(), place) else {
            let note = "the person was asked for this secret already and has not given it; tell the person what waits \
                        for it, or `kill` the session";
            return Ok(Answer::Note(note.to_owned()));
        };
        let program = status.foreground.unwrap_or_else(|| one_line(session.command(), 60));
        let request = SecretRequest {
            chat: ctx.chat.clone(),
            program: format!("{} in session {}", one_line(&program, 60), session.id()),
            prompt,
            cancel: ctx.cancel.clone(),
        };
        match unless_cancelled(ctx, ctx.person.secret(request)).await {
            None => Ok(Answer::Cancelled),
            Some(SecretAnswer::Given(secret)) => Ok(Answer::Secret(secret)),
            Some(SecretAnswer::Suspended) => {
                let message = format!("the person is asked for the secret that session `{}` waits for", session.id());
                Err(ToolError::new(ToolErrorKind::Suspended, message).with_hint("call again when it is answered"))
            }
            Some(SecretAnswer::Unavailable) => {
                let note = "it asks for a secret, and nobody can be asked here: a person can use a client that \
                            answers such questions, or set the program up to need none (an agent, a key file); never \
                            type a secret with `write`";
                Ok(Answer::Note(note.to_owned()))
            }
            Some(_) => {
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

/// Returns the line that the cursor is on, as an identity and as text: programs print a prompt and stay behind it.
///
/// A program may switch the echo off just before it prints the prompt, so an empty line gets some time to be filled;
/// after that the prompt is the line above.
async fn prompt(session: &Session) -> (String, String) {
    let begin = Instant::now();
    loop {
        let Some(screen) = session.screen() else { return (String::new(), String::new()) };
        let mut rows = screen.rows.iter().take(screen.cursor.row + 1).rev().map(|row| row.trim());
        let here = rows.next().unwrap_or_default();
        if here.is_empty() && session.is_running() && begin.elapsed() < PROMPT_TIME {
            session.waiter(Until::Quiet, Since::Now).wait(PROMPT_TIME / 10).await;
            continue;
        }
        let line = if here.is_empty() { rows.find(|row| !row.is_empty()).unwrap_or_default() } else { here };
        let line = one_line(line, 200);
        return (format!("{} {line}", screen.cursor.row), line);
    }
}
