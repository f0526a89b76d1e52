//! Reads awk programs: which of them only compute and print.
//!
//! Where it is not certain whether a slash begins a pattern, the text behind it is looked at as code.

use super::Nature;

/// What came before, as far as it decides what a slash is.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Before {
    /// Something that an operator may follow.
    Value,
    /// `++` or `--`, which may stand before or behind a value.
    Step,
    /// A comma or operator, behind which a line goes on.
    Open,
    /// The end of a statement.
    Start,
}

/// What a program does besides printing.
pub(super) fn problem(text: &str) -> Option<(Nature, String)> {
    let bytes = text.as_bytes();
    let mut at = 0;
    let mut before = Before::Start;
    // How many brackets are open, and were when a `print` began.
    let mut depth = 0usize;
    let mut print = None;
    while at < bytes.len() {
        let byte = bytes[at];
        let next = bytes.get(at + 1).copied().unwrap_or(0);
        at += 1;
        match byte {
            b' ' | b'\t' | b'\r' => {}
            b'\\' if next == b'\n' => at += 1,
            b'#' => at = bytes[at..].iter().position(|b| *b == b'\n').map_or(bytes.len(), |length| at + length),
            b'\n' => {
                if before != Before::Open && depth == 0 {
                    print = None;
                }
                if before != Before::Open {
                    before = Before::Start;
                }
            }
            b';' | b'}' | b'{' => {
                print = None;
                before = Before::Start;
            }
            b'"' => {
                at = string(bytes, at).ok_or(()).map_or(usize::MAX, |end| end);
                if at == usize::MAX {
                    return unknown();
                }
                before = Before::Value;
            }
            b'/' if matches!(before, Before::Open | Before::Start) => {
                let Some(end) = pattern(bytes, at) else { return unknown() };
                at = end;
                before = Before::Value;
            }
            b'/' if before == Before::Step => return unknown(),
            b'|' if next == b'|' => {
                at += 1;
                before = Before::Open;
            }
            b'|' => return Some((Nature::Changes, "a pipe in its program runs a command".to_owned())),
            b'>' if print.is_some_and(|open| depth <= open) => {
                return Some((Nature::Changes, "a redirection in its program writes a file".to_owned()));
            }
            b'@' => return Some((Nature::Unknown, "`@` in its program loads or calls something else".to_owned())),
            b'(' | b'[' => {
                depth += 1;
                before = Before::Open;
            }
            b')' | b']' => {
                depth = depth.saturating_sub(1);
                before = Before::Value;
            }
            b'+' | b'-' if next == byte => {
                at += 1;
                before = Before::Step;
            }
            b'0'..=b'9' => before = Before::Value,
            _ if byte.is_ascii_alphabetic() || byte == b'_' => {
                let start = at - 1;
                while bytes.get(at).is_some_and(|b| b.is_ascii_alphanumeric() || *b == b'_') {
                    at += 1;
                }
                let name = &text[start..at];
                before = Before::Value;
                match name {
                    "system" => return Some((Nature::Changes, "`system` in its program runs a command".to_owned())),
                    "getline" => {
                        return Some((Nature::Unknown, "`getline` in its program reads elsewhere".to_owned()));
                    }
                    "ARGV" | "ARGC" | "ENVIRON" | "PROCINFO" | "SYMTAB" | "FUNCTAB" => {
                        return Some((Nature::Unknown, format!("its program uses `{name}`")));
                    }
                    "print" | "printf" => {
                        print = Some(depth);
                        before = Before::Open;
                    }
                    "return" | "in" | "else" | "do" | "case" => before = Before::Open,
                    _ => {}
                }
            }
            _ if byte.is_ascii() => before = Before::Open,
            _ => return unknown(),
        }
    }
    None
}

fn unknown() -> Option<(Nature, String)> {
    Some((Nature::Unknown, "its program is not understood".to_owned()))
}

/// The place behind a string whose quote stands before `at`.
fn string(bytes: &[u8], mut at: usize) -> Option<usize> {
    loop {
        match bytes.get(at)? {
            b'"' => return Some(at + 1),
            b'\\' => at += 2,
            b'\n' => return None,
            _ => at += 1,
        }
    }
}

/// The place behind a pattern. Awks disagree about a slash in brackets.
fn pattern(bytes: &[u8], mut at: usize) -> Option<usize> {
    let mut bracket: Option<usize> = None;
    loop {
        match bytes.get(at)? {
            b'/' => return bracket.is_none().then_some(at + 1),
            b'\\' if bracket.is_some() && matches!(bytes.get(at + 1), Some(b']' | b'\\')) => return None,
            b'\\' => at += 1,
            b'\n' => return None,
            // A class in brackets has brackets of its own.
            b'[' if bracket.is_some() && matches!(bytes.get(at + 1), Some(b':' | b'.' | b'=')) => {
                let length = bytes[at + 2..].iter().take_while(|b| b.is_ascii_alphanumeric()).count();
                if bytes.get(at + 2 + length) != bytes.get(at + 1) || bytes.get(at + 3 + length) != Some(&b']') {
                    return None;
                }
                at += 3 + length;
            }
            b'[' if bracket.is_none() => bracket = Some(at),
            b']' => {
                if let Some(start) = bracket {
                    let first = at == start + 1 || (at == start + 2 && bytes[start + 1] == b'^');
                    if !first {
                        bracket = None;
                    }
                }
            }
            _ => {}
        }
        at += 1;
    }
}
