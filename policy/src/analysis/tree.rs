//! What a reader finds in a script: simple commands with their words, redirections and standard input.

use std::ops::Range;

use super::fed::Body;
use super::flow::Step;

/// A word of a command, after quotes and escapes were resolved.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Word {
    /// The value of a static word; the source text of a dynamic one.
    pub text: String,
    /// What a dynamic word is made of, in order. Empty for a static word.
    pub parts: Vec<WordPart>,
    /// Where the word stands, in bytes of the text it was read from.
    pub span: Range<usize>,
}

impl Word {
    /// Whether the value is known only when the command runs.
    #[must_use]
    pub fn is_dynamic(&self) -> bool {
        !self.parts.is_empty()
    }

    /// The value, when it is known.
    #[must_use]
    pub fn value(&self) -> Option<&str> {
        if self.is_dynamic() { None } else { Some(&self.text) }
    }

    /// Makes a static word with the given value.
    #[must_use]
    pub fn literal(text: impl Into<String>) -> Self {
        Self { text: text.into(), ..Self::default() }
    }

    /// Whether the shell may make none or several arguments of the word.
    #[must_use]
    pub fn may_split(&self) -> bool {
        self.parts.iter().any(|part| match part {
            WordPart::Literal(_) | WordPart::Tilde(_) | WordPart::Process => false,
            WordPart::Variable { quoted, name } => !quoted || name == "@",
            WordPart::Expansion { quoted } => !quoted,
            WordPart::Glob | WordPart::Brace => true,
        })
    }
}

/// A piece of a dynamic word.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum WordPart {
    /// Known text.
    Literal(String),
    /// `$name` or `${name}`.
    Variable {
        /// The name, without `$` and braces.
        name: String,
        /// Whether it stands in double quotes.
        quoted: bool,
    },
    /// A leading `~` or `~user`; the text after the tilde.
    Tilde(String),
    /// `*`, `?` or a bracket expression.
    Glob,
    /// A brace list, `{a,b}` or `{1..3}`.
    Brace,
    /// A command substitution, an arithmetic expansion, or a parameter expansion with an operator.
    Expansion {
        /// Whether it stands in double quotes.
        quoted: bool,
    },
    /// `<(...)` or `>(...)`, which becomes the name of a descriptor.
    Process,
}

/// `name=value` before a command, or a command of its own.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Assignment {
    /// The variable, without subscript.
    pub name: String,
    /// The value; an array's value is a dynamic word.
    pub value: Word,
    /// Where the assignment stands, in bytes of the text it was read from.
    pub span: Range<usize>,
}

/// What a redirection does to its descriptor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RedirectKind {
    /// `<`
    Read,
    /// `>`, `>|`, `&>`
    Write,
    /// `>>`, `&>>`
    Append,
    /// `<>`
    ReadWrite,
    /// `<&`
    DuplicateInput,
    /// `>&` with a number or `-`
    DuplicateOutput,
    /// `<<`, `<<-` or `<<<`
    Text,
}

/// A redirection.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Redirect {
    /// What it does.
    pub kind: RedirectKind,
    /// The descriptor's number or `{name}`, when one is written.
    pub descriptor: Option<String>,
    /// The file, descriptor, delimiter or text; empty for a closed descriptor.
    pub target: Word,
}

impl Redirect {
    /// Whether standard input is what the redirection changes.
    pub(crate) fn feeds_stdin(&self) -> bool {
        match self.descriptor.as_deref() {
            Some(number) => number == "0",
            None => matches!(
                self.kind,
                RedirectKind::Read | RedirectKind::ReadWrite | RedirectKind::Text | RedirectKind::DuplicateInput
            ),
        }
    }
}

impl Redirect {
    /// Whether the redirection may lead to the terminal.
    pub(crate) fn may_be_terminal(&self) -> bool {
        let target = self.target.text.as_str();
        match self.kind {
            RedirectKind::Text => false,
            RedirectKind::DuplicateInput if matches!(target, "0" | "1" | "2") => true,
            _ => is_terminal_file(target) || self.target.is_dynamic(),
        }
    }
}

