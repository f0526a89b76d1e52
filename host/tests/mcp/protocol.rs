//! Lifecycles, listing, calling, cancellation, progress, and lines that are no messages.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use host::mcp::{Config, WithoutElicitation};
use serde_json::{Value, json};

use crate::client::{Client, ERAS, Era, PATIENCE, takes_less, texts};
use crate::embedded::Fixture;

const LEGACY_VERSIONS: [&str; 4] = ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"];

fn opened(era: Era) -> (Fixture, Client) {
    let (fixture, client) = Fixture::serve(Config::default());
    (fixture, client.open(era))
}

/// Waits until a counter of the fixture has a value.
#[track_caller]
fn reaches(counter: &AtomicUsize, value: usize) {
    let begun = Instant::now();
    while counter.load(Ordering::SeqCst) != value {
        assert!(begun.elapsed() < PATIENCE, "it stays at {}", counter.load(Ordering::SeqCst));
        std::thread::yield_now();
    }
}

#[test]
fn every_version_lists_and_calls() {
    for era in LEGACY_VERSIONS.map(Era::Legacy).into_iter().chain([Era::Modern]) {
        let (_fixture, mut client) = opened(era);
        let list = client.request("tools/list", json!({}));
        let names: Vec<&str> =
            list["result"]["tools"].as_array().unwrap().iter().map(|tool| tool["name"].as_str().unwrap()).collect();
        assert_eq!(names, ["gate", "secret", "wait", "note", "limit"]);
        let result = client.call("secret", json!({"prompts": []}));
        assert_eq!(texts(&result), ["0 characters"], "{era:?}");
        assert_eq!(result.get("resultType").is_some(), era == Era::Modern, "{era:?}");
    }
}

#[test]
fn an_unknown_version_is_answered_with_the_newest_that_has_a_handshake() {
    for asked in ["2026-07-28", "1999-01-01"] {
        let (_fixture, mut client) = Fixture::serve(Config::default());
        let info = json!({"name": "test", "version": "1"});
        let params = json!({"protocolVersion": asked, "capabilities": {}, "clientInfo": info});
        client.send(&json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params}));
        let response = client.response(1);
        assert_eq!(response["result"]["protocolVersion"], "2025-11-25");
        assert_eq!(response["result"]["serverInfo"]["name"], "toolhost");
        let instructions = response["result"]["instructions"].as_str().unwrap();
        assert!(instructions.len() < 2_048 && instructions.contains("\n- gate: The gate"), "{instructions}");
        // The agreed version counts from now on, not the one that was asked for.
        client.send(&json!({"jsonrpc": "2.0", "id": 2, "method": "ping"}));
        assert_eq!(client.response(2)["result"], json!({}));
    }
}

#[test]
fn discovery_tells_both_eras() {
    let (_fixture, mut client) = opened(Era::Modern);
    let found = client.request("server/discover", json!({}));
    let versions: Vec<&str> =
        found["result"]["supportedVersions"].as_array().unwrap().iter().map(|v| v.as_str().unwrap()).collect();
    assert_eq!(versions, [&LEGACY_VERSIONS[..], &["2026-07-28"]].concat());
    assert!(found["result"]["capabilities"]["tools"].is_object());
    // After a look around, a client may still choose the handshake.
    let mut client = client.open(Era::Legacy("2025-06-18"));
    assert_eq!(texts(&client.call("secret", json!({}))), ["0 characters"]);
}

#[test]
fn a_tool_is_listed_with_its_hints() {
    let (_fixture, mut client) = opened(Era::Legacy("2025-11-25"));
    let list = client.request("tools/list", json!({}));
    let [gate, secret, ..] = list["result"]["tools"].as_array().unwrap().as_slice() else { panic!("{list}") };
    assert_eq!(gate["_meta"]["anthropic/alwaysLoad"], true);
    assert_eq!(gate["annotations"]["destructiveHint"], true);
    assert_eq!(gate["title"], "The gate");
    assert!(secret.get("_meta").is_none());
    assert_eq!(secret["annotations"]["readOnlyHint"], true);
    let response = client.request("tools/list", json!({"cursor": "x"}));
    assert_eq!(response["error"]["code"], -32602, "{response}");
}

