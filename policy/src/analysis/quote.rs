//! Escapes of `$'...'`, as bash 5.2 decodes them (bash manual, "ANSI-C Quoting").

/// Decodes the inside of `$'...'`; false when shells disagree about an escape in it.
pub(super) fn ansi_c(source: &str) -> (String, bool) {
    let mut bytes = Vec::with_capacity(source.len());
    let mut exact = true;
    let mut rest = source.chars();
    while let Some(character) = rest.next() {
        if character != '\\' {
            push(&mut bytes, character);
            continue;
        }
        let Some(escape) = rest.next() else {
            bytes.push(b'\\');
            break;
        };
        let simple = match escape {
            'a' => Some(7),
            'b' => Some(8),
            'e' | 'E' => Some(27),
            'f' => Some(12),
            'n' => Some(b'\n'),
            'r' => Some(b'\r'),
            't' => Some(b'\t'),
            'v' => Some(11),
            '\\' | '\'' | '"' | '?' => Some(escape as u8),
            _ => None,
        };
        if let Some(byte) = simple {
            bytes.push(byte);
            continue;
        }
        match escape {
            '0'..='7' => {
                let mut value = escape as u32 - '0' as u32;
                for _ in 0..2 {
                    let Some(digit) = rest.clone().next().and_then(|c| c.to_digit(8)) else { break };
                    value = value * 8 + digit;
                    rest.next();
                }
                bytes.push((value & 0xff) as u8);
            }
            'x' => match hex(&mut rest, 2) {
                Some(value) => bytes.push((value & 0xff) as u8),
                None => {
                    bytes.extend_from_slice(b"\\x");
                    exact = false;
                }
            },
            'u' | 'U' => {
                let digits = if escape == 'u' { 4 } else { 8 };
                match hex(&mut rest, digits).and_then(char::from_u32) {
                    Some(decoded) => push(&mut bytes, decoded),
                    None => exact = false,
                }
            }
            'c' => match rest.next() {
                Some(control) if control.is_ascii() => bytes.push(control as u8 & 0x1f),
                _ => exact = false,
            },
            other => {
                bytes.push(b'\\');
                push(&mut bytes, other);
            }
        }
    }
    if let Some(end) = bytes.iter().position(|b| *b == 0) {
        // Bash ends the text at NUL.
        bytes.truncate(end);
        exact = false;
    }
    match String::from_utf8(bytes) {
        Ok(text) => (text, exact),
        Err(error) => (String::from_utf8_lossy(error.as_bytes()).into_owned(), false),
    }
}

fn hex(rest: &mut std::str::Chars<'_>, most: usize) -> Option<u32> {
    let mut value = None;
    for _ in 0..most {
        let Some(digit) = rest.clone().next().and_then(|c| c.to_digit(16)) else { break };
        value = Some(value.unwrap_or(0) * 16 + digit);
        rest.next();
    }
    value
}

fn push(bytes: &mut Vec<u8>, character: char) {
    bytes.extend_from_slice(character.encode_utf8(&mut [0; 4]).as_bytes());
}

#[cfg(test)]
mod tests {
    use super::ansi_c;

    #[track_caller]
    fn check(source: &str, expected: &str, exact: bool) {
        assert_eq!(ansi_c(source), (expected.to_owned(), exact));
    }

    #[test]
    fn decodes_what_bash_decodes() {
        check(r"\x72\155", "rm", true);
        check(r"it\'s\n", "it's\n", true);
        check(r"\u00e9\U1F600", "é😀", true);
        check(r"\xc3\xa9", "é", true);
        check(r"\q", r"\q", true);
        check(r"rm\0x", "rm", false);
        check(r"\xff", "\u{fffd}", false);
        check(r"\x{72}", r"\x{72}", false);
    }
}
