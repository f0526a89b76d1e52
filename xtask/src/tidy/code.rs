//! Rules about Rust code.

use super::finding::Finding;
use super::tree::{TrackedFile, lines_with};

/// No test that does not run.
pub(crate) fn ignored_tests(file: &TrackedFile) -> Vec<Finding> {
    if !file.is_rust() {
        return Vec::new();
    }
    let attribute = file.code.lines().enumerate().filter(|(_, line)| {
        let line = line.trim_start();
        line.contains("#[ignore") || (line.starts_with("#[cfg_attr(") && line.contains(" ignore"))
    });
    let mut lines: Vec<usize> = attribute.map(|(index, _)| index + 1).collect();
    // Examples in documentation are tests as well.
    lines.extend(file.text.lines().enumerate().filter_map(|(index, line)| {
        let doc = line.trim_start();
        let fence = doc.strip_prefix("///").or_else(|| doc.strip_prefix("//!"))?.trim_start().strip_prefix("```")?;
        fence.split(',').any(|word| word.trim() == "ignore").then_some(index + 1)
    }));
    let why = "a test that does not run rots, and nobody sees what it no longer holds";
    let found = |line| Finding::new(&file.path, line, "an ignored test", why);
    lines.into_iter().map(|line| found(line).hint("make it run, or remove it")).collect()
}

/// Nothing unfinished, nothing left over from debugging.
pub(crate) fn unfinished(file: &TrackedFile) -> Vec<Finding> {
    let mut findings = Vec::new();
    for name in ["todo!", "unimplemented!", "dbg!"] {
        for line in lines_with(&file.code, name) {
            let why = "a call that gets there ends the host, or prints into a protocol";
            let found = Finding::new(&file.path, line, format!("`{name}`"), why);
            findings.push(found.hint("write it, or return an error that says what is not supported"));
        }
    }
    findings
}

/// `unsafe` only where the system calls are, and in the fixture programs that `process` is tested with: what they
/// imitate (forking past their parent, leaking a descriptor) has no safe form.
pub(crate) fn unsafe_place(file: &TrackedFile) -> Vec<Finding> {
    let sys = file.path == "process/src/sys.rs" || file.path.starts_with("process/src/sys/");
    let fixture = file.path.starts_with("process/tests/") && file.path.contains("/fixtures/");
    if sys || fixture || is_sys_sibling(&file.path) {
        return Vec::new();
    }
    let mut lines: Vec<usize> = ["unsafe {", "unsafe fn", "unsafe impl", "unsafe trait", "unsafe extern", "#[unsafe("]
        .iter()
        .flat_map(|form| lines_with(&file.code, form))
        .collect();
    lines.sort_unstable();
    lines.dedup();
    let why = "what the compiler cannot check stays in one place that can be read in an hour";
    let found = |line| Finding::new(&file.path, line, "`unsafe` outside `process/src/sys*`", why);
    lines.into_iter().map(|line| found(line).hint("give `process::sys` a safe function for it")).collect()
}

/// `process/src/sys_linux.rs` and the like.
fn is_sys_sibling(path: &str) -> bool {
    path.strip_prefix("process/src/sys_").is_some_and(|rest| !rest.contains('/'))
}

/// Sources that do no input or output and read no clock: the ones that ARCHITECTURE.md says so of.
const PURE: &[&str] = &[
    "tool-api/src/",
    "process/src/parse",
    "process/src/text",
    "process/src/screen",
    "process/src/terminal",
    "process/src/keys",
    "process/src/echo",
];

const IMPURE: &[&str] = &[
    "std::fs",
    "std::net",
    "std::process",
    "std::env",
    "std::thread",
    "std::os",
    "Instant::now",
    "SystemTime::now",
    "tokio::fs",
    "tokio::net",
    "tokio::process",
    "tokio::spawn",
    "tokio::time",
    "nix::",
    "libc::",
    "println!",
    "eprintln!",
];

/// A descriptor that is only held and handed on: nothing is read by it.
const HELD: &str = "std::os::fd::OwnedFd";

