//! Finding what the rules describe: keywords first, then each rule around its own ones.

use super::allow::{entropy, is_harmless};
use super::rules::{Rule, Rules, Shape, TELLING};
use super::{CONTEXT, Found, Label, MARK};

/// Bytes in front of a keyword that an assignment's name may have, and some more to see its border.
const NAME: usize = 64;
/// Bytes between a keyword and the operator.
const BEHIND_KEYWORD: usize = 48;
/// Bytes on both sides that a rule of free shape looks at.
const AROUND: usize = 1024;
/// Bytes of one run without blanks that are looked at on either side of a keyword.
const RUN: usize = 16 * 1024;

/// Bytes behind its keyword that make the beginning of a token one.
const REST: usize = 6;

/// How often a rule looks again inside of what is no secret, before it goes on behind it.
const INSIDE: usize = 3;

/// Where one rule has to look.
#[derive(Clone, Copy)]
struct Window {
    rule: u16,
    start: usize,
    end: usize,
}

/// Finds what the rules describe.
pub(super) fn find(text: &str, found: &mut Vec<Found>) {
    let rules = Rules::get();
    let bytes = text.as_bytes();
    let mut windows: Vec<Window> = Vec::new();
    look(rules, bytes, 0, |window| {
        // The windows of one rule come in order; those that touch become one.
        match windows.iter_mut().rev().take(32).find(|known| known.rule == window.rule) {
            Some(known) if window.start <= known.end => known.end = known.end.max(window.end),
            _ => windows.push(window),
        }
    });
    windows.sort_by_key(|window| (window.rule, window.start));
    let mut at = (u16::MAX, 0);
    for window in windows {
        let from = if at.0 == window.rule { window.start.max(at.1) } else { window.start };
        if from < window.end {
            search(rules, &rules.rules[usize::from(window.rule)], text, from, window.end, found);
            at = (window.rule, window.end);
        }
    }
}

/// Finds a token that the end of a text cuts off: its keyword begins a word and says enough, and some of the rest is
/// there.
pub(super) fn begun(text: &str) -> Option<Found> {
    let bytes = text.as_bytes();
    let run =
        bytes.iter().rev().take(CONTEXT).take_while(|byte| is_word(**byte) || matches!(byte, b'-' | b'.')).count();
    let run = bytes.len() - run;
    if bytes.len() - run < TELLING + REST {
        return None;
    }
    let rules = Rules::get();
    let keywords = rules.keywords.as_ref()?;
    keywords.find_overlapping_iter(&bytes[run..]).find_map(|hit| {
        let (start, end) = (run + hit.start(), run + hit.end());
        let (rest, begins) = (&bytes[end..], start == run || !is_word(bytes[start - 1]));
        let tells = hit.len() >= TELLING && begins && rest.len() >= REST && rest.iter().any(u8::is_ascii_digit);
        let (number, _) =
            rules.by_keyword[hit.pattern().as_usize()].iter().find(|(_, shape)| *shape == Shape::Token)?;
        let rule = &rules.rules[usize::from(*number)];
        let is_short = bytes.len() - start < rule.lengths().0;
        (tells && is_short && entropy(rest) >= 2.5).then_some(Found {
            start,
            end: bytes.len(),
            label: Label::Rule(rule.id),
        })
    })
}

/// Tells whether a rule may go on behind the end of a text, of which `run` is the last piece without blanks.
pub(super) fn may_go_on(text: &str, run: usize) -> bool {
    let bytes = text.as_bytes();
    if bytes.len() - run < 2 {
        return false;
    }
    let rules = Rules::get();
    let Some(keywords) = &rules.keywords else { return false };
    let from = run.saturating_sub(NAME);
    let line = memchr::memrchr(b'\n', &bytes[from..run]).map_or(from, |at| from + at + 1);
    keywords.find_overlapping_iter(&bytes[line..]).any(|hit| {
        let (start, end) = (line + hit.start(), line + hit.end());
        rules.by_keyword[hit.pattern().as_usize()].iter().any(|(_, shape)| {
            match shape {
                // Short keywords are everywhere; they count where a word begins with them.
                Shape::Token | Shape::Value => {
                    start >= run && (hit.len() > 3 || start == run || !is_word(bytes[start - 1]))
                }
                Shape::Assignment => value_behind(bytes, end).is_some_and(|value| value < bytes.len()),
                Shape::Free => hit.len() > 5 && end <= run && run - end < 32,
            }
        })
    })
}

