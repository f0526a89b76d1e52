//! The table in `docs/performance.md`, which is only ever written by a run.

use std::fs;
use std::path::Path;
use std::process::Command;

use anyhow::Context as _;

use super::program::Plan;
use super::row::{Row, Verdict};
use super::table;

const PATH: &str = "docs/performance.md";
const BEGIN: &str = "<!-- written by `cargo xtask bench --write`: begin -->\n";
const END: &str = "<!-- end -->\n";

/// Replaces the table.
///
/// # Errors
/// The document is not there, or has lost the marks of the table.
pub(crate) fn write(root: &Path, rows: &[Row], plan: &Plan) -> anyhow::Result<()> {
    let path = root.join(PATH);
    let text = fs::read_to_string(&path).with_context(|| format!("cannot read `{PATH}`"))?;
    let text = replaced(&text, &section(rows, &heading(plan)))
        .with_context(|| format!("`{PATH}` has no place for the table: the lines {BEGIN:?} and {END:?}"))?;
    fs::write(&path, text).with_context(|| format!("cannot write `{PATH}`"))
}

/// When, where and how it was measured.
fn heading(plan: &Plan) -> String {
    let first_line = |program: &str, arguments: &[&str]| {
        let output = Command::new(program).args(arguments).output().ok()?;
        Some(String::from_utf8_lossy(&output.stdout).lines().next()?.to_owned())
    };
    let unknown = || "unknown".to_owned();
    let date = first_line("date", &["-u", "+%Y-%m-%d"]).unwrap_or_else(unknown);
    let system = first_line("uname", &["-srm"]).unwrap_or_else(unknown);
    let cores = std::thread::available_parallelism().map_or(0, usize::from);
    let load = fs::read_to_string("/proc/loadavg").ok();
    let load = load.as_deref().and_then(|load| load.split_whitespace().nth(1)).unwrap_or("unknown").to_owned();
    format!(
        "Measured on {date}, {system}, {cores} cores, {} repetitions; the load of the last five minutes was {load} at \
         the end, of which about one and a half is the measuring itself.\n",
        plan.repetitions
    )
}

fn section(rows: &[Row], heading: &str) -> String {
    let mut text = format!("{heading}\n{}\n", table::markdown(rows));
    let over: Vec<&Row> = rows.iter().filter(|row| row.verdict() == Verdict::Over).collect();
    if over.is_empty() {
        text.push_str("Every row was within its limit.\n");
    } else {
        text.push_str("Over their limit in this run:\n\n");
        for row in over {
            text.push_str(&format!("- {}: {}\n", row.group, row.name));
        }
    }
    text
}

/// The document with another section between the marks.
fn replaced(document: &str, section: &str) -> Option<String> {
    let (before, rest) = document.split_once(BEGIN)?;
    let (_, after) = rest.split_once(END)?;
    Some(format!("{before}{BEGIN}{section}{END}{after}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_between_the_marks_is_replaced() {
        let document = format!("# A\n{BEGIN}old\n{END}rest\n");
        assert_eq!(replaced(&document, "new\n"), Some(format!("# A\n{BEGIN}new\n{END}rest\n")));
        assert_eq!(replaced("# A\n", "new\n"), None);
    }

    #[test]
    fn what_is_over_is_said() {
        let row =
            r#"{"group":"g","name":"n","unit":"ms","floor":1,"ours":2,"ratio":2,"limit":{"of":"ratio","atMost":1.5}}"#;
        let row: Row = serde_json::from_str(row).expect("a row");
        let text = section(&[row], "Now.\n");
        assert!(text.contains("Over their limit in this run:\n\n- g: n\n"), "{text}");
        assert!(section(&[], "Now.\n").contains("Every row was within its limit."));
    }
}
