//! What a word may become: its texts, with a mark where any characters may stand.

use std::borrow::Cow;
use std::path::Path;

use super::state::{Id, Place, UNKNOWN};
use super::variables::Known;
use super::walk::Walk;
use crate::analysis::{Word, WordPart, read_word};

/// Stands in a text for any run of characters. No command line can contain it.
pub(super) const ANY: char = '\0';
/// Texts of one word that are told apart.
const MOST_TEXTS: usize = 64;

/// The texts that a word may become; none when they are not known.
pub(super) type Texts<'w> = Option<Vec<Cow<'w, str>>>;

impl<'a> Walk<'a> {
    /// The texts of a word where the shell is at `place`.
    pub(super) fn texts<'w>(&self, word: &'w Word, place: Place) -> Texts<'w> {
        if !word.is_dynamic() {
            return Some(vec![Cow::Borrowed(word.text.as_str())]);
        }
        if word.parts.contains(&WordPart::Brace) {
            return self.braced(word, place);
        }
        if word.parts.iter().any(|part| matches!(part, WordPart::Expansion { .. })) {
            let simpler = simpler(&word.text);
            let word = (simpler != word.text).then(|| read_word(&simpler)).flatten()?;
            let texts = self.joined(&word.parts, place)?;
            return Some(texts.into_iter().map(|text| Cow::Owned(text.into_owned())).collect());
        }
        self.joined(&word.parts, place)
    }

    /// A word with a brace list, whose alternatives are words of their own.
    fn braced(&self, word: &Word, place: Place) -> Texts<'static> {
        // What is quoted in it does not count as a list, and cannot be seen in the parts.
        if word.text.contains(['\'', '"', '\\', '`', '(']) {
            return None;
        }
        let mut texts = Vec::new();
        for alternative in expand_braces(&word.text)? {
            if alternative.is_empty() {
                // Nothing is left of it.
                continue;
            }
            let word = read_word(&alternative)?;
            if word.parts.contains(&WordPart::Brace) {
                return None;
            }
            texts.extend(self.texts(&word, place)?.into_iter().map(|text| Cow::Owned(text.into_owned())));
            if texts.len() > MOST_TEXTS {
                return None;
            }
        }
        Some(texts)
    }

    fn joined<'w>(&self, parts: &[WordPart], place: Place) -> Texts<'w> {
        let mut texts = vec![String::new()];
        let mut skip_bracket = false;
        for (number, part) in parts.iter().enumerate() {
            match part {
                WordPart::Literal(literal) => {
                    let mut literal = literal.as_str();
                    if std::mem::take(&mut skip_bracket) {
                        literal = literal.strip_prefix(']').unwrap_or(literal);
                    }
                    // A bracket expression is a mark, too: its end stands behind it.
                    let bracket = parts.get(number + 1) == Some(&WordPart::Glob)
                        && matches!(parts.get(number + 2), Some(WordPart::Literal(next)) if next.starts_with(']'));
                    if bracket && let Some((before, _)) = literal.rsplit_once('[') {
                        literal = before;
                        skip_bracket = true;
                    }
                    texts.iter_mut().for_each(|text| text.push_str(literal));
                }
                WordPart::Glob => texts.iter_mut().for_each(|text| text.push(ANY)),
                WordPart::Tilde(user) => {
                    let directory = match user.as_str() {
                        "" => self.variable("HOME", place)?,
                        "+" => self.variable("PWD", place)?,
                        "-" => self.variable("OLDPWD", place)?,
                        _ => return None,
                    };
                    texts = product(texts, &directory)?;
                }
                WordPart::Variable { name, quoted } => {
                    let mut values = self.variable(name, place)?;
                    if !quoted {
                        values = values.into_iter().map(unquoted).collect::<Option<_>>()?;
                    }
                    texts = product(texts, &values)?;
                }
                WordPart::Expansion { .. } | WordPart::Process | WordPart::Brace => return None,
            }
        }
        Some(texts.into_iter().map(Cow::Owned).collect())
    }

    /// The values that a variable may have.
    pub(super) fn variable(&self, name: &str, place: Place) -> Option<Vec<String>> {
        match self.variables.get(name) {
            Known::Values(values) => return Some(values.to_vec()),
            Known::Unknown => return None,
            Known::Untouched => {}
        }
        match name {
            "HOME" => Some(vec![self.home?.to_str()?.to_owned()]),
            "PWD" => Some(vec![self.shown(place.current)?]),
            "OLDPWD" => Some(vec![self.shown(place.old)?]),
            // Numbers.
            "$" | "?" | "#" | "!" | "RANDOM" | "SRANDOM" | "SECONDS" | "LINENO" | "UID" | "EUID" | "PPID"
            | "BASHPID" | "EPOCHSECONDS" => Some(vec![ANY.to_string()]),
            _ => None,
        }
    }

    fn shown(&self, directory: Id) -> Option<String> {
        if directory == UNKNOWN {
            return None;
        }
        self.directories.logical(directory).map(Path::to_str)?.map(str::to_owned)
    }
}

