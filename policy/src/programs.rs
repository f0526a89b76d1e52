//! What is known about programs: what a call of one does, and which of its arguments name files.

use std::borrow::Cow;

use crate::analysis::Word;

/// What a call of a program does, as far as it is known. Later ones are worse.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Nature {
    /// It only reads and prints.
    Reads,
    /// Nothing is known about the program, or about one of its arguments.
    #[default]
    Unknown,
    /// It changes files or the system, talks to the network, or runs something else.
    Changes,
    /// It destroys what cannot be brought back, whatever it is called with.
    Destroys,
}

/// What a program does with a file that an argument names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Usage {
    /// It reads the file, or lists the directory.
    Read,
    /// It makes, changes or removes the file.
    Write,
    /// It goes to the directory before it does anything, and what it runs starts there.
    Enter,
    /// It runs the file, as a program or as a script.
    Run,
}

/// A file that an argument names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileUse {
    /// The path: the argument, or the part of it that is a path (`--file=PATH`, `-oPATH`, `@PATH`, `of=PATH`).
    pub path: Word,
    /// What is done with it.
    pub usage: Usage,
}

/// What one call of a program does.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Call {
    /// What it does.
    pub nature: Nature,
    /// Which part of the call makes it so, for a person: lowercase, without a full stop. Empty for [`Nature::Reads`].
    pub why: Cow<'static, str>,
    /// The files that its arguments name, in their order.
    pub files: Vec<FileUse>,
    /// Whether it changes or removes all that is below the directories it writes.
    pub recursive: bool,
}

impl Call {
    /// Looks a call up. The first word is the program.
    pub(crate) fn of(_words: &[Word]) -> Self {
        Self { why: Cow::Borrowed("the program is not known"), ..Self::default() }
    }
}
