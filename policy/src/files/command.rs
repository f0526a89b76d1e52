//! One command on the way: its redirections, its arguments, what it sets, and what it runs in its turn.

use std::borrow::Cow;

use super::Ground;
use super::state::{Places, State};
use super::value::ANY;
use super::walk::{MOST_LATE, Walk};
use crate::analysis::wrappers::{ShellCall, assigned_name, base_name, is_shell};
use crate::analysis::{Assignment, Reach, Script, Segment, Word, WordPart};
use crate::programs::Usage;

/// Programs whose inner command only denying rules look at although it runs on this machine, among the same files.
const LOCAL_RUNNERS: &[&str] = &[
    "poetry",
    "pipenv",
    "pdm",
    "hatch",
    "rye",
    "uv",
    "conda",
    "mamba",
    "micromamba",
    "bundle",
    "direnv",
    "mise",
    "rtx",
    "asdf",
    "pyenv",
    "rbenv",
    "nvm",
    "volta",
    "devbox",
    "flox",
    "pixi",
    "npm",
    "pnpm",
    "yarn",
    "rustup",
    "aws-vault",
    "op",
    "dotenv",
    "doppler",
    "infisical",
    "chamber",
    "bwrap",
];

/// Functions beyond which positional parameters are not told apart.
const MOST_FUNCTIONS: usize = 2;

/// Programs that may take a directory away before `cd` gets to it.
const TAKE_AWAY: &[&str] = &["rm", "rmdir", "mv", "chmod", "unlink", "git", "find", "rsync", "busybox", "trash"];

/// Where programs lie that the system itself brings.
const SYSTEM: &[&str] =
    &["/bin/", "/sbin/", "/usr/", "/lib", "/opt/", "/nix/store/", "/snap/bin/", "/run/current-system/"];

impl<'a> Walk<'a> {
    /// Runs one command; says where the shell is after it.
    pub(super) fn segment(&mut self, number: usize, input: Places) -> State {
        let Some(segment) = self.analysis.segments.get(number) else { return State::of(input) };
        // In the order in which they are written, for who reads it.
        let start = segment.words.first().map_or(usize::MAX, |word| word.span.start);
        let (before, behind): (Vec<_>, Vec<_>) =
            segment.redirects.iter().partition(|redirect| redirect.target.span.start < start);
        before.into_iter().for_each(|redirect| self.redirect(redirect, input));
        let state = self.without_redirections(number, segment, input);
        behind.into_iter().for_each(|redirect| self.redirect(redirect, input));
        state
    }

    fn without_redirections(&mut self, number: usize, segment: &'a Segment, input: Places) -> State {
        let Some(first) = segment.words.first() else {
            for assignment in &segment.assignments {
                self.assign(assignment, input);
            }
            return State::of(input);
        };
        if let Some(state) = self.with_parameters(number, input) {
            return state;
        }
        // A function stands before a builtin of the same name, but not behind `builtin` or `command`.
        let shadowed = segment.scripted && self.is_function(first);
        if !shadowed && let Some(state) = self.directory_builtin(segment, input) {
            return state;
        }
        self.look.distrust |= segment.program().is_some_and(|name| TAKE_AWAY.contains(&name));
        self.name(number, first, input);
        let inside = self.arguments(segment, input);
        self.notice_settings(segment, input);
        self.inner(number, segment, inside, input)
    }

    /// Runs a command with each list of positional parameters that the script tells; none when it tells none.
    fn with_parameters(&mut self, number: usize, input: Places) -> Option<State> {
        let analysis = self.analysis;
        let from = self.resolved.partition_point(|(of, _)| *of < number);
        let lists = self.resolved[from..].iter().take_while(|(of, _)| *of == number).count();
        // Through many functions not every list is told.
        if lists == 0 || analysis.functions.len() > MOST_FUNCTIONS || !self.may_call() {
            return None;
        }
        let wraps = |next: &Segment| next.wrapper == Some(number) && next.reach != Reach::DenyOnly;
        if analysis.segments.get(number + 1).is_some_and(wraps) {
            return None;
        }
        self.calls += 1;
        let outer = std::mem::replace(&mut self.guessed, true);
        let mut all = State::of(Places::NONE);
        for at in from..from + lists {
            let (_, resolved) = self.resolved[at];
            let after = if self.spend() { self.segment(resolved, input) } else { State::of(input) };
            all.ok.join(&after.ok);
            all.failed.join(&after.failed);
            all.certain = after.certain && lists == 1;
        }
        self.guessed = outer;
        self.calls -= 1;
        Some(all)
    }

