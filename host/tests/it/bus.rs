//! Every call goes through the same steps, whatever the tool does.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use host::{CallOptions, Host, Registry, RegistryConfig};
use serde_json::{Value, json};
use tool_api::{
    CancellationToken, Notice, NoticeKind, Scope, Tool, ToolCall, ToolContext, ToolError, ToolErrorKind, ToolOutput,
    ToolSpec, Workspace, async_trait,
};

/// Does what its argument `do` says, and counts.
#[derive(Debug)]
struct Odd {
    spec: ToolSpec,
    calls: Arc<AtomicUsize>,
    ended: Arc<AtomicUsize>,
}

#[async_trait]
impl Tool for Odd {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    async fn call(&self, call: ToolCall, ctx: &ToolContext) -> Result<ToolOutput, ToolError> {
        self.calls.fetch_add(1, Ordering::SeqCst);
        match call.arguments["do"].as_str().unwrap_or_default() {
            "panic" => panic!("the cat walked over the keyboard"),
            "hang" => std::future::pending().await,
            "wait" => {
                ctx.cancel.cancelled().await;
                Err(ToolError::new(ToolErrorKind::Cancelled, "stopped waiting"))
            }
            "count" => Ok(ToolOutput::text(call.arguments["count"].to_string())),
            "dirty" => Ok(ToolOutput::text("a\u{1b}[2Jb")),
            "long" => Ok(ToolOutput::text("x".repeat(5_000))),
            "notice" => {
                let kind = NoticeKind::Exit;
                let chat = ctx.chat.clone();
                let text = "t1 ended".to_owned();
                ctx.notices.notify(Notice { chat, kind, source: "t1".into(), sequence: 1, text, bytes: None });
                Ok(ToolOutput::text("later"))
            }
            _ => Ok(ToolOutput::text("done")),
        }
    }

    async fn end(&self, _scope: &Scope) {
        self.ended.fetch_add(1, Ordering::SeqCst);
    }
}

struct Bench {
    host: Host,
    calls: Arc<AtomicUsize>,
    ended: Arc<AtomicUsize>,
}

fn spec(name: &str) -> ToolSpec {
    let schema = json!({
        "type": "object",
        "properties": {"do": {"type": "string", "maxLength": 10, "description": "What to do."}, "count": {"type": "integer"}},
        "required": ["do"],
        "additionalProperties": false,
    });
    ToolSpec::new(name, "Does odd things.", schema)
}

fn odd(spec: ToolSpec) -> Odd {
    Odd { spec, calls: Arc::default(), ended: Arc::default() }
}

fn bench() -> Bench {
    let tool = odd(spec("odd"));
    let (calls, ended) = (Arc::clone(&tool.calls), Arc::clone(&tool.ended));
    let config = RegistryConfig { max_result_chars: 1_000, cancel_grace: Duration::from_millis(50) };
    let registry = Registry::new(vec![Arc::new(tool)], config).unwrap();
    Bench { host: Host::new(registry), calls, ended }
}

impl Bench {
    async fn call(&self, arguments: Value) -> Result<ToolOutput, ToolError> {
        let chat = self.host.open_chat(Workspace::new("/"));
        self.host.call(&chat, ToolCall::new("odd", arguments), CallOptions::new()).await
    }
}

#[tokio::test]
async fn bad_arguments_never_reach_the_tool() {
    let bench = bench();
    for (arguments, report) in [
        (json!({}), "argument `do`: is required: text of at most 10 characters"),
        (json!({"do": 5}), "argument `do`: got 5, allowed is text of at most 10 characters"),
        (json!([]), "the arguments: got [], allowed is an object with `do` and `count`"),
        (json!({"do": "x", "what": 1}), "argument `what`: is unknown\nhint: known arguments are `do` and `count`"),
    ] {
        let error = bench.call(arguments).await.unwrap_err();
        assert_eq!((error.kind(), error.report().as_str()), (ToolErrorKind::InvalidArguments, report));
    }
    assert_eq!(bench.calls.load(Ordering::SeqCst), 0);
}

#[tokio::test]
async fn an_integer_with_a_fraction_of_zero_reaches_the_tool_as_an_integer() {
    let bench = bench();
    assert_eq!(bench.call(json!({"do": "count", "count": 5.0})).await.unwrap().as_text(), "5");
    let error = bench.call(json!({"do": "count", "count": 5.5})).await.unwrap_err();
    assert_eq!(error.report(), "argument `count`: got 5.5, allowed is an integer");
}

