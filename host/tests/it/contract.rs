//! Under a permission that denies everything no tool changes anything: no process, no file, no byte.

use std::fs;
use std::path::Path;
use std::sync::Arc;

use host::{CallOptions, Host, Registry, RegistryConfig, Settings, builtin_tools};
use serde_json::{Value, json};
use tool_api::{DenyAll, ToolCall, ToolErrorKind, Workspace};

/// Calls of a tool that would change something, `DIR` being a directory that must stay empty.
fn harmful_calls(tool: &str) -> Vec<Value> {
    match tool {
        "shell_session" => vec![
            json!({"action": "start", "command": "touch DIR/made; sleep 1000"}),
            json!({"action": "start", "command": "touch made", "workdir": "DIR", "env": {"A": "b"}}),
            json!({"action": "write", "id": "s1", "input": "touch DIR/made\n"}),
            json!({"action": "signal", "id": "s1", "signal": "KILL"}),
            json!({"action": "kill", "id": "s1"}),
        ],
        // Changes nothing by itself.
        "sleep" => vec![],
        other => panic!("`{other}` has no case here: add its calls that change something"),
    }
}

#[tokio::test]
async fn a_denied_call_has_done_nothing() {
    let tools = builtin_tools(&Settings::defaults()).unwrap();
    let registry = Registry::new(tools, RegistryConfig::default()).unwrap();
    let names: Vec<String> = registry.specs().map(|spec| spec.name.clone()).collect();
    let host = Host::new(registry).with_permission(Arc::new(DenyAll));
    for name in names {
        let dir = tempfile::tempdir().unwrap();
        let chat = host.open_chat(Workspace::new(dir.path()));
        for call in harmful_calls(&name) {
            let call = call.to_string().replace("DIR", dir.path().to_str().unwrap());
            let arguments: Value = serde_json::from_str(&call).unwrap();
            let error = host.call(&chat, ToolCall::new(&name, arguments), CallOptions::new()).await.unwrap_err();
            let fine = matches!(error.kind(), ToolErrorKind::Denied | ToolErrorKind::UnknownId);
            assert!(fine, "{name} {call}: {}", error.report());
            assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 0, "{name} {call} made a file");
            assert_eq!(processes_that_name(dir.path()), Vec::<String>::new(), "{name} {call} started a process");
        }
        assert!(!host.is_busy(&chat), "{name} holds something");
    }
    host.end().await;
}

/// Lists command lines and directories of running processes that contain a path; it is empty where there is no `/proc`.
pub(crate) fn processes_that_name(path: &Path) -> Vec<String> {
    let wanted = path.to_str().unwrap();
    let processes = fs::read_dir("/proc").into_iter().flatten().flatten();
    let own = std::process::id().to_string();
    processes
        .filter(|entry| entry.file_name().to_str() != Some(own.as_str()))
        .filter_map(|entry| {
            let line = String::from_utf8_lossy(&fs::read(entry.path().join("cmdline")).ok()?).into_owned();
            let cwd = fs::read_link(entry.path().join("cwd")).unwrap_or_default();
            (line.contains(wanted) || cwd.starts_with(path)).then_some(line)
        })
        .collect()
}
