//! The examples of the documentation hold: its configurations are valid, and `check` says what they say it does.

use std::fs;
use std::path::Path;

use crate::program::Run;

/// A fenced block: its language and its text.
#[derive(Debug)]
struct Block {
    language: String,
    text: String,
}

fn document(path: &str) -> String {
    fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(path)).unwrap()
}

fn blocks(document: &str) -> Vec<Block> {
    let mut blocks = Vec::new();
    let mut lines = document.lines();
    while let Some(line) = lines.next() {
        if let Some(language) = line.strip_prefix("```") {
            let text = lines.by_ref().take_while(|line| *line != "```").map(|line| format!("{line}\n")).collect();
            blocks.push(Block { language: language.to_owned(), text });
        }
    }
    blocks
}

/// Runs a command of an example: words, or text in single quotes.
fn run(config: &str, command: &str) -> String {
    let mut words = Vec::new();
    for (number, part) in command.split('\'').enumerate() {
        if number % 2 == 1 {
            words.push(part);
        } else {
            words.extend(part.split_whitespace());
        }
    }
    let ["toolhost", args @ ..] = words.as_slice() else { panic!("{command} is no call of toolhost") };
    let ran = Run::new().config(config).args(args.iter().copied()).run();
    assert_eq!((ran.code, ran.stderr.as_str()), (Some(0), ""), "{command}: {}", ran.both());
    // What smart mode says is left out in the documents, since it changes with what is known about programs.
    let kept = ran.stdout.lines().filter(|line| !line.starts_with("smart mode: "));
    let kept: String = kept.map(|line| format!("{line}\n")).collect();
    kept.replace("DIR/Library/Application Support", "~/.config").replace("DIR", "~")
}

#[test]
fn what_check_is_said_to_print_is_what_it_prints() {
    let document = document("docs/permission.md");
    let blocks = blocks(&document);
    let mut config = String::new();
    let mut commands = 0;
    for block in &blocks {
        if block.language == "toml" {
            if block.text.contains("[permission") {
                config.clone_from(&block.text);
            }
        } else if block.language == "console" {
            let mut actual = String::new();
            for command in block.text.lines().filter_map(|line| line.strip_prefix("$ ")) {
                actual.push_str(&format!("$ {command}\n{}", run(&config, command)));
                commands += 1;
            }
            assert_eq!(actual, block.text);
        }
    }
    assert!(commands >= 5, "{blocks:?}");
}

#[test]
fn configurations_of_the_documents_are_valid() {
    let mut found = 0;
    for path in ["docs/permission.md", "README.md"] {
        for block in blocks(&document(path)) {
            // The others are configurations of agents.
            let ours = ["[permission", "[audit]"].iter().any(|table| block.text.contains(table));
            if block.language == "toml" && ours {
                run(&block.text, "toolhost config");
                found += 1;
            }
        }
    }
    assert!(found >= 3);
}
