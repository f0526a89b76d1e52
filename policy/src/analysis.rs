//! What a command line runs: its segments, what wrappers run inside them, and whether all of it was understood.
//!
//! Three readings of every script must agree before anything may be allowed: our own reader, `rable` and
//! `shuck-parser`. Each of them alone misses commands that bash runs; a rule that denies looks at what any of them found.

mod added;
mod compare;
mod compound;
mod doubt;
mod expand;
mod fed;
mod flow;
mod opinions;
mod positional;
mod quote;
mod reader;
mod redirect;
mod second;
mod third;
mod tree;
mod word;
pub(crate) mod wrappers;

use std::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::rc::Rc;

use crate::programs::Call;
pub use added::Added;
use flow::Offsets;
pub(crate) use flow::{Script, Step};
use reader::SyntaxError;
use tree::Tree;
pub use tree::{Assignment, Redirect, RedirectKind, Simple, Stdin, Word, WordPart};
pub(crate) use tree::{is_terminal_file, returns_to_terminal};
pub(crate) use word::read_word;
pub use wrappers::Reach;
use wrappers::{Inner, Operands, Unwrapped, unwrap};

/// Characters beyond which nothing is allowed without asking.
const MAX_CHARACTERS: usize = 10_000;
/// Commands and substitutions beyond which only our own reader, whose cost is linear, is asked.
const MAX_COMMANDS: usize = 1_000;
const MAX_SUBSTITUTIONS: usize = 200;
/// Wrappers in wrappers, scripts in scripts.
const MAX_WRAPPING: usize = 8;
/// Words that come of replacing positional parameters, over the whole command line.
const MAX_REPLACED: usize = 20_000;
/// Looks into wrappers, over the whole command line.
const MAX_UNWRAPS: usize = 2_000;

/// One command of a command line, or one that a wrapper runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Segment {
    /// The words joined by one space; the source of an assignment that stands alone.
    pub text: String,
    /// Command name and arguments; empty for an assignment that stands alone.
    pub words: Vec<Word>,
    /// Assignments before the name.
    pub assignments: Vec<Assignment>,
    /// Variables that a wrapper sets for the command.
    pub sets: Vec<String>,
    /// Redirections of this command.
    pub redirects: Vec<Redirect>,
    /// Where it stands in the command line; none when it comes from an inner text, or from another parser's.
    pub span: Option<Range<usize>>,
    /// Where its input comes from.
    pub stdin: Stdin,
    /// The segment whose program runs this one, by number.
    pub wrapper: Option<usize>,
    /// Where it stands when it is in a substitution.
    pub within: Option<Within>,
    /// Whether it stands in a script: the command line, or the text that its wrapper runs.
    pub(crate) scripted: bool,
    /// How rules reach it. A written segment is [`Reach::Both`].
    pub reach: Reach,
    /// What its program is known to do with these arguments.
    pub call: Call,
    /// What its wrapper adds to the words.
    pub added: Added,
}

impl Segment {
    /// Whether any word is known only when the command runs.
    #[must_use]
    pub fn is_dynamic(&self) -> bool {
        self.words.iter().any(Word::is_dynamic)
    }

    /// The program's name without its directory, when it is known.
    #[must_use]
    pub fn program(&self) -> Option<&str> {
        self.words.first().and_then(Word::value).map(wrappers::base_name)
    }
}

/// The command that holds a substitution.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Within {
    /// The segment, by number.
    pub segment: usize,
    /// Which of its words; none for an assignment or a redirection.
    pub word: Option<usize>,
}

/// Everything that rules, prompts and modes read of a command line.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CommandAnalysis {
    /// Written segments in the order of their first character, each followed by what it wraps.
    pub segments: Vec<Segment>,
    /// Redirections of groups, loops and other compound commands, also of inner scripts.
    pub redirects: Vec<Redirect>,
    /// Why the command line does not parse.
    pub syntax_error: Option<String>,
    /// Why not everything is understood.
    pub doubt: Option<String>,
    /// In which order everything runs: the command line first, then the scripts in it.
    pub(crate) scripts: Vec<Script>,
    /// Operands of file tests in `[[`.
    pub(crate) tests: Vec<Word>,
    /// Values that loops give to their variables.
    pub(crate) loops: Vec<Assignment>,
    /// Functions that it defines.
    pub(crate) functions: Vec<String>,
    /// Whether a here-document speaks of the terminal.
    pub(crate) terminal_heredoc: bool,
    /// Whether a function starts itself more than once, at the same time.
    pub(crate) multiplies: bool,
    /// Whether an expansion or arithmetic sets a variable that programs may look at.
    pub(crate) assigns: bool,
    /// Whether it has a coprocess.
    pub(crate) coprocess: bool,
    /// Segments with positional parameters, and what they are with a list of parameters that the script tells.
    pub(crate) resolved: Vec<(usize, usize)>,
}

