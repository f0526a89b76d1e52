//! What a step begins and ends: lists, conditions, loops, processes; only where the script may be changes.

use super::state::{Place, Places, State};
use super::value::ANY;
use super::variables::Variables;
use super::walk::{MOST_PASSES, Walk};
use crate::analysis::{Assignment, Step, WordPart};

/// Turns of a loop that are followed one by one.
const MOST_TURNS: usize = 8;

/// What is known of a loop before it begins.
#[derive(Debug, Default)]
pub(super) struct Looping<'a> {
    /// Its variable.
    pub(super) name: Option<&'a str>,
    /// It is a `select`.
    pub(super) choice: bool,
    known: bool,
    values: Vec<String>,
}

/// Something that has begun and not ended.
#[derive(Debug)]
pub(super) enum Frame<'a> {
    And {
        failed: Places,
        certain: bool,
    },
    Or {
        ok: Places,
    },
    If {
        out: Places,
        otherwise: Places,
    },
    Loop {
        start: usize,
        entry: Places,
        exit: Places,
        again: Places,
        variables: Variables,
        pass: u8,
        /// Its variable, when the script tells the values.
        name: Option<&'a str>,
        /// The values in order, when each of them is known; then every turn is followed by itself.
        values: Vec<String>,
        turn: usize,
    },
    Case {
        entry: Places,
        next: Places,
        out: Places,
    },
    Process {
        outside: State,
    },
    Compound {
        opened: State,
        after: Option<State>,
    },
}

impl<'a> Walk<'a> {
    /// Ends a loop, or says where it begins again.
    pub(super) fn end_of_loop(&mut self, state: &mut State, frames: &mut Vec<Frame<'a>>) -> Option<usize> {
        let Some(Frame::Loop { start, mut entry, mut exit, again, variables, pass, name, values, turn }) = frames.pop()
        else {
            return None;
        };
        let mut back = state.all();
        back.join(&again);
        if let (Some(name), Some(value)) = (name, values.get(turn + 1)) {
            self.variables.set(name, Some(vec![value.clone()]), true);
            *state = State::of(back);
            let (again, turn) = (Places::NONE, turn + 1);
            frames.push(Frame::Loop { start, entry, exit, again, variables, pass, name: Some(name), values, turn });
            return Some(start);
        }
        if !values.is_empty() {
            exit.join(&back);
            *state = State::of(exit);
            self.leave_loop(name);
            return None;
        }
        let settled = variables == self.variables;
        if entry.holds(&back) && settled || pass >= MOST_PASSES {
            *state = State::of(exit);
            self.leave_loop(name);
            return None;
        }
        if !entry.holds(&back) && pass + 1 == MOST_PASSES {
            entry = Places::one(Place::LOST);
        }
        entry.join(&back);
        if !settled && pass + 1 == MOST_PASSES {
            self.variables.lose();
        }
        *state = State::of(entry);
        let (again, variables) = (Places::NONE, self.variables.clone());
        frames.push(Frame::Loop { start, entry, exit, again, variables, pass: pass + 1, name, values, turn });
        Some(start)
    }

    fn leave_loop(&mut self, name: Option<&str>) {
        if let Some(name) = name.filter(|_| self.maybe > 1) {
            // Around it, the loop may not have run.
            self.variables.set(name, None, false);
        }
    }

    /// Notes a value of the loop that comes next.
    pub(super) fn loop_value(&mut self, value: &'a Assignment, state: &State) {
        let values = self.values(&value.value, self.here(state));
        let first = self.looping.name != Some(value.name.as_str());
        if first {
            let choice = self.looping.choice;
            self.looping = Looping { name: Some(&value.name), choice, known: !choice, values: Vec::new() };
        }
        let list = value.value.parts.iter().all(|part| matches!(part, WordPart::Literal(_) | WordPart::Brace));
        match &values {
            Some(values) if list || values.len() == 1 => self.looping.values.extend(values.iter().cloned()),
            _ => self.looping.known = false,
        }
        self.variables.set(&value.name, values, first);
    }

