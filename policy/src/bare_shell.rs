//! Interactive shells that a command would leave at the terminal, where no rule sees what is typed later.

mod code;
mod container;
mod data;
mod dynamic;
mod table;
mod through;

use crate::analysis::wrappers::{ShellCall, base_name, is_shell, options, wrapper};
use crate::analysis::{CommandAnalysis, Reach, Segment, Stdin, Word, WordPart};
use table::{
    FILTERS, FILTERS_WITH_PROGRAM, SHELL_AFTER_OPERAND, SHELL_ALWAYS, SHELL_SUBCOMMANDS, SHELL_WITHOUT_COMMAND,
};

/// Why a command line is a bare interactive shell; none when it is not.
#[must_use]
pub fn bare_shell(analysis: &CommandAnalysis) -> Option<String> {
    let mut typed = Vec::with_capacity(analysis.segments.len() + 1);
    let mut count = 0usize;
    typed.push(count);
    for segment in &analysis.segments {
        count += usize::from(segment.stdin == Stdin::Inherited && copies_terminal(segment));
        typed.push(count);
    }
    analysis.segments.iter().enumerate().find_map(|(number, segment)| {
        let look = Look { analysis, segment, number, typed: &typed };
        look.starts_shell().map(|found| {
            let text = crate::visible(&segment.text);
            match found {
                Found::Shell => format!(
                    "`{text}` is an interactive shell: the commands typed into it would skip the rules for commands"
                ),
                Found::Anything => format!(
                    "what `{text}` runs is known only when it runs: any command could be run so, past the rules for commands"
                ),
            }
        })
    })
}

/// What a command leaves at the terminal.
#[derive(Clone, Copy, Debug)]
enum Found {
    Shell,
    /// A command that nobody knows before it runs.
    Anything,
}

struct Look<'a> {
    analysis: &'a CommandAnalysis,
    segment: &'a Segment,
    number: usize,
    /// How many segments before each one copy what is typed to their output.
    typed: &'a [usize],
}