impl CommandAnalysis {
    /// Analyses a command line that bash runs.
    #[must_use]
    pub fn new(command: &str) -> Self {
        Self::for_shell(command, Path::new("bash"))
    }

    /// Analyses a command line that `shell` runs. What other shells than bash may read differently is a doubt.
    #[must_use]
    pub fn for_shell(command: &str, shell: &Path) -> Self {
        let name = shell.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        let mut work =
            Work { result: Self::default(), unwraps: 0, compared: 0, parameters: Rc::default(), replaced: 0, fed: 0 };
        let read = catch_unwind(AssertUnwindSafe(|| {
            work.script(command, matches!(name, "bash" | "rbash"), Place::written(), &[]);
        }));
        if read.is_err() {
            work.doubt("the analysis failed");
        }
        work.result
    }

    /// Whether every command in it is known.
    #[must_use]
    pub fn is_understood(&self) -> bool {
        self.doubt.is_none() && self.syntax_error.is_none()
    }

    /// The segments that stand in the command line itself.
    pub fn written(&self) -> impl Iterator<Item = (usize, &Segment)> {
        self.segments
            .iter()
            .enumerate()
            .filter(|(_, segment)| segment.wrapper.is_none() && segment.reach != Reach::DenyOnly)
    }
}

/// Where a script or command stands while it is taken apart.
#[derive(Clone, Copy, Debug)]
struct Place {
    wrapper: Option<usize>,
    reach: Reach,
    depth: usize,
    stdin: Stdin,
}

impl Place {
    fn written() -> Self {
        Self { wrapper: None, reach: Reach::Both, depth: 0, stdin: Stdin::Inherited }
    }
}

struct Work {
    result: CommandAnalysis,
    unwraps: usize,
    /// Bytes that the other parsers read so far.
    compared: usize,
    /// The lists of positional parameters of the script that is being looked at.
    parameters: Rc<[Vec<Word>]>,
    /// Words that came of replacing parameters so far.
    replaced: usize,
    /// Bytes that shells get on their standard input, as far as they were looked at.
    fed: usize,
}

impl Work {
    fn doubt(&mut self, reason: impl Into<String>) {
        if self.result.doubt.is_none() {
            self.result.doubt = Some(reason.into());
        }
    }

    fn script(&mut self, source: &str, bash: bool, place: Place, given: &[Vec<Word>]) {
        let counts = place.reach != Reach::DenyOnly;
        let (tree, error) = reader::read(source);
        if counts {
            if let Some(error) = &error {
                let message = describe(source, error);
                if place.depth == 0 {
                    self.result.syntax_error = Some(message.clone());
                }
                self.doubt(message);
            }
            if let Some(reason) = tree.doubt.or_else(|| doubt::text(source)) {
                self.doubt(reason);
            }
            if !bash && !doubt::same_everywhere(source) {
                self.doubt("shells other than bash may read it differently");
            }
            if tree.heredoc && tree.double_paren {
                self.doubt("a here-document and `((` in one command");
            }
        }
        let others = if counts && error.is_none() { self.ask_others(source, &tree) } else { None };
        let tree = match &error {
            Some(error) => {
                let mut tree = reader::salvage(source, error, tree);
                // What remains has no order that could be followed.
                tree.bodies.clear();
                tree.steps = (0..tree.commands.len()).map(|number| Step::Command(flow::narrow(number))).collect();
                tree
            }
            None => tree,
        };
        // The other parsers work meanwhile.
        self.tree(tree, place, given);
        let Some((asked, own)) = others else { return };
        for text in self.compare(source, asked, &own) {
            let (tree, _) = reader::read(&text);
            self.tree(tree, Place { reach: Reach::DenyOnly, ..place }, given);
        }
    }

