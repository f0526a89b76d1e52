//! Approvals by elicitation, in both eras, and every way in which one could be had without asking.

use host::mcp::{Config, WithoutElicitation};
use serde_json::{Value, json};

use crate::client::{Client, ERAS, Era, call_with, decide, texts};
use crate::embedded::Fixture;

/// Commands that no rule allows, harmless as they are: the tool of the fixture runs nothing.
const ONE: &str = "make one";
const TWO: &str = "make two";

fn opened(era: Era) -> (Fixture, Client) {
    let (fixture, client) = Fixture::serve(Config::default());
    (fixture, client.open(era))
}

pub(crate) fn commands(commands: &[&str]) -> Value {
    json!({"commands": commands})
}

#[track_caller]
pub(crate) fn denied(result: &Value) -> String {
    let text = texts(result)[0].to_owned();
    assert_eq!(result["isError"], true, "{text}");
    assert_eq!(result["_meta"]["toolhost/errorKind"], "denied", "{text}");
    assert!(text.contains("nothing was done"), "{text}");
    text
}

#[test]
fn once_allows_this_once() {
    for era in ERAS {
        let (fixture, mut client) = opened(era);
        for _ in 0..2 {
            let mut asked = Vec::new();
            let result = call_with(&mut client, "gate", commands(&[ONE]), |params| {
                asked.push(params.clone());
                decide("once")
            });
            assert_eq!(texts(&result), ["ran make one"], "{era:?}");
            let [params] = asked.as_slice() else { panic!("{asked:?}") };
            let message = params["message"].as_str().unwrap();
            for part in ["Run interactive command", ONE, "stays open", "Directory:", "Asked because"] {
                assert!(message.contains(part), "{part}: {message}");
            }
            assert_eq!(params["requestedSchema"]["required"], json!(["decision"]));
        }
        assert_eq!(fixture.ran(), [ONE, ONE]);
    }
}

#[test]
fn always_is_not_asked_again() {
    for era in ERAS {
        let (fixture, mut client) = opened(era);
        let mut questions = 0;
        for _ in 0..2 {
            let result = call_with(&mut client, "gate", commands(&[ONE]), |params| {
                questions += 1;
                let offered = &params["requestedSchema"]["properties"]["decision"]["enum"];
                assert_eq!(*offered, json!(["once", "always", "reject"]));
                decide("always")
            });
            assert_eq!(texts(&result), ["ran make one"], "{era:?}");
        }
        assert_eq!((questions, fixture.ran().len()), (1, 2));
    }
}

#[test]
fn whatever_is_not_an_approval_denies() {
    for era in ERAS {
        let (fixture, mut client) = opened(era);
        for (answer, part) in [
            (decide("reject"), "the person rejected it"),
            (json!({"action": "decline"}), "the person rejected it"),
            (json!({"action": "decline", "content": {"decision": "once"}}), "the person rejected it"),
            (json!({"action": "cancel"}), "closed the question"),
            (json!({"action": "accept"}), "without a valid `decision`"),
            (json!({"action": "accept", "content": {"decision": "yes"}}), "without a valid `decision`"),
            (json!({"action": "accept", "content": {"secret": "once"}}), "without a valid `decision`"),
            (json!({"action": "later"}), ""),
            (json!({}), ""),
        ] {
            let result = call_with(&mut client, "gate", commands(&[ONE]), |_| answer.clone());
            let text = denied(&result);
            assert!(text.contains(part), "{era:?} {answer}: {text}");
        }
        let feedback = json!({"action": "accept", "content": {"decision": "reject", "feedback": "use ninja"}});
        let result = call_with(&mut client, "gate", commands(&[ONE]), |_| feedback.clone());
        assert!(denied(&result).contains("use ninja"));
        assert!(fixture.ran().is_empty());
    }
}

#[test]
fn every_effect_of_a_call_is_asked_before_any() {
    for era in ERAS {
        let (fixture, mut client) = opened(era);
        let mut asked = Vec::new();
        let result = call_with(&mut client, "gate", commands(&[ONE, TWO, ONE]), |params| {
            asked.push(params["message"].as_str().unwrap().contains(TWO));
            decide("once")
        });
        assert_eq!(texts(&result), ["ran make one, make two, make one"], "{era:?}");
        assert_eq!(asked, [false, true, false]);
        let mut answers = vec![decide("reject"), decide("once")];
        let result = call_with(&mut client, "gate", commands(&[ONE, TWO]), |_| answers.pop().unwrap());
        denied(&result);
        assert_eq!(fixture.ran().len(), 3);
    }
}

