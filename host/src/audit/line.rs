//! One event as a JSON object, secrets hidden.

use std::path::Path;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use policy::{AuditEvent, AuditWhat};
use serde_json::{Map, Value, json};
use tool_api::{CommandEffect, CommandKind, Effect, Mask};

/// What stands for the value of a variable whose name says secret.
const HIDDEN: &str = "[hidden]";

pub(super) fn line(event: &AuditEvent<'_>, now: SystemTime, mask: &dyn Mask) -> Value {
    let request = event.request;
    let text = |text: &str| Value::from(mask.mask("", text, "").into_owned());
    let mut line = Map::new();
    let mut put = |key: &str, value: Value| line.insert(key.to_owned(), value);
    put("time", timestamp(now).into());
    put("event", if matches!(event.what, AuditWhat::Decided { .. }) { "decision" } else { "effect" }.into());
    put("call", request.call.as_str().into());
    put("request", event.id.into());
    put("chat", request.chat.as_str().into());
    put("tool", request.tool.as_str().into());
    match &event.what {
        AuditWhat::Decided { decision, by, reason, feedback, always } => {
            for (key, value) in effect(&request.effect, mask) {
                put(&key, value);
            }
            put("decision", decision.to_string().into());
            put("by", by.as_str().into());
            put("reason", text(reason));
            if let Some(feedback) = feedback {
                put("feedback", text(feedback));
            }
            if !always.is_empty() {
                put("always", always.iter().map(|pattern| text(pattern)).collect());
            }
        }
        AuditWhat::Refused { reason } => {
            put("outcome", "refused".into());
            put("reason", text(reason));
        }
        _ => {
            put("outcome", "begun".into());
        }
    }
    line.into()
}

/// What a tool wants to do. The preview of an edit is left out: it may be large, and the file has its own history.
fn effect(effect: &Effect, mask: &dyn Mask) -> Map<String, Value> {
    let text = |text: &str| Value::from(mask.mask("", text, "").into_owned());
    let path = |path: &Path| text(&path.to_string_lossy());
    let fields = match effect {
        Effect::Command(command) => return command_fields(command, mask),
        Effect::Edit(edit) => json!({"effect": "edit", "path": path(&edit.path)}),
        Effect::Read(read) => {
            json!({"effect": "read", "what": text(&read.what), "path": read.path.as_deref().map(path)})
        }
        _ => json!({"effect": "unknown"}),
    };
    match fields {
        Value::Object(fields) => fields,
        _ => Map::new(),
    }
}

fn command_fields(command: &CommandEffect, mask: &dyn Mask) -> Map<String, Value> {
    let text = |text: &str| Value::from(mask.mask("", text, "").into_owned());
    let kind = match command.kind {
        CommandKind::Once => "command",
        CommandKind::Background => "background",
        CommandKind::Interactive => "session",
        CommandKind::SharedLine => "line",
        _ => "unknown",
    };
    let mut fields = Map::new();
    let mut put = |key: &str, value: Value| fields.insert(key.to_owned(), value);
    put("effect", "command".into());
    put("kind", kind.into());
    put("command", text(&command.command));
    put("workdir", text(&command.workdir.to_string_lossy()));
    put("shell", text(&command.shell.to_string_lossy()));
    if !command.env.is_empty() {
        let variable = |(name, value): &(String, String)| {
            let value = if crate::env::is_secret_name(name) { HIDDEN.into() } else { text(value) };
            (name.clone(), value)
        };
        put("env", Value::Object(command.env.iter().map(variable).collect()));
    }
    if let Some(foreground) = &command.foreground {
        put("foreground", text(foreground));
    }
    fields
}

/// The time in UTC as RFC 3339 has it, with milliseconds.
fn timestamp(time: SystemTime) -> String {
    let since = time.duration_since(UNIX_EPOCH).unwrap_or(Duration::ZERO);
    let (days, second) = (since.as_secs() / 86_400, since.as_secs() % 86_400);
    // Days are counted from 1 March 2000 on, when cycles of 400, 100, 4 and 1 years begin.
    let day = days as i64 - 11_017;
    let (cycle, day) = (day.div_euclid(146_097), day.rem_euclid(146_097));
    let century = (day / 36_524).min(3);
    let day = day - century * 36_524;
    let four = day / 1_461;
    let day = day % 1_461;
    let year = (day / 365).min(3);
    let day = day - year * 365;
    let month = (day * 5 + 2) / 153;
    let day_of_month = day - (month * 153 + 2) / 5 + 1;
    let (month, next_year) = if month < 10 { (month + 3, 0) } else { (month - 9, 1) };
    let year = 2000 + cycle * 400 + century * 100 + four * 4 + year + next_year;
    format!(
        "{year:04}-{month:02}-{day_of_month:02}T{:02}:{:02}:{:02}.{:03}Z",
        second / 3600,
        second / 60 % 60,
        second % 60,
        since.subsec_millis()
    )
}

