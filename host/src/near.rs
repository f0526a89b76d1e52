//! Near names, for errors about a name that is unknown.

/// Returns at most three of `known` that look like `wanted`, the nearest first.
pub(crate) fn near<'a>(wanted: &str, known: impl IntoIterator<Item = &'a str>) -> Vec<&'a str> {
    let wanted_plain = plain(wanted);
    let allowed = (wanted_plain.len() / 3).max(2);
    let mut found: Vec<(usize, &str)> = known
        .into_iter()
        .filter_map(|name| {
            let name_plain = plain(name);
            let far = distance(&wanted_plain, &name_plain);
            let contained = wanted_plain.len() >= 3
                && name_plain.len() >= 3
                && (contains(&name_plain, &wanted_plain) || contains(&wanted_plain, &name_plain));
            (far <= allowed && far < wanted_plain.len().max(1) || contained).then_some((far, name))
        })
        .collect();
    found.sort_by_key(|(far, name)| (*far, *name));
    found.into_iter().take(3).map(|(_, name)| name).collect()
}

/// Returns `did you mean ...?` if something is near.
pub(crate) fn did_you_mean<'a>(wanted: &str, known: impl IntoIterator<Item = &'a str>) -> Option<String> {
    let names = near(wanted, known);
    (!names.is_empty()).then(|| format!("did you mean {}?", quoted(&names, "or")))
}

/// Joins names in backticks: "`a`, `b` or `c`".
pub(crate) fn quoted(names: &[&str], last: &str) -> String {
    match names {
        [] => String::new(),
        [one] => format!("`{one}`"),
        [start @ .., end] => {
            let start: Vec<String> = start.iter().map(|name| format!("`{name}`")).collect();
            format!("{} {last} `{end}`", start.join(", "))
        }
    }
}

/// Drops what people vary: case and separators. Long names are cut, since nothing known is long.
fn plain(name: &str) -> Vec<char> {
    name.chars().filter(|c| !matches!(c, '_' | '-' | '.' | ' ')).flat_map(char::to_lowercase).take(64).collect()
}

fn contains(text: &[char], part: &[char]) -> bool {
    text.windows(part.len()).any(|window| window == part)
}

/// Levenshtein distance, with two swapped neighbours counted as one change.
fn distance(a: &[char], b: &[char]) -> usize {
    let mut before = vec![0; b.len() + 1];
    let mut last: Vec<usize> = (0..=b.len()).collect();
    for i in 1..=a.len() {
        let mut row = vec![i; b.len() + 1];
        for j in 1..=b.len() {
            let change = usize::from(a[i - 1] != b[j - 1]);
            row[j] = (last[j] + 1).min(row[j - 1] + 1).min(last[j - 1] + change);
            if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                row[j] = row[j].min(before[j - 2] + 1);
            }
        }
        before = std::mem::replace(&mut last, row);
    }
    last[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(wanted: &str, expected: &[&str]) {
        let known = ["command", "workdir", "waitMs", "until", "cols", "rows", "maxChars", "id"];
        assert_eq!(near(wanted, known), expected, "{wanted}");
    }

    #[test]
    fn finds_what_looks_alike() {
        check("comand", &["command"]);
        check("wait_ms", &["waitMs"]);
        check("rwos", &["rows"]);
        check("max", &["maxChars"]);
        check("x", &[]);
        check("banana", &[]);
        check("", &[]);
    }

    #[test]
    fn joins_names() {
        assert_eq!(quoted(&["a"], "or"), "`a`");
        assert_eq!(quoted(&["a", "b", "c"], "and"), "`a`, `b` and `c`");
    }
}