impl Look<'_> {
    fn starts_shell(&self) -> Option<Found> {
        let shell = |is: bool| is.then_some(Found::Shell);
        let words = &self.segment.words;
        if !self.reads_terminal() {
            let is_shell = words.first().and_then(Word::value).is_some_and(is_shell);
            // Its script is the terminal, wherever its input comes from.
            return shell(is_shell && ShellCall::read(&words[1..]).file.is_some_and(|file| file.text == "/dev/tty"));
        }
        if self.segment.assignments.iter().any(sets_helper) {
            return Some(Found::Shell);
        }
        let first = words.first()?;
        let arguments = &words[1..];
        let name = match first.value() {
            Some(name) => base_name(name),
            None if self.is_resolved() => return None,
            None if self.dynamic_name(first) => return Some(Found::Shell),
            None if self.runs_anything(first) => return Some(Found::Anything),
            None => return shell(dynamic::tail_name(first).is_some_and(|name| self.named(name, arguments))),
        };
        shell(self.named(name, arguments))
    }

    fn named(&self, name: &str, arguments: &[Word]) -> bool {
        if is_shell(name) {
            return match name.trim_end_matches(".exe") {
                "pwsh" | "powershell" | "pwsh-preview" => powershell_reads_terminal(arguments),
                "fish" if has_initial_command(arguments) => true,
                _ => shell_reads_terminal(arguments),
            };
        }
        code::hides_shell(name, arguments)
            || self.program(name, arguments)
            || !self.has_any_inner()
                && !self.analysis.functions.iter().any(|f| f == name)
                && through::ends_in_shell(name, arguments)
    }

    fn has_any_inner(&self) -> bool {
        self.analysis.segments[self.number + 1..].iter().any(|inner| inner.wrapper == Some(self.number))
    }

    /// Whether what is typed reaches the command.
    fn reads_terminal(&self) -> bool {
        if self.wrapper().is_some_and(|outer| !passes_terminal(outer)) {
            return false;
        }
        match self.segment.stdin {
            Stdin::Inherited => true,
            Stdin::Nothing | Stdin::Redirected => self.opens_terminal(),
            Stdin::Pipe(first) => self.opens_terminal() || self.typed[self.number] > self.typed[first.min(self.number)],
        }
    }

    fn wrapper(&self) -> Option<&Segment> {
        self.segment.wrapper.map(|number| &self.analysis.segments[number])
    }

    /// `xargs -o` gives its command the terminal.
    fn opens_terminal(&self) -> bool {
        self.wrapper().is_some_and(|outer| outer.program() == Some("xargs"))
    }

    /// A name that is known only when the command runs.
    fn dynamic_name(&self, word: &Word) -> bool {
        if dynamic::prints_for_shell(word) {
            return false;
        }
        if word.parts.iter().any(|part| matches!(part, WordPart::Variable { name, .. } if matches!(name.as_str(), "SHELL" | "0" | "BASH" | "ZSH_NAME"))) {
            return true;
        }
        if word.text.contains("SHELL") || word.text.contains("BASH") {
            return true;
        }
        let assigned =
            word.parts.iter().any(|part| match part {
                WordPart::Variable { name, .. } => self.analysis.segments.iter().any(|segment| {
                    segment.assignments.iter().any(|a| a.name == *name && code::names_shell(&a.value.text))
                }),
                _ => false,
            });
        if assigned {
            return true;
        }
        if word.parts.contains(&WordPart::Glob) {
            return glob_names_shell(base_name(&word.text));
        }
        code::names_plain_shell(&word.text)
    }

    fn program(&self, name: &str, arguments: &[Word]) -> bool {
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
            "tmux" => tmux_shell(&texts),
            "screen" => !texts.iter().any(|t| {
                matches!(*t, "-ls" | "-list" | "-v" | "-wipe" | "-X" | "-Q" | "--help" | "--version")
                    || t.starts_with("-dm")
                    || t.starts_with("-Dm")
                    || t.starts_with("-d") && texts.contains(&"-m")
            }),
            "adb" => texts.first() == Some(&"shell") && texts.len() == 1 || adb_device_shell(&texts),
            "docker" | "podman" | "nerdctl" | "kubectl" | "oc" => container::opens_shell(name, &texts),
            "source" | "." => texts.first().is_some_and(|t| is_terminal_file(t)),
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
                SHELL_SUBCOMMANDS.iter().any(|(program, subcommands, tells)| {
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

    fn has_inner(&self) -> bool {
        self.analysis.segments[self.number + 1..]
            .iter()
            .any(|inner| inner.wrapper == Some(self.number) && inner.reach != Reach::DenyOnly)
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

/// Whether a shell with these arguments reads its commands from where it was started.
fn shell_reads_terminal(arguments: &[Word]) -> bool {
    let call = ShellCall::read(arguments);
    if call.informs || call.command {
        return false;
    }
    match call.file {
        _ if call.stdin => true,
        None => !arguments.iter().any(|word| word.text.eq_ignore_ascii_case("-file")),
        Some(file) if file.value().is_some_and(is_terminal_file) => true,
        // An unquoted variable may be empty.
        Some(file) => matches!(file.parts.as_slice(), [WordPart::Variable { quoted: false, .. }]),
    }
}

/// `fish -C` runs a command first and then reads the terminal.
fn has_initial_command(arguments: &[Word]) -> bool {
    let has = |short: char, long: &str| arguments.iter().any(|word| is_option(&word.text, short, long));
    has('C', "--init-command") && !has('c', "--command")
}

/// PowerShell's options are words, in any case, and may be cut short (about_Pwsh).
fn powershell_reads_terminal(arguments: &[Word]) -> bool {
    let mut stays = true;
    for word in arguments {
        let text = word.text.to_ascii_lowercase();
        let Some(option) = text.strip_prefix('-') else { return false };
        let option = option.trim_start_matches('-');
        if option.starts_with("noe") {
            return true;
        }
        if option.starts_with(['c', 'f', 'e', 'v', 'h', '?']) && !option.starts_with("ex") {
            stays = false;
            break;
        }
    }
    stays
}

fn is_terminal_file(path: &str) -> bool {
    matches!(path, "/dev/stdin" | "/dev/tty" | "/dev/fd/0" | "/proc/self/fd/0" | "/dev/console")
        || path.starts_with("/dev/pts/")
}

/// Whether a wrapper leaves its standard input to the command it runs.
fn passes_terminal(outer: &Segment) -> bool {
    let texts = || outer.words.iter().map(|word| word.text.as_str());
    match outer.program() {
        Some("alias") => false,
        Some("xargs" | "parallel") => texts().any(|t| is_option(t, 'o', "--open-tty") || t == "--tty"),
        Some("podman") if texts().nth(1) == Some("unshare") => true,
        Some("docker" | "podman" | "nerdctl" | "docker-compose" | "podman-compose") => {
            let compose = outer.program().is_some_and(|name| name.ends_with("-compose"))
                || texts().skip(1).any(|text| text == "compose");
            if compose {
                !texts().any(|t| is_option(t, 'T', "--no-TTY") || t == "--no-tty")
            } else {
                texts().any(|t| is_option(t, 'i', "--interactive") || t == "--interactive=true")
            }
        }
        Some("kubectl" | "oc") => texts().any(|t| is_option(t, 'i', "--stdin") || t == "--stdin=true" || t == "rsh"),
        Some("ssh") => !texts().any(|t| is_option(t, 'n', "")),
        Some("git") => true,
        _ => true,
    }
}

fn is_option(text: &str, letter: char, long: &str) -> bool {
    if !long.is_empty() && (text == long || text.strip_prefix(long).is_some_and(|rest| rest.starts_with('='))) {
        return true;
    }
    text.len() > 1 && text.starts_with('-') && !text.starts_with("--") && text[1..].contains(letter)
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

fn tmux_shell(texts: &[&str]) -> bool {
    let command = texts.iter().find(|t| !t.starts_with('-'));
    match command.copied() {
        None => !texts.iter().any(|t| matches!(*t, "-V" | "-h")),
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

/// Whether a command copies what is typed at the terminal to its output.
fn copies_terminal(segment: &Segment) -> bool {
    let Some(name) = segment.program() else { return false };
    let operands = || {
        segment.words[1..]
            .iter()
            .map(|word| word.text.as_str())
            .filter(|text| !text.starts_with('-') && !text.bytes().all(|b| b.is_ascii_digit()))
    };
    let reads_input = segment.words[1..].iter().any(|w| w.text == "-" || is_terminal_file(&w.text));
    match name {
        "tee" | "tr" | "read" | "line" => true,
        "dd" => !operands().any(|t| t.starts_with("if=") && !is_terminal_file(&t[3..])),
        _ if FILTERS_WITH_PROGRAM.contains(&name) => reads_input || operands().count() <= 1,
        _ if FILTERS.contains(&name) => reads_input || operands().next().is_none(),
        _ => false,
    }
}

/// A pager or editor variable that names a shell.
fn sets_helper(assignment: &crate::analysis::Assignment) -> bool {
    let name = assignment.name.as_str();
    let helper = name.ends_with("PAGER")
        || name.ends_with("EDITOR")
        || matches!(name, "VISUAL" | "BROWSER" | "GIT_SSH" | "GIT_SSH_COMMAND" | "GIT_EXTERNAL_DIFF");
    helper
        && assignment.value.value().is_some_and(|value| {
            let mut words = value.split_whitespace();
            words.next().is_some_and(is_shell) && !words.any(|word| word == "-c")
        })
}

/// Whether a pattern of `*`, `?` and brackets matches the name of a shell.
fn glob_names_shell(pattern: &str) -> bool {
    let mut simple = String::new();
    let mut rest = pattern.chars();
    while let Some(character) = rest.next() {
        if character == '[' {
            rest.by_ref().find(|c| *c == ']');
            simple.push('?');
        } else {
            simple.push(character);
        }
    }
    let Ok(pattern) = crate::rules::Pattern::new(&simple, None) else { return false };
    ["sh", "bash", "zsh", "dash", "fish", "ksh", "csh", "tcsh", "ash"].iter().any(|shell| pattern.matches(shell))
}
