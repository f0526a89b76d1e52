//! A client of raw JSON lines, blocking and with a deadline on every read.

use std::collections::VecDeque;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::Shutdown;
use std::os::unix::net::UnixStream;
use std::process::ChildStdin;
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::Duration;

use serde_json::{Value, json};

/// How long any message may take; a test that waits longer has failed. Above every wait that a test asks a tool for.
pub(crate) const PATIENCE: Duration = Duration::from_secs(60);

/// Asserts that something takes less than a time. A machine under load is late now and then, but not each time.
#[track_caller]
pub(crate) fn takes_less(limit: Duration, mut attempt: impl FnMut() -> Duration) {
    let mut times = Vec::new();
    while times.len() < 5 {
        times.push(attempt());
        if times.last().is_some_and(|time| *time < limit) {
            return;
        }
    }
    panic!("it takes {times:?}");
}

/// Which lifecycle a connection has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Era {
    /// `initialize`, with this version.
    Legacy(&'static str),
    /// 2026-07-28: every request says who sends it.
    Modern,
}

pub(crate) const ERAS: [Era; 2] = [Era::Legacy("2025-11-25"), Era::Modern];

/// What a client writes to.
pub(crate) trait Output: Write + Send {
    /// Tells the server that nothing follows, where dropping does not.
    fn close(&mut self) {}
}

impl Output for UnixStream {
    fn close(&mut self) {
        // The server may have closed it before.
        let _ = self.shutdown(Shutdown::Write);
    }
}

impl Output for ChildStdin {}

pub(crate) struct Client {
    output: Option<Box<dyn Output>>,
    lines: Receiver<Value>,
    early: VecDeque<Value>,
    era: Era,
    name: &'static str,
    capabilities: Value,
    last_id: u64,
}

impl Client {
    pub(crate) fn new(input: impl Read + Send + 'static, output: impl Output + 'static) -> Self {
        let (sender, lines) = channel();
        std::thread::spawn(move || {
            for line in BufReader::new(input).lines() {
                let Ok(line) = line else { return };
                let message = serde_json::from_str(&line).unwrap_or_else(|error| panic!("{error}: {line}"));
                if sender.send(message).is_err() {
                    return;
                }
            }
        });
        Self {
            output: Some(Box::new(output)),
            lines,
            early: VecDeque::new(),
            era: Era::Modern,
            name: "test",
            capabilities: json!({"elicitation": {}}),
            last_id: 100,
        }
    }

    pub(crate) fn named(mut self, name: &'static str) -> Self {
        self.name = name;
        self
    }

    pub(crate) fn with_capabilities(mut self, capabilities: Value) -> Self {
        self.capabilities = capabilities;
        self
    }