/// Whether a path leads to the terminal of an interactive command.
pub(crate) fn is_terminal_file(path: &str) -> bool {
    matches!(path, "/dev/stdin" | "/dev/stdout" | "/dev/stderr" | "/dev/tty" | "/dev/console")
        || path.starts_with("/dev/pts/")
        || ["/dev/fd/", "/proc/self/fd/", "/proc/$$/fd/"]
            .iter()
            .any(|start| path.strip_prefix(start).is_some_and(|number| matches!(number, "0" | "1" | "2")))
        || matches!(path.trim_matches('"'), "$(tty)" | "`tty`")
}

/// Whether a text for a shell makes another shell of the terminal.
pub(crate) fn returns_to_terminal(text: &str) -> bool {
    text.contains("/dev/tty") || text.contains("<&1") || text.contains("<&2") || text.contains("$(tty)")
}

/// Where a command's standard input comes from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Stdin {
    /// What the whole script has: the terminal, for an interactive command.
    #[default]
    Inherited,
    /// Nothing: in the background, or behind a coprocess.
    Nothing,
    /// A file or text named by a redirection.
    Redirected,
    /// The pipe from the pipeline whose first command has this number.
    Pipe(usize),
}

/// One simple command of a script.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Simple {
    /// Command name and arguments.
    pub words: Vec<Word>,
    /// Assignments before the name.
    pub assignments: Vec<Assignment>,
    /// Redirections of this command.
    pub redirects: Vec<Redirect>,
    /// Where it starts and ends, in bytes of the text it was read from.
    pub span: Range<usize>,
    /// Where its input comes from.
    pub stdin: Stdin,
    /// Whether it was read from an unescaped copy (a backquote with backslashes), so that spans are not of the source.
    pub copied: bool,
    /// Source of an assignment-only command.
    pub source: String,
    /// Whether it stands where the second parser keeps plain text: an operand, arithmetic, a here-document, `[[`.
    pub(crate) tucked: bool,
}

/// Everything one reading of a script found.
#[derive(Clone, Debug, Default)]
pub(crate) struct Tree {
    /// In which order it runs.
    pub(crate) steps: Vec<Step>,
    /// The steps of here-documents.
    pub(crate) bodies: Vec<Vec<Step>>,
    /// Operands of file tests in `[[`.
    pub(crate) tests: Vec<Word>,
    pub(crate) commands: Vec<Simple>,
    /// Redirections of compound commands.
    pub(crate) redirects: Vec<Redirect>,
    /// Why the reading cannot be trusted completely, first reason first.
    pub(crate) doubt: Option<&'static str>,
    /// Names of functions that the script defines.
    pub(crate) functions: Vec<String>,
    /// Values that loops give to their variables.
    pub(crate) loops: Vec<Assignment>,
    /// Command and process substitutions seen.
    pub(crate) substitutions: usize,
    /// Arithmetic evaluates the value of a variable.
    pub(crate) evaluates_names: bool,
    /// A variable gets a value that arithmetic could execute.
    pub(crate) sets_names: bool,
    /// Something is nested too deeply for a recursive reader.
    pub(crate) deep: bool,
    /// A here-document that speaks of the terminal was seen.
    pub(crate) terminal_heredoc: bool,
    /// The here-documents.
    pub(crate) texts: Vec<Body>,
    /// A here-document was seen.
    pub(crate) heredoc: bool,
    /// An expansion or arithmetic sets a variable that programs may look at.
    pub(crate) assigns: bool,
    /// A function starts itself more than once, at the same time.
    pub(crate) multiplies: bool,
    /// A coprocess was seen.
    pub(crate) coprocess: bool,
    /// `((` was seen, as arithmetic or as two subshells.
    pub(crate) double_paren: bool,
}

impl Tree {
    pub(crate) fn doubt(&mut self, reason: &'static str) {
        self.doubt.get_or_insert(reason);
    }

    pub(crate) fn too_deep(&mut self) {
        self.deep = true;
        self.doubt("nested too deeply");
    }
}
