//! Which commands a crate is tested with.

use std::collections::BTreeSet;
use std::fmt;

use crate::metadata::Package;

/// One command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Step {
    pub(crate) package: String,
    pub(crate) verb: Verb,
    pub(crate) features: Features,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verb {
    Check,
    Test,
}

/// A set of a crate's features.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Features {
    /// The crate has none.
    Absent,
    None,
    One(String),
    All,
}

impl Step {
    /// The arguments of cargo.
    pub(crate) fn arguments(&self) -> Vec<&str> {
        let verb = match self.verb {
            Verb::Check => "check",
            Verb::Test => "test",
        };
        let mut arguments = vec![verb, "--package", &self.package];
        match &self.features {
            Features::Absent => {}
            Features::None => arguments.push("--no-default-features"),
            Features::One(name) => arguments.extend(["--no-default-features", "--features", name]),
            Features::All => arguments.push("--all-features"),
        }
        if self.verb == Verb::Test {
            // What tests print is needed for their "skipped:" lines, also when they pass.
            arguments.extend(["--no-fail-fast", "--", "--show-output"]);
        }
        arguments
    }
}

impl fmt::Display for Step {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let verb = match self.verb {
            Verb::Check => "check",
            Verb::Test => "test",
        };
        write!(f, "{}: {verb}", self.package)?;
        match &self.features {
            Features::Absent => Ok(()),
            Features::None => f.write_str(", no features"),
            Features::One(name) => write!(f, ", feature {name}"),
            Features::All => f.write_str(", all features"),
        }
    }
}

/// The steps of one crate: each set of features is first checked, then tested.
pub(crate) fn steps(package: &Package) -> Vec<Step> {
    let both = |features: Features| {
        [Verb::Check, Verb::Test].map(|verb| Step { package: package.name.clone(), verb, features: features.clone() })
    };
    sets(package).into_iter().flat_map(both).collect()
}

/// The sets of features, the smallest first; of those that switch on the same only one.
fn sets(package: &Package) -> Vec<Features> {
    let names: Vec<&str> = package.features.keys().map(String::as_str).filter(|name| *name != "default").collect();
    if names.is_empty() {
        return vec![Features::Absent];
    }
    let all = closure(package, &names);
    let mut seen = vec![BTreeSet::new(), all];
    let mut sets = vec![Features::None];
    for name in names {
        let set = closure(package, &[name]);
        if !seen.contains(&set) {
            seen.push(set);
            sets.push(Features::One(name.to_owned()));
        }
    }
    sets.push(Features::All);
    sets
}

/// The features that these switch on, themselves included.
fn closure<'a>(package: &'a Package, names: &[&'a str]) -> BTreeSet<&'a str> {
    let mut set = BTreeSet::new();
    let mut open = names.to_vec();
    while let Some(name) = open.pop() {
        if let Some(members) = package.features.get(name)
            && set.insert(name)
        {
            open.extend(members.iter().map(String::as_str));
        }
    }
    set
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(features: &[(&str, &[&str])], expected: &[&str]) {
        let features = features
            .iter()
            .map(|(name, members)| ((*name).to_owned(), members.iter().map(|member| (*member).to_owned()).collect()))
            .collect();
        let package = Package { name: "p".to_owned(), features, ..Package::default() };
        let got: Vec<String> = steps(&package).iter().map(|step| step.arguments().join(" ")).collect();
        assert_eq!(got, expected);
    }

    #[test]
    fn a_crate_without_features_has_one_set() {
        check(&[], &["check --package p", "test --package p --no-fail-fast -- --show-output"]);
        check(&[("default", &[])], &["check --package p", "test --package p --no-fail-fast -- --show-output"]);
    }

    #[test]
    fn each_feature_is_built_alone() {
        check(
            &[("a", &["dep:x"]), ("b", &[]), ("default", &["a", "b"])],
            &[
                "check --package p --no-default-features",
                "test --package p --no-default-features --no-fail-fast -- --show-output",
                "check --package p --no-default-features --features a",
                "test --package p --no-default-features --features a --no-fail-fast -- --show-output",
                "check --package p --no-default-features --features b",
                "test --package p --no-default-features --features b --no-fail-fast -- --show-output",
                "check --package p --all-features",
                "test --package p --all-features --no-fail-fast -- --show-output",
            ],
        );
    }

    #[test]
    fn sets_that_switch_on_the_same_are_built_once() {
        check(
            &[("a", &[]), ("b", &["a"])],
            &[
                "check --package p --no-default-features",
                "test --package p --no-default-features --no-fail-fast -- --show-output",
                "check --package p --no-default-features --features a",
                "test --package p --no-default-features --features a --no-fail-fast -- --show-output",
                "check --package p --all-features",
                "test --package p --all-features --no-fail-fast -- --show-output",
            ],
        );
    }
}
