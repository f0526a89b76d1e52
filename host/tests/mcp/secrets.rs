//! Secrets: asked by elicitation, given to the tool and to nobody else.

use host::mcp::Config;
use serde_json::{Value, json};

use crate::client::{ERAS, Era, call_with, texts};
use crate::embedded::Fixture;

fn give(secret: &str) -> Value {
    json!({"action": "accept", "content": {"secret": secret}})
}

#[test]
fn the_tool_gets_it_and_the_result_does_not_show_it() {
    for era in ERAS {
        let (_fixture, client) = Fixture::serve(Config::default());
        let mut client = client.open(era);
        let mut asked = Vec::new();
        let result = call_with(&mut client, "secret", json!({"prompts": ["Passphrase:", "Again:"]}), |params| {
            asked.push(params["message"].as_str().unwrap().to_owned());
            assert_eq!(params["requestedSchema"]["required"], json!(["secret"]));
            give("hunter2")
        });
        assert_eq!(texts(&result), ["14 characters"], "{era:?}");
        assert!(!result.to_string().contains("hunter2"));
        assert_eq!(asked.len(), 2);
        assert!(asked[0].starts_with("ssh in session s1 asks for a secret:\n\nPassphrase:"), "{}", asked[0]);
    }
}

#[test]
fn the_same_prompt_twice_is_asked_twice() {
    for era in ERAS {
        let (_fixture, client) = Fixture::serve(Config::default());
        let mut client = client.open(era);
        let mut answers = vec!["long", "x"];
        let result = call_with(&mut client, "secret", json!({"prompts": ["Password:", "Password:"]}), |_| {
            give(answers.pop().unwrap())
        });
        assert_eq!(texts(&result), ["5 characters"], "{era:?}");
    }
}

#[test]
fn without_a_clear_answer_it_is_refused() {
    for era in ERAS {
        for answer in [json!({"action": "decline"}), json!({"action": "cancel"}), json!({"action": "accept"})] {
            let (_fixture, client) = Fixture::serve(Config::default());
            let mut client = client.open(era);
            let result = call_with(&mut client, "secret", json!({"prompts": ["Passphrase:"]}), |_| answer.clone());
            assert_eq!(texts(&result), ["Refused"], "{era:?} {answer}");
        }
    }
}

#[test]
fn it_is_unavailable_where_nobody_can_be_asked() {
    for era in ERAS {
        let switched_off = Config { secrets: false, ..Config::default() };
        for (config, capabilities) in [
            (Config::default(), json!({})),
            (Config::default(), json!({"elicitation": {"url": {}}})),
            (switched_off, json!({"elicitation": {}})),
        ] {
            let (_fixture, client) = Fixture::serve(config);
            let mut client = client.with_capabilities(capabilities).open(era);
            assert_eq!(texts(&client.call("secret", json!({"prompts": ["Passphrase:"]}))), ["Unavailable"]);
        }
    }
}

#[test]
fn nobody_answers_in_time() {
    let (_fixture, client) = Fixture::serve(Config { answer_timeout_ms: 100, ..Config::default() });
    let mut client = client.open(Era::Legacy("2025-11-25"));
    let id = client.begin_call("secret", json!({"prompts": ["Passphrase:"]}));
    let request = client.server_sent("elicitation/create");
    assert_eq!(texts(&client.result(id)), ["Refused"]);
    // The client learns that the question is void.
    let void = client.server_sent("notifications/cancelled");
    assert_eq!(void["params"]["requestId"], request["id"]);
}

#[test]
fn a_cancelled_call_withdraws_its_question() {
    let (_fixture, client) = Fixture::serve(Config::default());
    let mut client = client.open(Era::Legacy("2025-11-25"));
    let id = client.begin_call("secret", json!({"prompts": ["Passphrase:"]}));
    let request = client.server_sent("elicitation/create");
    client.cancel(id);
    let void = client.server_sent("notifications/cancelled");
    assert_eq!(void["params"]["requestId"], request["id"]);
    assert_eq!(texts(&client.call("secret", json!({}))), ["0 characters"]);
}
