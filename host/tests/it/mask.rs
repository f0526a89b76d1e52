//! Secrets are hidden on every way out of the host.

use std::sync::Arc;

use host::{CallOptions, Host, Registry, RegistryConfig};
use policy::SecretMask;
use serde_json::json;
use tool_api::{
    Notice, NoticeKind, Person, Secret, SecretAnswer, SecretRequest, Tool, ToolCall, ToolContext, ToolError,
    ToolErrorKind, ToolOutput, ToolSpec, Workspace, async_trait,
};

/// Says its argument in one of several ways.
#[derive(Debug)]
struct Says(ToolSpec);

#[async_trait]
impl Tool for Says {
    fn spec(&self) -> &ToolSpec {
        &self.0
    }

    async fn call(&self, call: ToolCall, ctx: &ToolContext) -> Result<ToolOutput, ToolError> {
        let text = call.arguments["text"].as_str().unwrap_or_default().to_owned();
        match call.arguments["as"].as_str().unwrap_or_default() {
            "text" => Ok(ToolOutput::text(text)),
            "structured" => Ok(ToolOutput::text("").with_structured(json!({"a": [{"b": text}], "n": 1}))),
            "error" => {
                Err(ToolError::new(ToolErrorKind::State, format!("it says {text}")).with_hint(format!("not {text}")))
            }
            "panic" => panic!("{text}"),
            "notice" => {
                let chat = ctx.chat.clone();
                let kind = NoticeKind::Exit;
                ctx.notices.notify(Notice { chat, kind, source: "t1".into(), sequence: 1, text, bytes: None });
                Ok(ToolOutput::text(""))
            }
            "typed" => {
                let request = SecretRequest {
                    chat: ctx.chat.clone(),
                    program: "ssh".into(),
                    prompt: "Password:".into(),
                    cancel: ctx.cancel.clone(),
                };
                let SecretAnswer::Given(secret) = ctx.person.secret(request).await else {
                    return Ok(ToolOutput::text("none"));
                };
                Ok(ToolOutput::text(format!("got {}", String::from_utf8_lossy(secret.expose()))))
            }
            _ => Ok(ToolOutput::text(format!("{}{text}{}", ".".repeat(660), ".".repeat(2_000)))),
        }
    }
}

#[derive(Debug)]
struct Ann;

#[async_trait]
impl Person for Ann {
    async fn secret(&self, _request: SecretRequest) -> SecretAnswer {
        SecretAnswer::Given(Secret::new("open-sesame\n"))
    }
}

fn host() -> Host {
    let schema = json!({
        "type": "object",
        "properties": {"as": {"type": "string"}, "text": {"type": "string"}},
        "additionalProperties": false,
    });
    let tool = Says(ToolSpec::new("says", "Says it.", schema));
    let config = RegistryConfig { max_result_chars: 1_000, ..RegistryConfig::default() };
    let mask = SecretMask::new();
    mask.add_value("MY_TOKEN", "exact-value-1");
    Host::new(Registry::new(vec![Arc::new(tool)], config).unwrap()).with_mask(Arc::new(mask))
}

async fn says(host: &Host, how: &str, text: &str) -> (Result<ToolOutput, ToolError>, Option<String>) {
    let chat = host.open_chat(Workspace::new("/"));
    let options = CallOptions::new().with_person(Arc::new(Ann));
    let result = host.call(&chat, ToolCall::new("says", json!({"as": how, "text": text})), options).await;
    let notices = host.inbox().take(chat.id()).text();
    (result, notices)
}

const MARK: &str = "[secret hidden: MY_TOKEN]";

#[tokio::test]
async fn results_errors_and_notices() {
    let host = host();
    assert_eq!(says(&host, "text", "a exact-value-1 b").await.0.unwrap().as_text(), format!("a {MARK} b"));
    let structured = says(&host, "structured", "exact-value-1").await.0.unwrap().structured;
    assert_eq!(structured, Some(json!({"a": [{"b": MARK}], "n": 1})));
    let error = says(&host, "error", "exact-value-1").await.0.unwrap_err();
    assert_eq!((error.kind(), error.hint()), (ToolErrorKind::State, Some(format!("not {MARK}").as_str())));
    assert_eq!(error.report(), format!("it says {MARK}\nhint: not {MARK}"));
    let panic = says(&host, "panic", "exact-value-1").await.0.unwrap_err();
    assert!(panic.report().contains(MARK) && !panic.report().contains("exact-value-1"), "{}", panic.report());
    assert_eq!(says(&host, "notice", "x exact-value-1").await.1, Some(format!("x {MARK}")));
    let url = says(&host, "text", "postgres://app:s3cr3t@db/app").await.0.unwrap().as_text();
    assert_eq!(url, "postgres://app:[secret hidden: url-password]@db/app");
}

