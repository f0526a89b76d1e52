//! Control strings: OSC, DCS, APC, PM and SOS, kept up to a cap and ended in any case.

use super::{Parser, STRING_CAP, STRING_LIMIT, Sink, State, StringEnd, StringKind, scan};

impl Parser {
    pub(super) fn string<S: Sink>(&mut self, kind: StringKind, bytes: &[u8], mut at: usize, sink: &mut S) -> usize {
        while at < bytes.len() {
            let room = STRING_LIMIT - self.count;
            if room == 0 {
                self.abort_string(State::Ground);
                return at;
            }
            let rest = &bytes[at..(at + room).min(bytes.len())];
            let run = scan::string_run(rest);
            self.payload(&rest[..run]);
            at += run;
            if run == rest.len() {
                continue;
            }
            match bytes[at] {
                0x07 if kind == StringKind::Osc => {
                    self.end_string(kind, StringEnd::Bell, sink);
                    return at + 1;
                }
                0x18 | 0x1a => {
                    self.abort_string(State::Ground);
                    return at + 1;
                }
                0x1b => {
                    self.state = State::StringEscape(kind);
                    return at + 1;
                }
                0xc2 => {
                    self.state = State::StringC2(kind);
                    return at + 1;
                }
                // So long without an end: it was never meant to be a string, or a line in it is worth showing.
                b'\n' if self.count >= STRING_CAP => {
                    self.abort_string(State::Ground);
                    return at;
                }
                byte => {
                    self.line_inside |= byte == b'\n';
                    self.payload(&[byte]);
                    at += 1;
                }
            }
        }
        at
    }

    pub(super) fn string_escape<S: Sink>(&mut self, kind: StringKind, bytes: &[u8], at: usize, sink: &mut S) -> usize {
        if bytes[at] == b'\\' {
            self.end_string(kind, StringEnd::StringTerminator, sink);
            return at + 1;
        }
        self.abort_string(State::Escape);
        at
    }

    pub(super) fn string_c2<S: Sink>(&mut self, kind: StringKind, bytes: &[u8], at: usize, sink: &mut S) -> usize {
        if bytes[at] == 0x9c {
            self.end_string(kind, StringEnd::StringTerminator, sink);
            return at + 1;
        }
        self.payload(&[0xc2]);
        self.state = State::String(kind);
        at
    }

    fn payload(&mut self, bytes: &[u8]) {
        self.count += bytes.len();
        let room = (STRING_CAP + 1).saturating_sub(self.held.len());
        self.held.extend_from_slice(&bytes[..room.min(bytes.len())]);
    }

    fn end_string<S: Sink>(&mut self, kind: StringKind, end: StringEnd, sink: &mut S) {
        if self.held.len() <= STRING_CAP {
            sink.string(kind, &self.held, end);
        }
        self.abort_string(State::Ground);
    }

    fn abort_string(&mut self, next: State) {
        self.held.clear();
        self.state = next;
    }
}