    fn tree(&mut self, tree: Tree, place: Place, given: &[Vec<Word>]) {
        let counts = place.reach != Reach::DenyOnly;
        let mut sets_names = tree.sets_names;
        let mut evaluates_names = tree.evaluates_names;
        for command in &tree.commands {
            let name = command.words.first().map_or("", |word| word.text.as_str());
            sets_names |=
                matches!(name, "read" | "mapfile" | "readarray" | "getopts" | "printf" | "eval" | "source" | ".");
            evaluates_names |= matches!(name, "let");
        }
        if counts && sets_names && evaluates_names {
            self.doubt("arithmetic with a variable whose value may hold a command");
        }
        let offsets = Offsets {
            redirects: self.result.redirects.len(),
            tests: self.result.tests.len(),
            loops: self.result.loops.len(),
            functions: self.result.functions.len(),
        };
        if counts || place.depth == 0 {
            self.result.redirects.extend(tree.redirects);
            self.result.tests.extend(tree.tests);
        }
        let script = self.result.scripts.len();
        if counts {
            self.result.scripts.push(Script { runner: place.wrapper, steps: tree.steps, bodies: tree.bodies });
        }
        self.result.terminal_heredoc |= tree.terminal_heredoc;
        self.result.multiplies |= tree.multiplies;
        self.result.coprocess |= tree.coprocess;
        self.result.assigns |= tree.assigns;
        self.result.loops.extend(tree.loops);
        let lists = positional::lists(&tree.commands, &tree.functions, given);
        self.result.functions.extend(tree.functions);
        let outer_lists = std::mem::replace(&mut self.parameters, lists.into());
        let base = self.result.segments.len();
        let mut numbers = Vec::with_capacity(tree.commands.len());
        let mut positional = Vec::new();
        let mut open: Vec<(usize, usize)> = Vec::new();
        for command in tree.commands {
            let number = self.result.segments.len();
            numbers.push(number);
            while open.pop_if(|(_, end)| *end <= command.span.start).is_some() {}
            let within = open.last().map(|(outer, _)| {
                let holds = |word: &Word| word.span.start <= command.span.start && command.span.end <= word.span.end;
                Within { segment: *outer, word: self.result.segments[*outer].words.iter().position(holds) }
            });
            open.push((number, command.span.end));
            let stdin = match command.stdin {
                Stdin::Inherited => place.stdin,
                // Commands before this one have their numbers already.
                Stdin::Pipe(first) => Stdin::Pipe(numbers.get(first).copied().unwrap_or(base)),
                other => other,
            };
            let segment = Segment {
                text: text_of(&command),
                words: command.words,
                assignments: command.assignments,
                sets: Vec::new(),
                redirects: command.redirects,
                span: (place.depth == 0 && counts).then_some(command.span),
                stdin,
                wrapper: place.wrapper,
                within,
                scripted: true,
                reach: place.reach,
                call: Call::default(),
                added: Added::Nothing,
            };
            if !self.parameters.is_empty() && segment.words.iter().any(positional::is_positional) {
                positional.push((self.result.segments.len(), segment.words.clone(), segment.stdin));
            }
            self.segment(segment, place.depth);
        }
        if counts && let Some(script) = self.result.scripts.get_mut(script) {
            script.renumber(&numbers, offsets);
        }
        for (number, words, stdin) in positional {
            self.resolve(number, &words, Place { stdin, ..place });
        }
        self.parameters = outer_lists;
        self.fed(base, &tree.texts, place);
    }

    /// Adds what a segment is with each list of positional parameters.
    fn resolve(&mut self, number: usize, words: &[Word], place: Place) {
        let lists = Rc::clone(&self.parameters);
        let before = self.result.resolved.len();
        for list in &*lists {
            if self.unwraps > MAX_UNWRAPS || self.replaced > MAX_REPLACED || lists.len() >= positional::MAX_LISTS {
                // Not all of it is known then, and so it counts as not known.
                self.result.resolved.truncate(before);
                return;
            }
            let Some(words) = positional::resolve(words, list) else { continue };
            self.replaced += words.len();
            self.result.resolved.push((number, self.result.segments.len()));
            let place = Place { wrapper: Some(number), reach: Reach::DenyOnly, depth: place.depth + 1, ..place };
            self.segment(inner_segment(words, &[], place), place.depth);
        }
    }

