//! A secret goes from the person to the terminal, and nowhere else.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use serde_json::json;
use tool_api::{CancellationToken, Person, Secret, SecretAnswer, SecretRequest, ToolErrorKind, async_trait};
use tool_shell_session::Config;

use crate::host::{Host, has, run};

const SECRET: &str = "correct horse battery";

/// Gives the next of its answers, and keeps what it was asked.
#[derive(Debug, Default)]
struct Answers {
    next: Mutex<Vec<SecretAnswer>>,
    asked: Mutex<Vec<(String, String)>>,
}

impl Answers {
    fn new(answers: impl IntoIterator<Item = SecretAnswer>) -> Arc<Self> {
        let mut next: Vec<SecretAnswer> = answers.into_iter().collect();
        next.reverse();
        Arc::new(Self { next: Mutex::new(next), asked: Mutex::default() })
    }

    fn asked(&self) -> Vec<(String, String)> {
        self.asked.lock().unwrap().clone()
    }
}

#[async_trait]
impl Person for Answers {
    async fn secret(&self, request: SecretRequest) -> SecretAnswer {
        self.asked.lock().unwrap().push((request.program, request.prompt));
        self.next.lock().unwrap().pop().expect("no more questions are expected")
    }
}

fn given() -> SecretAnswer {
    SecretAnswer::Given(Secret::new(SECRET))
}

fn with(host: &Host, person: &Arc<Answers>) -> Host {
    host.with(|ctx| ctx.with_person(person.clone()))
}

const ASK: &str =
    "read -r -s -p 'Password: ' x; echo; echo \"got ${#x}\"; read -r -s -p 'Password: ' y; echo \"end ${#y}\"";

#[test]
fn ssh_keygen_gets_its_passphrase_from_the_person() {
    if !has("ssh-keygen") {
        return;
    }
    run(Config::default(), |host| async move {
        let person = Answers::new([given(), given()]);
        let host = with(&host, &person);
        let (id, first) = host.start("ssh-keygen -q -t ed25519 -f key -C test", None).await;
        first.expect(json!({"reason": "input", "waitingFor": "secret", "foreground": "ssh-keygen"}));
        assert!(first.text.contains("the person is asked for it"), "{}", first.text);
        let again = host.call(json!({"action": "read", "id": id, "waitMs": 30_000})).await;
        again.expect(json!({"reason": "input", "waitingFor": "secret"})).expect_output("same passphrase again");
        let end = host.call(json!({"action": "read", "id": id, "until": "exit", "waitMs": 30_000})).await;
        end.expect(json!({"exitCode": 0}));
        for answer in [&first, &again, &end] {
            assert!(!format!("{} {}", answer.text, answer.json).contains("horse"), "{}", answer.text);
        }
        let asked = person.asked();
        assert_eq!(asked.len(), 2, "{asked:?}");
        assert_eq!(asked[0].0, "ssh-keygen in session s1");
        assert!(asked[0].1.contains("Enter passphrase"), "{asked:?}");
        assert!(asked[1].1.contains("same passphrase again"), "{asked:?}");
        let key = host.root().join("key");
        let check =
            std::process::Command::new("ssh-keygen").args(["-y", "-P", SECRET, "-f"]).arg(key).output().unwrap();
        assert!(check.status.success(), "the key has another passphrase");
    });
}

#[test]
fn each_prompt_is_asked_once() {
    run(Config::default(), |host| async move {
        let person = Answers::new([SecretAnswer::Refused]);
        let host = with(&host, &person);
        let (id, _) = host.start(ASK, None).await;
        for action in ["list", "read", "read"] {
            let arguments =
                if action == "list" { json!({"action": action}) } else { json!({"action": action, "id": id}) };
            let answer = host.call(arguments).await;
            if action == "read" {
                answer.expect(json!({"state": "running", "waitingFor": "secret"}));
                assert!(answer.text.contains("the person"), "{}", answer.text);
            }
        }
        assert_eq!(person.asked(), [("bash in session s1".to_owned(), "Password:".to_owned())]);
    });
}

