//! The programs that tests need.

use super::finding::Finding;
use super::tree::Tree;

const CI: &str = ".ci/run";
const README: &str = "README.md";

/// The README names every program that CI installs for the tests.
pub(crate) fn are_in_the_readme(tree: &Tree) -> Vec<Finding> {
    let (Some(ci), Some(readme)) = (tree.file(CI), tree.file(README)) else { return Vec::new() };
    let mut findings = Vec::new();
    for (line, program) in programs(&ci.text) {
        if !readme.text.contains(&format!("`{program}`")) {
            let why = "who runs the tests on a machine without it must learn why they skip";
            let found = Finding::new(CI, line, format!("`{program}` is not in the README"), why);
            findings.push(found.hint("name it among the programs that the tests need"));
        }
    }
    findings
}

/// The entries `PROGRAM:PACKAGE` of the list `programs=(`, with their lines.
fn programs(script: &str) -> impl Iterator<Item = (usize, &str)> {
    let lines = script.lines().enumerate().skip_while(|(_, line)| *line != "programs=(").skip(1);
    let entries = lines.take_while(|(_, line)| *line != ")");
    entries.filter_map(|(index, line)| Some((index + 1, line.trim().split_once(':')?.0)))
}

#[cfg(test)]
mod tests {
    use super::super::tree::TrackedFile;
    use super::*;

    #[test]
    fn programs_are_named() {
        let ci = "a:b\nprograms=(\n  vim:vim\n  ps:procps\n)\nc:d\n";
        let file = |path: &str, text: &str| TrackedFile::new(path, text.into());
        let tree = Tree { files: vec![file(CI, ci), file(README, "Needs `vim`; caps.")] };
        let found: Vec<String> = are_in_the_readme(&tree).iter().map(ToString::to_string).collect();
        assert_eq!(found.len(), 1, "{found:?}");
        assert!(found[0].starts_with(".ci/run:4: `ps` is not in the README\n"), "{found:?}");
    }
}
