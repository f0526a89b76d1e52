//! Private keys in text form (PEM): whole blocks, also those whose beginning or end is elsewhere.

use memchr::memmem;

use super::{CONTEXT, Found, Label};

const BEGIN: &[u8] = b"-----BEGIN ";
const END: &[u8] = b"-----END ";
const DASHES: &[u8] = b"-----";
const PRIVATE: &[u8] = b"PRIVATE KEY";
/// Bytes of a label between its dashes.
const MAX_LABEL: usize = 100;
/// Bytes of a whole block.
const MAX_BLOCK: usize = 64 * 1024;
/// Characters of base64 that a block has in one piece at least.
const MIN_BODY: usize = 20;

/// Finds the private keys in a text.
pub(super) fn find(text: &str, found: &mut Vec<Found>) {
    let text = text.as_bytes();
    let mut at = 0;
    for dashes in memmem::find_iter(text, DASHES) {
        if dashes < at {
            continue;
        }
        if let Some(label) = label(text, dashes, BEGIN) {
            let end = end_of_block(text, label);
            if has_body(&text[label..end]) {
                found.push(Found { start: dashes, end, label: Label::Rule("private-key") });
                at = end;
            }
        } else if let Some(end) = label(text, dashes, END) {
            let start = body_before(text, dashes, at);
            if has_body(&text[start..dashes]) {
                found.push(Found { start, end, label: Label::Rule("private-key") });
            }
            at = end;
        }
    }
}

/// Returns how many bytes at the end of a text belong to a block that has not ended.
pub(super) fn unfinished(text: &str) -> usize {
    let bytes = text.as_bytes();
    let from = bytes.len().saturating_sub(CONTEXT);
    let Some(begin) = memmem::rfind(&bytes[from..], BEGIN).map(|at| from + at) else { return 0 };
    let open = match label(bytes, begin, BEGIN) {
        Some(label) => body_end(bytes, label) == bytes.len(),
        None => memmem::find(&bytes[begin + BEGIN.len()..], DASHES).is_none() && bytes.len() - begin < MAX_LABEL,
    };
    if open { bytes.len() - begin } else { 0 }
}

/// Returns where the line behind `-----BEGIN ... PRIVATE KEY-----` starts, if that stands at `at`.
fn label(text: &[u8], at: usize, word: &[u8]) -> Option<usize> {
    let rest = text[at..].strip_prefix(word)?;
    let rest = &rest[..rest.len().min(MAX_LABEL)];
    let length = memmem::find(rest, DASHES)?;
    let plain =
        rest[..length].iter().all(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit() || b" -_".contains(byte));
    (plain && memmem::find(&rest[..length], PRIVATE).is_some()).then_some(at + word.len() + length + DASHES.len())
}

/// Tells whether there is a key, and not only talk about one.
fn has_body(text: &[u8]) -> bool {
    text.split(|byte| !is_base64(*byte)).any(|run| run.len() >= MIN_BODY)
}

fn end_of_block(text: &[u8], body: usize) -> usize {
    let limit = text.len().min(body + MAX_BLOCK);
    if let Some(dashes) = memmem::find(&text[body..limit], END).map(|at| body + at)
        && let Some(end) = label(text, dashes, END)
        && memmem::find(&text[body..dashes], BEGIN).is_none()
    {
        return end;
    }
    body_end(text, body)
}

/// Returns where what looks like the inside of a block ends: base64, line ends (also escaped), headers of old keys.
fn body_end(text: &[u8], body: usize) -> usize {
    let limit = text.len().min(body + MAX_BLOCK);
    let mut at = body;
    while at < limit {
        let line_end = memchr::memchr(b'\n', &text[at..limit]).map_or(limit, |end| at + end);
        if !is_inside(&text[at..line_end]) {
            // The first line may be cut by what follows on it.
            let inside = text[at..line_end].iter().take_while(|byte| is_base64(**byte) || **byte == b'\\').count();
            return if at == body && inside >= MIN_BODY { at + inside } else { at.max(body) };
        }
        at = line_end + 1;
    }
    limit
}

/// Returns where what looks like the inside of a block starts that ends at `end`.
fn body_before(text: &[u8], end: usize, floor: usize) -> usize {
    let floor = floor.max(end.saturating_sub(MAX_BLOCK));
    let line_start = |end: usize| memchr::memrchr(b'\n', &text[floor..end]).map_or(floor, |at| floor + at + 1);
    // What stands in front of `-----END` on its own line belongs to the body when it is base64 (or escaped line ends).
    let mut start = line_start(end);
    if !is_inside(&text[start..end]) {
        let tail = text[start..end].iter().rev().take_while(|byte| is_base64(**byte) || **byte == b'\\').count();
        return end - tail;
    }
    while start > floor {
        let line = line_start(start - 1);
        let inside = &text[line..start - 1];
        if !is_inside(inside) || (inside.len() < 16 && line > floor) {
            break;
        }
        start = line;
    }
    start
}

fn is_inside(line: &[u8]) -> bool {
    let line = line.trim_ascii();
    let header = [&b"Proc-Type:"[..], b"DEK-Info:", b"Comment:", b"Version:"].iter().any(|name| line.starts_with(name));
    header || line.iter().all(|byte| is_base64(*byte) || *byte == b'\\')
}

fn is_base64(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"+/=".contains(&byte)
}
