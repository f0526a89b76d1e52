//! Follows a command line step by step: where each command may run, and which files it names there.

use std::borrow::Cow;
use std::ops::Range;
use std::path::{Path, PathBuf};

use super::directory::Directories;
use super::frames::{Frame, Looping, structure};
use super::glob::MOST_ENTRIES;
use super::state::{EMPTY, LOST, Place, Places, State, UNKNOWN};
use super::value::ANY;
use super::variables::Variables;
use super::{Ground, Look, Touched, is_device};
use crate::analysis::{CommandAnalysis, Redirect, RedirectKind, Script, Step, Word, WordPart};
use crate::programs::Usage;

/// Files that are told apart; with more, it is not known what else there is.
const MOST_FILES: usize = 200;
/// Names that are looked up for one command line.
const MOST_NAMES: usize = 4_096;
/// Scripts whose text is known only with the values of variables.
pub(super) const MOST_LATE: usize = 4;
/// Scripts in scripts and functions in functions.
const MOST_CALLS: usize = 12;
/// How often a loop is gone through until it is taken to lead anywhere.
pub(super) const MOST_PASSES: u8 = 3;

/// A command line on its way.
#[derive(Debug)]
pub(super) struct Walk<'a> {
    pub(super) analysis: &'a CommandAnalysis,
    pub(super) ground: Ground<'a>,
    pub(super) home: Option<&'a Path>,
    pub(super) look: Look,
    pub(super) directories: Directories,
    pub(super) variables: Variables,
    /// Entries of directories that may still be looked at.
    pub(super) entries: usize,
    /// Whether wildcards may match names that start with a dot.
    pub(super) hidden_entries: bool,
    /// Functions met so far: their number, and the steps of their bodies.
    pub(super) functions: Vec<(u32, Steps<'a>)>,
    /// Commands with positional parameters, and what they are with a list that the script tells.
    pub(super) resolved: Vec<(usize, usize)>,
    /// Whether the command is one with its parameters put in, whose inner commands are not marked as running.
    pub(super) guessed: bool,
    /// Scripts by what runs them.
    pub(super) inner: Vec<(usize, &'a Script)>,
    /// Where it was when it left for good.
    pub(super) last: Places,
    /// The functions that run, and where each started.
    running: Vec<(Steps<'a>, Places)>,
    /// Where `return` left the functions that run.
    pub(super) returns: Vec<Places>,
    /// How many scripts and functions run in each other.
    pub(super) calls: usize,
    /// How many things may or may not happen around the current step.
    pub(super) maybe: usize,
    /// The segment whose name is looked at.
    pub(super) program: Option<usize>,
    /// The loop that comes next.
    pub(super) looping: Looping<'a>,
    /// Scripts that were known only with the values of variables.
    pub(super) late: usize,
    steps_left: usize,
    /// Names that may still be looked up.
    names_left: usize,
    found: Vec<Touched>,
    /// What is not known goes last.
    unknown: Vec<Touched>,
}

/// A run of steps of a script.
#[derive(Clone, Debug)]
pub(super) struct Steps<'a> {
    pub(super) script: &'a Script,
    list: &'a [Step],
    range: Range<usize>,
}

impl Steps<'_> {
    fn is_same(&self, other: &Self) -> bool {
        std::ptr::eq(self.list, other.list) && self.range == other.range
    }
}

