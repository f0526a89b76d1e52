//! Containers that are entered, and containers whose own command is a shell.

use super::is_option;
use super::table::SHELL_IMAGES;
use crate::analysis::wrappers::{base_name, is_shell};

/// A container whose own default command is a shell, or a debugging shell. Commands given to it are seen as inner ones.
pub(super) fn opens_shell(name: &str, texts: &[&str]) -> bool {
    let texts = if texts.first() == Some(&"container") { &texts[1..] } else { texts };
    let before = texts.iter().position(|t| *t == "attach").unwrap_or(texts.len());
    let is_attach = before < texts.len()
        && texts[..before].iter().all(|t| t.starts_with('-') || *t == "compose" || texts[0].starts_with('-'));
    if is_attach {
        // What runs there was started by somebody else; it may be a shell.
        return !texts
            .iter()
            .any(|t| matches!(*t, "--no-stdin" | "--no-stdin=true" | "-i=false" | "--stdin=false" | "--help" | "-h"));
    }
    let interactive = texts.iter().any(|t| is_option(t, 'i', "--interactive") || is_option(t, 'i', "--stdin"));
    let entry = texts.iter().enumerate().find_map(|(at, text)| match text.strip_prefix("--entrypoint=") {
        Some(program) => Some(program),
        None if *text == "--entrypoint" => texts.get(at + 1).copied(),
        None => None,
    });
    match texts.first().copied() {
        Some("run") if interactive && entry.is_some_and(is_shell) => !texts.contains(&"-c"),
        Some("run") if interactive && name != "kubectl" && name != "oc" => texts.last().is_some_and(|last| {
            let image = base_name(last).split([':', '@']).next().unwrap_or_default();
            SHELL_IMAGES.contains(&image)
        }),
        Some("run" | "debug") if interactive && name != "docker" => match texts.iter().position(|t| *t == "--") {
            Some(at) => texts.get(at + 1).is_some_and(|t| is_shell(t)) && !texts[at..].contains(&"-c"),
            None => texts.first() == Some(&"debug"),
        },
        Some("start") if name != "kubectl" && name != "oc" => interactive,
        Some("debug") if name == "docker" => {
            !texts.iter().any(|t| matches!(*t, "--help" | "-c" | "--command") || t.starts_with("--command="))
        }
        Some("rsh") => texts.iter().filter(|t| !t.starts_with('-')).count() <= 2,
        Some("machine") => texts.get(1) == Some(&"ssh") && texts.len() <= 3,
        _ => false,
    }
}
