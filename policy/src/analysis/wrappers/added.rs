//! What wrappers add to the words of the command that they run.

use super::super::added::Added;
use super::super::tree::Word;

/// What `xargs` with these options makes of its input.
pub(super) fn by_xargs(options: &[Word]) -> Added {
    let mut options = options.iter();
    while let Some(word) = options.next() {
        let text = word.text.as_str();
        if let Some(long) = text.strip_prefix("--") {
            let (name, mark) = long.split_once('=').unwrap_or((long, "{}"));
            if !name.is_empty() && "replace".starts_with(name) {
                return Added::Replaced(mark.to_owned());
            }
            continue;
        }
        let Some(letters) = text.strip_prefix('-') else { continue };
        for (at, letter) in letters.char_indices() {
            let attached = &letters[at + letter.len_utf8()..];
            match letter {
                'I' | 'J' => {
                    let mark = if attached.is_empty() {
                        options.next().map(|word| word.text.as_str())
                    } else {
                        Some(attached)
                    };
                    return Added::Replaced(mark.unwrap_or_default().to_owned());
                }
                'i' => return Added::Replaced(if attached.is_empty() { "{}" } else { attached }.to_owned()),
                // Their values are attached, or the next word.
                'E' | 'L' | 'P' | 'R' | 'S' | 'a' | 'd' | 'n' | 's' => {
                    if attached.is_empty() {
                        options.next();
                    }
                    break;
                }
                'e' | 'l' => break,
                _ => {}
            }
        }
    }
    Added::Appended
}

/// What `find` and `fd` make of what they found, in a command behind `option`.
pub(super) fn by_find(option: &str, words: &[Word]) -> Added {
    let fd = matches!(option, "-x" | "-X" | "--exec" | "--exec-batch");
    let placed = ["{}", "{/}", "{//}", "{.}", "{/.}"];
    if fd && !words.iter().any(|word| placed.iter().any(|mark| word.text.contains(mark))) {
        return Added::Appended;
    }
    Added::Replaced(if fd { "{" } else { "{}" }.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(options: &str, expected: &str) {
        let words: Vec<Word> = options.split(' ').map(Word::literal).collect();
        let mark = match by_xargs(&words) {
            Added::Replaced(mark) => mark,
            _ => "appended".to_owned(),
        };
        assert_eq!(mark, expected, "{options}");
    }

    #[test]
    fn options_tell_what_is_replaced() {
        check("-n1", "appended");
        check("-I{}", "{}");
        check("-I %", "%");
        check("-0rI X", "X");
        check("-n 1 -i", "{}");
        check("-iX", "X");
        check("--replace", "{}");
        check("--rep=@", "@");
        check("-d i -P 2", "appended");
        check("-dI", "appended");
    }
}