/// Follows a whole command line.
pub(super) fn walk<'a>(analysis: &'a CommandAnalysis, ground: &Ground<'a>) -> Vec<Touched> {
    let mut look = Look::new(ground.roots);
    let mut directories = Directories::default();
    let real = look.resolve(Path::new("/"), ground.workdir).path;
    let mut places = Places::NONE;
    let mut start = |logical: PathBuf, real: &Path| {
        let current = directories.add(logical, real.to_owned());
        places.add(Place { current, old: UNKNOWN, stack: if ground.lasting { LOST } else { EMPTY } });
    };
    start(ground.workdir.to_owned(), &real);
    if real != ground.workdir {
        // A shell may or may not take over the name that it was started with.
        start(real.clone(), &real);
    }
    let mut inner: Vec<(usize, &Script)> =
        analysis.scripts.iter().filter_map(|script| Some((script.runner?, script))).collect();
    inner.sort_by_key(|(runner, _)| *runner);
    let mut resolved = analysis.resolved.clone();
    resolved.sort_unstable();
    let steps: usize = analysis.scripts.iter().map(Script::len).sum();
    let mut walk = Walk {
        analysis,
        ground: *ground,
        late: 0,
        home: ground.home,
        look,
        directories,
        variables: Variables::default(),
        entries: MOST_ENTRIES,
        hidden_entries: analysis.segments.iter().any(|segment| segment.program() == Some("shopt")),
        functions: Vec::new(),
        resolved,
        guessed: false,
        inner,
        last: places,
        running: Vec::new(),
        returns: Vec::new(),
        calls: 0,
        maybe: 0,
        program: None,
        looping: Looping::default(),
        steps_left: 8 * steps + 2_048,
        names_left: MOST_NAMES,
        found: Vec::new(),
        unknown: Vec::new(),
    };
    if !walk.look.is_inside(&real) {
        walk.outside(&real, ground.workdir, Usage::Enter);
    }
    for script in analysis.scripts.iter().filter(|script| script.runner.is_none()) {
        walk.script(script, State::of(places));
    }
    walk.found.append(&mut walk.unknown);
    walk.found
}

impl<'a> Walk<'a> {
    /// Runs a whole script.
    pub(super) fn script(&mut self, script: &'a Script, state: State) -> State {
        let steps = Steps { script, list: &script.steps, range: 0..script.steps.len() };
        self.run(&steps, state)
    }

    /// Runs steps from a state; says where they end.
    pub(super) fn run(&mut self, steps: &Steps<'a>, mut state: State) -> State {
        let mut frames: Vec<Frame<'a>> = Vec::new();
        let around = self.maybe;
        let mut at = steps.range.start;
        while at < steps.range.end {
            let Some(step) = steps.list.get(at).copied() else { break };
            at += 1;
            if self.steps_left == 0 {
                self.unknown_text("more than can be followed", Usage::Run);
                self.variables.lose();
                return State::of(Places::one(Place::LOST));
            }
            self.steps_left -= 1;
            self.maybe = around + frames.len();
            match step {
                Step::Nothing => {}
                Step::Command(number) => state = self.command(steps, number as usize, state, &mut frames),
                Step::Status => state = State::of(state.all()),
                Step::Test(number) => {
                    if let Some(word) = self.analysis.tests.get(number as usize) {
                        self.word(word, self.here(&state), Usage::Read);
                    }
                }
                Step::Redirect(number) => {
                    if let Some(redirect) = self.analysis.redirects.get(number as usize) {
                        self.redirect(redirect, self.here(&state));
                    }
                }
                Step::Body(number) => {
                    if let Some(list) = steps.script.bodies.get(number as usize).filter(|list| !list.is_empty())
                        && self.calls < MOST_CALLS
                    {
                        self.calls += 1;
                        let range = 0..list.len();
                        self.run(&Steps { script: steps.script, list, range }, State::of(self.here(&state)));
                        self.calls -= 1;
                    }
                }
                Step::Value(number) => {
                    if let Some(value) = self.analysis.loops.get(number as usize) {
                        self.loop_value(value, &state);
                    }
                }
                Step::Function { name, end } => {
                    let body = Steps { script: steps.script, list: steps.list, range: at..end as usize };
                    self.define(name, &body, &state);
                    at = at.max(end as usize);
                }
                Step::Loop => {
                    let entry = state.all();
                    state = State::of(entry);
                    frames.push(Frame::Loop {
                        start: at,
                        entry,
                        exit: Places::NONE,
                        again: Places::NONE,
                        variables: self.variables.clone(),
                        pass: 0,
                        name: self.looping.name,
                        values: self.turns(),
                        turn: 0,
                    });
                }
                Step::Forget => self.variables.lose(),
                Step::Choice => self.looping.choice = true,
                Step::Done => {
                    if let Some(start) = self.end_of_loop(&mut state, &mut frames) {
                        at = start;
                    }
                }
                other => structure(other, &mut state, &mut frames),
            }
        }
        self.maybe = around;
        state
    }