/// No input, output or clock where ARCHITECTURE.md says so.
pub(crate) fn purity(file: &TrackedFile) -> Vec<Finding> {
    if !PURE.iter().any(|prefix| file.path.starts_with(prefix)) {
        return Vec::new();
    }
    let mut findings = Vec::new();
    let code = file.product_code().replace(HELD, "OwnedFd");
    for name in IMPURE {
        for line in lines_with(&code, name) {
            let why = "bytes in, values out can be tested on any input; ARCHITECTURE.md promises it";
            let found = Finding::new(&file.path, line, format!("`{name}` in code without input and output"), why);
            findings.push(found.hint("pass the value in"));
        }
    }
    findings
}

#[cfg(test)]
mod tests {
    use super::super::finding::check;
    use super::*;

    #[test]
    fn ignored_tests_are_found() {
        let found = &[(2, "an ignored test")];
        check(ignored_tests, "a.rs", "#[test]\n#[ignore]\nfn a() {}\n", found);
        check(ignored_tests, "a.rs", "#[test]\n    #[ignore = \"slow\"]\nfn a() {}\n", found);
        check(ignored_tests, "a.rs", "\n#[cfg_attr(miri, ignore)]\n", found);
        check(ignored_tests, "a.rs", "//! A.\n//! ```rust,ignore\n//! ```\n", found);
        check(ignored_tests, "a.rs", "// #[ignore]\nlet a = \"#[ignore]\";\n//! ```no_run\n", &[]);
    }

    #[test]
    fn unfinished_code_is_found() {
        check(unfinished, "a.rs", "fn a() {\n    todo!()\n}\n", &[(2, "`todo!`")]);
        check(unfinished, "a.rs", "unimplemented!(\"x\"); dbg!(1);\n", &[(1, "`unimplemented!`"), (1, "`dbg!`")]);
        check(unfinished, "a.rs", "// todo!()\nlet a = \"dbg!(1)\";\nmytodo!();\n", &[]);
    }

    #[test]
    fn unsafe_has_its_place() {
        let found = &[(1, "`unsafe` outside `process/src/sys*`")];
        check(unsafe_place, "host/src/lib.rs", "let a = unsafe { b() };\n", found);
        check(unsafe_place, "process/src/system.rs", "unsafe impl Send for A {}\n", found);
        check(unsafe_place, "process/src/pty.rs", "#[unsafe(no_mangle)]\n", found);
        check(unsafe_place, "process/tests/guard/rights.rs", "unsafe { b() }\n", found);
        let allowed = ["sys.rs", "sys/fork.rs", "sys_linux.rs"].map(|file| format!("process/src/{file}"));
        for path in allowed.iter().map(String::as_str).chain(["process/tests/guard/fixtures/bomb.rs"]) {
            check(unsafe_place, path, "unsafe { b() }\n", &[]);
        }
        // The attribute of tests that need a line before `main`; it contains no unsafe operation of ours.
        check(unsafe_place, "process/tests/it/main.rs", "#[ctor::ctor(unsafe)]\n#![deny(unsafe_code)]\n", &[]);
    }

    #[test]
    fn pure_code_stays_pure() {
        let what = "`std::fs` in code without input and output";
        check(purity, "tool-api/src/chat.rs", "//! `std::fs` is not used.\nuse std::fs;\n", &[(2, what)]);
        check(purity, "tool-api/src/chat.rs", "type A = std::os::fd::OwnedFd;\n", &[]);
        let what = "`std::os` in code without input and output";
        check(purity, "tool-api/src/chat.rs", "use std::os::fd::AsFd;\n", &[(1, what)]);
        let clock = "let a = Instant::now();\n";
        check(purity, "process/src/screen/grid.rs", clock, &[(1, "`Instant::now` in code without input and output")]);
        check(purity, "process/src/text.rs", &format!("fn a() {{}}\n\n#[cfg(test)]\nmod tests {{\n{clock}}}\n"), &[]);
        check(purity, "process/src/session.rs", clock, &[]);
    }
}
