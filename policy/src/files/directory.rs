//! The directories that were met, and the builtins that change them.

use std::borrow::Cow;
use std::path::{Component, Path, PathBuf};

use super::state::{EMPTY, Id, LOST, Place, Places, State, UNKNOWN};
use super::walk::Walk;
use crate::analysis::{Assignment, Segment, Word};
use crate::programs::Usage;

/// Directories beyond which new ones are not known.
const MOST_DIRECTORIES: usize = 200;

/// Directories and stacks of them, by number.
#[derive(Clone, Debug, Default)]
pub(super) struct Directories {
    known: Vec<Directory>,
    /// A directory, and the stack below it.
    stacks: Vec<(Id, Id)>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Directory {
    /// As `$PWD` has it.
    logical: PathBuf,
    /// Resolved.
    real: PathBuf,
}

impl Directories {
    pub(super) fn logical(&self, id: Id) -> Option<&Path> {
        self.known.get(usize::from(id)).map(|directory| directory.logical.as_path())
    }

    pub(super) fn real(&self, id: Id) -> Option<&Path> {
        self.known.get(usize::from(id)).map(|directory| directory.real.as_path())
    }

    pub(super) fn add(&mut self, logical: PathBuf, real: PathBuf) -> Id {
        let directory = Directory { logical, real };
        let found = self.known.iter().position(|known| *known == directory);
        let number = found.unwrap_or_else(|| {
            if self.known.len() < MOST_DIRECTORIES {
                self.known.push(directory);
                self.known.len() - 1
            } else {
                usize::from(UNKNOWN)
            }
        });
        Id::try_from(number).unwrap_or(UNKNOWN)
    }

    fn push(&mut self, directory: Id, below: Id) -> Id {
        if below == LOST {
            return LOST;
        }
        let entry = (directory, below);
        let found = self.stacks.iter().position(|known| *known == entry);
        let number = found.unwrap_or_else(|| {
            if self.stacks.len() < MOST_DIRECTORIES {
                self.stacks.push(entry);
                self.stacks.len() - 1
            } else {
                usize::from(LOST)
            }
        });
        Id::try_from(number).unwrap_or(LOST)
    }

    fn pop(&self, stack: Id) -> Option<(Id, Id)> {
        self.stacks.get(usize::from(stack)).copied()
    }
}

/// What `cd` and `pushd` are told.
enum Target<'s> {
    Home,
    Back,
    /// The top of the stack.
    Top,
    Named(&'s Word),
    Unknown,
    /// It stays where it is.
    None,
}

impl<'a> Walk<'a> {
    /// Runs a builtin that changes directories; none when the command is another one.
    pub(super) fn directory_builtin(&mut self, segment: &'a Segment, input: Places) -> Option<State> {
        let name = segment.words.first()?.value()?;
        let arguments = &segment.words[1..];
        match name {
            "cd" | "chdir" | "pushd" => {
                let target = target(name, arguments);
                Some(self.go(segment, &target, name == "pushd", input))
            }
            "popd" => Some(self.pop_directory(arguments, input)),
            "dirs" if !arguments.is_empty() => {
                let lost = |place: &Place| Place { stack: LOST, ..*place };
                Some(State::of(map(&input, lost)))
            }
            _ => None,
        }
    }

