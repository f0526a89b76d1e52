//! What `xargs` appends: names that come through a pipe.

use super::state::Places;
use super::walk::Walk;
use crate::analysis::{Reach, Segment, Stdin, Word};
use crate::programs::{Call, Usage};

/// Programs that print names of files below what they were told, and programs that only choose among lines.
const LISTERS: &[&str] = &[
    "find", "gfind", "fd", "fdfind", "ls", "rg", "grep", "egrep", "fgrep", "ag", "ack", "sort", "uniq", "head", "tail",
    "shuf", "tac", "cat", "seq", "tr",
];

/// Subcommands of `git` that print names of files in the repository.
const GIT_LISTERS: &[&str] = &["ls-files", "diff", "grep", "status", "show", "log", "ls-tree"];

impl<'a> Walk<'a> {
    /// Notes the files that `xargs` number `number` appends to the command that it runs.
    pub(super) fn appended(&mut self, number: usize, runs: &Segment, places: Places) {
        let analysis = self.analysis;
        let Some(Stdin::Pipe(first)) = analysis.segments.get(number).map(|segment| segment.stdin) else { return };
        if !takes_files(runs) {
            return;
        }
        let wrapper = analysis.segments[number].wrapper;
        let producers = analysis.segments.get(first..number).unwrap_or_default();
        let counted = |segment: &&Segment| segment.wrapper == wrapper && segment.reach != Reach::DenyOnly;
        for (place, producer) in producers.iter().filter(counted).enumerate() {
            let program = producer.program().unwrap_or_default();
            let reads = place == 0 && producer.call.files.is_empty();
            match program {
                // What these print was in a file, or on the terminal, and not in the command line.
                "cat" | "head" | "tail" | "sort" | "tac" | "shuf" | "uniq" if place == 0 && !reads => {
                    self.unknown_text("the lines of a file", Usage::Read);
                }
                "git" if producer.words.iter().any(|word| GIT_LISTERS.contains(&word.text.as_str())) => {}
                "echo" | "printf" => {
                    for word in &producer.words[1..] {
                        self.printed(word, places);
                    }
                }
                program if LISTERS.contains(&program) => {}
                _ => self.unknown_text("the output of a program", Usage::Read),
            }
        }
    }

    /// A word that is printed, whose parts are names of files.
    fn printed(&mut self, word: &Word, places: Places) {
        match word.value() {
            Some(text) => {
                for name in text.replace("\\n", " ").split_whitespace() {
                    self.file(name, places, Usage::Read);
                }
            }
            None => self.word(word, places, Usage::Read),
        }
    }
}

/// Whether a command takes further arguments, or the place that stands for them, for files.
fn takes_files(runs: &Segment) -> bool {
    const MARK: &str = "appended/name";
    let marked = |word: &Word| word.text.contains("{}") || word.text.contains(MARK);
    if runs.call.files.iter().any(|file| marked(&file.path)) {
        return true;
    }
    let mut words = runs.words.clone();
    words.push(Word::literal(MARK));
    Call::of(&words).files.iter().any(|file| marked(&file.path))
}
