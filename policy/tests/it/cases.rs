//! Commands and what the policy must conclude, from the fixture table.

use std::path::Path;

use policy::{Area, CommandAnalysis, Decision, Pattern, Policy, Rule, RuleTable, Rules, bare_shell};
use tool_api::{CommandKind, Workspace};

/// One row of the table.
pub(crate) struct Row {
    pub(crate) id: String,
    pub(crate) command: String,
    pub(crate) expected: String,
    /// Whether it must not be refused.
    pub(crate) benign: bool,
}

pub(crate) fn rows(kind: &str) -> Vec<Row> {
    let table = include_str!("../fixtures/policy.tsv");
    let rows: Vec<Row> = table
        .lines()
        .skip(1)
        .map(|line| line.split('\t').collect::<Vec<_>>())
        .filter(|columns| columns[1] == kind)
        .map(|columns| Row {
            id: columns[0].to_owned(),
            command: unescape(columns[2]),
            expected: unescape(columns[3]),
            benign: columns[4].ends_with("[benign]"),
        })
        .collect();
    assert!(rows.len() > 50, "the table has rows of kind {kind}");
    rows
}

/// Resolves `\\ \n \t \r \xHH`.
fn unescape(text: &str) -> String {
    let mut result = String::new();
    let mut rest = text.chars();
    while let Some(character) = rest.next() {
        if character != '\\' {
            result.push(character);
            continue;
        }
        match rest.next() {
            Some('n') => result.push('\n'),
            Some('t') => result.push('\t'),
            Some('r') => result.push('\r'),
            Some('\\') => result.push('\\'),
            Some('x') => {
                let digits: String = rest.by_ref().take(2).collect();
                let byte = u8::from_str_radix(&digits, 16).unwrap();
                assert!(byte < 0x80, "the table holds text");
                result.push(char::from(byte));
            }
            other => panic!("unknown escape {other:?} in {text}"),
        }
    }
    result
}

#[track_caller]
pub(crate) fn report(failures: &[String], total: usize) {
    assert!(failures.is_empty(), "{} of {total} rows:\n{}", failures.len(), failures.join("\n"));
}

#[test]
fn segments() {
    let rows = rows("segment");
    let mut failures = Vec::new();
    for row in &rows {
        let analysis = CommandAnalysis::new(&row.command);
        let found = if analysis.syntax_error.is_some() {
            "<syntax error>".to_owned()
        } else {
            let texts: Vec<&str> = analysis.written().map(|(_, s)| s.text.as_str()).collect();
            if texts.is_empty() { "<none>".to_owned() } else { texts.join(" ;; ") }
        };
        if found != row.expected {
            failures.push(format!("{}: {:?}\n  want {:?}\n  have {found:?}", row.id, row.command, row.expected));
        }
    }
    report(&failures, rows.len());
}

#[test]
fn ordinary_commands_are_understood() {
    let mut failures = Vec::new();
    let rows = rows("segment");
    for row in &rows {
        let analysis = CommandAnalysis::new(&row.command);
        if let Some(doubt) = analysis.doubt {
            failures.push(format!("{}: {:?}: {doubt}", row.id, row.command));
        }
    }
    // Invalid and deliberately odd rows are in the table.
    println!("{}", failures.join("\n"));
    assert!(failures.len() < 45, "{} rows are not understood:\n{}", failures.len(), failures.join("\n"));
}

#[test]
fn bare_shells() {
    let rows = rows("bare_shell");
    let mut failures = Vec::new();
    for row in &rows {
        let found = bare_shell(&CommandAnalysis::new(&row.command));
        let expected = row.expected == "bare_shell=yes";
        if found.is_some() != expected {
            failures.push(format!("{}: {:?} want {expected}, have {found:?}", row.id, row.command));
        }
    }
    report(&failures, rows.len());
}

#[test]
fn a_bare_shell_and_an_unknown_command_have_their_own_reasons() {
    let policy = Policy::new();
    let reason = |command| {
        let explanation = policy.explain(command, CommandKind::Interactive, &Workspace::new("/srv/proj"));
        assert_eq!(explanation.decision, Decision::Deny, "{command}");
        explanation.reason
    };
    assert!(reason("foo -- bash").contains("is an interactive shell"));
    assert!(reason("read x; $x").contains("is known only when it runs"));
    let once = policy.explain("read x; $x", CommandKind::Once, &Workspace::new("/srv/proj"));
    assert_eq!(once.decision, Decision::Ask, "nothing is typed into it");
}

