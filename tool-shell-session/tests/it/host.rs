//! A host around the tool: one chat, an allow-all permission, and an end that leaves nothing.

use std::future::Future;
use std::panic::resume_unwind;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use process::{Engine, EngineConfig};
use serde_json::{Value, json};
use tool_api::{
    Denied, FixedEnv, Grant, Permission, PermissionRequest, Scope, Tool, ToolCall, ToolContext, ToolError, async_trait,
};
use tool_shell_session::{Config, ShellSession};

/// Grants everything.
#[derive(Debug)]
struct AllowAll;

#[async_trait]
impl Permission for AllowAll {
    async fn ask(&self, _request: PermissionRequest) -> Result<Grant, Denied> {
        Ok(Grant::new())
    }
}

/// The variable that all processes of one host have in their environment.
const MARK: &str = "SHELL_SESSION_TEST";

/// The tool in a host with one chat and an empty workspace.
#[derive(Clone, Debug)]
pub(crate) struct Host {
    pub(crate) tool: Arc<dyn Tool>,
    pub(crate) ctx: ToolContext,
    mark: String,
    dir: Arc<tempfile::TempDir>,
}

/// A checked result.
#[derive(Clone, Debug)]
pub(crate) struct Answer {
    pub(crate) text: String,
    pub(crate) json: Value,
}

/// Runs a test in a host, ends the host whatever happened, and checks that no process of it is left.
pub(crate) fn run<F: Future<Output = ()> + Send + 'static>(config: Config, test: impl FnOnce(Host) -> F) {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    runtime.block_on(async {
        let host = Host::new(config);
        let outcome = tokio::spawn(tokio::time::timeout(Duration::from_secs(120), test(host.clone()))).await;
        host.tool.end(&Scope::Host).await;
        match outcome {
            Ok(Ok(())) => {}
            Ok(Err(_)) => panic!("the test did not end in two minutes"),
            Err(failed) => resume_unwind(failed.into_panic()),
        }
        assert_eq!(host.processes(), Vec::<String>::new(), "the end of the host leaves nothing");
    });
}

impl Host {
    fn new(config: Config) -> Self {
        static HOSTS: AtomicU32 = AtomicU32::new(0);
        let dir = Arc::new(tempfile::tempdir().unwrap());
        let root = dir.path().canonicalize().unwrap();
        let mark = format!("{}-{}", std::process::id(), HOSTS.fetch_add(1, Ordering::Relaxed));
        let path = std::env::var("PATH").unwrap();
        let home = root.to_str().unwrap();
        let env = FixedEnv::new([("PATH", path.as_str()), ("HOME", home), ("LANG", "C.UTF-8"), (MARK, &mark)]);
        let tool = ShellSession::new(Engine::new(EngineConfig::default()), config).unwrap();
        let ctx =
            ToolContext::deny_all("chat-1", &root).with_permission(Arc::new(AllowAll)).with_shell_env(Arc::new(env));
        Self { tool: Arc::new(tool), ctx, mark, dir }
    }

    /// The same host in a call of another kind.
    pub(crate) fn with(&self, change: impl FnOnce(ToolContext) -> ToolContext) -> Self {
        Self { ctx: change(self.ctx.clone()), ..self.clone() }
    }

    /// The same host and workspace for another chat.
    pub(crate) fn chat(&self, name: &str) -> Self {
        let mut other = self.clone();
        other.ctx.chat = name.into();
        other
    }

    pub(crate) fn root(&self) -> &Path {
        self.ctx.workspace.root()
    }

    /// Writes a file into the workspace.
    pub(crate) fn file(&self, name: &str, text: &str) -> PathBuf {
        let path = self.dir.path().join(name);
        std::fs::write(&path, text).unwrap();
        path
    }

    pub(crate) async fn try_call(&self, arguments: Value) -> Result<Answer, ToolError> {
        let output = self.tool.call(ToolCall::new("shell_session", arguments), &self.ctx).await?;
        let json = output.structured.clone().expect("every result is structured");
        fits(&json, self.tool.spec().output_schema.as_ref().expect("the tool has an output schema"));
        let text = output.as_text();
        assert_clean(&text);
        if let Some(output) = json["output"].as_str() {
            assert_clean(output);
        }
        Ok(Answer { text, json })
    }

