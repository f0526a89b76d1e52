//! What real bash runs is what the segments name.
//!
//! Scripts run in an empty directory where no program exists but stubs, which say with what words they were started,
//! and a few real wrappers (`nice`, `env`, `xargs`, ...), which start nothing but stubs.

mod generate;

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use policy::{Added, Classification, CommandAnalysis, Decision, Segment, Word, WordPart};
use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};

use crate::invariants::{explain, policy};
use generate::{Generator, NAMES};

/// Real programs that run what their arguments say.
const WRAPPERS: &[&str] = &["bash", "env", "find", "nice", "nohup", "stdbuf", "timeout", "xargs"];

/// Builtins that say when they run.
const BUILTINS: &[&str] = &["echo", "printf", "test", "true", "false", ":", "cd"];

/// Pieces whose execution is harmless in an empty directory without any program.
const PIECES: &[&str] = &[
    "aa",
    "bb x",
    "kk 'q r'",
    "qq \"$H\"",
    " ",
    " ",
    " ",
    "\n",
    ";",
    "; ",
    "&&",
    "||",
    "|",
    "&",
    "(",
    ")",
    "{ ",
    "; }",
    "$(",
    "`",
    "\"",
    "'",
    "\\",
    "${x",
    "}",
    "${x:-",
    "${x#",
    "$((",
    "))",
    "((",
    "[[ ",
    " ]]",
    "<<E\n",
    "\nE\n",
    "\nE \n",
    "<<'E'\n",
    "<<-E\n\t",
    "<(",
    ">(",
    ">",
    "<",
    ">&-",
    "2>",
    "if ",
    "; then ",
    "; else ",
    "; fi",
    "for a in ",
    "; do ",
    "; done",
    "case x in x) ",
    ") ",
    ";; ",
    " esac",
    "f() ",
    "function g ",
    "time ",
    "! ",
    "x=",
    "a[1]=",
    "a[",
    "]",
    "=(",
    "*",
    "?",
    "{a,b}",
    "#",
    " #",
    "$'",
    "\\x61",
    "$\"",
    "!(",
    "{",
    "{fd}>",
    "<<<",
    "&>",
    "|&",
    "$[",
    "==",
    "=~",
    "1",
    "+",
    "é",
    "\t",
    "\r",
    "coproc ",
    "-",
];

/// A directory with stubs, and the shell that runs scripts among them.
struct Sandbox {
    bash: &'static str,
    stubs: tempfile::TempDir,
    handlers: String,
}

impl Sandbox {
    /// Makes it, when the machine has bash.
    fn new() -> Option<Self> {
        let program = |name: &str| {
            let places = ["/bin", "/usr/bin", "/usr/local/bin", "/opt/homebrew/bin"];
            places.iter().map(|place| format!("{place}/{name}")).find(|path| Path::new(path).exists())
        };
        let bash: &'static str = program("bash")?.leak();
        let stubs = tempfile::tempdir().unwrap();
        let script = |name: &str, text: String| {
            let path = stubs.path().join(name);
            fs::write(&path, format!("#!/bin/sh\n{text}\n")).unwrap();
            fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
        };
        // One write for each command, so that commands at the same time stay apart.
        let say = |name: &str| format!("printf '%s\\0' {name} \"$@\" '\u{1}' >>\"${{LOG:-/dev/null}}\"");
        for name in NAMES {
            // Its status depends on its arguments, so that conditions go both ways; what it prints is a command.
            script(name, format!("{}\necho bb q\nexit $(($# % 2))", say(name)));
        }
        for name in WRAPPERS {
            let Some(path) = program(name) else { continue };
            script(name, format!("{}\nexec {path} \"$@\"", say(name)));
        }
        let mut handlers = String::new();
        for name in BUILTINS {
            handlers += &format!("{name}() {{ builtin {}; builtin {name} \"$@\"; }}\n", say(name));
        }
        handlers += &format!("command_not_found_handle() {{ builtin {}; }}\n", say(""));
        handlers += "export -f command_not_found_handle\n";
        Some(Self { bash, stubs, handlers })
    }

