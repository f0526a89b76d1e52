//! Rules about a file as a whole.

use super::finding::Finding;
use super::tree::TrackedFile;

/// Bytes of a file in the repository.
const MAX_BYTES: usize = 1024 * 1024;

/// Lines of a source file without its tests.
const MAX_LINES: usize = 500;

/// No file over 1 MiB.
pub(crate) fn weight(file: &TrackedFile) -> Vec<Finding> {
    if file.bytes <= MAX_BYTES {
        return Vec::new();
    }
    let what = format!("the file has {} bytes, at most {MAX_BYTES}", file.bytes);
    vec![Finding::new(&file.path, 0, what, "every clone carries it for ever").hint("let the test or the build make it")]
}

/// `foo.rs` and `foo/`, never `foo/mod.rs`.
pub(crate) fn no_mod_rs(file: &TrackedFile) -> Vec<Finding> {
    let Some(module) = file.path.strip_suffix("/mod.rs") else { return Vec::new() };
    let why = "ten open files of one name cannot be told apart";
    vec![Finding::new(&file.path, 0, "a module in a `mod.rs`", why).hint(format!("name it `{module}.rs`"))]
}

/// Every source file opens with one sentence that says what it is.
pub(crate) fn header(file: &TrackedFile) -> Vec<Finding> {
    if !file.is_rust() {
        return Vec::new();
    }
    let lines = file.text.lines().map_while(|line| line.strip_prefix("//!")).map(str::trim);
    let opening: Vec<&str> = lines.take_while(|line| !line.is_empty()).collect();
    let what = if opening.is_empty() {
        "the file does not open with a `//!` sentence"
    } else if !opening.join(" ").ends_with(['.', ':', '!', '?']) {
        "the opening `//!` paragraph is not a sentence"
    } else {
        return Vec::new();
    };
    let why = "who looks for a place reads the first lines only";
    vec![Finding::new(&file.path, 1, what, why).hint("say in its first line what the file is, with a full stop")]
}

/// No source file over 500 lines; tests do not count.
pub(crate) fn length(file: &TrackedFile) -> Vec<Finding> {
    let lines = file.product_code().lines().count();
    if lines <= MAX_LINES {
        return Vec::new();
    }
    let what = format!("{lines} lines without tests, at most {MAX_LINES}");
    let why = "a file of that length holds more than one concept";
    let stem = file.path.strip_suffix(".rs").unwrap_or(&file.path);
    vec![Finding::new(&file.path, MAX_LINES + 1, what, why).hint(format!("move a concept into `{stem}/`"))]
}

#[cfg(test)]
mod tests {
    use super::super::finding::check;
    use super::*;

    #[test]
    fn heavy_files_are_found() {
        check(weight, "a.txt", &"x".repeat(MAX_BYTES), &[]);
        let what = "the file has 1048577 bytes, at most 1048576";
        check(weight, "a.txt", &"x".repeat(MAX_BYTES + 1), &[(0, what)]);
    }

    #[test]
    fn mod_rs_is_found() {
        check(no_mod_rs, "a/src/b/mod.rs", "", &[(0, "a module in a `mod.rs`")]);
        check(no_mod_rs, "a/src/amod.rs", "", &[]);
    }

    #[test]
    fn headers_are_sentences() {
        check(header, "a.rs", "//! What it is.\nfn a() {}\n", &[]);
        check(header, "a.rs", "//! What it is, over\n//! two lines.\n//!\n//! more\n", &[]);
        let missing = "the file does not open with a `//!` sentence";
        check(header, "a.rs", "fn a() {}\n", &[(1, missing)]);
        check(header, "a.rs", "\n//! Late.\n", &[(1, missing)]);
        check(header, "a.rs", "//!\n//! Late.\n", &[(1, missing)]);
        check(header, "a.rs", "", &[(1, missing)]);
        check(header, "a.rs", "//! A title\n", &[(1, "the opening `//!` paragraph is not a sentence")]);
        check(header, "a.md", "no rust", &[]);
    }

    #[test]
    fn long_files_are_found_without_their_tests() {
        let long = "//! A.\n".to_owned() + &"fn a() {}\n".repeat(MAX_LINES - 1);
        check(length, "a/src/b.rs", &long, &[]);
        check(
            length,
            "a/src/b.rs",
            &format!("{long}\n#[cfg(test)]\nmod tests {{\n\n}}\n"),
            &[(501, "501 lines without tests, at most 500")],
        );
        let over = format!("{long}fn b() {{}}\n");
        check(length, "a/src/b.rs", &over, &[(501, "501 lines without tests, at most 500")]);
        check(length, "a/src/b/tests.rs", &over, &[]);
        check(length, "a/benches/b.rs", &over, &[]);
        check(length, "a.md", &over, &[]);
    }
}