    /// The program itself, when its name is a path.
    fn name(&mut self, number: usize, name: &Word, input: Places) {
        self.program = Some(number);
        match name.value() {
            Some(path) => {
                let system = SYSTEM.iter().any(|directory| path.starts_with(directory)) && !path.contains("/..");
                if path.contains('/') && !system {
                    self.file(path, input, Usage::Run);
                }
            }
            // What else it may be is asked because nobody knows what runs.
            None if name.text.contains('/') => self.word(name, input, Usage::Run),
            None => {}
        }
        self.program = None;
    }

    /// Notes the files among the arguments; says where that which the command runs starts.
    fn arguments(&mut self, segment: &'a Segment, input: Places) -> Places {
        let mut places = input;
        let mut entered = false;
        let program = segment.program().unwrap_or_default();
        let archive = matches!(program, "tar" | "bsdtar" | "gtar");
        for (number, file) in segment.call.files.iter().enumerate() {
            if file.usage == Usage::Run && number == 0 && Some(&file.path) == segment.words.first() {
                continue;
            }
            match file.usage {
                Usage::Enter => {
                    // `tar` opens its archive where it started; what is below a directory outside is outside.
                    let from = if archive && !entered { input } else { places };
                    self.word(&file.path, from, Usage::Enter);
                    places = self.moved(&from, &file.path);
                    entered = true;
                }
                usage => {
                    let here = if archive && !goes_up(&file.path) { input } else { places };
                    self.word(&file.path, here, usage);
                }
            }
        }
        places
    }

    /// Runs what the command runs: wrapped commands, inner scripts, functions.
    fn inner(&mut self, number: usize, segment: &'a Segment, inside: Places, input: Places) -> State {
        let analysis = self.analysis;
        let name = segment.words.first().and_then(Word::value).unwrap_or_default();
        let mut state = State::of(input);
        let own_shell = matches!(name, "command" | "builtin" | "eval");
        let later = name == "trap";
        let text = script_text(segment);
        if let Some(text) = text {
            self.late_script(text, inside);
        }
        let from = self.inner.partition_point(|(runner, _)| *runner < number);
        let written = self.inner[from..].iter().take_while(|(runner, _)| *runner == number).count();
        let scripts = if text.is_some() { 0 } else { written };
        for at in from..from + scripts {
            let script: &'a Script = self.inner[at].1;
            state = self.script_of(script, segment, own_shell || later, inside, state);
        }
        if analysis.segments.get(number + 1).is_some_and(|next| next.wrapper == Some(number)) {
            let mut next = number + 1;
            let mut inside = inside;
            while let Some(candidate) = analysis.segments.get(next) {
                if candidate.wrapper.is_none_or(|wrapper| wrapper < number) {
                    break;
                }
                let counts = candidate.reach != Reach::DenyOnly && !candidate.scripted
                    || LOCAL_RUNNERS.contains(&base_name(name))
                    || self.guessed;
                if candidate.wrapper == Some(number) && counts && self.spend() {
                    let after = self.segment(next, inside);
                    if candidate.scripted {
                        // Its steps are not known: one command after the other.
                        inside.join(&after.all());
                    }
                    if own_shell {
                        state = after;
                    }
                    if base_name(name) == "xargs" {
                        self.appended(number, candidate, inside);
                    }
                }
                next += 1;
            }
        }
        if let Some(body) = self.function(name) {
            for body in body {
                let after = self.call(&body, State::of(input));
                state.ok.join(&after.ok);
                state.failed.join(&after.failed);
                if !after.certain {
                    state.certain = false;
                }
            }
        }
        state
    }

    /// Follows a script whose text is known only with the values of variables.
    fn late_script(&mut self, word: &'a Word, places: Places) {
        for place in places.as_slice() {
            let here = self.directories.real(place.current).map(std::path::Path::to_owned);
            let texts = self.texts(word, *place).filter(|texts| !texts.iter().any(|text| text.contains(ANY)));
            let (Some(here), Some(texts), true) = (here, texts, self.late < MOST_LATE) else {
                self.unknown(Some(word), Usage::Run);
                continue;
            };
            self.late += texts.len();
            for text in texts {
                let analysis = crate::CommandAnalysis::new(&text);
                let ground = Ground { workdir: &here, home: self.home, ..self.ground };
                for touched in super::outside(&analysis, &ground) {
                    match &touched.path {
                        Some(path) => self.outside(path, std::path::Path::new(&touched.named), touched.usage),
                        None => self.unknown_text(&touched.named, touched.usage),
                    }
                }
            }
        }
    }