    fn go(&mut self, segment: &'a Segment, target: &Target<'a>, push: bool, input: Places) -> State {
        let mut state = State { ok: Places::NONE, failed: input, certain: true };
        for place in input.as_slice() {
            let place = *place;
            match target {
                Target::None => {
                    state.ok.add(place);
                    state.certain = false;
                }
                Target::Unknown => {
                    self.unknown(None, Usage::Enter);
                    self.arrive(&mut state, place, UNKNOWN, push);
                }
                Target::Top => match self.directories.pop(place.stack) {
                    Some((top, below)) => {
                        let stack = self.directories.push(place.current, below);
                        state.ok.add(Place { current: top, old: place.current, stack });
                        self.enter(top);
                    }
                    None if place.stack == EMPTY => state.certain = false,
                    None => self.arrive(&mut state, place, UNKNOWN, false),
                },
                Target::Back => {
                    if place.old == UNKNOWN {
                        self.unknown(None, Usage::Enter);
                    } else {
                        self.enter(place.old);
                    }
                    self.arrive(&mut state, place, place.old, push);
                }
                Target::Home => match self.assigned(segment, "HOME", place) {
                    Some(homes) => {
                        homes.iter().for_each(|home| self.change(&mut state, place, home, push));
                    }
                    None => {
                        self.unknown(None, Usage::Enter);
                        self.arrive(&mut state, place, UNKNOWN, push);
                    }
                },
                Target::Named(word) => match self.texts(word, place) {
                    Some(texts) => {
                        for text in texts {
                            self.search(segment, &mut state, place, &text, push);
                        }
                    }
                    None => {
                        self.unknown(Some(word), Usage::Enter);
                        self.arrive(&mut state, place, UNKNOWN, push);
                    }
                },
            }
        }
        state
    }

    /// Changes to a directory that `CDPATH` may have to find.
    fn search(&mut self, segment: &Segment, state: &mut State, place: Place, text: &str, push: bool) {
        let first = text.split('/').next().unwrap_or_default();
        if !matches!(first, "" | "." | "..") {
            match self.assigned(segment, "CDPATH", place) {
                Some(values) => {
                    for entry in values.iter().flat_map(|value| value.split(':')).filter(|entry| !entry.is_empty()) {
                        let joined = format!("{}/{text}", entry.trim_end_matches('/'));
                        self.change(state, place, &joined, push);
                        state.certain = false;
                    }
                }
                None if self.is_assigned(segment, "CDPATH") => {
                    self.unknown(None, Usage::Enter);
                    self.arrive(state, place, UNKNOWN, push);
                }
                None => {}
            }
        }
        self.change(state, place, text, push);
    }

    /// Changes to a directory that is named.
    fn change(&mut self, state: &mut State, place: Place, text: &str, push: bool) {
        if text.is_empty() {
            state.ok.add(place);
            return;
        }
        if text.contains(super::value::ANY) {
            self.file(text, Places::one(place), Usage::Enter);
            self.arrive(state, place, UNKNOWN, push);
            return;
        }
        let path = Path::new(text);
        let here = self.directories.known.get(usize::from(place.current)).cloned();
        let base = match &here {
            Some(here) => here,
            None if path.is_absolute() => &Directory { logical: PathBuf::from("/"), real: PathBuf::from("/") },
            None => {
                self.unknown(None, Usage::Enter);
                self.arrive(state, place, UNKNOWN, push);
                return;
            }
        };
        let physical = self.look.resolve(&base.real, path);
        let logical = lexical(&base.logical, path);
        let dots = path.components().any(|component| component == Component::ParentDir);
        // A shell takes `..` off the name of its directory, unless it was told not to.
        let other = dots.then(|| self.look.resolve(Path::new("/"), &logical)).filter(|other| *other != physical);
        // `missing/..` is nowhere, although its name can be resolved.
        let through = !dots || self.look.may_enter(&base.real.join(path));
        state.certain &= other.is_none() && through && self.look.may_enter(&physical.path);
        for resolved in [Some(physical), other].into_iter().flatten() {
            if !resolved.inside {
                self.outside(&resolved.path, &logical, Usage::Enter);
            }
            let id = self.directories.add(logical.clone(), resolved.path);
            self.arrive(state, place, id, push);
        }
    }

    fn arrive(&mut self, state: &mut State, place: Place, directory: Id, push: bool) {
        if directory == UNKNOWN {
            state.certain = false;
        }
        let stack = if push { self.directories.push(place.current, place.stack) } else { place.stack };
        state.ok.add(Place { current: directory, old: place.current, stack });
    }

