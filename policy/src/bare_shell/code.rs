//! Shells started from code or command lines in a program's arguments.

use super::data::AMBIGUOUS_SHELLS;
use super::table::{CODE, COMMAND_OPTIONS, Code};
use crate::analysis::Word;
use crate::analysis::wrappers::{base_name, is_shell};

/// Whether an argument of a program makes it start a shell at its terminal.
pub(super) fn hides_shell(name: &str, arguments: &[Word]) -> bool {
    let stem = name.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.');
    let code = CODE.iter().find(|(program, _)| *program == stem || *program == name).map(|(_, code)| *code);
    if let Some(code) = code {
        let texts = match code {
            Code::Any => arguments.iter().map(|word| word.text.as_str()).collect(),
            Code::Options(options) => values(arguments, options),
        };
        if texts.iter().any(|text| code_starts_shell(text)) {
            return true;
        }
    }
    match stem {
        "vim" | "vi" | "nvim" | "view" | "ex" | "gvim" | "rvim" | "vimdiff" | "nvi" => {
            let commands = values(arguments, &["-c", "+", "--cmd"]);
            return commands.iter().any(|command| editor_starts_shell(command));
        }
        "emacs" | "emacsclient" => {
            let texts: Vec<&str> = arguments.iter().map(|word| word.text.as_str()).collect();
            return texts.windows(2).any(|pair| {
                matches!(pair[0], "-f" | "--funcall" | "-funcall")
                    && matches!(pair[1], "shell" | "term" | "eshell" | "ansi-term")
            }) || texts
                .iter()
                .any(|text| text.contains("(term ") || text.contains("(shell)") || text.contains("(ansi-term"));
        }
        "awk" | "gawk" | "mawk" | "nawk" if runs_lines(arguments, |text| text.contains("system($")) => return true,
        "sed" | "gsed" if runs_lines(arguments, |text| text == "e") => return true,
        "sed" | "gsed" => return arguments.iter().any(|word| sed_starts_shell(&word.text)),
        // The stem has no digits.
        "sqlite" | "duckdb" | "mysql" | "psql" | "mariadb" => {
            return arguments.iter().any(|word| {
                let text = word.text.trim_start();
                [".shell ", ".sh ", ".system ", "\\! ", "system "]
                    .iter()
                    .any(|start| text.strip_prefix(start).is_some_and(bare_command))
                    || text == "\\!"
            });
        }
        "socat" => {
            return arguments.iter().any(|word| {
                let text = word.text.as_str();
                let upper = text.to_ascii_uppercase();
                ["EXEC:", "SYSTEM:", "SHELL:"].iter().any(|start| {
                    upper.strip_prefix(start).is_some_and(|_| {
                        let rest = &text[start.len()..];
                        bare_command(rest.split(',').next().unwrap_or_default())
                    })
                })
            });
        }
        "gdb" | "lldb" | "rr" | "perf" => {
            let marker =
                arguments.iter().position(|w| matches!(w.text.as_str(), "--args" | "-args" | "--" | "record" | "stat"));
            if let Some(at) = marker {
                let rest: Vec<&str> = arguments[at + 1..].iter().map(|w| w.text.as_str()).collect();
                return rest.first().is_some_and(|name| is_shell(name)) && rest.len() == 1;
            }
        }
        _ => {}
    }
    COMMAND_OPTIONS
        .iter()
        .filter(|(program, _)| *program == name || *program == stem)
        .any(|(_, options)| values(arguments, options).iter().any(|value| command_starts_shell(value)))
}

/// Whether a filter's program, which executes lines, stands alone: the lines come from the terminal.
fn runs_lines(arguments: &[Word], executes: impl Fn(&str) -> bool) -> bool {
    let mut operands = arguments.iter().map(|word| word.text.as_str()).filter(|text| !text.starts_with('-'));
    operands.next().is_some_and(executes) && operands.next().is_none()
}

/// Whether text names a shell as a word of its own.
pub(super) fn names_shell(text: &str) -> bool {
    tokens(text).any(is_shell)
}

/// Whether text names a shell whose name is no common word or variable.
pub(super) fn names_plain_shell(text: &str) -> bool {
    tokens(text).any(|token| is_shell(token) && !AMBIGUOUS_SHELLS.contains(&token))
}

pub(super) fn tokens(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !(c.is_ascii_alphanumeric() || matches!(c, '/' | '_' | '-' | '.')))
        .filter(|token| !token.is_empty())
}

/// The values of options: glued, behind `=`, or the next argument.
fn values<'w>(arguments: &'w [Word], options: &[&str]) -> Vec<&'w str> {
    let mut values = Vec::new();
    for (index, word) in arguments.iter().enumerate() {
        let text = word.text.as_str();
        for option in options {
            if text == *option {
                values.extend(arguments.get(index + 1).map(|w| w.text.as_str()));
            } else if let Some(rest) = text.strip_prefix(option) {
                let glued = !option.starts_with("--") || rest.starts_with('=');
                if glued {
                    values.push(rest.strip_prefix('=').unwrap_or(rest));
                }
            } else if let (Some(letter), Some(cluster)) = (short_letter(option), short_cluster(text))
                // `perl -lne CODE`
                && cluster.ends_with(letter)
            {
                values.extend(arguments.get(index + 1).map(|w| w.text.as_str()));
            }
        }
    }
    values
}

