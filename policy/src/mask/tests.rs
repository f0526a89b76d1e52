//! Every rule hides what its own pattern describes, made up at run time.

use regex_syntax::hir::{Class, Hir, HirKind};
use tool_api::Mask;

use super::SecretMask;
use super::rules::Rules;

/// Numbers that look random and are the same in every run.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, limit: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % limit.max(1)
    }
}

/// Makes up a text that a pattern matches.
fn sample(hir: &Hir, numbers: &mut Numbers, text: &mut Vec<u8>) {
    match hir.kind() {
        HirKind::Empty | HirKind::Look(_) => {}
        HirKind::Literal(literal) => text.extend_from_slice(&literal.0),
        HirKind::Class(class) => {
            let members: Vec<u8> = (b' '..=b'~')
                .chain([b'\n'])
                .filter(|byte| match class {
                    Class::Bytes(class) => class.iter().any(|range| (range.start()..=range.end()).contains(byte)),
                    Class::Unicode(class) => {
                        class.iter().any(|range| (range.start()..=range.end()).contains(&char::from(*byte)))
                    }
                })
                .collect();
            text.push(members[numbers.below(members.len())]);
        }
        HirKind::Repetition(repetition) => {
            let most = repetition.max.unwrap_or(repetition.min + 20).min(repetition.min + 20);
            let count = repetition.min as usize + numbers.below((most - repetition.min) as usize + 1);
            (0..count).for_each(|_| sample(&repetition.sub, numbers, text));
        }
        HirKind::Capture(capture) => sample(&capture.sub, numbers, text),
        HirKind::Concat(parts) => parts.iter().for_each(|part| sample(part, numbers, text)),
        HirKind::Alternation(parts) => sample(&parts[numbers.below(parts.len())], numbers, text),
    }
}

#[test]
fn every_rule_hides_what_it_describes() {
    let mask = SecretMask::new();
    let mut numbers = Numbers(7);
    let mut problems = Vec::new();
    for rule in &Rules::get().rules {
        let hir = regex_syntax::ParserBuilder::new().unicode(false).utf8(false).build().parse(rule.source).unwrap();
        let (mut tried, mut hidden) = (0, 0);
        let mut left = Vec::new();
        for _ in 0..60 {
            if tried == 12 {
                break;
            }
            // The word that only says what the text is about.
            let about = if rule.id == "facebook-access-token" { "facebook " } else { "bot " };
            let mut text = about.as_bytes().to_vec();
            sample(&hir, &mut numbers, &mut text);
            text.extend_from_slice(b"\nend");
            let text = String::from_utf8(text).unwrap();
            // What the whole pattern does not match again lacks a border that was made up next to it.
            let Some(groups) = rule.regex().unwrap().captures(text.as_bytes()) else { continue };
            let whole = groups.get(0).unwrap();
            let secret = groups.iter().skip(1).flatten().find(|group| !group.is_empty()).unwrap_or(whole);
            let (whole, secret) = ((whole.start(), whole.end()), (secret.start(), secret.end()));
            if !super::scan::is_secret(Rules::get(), rule, text.as_bytes(), whole, secret) {
                continue;
            }
            let keywords = Rules::get().keywords.as_ref().unwrap().find_overlapping_iter(&text);
            let own = |with: &(u16, _)| std::ptr::eq(&raw const Rules::get().rules[usize::from(with.0)], rule);
            if !keywords.into_iter().any(|hit| Rules::get().by_keyword[hit.pattern().as_usize()].iter().any(own)) {
                continue;
            }
            tried += 1;
            if mask.mask("", &text, "").contains("[secret hidden: ") {
                hidden += 1;
            } else {
                left.push(text);
            }
        }
        if tried != hidden && !RARE.contains(&rule.id) {
            problems.push(format!("{}: {hidden} of {tried}, not {:?}", rule.id, left.first()));
        }
        // Words that allowlists know are frequent in what is made up.
        if tried < 3 && !RARE.contains(&rule.id) {
            problems.push(format!("{} was tried {tried} times", rule.id));
        }
    }
    assert!(problems.is_empty(), "{}", problems.join("\n"));
}

/// Rules that match more than their keywords let them.
const RARE: [&str; 5] = [
    "kubernetes-secret-yaml",
    "mailchimp-api-key",
    "sidekiq-sensitive-url",
    "slack-config-access-token",
    "slack-webhook-url",
];