#[tokio::test]
async fn arguments_that_an_error_repeats() {
    let host = host();
    let chat = host.open_chat(Workspace::new("/"));
    let call = ToolCall::new("says", json!({"exact-value-1": 1}));
    let error = host.call(&chat, call, CallOptions::new()).await.unwrap_err();
    assert!(error.report().contains(MARK), "{}", error.report());
}

#[tokio::test]
async fn no_cut_divides_a_secret() {
    // The head of a result that is too long ends in the middle of the value.
    let text = says(&host(), "long", "exact-value-1").await.0.unwrap().as_text();
    assert!(text.contains("characters were cut here") && !text.contains("exact-v"), "{text}");
}

#[tokio::test]
async fn what_a_person_gives_is_hidden_at_once_and_later() {
    let host = host();
    assert_eq!(says(&host, "typed", "").await.0.unwrap().as_text(), "got [secret hidden: typed secret]\n");
    let later = says(&host, "text", "it was open-sesame.").await.0.unwrap().as_text();
    assert_eq!(later, "it was [secret hidden: typed secret].");
    assert_eq!(host.mask().mask("", "open-sesame", ""), "[secret hidden: typed secret]");
}

#[cfg(all(feature = "cli", feature = "sleep"))]
mod program {
    use crate::program::Run;

    #[test]
    fn the_log_hides_values_of_variables() {
        let run = |name: &str| {
            Run::new()
                .file(".toolhost.toml", "[env]\ninherit = 'none'\n")
                .variable(name, "a workspace cannot set this")
                .args(["tools"])
                .run()
        };
        let ran = run("DB_PASSWORD");
        assert!(ran.stderr.contains("is ignored: [secret hidden: DB_PASSWORD] ("), "{}", ran.both());
        let ran = run("DB_NAME");
        assert!(ran.stderr.contains("is ignored: a workspace cannot set this ("), "{}", ran.both());
    }

    #[test]
    fn a_play_hides_secrets_unless_the_person_says_otherwise() {
        let call = "{\"tool\": \"sleep\", \"arguments\": {\"ms\": 1, \"reason\": \"it is tr0ub4dor-3 here\"}}\n{\"tool\": \"tr0ub4dor-3\"}\n";
        let play = |config: &str, workspace: &str| {
            let run = Run::new().config(config).file(".toolhost.toml", workspace).file("calls.jsonl", call);
            run.variable("APP_SECRET", "tr0ub4dor-3").args(["play", "calls.jsonl"]).run().both()
        };
        let ran = play("", "[mask]\nenabled = false\n");
        assert!(!ran.contains("tr0ub4dor-3") && ran.contains("[secret hidden: APP_SECRET]"), "{ran}");
        assert!(ran.contains("a workspace can only switch the mask on"), "{ran}");
        let ran = play("[mask]\nenabled = false\n", "");
        assert!(ran.contains("tr0ub4dor-3"), "{ran}");
    }

    #[test]
    fn further_variables_are_hidden_by_name() {
        let call = "{\"tool\": \"nothing-to-see\"}\n";
        let run = Run::new().config("[mask]\nvariables = ['CODENAME']\n").variable("CODENAME", "nothing-to-see");
        let ran = run.input(call).args(["play", "-", "--json"]).run();
        assert!(ran.stdout.contains("no tool is named `[secret hidden: CODENAME]`"), "{}", ran.both());
    }
}

#[cfg(all(unix, feature = "shell-session"))]
mod session {
    use std::future::Future;

    use host::{Chat, Settings};
    use serde_json::Value;
    use tool_api::{Denied, Grant, Permission, PermissionRequest};

    use super::*;

    #[derive(Debug)]
    struct AllowAll;

    #[async_trait]
    impl Permission for AllowAll {
        async fn ask(&self, _request: PermissionRequest) -> Result<Grant, Denied> {
            Ok(Grant::new())
        }
    }

    struct Room {
        host: Host,
        chat: Arc<Chat>,
        dir: tempfile::TempDir,
    }