/// Calls `each` with every window that a keyword from `from` on opens.
fn look(rules: &Rules, text: &[u8], from: usize, mut each: impl FnMut(Window)) {
    let Some(keywords) = &rules.keywords else { return };
    let mut run = (0, 0);
    // Where the run ends that was measured last; a long one is not measured again for each keyword in it.
    let mut end_known = (0, 0);
    let mut end_of = |at: usize| {
        if !(end_known.0..end_known.1).contains(&at) {
            end_known = (at, run_end(text, at));
        }
        end_known.1
    };
    for hit in keywords.find_overlapping_iter(&text[from..]) {
        let (start, end) = (from + hit.start(), from + hit.end());
        // Looked up once for all rules of the keyword, and only if one needs it.
        let mut value = None;
        for &(number, shape) in &rules.by_keyword[hit.pattern().as_usize()] {
            let rule = &rules.rules[usize::from(number)];
            let (low, high) = match shape {
                Shape::Token => {
                    if start >= run.1 {
                        run = run_around(text, start, end);
                    }
                    let (shortest, longest) = rule.lengths();
                    if run.1.max(end) - run.0.min(start) < shortest {
                        continue;
                    }
                    (run.0.max(start.saturating_sub(longest)), run.1.min(end + longest) + 2)
                }
                Shape::Assignment => {
                    let Some(value) = *value.get_or_insert_with(|| value_behind(text, end)) else { continue };
                    (start.saturating_sub(NAME), end_of(value) + 2)
                }
                Shape::Value => (start.saturating_sub(2 * NAME), end_of(end) + 2),
                Shape::Free => (start.saturating_sub(AROUND), end + CONTEXT),
            };
            each(Window { rule: number, start: low, end: high.min(text.len()) });
        }
    }
}

/// Applies one rule to a part of a text; what stands in front of the part is looked at for borders.
fn search(rules: &Rules, rule: &Rule, text: &str, from: usize, to: usize, found: &mut Vec<Found>) {
    let Some(regex) = rule.regex() else { return };
    let bytes = &text.as_bytes()[..to];
    let mut at = from;
    let mut again = 0;
    while at < to
        && let Some(groups) = regex.captures_at(bytes, at)
        && let Some(whole) = groups.get(0)
    {
        let first = groups.iter().skip(1).flatten().find(|group| !group.is_empty());
        let secret = match groups.get(rule.group) {
            Some(group) if rule.group > 0 => group,
            _ => match first {
                // Groups inside a token say which kind it is.
                Some(group) if rule.shape != Shape::Token || group.len() * 2 >= whole.len() => group,
                _ => whole,
            },
        };
        if is_secret(rules, rule, text.as_bytes(), (whole.start(), whole.end()), (secret.start(), secret.end())) {
            found.push(Found { start: secret.start(), end: secret.end(), label: Label::Rule(rule.id) });
            at = secret.end().max(whole.start() + 1);
            again = 0;
        } else if again < INSIDE {
            // A name with its value may be inside of what looked like the value of another one.
            at = secret.start().max(whole.start() + 1);
            again += 1;
        } else {
            at = secret.end().max(whole.start() + 1);
            again = 0;
        }
    }
}

pub(super) fn is_secret(
    rules: &Rules,
    rule: &Rule,
    text: &[u8],
    whole: (usize, usize),
    secret: (usize, usize),
) -> bool {
    let bytes = &text[secret.0..secret.1];
    // What was hidden before.
    if text[secret.0..].starts_with(MARK.as_bytes()) {
        return false;
    }
    if rule.entropy > 0.0 && entropy(bytes) < rule.entropy {
        return false;
    }
    if rule.id == "generic-api-key" && is_harmless(&text[whole.0..secret.0], bytes) {
        return false;
    }
    !rules.allow.holds(text, whole, secret) && !rule.allows.iter().any(|allow| allow.holds(text, whole, secret))
}

/// Returns where the value starts if an operator follows a name that ends at `at` or goes on there.
fn value_behind(text: &[u8], mut at: usize) -> Option<usize> {
    let limit = text.len().min(at + BEHIND_KEYWORD);
    while at < limit
        && (is_word(text[at]) || matches!(text[at], b' ' | b'\t' | b'.' | b'-' | b'\n' | b'\r' | b'\'' | b'"'))
    {
        at += 1;
    }
    if !matches!(text.get(at), Some(b'=' | b'>' | b'|' | b':' | b'?' | b',')) {
        return None;
    }
    let limit = text.len().min(at + 10);
    while at < limit
        && matches!(
            text[at],
            b'=' | b'>' | b'|' | b':' | b'?' | b',' | b'`' | b'\'' | b'"' | b' ' | b'\t' | b'\n' | b'\r'
        )
    {
        at += 1;
    }
    Some(at)
}

/// The run of characters without blanks or brackets that a keyword stands in.
fn run_around(text: &[u8], start: usize, end: usize) -> (usize, usize) {
    let floor = start.saturating_sub(RUN);
    let before = text[floor..start].iter().rev().take_while(|byte| !is_break(**byte)).count();
    (start - before, run_end(text, end))
}

pub(super) fn run_end(text: &[u8], at: usize) -> usize {
    let at = at.min(text.len());
    let limit = text.len().min(at + RUN);
    at + text[at..limit].iter().take_while(|byte| !is_break(**byte)).count()
}

/// Tells whether no token has this byte.
pub(super) fn is_break(byte: u8) -> bool {
    byte.is_ascii_whitespace()
        || matches!(byte, b'"' | b'\'' | b'`' | b'<' | b'>' | b',' | b';' | b'(' | b')' | b'{' | b'}')
}

fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}
