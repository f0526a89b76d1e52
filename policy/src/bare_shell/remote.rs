//! Programs that open a shell on another machine.

use super::table::REMOTE_SHELLS;
use crate::analysis::Word;

/// Whether one of the first words asks for a shell elsewhere, and none says what to run there.
pub(super) fn opens_shell(name: &str, arguments: &[Word]) -> bool {
    let Some((_, verbs)) = REMOTE_SHELLS.iter().find(|(program, _)| *program == name) else { return false };
    let says =
        |text: &str| matches!(text, "--" | "-c" | "-C" | "--command" | "--help") || text.starts_with("--command=");
    let texts: Vec<&str> = arguments.iter().map(|word| word.text.as_str()).collect();
    let operands: Vec<&str> = texts.iter().copied().filter(|text| !text.starts_with('-')).collect();
    let Some(at) = operands.iter().take(3).position(|text| verbs.contains(text)) else { return false };
    operands.len() <= at + 2 && !texts.iter().any(|text| says(text))
}
