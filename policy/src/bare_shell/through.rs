//! Shells behind programs that this policy does not know: `tool --option bash -i`.

use super::data::{AMBIGUOUS_SHELLS, COMMAND_VALUES, DATA_OPTIONS, DATA_VERBS, PRINTING_VERBS, is_data_program};
use super::table::FILTERS;
use super::{code, shell_reads_terminal};
use crate::analysis::wrappers::is_shell;
use crate::analysis::{Word, WordPart};

/// Whether the last words of a command are a shell that would read the terminal, behind a program that may start it.
pub(super) fn ends_in_shell(name: &str, arguments: &[Word]) -> bool {
    if value_is_shell(arguments) {
        return true;
    }
    let Some(at) = arguments.iter().rposition(|word| !word.text.starts_with(['-', '+'])) else { return false };
    if !may_be_shell(&arguments[at]) || !shell_reads_terminal(&arguments[at + 1..]) {
        return false;
    }
    let before = &arguments[..at];
    if before.last().is_some_and(|word| DATA_OPTIONS.contains(&word.text.as_str())) {
        return false;
    }
    if name == "git" {
        return runs_for_git(before);
    }
    let stem = name.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.');
    if is_data_program(name) || is_data_program(stem) || FILTERS.contains(&name) || name.starts_with("create-") {
        return false;
    }
    let mut operands = before.iter().map(|word| word.text.as_str()).filter(|text| !text.starts_with('-'));
    !operands.clone().any(|text| PRINTING_VERBS.contains(&text))
        && !operands.next().is_some_and(|text| DATA_VERBS.contains(&text))
}

/// `--command=bash`, without a command for that shell.
fn value_is_shell(arguments: &[Word]) -> bool {
    let next = |at: usize| arguments.get(at + 1).map(|word| word.text.as_str());
    arguments.iter().enumerate().any(|(at, word)| {
        let (option, value) = match word.text.split_once('=') {
            Some((option, value)) => (option, Some(value)),
            None => (word.text.as_str(), next(at)),
        };
        COMMAND_VALUES.contains(&option)
            && value.is_some_and(code::bare_command)
            && !arguments[at + 1..].iter().any(|word| word.text == "-c")
    })
}

fn may_be_shell(word: &Word) -> bool {
    match word.value() {
        Some(text) if text.starts_with('/') => is_shell(text),
        Some(text) => !text.contains('/') && is_shell(text) && !AMBIGUOUS_SHELLS.contains(&text),
        None => {
            matches!(word.parts.as_slice(), [WordPart::Variable { name, .. }] if matches!(name.as_str(), "SHELL" | "BASH"))
        }
    }
}

/// Subcommands of git that run what follows them.
fn runs_for_git(before: &[Word]) -> bool {
    let texts: Vec<&str> = before.iter().map(|word| word.text.as_str()).filter(|text| !text.starts_with('-')).collect();
    texts.ends_with(&["bisect", "run"]) || texts.ends_with(&["submodule", "foreach"])
}