    fn pop_directory(&mut self, arguments: &[Word], input: Places) -> State {
        let mut state = State { ok: Places::NONE, failed: input, certain: false };
        for place in input.as_slice() {
            let place = *place;
            match self.directories.pop(place.stack) {
                Some((top, below)) if arguments.is_empty() => {
                    self.enter(top);
                    state.ok.add(Place { current: top, old: place.current, stack: below });
                }
                None if place.stack == EMPTY => {}
                _ => {
                    self.unknown(None, Usage::Enter);
                    state.ok.add(Place { current: UNKNOWN, old: place.current, stack: LOST });
                }
            }
        }
        // Nothing but a removed directory keeps `popd` from going back.
        state.certain = state.ok.as_slice().len() == input.as_slice().len();
        state
    }

    /// Notes a directory that was met before.
    fn enter(&mut self, directory: Id) {
        let Some((logical, real)) = self.directories.logical(directory).zip(self.directories.real(directory)) else {
            self.unknown(None, Usage::Enter);
            return;
        };
        if !self.look.is_inside(real) {
            let (logical, real) = (logical.to_owned(), real.to_owned());
            self.outside(&real, &logical, Usage::Enter);
        }
    }

    /// The values of a variable, also when it is assigned before the command itself.
    fn assigned(&self, segment: &Segment, name: &str, place: Place) -> Option<Vec<String>> {
        match segment.assignments.iter().rfind(|assignment| assignment.name == name) {
            Some(Assignment { value, .. }) => {
                Some(self.texts(value, place)?.into_iter().map(Cow::into_owned).collect())
            }
            None => self.variable(name, place),
        }
    }

    fn is_assigned(&self, segment: &Segment, name: &str) -> bool {
        segment.assignments.iter().any(|assignment| assignment.name == name)
            || !matches!(self.variables.get(name), super::variables::Known::Untouched)
    }

    /// The places with another directory, for what a command runs elsewhere.
    pub(super) fn moved(&mut self, input: &Places, word: &Word) -> Places {
        let mut places = Places::NONE;
        for place in input.as_slice() {
            let lost = Place { current: UNKNOWN, ..*place };
            let Some(texts) = self.texts(word, *place) else {
                places.add(lost);
                continue;
            };
            for text in texts {
                let path = Path::new(&*text);
                let base = self.directories.real(place.current).map(Path::to_owned);
                match base.or_else(|| path.is_absolute().then(|| PathBuf::from("/"))) {
                    Some(base) if !text.contains(super::value::ANY) => {
                        let real = self.look.resolve(&base, path).path;
                        let current = self.directories.add(real.clone(), real);
                        places.add(Place { current, ..*place });
                    }
                    _ => places.add(lost),
                }
            }
        }
        places
    }
}

pub(super) fn map(places: &Places, change: impl Fn(&Place) -> Place) -> Places {
    let mut mapped = Places::NONE;
    places.as_slice().iter().for_each(|place| mapped.add(change(place)));
    mapped
}

fn target<'s>(name: &str, arguments: &'s [Word]) -> Target<'s> {
    let mut rest = arguments;
    while let Some((word, after)) = rest.split_first() {
        match word.value() {
            Some("--") => {
                rest = after;
                break;
            }
            Some("-n") if name == "pushd" => return Target::None,
            Some(text) if is_rotation(text) && name == "pushd" => return Target::Unknown,
            Some(text)
                if text.len() > 1 && text.starts_with('-') && text[1..].bytes().all(|b| b"LPe@".contains(&b)) =>
            {
                rest = after;
            }
            _ => break,
        }
    }
    match rest.first() {
        None if name == "pushd" => Target::Top,
        None => Target::Home,
        Some(word) if word.value() == Some("-") => Target::Back,
        Some(word) => Target::Named(word),
    }
}

/// `+1`, `-0`
fn is_rotation(text: &str) -> bool {
    text.strip_prefix(['+', '-']).is_some_and(|rest| !rest.is_empty() && rest.bytes().all(|b| b.is_ascii_digit()))
}

/// The path without `.` and `..`, which are taken off its name.
pub(super) fn lexical(base: &Path, path: &Path) -> PathBuf {
    let mut plain = if path.is_absolute() { PathBuf::new() } else { base.to_owned() };
    for component in path.components() {
        match component {
            Component::CurDir => {}
            Component::ParentDir => {
                plain.pop();
            }
            other => plain.push(other),
        }
    }
    plain
}