    impl Room {
        async fn call(&self, arguments: Value) -> Value {
            let options = CallOptions::new().with_person(Arc::new(Ann));
            let result = self.host.call(&self.chat, ToolCall::new("shell_session", arguments), options).await;
            let output = result.unwrap_or_else(|error| panic!("{}", error.report()));
            let text = output.as_text();
            assert!(!text.contains("exact-value-1") && !text.contains("sesame"), "{text}");
            output.structured.unwrap()
        }
    }

    /// Runs a test in a host that was assembled from a configuration and knows one secret, and ends it.
    async fn with_room<F: Future<Output = ()> + Send + 'static>(test: impl FnOnce(Arc<Room>) -> F) {
        let names = ["PATH", "HOME"].into_iter();
        let inherited = names.filter_map(|name| Some((name.into(), std::env::var_os(name)?)));
        let environment = inherited.chain([("MY_TOKEN".into(), "exact-value-1".into())]);
        let host = Host::from_settings(&Settings::defaults(), environment).unwrap().with_permission(Arc::new(AllowAll));
        let dir = tempfile::tempdir().unwrap();
        let chat = host.open_chat(Workspace::new(dir.path().canonicalize().unwrap()));
        let room = Arc::new(Room { host, chat, dir });
        let outcome = tokio::spawn(test(Arc::clone(&room))).await;
        room.host.end().await;
        outcome.unwrap();
    }

    #[tokio::test]
    async fn a_typed_secret_that_the_program_prints_later() {
        with_room(|room| async move {
            let command = "read -r -s -p 'Password: ' x; echo; echo \"you typed $x.\"; exec cat";
            let start =
                json!({"action": "start", "command": command, "until": {"text": "Password: "}, "waitMs": 30_000});
            let id = room.call(start).await["id"].clone();
            let wait = json!({"text": "you typed"});
            let read = room.call(json!({"action": "read", "id": id, "until": wait, "waitMs": 30_000})).await;
            let mut output = read["output"].as_str().unwrap().to_owned();
            while !output.ends_with(".\n") {
                let more = room.call(json!({"action": "read", "id": id, "waitMs": 30_000})).await;
                output.push_str(more["output"].as_str().unwrap());
            }
            assert!(output.ends_with("you typed [secret hidden: typed secret].\n"), "{output}");
            let screen = room.call(json!({"action": "read", "id": id, "view": "screen"})).await;
            assert_eq!(screen["screen"]["rows"][1], format!("you typed {}.", "*".repeat(11)));
        })
        .await;
    }

    #[tokio::test]
    async fn a_value_that_comes_in_two_writes() {
        with_room(|room| async move {
            let go = room.dir.path().join("go");
            assert!(std::process::Command::new("mkfifo").arg(&go).status().unwrap().success());
            let command = "printf 'is exact-va'; read -r x < go; printf 'lue-1 it\\n'";
            let start = json!({"action": "start", "command": command, "until": {"text": "exact-va"}, "waitMs": 30_000});
            let first = room.call(start).await;
            assert_eq!((&first["output"], &first["remainingChars"]), (&json!("is "), &json!(8)), "{first}");
            std::fs::write(&go, "\n").unwrap();
            let rest = json!({"action": "read", "id": first["id"], "until": "exit", "waitMs": 30_000});
            assert_eq!(room.call(rest).await["output"], format!("{MARK} it\n"));
        })
        .await;
    }

    #[tokio::test]
    async fn what_a_shell_echoes_and_what_a_list_names() {
        with_room(|room| async move {
            let command = "PS1='$ ' exec bash --norc -i # exact-value-1";
            let id = room.call(json!({"action": "start", "command": command, "waitMs": 30_000})).await["id"].clone();
            let input = "echo exact-value-1 | base64; echo done-$((6*7))\n";
            let write =
                json!({"action": "write", "id": id, "input": input, "until": {"text": "done-42"}, "waitMs": 30_000});
            let output = room.call(write).await["output"].as_str().unwrap().to_owned();
            let marks = output.matches(MARK).count();
            assert_eq!(marks, 2, "the echo and the encoded value: {output}");
            let list = room.call(json!({"action": "list"})).await;
            assert_eq!(list["sessions"][0]["command"], format!("PS1='$ ' exec bash --norc -i # {MARK}"));
        })
        .await;
    }
}
