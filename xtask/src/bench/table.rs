//! Rows as a table, for a terminal and for a document.

use super::row::{Of, Row, Verdict};

const HEADS: [&str; 7] = ["row", "unit", "floor", "ours", "ratio", "limit", ""];

/// Aligned columns.
pub(crate) fn plain(rows: &[Row]) -> String {
    let cells: Vec<[String; 7]> = std::iter::once(HEADS.map(str::to_owned)).chain(rows.iter().map(cells)).collect();
    let width = |column: usize| cells.iter().map(|row| row[column].chars().count()).max().unwrap_or_default();
    let widths: Vec<usize> = (0..HEADS.len()).map(width).collect();
    let mut text = String::new();
    for row in &cells {
        let mut line = String::new();
        for (column, (cell, &width)) in row.iter().zip(&widths).enumerate() {
            // Numbers to the right.
            let cell = if (2..5).contains(&column) { format!("{cell:>width$}") } else { format!("{cell:<width$}") };
            line.push_str(&cell);
            line.push_str("  ");
        }
        text.push_str(line.trim_end());
        text.push('\n');
    }
    text
}

/// A Markdown table.
pub(crate) fn markdown(rows: &[Row]) -> String {
    let mut text = format!("| {} |\n| --- | --- | ---: | ---: | ---: | --- | --- |\n", HEADS.join(" | "));
    for row in rows {
        text.push_str(&format!("| {} |\n", cells(row).join(" | ")));
    }
    text
}

fn cells(row: &Row) -> [String; 7] {
    let optional = |value: Option<f64>| value.map(number).unwrap_or_default();
    let limit = row.limit.map(|limit| {
        let of = if limit.of == Of::Ratio { "ratio " } else { "" };
        match (limit.at_most, limit.at_least) {
            (Some(most), _) => format!("{of}at most {most}"),
            (None, Some(least)) => format!("{of}at least {least}"),
            (None, None) => String::new(),
        }
    });
    let verdict = match row.verdict() {
        Verdict::Pass => "pass",
        Verdict::Over => "over",
        Verdict::None => "",
    };
    [
        format!("{}: {}", row.group, row.name),
        row.unit.clone(),
        optional(row.floor),
        row.ours.map_or_else(|| "not measured".to_owned(), number),
        row.ratio.map(|ratio| format!("{ratio:.2}")).unwrap_or_default(),
        limit.unwrap_or_default(),
        verdict.to_owned(),
    ]
}

/// Three significant digits.
fn number(value: f64) -> String {
    let decimals = match value.abs() {
        100.0.. => 0,
        10.0.. => 1,
        1.0.. => 2,
        _ => 3,
    };
    format!("{value:.decimals$}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench::row::Limit;

    fn rows() -> Vec<Row> {
        let limit = Limit { of: Of::Ratio, at_most: Some(1.2), at_least: None };
        let row = |name: &str, floor, ours, ratio, limit| Row {
            group: "drain".to_owned(),
            name: name.to_owned(),
            unit: "ms".to_owned(),
            floor,
            ours,
            ratio,
            limit,
        };
        vec![
            row("seq", Some(123.4), Some(98.76), Some(0.8), Some(limit)),
            row("line", None, Some(0.1234), None, None),
            row("none", None, None, None, Some(limit)),
        ]
    }

    #[test]
    fn columns_are_aligned() {
        let expected = "\
row          unit  floor          ours  ratio  limit
drain: seq   ms      123          98.8   0.80  ratio at most 1.2  pass
drain: line  ms                  0.123
drain: none  ms           not measured         ratio at most 1.2  over
";
        assert_eq!(plain(&rows()), expected);
    }

    #[test]
    fn a_document_gets_a_markdown_table() {
        let table = markdown(&rows()[..1]);
        let expected = "\
| row | unit | floor | ours | ratio | limit |  |
| --- | --- | ---: | ---: | ---: | --- | --- |
| drain: seq | ms | 123 | 98.8 | 0.80 | ratio at most 1.2 | pass |
";
        assert_eq!(table, expected);
    }
}