#[test]
fn the_same_words_again_are_another_prompt() {
    run(Config::default(), |host| async move {
        let person = Answers::new([given(), given()]);
        let host = with(&host, &person);
        let (id, _) = host.start(ASK, None).await;
        let second = host.call(json!({"action": "read", "id": id, "waitMs": 30_000})).await;
        second.expect(json!({"waitingFor": "secret"})).expect_output(&format!("got {}", SECRET.len()));
        assert!(second.text.contains("the person gave the secret, and it was typed"), "{}", second.text);
        // Without a wait of its own, the read still sees what the secret brings.
        let end = host.call(json!({"action": "read", "id": id, "until": "exit"})).await;
        end.expect(json!({"exitCode": 0})).expect_output(&format!("end {}", SECRET.len()));
    });
}

#[test]
fn a_suspended_question_consumes_nothing() {
    run(Config::default(), |host| async move {
        let person = Answers::new([SecretAnswer::Suspended, given()]);
        let host = with(&host, &person);
        let (id, _) = host.start(ASK, None).await;
        let read = json!({"action": "read", "id": id, "waitMs": 30_000});
        let error = host.try_call(read.clone()).await.unwrap_err();
        assert_eq!(error.kind(), ToolErrorKind::Suspended);
        host.call(read).await.expect_output(&format!("got {}", SECRET.len()));
        assert_eq!(person.asked().len(), 2);
    });
}

#[test]
fn without_a_person_the_result_says_what_to_do() {
    run(Config::default(), |host| async move {
        let (id, first) = host.start(ASK, None).await;
        first.expect(json!({"waitingFor": "secret"})).expect_output("Password: ");
        let answer = host.call(json!({"action": "read", "id": id})).await;
        answer.expect(json!({"state": "running", "waitingFor": "secret"}));
        assert!(answer.text.contains("nobody can be asked here"), "{}", answer.text);
    });
}

#[test]
fn ordinary_programs_wait_for_no_secret() {
    run(Config::default(), |host| async move {
        let person = Answers::new([]);
        let host = with(&host, &person);
        for command in ["exec cat", "exec sleep 1000", "PS1='$ ' exec bash --norc -i"] {
            let start = json!({"action": "start", "command": command, "waitMs": 1_000});
            let answer = host.call(start).await;
            assert_ne!(answer.json.get("waitingFor"), Some(&json!("secret")), "{command}");
            host.call(json!({"action": "read", "id": answer.id()})).await;
        }
    });
}

#[test]
fn prompts_for_a_secret_are_recognised() {
    run(Config::default(), |host| async move {
        for (program, command) in [
            ("bash", "bash -c 'read -s -p S: x'"),
            ("openssl", "openssl enc -aes-256-cbc -pbkdf2 -in /etc/hostname"),
            ("python3", "python3 -c 'import getpass; getpass.getpass()'"),
        ] {
            if !has(program) {
                continue;
            }
            let answer = host.call(json!({"action": "start", "command": command, "waitMs": 30_000})).await;
            answer.expect(json!({"reason": "input", "waitingFor": "secret"}));
            host.call(json!({"action": "kill", "id": answer.id()})).await;
        }
    });
}

#[test]
fn a_prompt_that_comes_after_the_echo_is_off_is_shown_to_the_person() {
    run(Config::default(), |host| async move {
        let person = Answers::new([given()]);
        let host = with(&host, &person);
        let command = "echo before; stty -echo; sleep 0.3; printf 'Token: '; read -r x; stty echo; echo \"got ${#x}\"";
        let start = json!({"action": "start", "command": command, "until": {"text": "before\n"}, "waitMs": 30_000});
        let id = host.call(start).await.id();
        let mut answer = host.call(json!({"action": "read", "id": id, "until": "exit", "waitMs": 30_000})).await;
        while answer.json["state"] == "running" {
            // The first read may have come before the echo was off.
            answer = host.call(json!({"action": "read", "id": id, "until": "exit", "waitMs": 30_000})).await;
        }
        answer.expect(json!({"exitCode": 0})).expect_output(&format!("got {}", SECRET.len()));
        assert_eq!(person.asked()[0].1, "Token:");
    });
}