#[test]
fn rules() {
    let workspace = Workspace::new("/srv/proj");
    let rows = rows("rule");
    let mut failures = Vec::new();
    for row in &rows {
        let (rules, expected) = row.expected.split_once(" => ").unwrap();
        let policy = Policy::new().with_home("/home/u").with_layer(layer(rules));
        let explanation = policy.explain(&row.command, CommandKind::Once, &workspace);
        let decision = explanation.decision.to_string();
        if !expected.split('|').any(|alternative| alternative == decision) {
            failures.push(format!(
                "{}: {:?} under {rules} want {expected}, have {decision}: {}",
                row.id, row.command, explanation.reason
            ));
        }
    }
    report(&failures, rows.len());
}

/// Reads `allow "git *" deny "rm *"`.
fn layer(text: &str) -> Rules {
    let mut rules = Rules::default();
    let mut rest = text.trim();
    while !rest.is_empty() {
        let (decision, after) = rest.split_once(" \"").unwrap();
        let (pattern, after) = after.split_once('"').unwrap();
        let decision = match decision {
            "allow" => Decision::Allow,
            "ask" => Decision::Ask,
            "deny" => Decision::Deny,
            other => panic!("unknown decision {other}"),
        };
        rules.push(Rule {
            area: Area::Bash,
            pattern: Pattern::new(pattern, None).unwrap(),
            decision,
            origin: format!("{decision} {pattern:?}"),
        });
        rest = after.trim();
    }
    rules
}

/// Further commands of the same classes. In the command `\n` is a newline and nothing else is an escape.
#[test]
fn siblings() {
    let workspace = Workspace::new("/srv/proj");
    let mut failures = Vec::new();
    let table = include_str!("../fixtures/siblings.tsv");
    for line in table.lines() {
        let (expected, command) = line.split_once('\t').unwrap();
        let command = command.replace("\\n", "\n");
        let found = if let Some((rules, _)) = expected.split_once(" => ") {
            let table: RuleTable = serde_json::from_str(rules).unwrap();
            let rules_read = Rules::new(&table, "", Some(Path::new("/home/u"))).unwrap();
            let policy = Policy::new().with_home("/home/u").with_layer(rules_read);
            let explanation = policy.explain(&command, CommandKind::Once, &workspace);
            format!("{rules} => {}", explanation.decision)
        } else if expected == "understood" {
            CommandAnalysis::new(&command).doubt.unwrap_or_else(|| "understood".into())
        } else {
            let bare = bare_shell(&CommandAnalysis::new(&command)).is_some();
            format!("bare_shell={}", if bare { "yes" } else { "no" })
        };
        if found != expected {
            failures.push(format!("{command:?} want {expected}, have {found}"));
        }
    }
    report(&failures, table.lines().count());
}

#[test]
fn an_explanation_is_plain_json() {
    let table: RuleTable = serde_json::from_str(r#"{"bash": {"git *": "allow", "rm *": "deny"}}"#).unwrap();
    let policy = Policy::new().with_layer(Rules::new(&table, "rules.json", None).unwrap());
    let explain = |command| {
        let explanation = policy.explain(command, CommandKind::Once, &Workspace::new("/srv/proj"));
        let mut value = serde_json::to_value(explanation).unwrap();
        without_natures(&mut value["segments"]);
        assert!(value.as_object_mut().unwrap().remove("smartReason").unwrap().is_string());
        value
    };
    assert_eq!(
        explain("'git' log \"$X\" | sudo rm x"),
        serde_json::json!({
            "decision": "deny",
            "reason": "`rm x` is denied by rules.json: permission.bash.\"rm *\"",
            "segments": [
                {
                    "text": "git log \"$X\"", "dynamic": true, "decision": "allow", "rule": "git *",
                    "origin": "rules.json: permission.bash.\"git *\"",
                    "reason": "`git log \"$X\"` is allowed by rules.json: permission.bash.\"git *\"",
                },
                {
                    "text": "sudo rm x", "dynamic": false, "decision": "ask", "rule": null,
                    "reason": "no rule allows `sudo rm x`",
                    "inner": [{
                        "text": "rm x", "dynamic": false, "decision": "deny", "rule": "rm *",
                        "origin": "rules.json: permission.bash.\"rm *\"",
                        "reason": "`rm x` is denied by rules.json: permission.bash.\"rm *\"",
                    }],
                },
            ],
            "bareShell": false,
            "outside": [],
            "smart": "ask",
        })
    );
    let broken = explain("ls &&");
    assert_eq!(broken["syntaxError"], "unexpected end (line 1, column 6)");
    assert_eq!(broken["decision"], "ask");
    assert_eq!(explain("bash")["bareShell"], true);
}

/// Takes away what is known about programs, which has its own tests.
fn without_natures(segments: &mut serde_json::Value) {
    for segment in segments.as_array_mut().into_iter().flatten() {
        let segment = segment.as_object_mut().unwrap();
        assert!(segment.remove("nature").is_some());
        segment.remove("why");
        segment.get_mut("inner").into_iter().for_each(without_natures);
    }
}