    fn segment(&mut self, mut segment: Segment, depth: usize) {
        segment.call = Call::of(&segment.words);
        let number = self.result.segments.len();
        let counts = segment.reach != Reach::DenyOnly;
        if counts {
            if let Some(reason) = doubt::name(&segment) {
                self.doubt(reason);
            }
            if let Some(script) = doubt::evaluated(&segment) {
                self.doubt("an argument that a builtin evaluates");
                let place =
                    Place { wrapper: Some(number), reach: Reach::DenyOnly, depth: depth + 1, stdin: segment.stdin };
                self.result.segments.push(segment);
                self.script(&script, true, place, &[]);
                return;
            }
        }
        self.unwraps += 1;
        let look = self.unwraps <= MAX_UNWRAPS && depth < MAX_WRAPPING;
        let Unwrapped { inner, doubt, sets, added } = if look {
            unwrap(&segment.words)
        } else {
            if segment.program().is_some_and(|name| wrappers::wrapper(name).is_some()) && counts {
                self.doubt("wrapped too often");
            }
            Unwrapped::default()
        };
        if segment.added != Added::Nothing {
            let scripts: Vec<&str> = inner.iter().filter_map(Inner::script).collect();
            self.added(&segment, inner.len(), &scripts);
        }
        let (stdin, outer) = (segment.stdin, segment.reach);
        // What is added to a wrapper is added to what it runs.
        let added = if added == Added::Nothing { segment.added.clone() } else { added };
        self.result.segments.push(segment);
        if let Some(doubt) = doubt
            && counts
        {
            self.doubt(doubt);
        }
        for inner in inner {
            self.inner(inner, &sets, &added, Place { wrapper: Some(number), reach: outer, depth: depth + 1, stdin });
        }
    }

    fn inner(&mut self, inner: Inner, sets: &[String], added: &Added, place: Place) {
        let reach = |own: Reach| match (place.reach, own) {
            (Reach::DenyOnly, _) | (_, Reach::DenyOnly) => Reach::DenyOnly,
            (_, own) => own,
        };
        match inner {
            Inner::Command { words, reach: own } => {
                // A guess about a guess says nothing new, and would cost ever more.
                if place.reach == Reach::DenyOnly && own == Reach::DenyOnly {
                    return;
                }
                let segment = inner_segment(words, sets, Place { reach: reach(own), ..place });
                self.segment(Segment { added: added.clone(), ..segment }, place.depth);
            }
            Inner::Script { text, bash, reach: own, operands } => {
                let given = match operands {
                    Operands::Own(words) if words.is_empty() => Rc::default(),
                    Operands::Own(words) => Rc::from([words]),
                    Operands::Outer => Rc::clone(&self.parameters),
                };
                self.script(&text, bash, Place { reach: reach(own), ..place }, &given);
            }
        }
    }
}

fn inner_segment(words: Vec<Word>, sets: &[String], place: Place) -> Segment {
    Segment {
        text: join(&words),
        words,
        assignments: Vec::new(),
        sets: sets.to_vec(),
        redirects: Vec::new(),
        span: None,
        stdin: place.stdin,
        wrapper: place.wrapper,
        within: None,
        scripted: false,
        reach: place.reach,
        call: Call::default(),
        added: Added::Nothing,
    }
}

fn describe(source: &str, error: &SyntaxError) -> String {
    let before = &source.as_bytes()[..error.offset.min(source.len())];
    let line = before.iter().filter(|b| **b == b'\n').count() + 1;
    let column = before.iter().rev().take_while(|b| **b != b'\n').count() + 1;
    format!("{} (line {line}, column {column})", error.message)
}

fn text_of(command: &Simple) -> String {
    if command.words.is_empty() { command.source.clone() } else { join(&command.words) }
}

pub(crate) fn join(words: &[Word]) -> String {
    let mut text = String::with_capacity(words.iter().map(|w| w.text.len() + 1).sum());
    for (number, word) in words.iter().enumerate() {
        if number > 0 {
            text.push(' ');
        }
        text.push_str(&word.text);
    }
    text
}