#[test]
fn errors_of_routing_and_of_tools_differ() {
    for era in ERAS {
        let (_fixture, mut client) = opened(era);
        let response = client.request("tools/call", json!({"name": "nope", "arguments": {}}));
        assert_eq!(response["error"]["code"], -32602, "{response}");
        assert!(response["error"]["message"].as_str().unwrap().contains("the tools are gate"), "{response}");
        let result = client.call("secret", json!({"prompt": 1}));
        assert_eq!(result["isError"], true);
        assert_eq!(result["_meta"]["toolhost/errorKind"], "invalidArguments", "{result}");
        assert!(texts(&result)[0].contains("`prompt`"), "{result}");
        let response = client.request("nope/nope", json!({}));
        assert_eq!(response["error"]["code"], -32601, "{response}");
    }
}

#[test]
fn cancellation_reaches_the_tool_and_is_not_answered() {
    for era in ERAS {
        let (fixture, mut client) = opened(era);
        let id = client.begin_call("wait", json!({}));
        reaches(&fixture.seen.waiting, 1);
        client.cancel(id);
        reaches(&fixture.seen.cancelled, 1);
        assert_eq!(texts(&client.call("secret", json!({}))), ["0 characters"]);
        client.close();
        assert_eq!(client.rest(), Vec::<Value>::new());
    }
}

#[test]
fn the_end_of_input_ends_calls_at_once_and_still_answers() {
    let attempt = |era| {
        let (fixture, mut client) = opened(era);
        let ids = [client.begin_call("wait", json!({})), client.begin_call("wait", json!({}))];
        reaches(&fixture.seen.waiting, 2);
        let closed = Instant::now();
        client.close();
        for id in ids {
            assert_eq!(texts(&client.result(id)), ["the wait was cancelled"]);
        }
        assert!(client.next().is_none());
        drop(fixture);
        closed.elapsed()
    };
    for era in ERAS {
        takes_less(Duration::from_secs(2), || attempt(era));
    }
}

#[test]
fn progress_grows_while_a_call_runs() {
    for era in ERAS {
        let (fixture, client) = Fixture::serve(Config { progress_ms: 20, ..Config::default() });
        let mut client = client.open(era);
        let params = json!({"name": "wait", "arguments": {}, "_meta": {"progressToken": "p1"}});
        let id = client.begin("tools/call", params);
        let mut last = 0.0;
        for _ in 0..3 {
            let progress = client.server_sent("notifications/progress");
            assert_eq!(progress["params"]["progressToken"], "p1");
            let value = progress["params"]["progress"].as_f64().unwrap();
            assert!(value > last, "{value} after {last}");
            assert!(progress["params"]["message"].as_str().unwrap().starts_with("The wait: running for"), "{progress}");
            last = value;
        }
        client.cancel(id);
        reaches(&fixture.seen.cancelled, 1);
        // No token, no progress.
        let id = client.begin_call("wait", json!({}));
        client.call("secret", json!({}));
        client.cancel(id);
        reaches(&fixture.seen.cancelled, 2);
    }
}

#[test]
fn the_wait_limit_follows_the_name_of_the_client() {
    for era in ERAS {
        for (name, configured, expected) in [
            ("claude-code", None, "Some(110s)"),
            ("codex-mcp-client", None, "Some(240s)"),
            ("test", None, "Some(50s)"),
            ("claude-code", Some(1_500), "Some(1.5s)"),
        ] {
            let (_fixture, client) = Fixture::serve(Config { wait_limit_ms: configured, ..Config::default() });
            let mut client = client.named(name).open(era);
            assert_eq!(texts(&client.call("limit", json!({}))), [expected], "{era:?} {name}");
        }
    }
}

#[test]
fn notices_come_once_as_their_own_block() {
    for era in ERAS {
        let (_fixture, mut client) = opened(era);
        let result = client.call("note", json!({}));
        assert_eq!(texts(&result), ["noted", "Notices since the last call:\n\nt1 exited with code 0"]);
        assert_eq!(texts(&client.call("secret", json!({}))), ["0 characters"]);
    }
}