#[tokio::test]
async fn an_unknown_tool_lists_near_ones() {
    let bench = bench();
    let chat = bench.host.open_chat(Workspace::new("/"));
    let call = |name: &str| bench.host.call(&chat, ToolCall::new(name, json!({})), CallOptions::new());
    assert_eq!(call("od").await.unwrap_err().report(), "no tool is named `od`\nhint: did you mean `odd`?");
    let error = call("unrelated\u{1b}").await.unwrap_err();
    assert_eq!(error.report(), "no tool is named `unrelated\u{fffd}`\nhint: the tools are `odd`");
    assert_eq!(error.kind(), ToolErrorKind::UnknownTool);
}

#[tokio::test]
async fn a_panic_is_an_error_and_the_next_call_works() {
    let bench = bench();
    let error = bench.call(json!({"do": "panic"})).await.unwrap_err();
    assert_eq!(error.kind(), ToolErrorKind::Internal);
    assert_eq!(error.to_string(), "the tool `odd` failed inside: the cat walked over the keyboard");
    assert_eq!(bench.call(json!({"do": "x"})).await.unwrap().as_text(), "done");
}

#[tokio::test]
async fn results_are_clean_and_bounded() {
    let bench = bench();
    assert_eq!(bench.call(json!({"do": "dirty"})).await.unwrap().as_text(), "a\u{fffd}[2Jb");
    let text = bench.call(json!({"do": "long"})).await.unwrap().as_text();
    assert!(text.contains("x\n[4 000 characters were cut here]\nx"), "{text}");
}

#[tokio::test]
async fn cancellation_reaches_the_tool_and_ends_one_that_ignores_it() {
    let bench = bench();
    let chat = bench.host.open_chat(Workspace::new("/"));
    for (what, message) in
        [("wait", "stopped waiting"), ("hang", "the call was cancelled and `odd` did not come back in time")]
    {
        let cancel = CancellationToken::new();
        let options = CallOptions::new().with_cancel(cancel.clone());
        let call = bench.host.call(&chat, ToolCall::new("odd", json!({"do": what})), options);
        let (result, ()) = tokio::join!(call, async { cancel.cancel() });
        let error = result.unwrap_err();
        assert_eq!((error.kind(), error.to_string().as_str()), (ToolErrorKind::Cancelled, message));
    }
}

#[tokio::test]
async fn the_end_of_a_chat_ends_its_calls_first() {
    let bench = bench();
    let chat = bench.host.open_chat(Workspace::new("/"));
    let other = bench.host.open_chat(Workspace::new("/"));
    assert_ne!(chat.id(), other.id());
    let call = bench.host.call(&chat, ToolCall::new("odd", json!({"do": "wait"})), CallOptions::new());
    let (result, ()) = tokio::join!(call, bench.host.end_chat(&chat));
    assert_eq!(result.unwrap_err().kind(), ToolErrorKind::Cancelled);
    assert_eq!(bench.ended.load(Ordering::SeqCst), 1);
    let again = bench.host.call(&chat, ToolCall::new("odd", json!({"do": "x"})), CallOptions::new()).await;
    assert_eq!(again.unwrap_err().kind(), ToolErrorKind::State);
    let call = ToolCall::new("odd", json!({"do": "x"}));
    assert_eq!(bench.host.call(&other, call, CallOptions::new()).await.unwrap().as_text(), "done");
}

#[tokio::test]
async fn no_call_follows_the_end_of_the_host() {
    let bench = bench();
    let chat = bench.host.open_chat(Workspace::new("/"));
    let call = bench.host.call(&chat, ToolCall::new("odd", json!({"do": "wait"})), CallOptions::new());
    let (result, ()) = tokio::join!(call, bench.host.end());
    assert_eq!(result.unwrap_err().kind(), ToolErrorKind::Cancelled);
    assert_eq!(bench.call(json!({"do": "x"})).await.unwrap_err().kind(), ToolErrorKind::State);
    assert_eq!(bench.ended.load(Ordering::SeqCst), 1);
}

#[tokio::test]
async fn notices_wait_for_the_front_of_their_chat() {
    let bench = bench();
    let chat = bench.host.open_chat(Workspace::new("/"));
    let call = ToolCall::new("odd", json!({"do": "notice"}));
    bench.host.call(&chat, call, CallOptions::new()).await.unwrap();
    assert!(bench.host.is_busy(&chat));
    assert_eq!(bench.host.inbox().take(chat.id()).text().as_deref(), Some("t1 ended"));
    assert!(!bench.host.is_busy(&chat));
}