/// Has the question open until it is withdrawn, or answers it when a file is there, without letting anyone else run.
#[derive(Debug, Default)]
struct Slow {
    open: Mutex<Vec<CancellationToken>>,
    /// Sends the signal to the process group whose leader wrote its number into the file `pid`.
    late: Option<(PathBuf, &'static str)>,
}

impl Slow {
    async fn opened(&self) -> CancellationToken {
        loop {
            if let Some(cancel) = self.open.lock().unwrap().first() {
                return cancel.clone();
            }
            tokio::task::yield_now().await;
        }
    }
}

#[async_trait]
impl Person for Slow {
    async fn secret(&self, request: SecretRequest) -> SecretAnswer {
        self.open.lock().unwrap().push(request.cancel);
        let Some((root, signal)) = &self.late else { std::future::pending().await };
        let group = std::fs::read_to_string(root.join("pid")).unwrap();
        let kill = ["-s", signal, "--", &format!("-{}", group.trim())];
        assert!(std::process::Command::new("kill").args(kill).status().unwrap().success());
        let deadline = Instant::now() + Duration::from_secs(30);
        while !root.join("gone").exists() && Path::new("/proc").join(group.trim()).join("cwd").exists() {
            assert!(Instant::now() < deadline, "the signal had no effect");
        }
        given()
    }
}

/// Asks until USR1 comes, and goes on with something else.
const ASK_UNTIL_USR1: &str = "echo $$ > pid; trap : USR1; bash -c 'read -r -s -p \"First: \" x'; stty echo; \
                              echo; echo moved on; touch gone; ";

#[test]
fn a_question_is_withdrawn_when_the_session_ends() {
    run(Config::default(), |host| async move {
        for (action, reason) in [("kill", "killed"), ("signal", "exit")] {
            let person = Arc::new(Slow::default());
            let asking = host.with(|ctx| ctx.with_person(person.clone()));
            let (id, _) = host.start(ASK, None).await;
            let arguments = json!({"action": "read", "id": id, "until": "exit", "waitMs": 300_000});
            let read = tokio::spawn(async move { asking.call(arguments).await });
            let cancel = person.opened().await;
            assert!(!cancel.is_cancelled());
            let mut end = json!({"action": action, "id": id});
            if action == "signal" {
                end["signal"] = json!("KILL");
            }
            host.call(end).await;
            let answer = read.await.unwrap();
            answer.expect(json!({"reason": "exit", "state": "signaled", "endedBecause": reason}));
            let note = "[the question to the person was withdrawn: the session has ended]";
            assert!(answer.text.contains(note), "{}", answer.text);
            assert!(cancel.is_cancelled(), "the front is told that the answer is not wanted any more");
        }
    });
}

#[test]
fn a_question_is_withdrawn_when_the_program_asks_no_more() {
    run(Config::default(), |host| async move {
        let person = Arc::new(Slow::default());
        let asking = host.with(|ctx| ctx.with_person(person.clone()));
        let (id, first) = host.start(&format!("{ASK_UNTIL_USR1} exec cat"), None).await;
        first.expect(json!({"waitingFor": "secret"}));
        let read = json!({"action": "read", "id": id, "until": {"text": "moved on"}, "waitMs": 300_000});
        let read = tokio::spawn(async move { asking.call(read).await });
        let cancel = person.opened().await;
        host.call(json!({"action": "signal", "id": id, "signal": "USR1"})).await;
        let answer = read.await.unwrap();
        answer.expect(json!({"reason": "text", "state": "running"})).expect_output("moved on");
        let note = "[the question to the person was withdrawn: the program no longer waits for that secret]";
        assert!(answer.text.contains(note), "{}", answer.text);
        assert!(cancel.is_cancelled());
    });
}

#[test]
fn a_question_is_withdrawn_when_another_prompt_follows() {
    run(Config::default(), |host| async move {
        let person = Arc::new(Slow::default());
        let asking = host.with(|ctx| ctx.with_person(person.clone()));
        let command = format!("{ASK_UNTIL_USR1} read -r -s -p 'Second: ' x; echo \"got ${{#x}}\"");
        let (id, first) = host.start(&command, None).await;
        first.expect(json!({"waitingFor": "secret"}));
        let read = json!({"action": "read", "id": id, "waitMs": 300_000});
        let read = tokio::spawn(async move { asking.call(read).await });
        person.opened().await;
        host.call(json!({"action": "signal", "id": id, "signal": "USR1"})).await;
        let answer = read.await.unwrap();
        assert!(answer.text.contains("the question to the person was withdrawn"), "{}", answer.text);
        let person = Answers::new([given()]);
        let end = json!({"action": "read", "id": id, "until": "exit", "waitMs": 300_000});
        with(&host, &person).call(end).await.expect_output(&format!("got {}", SECRET.len()));
        assert_eq!(person.asked()[0].1, "Second:");
    });
}

#[test]
fn an_answer_that_comes_too_late_is_typed_nowhere() {
    run(Config::default(), |host| async move {
        for signal in ["USR1", "KILL"] {
            let late = Some((host.root().to_owned(), signal));
            let asking = host.with(|ctx| ctx.with_person(Arc::new(Slow { late, ..Slow::default() })));
            let (id, first) = host.start(&format!("{ASK_UNTIL_USR1} exec cat"), None).await;
            first.expect(json!({"waitingFor": "secret"}));
            let until = if signal == "KILL" { json!("exit") } else { json!({"text": "moved on"}) };
            let read = json!({"action": "read", "id": id, "until": until, "waitMs": 30_000});
            let answer = asking.call(read).await;
            let note = "[the person's answer came too late and was discarded, not typed anywhere: the ";
            assert!(answer.text.contains(note), "{}", answer.text);
            if signal == "KILL" {
                answer.expect(json!({"reason": "exit", "state": "signaled"}));
            } else {
                answer.expect(json!({"reason": "text"}));
                let echo = host.write(&id, "next\n", "next\n").await;
                assert!(!format!("{} {}", answer.output(), echo.output()).contains("horse"), "{}", echo.text);
                std::fs::remove_file(host.root().join("gone")).unwrap();
            }
        }
    });
}

#[test]
fn an_answer_to_one_prompt_is_not_typed_into_the_next() {
    run(Config::default(), |host| async move {
        let late = Some((host.root().to_owned(), "USR1"));
        let asking = host.with(|ctx| ctx.with_person(Arc::new(Slow { late, ..Slow::default() })));
        // The answer comes when the second prompt has been there for a while.
        let command = "echo $$ > pid; trap : USR1; bash -c 'read -r -s -p \"First: \" x'; echo; \
                       { sleep 1; touch gone; } & read -r -s -p 'Second: ' x; echo \"got ${#x}\"";
        let (id, first) = host.start(command, None).await;
        first.expect(json!({"waitingFor": "secret"})).expect_output("First: ");
        let answer = asking.call(json!({"action": "read", "id": id, "waitMs": 30_000})).await;
        answer.expect(json!({"reason": "input", "waitingFor": "secret"})).expect_output("Second: ");
        assert!(answer.text.contains("came too late and was discarded"), "{}", answer.text);
        assert!(answer.text.contains("[it asks for a secret: call `read`"), "{}", answer.text);
        let person = Answers::new([SecretAnswer::Given(Secret::new("four"))]);
        let end = json!({"action": "read", "id": id, "until": "exit", "waitMs": 30_000});
        with(&host, &person).call(end).await.expect_output("got 4");
        assert_eq!(person.asked()[0].1, "Second:");
    });
}

#[test]
fn a_secret_with_a_control_character_is_not_typed() {
    run(Config::default(), |host| async move {
        let answer = |text: String| SecretAnswer::Given(Secret::new(text));
        let person = Answers::new([
            answer(format!("{SECRET}\n{SECRET}")),
            answer(format!("{SECRET}\u{3}")),
            answer(format!("{SECRET}\r\n")),
        ]);
        let host = with(&host, &person);
        let (id, _) = host.start(ASK, None).await;
        for _ in 0..2 {
            // The wait ends, so that the person can be asked again.
            let read = json!({"action": "read", "id": id, "until": "exit", "waitMs": 300_000});
            let refused = host.call(read).await;
            refused.expect(json!({"reason": "input", "state": "running", "waitingFor": "secret"}));
            let note = "[the person's secret was not typed: it contains a control character; the next `read` asks";
            assert!(refused.text.contains(note), "{}", refused.text);
            assert!(!format!("{} {}", refused.text, refused.json).contains("horse"), "{}", refused.text);
        }
        let typed = host.call(json!({"action": "read", "id": id, "waitMs": 30_000})).await;
        typed.expect_output(&format!("got {}", SECRET.len()));
        assert_eq!(person.asked().len(), 3);
    });
}

#[test]
fn a_secret_that_is_longer_than_a_line_is_not_typed() {
    run(Config::default(), |host| async move {
        let person = Answers::new([SecretAnswer::Given(Secret::new("x".repeat(5_000)))]);
        let host = with(&host, &person);
        let (id, _) = host.start(ASK, None).await;
        let refused = host.call(json!({"action": "read", "id": id, "waitMs": 30_000})).await;
        refused.expect(json!({"reason": "input", "waitingFor": "secret"}));
        assert!(refused.text.contains("it is longer than the "), "{}", refused.text);
        assert!(!refused.text.contains("500"), "the length of a secret is told: {}", refused.text);
    });
}
