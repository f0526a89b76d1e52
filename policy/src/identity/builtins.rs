//! Names that a shell runs itself instead of a file.

/// What every shell has built in that we start commands with, see POSIX.1-2024, XCU 2.15 and 1.7, and dash(1).
const EVERYWHERE: &[&str] = &[
    "!", ".", ":", "[", "alias", "bg", "break", "cd", "command", "continue", "echo", "eval", "exec", "exit", "export",
    "false", "fg", "getopts", "hash", "jobs", "kill", "printf", "pwd", "read", "readonly", "return", "set", "shift",
    "test", "times", "trap", "true", "type", "ulimit", "umask", "unalias", "unset", "wait",
];

/// What bash has beyond those, see bash(1).
const BASH: &[&str] = &[
    "[[",
    "bind",
    "builtin",
    "caller",
    "compgen",
    "complete",
    "compopt",
    "declare",
    "dirs",
    "disown",
    "enable",
    "fc",
    "help",
    "history",
    "let",
    "local",
    "logout",
    "mapfile",
    "popd",
    "pushd",
    "readarray",
    "shopt",
    "source",
    "suspend",
    "typeset",
];

/// Whether a shell of this name runs a command itself.
pub(crate) fn is_builtin(name: &str, shell: &str) -> bool {
    EVERYWHERE.contains(&name) || (matches!(shell, "bash" | "rbash") && BASH.contains(&name))
}