#[test]
fn a_client_that_cannot_ask_is_denied_with_the_way_out() {
    for era in ERAS {
        for capabilities in [json!({}), json!({"elicitation": {"url": {}}})] {
            let (fixture, client) = Fixture::serve(Config::default());
            let mut client = client.with_capabilities(capabilities).open(era);
            let text = denied(&client.call("gate", commands(&[ONE])));
            assert!(text.contains("mcp.without_elicitation"), "{text}");
            assert!(fixture.ran().is_empty());
        }
        let config = Config { without_elicitation: WithoutElicitation::Allow, ..Config::default() };
        let (fixture, client) = Fixture::serve(config.clone());
        let mut client = client.with_capabilities(json!({})).open(era);
        assert_eq!(texts(&client.call("gate", commands(&[ONE]))), ["ran make one"]);
        assert_eq!(fixture.ran(), [ONE]);
        // One that can ask is asked all the same, and what is forbidden stays so.
        let (fixture, client) = Fixture::serve(config);
        let mut client = client.open(era);
        denied(&call_with(&mut client, "gate", commands(&[ONE]), |_| decide("reject")));
        denied(&client.call("gate", commands(&["bash"])));
        assert!(fixture.ran().is_empty());
    }
}

#[test]
fn nobody_answers_in_time() {
    let (fixture, client) = Fixture::serve(Config { answer_timeout_ms: 100, ..Config::default() });
    let mut client = client.open(Era::Legacy("2025-06-18"));
    let id = client.begin_call("gate", commands(&[ONE]));
    let request = client.server_sent("elicitation/create");
    assert!(denied(&client.result(id)).contains("nobody answered within 0.1 s"));
    // An answer that comes too late allows nothing.
    client.answer(&request, &decide("once"));
    assert_eq!(texts(&client.call("secret", json!({}))), ["0 characters"]);
    assert!(fixture.ran().is_empty());
}

#[test]
fn a_client_that_refuses_to_ask_is_denied() {
    let (fixture, mut client) = opened(Era::Legacy("2025-11-25"));
    let id = client.begin_call("gate", commands(&[ONE]));
    let request = client.server_sent("elicitation/create");
    let error = json!({"code": -32601, "message": "no elicitation here"});
    client.send(&json!({"jsonrpc": "2.0", "id": request["id"], "error": error}));
    assert!(denied(&client.result(id)).contains("no elicitation here"));
    assert!(fixture.ran().is_empty());
}

#[test]
fn an_open_question_ends_with_its_call_and_its_connection() {
    let (fixture, mut client) = opened(Era::Legacy("2025-11-25"));
    let id = client.begin_call("gate", commands(&[ONE]));
    let request = client.server_sent("elicitation/create");
    client.cancel(id);
    let void = client.server_sent("notifications/cancelled");
    assert_eq!(void["params"]["requestId"], request["id"]);
    client.answer(&request, &decide("once"));

    let id = client.begin_call("gate", commands(&[TWO]));
    client.server_sent("elicitation/create");
    client.close();
    let result = client.result(id);
    assert_eq!(result["_meta"]["toolhost/errorKind"], "cancelled", "{result}");
    client.rest();
    assert!(fixture.ran().is_empty());
}

#[test]
fn a_rejection_ends_the_other_open_questions() {
    let (fixture, mut client) = opened(Era::Legacy("2025-11-25"));
    let first = client.begin_call("gate", commands(&[ONE]));
    let rejected = client.server_sent("elicitation/create");
    let second = client.begin_call("gate", commands(&[TWO]));
    let other = client.server_sent("elicitation/create");
    client.answer(&rejected, &decide("reject"));
    denied(&client.result(first));
    assert!(denied(&client.result(second)).contains("rejected another question"));
    assert_eq!(client.server_sent("notifications/cancelled")["params"]["requestId"], other["id"]);
    // A later question is a new one.
    let result = call_with(&mut client, "gate", commands(&[TWO]), |_| decide("once"));
    assert_eq!(texts(&result), ["ran make two"]);
    assert_eq!(fixture.ran(), [TWO]);
}

#[test]
fn progress_says_that_the_person_is_awaited() {
    let (_fixture, client) = Fixture::serve(Config { progress_ms: 20, ..Config::default() });
    let mut client = client.open(Era::Legacy("2025-11-25"));
    let params = json!({"name": "gate", "arguments": commands(&[ONE]), "_meta": {"progressToken": 5}});
    let id = client.begin("tools/call", params);
    let request = client.server_sent("elicitation/create");
    let progress = client.server_sent("notifications/progress");
    assert!(progress["params"]["message"].as_str().unwrap().contains("waiting for the person"), "{progress}");
    client.answer(&request, &decide("once"));
    assert_eq!(texts(&client.result(id)), ["ran make one"]);
}

/// A call of `gate` in the newer era, up to its question.
fn suspended(client: &mut Client, asked: &[&str]) -> Value {
    let result = client.call("gate", commands(asked));
    assert_eq!(result["resultType"], "input_required", "{result}");
    result["requestState"].clone()
}

