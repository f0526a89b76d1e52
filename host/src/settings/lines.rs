//! The lines of a file at which the entries of its table `permission` stand.

use std::collections::HashMap;

use toml::de::{DeTable, DeValue};

/// Lines by permission and pattern; an entry that is a decision for all has no pattern.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Lines(HashMap<(String, Option<String>), usize>);

impl Lines {
    /// Finds the lines of a TOML file that was read before; none in what is no TOML.
    pub(super) fn toml(text: &str) -> Self {
        let mut lines = Self::default();
        let Ok(root) = DeTable::parse(text) else { return lines };
        let ends: Vec<usize> = text.match_indices('\n').map(|(at, _)| at).collect();
        let line = |start: usize| ends.partition_point(|end| *end < start) + 1;
        let Some(DeValue::Table(permissions)) = root.get_ref().get("permission").map(toml::Spanned::get_ref) else {
            return lines;
        };
        for (permission, value) in permissions {
            let name = permission.get_ref().clone().into_owned();
            lines.0.insert((name.clone(), None), line(permission.span().start));
            if let DeValue::Table(patterns) = value.get_ref() {
                for pattern in patterns.keys() {
                    let key = (name.clone(), Some(pattern.get_ref().clone().into_owned()));
                    lines.0.insert(key, line(pattern.span().start));
                }
            }
        }
        lines
    }

    /// Finds the lines of a JSON file that was read before.
    pub(super) fn json(text: &str) -> Self {
        let mut lines = Self::default();
        let mut open: Vec<Open> = Vec::new();
        let mut line = 1;
        let mut rest = text;
        while let Some(first) = rest.chars().next() {
            let mut length = first.len_utf8();
            match first {
                '\n' => line += 1,
                '{' => open.push(Open { is_object: true, wants_key: true, key: String::new() }),
                '[' => open.push(Open { is_object: false, wants_key: false, key: String::new() }),
                '}' | ']' => drop(open.pop()),
                ',' => {
                    if let Some(last) = open.last_mut() {
                        last.wants_key = last.is_object;
                    }
                }
                '"' => {
                    length = string_length(rest);
                    if let Some(last) = open.last_mut()
                        && std::mem::take(&mut last.wants_key)
                        && let Ok(key) = serde_json::from_str(&rest[..length])
                    {
                        last.key = key;
                        lines.key(&open, line);
                    }
                }
                _ => {}
            }
            rest = &rest[length..];
        }
        lines
    }

    fn key(&mut self, open: &[Open], line: usize) {
        let entry = match open {
            [root, permission] if root.key == "permission" => (permission.key.clone(), None),
            [root, permission, pattern] if root.key == "permission" => {
                (permission.key.clone(), Some(pattern.key.clone()))
            }
            _ => return,
        };
        // Of a key that is there twice the last one counts.
        self.0.insert(entry, line);
    }

    /// Returns the line of an entry.
    pub(super) fn of(&self, permission: &str, pattern: Option<&str>) -> Option<usize> {
        self.0.get(&(permission.to_owned(), pattern.map(str::to_owned))).copied()
    }
}

/// An object or a list that is not closed yet.
#[derive(Debug)]
struct Open {
    is_object: bool,
    wants_key: bool,
    /// The last key read.
    key: String,
}

/// The length of the string that `text` begins with, with its quotes.
fn string_length(text: &str) -> usize {
    let mut escaped = false;
    let end = text.bytes().enumerate().skip(1).find(|(_, byte)| {
        let ends = *byte == b'"' && !escaped;
        escaped = *byte == b'\\' && !escaped;
        ends
    });
    end.map_or(text.len(), |(at, _)| at + 1)
}

#[cfg(test)]
mod tests {
    use super::Lines;

    #[track_caller]
    fn check(lines: &Lines, permission: &str, pattern: Option<&str>, expected: Option<usize>) {
        assert_eq!(lines.of(permission, pattern), expected, "{lines:?}");
    }

    #[test]
    fn toml_in_every_spelling() {
        let text = "mode = 'ask'\n\n[permission]\nedit = 'ask'\n# 'git *'\nread = { 'a' = 'ask',\n 'b' = 'ask' }\n\
                    external_directory.'/srv/*' = 'allow'\n[permission.bash]\n'git *' = 'allow'\n\
                    \"g\\u0069t x\" = 'deny'\n";
        let lines = Lines::toml(text);
        check(&lines, "edit", None, Some(4));
        check(&lines, "read", Some("a"), Some(6));
        check(&lines, "read", Some("b"), Some(7));
        check(&lines, "external_directory", Some("/srv/*"), Some(8));
        check(&lines, "bash", Some("git *"), Some(10));
        check(&lines, "bash", Some("git x"), Some(11));
        check(&lines, "bash", Some("ls"), None);
        assert_eq!(Lines::toml("= x"), Lines::default());
    }

    #[test]
    fn json_whatever_stands_around() {
        let text = "{\n\"other\": [{\"permission\": {\"bash\": 1}}, \"}\\\"{\"],\n\"permission\": {\n  \"edit\": \"ask\",\n\
                    \"bash\": {\"git *\": \"allow\",\n \"g\\\"\\\\\": \"deny\",\n\"\\u0061\": \"ask\"},\n\"read\":\n\"allow\"}}";
        let lines = Lines::json(text);
        check(&lines, "edit", None, Some(4));
        check(&lines, "bash", Some("git *"), Some(5));
        check(&lines, "bash", Some("g\"\\"), Some(6));
        check(&lines, "bash", Some("a"), Some(7));
        check(&lines, "read", None, Some(8));
        check(&lines, "git *", None, None);
        for broken in ["{\"permission\": {\"bash", "\"", "}}}", "{\"a\\", ""] {
            Lines::json(broken);
        }
    }
}
