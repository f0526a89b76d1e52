//! Text a person must see whole: control characters, zero-width and bidirectional characters, padding.

/// Whether a character does something to text without being seen.
#[must_use]
pub fn is_hidden(character: char) -> bool {
    let bidirectional_or_zero_width = matches!(character,
        '\u{00ad}' | '\u{034f}' | '\u{061c}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}' | '\u{180b}'..='\u{180f}'
        | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{3164}' | '\u{fe00}'..='\u{fe0f}'
        | '\u{feff}' | '\u{ffa0}' | '\u{fff0}'..='\u{fffb}' | '\u{1d173}'..='\u{1d17a}' | '\u{e0000}'..='\u{e0fff}');
    bidirectional_or_zero_width || character.is_control() && !matches!(character, '\n' | '\t')
}

/// Whether a character looks like a blank and is none to a shell.
fn is_odd_blank(character: char) -> bool {
    character != ' ' && character != '\n' && character != '\t' && character.is_whitespace()
}

/// Shows a command whole: what hides is written as `<U+200B>`, and long runs of blanks are counted.
#[must_use]
pub fn visible(text: &str) -> String {
    const LONGEST_RUN: usize = 8;
    let mut shown = String::with_capacity(text.len());
    let mut rest = text.chars().peekable();
    while let Some(character) = rest.next() {
        if is_hidden(character) || is_odd_blank(character) {
            shown.push_str(&format!("<U+{:04X}>", u32::from(character)));
            continue;
        }
        if matches!(character, ' ' | '\t' | '\n') {
            let mut run = 1usize;
            while rest.next_if_eq(&character).is_some() {
                run += 1;
            }
            if run > LONGEST_RUN {
                let name = match character {
                    ' ' => "blanks",
                    '\t' => "tabs",
                    _ => "newlines",
                };
                shown.push_str(&format!("<{run} {name}>"));
                if character == '\n' {
                    shown.push('\n');
                }
            } else {
                shown.extend(std::iter::repeat_n(character, run));
            }
            continue;
        }
        shown.push(character);
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::visible;

    #[track_caller]
    fn check(text: &str, expected: &str) {
        assert_eq!(visible(text), expected);
    }

    #[test]
    fn shows_what_hides() {
        check("ls\u{200b} -l\u{202e}", "ls<U+200B> -l<U+202E>");
        check("ls\rrm x\u{1b}[2K", "ls<U+000D>rm x<U+001B>[2K");
        check("ls\u{a0}x", "ls<U+00A0>x");
        check("echo é 漢字 😀\n\tok", "echo é 漢字 😀\n\tok");
    }

    #[test]
    fn counts_padding() {
        let padded = format!("ls;{}rm x", " ".repeat(300));
        check(&padded, "ls;<300 blanks>rm x");
        check(&format!("ls{}rm x", "\n".repeat(40)), "ls<40 newlines>\nrm x");
    }
}
