//! Generated scripts that go from directory to directory: where bash really writes must have been seen.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use policy::Policy;
use tool_api::{CommandKind, Workspace};

/// Directories between the top and the workspace, more than a script can go up.
const LEVELS: usize = 30;
const SCRIPTS: u64 = 300;

/// A small generator of numbers, so that every run tries the same scripts.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from((self.0 >> 33) % sides as u64).unwrap()
    }

    fn one_of<'t>(&mut self, texts: &[&'t str]) -> &'t str {
        texts[self.roll(texts.len())]
    }
}

/// A script being made; each `: > mN` marks where it was.
struct Maker {
    dice: Dice,
    marks: usize,
    functions: usize,
    ups: usize,
}

impl Maker {
    fn directory(&mut self) -> &'static str {
        let directory = self.dice.one_of(&[
            "a",
            "b",
            "a/b",
            "b/../a",
            "missing",
            "link",
            "link/inner",
            "..",
            "../a",
            "a/..",
            ".",
            "\"$PWD\"/a",
            "$D",
            "{a,}",
            "./a",
            "b/",
            "''",
            "../../a",
            "\"${PWD}\"/..",
            "~+/b",
            "$(pwd)/a",
        ]);
        // Few enough to stay below the top.
        self.ups += directory.matches("..").count();
        if self.ups > 12 { "a" } else { directory }
    }

    fn mark(&mut self) -> String {
        self.marks += 1;
        let place = self.dice.one_of(&["", "", "", "a/", "../", "link/"]);
        format!(": > {place}m{}", self.marks)
    }

    fn list(&mut self, depth: usize) -> String {
        let mut text = String::new();
        for number in 0..1 + self.dice.roll(3) {
            let separator = if number == 0 { "" } else { self.dice.one_of(&["; ", " && ", " || ", "; ", "\n"]) };
            let command = self.command(depth);
            let _ = write!(text, "{separator}{command}");
        }
        text
    }

    fn command(&mut self, depth: usize) -> String {
        let kinds = if depth == 0 { 9 } else { 25 };
        match self.dice.roll(kinds) {
            0..=2 => self.mark(),
            3..=5 => format!("cd {}", self.directory()),
            6 => self.dice.one_of(&["true", "false", "cd", "popd", "D=a", "D=b", "cd ..", "cd ../b"]).to_owned(),
            7 => format!("pushd {}", self.directory()),
            8 => format!("cd {} && {}", self.directory(), self.mark()),
            9 | 10 => format!("({})", self.list(depth - 1)),
            11 => format!("{{ {}; }}", self.list(depth - 1)),
            12 => format!("! {{ {}; }}", self.list(depth - 1)),
            13 | 14 => {
                let (condition, then) = (self.list(depth - 1), self.list(depth - 1));
                format!("if {condition}; then {then}; else {}; fi", self.list(depth - 1))
            }
            15 => format!("if {}; then {}; fi", self.list(depth - 1), self.list(depth - 1)),
            16 => {
                let leave = self.dice.one_of(&["", "; break", "; continue", " && break", " || continue"]);
                format!("for i in 1 2; do {}{leave}; {}; done", self.list(depth - 1), self.mark())
            }
            17 => format!("for d in a b; do cd $d; {}; done", self.mark()),
            18 => format!("{{ {}; }} | {{ {}; }}", self.list(depth - 1), self.list(depth - 1)),
            19 => format!("{{ {}; }} & wait", self.list(depth - 1)),
            20 => {
                self.functions += 1;
                let name = format!("f{}", self.functions);
                let leave = self.dice.one_of(&["", " || return", " && return", "; return"]);
                let body = format!("{}{leave}; {}", self.list(depth - 1), self.mark());
                format!("{name}() {{ {body}; }}; {name}; {}", self.mark())
            }
            21 => format!(
                "case a in b) {};; a) {};& c) {};; esac",
                self.list(depth - 1),
                self.list(depth - 1),
                self.mark()
            ),
            22 => format!("x=$({})", self.list(depth - 1)),
            23 => format!("eval '{}'", self.list(depth - 1).replace('\'', "\"")),
            _ => format!("(exit; {})", self.mark()),
        }
    }
}

/// The marks below a directory, resolved.
fn marks(directory: &Path, found: &mut BTreeSet<PathBuf>) {
    for entry in std::fs::read_dir(directory).unwrap() {
        let entry = entry.unwrap();
        if entry.file_type().unwrap().is_dir() {
            marks(&entry.path(), found);
        } else if entry.file_name().to_string_lossy().starts_with('m') {
            found.insert(entry.path());
        }
    }
}

#[cfg(unix)]
#[test]
fn where_bash_writes_was_seen() {
    let bash = Command::new("bash").arg("--version").stdin(Stdio::null()).output();
    if !bash.is_ok_and(|output| output.status.success()) {
        println!("skipped: needs bash");
        return;
    }
    let directory = tempfile::tempdir().unwrap();
    let top = directory.path().canonicalize().unwrap();
    let mut workspace = top.clone();
    (0..LEVELS).for_each(|_| workspace.push("d"));
    for level in workspace.ancestors().take(16) {
        std::fs::create_dir_all(level.join("a/b")).unwrap();
        std::fs::create_dir_all(level.join("b/a")).unwrap();
    }
    std::fs::create_dir_all(workspace.parent().unwrap().join("side/inner")).unwrap();
    std::os::unix::fs::symlink("../side", workspace.join("link")).unwrap();
    std::os::unix::fs::symlink("../b", workspace.join("a/link")).unwrap();
    let home = top.join("d/home");
    std::fs::create_dir_all(home.join("a")).unwrap();

    let policy = Policy::new().with_home(&home);
    let (mut written, mut unknown, mut failures) = (0, 0, Vec::new());
    for seed in 0..SCRIPTS {
        let mut maker = Maker { dice: Dice(seed * 104_729 + 29), marks: 0, functions: 0, ups: 0 };
        let start = maker.dice.one_of(&["D=a; ", "D=b; cd a; ", "D=..; cd b; cd -; "]);
        let script = format!("{start}{}", maker.list(2));
        let explained = policy.explain(&script, CommandKind::Once, &Workspace::new(&workspace));
        let status = Command::new("bash")
            .args(["--norc", "--noprofile", "-c", &script])
            .current_dir(&workspace)
            .env_clear()
            .env("PATH", "/usr/bin:/bin")
            .env("HOME", &home)
            .env("PWD", &workspace)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .status()
            .unwrap();
        assert_ne!(status.code(), Some(127), "{script}");
        let mut found = BTreeSet::new();
        marks(&top, &mut found);
        if explained.outside.iter().any(|path| path == "?") {
            unknown += 1;
            if script.len() < 120 {}
        } else {
            for mark in found.iter().filter(|mark| !mark.starts_with(&workspace)) {
                written += 1;
                if !explained.outside.iter().any(|path| Path::new(path) == mark) {
                    failures.push(format!("{script}\n  wrote {}\n  seen {:?}", mark.display(), explained.outside));
                }
            }
        }
        found.iter().for_each(|mark| std::fs::remove_file(mark).unwrap());
    }
    println!("{written} marks outside, {unknown} scripts not known, of {SCRIPTS}");
    assert!(failures.is_empty(), "{} unseen:\n{}", failures.len(), failures.join("\n"));
    assert!(written > 50, "{written} marks: the scripts go nowhere");
    assert!(unknown < SCRIPTS / 2, "{unknown} scripts are not known");
}