#[cfg(test)]
mod tests {
    use std::borrow::Cow;
    use std::ops::Range;

    use policy::{Decider, Decision};
    use tool_api::{CallId, Effects, PermissionRequest, ReadEffect, ToolContext};

    use super::*;

    #[derive(Debug)]
    struct Hide;

    impl Mask for Hide {
        fn mask<'t>(&self, _before: &str, text: &'t str, _after: &str) -> Cow<'t, str> {
            text.replace("hunter2", "***").into()
        }

        fn secrets(&self, _before: &str, text: &str, _after: &str) -> Vec<Range<usize>> {
            text.match_indices("hunter2").map(|(at, found)| at..at + found.len()).collect()
        }

        fn unfinished(&self, _text: &str) -> usize {
            0
        }
    }

    fn command() -> Effect {
        Effect::Command(CommandEffect {
            command: "login -p hunter2\n\u{1b}[m".into(),
            shell: "/bin/bash".into(),
            workdir: "/srv/hunter2".into(),
            kind: CommandKind::Interactive,
            env: vec![("A".into(), "hunter2 x".into()), ("DB_PASSWORD".into(), "abc".into())],
            search_path: None,
            foreground: None,
        })
    }

    #[track_caller]
    fn check(effect: Effect, what: AuditWhat<'_>, expected: Value) {
        let ctx = ToolContext::deny_all("c1", "/srv").with_call(CallId::new("k-7"));
        let request = PermissionRequest::new("shell_session", Effects::READ_ONLY, effect, &ctx);
        let event = AuditEvent::new("r3", &request, what);
        let line = line(&event, UNIX_EPOCH + Duration::from_millis(1_000_000_000_005), &Hide);
        assert_eq!(line, expected);
    }

    #[test]
    fn a_decision_has_the_whole_effect_without_secrets() {
        let what = AuditWhat::Decided {
            decision: Decision::Deny,
            by: Decider::Reject,
            reason: "the person rejected it",
            feedback: Some("hunter2 is wrong"),
            always: &[],
        };
        check(
            command(),
            what,
            json!({
                "time": "2001-09-09T01:46:40.005Z", "event": "decision", "call": "k-7", "request": "r3", "chat": "c1",
                "tool": "shell_session", "effect": "command", "kind": "session",
                "command": "login -p ***\n\u{1b}[m", "workdir": "/srv/***", "shell": "/bin/bash",
                "env": {"A": "*** x", "DB_PASSWORD": "[hidden]"},
                "decision": "deny", "by": "reject", "reason": "the person rejected it", "feedback": "*** is wrong",
            }),
        );
    }

    #[test]
    fn an_effect_is_joined_to_its_decision() {
        let head = json!({
            "time": "2001-09-09T01:46:40.005Z", "event": "effect", "call": "k-7", "request": "r3", "chat": "c1",
            "tool": "shell_session",
        });
        let with = |more: Value| {
            let mut all = head.clone();
            all.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
            all
        };
        let read = || Effect::Read(ReadEffect { what: "a".into(), path: None });
        check(read(), AuditWhat::Begun, with(json!({"outcome": "begun"})));
        let refused = AuditWhat::Refused { reason: "`x` has changed" };
        check(read(), refused, with(json!({"outcome": "refused", "reason": "`x` has changed"})));
    }

    #[test]
    fn times_are_those_of_the_calendar() {
        for (seconds, expected) in [
            (0, "1970-01-01T00:00:00.000Z"),
            (951_782_399, "2000-02-28T23:59:59.000Z"),
            (951_782_400, "2000-02-29T00:00:00.000Z"),
            (951_868_800, "2000-03-01T00:00:00.000Z"),
            (1_709_164_800, "2024-02-29T00:00:00.000Z"),
            (1_735_689_599, "2024-12-31T23:59:59.000Z"),
            (1_764_547_200, "2025-12-01T00:00:00.000Z"),
            (4_107_542_400, "2100-03-01T00:00:00.000Z"),
        ] {
            assert_eq!(timestamp(UNIX_EPOCH + Duration::from_secs(seconds)), expected);
        }
    }
}
