//! Programs whose options and operands hold scripts or commands.

use std::borrow::Cow;

use super::{Inner, Reach, Unwrapped, Word, script};

/// `hyperfine`: each operand is a script, and the values of some options are.
pub(super) fn benchmarks(arguments: &[Word], found: &mut Unwrapped) {
    for word in arguments {
        let text =
            word.text.rsplit_once('=').filter(|_| word.text.starts_with("--")).map_or(&*word.text, |(_, text)| text);
        if !text.starts_with('-') {
            script(Cow::Borrowed(text), false, Reach::Both, std::slice::from_ref(word), found);
        }
    }
}

/// A program whose option holds a script: `script -c`, `su -c`.
pub(super) fn option_script(arguments: &[Word], short: &str, long: &str, values: &str, found: &mut Unwrapped) {
    let mut index = 0;
    while let Some(word) = arguments.get(index) {
        index += 1;
        let text = word.text.as_str();
        if text == "--" {
            break;
        }
        let value = if let Some(option) = text.strip_prefix("--") {
            match option.split_once('=') {
                Some((name, value)) if long.starts_with(name) => Some(Word { text: value.to_owned(), ..word.clone() }),
                None if !option.is_empty() && long.starts_with(option) => arguments.get(index).cloned(),
                _ => None,
            }
        } else if let Some(cluster) = text.strip_prefix('-').filter(|c| !c.is_empty() && !short.is_empty()) {
            let at = cluster.find(|c| short.contains(c) || values.contains(c));
            match at {
                Some(at) if short.contains(&cluster[at..=at]) => {
                    if at + 1 == cluster.len() {
                        arguments.get(index).cloned()
                    } else {
                        Some(Word { text: cluster[at + 1..].to_owned(), ..word.clone() })
                    }
                }
                Some(at) if at + 1 == cluster.len() => {
                    index += 1;
                    None
                }
                _ => None,
            }
        } else {
            None
        };
        if let Some(value) = value {
            script(Cow::Borrowed(value.text.as_str()), false, Reach::Both, std::slice::from_ref(&value), found);
        }
    }
}

/// The program behind `gdb --args` and `lldb --`: it runs when a person says so.
pub(super) fn debugged(arguments: &[Word], found: &mut Unwrapped) {
    if let Some(at) = arguments.iter().position(|word| matches!(&*word.text, "--args" | "--")) {
        found.inner.push(Inner::Command { words: arguments[at + 1..].to_vec(), reach: Reach::DenyOnly });
    }
}