fn short_letter(option: &str) -> Option<char> {
    let mut letters = option.strip_prefix('-')?.chars();
    match (letters.next(), letters.next()) {
        (Some(letter), None) if letter.is_ascii_alphabetic() => Some(letter),
        _ => None,
    }
}

fn short_cluster(text: &str) -> Option<&str> {
    let cluster = text.strip_prefix('-')?;
    (cluster.len() > 1 && cluster.len() < 6 && cluster.bytes().all(|b| b.is_ascii_alphabetic())).then_some(cluster)
}

/// Code that names a shell and something that executes, and does not give the shell a command.
fn code_starts_shell(code: &str) -> bool {
    const EXECUTES: &[&str] = &[
        "spawn",
        "exec",
        "system",
        "popen",
        "Popen",
        "subprocess",
        "call",
        "run",
        "shell",
        "posix",
        "qx",
        "proc_open",
        "passthru",
        "child_process",
        "interact",
        "`",
        "|",
        "pty",
        "os.",
        "IO.",
        "ProcessBuilder",
        "!",
    ];
    /// What is read is run.
    const RUNS_INPUT: &[&str] = &[
        "system(input(",
        "popen(input(",
        "run(input(",
        "call(input(",
        "Popen(input(",
        "system(sys.stdin",
        "system(gets",
        "system gets",
        "exec gets",
        "exec(gets",
        "system(<STDIN>",
        "system <STDIN>",
        "exec <STDIN>",
        "system $_",
        "system($_",
        "#{gets",
        "`$_`",
    ];
    if RUNS_INPUT.iter().any(|form| code.contains(form)) {
        return true;
    }
    EXECUTES.iter().any(|word| code.contains(word)) && shell_without_command(code)
        || matches!(code.trim(), "shell" | "!" | "process launch")
}

/// Whether a shell is named and no `-c` follows it.
pub(super) fn shell_without_command(text: &str) -> bool {
    let tokens: Vec<&str> = tokens(text).collect();
    tokens.iter().enumerate().any(|(index, token)| {
        is_shell(token)
            && !token.starts_with("./")
            && tokens.get(index + 1).is_none_or(|next| !next.starts_with("-c") && !next.ends_with(".sh"))
    })
}

/// A command line in an option's value.
fn command_starts_shell(value: &str) -> bool {
    let value = value.trim_start_matches(['=', ' ', '\'', '"']);
    let value = ["exec=", "ProxyCommand=", "LocalCommand=", "ProxyCommand ", "execute(", "become(", "exec:"]
        .iter()
        .find_map(|start| value.split_once(start).map(|(_, rest)| rest))
        .or_else(|| value.split_once("=!").map(|(_, rest)| rest))
        .or_else(|| {
            ["core.pager=", "core.editor=", "core.sshCommand=", "core.fsmonitor=", "sequence.editor=", "diff.external="]
                .iter()
                .find_map(|start| value.strip_prefix(start))
        })
        .unwrap_or(value);
    value.split([';', '&', '|', '\n']).any(bare_command) || value.contains("\n\t") && shell_without_command(value)
}

/// A plain command line that is a shell without script or `-c`.
pub(super) fn bare_command(command: &str) -> bool {
    let command = command.trim().trim_matches(['\'', '"']);
    let mut words = command.split_whitespace();
    let Some(name) = words.next() else { return false };
    let name = name.trim_start_matches(['@', '-', '!']);
    if matches!(base_name(name), "exec" | "env" | "command" | "sudo") {
        return bare_command(&words.collect::<Vec<_>>().join(" "));
    }
    is_shell(name)
        && words.all(|word| {
            !word.starts_with("-c")
                && (word.starts_with(['-', '#', '<', '>', '&', '+'])
                    || word.bytes().all(|b| b.is_ascii_digit() || b"<>&".contains(&b)))
        })
}

fn editor_starts_shell(command: &str) -> bool {
    let command = command.trim_start_matches([':', ' ', '+']);
    let word: String = command.chars().take_while(char::is_ascii_alphabetic).collect();
    if matches!(word.as_str(), "sh" | "she" | "shel" | "shell" | "ter" | "term" | "terminal") {
        let rest = command[word.len()..].trim();
        return rest.is_empty() || bare_command(rest);
    }
    if let Some(rest) = command.strip_prefix('!') {
        return bare_command(rest);
    }
    command.contains(":sh")
        || command.contains("|sh")
        || command.contains("| sh")
        || command.contains("os.execl") && names_shell(command)
        || command.contains(":!") && shell_without_command(command)
        || command.contains("shell=") && command.contains("shell|")
}

/// GNU sed's `e` command, and `s///e`.
fn sed_starts_shell(script: &str) -> bool {
    script.split([';', '\n', '{']).any(|command| {
        let command =
            command.trim().trim_start_matches(|c: char| c.is_ascii_digit() || matches!(c, '$' | ',' | '!' | ' '));
        command
            .strip_prefix('e')
            .is_some_and(|rest| (rest.is_empty() || rest.starts_with(' ')) && shell_without_command(rest))
    })
}
