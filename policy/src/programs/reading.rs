//! Goes through the arguments of a call, as its program would.

use std::borrow::Cow;

use super::kind::Kind;
use super::table::{Opt, Program, Slot};
use super::word::{is_process, lead, may_be_option, splits_by_value, tail, visible_path};
use super::{Call, FileUse, Nature, Usage, test};
use crate::analysis::Word;

/// A call that is being read.
pub(super) struct Reading<'a> {
    pub(super) call: Call,
    /// The name for a person: program and subcommands.
    name: String,
    pub(super) words: &'a [Word],
    /// For each file of the call, the number of the word that names it.
    pub(super) places: Vec<usize>,
    operands: Vec<usize>,
    /// The program, and then the subcommands that were named.
    chain: Vec<&'static Program>,
    pub(super) has_script: bool,
    pub(super) has_destination: bool,
    listing: bool,
    recursive: bool,
    in_place: bool,
    read_only: bool,
    /// Whether a command line of its own was reached.
    stopped: bool,
    /// The first word that may become several because of a value.
    pub(super) splits: bool,
}

/// Reads a call of a known program.
pub(super) fn read(name: &str, program: &'static Program, words: &[Word]) -> Call {
    let mut reading = Reading {
        call: Call { nature: Nature::Reads, ..Call::default() },
        name: name.to_owned(),
        words,
        places: Vec::new(),
        operands: Vec::new(),
        chain: vec![program],
        has_script: false,
        has_destination: false,
        listing: false,
        recursive: false,
        in_place: false,
        read_only: false,
        stopped: false,
        splits: false,
    };
    reading.all();
    reading.call
}

/// The files of a call about which nothing is known.
pub(super) fn visible_files(words: &[Word]) -> Vec<FileUse> {
    words
        .iter()
        .filter_map(|word| visible_path(word).map(|from| FileUse { path: tail(word, from), usage: Usage::Read }))
        .collect()
}

