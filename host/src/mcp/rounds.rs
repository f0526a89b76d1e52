//! Questions of the 2026-07-28 era: a call ends with them and is sent again with the answers.

use std::collections::{BTreeMap, HashMap};
use std::fmt;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use rmcp::model::JsonObject;
use rmcp::model::{
    ElicitRequest, ElicitResult, InputRequest, InputRequiredResult, InputResponses, RequestStateCodec, SealOptions,
};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::form::{Question, Reply};

/// Rounds that may wait for their answers at once; the oldest is given up for a new one.
const MAX_OPEN: usize = 64;

/// The questions that calls ended with, until their calls are sent again.
///
/// What the client holds is only a sealed number: the questions and earlier answers stay here, since they can be
/// secrets and the seal protects integrity, not secrecy.
pub(crate) struct Rounds {
    codec: RequestStateCodec,
    open: Mutex<Open>,
    /// How long a round waits for its answers.
    patience: Duration,
}

#[derive(Default)]
struct Open {
    last: u64,
    rounds: BTreeMap<u64, Suspended>,
}

struct Suspended {
    until: Instant,
    answered: Vec<(Asked, Reply)>,
    asked: Vec<(String, Asked)>,
}

/// A question and which time it is that a call asks it: the second time needs an answer of its own.
type Asked = (Question, usize);

#[derive(Serialize, Deserialize)]
struct State {
    round: u64,
}

impl fmt::Debug for Rounds {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Rounds").field("patience", &self.patience).finish_non_exhaustive()
    }
}

impl Rounds {
    /// Makes the store of one connection with a key of its own.
    ///
    /// # Errors
    /// The system gives no random bytes.
    pub(crate) fn new(patience: Duration) -> Result<Self, getrandom::Error> {
        let mut key = [0_u8; 32];
        getrandom::fill(&mut key)?;
        let codec = RequestStateCodec::try_new(key).expect("the key has the least length");
        Ok(Self { codec, open: Mutex::default(), patience })
    }

    /// Begins one run of a call: takes the answers that come with it.
    ///
    /// # Errors
    /// The state is not from this connection, belongs to a call with another tool or other arguments, is too old, or
    /// was used before.
    pub(crate) fn begin(
        &self,
        call: &[u8],
        state: Option<&str>,
        responses: Option<InputResponses>,
    ) -> Result<Round, String> {
        // Answers without a state belong to no question; the call asks again.
        let Some(state) = state else { return Ok(Round::default()) };
        let state: State = self.codec.open_json_with(state, call).map_err(|error| error.to_string())?;
        let mut responses = responses.unwrap_or_default();
        let suspended = {
            let mut open = self.lock();
            open.rounds.remove(&state.round).filter(|suspended| suspended.until > Instant::now())
        };
        let Some(Suspended { mut answered, asked, .. }) = suspended else {
            return Err("request state was used before, or waited too long".into());
        };
        for (key, asked) in asked {
            if let Some(response) = responses.remove(&key) {
                let reply = read(&asked.0, response);
                answered.push((asked, reply));
            }
        }
        Ok(Round { inner: Mutex::new(Inner { answered, ..Inner::default() }) })
    }

    /// Ends a run that left questions: keeps its answers, and returns what the client is asked.
    pub(crate) fn suspend(&self, call: &[u8], round: &Round) -> Option<InputRequiredResult> {
        let Inner { answered, asked, .. } = std::mem::take(&mut *round.lock());
        if asked.is_empty() {
            return None;
        }
        let asked: Vec<(String, Asked)> =
            asked.into_iter().enumerate().map(|(index, asked)| (format!("question{}", index + 1), asked)).collect();
        let requests = asked
            .iter()
            .map(|(key, asked)| (key.clone(), InputRequest::Elicitation(ElicitRequest::new(asked.0.params()))))
            .collect();
        let now = Instant::now();
        let number = {
            let mut open = self.lock();
            open.rounds.retain(|_, suspended| suspended.until > now);
            while open.rounds.len() >= MAX_OPEN {
                open.rounds.pop_first();
            }
            open.last += 1;
            let number = open.last;
            open.rounds.insert(number, Suspended { until: now + self.patience, answered, asked });
            number
        };
        let options = SealOptions::new().associated_data(call).ttl(self.patience);
        let state = self.codec.seal_json_with(&State { round: number }, &options).expect("a number serializes");
        Some(InputRequiredResult::new(Some(requests), Some(state)))
    }

    fn lock(&self) -> MutexGuard<'_, Open> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Returns the bytes that name a call: the tool and its arguments, whatever the order of their keys.
pub(crate) fn call_identity(tool: &str, arguments: Option<&JsonObject>) -> Vec<u8> {
    let arguments = arguments.map(|arguments| sorted(&Value::Object(arguments.clone())));
    serde_json::to_vec(&(tool, arguments)).expect("JSON serializes")
}

fn sorted(value: &Value) -> Value {
    match value {
        Value::Object(object) => {
            let mut entries: Vec<(String, Value)> =
                object.iter().map(|(key, value)| (key.clone(), sorted(value))).collect();
            entries.sort_by(|a, b| a.0.cmp(&b.0));
            Value::Object(entries.into_iter().collect())
        }
        Value::Array(items) => Value::Array(items.iter().map(sorted).collect()),
        other => other.clone(),
    }
}

fn read(question: &Question, response: Value) -> Reply {
    match serde_json::from_value::<ElicitResult>(response) {
        Ok(result) => question.reply(result),
        // The error could quote the response, which can be a secret.
        Err(_) => Reply::None("the client's answer is not the result of an elicitation".into()),
    }
}

/// One run of a call: the answers that came with it, and the questions that it leaves.
#[derive(Default)]
pub(crate) struct Round {
    inner: Mutex<Inner>,
}

#[derive(Default)]
struct Inner {
    answered: Vec<(Asked, Reply)>,
    asked: Vec<Asked>,
    times: HashMap<String, usize>,
}

impl fmt::Debug for Round {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Round").finish_non_exhaustive()
    }
}

