//! Reads filters of jq and yq: which words in them reach beyond their input.

use super::Nature;

/// Functions that read files or the environment, or evaluate a text.
const REACHING: &[&str] = &[
    "env",
    "ENV",
    "include",
    "import",
    "modulemeta",
    "load",
    "load_str",
    "load_xml",
    "load_props",
    "load_base64",
    "strload",
    "loadstr",
    "strenv",
    "envsubst",
    "eval",
    "system",
    "exec",
    "split_doc",
];

/// What a filter does besides computing.
pub(super) fn problem(text: &str) -> Option<(Nature, String)> {
    let mut before = "";
    for (start, word) in words(text) {
        before = if start == 0 { before } else { &text[..start] };
        // `.env` is a field.
        let field = before.ends_with('.') && !before.ends_with("..");
        if REACHING.contains(&word) && !field {
            return Some((Nature::Unknown, format!("`{word}` in its filter reads elsewhere")));
        }
    }
    None
}

fn words(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let is_name = |c: char| c.is_ascii_alphanumeric() || c == '_';
    text.split(move |c| !is_name(c)).filter(|word| !word.is_empty()).map(move |word| {
        let start = word.as_ptr() as usize - text.as_ptr() as usize;
        (start, word)
    })
}
