//! The files that a command line touches outside the workspace, looked up in the live file system.
//!
//! The commands are followed in the order in which they run, with the directories they may run in: what succeeds for
//! sure counts alone, everything else counts both ways. One request looks at each root once, and every number of
//! looks, directories and steps is bounded; what is beyond a bound is not known, and so is not inside.

mod appended;
mod command;
mod directory;
mod frames;
mod glob;
mod look;
mod state;
mod value;
mod variables;
mod walk;

use std::path::{Path, PathBuf};

use crate::analysis::CommandAnalysis;
use crate::programs::Usage;
pub(crate) use look::{Look, is_device};

/// Where a command line starts, and what counts as inside.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ground<'a> {
    pub(crate) roots: &'a [PathBuf],
    pub(crate) workdir: &'a Path,
    pub(crate) home: Option<&'a Path>,
    /// Whether the shell ran other lines before, which left it a stack of directories.
    pub(crate) lasting: bool,
}

/// A file outside the workspace, or one of which it is not known where it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Touched {
    /// Resolved; none when it is known only when the command runs.
    pub(crate) path: Option<PathBuf>,
    /// The path as the command names it, absolute when it is known.
    pub(crate) named: String,
    pub(crate) usage: Usage,
    /// The segment whose program it is.
    pub(crate) program: Option<usize>,
}

/// What a command line touches outside the workspace, in the order in which it runs, each once.
pub(crate) fn outside(analysis: &CommandAnalysis, ground: &Ground<'_>) -> Vec<Touched> {
    walk::walk(analysis, ground)
}
