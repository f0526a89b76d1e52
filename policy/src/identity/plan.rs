//! What has to be looked at for a command line: names and how each is found. No file is touched here.

use std::collections::HashSet;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

use tool_api::CommandEffect;

use super::builtins::is_builtin;
use super::operand::{self, Found};
use crate::analysis::{CommandAnalysis, Reach, RedirectKind, Segment, Word, WordPart};
use crate::programs::{Nature, Usage};

/// Directories that a line goes to; more than that are not followed.
const MOST_DIRECTORIES: usize = 16;

/// How a name is found.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Seek {
    /// In `PATH`, unless it has a slash; it has to be executable.
    Program,
    /// As a script.
    Script(Found),
}

/// A name that is looked up when the command runs.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Wanted {
    pub(crate) name: String,
    pub(crate) seek: Seek,
}

/// All that is looked at for a command line.
#[derive(Clone, Debug)]
pub(crate) struct Plan {
    pub(crate) wanted: Vec<Wanted>,
    /// Which of them nothing of the command itself can have changed right after its start.
    pub(crate) early: Vec<bool>,
    /// Where relative names may start: the working directory, which is empty, and where `cd` leads from there.
    pub(crate) directories: Vec<String>,
    /// The shell that runs the line.
    pub(crate) shell: PathBuf,
    pub(crate) search_path: Option<OsString>,
}

impl Plan {
    /// Takes the names from an analysis; `home` is what `~` names.
    pub(crate) fn new(effect: &CommandEffect, analysis: &CommandAnalysis, home: Option<&Path>) -> Self {
        let mut plan = Self {
            wanted: Vec::new(),
            early: Vec::new(),
            directories: vec![String::new()],
            shell: effect.shell.clone(),
            search_path: effect.search_path.clone(),
        };
        let shell = effect.shell.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        let enables = analysis.segments.iter().any(|segment| segment.program() == Some("enable"));
        let only_reads = only_reads(analysis);
        let first = first_to_run(analysis);
        let mut known = HashSet::new();
        for (number, segment) in analysis.segments.iter().enumerate() {
            if segment.reach == Reach::DenyOnly {
                continue;
            }
            let early = only_reads || first.contains(&number);
            let mut want = |name: String, seek: Seek| {
                // With a slash every name is found in one way.
                let seek = if name.contains('/') { Seek::Script(Found::ByPath) } else { seek };
                let wanted = Wanted { name, seek };
                if !wanted.name.is_empty() && !is_of_the_process(&wanted.name) && known.insert(wanted.clone()) {
                    plan.wanted.push(wanted);
                    plan.early.push(early);
                }
            };
            let Some(name) = segment.words.first().and_then(|word| text(word, home)) else { continue };
            // What a wrapper runs is a file, whatever the shell has of that name.
            let by_shell = segment.wrapper.is_none()
                && ((is_builtin(&name, shell) && !enables) || analysis.functions.contains(&name));
            if !by_shell {
                want(name.clone(), Seek::Program);
            }
            for (word, found) in operand::scripts(&segment.words) {
                if let Some(path) = text(word, home) {
                    want(path, Seek::Script(found));
                }
            }
            for file in segment.call.files.iter().filter(|file| file.usage == Usage::Run) {
                if let Some(path) = text(&file.path, home) {
                    want(path, Seek::Script(Found::ByPath));
                }
            }
            if operand::runs_its_input(&segment.words) {
                let input = segment.redirects.iter().filter(|redirect| redirect.kind == RedirectKind::Read);
                for redirect in input {
                    if let Some(path) = text(&redirect.target, home) {
                        want(path, Seek::Script(Found::ByPath));
                    }
                }
            }
            plan.goes_to(segment, &name, home);
        }
        plan
    }

    /// Follows a change of directory. Not every line goes everywhere it could, and a file too many does no harm.
    fn goes_to(&mut self, segment: &Segment, name: &str, home: Option<&Path>) {
        let entered = segment.call.files.iter().filter(|file| file.usage == Usage::Enter);
        let mut targets: Vec<String> = entered.filter_map(|file| text(&file.path, home)).collect();
        if targets.is_empty() && matches!(name, "cd" | "pushd") {
            let operand = segment.words[1..].iter().find(|word| !word.text.starts_with('-'));
            targets.extend(operand.and_then(|word| text(word, home)));
        }
        for target in targets {
            let last = self.directories.last().cloned().unwrap_or_default();
            for directory in [target.clone(), join(&last, &target)] {
                if self.directories.len() < MOST_DIRECTORIES && !self.directories.contains(&directory) {
                    self.directories.push(directory);
                }
            }
        }
    }
}

/// A path below a directory; an absolute one stays.
pub(crate) fn join(directory: &str, path: &str) -> String {
    if directory.is_empty() || path.starts_with('/') {
        return path.to_owned();
    }
    format!("{}/{path}", directory.trim_end_matches('/'))
}

