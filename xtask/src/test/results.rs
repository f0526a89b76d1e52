//! What the output of `cargo test` says.

/// The counts and the lines that matter.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Results {
    pub(crate) passed: usize,
    pub(crate) failed: usize,
    /// The names of the tests that failed.
    pub(crate) failures: Vec<String>,
    /// What tests said they left out, and why.
    pub(crate) skipped: Vec<String>,
}

impl Results {
    pub(crate) fn read(output: &str) -> Self {
        let mut results = Self::default();
        for line in output.lines() {
            if let Some((passed, failed)) = counts(line) {
                results.passed += passed;
                results.failed += failed;
            } else if let Some(name) = line.strip_prefix("test ").and_then(|rest| rest.strip_suffix(" ... FAILED")) {
                results.failures.push(name.to_owned());
            } else if let Some(skipped) = skipped(line)
                && !results.skipped.contains(&skipped)
            {
                results.skipped.push(skipped);
            }
        }
        results
    }
}

/// Reads `test result: ok. 3 passed; 0 failed; 0 ignored; ...`, which closes each test program.
fn counts(line: &str) -> Option<(usize, usize)> {
    let (_, counts) = line.strip_prefix("test result: ")?.split_once(". ")?;
    let mut parts = counts.split("; ");
    let mut count = |what: &str| parts.next()?.strip_suffix(what)?.trim_end().parse().ok();
    Some((count("passed")?, count("failed")?))
}

/// A line that begins with `skipped:`, also where it came after the harness had begun the line.
fn skipped(line: &str) -> Option<String> {
    let own = match line.strip_prefix("test ").and_then(|rest| rest.split_once(" ... ")) {
        Some((_, own)) => own,
        None => line,
    };
    own.trim().starts_with("skipped:").then(|| own.trim().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_test_program_counts() {
        let output = "\
running 3 tests
test a::b ... ok
test a::c ... FAILED
test a::d - should panic ... ok

successes:

---- a::b stdout ----
skipped: needs `vim`

test result: FAILED. 2 passed; 1 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.01s

test e ... skipped: needs root
skipped: needs `vim`
test result: ok. 40 passed; 0 failed; 0 ignored; 0 measured; 1 filtered out; finished in 1.50s
";
        let expected = Results {
            passed: 42,
            failed: 1,
            failures: vec!["a::c".to_owned()],
            skipped: vec!["skipped: needs `vim`".to_owned(), "skipped: needs root".to_owned()],
        };
        assert_eq!(Results::read(output), expected);
    }

    #[test]
    fn other_text_counts_nothing() {
        let output = "test result: unknown\nI skipped: nothing\n12 passed; 0 failed\ntest x ... ok\n";
        assert_eq!(Results::read(output), Results::default());
    }
}
