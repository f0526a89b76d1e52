//! What can be known of a message that cannot be read as a whole: its id, and which kind it is.

use serde_json::Value;

/// The longest id that is kept, in bytes of JSON.
const MAX_ID: usize = 256;
/// The longest key that matters.
const MAX_KEY: usize = "method".len();

/// What can be known of a message without reading all of it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Envelope {
    /// The member `id`, a number or a text.
    pub(super) id: Option<Value>,
    /// It has a member `id`, of whatever value.
    has_id: bool,
    /// It has the member `method`, as requests and notifications do.
    method: bool,
    /// It has the member `result` or `error`, as responses do.
    response: bool,
}

impl Envelope {
    pub(super) fn of(line: &[u8]) -> Self {
        let mut finder = Finder::default();
        finder.feed(line);
        finder.found()
    }

    /// Returns the id that an answer names. A response gets none: its id is one of this side, and the other side could
    /// take the answer for one of its own requests.
    pub(super) fn answered(&self) -> Option<&Value> {
        self.id.as_ref().filter(|_| !self.response)
    }

    /// Tells whether it is a notification, which is never answered.
    pub(super) fn is_notification(&self) -> bool {
        self.method && !self.has_id
    }
}

/// Finds the members of the first JSON object of a line that is seen byte by byte and never whole.
#[derive(Debug, Default)]
pub(super) struct Finder {
    depth: usize,
    in_string: bool,
    escaped: bool,
    /// The first object is over; what follows does not belong to it.
    over: bool,
    /// The last string at depth 1, as far as it can be a key that matters.
    key: Vec<u8>,
    /// The raw value of `id`.
    value: Vec<u8>,
    capturing: bool,
    envelope: Envelope,
}

impl Finder {
    pub(super) fn feed(&mut self, mut bytes: &[u8]) {
        while let Some((first, rest)) = bytes.split_first() {
            self.step(*first);
            bytes = rest;
            // Long strings inside the parameters are most of a long line.
            if self.in_string && !self.escaped && self.depth > 1 && !self.capturing {
                let end = bytes.iter().position(|byte| matches!(byte, b'"' | b'\\'));
                bytes = &bytes[end.unwrap_or(bytes.len())..];
            }
        }
    }

    fn step(&mut self, byte: u8) {
        if self.over {
            return;
        }
        if self.in_string {
            self.capture(byte);
            match byte {
                _ if self.escaped => self.escaped = false,
                b'\\' => self.escaped = true,
                b'"' => self.in_string = false,
                _ if self.depth == 1 && self.key.len() <= MAX_KEY => self.key.push(byte),
                _ => {}
            }
            return;
        }
        match byte {
            b'}' | b']' => {
                self.over = self.depth == 1;
                self.depth = self.depth.saturating_sub(1);
                self.capturing &= self.depth > 0;
            }
            b',' if self.depth == 1 => self.capturing = false,
            b':' if self.depth == 1 => {
                self.key();
                return;
            }
            b'{' | b'[' => self.depth += 1,
            b'"' => {
                self.in_string = true;
                if self.depth == 1 {
                    self.key.clear();
                }
            }
            _ => {}
        }
        self.capture(byte);
    }

    fn key(&mut self) {
        self.capturing = self.key == b"id";
        match self.key.as_slice() {
            b"id" => {
                self.value.clear();
                self.envelope.has_id = true;
            }
            b"method" => self.envelope.method = true,
            b"result" | b"error" => self.envelope.response = true,
            _ => {}
        }
    }

    fn capture(&mut self, byte: u8) {
        if self.capturing && self.value.len() <= MAX_ID {
            self.value.push(byte);
        }
    }

    pub(super) fn found(self) -> Envelope {
        let id: Option<Value> = serde_json::from_slice(&self.value).ok();
        let id = id.filter(|id| id.is_i64() || id.is_u64() || id.is_string());
        Envelope { id, ..self.envelope }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[track_caller]
    fn check_id(line: &str, expected: Option<Value>) {
        assert_eq!(Envelope::of(line.as_bytes()).id, expected, "{line}");
    }

    #[test]
    fn finds_the_id_wherever_it_is() {
        check_id(r#"{"jsonrpc":"2.0","id":7,"method":"x"}"#, Some(json!(7)));
        check_id(r#"{"method":"x","params":{"id":1,"a":["id",{"id":2}]},"id":"a\"b"}"#, Some(json!("a\"b")));
        check_id(r#"{ "id" : 12 , "method" : "id" }"#, Some(json!(12)));
        check_id(r#"{"note":"\"id\":3","idx":4,"id":5}"#, Some(json!(5)));
        check_id(r#"{"method":"x","params":{"id":1}}"#, None);
        check_id(r#"{"id":null,"method":"x"}"#, None);
        check_id(r#"{"id":{"id":1},"method":"x"}"#, None);
        check_id(r#"{"id":"unterminated"#, None);
        check_id(r#"[{"id":1}]"#, None);
        check_id("}}}:::,,,\"id\"", None);
    }

    #[test]
    fn finds_it_in_what_is_not_json() {
        check_id(r#"{"id":7,"method":"x","params":{"#, Some(json!(7)));
        check_id(r#"{"id":7,"method":"x"} and more"#, Some(json!(7)));
        check_id(r#"{"id":7,"method":"x"}{"id":8,"method":"x"}"#, Some(json!(7)));
        check_id(r#"{"id":7,"method":"x","params":{"a":"\ud800"}}"#, Some(json!(7)));
        check_id(r#"  "id": 7,"#, None);
    }

    #[test]
    fn tells_the_kinds_apart() {
        let envelope = |line: &str| Envelope::of(line.as_bytes());
        assert_eq!(envelope(r#"{"id":7,"method":"x"}"#).answered(), Some(&json!(7)));
        assert_eq!(envelope(r#"{"id":7,"result":{}}"#).answered(), None);
        assert_eq!(envelope(r#"{"id":7,"error":{}}"#).answered(), None);
        assert!(envelope(r#"{"method":"x","params":{"result":1}}"#).is_notification());
        assert!(!envelope(r#"{"methods":"x"}"#).is_notification());
        assert!(!envelope(r#"{"id":{},"method":"x"}"#).is_notification());
    }
}