impl<'a> Reading<'a> {
    fn program(&self) -> &'static Program {
        self.chain[self.chain.len() - 1]
    }

    /// Raises what the call does.
    pub(super) fn at_least(&mut self, nature: Nature, why: impl FnOnce(&str) -> String) {
        if nature > self.call.nature {
            self.call.nature = nature;
            self.call.why = Cow::Owned(why(&self.name));
        }
    }

    pub(super) fn unknown(&mut self, why: impl FnOnce(&str) -> String) {
        self.at_least(Nature::Unknown, why);
    }

    pub(super) fn file(&mut self, at: usize, from: usize, usage: Usage) {
        let word = &self.words[at];
        if is_process(word) {
            return;
        }
        let path = tail(word, from);
        if path.parts.is_empty() && (path.text == "-" || path.text.is_empty()) {
            return;
        }
        let index = self.places.partition_point(|place| *place <= at);
        self.places.insert(index, at);
        self.call.files.insert(index, FileUse { path, usage });
    }

    fn all(&mut self) {
        if self.program().style.test {
            test::read(self, self.words);
            return;
        }
        let mut at = 1;
        let mut ended = false;
        // Until something but a subcommand was met.
        let mut bare = true;
        while at < self.words.len() && !self.stopped {
            let word: &'a Word = &self.words[at];
            let style = self.program().style;
            let began = at;
            at += 1;
            if bare {
                if self.only_shows(began) {
                    return;
                }
                if style.toolchain && word.value().is_some_and(|text| text.starts_with('+')) {
                    continue;
                }
                let names = self.operands.is_empty()
                    && word.value().is_some_and(|text| self.program().subcommand(text).is_some());
                bare = names;
                if style.bundle && word.value().is_some_and(|text| !text.starts_with('-') && !text.is_empty()) {
                    at = self.bundle(began, 0, true);
                    continue;
                }
            }
            if ended || style.plain {
                self.operand(began);
                continue;
            }
            let lead = lead(word);
            if word.is_dynamic() && (may_be_option(word) || splits_by_value(word) || lead == "-") {
                self.doubtful(word);
            }
            if lead == "--" && !word.is_dynamic() {
                ended = true;
            } else if style.dash && lead.len() > 1 && lead.starts_with('-') {
                at = self.dashed(began);
            } else if lead.starts_with("--") {
                at = self.long(began);
            } else if lead.len() > 1 && lead.starts_with('-') {
                if style.digits && lead.as_bytes()[1].is_ascii_digit() && !word.is_dynamic() {
                    continue;
                }
                at = self.bundle(began, 1, false);
            } else if style.expression && matches!(lead, "(" | ")" | "!" | ",") {
                // Grouping of an expression.
            } else {
                ended |= style.posix && !self.program().has_subcommands();
                self.operand(began);
            }
        }
        self.finish();
    }

    /// Whether the only argument besides subcommands, at `at`, is an option that prints something; then it is settled.
    fn only_shows(&mut self, at: usize) -> bool {
        if self.words.len() != at + 1 {
            return false;
        }
        let Some(text) = self.words[at].value() else { return false };
        let program = self.program();
        let shows = match text.strip_prefix("--") {
            _ if program.style.plain => false,
            Some("help" | "version") if !program.style.nohelp => true,
            Some(name) => program.long(name).all(|opt| opt.role.shows) && program.long(name).count() == 1,
            None => match text.strip_prefix('-') {
                Some(name) if program.style.dash => program.dashed(name).is_some_and(|opt| opt.role.shows),
                Some(name) if name.len() == 1 => program.short(name.as_bytes()[0]).is_some_and(|opt| opt.role.shows),
                _ => false,
            },
        };
        if shows {
            self.call = Call { nature: Nature::Reads, ..Call::default() };
        }
        shows
    }

    /// An argument that may turn out to be any option, or several arguments.
    fn doubtful(&mut self, word: &Word) {
        self.splits |= splits_by_value(word);
        let program = self.program();
        if !program.harmless || program.has_subcommands() {
            let text = &word.text;
            self.unknown(|name| format!("`{text}` may become an option of `{name}`"));
        }
    }

    fn option(&mut self, opt: &Opt, shown: &str) {
        self.listing |= opt.role.listing;
        self.recursive |= opt.role.recursive;
        self.has_script |= opt.role.nopattern;
        self.in_place |= opt.role.inplace;
        self.read_only |= opt.role.readonly;
        let what = opt.values.iter().find_map(|kind| match kind {
            Kind::Write | Kind::Destination | Kind::RemoteWrite => Some("writes a file"),
            Kind::Run => Some("runs a program"),
            Kind::Until => Some("runs a command"),
            Kind::List => Some("reads the files that a list names"),
            Kind::Code | Kind::CodeFile => Some("runs code"),
            _ => None,
        });
        self.at_least(opt.effect, |name| match (what, opt.effect) {
            (Some(what), _) => format!("`{name} {shown}` {what}"),
            (None, Nature::Unknown) => format!("what `{name} {shown}` does depends on more than its arguments"),
            (None, _) => format!("`{name} {shown}` changes something, or runs something else"),
        });
    }

    /// A word behind one dash that is one option. Returns the number of the next word.
    fn dashed(&mut self, at: usize) -> usize {
        let word: &'a Word = &self.words[at];
        let lead = lead(word);
        let name = lead.trim_start_matches('-');
        let (name, value) = name.split_once('=').map_or((name, None), |(name, value)| (name, Some(value)));
        let exact = self.chain.iter().rev().find_map(|program| program.dashed(name));
        if let Some(opt) = exact
            && (!word.is_dynamic() || value.is_some())
        {
            let shown = format!("-{name}");
            self.option(opt, &shown);
            if value.is_some() {
                if let Some(kind) = opt.values.first() {
                    self.value(*kind, at, lead.find('=').map_or(0, |equals| equals + 1));
                }
                return at + 1;
            }
            return if opt.attached { at + 1 } else { self.values(opt, at + 1) };
        }
        // `-Ipath`, `-std=c99`: an option with its value attached.
        let letter = lead.as_bytes().get(1).copied().unwrap_or_default();
        if let Some(opt) = self.program().dashed(lead.get(1..2).unwrap_or_default())
            && letter != b'-'
            && opt.attached
        {
            self.option(opt, &lead[..2]);
            if let Some(kind) = opt.values.first() {
                self.value(*kind, at, 2);
            }
            return at + 1;
        }
        self.unknown_option(at);
        at + 1
    }

    fn unknown_option(&mut self, at: usize) {
        let word: &'a Word = &self.words[at];
        self.unknown(|name| format!("the option `{}` of `{name}` is not known", word.text));
        if let Some(from) = visible_path(word) {
            self.file(at, from, Usage::Read);
        }
    }

    /// The values of an option that stand in words of their own, from `at` on.
    fn values(&mut self, opt: &Opt, mut at: usize) -> usize {
        for kind in &opt.values {
            if at >= self.words.len() {
                break;
            }
            if *kind == Kind::Until {
                let end = |word: &Word| matches!(word.text.as_str(), ";" | "+");
                return self.words[at..].iter().position(end).map_or(self.words.len(), |length| at + length + 1);
            }
            self.value(*kind, at, 0);
            at += 1;
        }
        at
    }

    /// `--name`, `--name=value`, or the beginning of a name.
    fn long(&mut self, at: usize) -> usize {
        let word: &'a Word = &self.words[at];
        let lead = lead(word);
        let (name, value) = match lead.find('=') {
            Some(equals) => (&lead[2..equals], Some(equals + 1)),
            None => (&lead[2..], None),
        };
        if word.is_dynamic() && value.is_none() {
            self.doubtful(word);
            return at + 1;
        }
        let depth = self.chain.len() - 1;
        let mut next = at + 1;
        let mut found = false;
        for (level, program) in self.chain.clone().into_iter().enumerate().rev() {
            if found || (level != depth && !program.style.deep) {
                continue;
            }
            for opt in program.long(name) {
                self.option(opt, &format!("--{name}"));
                match value {
                    Some(from) => {
                        if let (Some(kind), false) = (opt.values.first(), found) {
                            self.value(*kind, at, from);
                        }
                    }
                    None if !opt.attached => next = next.max(self.values(opt, at + 1)),
                    None => {}
                }
                found = true;
            }
        }
        if !found {
            let shows = matches!(name, "help" | "version") && !self.program().style.nohelp && value.is_none();
            if !shows {
                self.unknown_option(at);
            }
        }
        next
    }

    /// Short options in one word, from byte `from` on; with `old`, values stand in the words behind it in turn.
    fn bundle(&mut self, at: usize, from: usize, old: bool) -> usize {
        let word: &'a Word = &self.words[at];
        let lead = lead(word);
        let letters = lead.as_bytes();
        let depth = self.chain.len() - 1;
        let mut next = at + 1;
        let mut position = from;
        while position < letters.len() {
            let letter = letters[position];
            position += 1;
            let opt = self
                .chain
                .iter()
                .enumerate()
                .rev()
                .filter(|(level, program)| *level == depth || program.style.deep)
                .find_map(|(_, program)| program.short(letter));
            let Some(opt) = opt else {
                if self.program().style.digits && letter.is_ascii_digit() {
                    continue;
                }
                self.unknown_letter(at, position - 1, old);
                return next;
            };
            let mut shown = [b'-', letter.min(0x7f)];
            self.option(opt, std::str::from_utf8_mut(&mut shown).map_or("", |text| &*text));
            if opt.values.is_empty() {
                continue;
            }
            if old {
                next = self.values(opt, next);
                continue;
            }
            if position < letters.len() || word.is_dynamic() {
                // `-n=5` is the value `=5` for most, and `5` for some.
                self.value(opt.values[0], at, position);
                return next;
            }
            return if opt.attached { next } else { self.values(opt, at + 1) };
        }
        if word.is_dynamic() {
            self.doubtful(word);
        }
        next
    }

    fn unknown_letter(&mut self, at: usize, position: usize, old: bool) {
        let word: &'a Word = &self.words[at];
        if old {
            self.unknown(|name| format!("`{}` of `{name}` is not known", word.text));
            return;
        }
        let letter = word.text.get(position..).and_then(|rest| rest.chars().next()).unwrap_or('?');
        self.unknown(|name| format!("the option `-{letter}` of `{name}` is not known"));
        if let Some(from) = visible_path(word) {
            self.file(at, from, Usage::Read);
        }
    }

    fn operand(&mut self, at: usize) {
        let program = self.program();
        if program.head.get(self.operands.len()).is_some_and(|slot| slot.kind == Kind::Command) {
            let assigns = |word: &Word| {
                let name = lead(word).split_once('=').map(|(name, _)| name);
                name.is_some_and(|name| !name.is_empty() && !name.contains('/'))
            };
            self.stopped = !(program.style.assigns && assigns(&self.words[at]));
            return;
        }
        if program.has_subcommands() && self.operands.is_empty() {
            let word: &'a Word = &self.words[at];
            let Some(text) = word.value() else {
                self.unknown(|name| format!("the subcommand of `{name}` is known only when it runs"));
                self.operands.push(at);
                return;
            };
            if let Some(sub) = program.subcommand(text) {
                self.chain.push(sub);
                self.name = format!("{} {text}", self.name);
                return;
            }
            if program.head.is_empty() && program.rest.is_none_or(|slot| slot.kind == Kind::Any) {
                self.unknown(|name| format!("the subcommand `{text}` of `{name}` is not known"));
            }
        }
        self.operands.push(at);
    }

    fn finish(&mut self) {
        let program = self.program();
        let nature = if self.read_only { Nature::Reads } else { program.nature };
        self.at_least(nature, |name| match (program.note, program.nature) {
            ("", Nature::Unknown) => format!("what `{name}` does depends on more than its arguments"),
            ("", Nature::Destroys) => format!("`{name}` destroys what cannot be brought back"),
            ("", _) => format!("`{name}` changes something, or runs something else"),
            (note, _) => format!("`{name}` {note}"),
        });
        let short = program.style.needs && self.operands.is_empty() && !self.stopped;
        if short || (program.style.alone && self.words.len() == 1) {
            self.unknown(|name| format!("`{name}` alone shows more than a name"));
        }
        let operands = std::mem::take(&mut self.operands);
        let head: &[Slot] = match program.head.first() {
            Some(slot) if self.has_script && slot.kind.is_script() => &program.head[1..],
            _ => &program.head,
        };
        let last: &[Slot] = if self.has_destination { &[] } else { &program.last };
        let behind = operands.len().saturating_sub(last.len());
        for (number, at) in operands.iter().copied().enumerate() {
            let slot = if number >= behind && !last.is_empty() {
                last.get(number - behind).copied()
            } else if let Some(slot) = head.get(number) {
                Some(*slot)
            } else {
                program.rest
            };
            let Some(slot) = slot else {
                let text = &self.words[at].text;
                self.unknown(|name| format!("what `{text}` means to `{name}` is not known"));
                self.value(Kind::Any, at, 0);
                continue;
            };
            if slot.effect != Nature::Reads && !self.listing {
                self.at_least(slot.effect, |name| format!("`{name}` with an operand changes something"));
            }
            if matches!(slot.kind, Kind::Write | Kind::Destination | Kind::RemoteWrite) && !self.read_only {
                self.at_least(Nature::Changes, |name| format!("the operand of `{name}` names a file to write"));
            }
            let written = self.in_place && matches!(slot.kind, Kind::Read | Kind::Any);
            self.value(if written { Kind::Write } else { slot.kind }, at, 0);
            // `grep $x`: what it becomes may go on with files.
            if matches!(slot.kind, Kind::Text | Kind::Pattern)
                && program.rest.is_some_and(|rest| rest.kind == Kind::Read)
                && self.words[at].may_split()
            {
                self.file(at, 0, Usage::Read);
            }
        }
        if self.splits && head.iter().chain(&program.rest).chain(last).any(|slot| !slot.kind.is_harmless()) {
            self.unknown(|name| format!("how many arguments `{name}` gets is known only when it runs"));
        }
        self.call.recursive = self.recursive;
    }
}
