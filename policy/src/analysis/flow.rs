//! The order in which a script's commands run, as steps that whoever follows the working directory goes through.

use super::reader::Reader;

/// One step of a script. Numbers are places in the lists of the tree, later of the whole analysis.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Step {
    /// Nothing: a place for what is known only when more was read.
    Nothing,
    /// A simple command.
    Command(u32),
    /// Arithmetic or `[[`, which may succeed or fail.
    Status,
    /// The operand of a file test in `[[`.
    Test(u32),
    /// The redirection of a compound command.
    Redirect(u32),
    /// The commands in a here-document.
    Body(u32),
    /// A value that a loop gives to its variable.
    Value(u32),
    /// The next loop is a `select`, which takes its values in any order.
    Choice,
    /// A loop gives values to a variable that the script does not tell.
    Forget,
    /// What follows runs in a process of its own, up to its `Leave`.
    Enter,
    /// The end of such a process.
    Leave,
    /// A compound command with redirections begins.
    Open,
    /// Its redirections follow, which are opened before its body runs.
    Trail,
    /// Its end.
    Close,
    /// `&&`: what follows runs only after a success.
    And,
    /// The end of what follows `&&`.
    EndAnd,
    /// `||`: what follows runs only after a failure.
    Or,
    /// The end of what follows `||`.
    EndOr,
    /// `!`
    Not,
    /// The condition of an `if` ends.
    Then,
    /// Its body ends, and what runs otherwise begins.
    Else,
    /// Its end.
    Fi,
    /// A loop begins.
    Loop,
    /// The body of a `while` begins: its condition succeeded.
    While,
    /// The body of an `until` begins: its condition failed.
    Until,
    /// The body of a `for` begins.
    Each,
    /// The end of a loop.
    Done,
    /// The branches of a `case` begin.
    Case,
    /// One of them.
    Branch,
    /// A branch ends with `;&` or `;;&`: what follows may run, too.
    Fall,
    /// Their end.
    Esac,
    /// A function's body follows, up to `end`.
    Function {
        /// Which function.
        name: u32,
        /// The step behind the body.
        end: u32,
    },
}

/// The steps of one script: the command line, or a text that a command runs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Script {
    /// The segment that runs it.
    pub(crate) runner: Option<usize>,
    pub(crate) steps: Vec<Step>,
    /// The steps of its here-documents.
    pub(crate) bodies: Vec<Vec<Step>>,
}

/// Where a script's numbers begin in the lists of the analysis.
#[derive(Clone, Copy, Debug)]
pub(super) struct Offsets {
    pub(super) redirects: usize,
    pub(super) tests: usize,
    pub(super) loops: usize,
    pub(super) functions: usize,
}

impl Script {
    /// How many steps there are.
    pub(crate) fn len(&self) -> usize {
        self.steps.len() + self.bodies.iter().map(Vec::len).sum::<usize>()
    }

    /// Turns a tree's numbers into those of the analysis. `segments` has the segment of each command.
    pub(super) fn renumber(&mut self, segments: &[usize], offsets: Offsets) {
        let shift = |number: &mut u32, by: usize| *number = number.saturating_add(narrow(by));
        for step in self.bodies.iter_mut().flatten().chain(&mut self.steps) {
            match step {
                Step::Command(number) => match segments.get(*number as usize) {
                    Some(segment) => *number = narrow(*segment),
                    None => *step = Step::Nothing,
                },
                Step::Redirect(number) => shift(number, offsets.redirects),
                Step::Test(number) => shift(number, offsets.tests),
                Step::Value(number) => shift(number, offsets.loops),
                Step::Function { name, .. } => shift(name, offsets.functions),
                _ => {}
            }
        }
    }
}

/// Texts are bounded far below what does not fit.
pub(super) fn narrow(number: usize) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}

impl Reader<'_> {
    /// Adds a step, and says where.
    pub(super) fn step(&mut self, step: Step) -> usize {
        self.tree.steps.push(step);
        self.tree.steps.len() - 1
    }

    /// Lets what was read since the step at `start`, a [`Step::Nothing`], run in a process of its own.
    pub(super) fn enclose(&mut self, start: usize) {
        self.fill(start, Step::Enter);
        self.step(Step::Leave);
    }

    /// Replaces a [`Step::Nothing`].
    pub(super) fn fill(&mut self, at: usize, step: Step) {
        if let Some(place) = self.tree.steps.get_mut(at) {
            *place = step;
        }
    }

    /// Takes back a command that turned out to be none; `from` is the first step that may name a later one.
    pub(super) fn take_back(&mut self, index: usize, from: usize) {
        self.tree.commands.remove(index);
        let index = narrow(index);
        for step in self.tree.steps.iter_mut().skip(from) {
            if let Step::Command(number) = step
                && *number > index
            {
                *number -= 1;
            }
        }
    }
}