    /// The commands that bash started, each as its words; none when it did not come to its end.
    fn run(&self, script: &str) -> Option<Vec<Vec<String>>> {
        // What a script leaves running writes into the log of that script, and into nothing once it is gone.
        let directory = tempfile::tempdir().unwrap();
        let log_directory = tempfile::tempdir().unwrap();
        let log = log_directory.path().join("log");
        // Small limits: processor seconds, KiB of a file, processes of the sandbox are few anyway.
        let text = format!("ulimit -t 5 -f 1024 -c 0\n{}eval \"$SCRIPT\"\nwait", self.handlers);
        let mut child = Command::new(self.bash)
            .args(["--norc", "--noprofile", "-c", &text])
            .env_clear()
            .env("PATH", self.stubs.path())
            .env("HOME", directory.path())
            .env("LOG", &log)
            .env("SCRIPT", script)
            .envs([("n", "aa"), ("v", "q r"), ("w", "x")])
            .current_dir(directory.path())
            .process_group(0)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let deadline = Instant::now() + Duration::from_secs(5);
        while child.try_wait().unwrap().is_none() {
            if Instant::now() > deadline {
                // A script may wait for itself; then it says nothing. Its group has not been reaped, so it is its own.
                let group = format!("-{}", child.id());
                let killed = Command::new(self.bash).args(["-c", "kill -KILL -- \"$1\"", "kill", &group]).status();
                assert!(killed.unwrap().success());
                child.wait().unwrap();
                return None;
            }
            std::thread::sleep(Duration::from_millis(1));
        }
        let log = fs::read(&log).unwrap_or_default();
        let text = String::from_utf8_lossy(&log);
        let mut commands = vec![Vec::new()];
        for word in text.split('\0') {
            if word == "\u{1}" {
                commands.push(Vec::new());
            } else if let Some(last) = commands.last_mut() {
                last.push(word.to_owned());
            }
        }
        commands.pop();
        Some(commands)
    }
}

/// Whether a segment names these words: what it knows is as it says, and what it does not know may be anything.
fn names(segment: &Segment, words: &[String]) -> bool {
    fits(&segment.words, words, &segment.added)
}

fn fits(known: &[Word], words: &[String], added: &Added) -> bool {
    let Some((first, known)) = known.split_first() else { return words.is_empty() || *added == Added::Appended };
    let replaced = matches!(added, Added::Replaced(mark) if first.text.contains(mark.as_str()));
    if first.may_split() || replaced {
        return (0..=words.len()).any(|taken| fits(known, &words[taken..], added));
    }
    words.split_first().is_some_and(|(word, words)| could_be(first, word) && fits(known, words, added))
}

/// Whether a word that becomes one argument can become this one.
fn could_be(known: &Word, word: &str) -> bool {
    if let Some(value) = known.value() {
        return value == word;
    }
    let mut rest = word;
    for (number, part) in known.parts.iter().enumerate() {
        let WordPart::Literal(text) = part else { continue };
        match rest.find(text.as_str()) {
            Some(at) if number > 0 || at == 0 => rest = &rest[at + text.len()..],
            _ => return false,
        }
    }
    true
}

/// What was seen of many scripts.
#[derive(Default)]
struct Outcome {
    ran: usize,
    understood: usize,
    allowed: usize,
    /// Commands that no segment names, although the analysis has no doubt.
    missed: Vec<String>,
    /// The same where it has.
    doubted: usize,
}

