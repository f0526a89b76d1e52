//! What real bash runs is what the segments name.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use policy::{CommandAnalysis, Segment};
use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};

/// Pieces whose execution is harmless in an empty directory without any program.
const PIECES: &[&str] = &[
    "aa",
    "bb x",
    "cc 'q r'",
    "dd \"$H\"",
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

/// The commands that bash looked for, each as its words.
fn run(bash: &str, script: &str, directory: &Path) -> Option<Vec<Vec<String>>> {
    let log = directory.join(".log");
    let _ = fs::remove_file(&log);
    // No program exists, so every command that is not part of the shell ends here.
    // One write for each command, so that commands at the same time stay apart.
    let handler = "command_not_found_handle() { printf '%s\\0' \"$@\" $'\\001' >>\"$LOG\"; }\nexport -f command_not_found_handle\n";
    let mut child = Command::new(bash)
        .args(["--norc", "--noprofile", "-c", &format!("{handler}eval \"$SCRIPT\"\nwait")])
        .env_clear()
        .env("PATH", "/nonexistent")
        .env("HOME", directory)
        .env("LOG", &log)
        .env("SCRIPT", script)
        .current_dir(directory)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let deadline = Instant::now() + Duration::from_secs(5);
    while child.try_wait().unwrap().is_none() {
        if Instant::now() > deadline {
            // A script may wait for itself; then it says nothing.
            child.kill().unwrap();
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

/// Whether a segment names these words, as far as it knows them.
fn names(segment: &Segment, words: &[String]) -> bool {
    let fits = |from: usize| segment.words.get(from).zip(words.get(from));
    if !segment.is_dynamic() {
        let texts: Vec<&str> = segment.words.iter().map(|word| word.text.as_str()).collect();
        return texts == words.iter().map(String::as_str).collect::<Vec<_>>();
    }
    let mut at = 0;
    while let Some((known, word)) = fits(at) {
        match known.value() {
            Some(value) if value == word => at += 1,
            Some(_) => return false,
            None => return true,
        }
    }
    segment.words.get(at).is_none_or(policy::Word::is_dynamic)
}

#[test]
fn what_bash_runs_is_what_segments_name() {
    let bash = ["/bin/bash", "/usr/bin/bash", "/usr/local/bin/bash", "/opt/homebrew/bin/bash"]
        .into_iter()
        .find(|path| Path::new(path).exists());
    let Some(bash) = bash else {
        eprintln!("skipped: this machine has no bash");
        return;
    };
    let cases: u32 = std::env::var("BASH_CASES").ok().and_then(|text| text.parse().ok()).unwrap_or(300);
    let seed = std::env::var("BASH_SEED").ok().and_then(|text| text.parse::<u8>().ok()).unwrap_or(7);
    let rng = TestRng::from_seed(RngAlgorithm::ChaCha, &[seed; 32]);
    let config = Config { failure_persistence: None, ..Config::default() };
    let mut runner = TestRunner::new_with_rng(config, rng);
    let scripts = prop::collection::vec(prop::sample::select(PIECES), 1..12).prop_map(|pieces| pieces.concat());
    let (mut ran, mut understood, mut problems) = (0, 0, Vec::new());
    for _ in 0..cases {
        let script = scripts.new_tree(&mut runner).unwrap().current();
        let directory = tempfile::tempdir().unwrap();
        let Some(commands) = run(bash, &script, directory.path()) else { continue };
        let analysis = CommandAnalysis::new(&script);
        ran += usize::from(!commands.is_empty());
        understood += usize::from(!commands.is_empty() && analysis.is_understood());
        for words in commands {
            if !analysis.segments.iter().any(|segment| names(segment, &words)) {
                problems.push((
                    analysis.is_understood(),
                    format!(
                        "{script:?}: bash ran {words:?}, segments {:?}, doubt {:?}",
                        analysis.segments.iter().map(|s| &s.text).collect::<Vec<_>>(),
                        analysis.doubt
                    ),
                ));
            }
        }
    }
    println!("{ran} scripts ran something, {understood} of them understood, {} misses", problems.len());
    for (_, problem) in &problems {
        println!("{problem}");
    }
    let trusted: Vec<&String> = problems.iter().filter(|(understood, _)| *understood).map(|(_, text)| text).collect();
    assert!(trusted.is_empty(), "understood, and yet: {trusted:#?}");
    assert!(ran > cases as usize / 20, "the scripts must run something");
}
