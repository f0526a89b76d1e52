//! Shells behind programs that this policy does not know: `tool --option bash -i`.

use super::data::{
    AMBIGUOUS_SHELLS, COMMAND_VALUES, DATA_OPTIONS, DATA_VERBS, LAUNCHERS, PRINTING_VERBS, is_data_program,
};
use super::table::FILTERS;
use super::{code, shell_reads_terminal};
use crate::analysis::wrappers::is_shell;
use crate::analysis::{Word, WordPart};

/// Whether the last words of a command are a shell that would read the terminal, behind a program that may start it.
pub(super) fn ends_in_shell(name: &str, arguments: &[Word]) -> bool {
    if value_is_shell(arguments) {
        return true;
    }
    (0..arguments.len()).any(|at| {
        let (before, rest) = (&arguments[..at], &arguments[at + 1..]);
        may_be_shell(&arguments[at])
            && rest.first().is_none_or(|word| word.text.starts_with(['-', '+']))
            && shell_reads_terminal(rest)
            && !before.last().is_some_and(|word| DATA_OPTIONS.contains(&word.text.as_str()))
            && may_start(name, before)
    })
}

/// Where a program that may start a shell of its own stands behind one that is not known.
pub(super) fn launched(name: &str, arguments: &[Word]) -> Option<usize> {
    let launches = |word: &Word| word.value().is_some_and(|text| LAUNCHERS.contains(&text));
    let at = arguments.iter().position(launches)?;
    // `--port ssh` names a service.
    if arguments[at].text == "ssh"
        && at > 0
        && arguments[at - 1].text.starts_with('-')
        && arguments[at - 1].text != "--"
    {
        return None;
    }
    may_start(name, &arguments[..at]).then_some(at)
}

/// Whether a program may start what follows the words `before`.
fn may_start(name: &str, before: &[Word]) -> bool {
    if name == "flatpak" {
        return before.first().is_some_and(|word| word.text == "enter");
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
        Some(text) if text.contains(' ') => code::bare_command(text),
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
