//! Who approves what a play's calls need: the choice of the file, nobody, or the person on the terminal.

use std::fs::OpenOptions;
use std::io::{self, BufRead, BufReader, Write};
use std::path::Path;
use std::sync::Arc;

use async_trait::async_trait;
use policy::{Answer, Approver, NobodyToAsk, Prompt};
use tokio::sync::{Mutex, mpsc};

use crate::args::{Approve, Play};

/// Returns who approves. A person who names a file has chosen what is in it; what comes through a pipe may come from
/// anywhere.
pub(super) fn approver(play: &Play) -> Arc<dyn Approver> {
    let piped = play.file == Path::new("-");
    match play.approve {
        Some(Approve::All) => Arc::new(Chosen),
        Some(Approve::Ask) => Arc::new(Terminal::default()),
        Some(Approve::None) => Arc::new(NobodyToAsk::new("`--approve none` was given")),
        None if piped => Arc::new(NobodyToAsk::new(
            "calls from standard input are not approved unless `--approve all` or `--approve ask` is given",
        )),
        None => Arc::new(Chosen),
    }
}

/// Approves each effect of the calls that the person chose. Nothing is remembered for later ones.
#[derive(Debug)]
struct Chosen;

#[async_trait]
impl Approver for Chosen {
    async fn ask(&self, _prompt: Prompt) -> Answer {
        Answer::Preset { reason: "the person chose to play these calls".into() }
    }
}

/// Asks on the controlling terminal, so that standard input and output stay free for calls and results.
#[derive(Debug, Default)]
struct Terminal {
    /// The lines that the person types; one question at a time reads them.
    typed: Mutex<Option<mpsc::UnboundedReceiver<String>>>,
}

#[async_trait]
impl Approver for Terminal {
    async fn ask(&self, prompt: Prompt) -> Answer {
        let mut typed = self.typed.lock().await;
        let lost = |error: io::Error| Answer::NoAnswer { reason: format!("there is no terminal to ask on: {error}") };
        if typed.is_none() {
            match typed_lines() {
                Ok(lines) => *typed = Some(lines),
                Err(error) => return lost(error),
            }
        }
        let Some(lines) = typed.as_mut() else { return lost(io::ErrorKind::NotFound.into()) };
        // What was typed before the question is no answer to it.
        while lines.try_recv().is_ok() {}
        let choices = if prompt.always.is_empty() {
            "[o]nce, or [r]eject and why"
        } else {
            "[o]nce, [a]lways, or [r]eject and why"
        };
        if let Err(error) = show(&format!("\n{prompt}\n{choices}: ")) {
            return lost(error);
        }
        while let Some(line) = lines.recv().await {
            if let Some(answer) = parse(&line, &prompt.always) {
                return answer;
            }
            if let Err(error) = show(&format!("{choices}: ")) {
                return lost(error);
            }
        }
        Answer::NoAnswer { reason: "the terminal was closed".to_owned() }
    }
}

fn parse(line: &str, always: &[String]) -> Option<Answer> {
    let (word, rest) = line.trim().split_once(char::is_whitespace).unwrap_or((line.trim(), ""));
    match word.to_ascii_lowercase().as_str() {
        "o" | "once" | "y" | "yes" => Some(Answer::Once),
        "a" | "always" if !always.is_empty() => Some(Answer::Always),
        "r" | "reject" | "n" | "no" => {
            let feedback = Some(rest.trim().to_owned()).filter(|text| !text.is_empty());
            Some(Answer::Reject { feedback })
        }
        _ => None,
    }
}

fn show(text: &str) -> io::Result<()> {
    OpenOptions::new().write(true).open(TERMINAL)?.write_all(text.as_bytes())
}

/// Reads the terminal on a thread of its own, which ends with the program or the terminal.
fn typed_lines() -> io::Result<mpsc::UnboundedReceiver<String>> {
    let terminal = BufReader::new(OpenOptions::new().read(true).open(TERMINAL)?);
    let (sender, receiver) = mpsc::unbounded_channel();
    std::thread::spawn(move || {
        for line in terminal.lines().map_while(Result::ok) {
            if sender.send(line).is_err() {
                break;
            }
        }
    });
    Ok(receiver)
}

#[cfg(unix)]
const TERMINAL: &str = "/dev/tty";
#[cfg(windows)]
const TERMINAL: &str = "CON";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_are_words_and_nothing_else() {
        let always = ["git *".to_owned()];
        assert_eq!(parse("o", &always), Some(Answer::Once));
        assert_eq!(parse(" Always ", &always), Some(Answer::Always));
        assert_eq!(parse("always", &[]), None);
        assert_eq!(parse("r  use npm ci ", &always), Some(Answer::Reject { feedback: Some("use npm ci".into()) }));
        assert_eq!(parse("no", &[]), Some(Answer::Reject { feedback: None }));
        assert_eq!(parse("", &always), None);
        assert_eq!(parse("perhaps", &always), None);
    }
}