impl Outcome {
    fn judge(&mut self, script: &str, commands: &[Vec<String>]) {
        if commands.is_empty() {
            return;
        }
        let analysis = CommandAnalysis::new(script);
        self.ran += 1;
        self.understood += usize::from(analysis.is_understood());
        let texts = || analysis.segments.iter().map(|segment| &segment.text).collect::<Vec<_>>();
        let before = self.missed.len();
        for words in commands {
            if self.missed.len() > before {
                return;
            }
            if !analysis.segments.iter().any(|segment| names(segment, words)) {
                if analysis.is_understood() {
                    self.missed.push(format!("{script:?}\n  ran {words:?}\n  has {:?}", texts()));
                } else {
                    self.doubted += 1;
                }
            }
            // What runs can be denied, whatever else is allowed.
            for denied in [words.join(" "), format!("{} *", words[0])] {
                if policy::Pattern::new(&denied, None).is_err() || denied == "*" || denied.contains('\n') {
                    continue;
                }
                let rules = policy(&[(Decision::Allow, "*"), (Decision::Deny, &denied)]);
                if explain(&rules, script).decision == Decision::Allow {
                    self.missed
                        .push(format!("{script:?}\n  ran {words:?}, with `{denied}` denied\n  has {:?}", texts()));
                }
            }
        }
        // What is allowed runs nothing but what was allowed.
        let allowed: Vec<String> = NAMES[..2].iter().chain(BUILTINS).map(|name| format!("{name} *")).collect();
        let rules: Vec<(Decision, &str)> = allowed.iter().map(|pattern| (Decision::Allow, pattern.as_str())).collect();
        if explain(&policy(&rules), script).decision == Decision::Allow {
            self.allowed += 1;
            if let Some(words) = commands.iter().find(|words| NAMES[2..].contains(&words[0].as_str())) {
                self.missed.push(format!("{script:?}\n  ran {words:?}, and is allowed"));
            }
        }
        if commands.iter().any(|words| NAMES.contains(&words[0].as_str()))
            && explain(&policy(&[]), script).smart == Classification::Safe
        {
            self.missed.push(format!("{script:?}\n  ran {commands:?}, and is called safe"));
        }
    }

    #[track_caller]
    fn hold(&self, scripts: usize) {
        println!(
            "{scripts} scripts, {} ran something, {} of them understood, {} allowed; {} misses, and {} where there was a doubt",
            self.ran,
            self.understood,
            self.allowed,
            self.missed.len(),
            self.doubted
        );
        assert!(self.missed.is_empty(), "understood, and yet:\n{}", self.missed.join("\n"));
        assert!(self.ran > scripts / 20, "the scripts must run something");
        assert!(self.understood > scripts / 40, "some must be understood");
    }
}

/// How many scripts are tried and from which seed, by `BASH_CASES` and `BASH_SEED`; a longer search is set there.
fn knobs() -> (usize, u64) {
    let knob = |name| std::env::var(name).ok().and_then(|text| text.parse::<u64>().ok());
    (usize::try_from(knob("BASH_CASES").unwrap_or(300)).unwrap(), knob("BASH_SEED").unwrap_or(7))
}

fn search(mut scripts: impl FnMut() -> String) {
    let Some(sandbox) = Sandbox::new() else {
        eprintln!("skipped: needs `bash`");
        return;
    };
    let (cases, _) = knobs();
    let mut outcome = Outcome::default();
    for _ in 0..cases {
        let script = scripts();
        if let Some(commands) = sandbox.run(&script) {
            outcome.judge(&script, &commands);
        }
    }
    outcome.hold(cases);
}

#[test]
fn what_bash_runs_of_a_jumble_is_what_segments_name() {
    let seed = knobs().1.to_le_bytes().repeat(4);
    let rng = TestRng::from_seed(RngAlgorithm::ChaCha, &seed);
    let config = Config { failure_persistence: None, ..Config::default() };
    let mut runner = TestRunner::new_with_rng(config, rng);
    let scripts = prop::collection::vec(prop::sample::select(PIECES), 1..12).prop_map(|pieces| pieces.concat());
    search(|| scripts.new_tree(&mut runner).unwrap().current());
}

#[test]
fn what_bash_runs_of_a_script_is_what_segments_name() {
    let mut generator = Generator::new(knobs().1);
    search(|| generator.script());
}