/// A word with what is known of some expansions: where the shell is, and that arithmetic gives a number.
fn simpler(text: &str) -> String {
    let mut simple = text.replace("$(pwd)", "${PWD}").replace("`pwd`", "${PWD}");
    let mut from = 0;
    while let Some(start) = simple[from..].find("$((").map(|at| from + at) {
        let inner = |byte: &u8| byte.is_ascii_alphanumeric() || b"_ +-*/%<>=!&|^~?:,$".contains(byte);
        let length = simple.as_bytes()[start + 3..].iter().take_while(|byte| inner(byte)).count();
        if !simple[start + 3 + length..].starts_with("))") {
            break;
        }
        // `$$` is a number as well.
        simple.replace_range(start..start + 3 + length + 2, "$$");
        from = start + 2;
    }
    simple
}

/// A value whose blanks and wildcards the shell looks at.
fn unquoted(value: String) -> Option<String> {
    if value.contains([' ', '\t', '\n', '[', '\\']) {
        return None;
    }
    Some(if value.contains(['*', '?']) { value.replace(['*', '?'], "\0") } else { value })
}

fn product(texts: Vec<String>, values: &[String]) -> Option<Vec<String>> {
    if let [value] = values {
        let mut texts = texts;
        texts.iter_mut().for_each(|text| text.push_str(value));
        return Some(texts);
    }
    if texts.len() * values.len() > MOST_TEXTS {
        return None;
    }
    Some(texts.iter().flat_map(|text| values.iter().map(move |value| format!("{text}{value}"))).collect())
}

/// The alternatives of the brace lists in a text without quotes; none when there are too many.
fn expand_braces(text: &str) -> Option<Vec<String>> {
    let mut done = Vec::new();
    let mut open = vec![text.to_owned()];
    let mut rounds = 0;
    while let Some(text) = open.pop() {
        rounds += 1;
        if rounds > 2 * MOST_TEXTS {
            return None;
        }
        match first_list(&text) {
            None => done.push(text),
            Some((start, end, alternatives)) => {
                for alternative in alternatives.iter().rev() {
                    open.push(format!("{}{alternative}{}", &text[..start], &text[end..]));
                }
            }
        }
    }
    Some(done)
}

/// The first brace list: where it starts and ends, and its alternatives.
fn first_list(text: &str) -> Option<(usize, usize, Vec<String>)> {
    let bytes = text.as_bytes();
    for start in (0..bytes.len()).filter(|at| bytes[*at] == b'{' && (*at == 0 || bytes[at - 1] != b'$')) {
        let mut depth = 0usize;
        let mut commas = vec![start];
        for at in start..bytes.len() {
            match bytes[at] {
                b'{' => depth += 1,
                b',' if depth == 1 => commas.push(at),
                b'}' if depth == 1 => {
                    let inner = &text[start + 1..at];
                    if commas.len() > 1 {
                        commas.push(at);
                        let parts = commas.windows(2).map(|pair| text[pair[0] + 1..pair[1]].to_owned());
                        return Some((start, at + 1, parts.collect()));
                    }
                    if let Some(ends) = inner.split_once("..").filter(|_| !inner.contains('/')) {
                        // A sequence: numbers or letters, which lead nowhere else.
                        let plain = |end: &str| !end.is_empty() && end.bytes().all(|b| b.is_ascii_alphanumeric());
                        let step = ends.1.split("..").all(|part| plain(part.trim_start_matches('-')));
                        if plain(ends.0.trim_start_matches('-')) && step {
                            return Some((start, at + 1, vec!["*".to_owned()]));
                        }
                    }
                    break;
                }
                b'}' => depth = depth.saturating_sub(1),
                _ => {}
            }
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::expand_braces;

    #[track_caller]
    fn check(text: &str, expected: &[&str]) {
        assert_eq!(expand_braces(text).unwrap(), expected, "{text}");
    }

    #[test]
    fn brace_lists() {
        check("{/etc/passwd,a}", &["/etc/passwd", "a"]);
        check("x{a,b}y{c,d}", &["xayc", "xayd", "xbyc", "xbyd"]);
        check("{a,{b,/c}}", &["a", "b", "/c"]);
        check("{a}", &["{a}"]);
        check("${x}{a,b}", &["${x}a", "${x}b"]);
        check("f{1..3}.rs", &["f*.rs"]);
        check("{..,/}/x", &["../x", "//x"]);
        assert_eq!(expand_braces(&"{a,b}".repeat(20)), None);
    }
}