#[test]
fn a_bad_tool_is_found_when_the_host_starts() {
    #[track_caller]
    fn check(specs: Vec<ToolSpec>, expected: &str) {
        let tools = specs.into_iter().map(|spec| Arc::new(odd(spec)) as Arc<dyn Tool>).collect();
        assert_eq!(Registry::new(tools, RegistryConfig::default()).unwrap_err().to_string(), expected);
    }
    check(vec![spec("a"), spec("a")], "tool `a`: the name is taken by another tool");
    check(vec![spec("A.b")], "tool `A.b`: a name has 1 to 32 of `a-z`, `0-9` and `_`");
    let root = json!({"type": "object", "anyOf": [{}]});
    check(vec![ToolSpec::new("a", "", root)], "tool `a`: the input schema has `anyOf` at its root, which hosts refuse");
    check(
        vec![ToolSpec::new("a", "x".repeat(2_049), json!({"type": "object"}))],
        "tool `a`: the description has 2049 bytes, at most 2048",
    );
}

#[test]
fn core_tools_are_listed_first_and_the_order_stays() {
    let specs = [spec("b"), spec("z").into_core(), spec("a"), spec("c").into_core()];
    let tools = specs.into_iter().map(|spec| Arc::new(odd(spec)) as Arc<dyn Tool>).collect();
    let registry = Registry::new(tools, RegistryConfig::default()).unwrap();
    let names: Vec<&str> = registry.specs().map(|spec| spec.name.as_str()).collect();
    assert_eq!(names, ["z", "c", "b", "a"]);
}

#[tokio::test]
async fn results_are_held_against_the_declared_schema() {
    let schema = json!({"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]});
    let spec = spec("odd").with_output_schema(schema);
    let check = |output: ToolOutput| Registry::check_output(&spec, &output);
    assert_eq!(check(ToolOutput::text("x").with_structured(json!({"n": 1}))), Ok(()));
    assert!(check(ToolOutput::text("x")).unwrap_err().contains("no structured form"));
    assert!(check(ToolOutput::text("x").with_structured(json!({"n": "1"}))).unwrap_err().contains("`n` got \"1\""));
}

/// Counts spans and keeps the last value of each field.
#[derive(Clone, Debug, Default)]
struct Spans(Arc<std::sync::Mutex<Vec<(String, String)>>>, Arc<AtomicUsize>);

impl tracing::field::Visit for Spans {
    fn record_debug(&mut self, field: &tracing::field::Field, value: &dyn std::fmt::Debug) {
        self.0.lock().unwrap().push((field.name().to_owned(), format!("{value:?}")));
    }
}

impl tracing::Subscriber for Spans {
    fn enabled(&self, metadata: &tracing::Metadata<'_>) -> bool {
        metadata.is_span()
    }

    fn new_span(&self, span: &tracing::span::Attributes<'_>) -> tracing::span::Id {
        span.record(&mut self.clone());
        tracing::span::Id::from_u64(self.1.fetch_add(1, Ordering::SeqCst) as u64 + 1)
    }

    fn record(&self, _span: &tracing::span::Id, values: &tracing::span::Record<'_>) {
        values.record(&mut self.clone());
    }

    fn record_follows_from(&self, _span: &tracing::span::Id, _follows: &tracing::span::Id) {}

    fn event(&self, _event: &tracing::Event<'_>) {}

    fn enter(&self, _span: &tracing::span::Id) {}

    fn exit(&self, _span: &tracing::span::Id) {}
}

#[test]
fn each_call_is_one_span_with_its_outcome() {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let bench = bench();
    for (arguments, outcome) in [(json!({"do": "x"}), "\"ok\""), (json!({}), "\"InvalidArguments\"")] {
        let spans = Spans::default();
        let result = tracing::subscriber::with_default(spans.clone(), || runtime.block_on(bench.call(arguments)));
        drop(result);
        assert_eq!(spans.1.load(Ordering::SeqCst), 1);
        let fields = spans.0.lock().unwrap().clone();
        let names: Vec<&str> = fields.iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!(names, ["id", "tool", "chat", "outcome", "duration_ms"], "{fields:?}");
        assert_eq!(fields[3].1, outcome);
    }
}
