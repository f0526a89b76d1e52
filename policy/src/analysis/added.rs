//! Arguments that a wrapper adds to the words of what it runs.

use super::tree::Word;
use super::wrappers::{is_shell, wrapper};
use super::{Reach, Segment, Work};

/// Arguments that a wrapper adds to what it runs, known only when it runs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Added {
    /// None.
    #[default]
    Nothing,
    /// Further arguments at the end: `xargs`, `fd -x`.
    Appended,
    /// Something in the place of this text, anywhere in a word: `find -exec`, `xargs -I`.
    Replaced(String),
}

impl Added {
    /// Whether a word is not what it says.
    pub(crate) fn changes(&self, word: &Word) -> bool {
        matches!(self, Self::Replaced(mark) if word.text.contains(mark.as_str()))
    }
}

impl Work {
    /// Doubts what a wrapper makes of a command when it adds to it.
    pub(super) fn added(&mut self, segment: &Segment, runs: usize, scripts: &[&str]) {
        let Some(name) = segment.program() else { return };
        let unknown = match &segment.added {
            Added::Nothing => false,
            // What a wrapper runs is then what is appended, or more than what stands there.
            Added::Appended => {
                let runs_something = is_shell(name)
                    || wrapper(name).is_some()
                    || matches!(
                        name,
                        "find" | "gfind" | "fd" | "fdfind" | "su" | "script" | "watch" | "eval" | "parallel"
                    );
                runs_something && runs == 0 || !scripts.is_empty() && !is_shell(name)
            }
            Added::Replaced(mark) => {
                segment.words[0].text.contains(mark.as_str()) || scripts.iter().any(|text| text.contains(mark.as_str()))
            }
        };
        if unknown && segment.reach != Reach::DenyOnly {
            self.doubt("a wrapper runs what is known only when it runs");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::CommandAnalysis;

    #[track_caller]
    fn check(command: &str, understood: bool, segments: &[&str]) {
        let analysis = CommandAnalysis::new(command);
        let found: Vec<&str> = analysis.segments.iter().map(|segment| segment.text.as_str()).collect();
        assert_eq!((analysis.is_understood(), found), (understood, segments.to_vec()), "{:?}", analysis.doubt);
    }

    #[test]
    fn what_a_wrapper_adds_may_be_what_runs() {
        check("xargs rm -f", true, &["xargs rm -f", "rm -f"]);
        check("find . -exec rm {} +", true, &["find . -exec rm {} +", "rm {}"]);
        check("xargs -I{} sh -c 'rm {}'", false, &["xargs -I{} sh -c rm {}", "sh -c rm {}", "rm {}"]);
        check("find . -exec {} \\;", false, &["find . -exec {} ;", "{}"]);
        check("xargs sh", false, &["xargs sh", "sh"]);
        check("xargs -r sudo", false, &["xargs -r sudo", "sudo"]);
        check("xargs bash -c 'rm $1' x", true, &["xargs bash -c rm $1 x", "bash -c rm $1 x", "rm $1"]);
        check("xargs watch ls", false, &["xargs watch ls", "watch ls", "ls"]);
        check("xargs env ls", true, &["xargs env ls", "env ls", "ls"]);
    }
}
