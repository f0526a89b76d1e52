//! Lone surrogates: what JavaScript writes for a text that was cut inside a character, and no Rust text can hold.

/// What a lone surrogate becomes: the escape of U+FFFD, of the same length.
const REPLACEMENT: &[u8; 6] = b"\\ufffd";

/// Returns a line of JSON with every lone surrogate replaced by U+FFFD; none if it has none.
pub(super) fn mended(line: &[u8]) -> Option<Vec<u8>> {
    let mut mended: Option<Vec<u8>> = None;
    let mut at = 0;
    while let Some(found) = line[at..].iter().position(|byte| *byte == b'\\') {
        at += found;
        at += match escaped_unit(&line[at..]) {
            // Another escape, of which the second byte can be a backslash.
            None => 2.min(line.len() - at),
            Some(0xd800..=0xdbff) if matches!(escaped_unit(&line[at + 6..]), Some(0xdc00..=0xdfff)) => 12,
            Some(0xd800..=0xdfff) => {
                mended.get_or_insert_with(|| line.to_vec())[at..at + 6].copy_from_slice(REPLACEMENT);
                6
            }
            Some(_) => 6,
        };
    }
    mended
}

/// Reads `\uXXXX` at the start.
fn escaped_unit(bytes: &[u8]) -> Option<u16> {
    let digits = bytes.strip_prefix(b"\\u")?.get(..4)?;
    digits.iter().try_fold(0, |unit, digit| {
        let digit = char::from(*digit).to_digit(16)?;
        Some(unit << 4 | u16::try_from(digit).ok()?)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(line: &str, expected: Option<&str>) {
        let mended = mended(line.as_bytes()).map(|mended| String::from_utf8(mended).unwrap());
        assert_eq!(mended.as_deref(), expected, "{line}");
    }

    #[test]
    fn replaces_what_has_no_partner() {
        check(r#""\ud800""#, Some(r#""\ufffd""#));
        check(r#""\udc00\ud83d\ude00\uD83D""#, Some(r#""\ufffd\ud83d\ude00\ufffd""#));
        check(r#""\ud83d\ud83d\ude00x\udfff""#, Some(r#""\ufffd\ud83d\ude00x\ufffd""#));
        check(r#""\ud83d \ude00""#, Some(r#""\ufffd \ufffd""#));
    }

    #[test]
    fn leaves_the_rest() {
        check(r#""\ud83d\ude00\u001b\\ud800 \\\\ud800 \n""#, None);
        check(r#""\u12"#, None);
        check(r#""\"#, None);
        check("", None);
    }
}