/// What a word is when the command runs, if that is known.
fn text(word: &Word, home: Option<&Path>) -> Option<String> {
    let rest = match word.parts.as_slice() {
        [] => return Some(word.text.clone()),
        [WordPart::Tilde(user)] if user.is_empty() => "",
        [WordPart::Tilde(user), WordPart::Literal(rest)] if user.is_empty() => rest.as_str(),
        _ => return None,
    };
    Some(format!("{}{rest}", home?.to_str()?))
}

/// Whether a path means something else in every process.
fn is_of_the_process(path: &str) -> bool {
    ["/dev/fd/", "/proc/self/", "/proc/thread-self/"].iter().any(|start| path.starts_with(start))
        || matches!(path, "-" | "/dev/stdin" | "/dev/stdout" | "/dev/stderr" | "/dev/tty")
}

/// Whether no command of the line can change a file.
fn only_reads(analysis: &CommandAnalysis) -> bool {
    let writes =
        |kind: RedirectKind| matches!(kind, RedirectKind::Write | RedirectKind::Append | RedirectKind::ReadWrite);
    let harmless = |target: &Word| target.value() == Some("/dev/null");
    let redirects = analysis.segments.iter().flat_map(|segment| &segment.redirects).chain(&analysis.redirects);
    let mut written = redirects.filter(|redirect| writes(redirect.kind) && !harmless(&redirect.target));
    written.next().is_none() && analysis.segments.iter().all(|segment| segment.call.nature == Nature::Reads)
}

/// The commands before which no other one runs: the first, and what it starts first.
fn first_to_run(analysis: &CommandAnalysis) -> Vec<usize> {
    let segments = &analysis.segments;
    if segments.is_empty() || segments.iter().any(|segment| segment.within.is_some()) {
        return Vec::new();
    }
    let mut first = vec![0];
    while let Some(last) = first.last().copied()
        && segments.get(last + 1).is_some_and(|next| next.wrapper == Some(last))
    {
        first.push(last + 1);
    }
    first
}

#[cfg(test)]
mod tests {
    use tool_api::CommandKind;

    use super::*;

    fn plan(command: &str) -> Plan {
        let effect = CommandEffect {
            command: command.into(),
            shell: "/bin/bash".into(),
            workdir: "/w".into(),
            kind: CommandKind::Once,
            env: Vec::new(),
            search_path: None,
            foreground: None,
        };
        Plan::new(&effect, &CommandAnalysis::new(command), Some(Path::new("/home/u")))
    }

    #[track_caller]
    fn check(command: &str, expected: &[&str]) {
        let plan = plan(command);
        let found: Vec<&str> = plan.wanted.iter().map(|wanted| wanted.name.as_str()).collect();
        assert_eq!(found, expected, "{command}");
    }

    #[test]
    fn every_name_that_is_known() {
        check("git status && make -f x.mk | sort", &["git", "make", "x.mk", "sort"]);
        check("cd sub && echo $(./x) > y", &["./x"]);
        check("f() { ls; }; f", &["ls"]);
        check("sudo nice git log", &["sudo", "nice", "git"]);
        check("env echo hi", &["env", "echo"]);
        check("bash -c 'cat x | ./y'", &["bash", "cat", "./y"]);
        check("$x y; \"$(which z)\" w", &["which"]);
        check("~/bin/tool; ~other/tool", &["/home/u/bin/tool"]);
        check("python3 < in.py; cat < data", &["python3", "in.py", "cat"]);
        check("bash /dev/stdin; bash /proc/self/fd/3", &["bash"]);
        check("enable -n test; test x", &["enable", "test"]);
        check("ssh host ./deploy.sh", &["ssh"]);
    }

    #[test]
    fn where_relative_names_may_start() {
        assert_eq!(plan("cd a && cd b; (cd /c; ./x)").directories, ["", "a", "b", "a/b", "/c"]);
        assert_eq!(plan("cd -P -- ~/x").directories, ["", "/home/u/x"]);
        assert_eq!(plan("cd $x").directories, [""]);
    }

    #[test]
    fn what_nothing_can_have_changed_yet() {
        let early = |command: &str| -> Vec<String> {
            let plan = plan(command);
            let pairs = plan.wanted.iter().zip(&plan.early);
            pairs.filter(|(_, early)| **early).map(|(wanted, _)| wanted.name.clone()).collect()
        };
        assert_eq!(early("cp new x.sh && ./x.sh"), ["cp"]);
        assert_eq!(early("nice bash -c 'cp new x.sh; ./x.sh'"), ["nice", "bash", "cp"]);
        assert_eq!(early("./x.sh $(cp new x.sh)"), Vec::<String>::new());
        assert_eq!(early("cat x | sort 2> /dev/null && ls"), ["cat", "sort", "ls"]);
        assert_eq!(early("cat x | sort > y && ls"), ["cat"]);
    }
}
