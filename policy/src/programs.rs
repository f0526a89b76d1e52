//! What is known about programs: what a call of one does, and which of its arguments name files.

mod awk;
mod jq;
mod kind;
mod reading;
mod sed;
mod table;
mod test;
mod value;
mod word;

use std::borrow::Cow;

use crate::analysis::{Word, WordPart};
use table::Program;

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
    pub(crate) fn of(words: &[Word]) -> Self {
        let Some((first, arguments)) = words.split_first() else {
            return Self { nature: Nature::Reads, ..Self::default() };
        };
        let Some(path) = first.value() else {
            let mut call = Self::unknown("a program that is known only when it runs", arguments);
            if matches!(first.parts.first(), Some(WordPart::Tilde(_))) {
                call.files.insert(0, FileUse { path: first.clone(), usage: Usage::Run });
            }
            return call;
        };
        let (directory, base) = path.rsplit_once('/').map_or((None, path), |(directory, base)| (Some(directory), base));
        let system = directory.is_none_or(|directory| SYSTEM.contains(&directory));
        let mut call = match lookup(base) {
            Some((program, exact)) => {
                let mut call = reading::read(base, program, words);
                if !exact && call.nature < Nature::Unknown {
                    call.nature = Nature::Unknown;
                    call.why = Cow::Owned(format!("`{base}` is not a known program"));
                }
                call
            }
            None => Self::unknown(format!("`{base}` is not a known program"), arguments),
        };
        if !system {
            call.files.insert(0, FileUse { path: first.clone(), usage: Usage::Run });
            if call.nature < Nature::Unknown {
                call.nature = Nature::Unknown;
                call.why = Cow::Owned(format!("`{path}` is not known to be `{base}`"));
            }
        }
        call
    }

    fn unknown(why: impl Into<Cow<'static, str>>, arguments: &[Word]) -> Self {
        Self { nature: Nature::Unknown, why: why.into(), files: reading::visible_files(arguments), ..Self::default() }
    }
}

/// Directories where a program of a known name is that program.
const SYSTEM: &[&str] =
    &["/bin", "/usr/bin", "/usr/local/bin", "/sbin", "/usr/sbin", "/usr/local/sbin", "/opt/homebrew/bin"];

/// The entry of a program, and whether it is of that very name.
fn lookup(base: &str) -> Option<(&'static Program, bool)> {
    if let Some(program) = table::program(base) {
        return Some((program, true));
    }
    // `mkfs.ext4`, `python3.12`, `gcc-14`
    let family = base.split_once('.').filter(|(stem, _)| matches!(*stem, "mkfs" | "fsck")).map(|(stem, _)| stem);
    let stem = family.unwrap_or_else(|| base.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.'));
    if stem == base || stem.is_empty() {
        return None;
    }
    table::program(stem.trim_end_matches('-')).map(|program| (program, family.is_some()))
}