    /// Begins the lifecycle.
    pub(crate) fn open(mut self, era: Era) -> Self {
        self.era = era;
        if let Era::Legacy(version) = era {
            let info = json!({"name": self.name, "version": "1"});
            let params = json!({
                "protocolVersion": version, "capabilities": self.capabilities, "clientInfo": info
            });
            let result = self.request("initialize", params);
            assert_eq!(result["result"]["protocolVersion"], version, "{result}");
            self.send(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}));
        }
        self
    }

    pub(crate) fn line(&mut self, line: &str) {
        self.bytes(line.as_bytes());
    }

    /// Sends a line of any bytes.
    pub(crate) fn bytes(&mut self, line: &[u8]) {
        let output = self.output.as_mut().expect("the input is open");
        output.write_all(&[line, b"\n"].concat()).unwrap();
        output.flush().unwrap();
    }

    pub(crate) fn send(&mut self, message: &Value) {
        self.line(&message.to_string());
    }

    /// Closes the server's input.
    pub(crate) fn close(&mut self) {
        if let Some(mut output) = self.output.take() {
            output.close();
        }
    }

    /// Sends a request and returns its id.
    pub(crate) fn begin(&mut self, method: &str, params: Value) -> u64 {
        let request = self.prepared(method, params);
        self.send(&request);
        self.last_id
    }

    /// Returns a request with an id of its own, which is not sent.
    pub(crate) fn prepared(&mut self, method: &str, mut params: Value) -> Value {
        self.last_id += 1;
        if self.era == Era::Modern {
            params["_meta"]["io.modelcontextprotocol/protocolVersion"] = json!("2026-07-28");
            params["_meta"]["io.modelcontextprotocol/clientInfo"] = json!({"name": self.name, "version": "1"});
            params["_meta"]["io.modelcontextprotocol/clientCapabilities"] = self.capabilities.clone();
        }
        json!({"jsonrpc": "2.0", "id": self.last_id, "method": method, "params": params})
    }

    /// Sends a request and returns the whole response.
    pub(crate) fn request(&mut self, method: &str, params: Value) -> Value {
        let id = self.begin(method, params);
        self.response(id)
    }

    pub(crate) fn begin_call(&mut self, tool: &str, arguments: Value) -> u64 {
        self.begin("tools/call", json!({"name": tool, "arguments": arguments}))
    }

    /// Calls a tool and returns its result.
    pub(crate) fn call(&mut self, tool: &str, arguments: Value) -> Value {
        let id = self.begin_call(tool, arguments);
        self.result(id)
    }

    pub(crate) fn cancel(&mut self, id: u64) {
        let params = json!({"requestId": id, "reason": "test"});
        self.send(&json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": params}));
    }

    /// Returns the next message, of whatever kind; none at the end of the output.
    pub(crate) fn next(&mut self) -> Option<Value> {
        self.early.pop_front().or_else(|| self.read())
    }

    /// Returns the response to a request; what comes before it is kept.
    pub(crate) fn response(&mut self, id: u64) -> Value {
        self.take(&format!("the response {id}"), |message| message["id"] == id && message.get("method").is_none())
    }

    pub(crate) fn result(&mut self, id: u64) -> Value {
        let response = self.response(id);
        assert!(response.get("result").is_some(), "{response}");
        response["result"].clone()
    }

    /// Returns the next request or notification of the server with this method.
    pub(crate) fn server_sent(&mut self, method: &str) -> Value {
        self.take(method, |message| message["method"] == method)
    }

    /// Answers an `elicitation/create` of the server.
    pub(crate) fn answer(&mut self, request: &Value, result: &Value) {
        self.send(&json!({"jsonrpc": "2.0", "id": request["id"], "result": result}));
    }

    /// Returns every message that came and was not taken, up to the end of the output.
    pub(crate) fn rest(&mut self) -> Vec<Value> {
        let mut rest: Vec<Value> = self.early.drain(..).collect();
        while let Some(message) = self.read() {
            rest.push(message);
        }
        rest
    }

    fn take(&mut self, what: &str, wanted: impl Fn(&Value) -> bool) -> Value {
        if let Some(index) = self.early.iter().position(&wanted) {
            return self.early.remove(index).unwrap();
        }
        loop {
            let Some(message) = self.read() else {
                panic!("the output ended before {what}; came: {:?}", self.early);
            };
            if wanted(&message) {
                return message;
            }
            self.early.push_back(message);
        }
    }

    fn read(&self) -> Option<Value> {
        match self.lines.recv_timeout(PATIENCE) {
            Ok(message) => Some(message),
            Err(RecvTimeoutError::Disconnected) => None,
            Err(RecvTimeoutError::Timeout) => panic!("no message came; kept: {:?}", self.early),
        }
    }
}

/// A call through all rounds of questions: each is answered by `answer`, whatever the era.
pub(crate) fn call_with(
    client: &mut Client,
    tool: &str,
    arguments: Value,
    mut answer: impl FnMut(&Value) -> Value,
) -> Value {
    if client.era != Era::Modern {
        let id = client.begin_call(tool, arguments);
        loop {
            let message = client.next().expect("the connection is open");
            if message["method"] == "elicitation/create" {
                let result = answer(&message["params"]);
                client.answer(&message, &result);
            } else if message["id"] == id {
                return message["result"].clone();
            }
        }
    }
    let mut result = client.call(tool, arguments.clone());
    while result["resultType"] == "input_required" {
        let mut responses = json!({});
        for (key, request) in result["inputRequests"].as_object().unwrap() {
            assert_eq!(request["method"], "elicitation/create");
            responses[key] = answer(&request["params"]);
        }
        let params = json!({
            "name": tool, "arguments": arguments,
            "requestState": result["requestState"], "inputResponses": responses,
        });
        let id = client.begin("tools/call", params);
        result = client.result(id);
    }
    result
}

/// The answers of a person to the approval form.
pub(crate) fn decide(decision: &str) -> Value {
    json!({"action": "accept", "content": {"decision": decision}})
}

/// Returns the texts of a result's content.
pub(crate) fn texts(result: &Value) -> Vec<&str> {
    result["content"].as_array().unwrap().iter().filter_map(|block| block["text"].as_str()).collect()
}
