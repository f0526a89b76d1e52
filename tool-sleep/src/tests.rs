//! The tool under a paused clock.

use super::*;

fn sleep() -> Sleep {
    Sleep::new(Config::default()).unwrap()
}

async fn call(arguments: Value, ctx: &ToolContext) -> Result<ToolOutput, ToolError> {
    sleep().call(ToolCall::new("sleep", arguments), ctx).await
}

#[tokio::test(start_paused = true)]
async fn waits_as_long_as_asked() {
    let started = Instant::now();
    let output =
        call(json!({"ms": 300_000, "reason": "the deployment"}), &ToolContext::deny_all("a", "/")).await.unwrap();
    assert_eq!(started.elapsed().as_secs(), 300);
    assert_eq!(output.as_text(), "slept 300000 ms");
    assert_eq!(output.structured, Some(json!({"sleptMs": 300_000, "endedBecause": "elapsed"})));
}

#[tokio::test(start_paused = true)]
async fn cancellation_ends_it_at_once() {
    let ctx = ToolContext::deny_all("a", "/");
    let cancel = ctx.cancel.clone();
    let started = Instant::now();
    let (output, ()) = tokio::join!(call(json!({"ms": 60_000}), &ctx), async {
        tokio::time::sleep(Duration::from_millis(1_500)).await;
        cancel.cancel();
    });
    let output = output.unwrap();
    assert_eq!(started.elapsed().as_millis(), 1_500);
    assert_eq!(output.as_text(), "slept 1500 of 60000 ms, then the call was cancelled");
    assert_eq!(output.structured, Some(json!({"sleptMs": 1_500, "endedBecause": "cancelled"})));
}

#[tokio::test(start_paused = true)]
async fn returns_before_the_caller_gives_up() {
    let ctx = ToolContext::deny_all("a", "/").with_wait_limit(Some(Duration::from_secs(50)));
    let started = Instant::now();
    let output = call(json!({"ms": 120_000}), &ctx).await.unwrap();
    assert_eq!(started.elapsed().as_secs(), 50);
    assert_eq!(output.as_text(), "slept 50000 ms; still 70000 ms to go, call again");
    assert_eq!(output.structured, Some(json!({"sleptMs": 50_000, "endedBecause": "limit"})));
    let output = call(json!({"ms": 50_000}), &ctx).await.unwrap();
    assert_eq!(output.structured, Some(json!({"sleptMs": 50_000, "endedBecause": "elapsed"})));
}

#[tokio::test(start_paused = true)]
async fn refuses_what_is_out_of_range_and_waits_not_at_all() {
    let ctx = ToolContext::deny_all("a", "/");
    let started = Instant::now();
    for (arguments, expected) in [
        (json!({"ms": 0}), "argument `ms`: got 0, allowed is 1 to 300000"),
        (json!({"ms": 300_001}), "argument `ms`: got 300001, allowed is 1 to 300000"),
        (json!({}), "missing field `ms`"),
        (json!({"ms": 1, "reason": null}), "argument `reason`: got null, allowed is a text"),
        (json!({"ms": 1, "seconds": 2}), "unknown field `seconds`, expected `ms` or `reason`"),
    ] {
        let error = call(arguments, &ctx).await.unwrap_err();
        assert_eq!((error.kind(), error.to_string().as_str()), (ToolErrorKind::InvalidArguments, expected));
    }
    assert_eq!(started.elapsed(), Duration::ZERO);
}

#[test]
fn a_nonsensical_limit_is_refused() {
    for max_ms in [0, DAY_MS + 1] {
        let error = Sleep::new(Config { max_ms }).unwrap_err();
        assert_eq!(error.to_string(), format!("`max_ms`: got {max_ms}; allowed is 1 to 86400000"));
    }
}

#[test]
fn the_schema_states_the_configured_range() {
    let tool = Sleep::new(Config { max_ms: 1_000 }).unwrap();
    let schema = &tool.spec().input_schema;
    assert_eq!(schema["properties"]["ms"]["minimum"], 1);
    assert_eq!(schema["properties"]["ms"]["maximum"], 1_000);
    assert_eq!(schema["properties"]["reason"]["type"], "string");
    assert_eq!(schema["required"], json!(["ms"]));
    assert_eq!(schema["additionalProperties"], false);
    for (name, property) in schema["properties"].as_object().unwrap() {
        assert!(property["description"].is_string(), "{name} has no description");
    }
    assert!(tool.spec().description.contains("shell_output with waitMs"));
}