#[test]
fn lines_that_are_no_messages_do_no_harm() {
    for era in ERAS {
        let (_fixture, mut client) = Fixture::serve(Config::default());
        // Before the lifecycle is open.
        client.line("");
        client.line("{ not json");
        client.send(&json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 7}}));
        client.send(&json!({"jsonrpc": "2.0", "id": 7, "result": {}}));
        let mut client = client.open(era);
        client.line("{ not json");
        client.line("\u{feff}");
        client.line(&format!("{}{}", "[".repeat(5_000), "]".repeat(5_000)));
        client.send(&json!({"jsonrpc": "2.0", "id": 7, "result": {}}));
        client.send(&json!({"jsonrpc": "2.0", "method": "notifications/unheard-of"}));
        assert_eq!(texts(&client.call("secret", json!({}))), ["0 characters"]);
        // A batch, and JSON that is no message, get the answer that names no id.
        for line in [json!([{"jsonrpc": "2.0", "id": 8, "method": "ping"}]), json!(17)] {
            client.send(&line);
            let answer = client.next().unwrap();
            assert_eq!((&answer["error"]["code"], answer.get("id")), (&json!(-32600), None), "{line}: {answer}");
        }
        assert_eq!(texts(&client.call("secret", json!({}))), ["0 characters"]);
    }
}

#[test]
fn a_request_over_the_limit_is_refused_and_the_connection_lives() {
    for era in ERAS {
        let (_fixture, mut client) = opened(era);
        let id = client.begin_call("secret", json!({"prompts": ["x".repeat(17 << 20)]}));
        let response = client.response(id);
        assert_eq!(response["error"]["code"], -32600, "{response}");
        assert!(response["error"]["message"].as_str().unwrap().contains("16 MiB"), "{response}");
        assert_eq!(texts(&client.call("secret", json!({}))), ["0 characters"]);
    }
}

#[test]
fn a_line_that_cannot_be_read_is_answered_by_its_id() {
    for era in ERAS {
        let (_fixture, client) = Fixture::serve(Config::default());
        let mut client = client.open(era);
        let nested = format!(
            r#"{{"jsonrpc":"2.0","id":13,"method":"x","params":{{"a":{}{}}}}}"#,
            "[".repeat(200),
            "]".repeat(200)
        );
        for (line, id, code, problem) in [
            (
                &br#"{"jsonrpc":"2.0","id":8,"method":"tools/list"} and more"#[..],
                json!(8),
                -32700,
                "trailing characters",
            ),
            (br#"{"jsonrpc":"2.0","id":"n\u00e9","method":"tools/list","params":{"#, json!("né"), -32700, "EOF"),
            (
                b"{\"jsonrpc\":\"2.0\",\"id\":9,\"method\":\"x\",\"params\":{\"a\":\"\xff\"}}",
                json!(9),
                -32700,
                "not UTF-8 after byte 52",
            ),
            (nested.as_bytes(), json!(13), -32700, "recursion limit"),
            (br#"{"id":10,"method":"tools/list"}"#, json!(10), -32600, "no message"),
            (br#"{"jsonrpc":"2.0","id":11,"method":17}"#, json!(11), -32600, "no message"),
        ] {
            client.bytes(line);
            let answer = client.next().unwrap();
            let line = String::from_utf8_lossy(line);
            assert_eq!((&answer["id"], &answer["error"]["code"]), (&id, &json!(code)), "{era:?} {line}: {answer}");
            assert!(answer["error"]["message"].as_str().unwrap().contains(problem), "{era:?} {line}: {answer}");
        }
        // Nobody waits for an answer to these: a response, a notification, and what names no id.
        client.bytes(br#"{"jsonrpc":"2.0","id":12,"result":{} and more"#);
        client.bytes(br#"{"jsonrpc":"2.0","method":"notifications/progress","params":5}"#);
        client.bytes(b"\xff");
        let id = client.begin_call("secret", json!({}));
        assert_eq!(client.next().unwrap()["id"], id, "{era:?}");
    }
}

#[test]
fn a_lone_surrogate_is_replaced_and_the_call_is_served() {
    for era in ERAS {
        let (fixture, client) =
            Fixture::serve(Config { without_elicitation: WithoutElicitation::Allow, ..Config::default() });
        let mut client = client.with_capabilities(json!({})).open(era);
        let call = client.prepared("tools/call", json!({"name": "gate", "arguments": {"commands": ["echo CUT"]}}));
        client.line(&call.to_string().replace("CUT", r"\ud83d"));
        assert_eq!(texts(&client.result(call["id"].as_u64().unwrap())), ["ran echo \u{fffd}"], "{era:?}");
        assert_eq!(fixture.ran(), ["echo \u{fffd}"]);
    }
}