    /// The values of the loop that begins, if every turn of it can be followed.
    pub(super) fn turns(&mut self) -> Vec<String> {
        let looping = std::mem::take(&mut self.looping);
        let plain = looping.values.iter().all(|value| !value.contains(ANY));
        let (Some(name), true) = (looping.name, looping.known && plain && looping.values.len() <= MOST_TURNS) else {
            return Vec::new();
        };
        if let Some(value) = looping.values.first() {
            self.variables.set(name, Some(vec![value.clone()]), true);
        }
        looping.values
    }
}

/// Steps that only change where the script may be.
pub(super) fn structure(step: Step, state: &mut State, frames: &mut Vec<Frame<'_>>) {
    match step {
        Step::Enter => {
            frames.push(Frame::Process { outside: *state });
            *state = State::of(state.all());
        }
        Step::Leave => {
            if let Some(Frame::Process { outside }) = frames.pop() {
                *state = State::of(outside.all());
            }
        }
        Step::Open => frames.push(Frame::Compound { opened: *state, after: None }),
        Step::Trail => {
            if let Some(Frame::Compound { opened, after }) = frames.last_mut() {
                *after = Some(*state);
                *state = *opened;
            }
        }
        Step::Close => {
            if let Some(Frame::Compound { after, .. }) = frames.pop() {
                *state = after.unwrap_or(*state);
            }
        }
        Step::And => {
            frames.push(Frame::And { failed: state.failed, certain: state.certain });
            *state = State::of(state.ok);
        }
        Step::EndAnd => {
            if let Some(Frame::And { failed, certain }) = frames.pop() {
                // What cannot fail leaves no failure behind.
                if !certain {
                    state.failed = if state.certain { Places::NONE } else { state.failed };
                    state.failed.join(&failed);
                    state.certain = false;
                }
            }
        }
        Step::Or => {
            frames.push(Frame::Or { ok: state.ok });
            *state = State::of(state.failed);
        }
        Step::EndOr => {
            if let Some(Frame::Or { ok }) = frames.pop() {
                state.ok.join(&ok);
            }
        }
        Step::Not => *state = State { ok: state.failed, failed: state.ok, certain: false },
        Step::Then => {
            frames.push(Frame::If { out: Places::NONE, otherwise: state.failed });
            *state = State::of(state.ok);
        }
        Step::Else => {
            if let Some(Frame::If { out, otherwise }) = frames.last_mut() {
                *out = state.all();
                *state = State::of(*otherwise);
            }
        }
        Step::Fi => {
            if let Some(Frame::If { out, .. }) = frames.pop() {
                let mut all = state.all();
                all.join(&out);
                *state = State::of(all);
            }
        }
        Step::While | Step::Until | Step::Each => {
            if let Some(Frame::Loop { exit, values, .. }) = frames.last_mut() {
                if !values.is_empty() {
                    // It runs to its end.
                    return;
                }
                let (leaves, stays) = match step {
                    Step::While => (state.failed, state.ok),
                    Step::Until => (state.ok, state.failed),
                    _ => (state.all(), state.all()),
                };
                exit.join(&leaves);
                *state = State::of(stays);
            }
        }
        Step::Case => {
            let entry = state.all();
            *state = State::of(entry);
            frames.push(Frame::Case { entry, next: entry, out: Places::NONE });
        }
        Step::Branch => {
            if let Some(Frame::Case { entry, next, out }) = frames.last_mut() {
                out.join(&state.all());
                *state = State::of(*next);
                *next = *entry;
            }
        }
        Step::Fall => {
            if let Some(Frame::Case { next, .. }) = frames.last_mut() {
                next.join(&state.all());
            }
        }
        Step::Esac => {
            if let Some(Frame::Case { entry, mut out, .. }) = frames.pop() {
                out.join(&state.all());
                out.join(&entry);
                *state = State::of(out);
            }
        }
        _ => {}
    }
}
