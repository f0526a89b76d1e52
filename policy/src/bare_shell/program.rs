//! Programs with ways of their own to a shell, one by one.

use super::table::{SHELL_AFTER_OPERAND, SHELL_ALWAYS, SHELL_SUBCOMMANDS, SHELL_WITHOUT_COMMAND};
use super::{Look, container, is_option, remote, shell_reads_terminal};
use crate::analysis::wrappers::{is_shell, options, wrapper};
use crate::analysis::{Word, WordPart, is_terminal_file};

impl Look<'_> {
    /// Whether a program that is no shell starts one with these arguments.
    pub(super) fn program(&self, name: &str, arguments: &[Word]) -> bool {
        let texts: Vec<&str> = arguments.iter().map(|word| word.text.as_str()).collect();
        match name {
            "sudo" | "doas" => sudo_shell(arguments) && !self.has_inner(),
            "su" | "runuser" => {
                let commands = |t: &&str| is_option(t, 'c', "--command") || is_option(t, 'c', "--session-command");
                let runs = name == "runuser" && texts.iter().any(|t| is_option(t, 'u', "--user"));
                !(runs || texts.iter().any(commands) || informs(&texts))
            }
            "script" => {
                !texts.iter().any(|t| is_option(t, 'c', "--command")) && !informs(&texts) && script_operands(arguments)
            }
            "capsh" => arguments
                .iter()
                .position(|word| matches!(word.text.as_str(), "--" | "-+"))
                .is_some_and(|at| shell_reads_terminal(&arguments[at + 1..])),
            "dtach" => texts.first() == Some(&"-a"),
            "abduco" => {
                let joins = |t: &&str| t.starts_with('-') && t.contains(['a', 'A', 'c']);
                texts.iter().any(joins) && texts.iter().filter(|t| !t.starts_with('-')).count() <= 1
            }
            "gcloud" => {
                let tells = |t: &&str| matches!(*t, "--" | "--command" | "--dry-run") || t.starts_with("--command=");
                texts.contains(&"ssh") && !texts.iter().any(tells) && !informs(&texts)
            }
            "snap" => texts.first() == Some(&"run") && texts.contains(&"--shell"),
            "parallel" => {
                options(arguments, "jaIdNnLSP", &["jobs", "arg-file", "delimiter", "max-args", "sshlogin"]).0
                    >= arguments.len()
                    && !texts.iter().any(|t| t.starts_with("-a") || t.starts_with("--arg-file"))
                    && !informs(&texts)
            }
            "xargs" => xargs_runs_lines(&texts),
            "systemd-run" => texts.iter().any(|t| is_option(t, 'S', "--shell")),
            "ssh" | "autossh" => ssh_shell(arguments),
            "nix-shell" => !texts
                .iter()
                .any(|t| matches!(*t, "--run" | "--command" | "--version" | "--help") || t.starts_with("--run=")),
            "tmux" => tmux_shell(&texts[options(arguments, "cfLST", &[]).0.min(texts.len())..], &texts),
            "screen" => !texts.iter().any(|t| {
                matches!(*t, "-ls" | "-list" | "-v" | "-wipe" | "-X" | "-Q" | "--help" | "--version")
                    || t.starts_with("-dm")
                    || t.starts_with("-Dm")
                    || t.starts_with("-d") && texts.contains(&"-m")
            }),
            "adb" => texts.first() == Some(&"shell") && texts.len() == 1 || adb_device_shell(&texts),
            "docker" | "podman" | "nerdctl" | "kubectl" | "oc" => {
                container::opens_shell(name, &texts) || remote::opens_shell(name, arguments)
            }
            "source" | "." => arguments.first().is_some_and(|file| {
                is_terminal_file(&file.text) || file.parts.contains(&WordPart::Process) && self.types_anywhere()
            }),
            "schroot" => {
                options(arguments, "cuds", &[]).0 >= arguments.len()
                    && !texts.iter().any(|t| matches!(*t, "-l" | "-i" | "--info"))
            }
            "zellij" => {
                let rest = &texts[options(arguments, "sln", &["session", "layout"]).0.min(texts.len())..];
                !informs(&texts) && matches!(rest.first(), None | Some(&"attach" | &"a"))
            }
            _ if SHELL_ALWAYS.contains(&name) => {
                !informs(&texts) && !texts.iter().any(|t| is_option(t, 'c', "--command"))
            }
            _ => {
                let long = wrapper(name).map_or(&[][..], |wrapper| wrapper.long);
                let only = |letters: &str| options(arguments, letters, long).0;
                if let Some((_, letters)) = SHELL_WITHOUT_COMMAND.iter().find(|(program, _)| *program == name) {
                    return only(letters) >= arguments.len() && !informs(&texts);
                }
                if let Some((_, letters)) = SHELL_AFTER_OPERAND.iter().find(|(program, _)| *program == name) {
                    return only(letters) + 1 >= arguments.len() && !informs(&texts);
                }
                remote::opens_shell(name, arguments)
                    || SHELL_SUBCOMMANDS.iter().any(|(program, subcommands, tells)| {
                        *program == name
                            && texts.iter().find(|t| !t.starts_with('-')).is_some_and(|t| subcommands.contains(t))
                            && !texts.iter().any(|t| {
                                tells.contains(t)
                                    || tells.iter().any(|tell| {
                                        tell.starts_with("--") && tell.len() > 2 && t.starts_with(&format!("{tell}="))
                                    })
                            })
                            && !informs(&texts)
                            && opens_shell(name, &texts)
                    })
            }
        }
    }
}

