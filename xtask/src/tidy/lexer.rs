//! Enough of Rust's lexical grammar to tell code from comments and literals.

/// The code of a source: comments and the insides of literals become blanks, and every line stays where it was.
///
/// Follows "Comments" and "Literal expressions" in the Rust reference. A source that does not end a comment or a
/// literal is blank from there on; it does not compile either.
pub(crate) fn code(source: &str) -> String {
    let mut code = String::with_capacity(source.len());
    let mut rest = source;
    let mut before = ' ';
    while let Some(first) = rest.chars().next() {
        let literal = comment(rest).or_else(|| raw_string(rest, before)).or_else(|| quoted(rest));
        let length = literal.unwrap_or(first.len_utf8());
        let (piece, after) = rest.split_at(length);
        if literal.is_some() {
            code.extend(piece.chars().map(|c| if c == '\n' { '\n' } else { ' ' }));
        } else {
            code.push(first);
        }
        before = piece.chars().next_back().unwrap_or(' ');
        rest = after;
    }
    code
}

/// The length of the comment that the text starts with.
fn comment(text: &str) -> Option<usize> {
    if text.starts_with("//") {
        return Some(text.find('\n').unwrap_or(text.len()));
    }
    if !text.starts_with("/*") {
        return None;
    }
    let bytes = text.as_bytes();
    let (mut at, mut depth) = (0, 0);
    while at + 1 < bytes.len() {
        match &bytes[at..at + 2] {
            b"/*" => depth += 1,
            b"*/" => depth -= 1,
            _ => {
                at += 1;
                continue;
            }
        }
        at += 2;
        if depth == 0 {
            return Some(at);
        }
    }
    Some(text.len())
}

/// The length of the raw string that the text starts with: `r"..."`, `br#"..."#`, `cr"..."`.
fn raw_string(text: &str, before: char) -> Option<usize> {
    if before.is_alphanumeric() || before == '_' {
        return None;
    }
    let opened = ["r", "br", "cr"].iter().find_map(|prefix| text.strip_prefix(prefix))?;
    let content = opened.trim_start_matches('#');
    let hashes = opened.len() - content.len();
    let content = content.strip_prefix('"')?;
    let close = format!("\"{}", "#".repeat(hashes));
    let start = text.len() - content.len();
    Some(content.find(&close).map_or(text.len(), |at| start + at + close.len()))
}

/// The length of the string or character that the text starts with. A lifetime is neither.
fn quoted(text: &str) -> Option<usize> {
    let quote = text.chars().next().filter(|c| ['"', '\''].contains(c))?;
    let mut chars = text.char_indices().skip(1);
    if quote == '\'' {
        let (_, content) = chars.clone().next()?;
        let after = chars.clone().nth(1).map(|(_, c)| c);
        if content != '\\' && after != Some('\'') {
            return None;
        }
    }
    while let Some((at, c)) = chars.next() {
        if c == '\\' {
            chars.next();
        } else if c == quote {
            return Some(at + 1);
        }
    }
    Some(text.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(source: &str, expected: &str) {
        // Runs of blanks are one, so that the expectations can be read.
        let got: Vec<String> =
            code(source).lines().map(|line| line.split_whitespace().collect::<Vec<_>>().join(" ")).collect();
        assert_eq!(got.join("\n"), expected);
    }

    #[test]
    fn comments_are_blank() {
        check("a // b\nc /* d /* e */ f\n g */ h", "a\nc\nh");
        check("/// doc\n//! doc\nx", "\n\nx");
        check("a /* never ends", "a");
    }

    #[test]
    fn literals_are_blank() {
        check(r#"f("a \" b", 'c', '\'', '"') + g"#, "f( , , , ) + g");
        check("f(b\"x\") h(r#\"a \" b\"#) i(br\"y\\\") j", "f(b ) h( ) i( ) j");
        check("\"one\ntwo\" x", "\nx");
    }

    #[test]
    fn lifetimes_and_names_are_code() {
        check("fn f<'a>(x: &'a str) -> &'static str {}", "fn f<'a>(x: &'a str) -> &'static str {}");
        check("for_r\"x\" 'label: loop {}", "for_r 'label: loop {}");
    }
}
