//! No path of one person's machine.

use super::finding::Finding;
use super::tree::TrackedFile;

/// People in examples and tests.
const INVENTED: &[&str] = &["ann", "bob", "me", "u", "user", "you"];

/// No path below a home or a working directory of the machine that something was written on.
pub(crate) fn machine_paths(file: &TrackedFile) -> Vec<Finding> {
    // Fixtures are data: commands and outputs as people have them.
    if file.path.contains("/fixtures/") || file.path.contains("/snapshots/") {
        return Vec::new();
    }
    let why = "it exists on no other machine, and tells who wrote this where";
    let mut findings = Vec::new();
    for (index, line) in file.text.lines().enumerate() {
        if let Some(path) = machine_path(line) {
            let found = Finding::new(&file.path, index + 1, format!("the path `{path}` of one machine"), why);
            findings.push(
                found.hint("use a temporary directory, a relative path, or an invented home such as `/home/ann`"),
            );
        }
    }
    findings
}

fn machine_path(line: &str) -> Option<String> {
    // Composed, so that this file passes its own rule.
    for top in ["root", "work"].map(|name| format!("/{name}/")) {
        if starts(line, &top).next().is_some() {
            return Some(top);
        }
    }
    for top in ["home", "Users"].map(|name| format!("/{name}/")) {
        for at in starts(line, &top) {
            let rest = &line[at + top.len()..];
            let name = rest.split(|c: char| !c.is_alphanumeric() && !"_-.".contains(c)).next().unwrap_or_default();
            if !name.is_empty() && !INVENTED.contains(&name) {
                return Some(format!("{top}{name}"));
            }
        }
    }
    None
}

/// Where a path begins with `top`, not where it goes on with it.
fn starts<'a>(line: &'a str, top: &'a str) -> impl Iterator<Item = usize> + 'a {
    let goes_on = |c: char| c.is_alphanumeric() || "_-./*~})".contains(c);
    line.match_indices(top).map(|(at, _)| at).filter(move |at| !line[..*at].chars().next_back().is_some_and(goes_on))
}

#[cfg(test)]
mod tests {
    use super::super::finding::check;
    use super::*;

    #[track_caller]
    fn finds(line: &str, expected: Option<&str>) {
        // Written with `@`, so that this file passes the rule.
        let got = machine_path(&line.replace('@', "/"));
        assert_eq!(got.as_deref(), expected.map(|path| path.replace('@', "/")).as_deref(), "{line}");
    }

    #[test]
    fn homes_and_working_directories_are_found() {
        finds("cd @root@x", Some("@root@"));
        finds("\"@work@main\"", Some("@work@"));
        finds("see @home@klaus@x", Some("@home@klaus"));
        finds("PATH=@Users@eve@bin", Some("@Users@eve"));
        finds("@home@ann@x and @home@eve@x", Some("@home@eve"));
    }

    #[test]
    fn invented_homes_and_parts_of_paths_are_not() {
        finds("@home@ann@x @home@u@x", None);
        finds("a@work@b target@root@x $HOME@work@x", None);
        finds("@home@$USER@x @home@<name>@x", None);
    }

    #[test]
    fn fixtures_may_hold_any() {
        let line = format!("\n/{}/x\n", "root");
        check(machine_paths, "a/tests/fixtures/b.tsv", &line, &[]);
        let what = format!("the path `/{}/` of one machine", "root");
        check(machine_paths, "README.md", &line, &[(2, what.as_str())]);
    }
}
