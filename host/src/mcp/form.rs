//! What a person is asked by elicitation: the form, and what comes back.

use std::fmt;

use rmcp::model::{ElicitRequestParams, ElicitResult, ElicitationAction};
use serde_json::{Value, json};
use tool_api::Secret;

/// Which form a question has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    /// Once, reject, and always where it is offered.
    Approval {
        /// Whether the person may allow more than this once.
        always: bool,
    },
    /// One secret text.
    Secret,
}

/// One question to the person. Two questions are the same when all they show is the same.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Question {
    pub(crate) form: Form,
    /// What the person reads.
    pub(crate) message: String,
    /// What exactly it is about, beyond what is shown.
    pub(crate) binding: String,
}

/// What the person answered to a question.
#[derive(Clone, PartialEq, Eq)]
pub(crate) enum Reply {
    /// Allowed this time.
    Once,
    /// Allowed now and in this chat from now on.
    Always,
    /// Rejected, with what the person said.
    Reject(Option<String>),
    /// The secret.
    Secret(Secret),
    /// The person declined to answer.
    Declined,
    /// The person closed the form without an answer.
    Dismissed,
    /// There is no usable answer: no time left, a lost client, a form that was filled in wrongly.
    None(String),
}

impl fmt::Debug for Reply {
    /// Names the kind only: a reply can hold a secret or private words.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Once => "Once",
            Self::Always => "Always",
            Self::Reject(_) => "Reject(..)",
            Self::Secret(_) => "Secret(..)",
            Self::Declined => "Declined",
            Self::Dismissed => "Dismissed",
            Self::None(_) => "None(..)",
        })
    }
}

impl Question {
    /// Returns the request for the client.
    ///
    /// The schema keeps to what every known client accepts: at its root only `type`, `properties` and `required`, and
    /// titles of choices as `enumNames`, since a client of the 2025-06-18 protocol would show `oneOf` as free text.
    pub(crate) fn params(&self) -> ElicitRequestParams {
        let schema = match self.form {
            Form::Approval { always } => {
                let mut decisions = vec![("once", "Allow once"), ("reject", "Reject")];
                if always {
                    decisions.insert(1, ("always", "Always allow in this chat"));
                }
                let (values, titles): (Vec<&str>, Vec<&str>) = decisions.into_iter().unzip();
                json!({
                    "type": "object",
                    "properties": {
                        "decision": {
                            "type": "string",
                            "title": "Decision",
                            "description": "Whether this may be done",
                            "enum": values,
                            "enumNames": titles,
                        },
                        "feedback": {
                            "type": "string",
                            "title": "Feedback",
                            "description": "With a rejection: what to do instead (optional)",
                        },
                    },
                    "required": ["decision"],
                })
            }
            Form::Secret => json!({
                "type": "object",
                "properties": {
                    "secret": {
                        "type": "string",
                        "title": "Secret",
                        "description": "Typed into the program; the model does not see it",
                    },
                },
                "required": ["secret"],
            }),
        };
        ElicitRequestParams::FormElicitationParams {
            meta: None,
            message: self.message.clone(),
            requested_schema: serde_json::from_value(schema).expect("the schema is constant and valid"),
        }
    }

    /// Reads a client's answer to this question. Whatever is not clearly an answer is none.
    pub(crate) fn reply(&self, result: ElicitResult) -> Reply {
        match result.action {
            ElicitationAction::Accept => {}
            ElicitationAction::Decline => return Reply::Declined,
            ElicitationAction::Cancel => return Reply::Dismissed,
            _ => return Reply::None("the client answered with an unknown action".into()),
        }
        let content = result.content.unwrap_or_default();
        match self.form {
            Form::Approval { always } => approval(&content, always),
            Form::Secret => match content["secret"].as_str() {
                Some(secret) => Reply::Secret(Secret::new(secret)),
                None => Reply::None("the client's form came back without the text `secret`".into()),
            },
        }
    }
}

fn approval(content: &Value, always: bool) -> Reply {
    match content["decision"].as_str() {
        Some("once") => Reply::Once,
        Some("always") if always => Reply::Always,
        Some("reject") => {
            let feedback = content["feedback"].as_str().map(str::trim).filter(|feedback| !feedback.is_empty());
            Reply::Reject(feedback.map(str::to_owned))
        }
        _ => Reply::None("the client's form came back without a valid `decision`".into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn question(form: Form) -> Question {
        Question { form, message: "Run command\n\nls".into(), binding: "ls".into() }
    }

    #[track_caller]
    fn check(form: Form, result: Value, expected: &Reply) {
        let reply = question(form).reply(serde_json::from_value(result).unwrap());
        assert!(reply == *expected, "{reply:?}");
    }

    const APPROVAL: Form = Form::Approval { always: true };
    const ONCE_ONLY: Form = Form::Approval { always: false };

    #[test]
    fn only_a_clear_answer_allows() {
        let none = Reply::None("the client's form came back without a valid `decision`".into());
        check(APPROVAL, json!({"action": "accept", "content": {"decision": "once"}}), &Reply::Once);
        check(APPROVAL, json!({"action": "accept", "content": {"decision": "always"}}), &Reply::Always);
        let rejected = json!({"action": "accept", "content": {"decision": "reject", "feedback": " use ls "}});
        check(APPROVAL, rejected, &Reply::Reject(Some("use ls".into())));
        check(APPROVAL, json!({"action": "accept", "content": {"decision": "reject"}}), &Reply::Reject(None));
        check(APPROVAL, json!({"action": "decline"}), &Reply::Declined);
        check(APPROVAL, json!({"action": "cancel"}), &Reply::Dismissed);
        check(APPROVAL, json!({"action": "decline", "content": {"decision": "once"}}), &Reply::Declined);
        for content in [json!({}), json!({"decision": "ONCE"}), json!({"decision": true}), json!("once"), json!(null)] {
            check(APPROVAL, json!({"action": "accept", "content": content}), &none);
        }
        check(APPROVAL, json!({"action": "accept"}), &none);
        check(ONCE_ONLY, json!({"action": "accept", "content": {"decision": "always"}}), &none);
        let params = serde_json::to_value(question(ONCE_ONLY).params()).unwrap();
        assert_eq!(params["requestedSchema"]["properties"]["decision"]["enum"], json!(["once", "reject"]));
    }

    #[test]
    fn a_secret_is_never_shown() {
        let accepted = json!({"action": "accept", "content": {"secret": "hunter2"}});
        let reply = question(Form::Secret).reply(serde_json::from_value(accepted).unwrap());
        assert!(reply == Reply::Secret(Secret::new("hunter2")));
        assert!(!format!("{reply:?}").contains("hunter2"));
    }

    #[test]
    fn the_schemas_have_nothing_at_their_root_that_a_client_refuses() {
        for form in [APPROVAL, ONCE_ONLY, Form::Secret] {
            let params = serde_json::to_value(question(form).params()).unwrap();
            let schema = params["requestedSchema"].as_object().unwrap();
            let keys: Vec<&String> = schema.keys().collect();
            assert_eq!(keys, ["type", "properties", "required"]);
        }
    }
}