    pub(super) fn may_call(&self) -> bool {
        self.calls < MOST_CALLS
    }

    /// Takes a step that is not in a script.
    pub(super) fn spend(&mut self) -> bool {
        self.steps_left = self.steps_left.saturating_sub(1);
        if self.steps_left == 0 {
            self.unknown_text("more than can be followed", Usage::Run);
        }
        self.steps_left > 0
    }

    pub(super) fn is_function(&self, name: &Word) -> bool {
        !self.functions.is_empty()
            && name.value().is_some_and(|name| self.function(name).is_some_and(|bodies| !bodies.is_empty()))
    }

    /// The bodies that a name may call.
    pub(super) fn function(&self, name: &str) -> Option<Vec<Steps<'a>>> {
        if self.functions.is_empty() {
            return None;
        }
        let named = |number: u32| self.analysis.functions.get(number as usize).is_some_and(|known| known == name);
        Some(self.functions.iter().filter(|(number, _)| named(*number)).map(|(_, body)| body.clone()).collect())
    }

    /// Where a command runs; where nothing should run any more, it runs where that was decided.
    pub(super) fn here(&self, state: &State) -> Places {
        let all = state.all();
        if all.is_empty() { self.last } else { all }
    }

    fn define(&mut self, name: u32, body: &Steps<'a>, state: &State) {
        // Its commands count also when nobody calls it.
        self.call(body, *state);
        if self.functions.len() < MOST_FILES {
            self.functions.push((name, body.clone()));
        }
    }

    /// Runs the body of a function.
    pub(super) fn call(&mut self, body: &Steps<'a>, state: State) -> State {
        if self.calls >= MOST_CALLS {
            return State::of(Places::one(Place::LOST));
        }
        let input = self.here(&state);
        let mut same = 0;
        for (running, started) in &self.running {
            if running.is_same(body) {
                if started.holds(&input) {
                    // It leads nowhere that the call around it does not lead, too.
                    return State::of(input);
                }
                same += 1;
            }
        }
        if same > usize::from(MOST_PASSES) {
            return State::of(Places::one(Place::LOST));
        }
        self.calls += 1;
        self.maybe += 1;
        self.returns.push(Places::NONE);
        self.running.push((body.clone(), input));
        let mut state = self.run(body, state);
        self.running.pop();
        let returned = self.returns.pop().unwrap_or(Places::NONE);
        state.ok.join(&returned);
        state.failed.join(&returned);
        state.certain &= returned.is_empty();
        self.maybe -= 1;
        self.calls -= 1;
        state
    }

    fn command(&mut self, _steps: &Steps<'a>, number: usize, state: State, frames: &mut [Frame<'a>]) -> State {
        let Some(segment) = self.analysis.segments.get(number) else { return state };
        let input = self.here(&state);
        let name = segment.words.first().filter(|name| !self.is_function(name));
        match name.and_then(Word::value) {
            Some("exit" | "logout") => self.last = input,
            Some("return") => {
                let Some(returned) = self.returns.last_mut() else { return State::of(input) };
                returned.join(&input);
                self.last = input;
            }
            Some(leave @ ("break" | "continue")) => {
                let mut found = false;
                for frame in frames.iter_mut().rev() {
                    match frame {
                        Frame::Loop { exit, again, .. } => {
                            exit.join(&input);
                            if leave == "continue" {
                                again.join(&input);
                            }
                            found = true;
                        }
                        Frame::Process { .. } => break,
                        _ => {}
                    }
                }
                if !found {
                    return State::of(input);
                }
                self.last = input;
            }
            Some("exec") if segment.words.len() > 1 => {
                self.segment(number, input);
                self.last = input;
            }
            _ => return self.segment(number, input),
        }
        State::NOWHERE
    }

    /// Notes the file of a redirection.
    pub(super) fn redirect(&mut self, redirect: &Redirect, places: Places) {
        let usage = match redirect.kind {
            RedirectKind::Read => Usage::Read,
            RedirectKind::Write | RedirectKind::Append | RedirectKind::ReadWrite => Usage::Write,
            // What is not a plain number may be a file as well.
            RedirectKind::DuplicateInput | RedirectKind::DuplicateOutput | RedirectKind::Text => return,
        };
        self.word(&redirect.target, places, usage);
    }

    /// Notes the files that a word may name.
    pub(super) fn word(&mut self, word: &Word, places: Places, usage: Usage) {
        if !word.is_dynamic() {
            self.file(&word.text, places, usage);
            return;
        }
        if matches!(word.parts.as_slice(), [WordPart::Process]) {
            return;
        }
        for place in places.as_slice() {
            match self.texts(word, *place) {
                Some(texts) => {
                    for text in texts {
                        self.file(&text, Places::one(*place), usage);
                    }
                }
                None => self.unknown(Some(word), usage),
            }
        }
    }

    /// The texts of a word in any of the places.
    pub(super) fn values(&self, word: &Word, places: Places) -> Option<Vec<String>> {
        let mut values: Vec<String> = Vec::new();
        for place in places.as_slice() {
            for text in self.texts(word, *place)? {
                if !values.iter().any(|known| *known == text) {
                    values.push(text.into_owned());
                }
            }
        }
        Some(values)
    }

    /// Notes the file that a text names.
    pub(super) fn file(&mut self, text: &str, places: Places, usage: Usage) {
        if text.is_empty() || is_device(text) {
            return;
        }
        if self.names_left == 0 {
            self.unknown_text("more files than can be looked at", usage);
            return;
        }
        self.names_left -= 1;
        let absolute = text.starts_with('/');
        for place in places.as_slice() {
            let base: Cow<'_, Path> = match self.directories.real(place.current) {
                _ if absolute => Cow::Borrowed(Path::new("/")),
                Some(real) => Cow::Owned(real.to_owned()),
                None => {
                    self.unknown_text(&text.replace(ANY, "*"), usage);
                    continue;
                }
            };
            if text.contains(ANY) {
                self.pattern(&base, text, usage);
            } else {
                let path = Path::new(text);
                let resolved = self.look.resolve(&base, path);
                if !resolved.inside {
                    let named = base.join(path);
                    self.outside(&resolved.path, &named, usage);
                }
            }
            if absolute {
                return;
            }
        }
    }

    /// Notes a file outside.
    pub(super) fn outside(&mut self, path: &Path, named: &Path, usage: Usage) {
        if let Some(touched) =
            self.found.iter_mut().find(|touched| touched.path.as_deref().map(Path::as_os_str) == Some(path.as_os_str()))
        {
            // A rule about what may be entered only must not cover what is read, too.
            if touched.usage == Usage::Enter {
                touched.usage = usage;
            }
            if touched.program != self.program {
                touched.program = None;
            }
            return;
        }
        if self.found.len() >= MOST_FILES {
            self.unknown_text("more files than can be shown", usage);
            return;
        }
        let named = named.to_string_lossy().into_owned();
        self.found.push(Touched { path: Some(path.to_owned()), named, usage, program: self.program });
    }

    /// Notes a file that is known only when the command runs.
    pub(super) fn unknown(&mut self, word: Option<&Word>, usage: Usage) {
        self.unknown_text(word.map_or("", |word| &word.text), usage);
    }

    pub(super) fn unknown_text(&mut self, text: &str, usage: Usage) {
        if self.unknown.len() >= MOST_FILES || self.unknown.iter().any(|touched| touched.named == text) {
            return;
        }
        self.unknown.push(Touched { path: None, named: text.to_owned(), usage, program: self.program });
    }
}
