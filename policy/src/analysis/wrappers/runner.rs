//! Programs with subcommands that run a command: environment runners and containers.

use super::table::{COMPOSE_VALUES, RUNNER_VALUES, RUNNERS, Reach, SUBCOMMANDS};
use super::{Inner, Unwrapped, options};
use crate::analysis::Word;

/// What an environment runner or a container's subcommand runs.
pub(super) fn runner(name: &str, arguments: &[Word], found: &mut Unwrapped) {
    let (name, mut arguments) = subcommand(name, arguments);
    let containers = matches!(name, "docker" | "podman" | "nerdctl");
    if containers && arguments.first().is_some_and(|w| matches!(w.text.as_str(), "compose" | "container")) {
        let (before, _) = options(&arguments[1..], "fp", COMPOSE_VALUES);
        arguments = &arguments[1 + before..];
    }
    let Some(subcommand) = arguments.first() else { return };
    for (program, subcommands, short, operands) in RUNNERS {
        if *program == name && subcommands.contains(&subcommand.text.as_str()) {
            let rest = &arguments[1..];
            let (index, _) = options(rest, short, RUNNER_VALUES);
            let mut rest = rest.get(index + operands..).unwrap_or_default();
            let (more, _) = options(rest, short, RUNNER_VALUES);
            rest = &rest[more..];
            found.inner.push(Inner::Command { words: rest.to_vec(), reach: Reach::DenyOnly });
        }
    }
}

/// What stands behind a program's own options. `docker-compose` is `docker` with its subcommand in the name.
fn subcommand<'w, 'n>(name: &'n str, arguments: &'w [Word]) -> (&'n str, &'w [Word]) {
    if matches!(name, "docker-compose" | "podman-compose") {
        return ("docker", &arguments[options(arguments, "fp", COMPOSE_VALUES).0..]);
    }
    let globals = SUBCOMMANDS.iter().find(|(program, ..)| *program == name);
    let before = globals.map_or(0, |(_, short, long)| options(arguments, short, long).0);
    (name, &arguments[before..])
}
