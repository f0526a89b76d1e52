//! What positional parameters stand for, where the script itself tells: operands of `-c`, `set`, calls of functions.

use std::collections::HashSet;

use super::tree::{Simple, Word, WordPart};

/// Lists of parameters that are tried; `$0` stands first in each.
pub(super) const MAX_LISTS: usize = 64;
/// Functions that call functions.
const MAX_ROUNDS: usize = 3;

/// The lists of parameters that may hold somewhere in a script.
///
/// Where a list holds is not followed: a rule that denies looks at each of them everywhere.
pub(super) fn lists(commands: &[Simple], functions: &[String], given: &[Vec<Word>]) -> Vec<Vec<Word>> {
    let used = |simple: &Simple| simple.words.iter().any(is_positional);
    if !commands.iter().any(used) {
        // What an inner `eval` uses is not seen here.
        let evaluates = |simple: &Simple| matches!(name(simple), "eval" | "trap");
        if !commands.iter().any(evaluates) {
            return given.to_vec();
        }
    }
    let functions: HashSet<&str> = functions.iter().map(String::as_str).collect();
    let mut lists = given.to_vec();
    for _ in 0..MAX_ROUNDS {
        let before = lists.len();
        for command in commands {
            let arguments = match name(command) {
                "set" => match operands_of_set(command.words.get(1..).unwrap_or_default()) {
                    [] => continue,
                    operands => operands,
                },
                called if functions.contains(called) => command.words.get(1..).unwrap_or_default(),
                _ => continue,
            };
            if arguments.iter().any(is_positional) {
                let known = lists.clone();
                known.iter().filter_map(|list| resolve(arguments, list)).for_each(|found| add(&mut lists, &found));
            } else if lists.len() < MAX_LISTS {
                add(&mut lists, arguments);
            }
        }
        if lists.len() == before {
            break;
        }
    }
    let drops = |simple: &Simple| {
        name(simple) == "shift"
            || simple.words.iter().any(|word| word.text.contains("{@:") || word.text.contains("{*:"))
    };
    if commands.iter().any(drops) {
        for list in lists.clone() {
            for from in 2..list.len() {
                add(&mut lists, &list[from..]);
            }
        }
    }
    lists
}

fn name(simple: &Simple) -> &str {
    simple.words.first().and_then(Word::value).unwrap_or_default()
}

fn add(lists: &mut Vec<Vec<Word>>, arguments: &[Word]) {
    let unknown = Word {
        text: "$0".to_owned(),
        parts: vec![WordPart::Variable { name: "0".to_owned(), quoted: true }],
        ..Word::default()
    };
    let mut list = vec![unknown];
    list.extend_from_slice(arguments);
    if lists.len() < MAX_LISTS && !lists.contains(&list) {
        lists.push(list);
    }
}

/// `set -e -- a b`, `set a b`.
fn operands_of_set(arguments: &[Word]) -> &[Word] {
    let mut index = 0;
    while let Some(word) = arguments.get(index) {
        match word.text.as_str() {
            "--" | "-" => return &arguments[index + 1..],
            "-o" | "+o" => index += 2,
            text if text.starts_with(['-', '+']) => index += 1,
            _ => break,
        }
    }
    arguments.get(index..).unwrap_or_default()
}

/// Whether a word has a positional parameter in it.
pub(super) fn is_positional(word: &Word) -> bool {
    word.parts.iter().any(|part| match part {
        WordPart::Variable { name, .. } => parameter(name).is_some(),
        WordPart::Expansion { .. } => drops_first(word),
        _ => false,
    })
}

/// `"${@:2}"`; how many are dropped is left to the lists.
fn drops_first(word: &Word) -> bool {
    let text = word.text.trim_matches('"');
    word.parts.len() == 1 && (text.starts_with("${@:") || text.starts_with("${*:"))
}

enum Parameter {
    All,
    One(usize),
}

fn parameter(name: &str) -> Option<Parameter> {
    match name {
        "@" | "*" => Some(Parameter::All),
        _ => name.parse().ok().map(Parameter::One),
    }
}

/// The words with their parameters replaced; none when none of them has one that is known.
pub(super) fn resolve(words: &[Word], list: &[Word]) -> Option<Vec<Word>> {
    let mut resolved = Vec::with_capacity(words.len());
    let mut changed = false;
    for word in words {
        if !is_positional(word) {
            resolved.push(word.clone());
            continue;
        }
        match word.parts.as_slice() {
            [WordPart::Variable { name, quoted }] => match parameter(name) {
                Some(Parameter::All) => list.iter().skip(1).for_each(|value| split(value, *quoted, &mut resolved)),
                Some(Parameter::One(number)) => match list.get(number) {
                    Some(value) => split(value, *quoted, &mut resolved),
                    None => continue,
                },
                None => resolved.push(word.clone()),
            },
            [WordPart::Expansion { quoted }] => {
                list.iter().skip(1).for_each(|value| split(value, *quoted, &mut resolved));
            }
            parts => match joined(parts, list) {
                Some(text) => resolved.push(Word { span: word.span.clone(), ..Word::literal(text) }),
                None => {
                    resolved.push(word.clone());
                    continue;
                }
            },
        }
        changed = true;
    }
    changed.then_some(resolved)
}

fn split(value: &Word, quoted: bool, words: &mut Vec<Word>) {
    match value.value() {
        Some(text) if !quoted => words.extend(text.split_whitespace().map(Word::literal)),
        _ => words.push(value.clone()),
    }
}

fn joined(parts: &[WordPart], list: &[Word]) -> Option<String> {
    let mut text = String::new();
    for part in parts {
        match part {
            WordPart::Literal(literal) => text.push_str(literal),
            WordPart::Variable { name, .. } => match parameter(name)? {
                Parameter::All => {
                    let values: Option<Vec<&str>> = list.iter().skip(1).map(Word::value).collect();
                    text.push_str(&values?.join(" "));
                }
                Parameter::One(number) => text.push_str(list.get(number)?.value()?),
            },
            _ => return None,
        }
    }
    Some(text)
}