fn retry(client: &mut Client, tool: &str, asked: &[&str], state: &Value, responses: &Value) -> Value {
    let params = json!({
        "name": tool, "arguments": commands(asked), "requestState": state, "inputResponses": responses,
    });
    client.request("tools/call", params)
}

#[test]
fn a_sealed_state_serves_one_call_once() {
    let (fixture, mut client) = opened(Era::Modern);
    let yes = json!({"question1": decide("once")});
    let state = suspended(&mut client, &[ONE]);
    let sealed = state.as_str().unwrap().to_owned();

    let mut refused = |tool: &str, asked: &[&str], state: &Value| {
        let response = retry(&mut client, tool, asked, state, &yes);
        assert_eq!(response["error"]["code"], -32602, "{response}");
    };
    refused("gate", &[TWO], &state);
    refused("gate", &[ONE, ONE], &state);
    refused("secret", &[ONE], &state);
    let middle = sealed.len() / 2;
    let flipped = if sealed.as_bytes()[middle] == b'A' { "B" } else { "A" };
    refused("gate", &[ONE], &json!(format!("{}{flipped}{}", &sealed[..middle], &sealed[middle + 1..])));
    refused("gate", &[ONE], &json!("rs1.AAAA.BBBB"));
    refused("gate", &[ONE], &json!(""));
    assert!(fixture.ran().is_empty());

    let response = retry(&mut client, "gate", &[ONE], &state, &yes);
    assert_eq!(texts(&response["result"]), ["ran make one"]);
    let response = retry(&mut client, "gate", &[ONE], &state, &yes);
    assert_eq!(response["error"]["code"], -32602, "{response}");
    assert_eq!(fixture.ran(), [ONE]);

    // Another connection has another key.
    let (elsewhere, mut other) = opened(Era::Modern);
    let state = suspended(&mut client, &[ONE]);
    let response = retry(&mut other, "gate", &[ONE], &state, &yes);
    assert_eq!(response["error"]["code"], -32602, "{response}");
    assert!(elsewhere.ran().is_empty());
}

#[test]
fn an_answer_without_its_state_is_asked_again() {
    let (fixture, mut client) = opened(Era::Modern);
    for state in [None, Some(Value::Null)] {
        let mut params = json!({
            "name": "gate", "arguments": commands(&[ONE]), "inputResponses": {"question1": decide("once")},
        });
        if let Some(state) = state {
            params["requestState"] = state;
        }
        let response = client.request("tools/call", params);
        assert_eq!(response["result"]["resultType"], "input_required", "{response}");
    }
    // A state without the answer is used up, and asked again.
    let state = suspended(&mut client, &[ONE]);
    let response = retry(&mut client, "gate", &[ONE], &state, &json!({"question2": decide("once")}));
    assert_eq!(response["result"]["resultType"], "input_required", "{response}");
    assert!(fixture.ran().is_empty());
}

#[cfg(unix)]
#[test]
fn an_answer_is_for_the_files_that_were_there_when_it_was_asked() {
    use std::os::unix::fs::PermissionsExt;
    let dir = tempfile::tempdir().unwrap();
    let script = dir.path().join("run.sh");
    std::fs::write(&script, "#!/bin/sh\necho good\n").unwrap();
    std::fs::set_permissions(&script, std::fs::Permissions::from_mode(0o755)).unwrap();
    let command = script.to_str().unwrap();
    let yes = json!({"question1": decide("once")});
    let (fixture, mut client) = opened(Era::Modern);
    let state = suspended(&mut client, &[command]);
    std::fs::write(&script, "#!/bin/sh\necho evil\n").unwrap();
    let response = retry(&mut client, "gate", &[command], &state, &yes);
    assert_eq!(response["result"]["resultType"], "input_required", "it is asked again: {response}");
    assert!(fixture.ran().is_empty());
    let state = response["result"]["requestState"].clone();
    let asked = response["result"]["inputRequests"].as_object().unwrap();
    let answers = asked.keys().map(|id| (id.clone(), decide("once"))).collect();
    let response = retry(&mut client, "gate", &[command], &state, &Value::Object(answers));
    assert_eq!(texts(&response["result"]), [format!("ran {command}")], "{response}");
}

#[test]
fn a_state_has_its_time() {
    let (fixture, client) = Fixture::serve(Config { answer_timeout_ms: 100, ..Config::default() });
    let mut client = client.open(Era::Modern);
    let state = suspended(&mut client, &[ONE]);
    // The wait is the subject here: there is nothing to observe before it has passed.
    std::thread::sleep(std::time::Duration::from_millis(200));
    let response = retry(&mut client, "gate", &[ONE], &state, &json!({"question1": decide("once")}));
    assert_eq!(response["error"]["code"], -32602, "{response}");
    assert!(fixture.ran().is_empty());
}
