//! What smart mode makes of commands, from the fixture tables.

use policy::{Classification, Explanation, Policy};
use tool_api::{CommandKind, Workspace};

fn explain(command: &str) -> Explanation {
    let policy = Policy::new().with_home("/home/u");
    policy.explain(command, CommandKind::Once, &Workspace::new("/srv/proj"))
}

fn describe(explanation: &Explanation) -> String {
    format!("smart={} ({})", explanation.smart, explanation.smart_reason)
}

fn allows(expected: &str, found: Classification) -> bool {
    let found = found.to_string();
    expected.strip_prefix("smart=").unwrap().split('|').any(|alternative| alternative == found)
}

#[test]
fn every_row_of_the_table() {
    let rows = crate::cases::rows("smart");
    let mut failures = Vec::new();
    for row in &rows {
        let explanation = explain(&row.command);
        if !allows(&row.expected, explanation.smart) {
            failures.push(format!(
                "{}: {:?} want {}, have {}",
                row.id,
                row.command,
                row.expected,
                describe(&explanation)
            ));
        }
    }
    crate::cases::report(&failures, rows.len());
}

/// Rows of every kind that are marked as benign.
#[test]
fn nothing_benign_is_refused() {
    let rows: Vec<_> = ["segment", "bare_shell", "smart", "path", "rule"]
        .iter()
        .flat_map(|kind| crate::cases::rows(kind))
        .filter(|row| row.benign)
        .collect();
    let refused: Vec<String> = rows
        .iter()
        .map(|row| (row, explain(&row.command)))
        .filter(|(_, explanation)| explanation.smart == Classification::Deny)
        .map(|(row, explanation)| format!("{}: {:?}: {}", row.id, row.command, describe(&explanation)))
        .collect();
    crate::cases::report(&refused, rows.len());
}

/// Further commands of the same classes. In the command `\n` is a newline and nothing else is an escape.
#[test]
fn siblings() {
    let table = include_str!("../fixtures/smart.tsv");
    let mut failures = Vec::new();
    for line in table.lines() {
        let (expected, command) = line.split_once('\t').unwrap();
        let explanation = explain(&command.replace("\\n", "\n"));
        if !allows(expected, explanation.smart) {
            failures.push(format!("{command:?} want {expected}, have {}", describe(&explanation)));
        }
    }
    crate::cases::report(&failures, table.lines().count());
}
