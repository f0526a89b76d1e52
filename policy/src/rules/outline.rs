//! What a command line with dynamic words can become, for rules that deny.

use crate::analysis::{Added, Word, WordPart};

/// A text of which parts are known only when it runs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Outline {
    items: Vec<Item>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Item {
    Character(char),
    /// Any text.
    Any,
    /// A blank and any text, or nothing at all: a word that may vanish.
    Word,
}

impl Outline {
    /// What words can become, with the program as it is written and without its directory.
    pub(crate) fn of(words: &[Word], added: &Added) -> Vec<Self> {
        let mut outline = Self::default();
        for (number, word) in words.iter().enumerate() {
            outline.word(number, word, added);
        }
        if *added == Added::Appended {
            outline.items.push(Item::Word);
        }
        let name = words.first().and_then(Word::value).unwrap_or_default();
        let Some(slash) = name.rfind('/') else { return vec![outline] };
        let plain = Self { items: outline.items[name[..=slash].chars().count()..].to_vec() };
        vec![outline, plain]
    }

    fn word(&mut self, number: usize, word: &Word, added: &Added) {
        let mut own = Vec::new();
        if added.changes(word) {
            own.push(Item::Any);
        } else if let Some(value) = word.value() {
            own.extend(value.chars().map(Item::Character));
        } else if word.parts.iter().any(|part| matches!(part, WordPart::Glob | WordPart::Brace)) {
            // The literal parts hold the brackets and commas, too; what stands before them is sure.
            if let Some(WordPart::Literal(text)) = word.parts.first() {
                own.extend(text.chars().take_while(|character| !matches!(character, '{' | '[')).map(Item::Character));
            }
            own.push(Item::Any);
        } else {
            for part in &word.parts {
                match part {
                    WordPart::Literal(text) => own.extend(text.chars().map(Item::Character)),
                    _ => own.push(Item::Any),
                }
            }
        }
        if number > 0 {
            if word.may_split() && !own.iter().any(|item| matches!(item, Item::Character(_))) {
                self.items.push(Item::Word);
                return;
            }
            self.items.push(Item::Character(' '));
        }
        self.items.append(&mut own);
    }

    /// Whether it can become a text that starts so.
    pub(crate) fn could_start_with(&self, start: &str) -> bool {
        let mut wanted = start.chars();
        for item in &self.items {
            match (item, wanted.next()) {
                (_, None) => return true,
                (Item::Character(own), Some(character)) if *own == character => {}
                (Item::Character(_), Some(_)) => return false,
                // What follows may be anything.
                (Item::Any | Item::Word, Some(_)) => return true,
            }
        }
        wanted.next().is_none()
    }

    /// Whether it can become a text that a pattern with `*` and `?` matches.
    pub(crate) fn could_match(&self, pattern: &str) -> bool {
        let pattern: Vec<char> = pattern.chars().collect();
        // Up to which places the pattern can have matched what came so far.
        let mut before = vec![false; pattern.len() + 1];
        before[0] = true;
        for item in &self.items {
            skip_stars(&pattern, &mut before);
            let mut after = vec![false; pattern.len() + 1];
            match item {
                Item::Character(character) => {
                    for at in (0..pattern.len()).filter(|at| before[*at]) {
                        match pattern[at] {
                            '*' => after[at] = true,
                            '?' => after[at + 1] = true,
                            own => after[at + 1] |= own == *character,
                        }
                    }
                }
                Item::Any => anything(&before, &mut after),
                Item::Word => {
                    let mut blank = vec![false; pattern.len() + 1];
                    for at in (0..pattern.len()).filter(|at| before[*at]) {
                        match pattern[at] {
                            '*' => blank[at] = true,
                            '?' | ' ' => blank[at + 1] = true,
                            _ => {}
                        }
                    }
                    anything(&blank, &mut after);
                    for (after, before) in after.iter_mut().zip(&before) {
                        *after |= *before;
                    }
                }
            }
            before = after;
        }
        skip_stars(&pattern, &mut before);
        before[pattern.len()]
    }
}

/// A star may stand for nothing.
fn skip_stars(pattern: &[char], reached: &mut [bool]) {
    for at in 0..pattern.len() {
        if reached[at] && pattern[at] == '*' {
            reached[at + 1] = true;
        }
    }
}

/// Any text may be what the pattern asks for, from the first place on.
fn anything(before: &[bool], after: &mut [bool]) {
    let mut reached = false;
    for (after, before) in after.iter_mut().zip(before) {
        reached |= *before;
        *after = reached;
    }
}

#[cfg(test)]
mod tests {
    use super::super::Pattern;
    use super::Outline;
    use crate::analysis::CommandAnalysis;

    #[track_caller]
    fn check(pattern: &str, command: &str, expected: bool) {
        let analysis = CommandAnalysis::new(command);
        let segment = analysis.segments.last().unwrap();
        let pattern = Pattern::new(pattern, None).unwrap();
        let found = Outline::of(&segment.words, &segment.added).iter().any(|outline| pattern.could_match(outline));
        assert_eq!(found, expected, "{pattern:?} {command:?}");
    }

    #[test]
    fn dynamic_words_can_become_anything() {
        check("rm *", "rm $x", true);
        check("rm", "rm $x", true);
        check("rm", "rm \"$x\"", false);
        check("rm ", "rm \"$x\"", true);
        check("git push *", "git $x", true);
        check("git push *", "git \"$x\"", true);
        check("git push * --force", "git push origin $x", true);
        check("git push --force", "git push origin $x", false);
        check("git push *", "git commit $x", false);
        check("git push *", "git pu\"$x\"", true);
        check("git push *", "git a\"$x\"", false);
        check("rm *", "r $x", false);
        check("rmdir *", "rm $x", false);
        check("rm *", "/bin/rm $x", true);
        check("cat ?", "cat *", true);
        check("a b c", "a {b,x} c", true);
        check("a b c", "a {b,x} d", false);
        check("a xb c", "a x{b,} c", true);
        check("a [b]", "a [b]", true);
        check("a b", "a [b]", true);
        check("a", "a {,}", true);
        check("*secret*", "cat $x", true);
        check("* --force", "echo $x y", false);
    }

    #[test]
    fn wrappers_add_words() {
        check("rm -rf *", "xargs rm", true);
        check("rm -rf *", "xargs rm -f", false);
        check("cat /etc/passwd", "find / -exec cat {} \\;", true);
        check("cat /etc/passwd", "find / -exec cat x \\;", false);
        check("cat /etc/passwd", "xargs -I% cat /%", true);
    }
}
