//! Interactive shells that a command would leave at the terminal, where no rule sees what is typed later.

mod code;
mod container;
mod data;
mod dynamic;
mod program;
mod remote;
mod table;
mod through;

use std::cell::OnceCell;

use crate::analysis::wrappers::{ShellCall, base_name, is_shell};
use crate::analysis::{
    CommandAnalysis, Reach, RedirectKind, Segment, Stdin, Word, WordPart, is_terminal_file, returns_to_terminal,
};
use dynamic::Facts;
use table::{FILTERS, FILTERS_WITH_PROGRAM};

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
    let mut wraps = vec![false; analysis.segments.len()];
    for outer in analysis.segments.iter().filter_map(|segment| segment.wrapper) {
        wraps[outer] = true;
    }
    let facts = OnceCell::new();
    analysis.segments.iter().enumerate().find_map(|(number, segment)| {
        let look = Look { analysis, segment, number, typed: &typed, wraps: &wraps, facts: &facts };
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
    /// Which segments run another one.
    wraps: &'a [bool],
    /// Gathered when the first name that is not known needs them.
    facts: &'a OnceCell<Facts<'a>>,
}

impl Look<'_> {
    fn starts_shell(&self) -> Option<Found> {
        let shell = |is: bool| is.then_some(Found::Shell);
        let words = &self.segment.words;
        if !self.reads_terminal() {
            let is_shell = words.first().and_then(Word::value).is_some_and(is_shell);
            return shell(is_shell && self.input_leads_to_terminal(&words[1..]));
        }
        if self.segment.assignments.iter().any(sets_helper) {
            return Some(Found::Shell);
        }
        let first = words.first()?;
        if self.is_itself_resolved() {
            return None;
        }
        let arguments = &words[1..];
        let name = match first.value() {
            Some(name) => base_name(name),
            None if self.is_resolved() => return None,
            None if self.has_known_name(first) => {
                let lines = self.substituted().unwrap_or_default();
                return shell(lines.iter().any(|words| self.line_starts_shell(words, 0)));
            }
            None if dynamic::tail_name(first).is_some() => dynamic::tail_name(first)?,
            None if self.dynamic_name(first) => return Some(Found::Shell),
            None if self.runs_anything(first) => return Some(Found::Anything),
            None => return None,
        };
        shell(self.named(name, arguments))
    }

    fn named(&self, name: &str, arguments: &[Word]) -> bool {
        if is_shell(name) {
            return match name.trim_end_matches(".exe") {
                "pwsh" | "powershell" | "pwsh-preview" => powershell_reads_terminal(arguments),
                "fish" if has_initial_command(arguments) => true,
                _ => {
                    let made =
                        ShellCall::read(arguments).file.is_some_and(|file| file.parts.contains(&WordPart::Process));
                    shell_reads_terminal(arguments) || made && self.types_anywhere()
                }
            };
        }
        code::hides_shell(name, arguments)
            || self.program(name, arguments)
            || !self.wraps[self.number]
                && (through::ends_in_shell(name, arguments) || self.launches(name, arguments))
                && !self.analysis.functions.iter().any(|function| function == name)
    }

    /// A program that this policy does not know, and behind it one that starts a shell: `tool -- sudo -i`.
    fn launches(&self, name: &str, arguments: &[Word]) -> bool {
        through::launched(name, arguments).is_some_and(|at| {
            let (inner, rest) = (&arguments[at].text, &arguments[at + 1..]);
            !rest.is_empty() && self.program(inner, rest)
        })
    }

    /// A shell whose script is another input, and the terminal for all that.
    fn input_leads_to_terminal(&self, arguments: &[Word]) -> bool {
        // Its script is the terminal, wherever its input comes from.
        if let Some(file) = ShellCall::read(arguments).file {
            return file.text == "/dev/tty" || matches!(file.text.trim_matches('"'), "$(tty)" | "`tty`");
        }
        if !shell_reads_terminal(arguments) {
            return false;
        }
        let text = self.segment.redirects.iter().rfind(|redirect| redirect.kind == RedirectKind::Text);
        if let Some(text) = text {
            let copied = text.target.is_dynamic() && self.types_anywhere();
            return copied || self.analysis.terminal_heredoc || returns_to_terminal(&text.target.text);
        }
        let Stdin::Pipe(first) = self.segment.stdin else { return false };
        self.analysis.segments[first.min(self.number)..self.number]
            .iter()
            .any(|segment| segment.words.iter().any(|word| returns_to_terminal(&word.text)))
    }

    /// Whether anything in the command line copies what is typed.
    fn types_anywhere(&self) -> bool {
        self.typed.last().is_some_and(|count| *count > 0)
    }

    /// Whether the command, or a wrapper around it, takes the terminal as its input again.
    fn redirects_terminal(&self) -> bool {
        let mut number = Some(self.number);
        while let Some(at) = number {
            let segment = &self.analysis.segments[at];
            if let Some(redirect) = segment.redirects.iter().rfind(|redirect| redirect.feeds_stdin()) {
                return redirect.may_be_terminal()
                    || redirect.kind == RedirectKind::DuplicateInput
                        && self.copies_terminal_descriptor(&redirect.target);
            }
            number = segment.wrapper;
        }
        false
    }

    /// `exec 3<&0`, and `<&3` later.
    fn copies_terminal_descriptor(&self, number: &Word) -> bool {
        let redirects = self.analysis.segments.iter().flat_map(|segment| &segment.redirects);
        redirects
            .chain(&self.analysis.redirects)
            .any(|redirect| redirect.descriptor.as_deref() == Some(&number.text) && redirect.may_be_terminal())
    }

    /// Whether what is typed reaches the command.
    fn reads_terminal(&self) -> bool {
        if self.wrapper().is_some_and(|outer| !passes_terminal(outer)) {
            return false;
        }
        match self.segment.stdin {
            Stdin::Inherited => true,
            _ if self.redirects_terminal() => true,
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
        let assigned = word.parts.iter().any(|part| match part {
            WordPart::Variable { name, .. } => self.facts().names_shell(name),
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

    fn has_inner(&self) -> bool {
        self.analysis.segments[self.number + 1..]
            .iter()
            .any(|inner| inner.wrapper == Some(self.number) && inner.reach != Reach::DenyOnly)
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
        Some(file) if is_terminal_file(&file.text) => true,
        // An unquoted variable may be empty.
        Some(file) => match file.parts.as_slice() {
            [WordPart::Variable { quoted, name }] => !quoted || name == "@",
            _ => false,
        },
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
