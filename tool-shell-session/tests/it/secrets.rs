//! A secret goes from the person to the terminal, and nowhere else.

use std::sync::{Arc, Mutex};

use serde_json::json;
use tool_api::{Person, Secret, SecretAnswer, SecretRequest, ToolErrorKind, async_trait};
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