impl Round {
    /// Returns the answer that was given to exactly this question, or notes the question.
    pub(crate) fn answer(&self, question: &Question) -> Option<Reply> {
        let mut inner = self.lock();
        let time = inner.times.entry(question.message.clone()).or_insert(0);
        *time += 1;
        let asked = (question.clone(), *time);
        let reply = inner.answered.iter().find(|(known, _)| *known == asked).map(|(_, reply)| reply.clone());
        if reply.is_none() {
            inner.asked.push(asked);
        }
        reply
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::mcp::form::Form;

    const PATIENCE: Duration = Duration::from_secs(600);

    fn question(message: &str) -> Question {
        Question { form: Form::Approval { always: true }, message: message.into(), binding: String::new() }
    }

    fn once() -> Value {
        json!({"action": "accept", "content": {"decision": "once"}})
    }

    fn suspend(rounds: &Rounds, call: &[u8], round: Round) -> String {
        rounds.suspend(call, &round).unwrap().request_state.unwrap()
    }

    fn responses(answer: Value) -> Option<InputResponses> {
        Some([("question1".to_owned(), answer)].into())
    }

    #[test]
    fn an_answer_belongs_to_its_question_and_call_and_serves_once() {
        let rounds = Rounds::new(PATIENCE).unwrap();
        let call = call_identity("shell", json!({"command": "ls"}).as_object());
        let round = rounds.begin(&call, None, None).unwrap();
        assert!(round.answer(&question("run ls")).is_none());
        let state = suspend(&rounds, &call, round);

        let other = call_identity("shell", json!({"command": "rm"}).as_object());
        assert!(rounds.begin(&other, Some(&state), responses(once())).is_err());
        let mut tampered = state.clone();
        tampered.replace_range(10..11, if &state[10..11] == "A" { "B" } else { "A" });
        assert!(rounds.begin(&call, Some(&tampered), responses(once())).is_err());
        let elsewhere = Rounds::new(PATIENCE).unwrap();
        assert!(elsewhere.begin(&call, Some(&state), responses(once())).is_err());

        let round = rounds.begin(&call, Some(&state), responses(once())).unwrap();
        assert!(round.answer(&question("run rm")).is_none());
        assert!(round.answer(&question("run ls")) == Some(Reply::Once));
        assert!(round.answer(&question("run ls")).is_none());
        assert!(rounds.begin(&call, Some(&state), responses(once())).is_err());
    }

    #[test]
    fn earlier_answers_are_kept_for_the_next_round() {
        let rounds = Rounds::new(PATIENCE).unwrap();
        let round = rounds.begin(b"call", None, None).unwrap();
        assert!(round.answer(&question("first")).is_none());
        let state = suspend(&rounds, b"call", round);
        let round = rounds.begin(b"call", Some(&state), responses(once())).unwrap();
        assert!(round.answer(&question("first")).is_some());
        assert!(round.answer(&question("second")).is_none());
        let state = suspend(&rounds, b"call", round);
        let round = rounds.begin(b"call", Some(&state), responses(json!({"action": "decline"}))).unwrap();
        assert!(round.answer(&question("first")) == Some(Reply::Once));
        assert!(round.answer(&question("second")) == Some(Reply::Declined));
        assert!(rounds.suspend(b"call", &round).is_none());
    }

    #[test]
    fn nothing_allows_without_a_state_or_after_its_time() {
        let rounds = Rounds::new(Duration::ZERO).unwrap();
        let round = rounds.begin(b"call", None, responses(once())).unwrap();
        assert!(round.answer(&question("first")).is_none());
        let state = suspend(&rounds, b"call", round);
        assert!(rounds.begin(b"call", Some(&state), responses(once())).is_err());
    }

    #[test]
    fn what_is_not_an_answer_allows_nothing() {
        let rounds = Rounds::new(PATIENCE).unwrap();
        let round = rounds.begin(b"call", None, None).unwrap();
        assert!(round.answer(&question("first")).is_none());
        let state = suspend(&rounds, b"call", round);
        let round = rounds.begin(b"call", Some(&state), responses(json!("once"))).unwrap();
        assert!(matches!(round.answer(&question("first")), Some(Reply::None(_))));
    }

    #[test]
    fn only_so_many_rounds_wait() {
        let rounds = Rounds::new(PATIENCE).unwrap();
        let states: Vec<String> = (0..=MAX_OPEN)
            .map(|_| {
                let round = rounds.begin(b"call", None, None).unwrap();
                assert!(round.answer(&question("first")).is_none());
                suspend(&rounds, b"call", round)
            })
            .collect();
        assert!(rounds.begin(b"call", Some(&states[0]), responses(once())).is_err());
        assert!(rounds.begin(b"call", Some(&states[MAX_OPEN]), responses(once())).is_ok());
    }

    #[test]
    fn a_call_is_the_same_whatever_the_order_of_its_keys() {
        let one = json!({"command": "ls", "env": {"A": "1", "B": "2"}});
        let other = json!({"env": {"B": "2", "A": "1"}, "command": "ls"});
        assert_eq!(call_identity("x", one.as_object()), call_identity("x", other.as_object()));
        assert_ne!(call_identity("x", one.as_object()), call_identity("y", one.as_object()));
        assert_ne!(call_identity("x", None), call_identity("x", one.as_object()));
    }
}