/// Subcommands that open a shell only in one form.
fn opens_shell(name: &str, texts: &[&str]) -> bool {
    match name {
        "aws" => texts.contains(&"start-session"),
        "az" => {
            let operands: Vec<&str> = texts.iter().copied().filter(|t| !t.starts_with('-')).collect();
            let session = matches!(operands.as_slice(), ["ssh", "vm" | "arc", ..] | ["webapp", "ssh", ..]);
            let behind = texts.iter().position(|t| *t == "--").map_or(0, |at| texts.len() - at - 1);
            session && behind == 0
        }
        "gh" => texts.contains(&"ssh"),
        "aws-vault" => texts.iter().filter(|t| !t.starts_with('-')).count() <= 2,
        "limactl" => texts.iter().filter(|t| !t.starts_with('-')).count() <= 2,
        "machinectl" => texts.iter().filter(|t| !t.starts_with('-')).count() <= 2,
        "oc" => texts.iter().filter(|t| !t.starts_with('-')).count() <= 2,
        "spack" => texts.contains(&"activate"),
        _ => true,
    }
}

fn informs(texts: &[&str]) -> bool {
    match texts {
        ["-h" | "-V"] => true,
        _ => texts.iter().any(|text| matches!(*text, "--help" | "--version" | "--list")),
    }
}

/// Each line that is typed becomes a command of its own.
fn xargs_runs_lines(texts: &[&str]) -> bool {
    if texts.iter().any(|t| t.starts_with("-a") || t.starts_with("--arg-file")) {
        return false;
    }
    let replaced = texts.iter().enumerate().find_map(|(at, text)| match *text {
        "-I" => texts.get(at + 1).copied(),
        "-i" | "--replace" => Some("{}"),
        text => text.strip_prefix("-I").or_else(|| text.strip_prefix("--replace=")),
    });
    let script = texts.windows(2).find(|pair| pair[0] == "-c").map(|pair| pair[1]);
    match (replaced, script) {
        (Some(replaced), Some(script)) => script.trim_start().starts_with(replaced),
        (None, None) => texts.last() == Some(&"-c"),
        _ => false,
    }
}

/// `sudo -s`, `sudo -i`, before any value of another option.
fn sudo_shell(arguments: &[Word]) -> bool {
    let (count, _) =
        options(arguments, "ugpChrtTRDU", &["user", "group", "prompt", "host", "chdir", "chroot", "role", "type"]);
    arguments[..count].iter().any(|word| {
        let text = word.text.as_str();
        if let Some(long) = text.strip_prefix("--") {
            return !long.is_empty() && ("shell".starts_with(long) || "login".starts_with(long));
        }
        text.strip_prefix('-').is_some_and(|cluster| {
            cluster.chars().take_while(|c| !"ugpChrtTRDU".contains(*c)).any(|c| matches!(c, 's' | 'i'))
        })
    })
}

/// util-linux takes one file and starts a shell; BSD runs what follows the file.
fn script_operands(arguments: &[Word]) -> bool {
    let (count, _) =
        options(arguments, "EIBOTmto", &["log-in", "log-out", "log-io", "log-timing", "echo", "output-limit"]);
    let operands = &arguments[count..];
    match operands.split_first() {
        Some((_, rest)) if !rest.is_empty() => {
            rest[0].value().is_some_and(is_shell) && shell_reads_terminal(&rest[1..])
        }
        _ => true,
    }
}

fn ssh_shell(arguments: &[Word]) -> bool {
    let letters = "BbcDEeFIiJLlmOopQRSWw";
    let (count, _) = options(arguments, letters, &[]);
    let quiet = arguments[..count].iter().any(|word| {
        word.text.strip_prefix('-').is_some_and(|cluster| {
            cluster.chars().next().is_some_and(|c| matches!(c, 'O' | 'Q' | 'W'))
                || cluster
                    .chars()
                    .take_while(|c| !letters.contains(*c))
                    .any(|c| matches!(c, 'N' | 'V' | 'G' | 'f' | 'n'))
        })
    });
    let Some(host) = arguments.get(count) else { return false };
    if quiet || host.text.starts_with("git@") {
        return false;
    }
    let (more, _) = options(&arguments[count + 1..], letters, &[]);
    arguments[count + 1 + more..].is_empty()
}

/// `texts` are the words from the command on.
fn tmux_shell(texts: &[&str], all: &[&str]) -> bool {
    match texts.first().copied() {
        None => !all.iter().any(|t| matches!(*t, "-V" | "-h")),
        Some("new" | "new-session") => {
            !texts.iter().any(|t| t.starts_with('-') && !t.starts_with("--") && t.contains('d') && t.len() <= 4)
        }
        Some("attach" | "attach-session" | "a" | "at" | "att") => true,
        Some(_) => false,
    }
}

fn adb_device_shell(texts: &[&str]) -> bool {
    match texts.iter().position(|t| *t == "shell") {
        Some(at) => {
            texts[at + 1..].iter().all(|t| t.starts_with('-')) && texts[..at].iter().any(|t| t.starts_with('-'))
        }
        None => false,
    }
}