    #[track_caller]
    pub(crate) fn call(&self, arguments: Value) -> impl Future<Output = Answer> + Send + use<'_> {
        let place = std::panic::Location::caller();
        async move {
            let answer = self.try_call(arguments).await;
            answer.unwrap_or_else(|error| panic!("{place}: {}", error.report()))
        }
    }

    /// Makes a call that fails, and returns what the model reads.
    #[track_caller]
    pub(crate) fn fail(&self, arguments: Value) -> impl Future<Output = String> + Send + use<'_> {
        let place = std::panic::Location::caller();
        async move {
            match self.try_call(arguments).await {
                Ok(answer) => panic!("{place}: it worked: {}", answer.text),
                Err(error) => {
                    assert_clean(&error.report());
                    error.report()
                }
            }
        }
    }

    /// Starts a command and returns its id and what it printed until it settled or, with `until`, printed that.
    pub(crate) async fn start(&self, command: &str, until: Option<&str>) -> (String, Answer) {
        let mut arguments = json!({"action": "start", "command": command, "waitMs": 30_000});
        if let Some(text) = until {
            arguments["until"] = json!({"text": text});
        }
        let answer = self.call(arguments).await;
        (answer.id(), answer)
    }

    pub(crate) async fn write(&self, id: &str, input: &str, until: &str) -> Answer {
        let arguments =
            json!({"action": "write", "id": id, "input": input, "until": {"text": until}, "waitMs": 30_000});
        self.call(arguments).await
    }

    pub(crate) async fn keys(&self, id: &str, keys: &[&str]) -> Answer {
        self.call(json!({"action": "write", "id": id, "keys": keys, "waitMs": 30_000})).await
    }

    pub(crate) async fn wait_for_exit(&self, id: &str) -> Answer {
        let answer = self.call(json!({"action": "read", "id": id, "until": "exit", "waitMs": 60_000})).await;
        assert_eq!(answer.json["reason"], "exit", "{}", answer.text);
        answer
    }

    /// Looks at the screen until it is as expected.
    pub(crate) async fn screen(&self, id: &str, expected: impl Fn(&[String]) -> bool) -> Answer {
        let deadline = std::time::Instant::now() + Duration::from_secs(30);
        loop {
            let read = json!({"action": "read", "id": id, "view": "screen", "until": "quiet", "waitMs": 300});
            let answer = self.call(read).await;
            if expected(&answer.rows()) {
                return answer;
            }
            assert!(std::time::Instant::now() < deadline, "the screen stays so:\n{}", answer.text);
        }
    }

    /// Returns the command lines of the processes of this host.
    pub(crate) fn processes(&self) -> Vec<String> {
        let mark = format!("{MARK}={}", self.mark);
        let mut found = Vec::new();
        for entry in std::fs::read_dir("/proc").into_iter().flatten().flatten() {
            let read = |name: &str| std::fs::read(entry.path().join(name)).unwrap_or_default();
            if read("environ").split(|byte| *byte == 0).any(|variable| variable == mark.as_bytes()) {
                found.push(String::from_utf8_lossy(&read("cmdline")).replace('\0', " "));
            }
        }
        found
    }
}

impl Answer {
    pub(crate) fn id(&self) -> String {
        self.json["id"].as_str().expect("it names its session").to_owned()
    }

    pub(crate) fn output(&self) -> &str {
        self.json["output"].as_str().expect("it has output")
    }

    pub(crate) fn rows(&self) -> Vec<String> {
        let rows = self.json["screen"]["rows"].as_array().expect("it has a screen");
        rows.iter().map(|row| row.as_str().unwrap().to_owned()).collect()
    }

    /// Checks some keys of the structured result.
    #[track_caller]
    pub(crate) fn expect(&self, expected: Value) -> &Self {
        for (key, value) in expected.as_object().unwrap() {
            assert_eq!(&self.json[key], value, "{key} in {}\n{}", self.json, self.text);
        }
        self
    }

    #[track_caller]
    pub(crate) fn expect_output(&self, part: &str) -> &Self {
        assert!(self.output().contains(part), "{part:?} is not in {:?}", self.output());
        self
    }
}

/// Tells whether a program is installed; says so once, visibly, if it is not.
pub(crate) fn has(program: &str) -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let found = std::env::split_paths(&path).any(|dir| dir.join(program).is_file());
    if !found {
        println!("skipped: {program} is not installed");
    }
    found
}

#[track_caller]
pub(crate) fn assert_clean(text: &str) {
    let dirty = text.chars().find(|character| character.is_control() && *character != '\n' && *character != '\t');
    assert_eq!(dirty, None, "{text:?}");
}

/// Checks a value against the part of JSON schema that our schemas use.
#[track_caller]
fn fits(value: &Value, schema: &Value) {
    let kind = match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(_) => "integer",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    };
    let types = &schema["type"];
    let allowed = types == kind || types.as_array().is_some_and(|types| types.iter().any(|name| name == kind));
    assert!(allowed, "{value} is no {types}");
    if let Some(words) = schema["enum"].as_array() {
        assert!(words.contains(value), "{value} is none of {words:?}");
    }
    if let Some(map) = value.as_object() {
        for (key, value) in map {
            let schema = &schema["properties"][key];
            assert!(!schema.is_null(), "{key} is not in the schema");
            fits(value, schema);
        }
        for key in schema["required"].as_array().into_iter().flatten() {
            assert!(map.contains_key(key.as_str().unwrap()), "{key} is missing in {value}");
        }
    }
    for value in value.as_array().into_iter().flatten() {
        fits(value, &schema["items"]);
    }
}
