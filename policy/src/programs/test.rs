//! Reads `test` and `[`: which operands are files, and which an array subscript could hide a command in.

use super::Usage;
use super::reading::Reading;
use super::word::splits_by_value;
use crate::analysis::{Word, WordPart};

/// Reads the arguments of the call.
pub(super) fn read(reading: &mut Reading<'_>, words: &[Word]) {
    let mut end = words.len();
    if words[0].text.ends_with('[') && words[end - 1].text == "]" && end > 1 {
        end -= 1;
    }
    let total = end - 1;
    if words[1..end].iter().any(|word| {
        splits_by_value(word) || word.parts.iter().any(|part| matches!(part, WordPart::Glob | WordPart::Brace))
    }) {
        reading.unknown(|name| format!("how many arguments `{name}` gets is known only when it runs"));
    }
    let mut at = 1;
    while at < end {
        let word = &words[at];
        let next = (at + 1 < end).then(|| words[at + 1].value()).flatten();
        if at + 2 < end && next.is_some_and(is_binary) {
            if next.is_some_and(|operator| matches!(operator, "-nt" | "-ot" | "-ef")) {
                reading.file(at, 0, Usage::Read);
                reading.file(at + 2, 0, Usage::Read);
            }
            at += 3;
            continue;
        }
        let Some(text) = word.value() else {
            let negated = total == 2 && words[1].text == "!";
            if total != 1 && !negated {
                reading.unknown(|name| format!("`{}` may become an operator of `{name}`", word.text));
            }
            at += 1;
            continue;
        };
        match text {
            "-b" | "-c" | "-d" | "-e" | "-f" | "-g" | "-h" | "-k" | "-p" | "-r" | "-s" | "-u" | "-w" | "-x" | "-G"
            | "-L" | "-N" | "-O" | "-S"
                if at + 1 < end =>
            {
                reading.file(at + 1, 0, Usage::Read);
                at += 2;
            }
            "-n" | "-z" | "-t" if at + 1 < end => at += 2,
            "-v" | "-R" if at + 1 < end => {
                let plain = |name: &str| name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_');
                if !words[at + 1].value().is_some_and(plain) {
                    reading.unknown(|name| format!("`{name} {text}` evaluates `{}`", words[at + 1].text));
                }
                at += 2;
            }
            _ => at += 1,
        }
    }
}

fn is_binary(operator: &str) -> bool {
    matches!(
        operator,
        "=" | "==" | "!=" | "<" | ">" | "=~" | "-eq" | "-ne" | "-lt" | "-le" | "-gt" | "-ge" | "-nt" | "-ot" | "-ef"
    )
}
