//! What a host relies on: a denied call does nothing, the request names the effect, results have their keys.

use std::sync::{Arc, Mutex};

use serde_json::{Value, json};
use tool_api::{
    CommandKind, Condition, Denied, DeniedKind, DenyAll, Effect, Grant, Permission, PermissionRequest, ToolErrorKind,
    async_trait,
};
use tool_shell_session::Config;

use crate::host::run;

#[test]
fn a_denied_start_does_nothing() {
    run(Config::default(), |host| async move {
        let denied = host.with(|ctx| ctx.with_permission(Arc::new(DenyAll)));
        let start =
            json!({"action": "start", "command": "touch made; echo hello > /dev/tty; sleep 1000", "waitMs": 500});
        let error = denied.try_call(start).await.unwrap_err();
        assert_eq!(error.kind(), ToolErrorKind::Denied);
        assert_eq!(error.report(), "permission denied, nothing was done: this host denies every effect");
        for action in ["write", "read", "signal", "kill", "resize"] {
            let mut arguments = json!({"action": action, "id": "s1"});
            match action {
                "write" => arguments["input"] = json!("x\n"),
                "signal" => arguments["signal"] = json!("KILL"),
                "resize" => {
                    arguments["cols"] = json!(80);
                    arguments["rows"] = json!(24);
                }
                _ => {}
            }
            assert_eq!(denied.try_call(arguments).await.unwrap_err().kind(), ToolErrorKind::UnknownId);
        }
        denied.call(json!({"action": "list"})).await.expect(json!({"sessions": []}));
        assert!(!host.tool.is_busy(&host.ctx.chat));
        assert_eq!(host.processes(), Vec::<String>::new());
        assert_eq!(std::fs::read_dir(host.root()).unwrap().count(), 0);
    });
}

/// Keeps what it was asked, and grants it under a condition that no longer holds.
#[derive(Debug, Default)]
struct Changed(Mutex<Vec<PermissionRequest>>);

#[derive(Debug)]
struct NeverHolds;

impl Condition for NeverHolds {
    fn check(&self) -> Result<(), Denied> {
        Err(Denied::new(DeniedKind::Changed, "`/bin/x` is not the file that was approved"))
    }
}

#[async_trait]
impl Permission for Changed {
    async fn ask(&self, request: PermissionRequest) -> Result<Grant, Denied> {
        self.0.lock().unwrap().push(request);
        Ok(Grant::new().with_condition(Arc::new(NeverHolds)))
    }
}

#[test]
fn the_request_names_the_whole_effect_and_its_condition_is_checked() {
    run(Config { shell: Some("/bin/sh".into()), ..Config::default() }, |host| async move {
        let permission = Arc::new(Changed::default());
        let asking = host.with(|ctx| ctx.with_permission(permission.clone()));
        std::fs::create_dir(host.root().join("sub")).unwrap();
        let start = json!({"action": "start", "command": "touch made", "workdir": "sub", "env": {"A": "1\ntouch p"}});
        let error = asking.fail(start).await;
        assert_eq!(error, "permission denied, nothing was done: `/bin/x` is not the file that was approved");
        let requests = permission.0.lock().unwrap();
        let [request] = requests.as_slice() else { panic!("it is asked once: {requests:?}") };
        let Effect::Command(command) = &request.effect else { panic!("{request:?}") };
        assert_eq!(request.tool, "shell_session");
        assert_eq!(command.command, "touch made");
        assert_eq!(command.shell, std::path::Path::new("/bin/sh"));
        assert_eq!(command.workdir, host.root().join("sub"));
        assert_eq!(command.kind, CommandKind::Interactive);
        assert_eq!(command.env, [("A".to_owned(), "1\ntouch p".to_owned())]);
        assert!(!host.root().join("sub/made").exists());
    });
}

#[test]
fn only_a_start_asks() {
    run(Config::default(), |host| async move {
        let (id, _) = host.start("exec cat", None).await;
        let denied = host.with(|ctx| ctx.with_permission(Arc::new(DenyAll)));
        denied.write(&id, "hello\n", "hello").await.expect(json!({"reason": "text"}));
        denied.call(json!({"action": "resize", "id": id, "cols": 90, "rows": 30})).await;
        denied.call(json!({"action": "kill", "id": id})).await;
    });
}

#[test]
fn results_have_exactly_their_keys() {
    run(Config::default(), |host| async move {
        let keys = |value: &Value| {
            let mut keys: Vec<String> = value.as_object().unwrap().keys().cloned().collect();
            keys.sort();
            keys.join(" ")
        };
        let common = "endedBecause exitCode foreground heldBy id lostChars output reason remainingChars";
        let (id, first) = host.start("exec cat", None).await;
        assert_eq!(keys(&first.json), format!("{common} signal state waitingFor"));
        first.expect(json!({"waitingFor": "line", "exitCode": null, "endedBecause": null, "heldBy": []}));
        let screen = host.call(json!({"action": "read", "id": id, "view": "screen"})).await;
        assert_eq!(keys(&screen.json), format!("{common} screen signal state waitingFor"));
        assert_eq!(keys(&screen.json["screen"]), "alternate cursor rows");
        let resized = host.call(json!({"action": "resize", "id": id, "cols": 80, "rows": 24})).await;
        assert!(resized.text.contains("[the terminal now has 80 columns and 24 rows]"), "{}", resized.text);
        let killed = host.call(json!({"action": "kill", "id": id})).await;
        assert_eq!(keys(&killed.json), format!("{common} signal state stopped survivors"));
        let list = host.call(json!({"action": "list"})).await;
        assert_eq!(keys(&list.json), "sessions");
        assert_eq!(keys(&list.json["sessions"][0]), "command id idleMs startedAt state unreadChars");
        list.json["sessions"][0]["startedAt"].as_str().unwrap().strip_suffix('Z').expect("UTC");
    });
}