    fn script_of(&mut self, script: &'a Script, segment: &Segment, own: bool, inside: Places, state: State) -> State {
        let name = segment.program().unwrap_or_default();
        if !self.may_call() {
            return State::of(Places::one(super::state::Place::LOST));
        }
        self.calls += 1;
        self.maybe += 1;
        let after = if own {
            let after = self.script(script, State::of(state.all()));
            let mut all = after;
            if name == "trap" {
                all.ok.join(&state.ok);
                all.failed.join(&state.failed);
            }
            all
        } else {
            // Only what is exported is seen there, and somebody else's home may be.
            let home = self.home;
            let sets = segment.assignments.iter().any(|assignment| assignment.name == "HOME")
                || segment.sets.iter().any(|name| name == "HOME");
            if sets || matches!(name, "su" | "runuser" | "machinectl") {
                self.home = None;
            }
            let variables = std::mem::take(&mut self.variables);
            let functions = std::mem::take(&mut self.functions);
            self.script(script, State::of(inside));
            self.variables = variables;
            self.functions = functions;
            self.home = home;
            state
        };
        self.maybe -= 1;
        self.calls -= 1;
        after
    }

    /// An assignment that stands alone.
    fn assign(&mut self, assignment: &Assignment, input: Places) {
        // `+=` and subscripts stand between the name and the value.
        let plain = assignment.span.start + assignment.name.len() + 1 == assignment.value.span.start;
        let values = if plain { self.values(&assignment.value, input) } else { None };
        self.variables.set(&assignment.name, values, self.maybe == 0);
    }

    /// What builtins set.
    fn notice_settings(&mut self, segment: &Segment, input: Places) {
        let Some(name) = segment.words.first().and_then(Word::value) else { return };
        let arguments = &segment.words[1..];
        match name {
            "export" | "declare" | "typeset" | "local" | "readonly" => {
                let changes = arguments.iter().any(|word| word.text.starts_with(['-', '+']) && word.text != "-x");
                for word in arguments {
                    let Some(variable) = assigned_name(&word.text) else { continue };
                    let values = if changes { None } else { self.declared(word, variable, input) };
                    self.variables.set(variable, values, self.maybe == 0);
                }
            }
            "unset" | "read" | "mapfile" | "readarray" | "getopts" | "let" | "printf" | "wait" => {
                if name == "printf" && !arguments.iter().any(|word| word.text.starts_with("-v")) {
                    return;
                }
                for word in arguments {
                    let text = word.text.strip_prefix("-v").unwrap_or(&word.text);
                    let end = text.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(text.len());
                    if word.is_dynamic() {
                        self.variables.lose();
                    } else if end > 0 {
                        self.variables.set(&text[..end], None, false);
                    }
                }
            }
            "eval" | "source" | "." if segment.words[1..].iter().any(Word::is_dynamic) || name != "eval" => {
                self.variables.lose();
            }
            _ => {}
        }
    }

    /// The values of `NAME=value` in an argument.
    fn declared(&self, word: &Word, name: &str, input: Places) -> Option<Vec<String>> {
        match word.value() {
            Some(text) => Some(vec![text.get(name.len() + 1..)?.to_owned()]),
            None => {
                // The parts are those of the value.
                let starts = matches!(word.parts.first(), Some(WordPart::Literal(text)) if text.starts_with(name));
                if starts {
                    return None;
                }
                let value = Word { text: word.text.get(name.len() + 1..)?.to_owned(), ..word.clone() };
                let mut values = Vec::new();
                for place in input.as_slice() {
                    values.extend(self.texts(&value, *place)?.into_iter().map(Cow::into_owned));
                }
                Some(values)
            }
        }
    }
}

/// The word that a shell or `eval` runs as a script, when it is known only here.
fn script_text(segment: &Segment) -> Option<&Word> {
    let name = segment.program()?;
    let word = match name {
        "eval" if segment.words.len() == 2 => segment.words.get(1),
        name if is_shell(name) => ShellCall::read(&segment.words[1..]).script,
        _ => None,
    };
    word.filter(|word| word.is_dynamic())
}

/// Whether a relative path may leave the directory that it starts from.
fn goes_up(path: &Word) -> bool {
    path.is_dynamic() || path.text.split('/').any(|name| name == "..")
}
