//! The data files, and how they are read: names at the first use, an entry when its program is met.

use std::collections::HashMap;
use std::sync::OnceLock;

use super::Nature;
use super::kind::Kind;

/// The data files, in no order that matters.
const FILES: &[(&str, &str)] = &[
    ("archive", include_str!("../../data/programs/archive.txt")),
    ("build", include_str!("../../data/programs/build.txt")),
    ("container", include_str!("../../data/programs/container.txt")),
    ("files", include_str!("../../data/programs/files.txt")),
    ("git", include_str!("../../data/programs/git.txt")),
    ("network", include_str!("../../data/programs/network.txt")),
    ("packages", include_str!("../../data/programs/packages.txt")),
    ("search", include_str!("../../data/programs/search.txt")),
    ("shell", include_str!("../../data/programs/shell.txt")),
    ("system", include_str!("../../data/programs/system.txt")),
    ("text", include_str!("../../data/programs/text.txt")),
];

/// An entry whose details are read when they are first needed.
#[derive(Debug)]
pub(super) struct Entry {
    head: &'static str,
    body: &'static str,
    indent: usize,
    program: OnceLock<Program>,
}

impl Entry {
    pub(super) fn program(&self) -> &Program {
        self.program.get_or_init(|| {
            // A mistake in the data is found by a test; at run time such an entry says that nothing is known.
            Program::parse(self.head, self.body, self.indent).unwrap_or_default()
        })
    }
}

/// An operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Slot {
    pub(super) kind: Kind,
    /// What the call does at least when the operand is there.
    pub(super) effect: Nature,
}

/// How an option changes what operands mean.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Role {
    /// Alone, it prints something and nothing else happens.
    pub(super) shows: bool,
    /// With it, operands select what is listed and have no effect of their own.
    pub(super) listing: bool,
    /// What is below a directory is meant, too.
    pub(super) recursive: bool,
    /// There is no operand for a pattern or script.
    pub(super) nopattern: bool,
    /// The files that are read are written, too.
    pub(super) inplace: bool,
    /// It makes a program that changes something only read.
    pub(super) readonly: bool,
}

/// An option.
#[derive(Clone, Debug, Default)]
pub(super) struct Opt {
    /// One kind for each value; empty for an option without one.
    pub(super) values: Vec<Kind>,
    /// Whether a value is only ever part of the same word.
    pub(super) attached: bool,
    pub(super) effect: Nature,
    pub(super) role: Role,
}

impl Opt {
    fn is_harmless(&self) -> bool {
        self.effect == Nature::Reads && self.values.iter().all(|kind| kind.is_harmless())
    }
}

/// Ways to read arguments that differ from the usual one.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Style {
    /// Options are words behind one dash: `find -name x`.
    pub(super) dash: bool,
    /// Options end at the first operand.
    pub(super) posix: bool,
    /// The first word may be a bundle of short options without a dash: `tar xf x`.
    pub(super) bundle: bool,
    /// `-5` is an option.
    pub(super) digits: bool,
    /// There are no options.
    pub(super) plain: bool,
    /// `--help` and `--version` do not just print.
    pub(super) nohelp: bool,
    /// `(`, `)`, `!` and `,` are part of an expression.
    pub(super) expression: bool,
    /// A word with `+` may stand before the subcommand.
    pub(super) toolchain: bool,
    /// Options of the program may follow the subcommand.
    pub(super) deep: bool,
    /// Without operands it does more than with them.
    pub(super) needs: bool,
    /// Without any argument it does more than with some.
    pub(super) alone: bool,
    /// `NAME=value` may stand before the command.
    pub(super) assigns: bool,
    /// `test` and `[`.
    pub(super) test: bool,
}

/// What is known about a program or subcommand.
#[derive(Debug)]
pub(super) struct Program {
    pub(super) nature: Nature,
    pub(super) note: &'static str,
    pub(super) style: Style,
    pub(super) head: Vec<Slot>,
    pub(super) rest: Option<Slot>,
    pub(super) last: Vec<Slot>,
    pub(super) harmless: bool,
    options: Vec<Opt>,
    short: Vec<(u8, u16)>,
    long: Vec<(&'static str, u16)>,
    names: Vec<(&'static str, u16)>,
    entries: Vec<Entry>,
}

impl Default for Program {
    fn default() -> Self {
        Self {
            nature: Nature::Unknown,
            note: "",
            style: Style::default(),
            head: Vec::new(),
            rest: Some(Slot { kind: Kind::Any, effect: Nature::Reads }),
            last: Vec::new(),
            harmless: false,
            options: Vec::new(),
            short: Vec::new(),
            long: Vec::new(),
            names: Vec::new(),
            entries: Vec::new(),
        }
    }
}

impl Program {
    pub(super) fn short(&self, letter: u8) -> Option<&Opt> {
        self.short.iter().find(|(own, _)| *own == letter).map(|(_, at)| &self.options[usize::from(*at)])
    }

    /// The options that a long name, written whole or in part, may mean.
    pub(super) fn long(&self, name: &str) -> impl Iterator<Item = &Opt> {
        let start = self.long.partition_point(|(own, _)| *own < name);
        let exact = self.long.get(start).is_some_and(|(own, _)| *own == name);
        self.long[start..]
            .iter()
            .take_while(move |(own, _)| if exact { *own == name } else { own.starts_with(name) })
            .map(|(_, at)| &self.options[usize::from(*at)])
    }

    /// An option that is one word behind one dash.
    pub(super) fn dashed(&self, name: &str) -> Option<&Opt> {
        let at = self.long.binary_search_by(|(own, _)| (*own).cmp(name)).ok()?;
        Some(&self.options[usize::from(self.long[at].1)])
    }

    pub(super) fn has_subcommands(&self) -> bool {
        !self.names.is_empty()
    }

    pub(super) fn subcommand(&self, name: &str) -> Option<&Program> {
        let at = self.names.binary_search_by(|(own, _)| (*own).cmp(name)).ok()?;
        Some(self.entries[usize::from(self.names[at].1)].program())
    }

    fn parse(head: &'static str, body: &'static str, indent: usize) -> Result<Self, String> {
        let mut program = Self { rest: None, ..Self::default() };
        program.parse_head(head)?;
        let mut rest = body;
        while let Some((line, after)) = next_line(rest) {
            let text = line.trim();
            if text.is_empty() || text.starts_with('#') {
                rest = after;
                continue;
            }
            if depth(line) != indent {
                return Err(format!("`{text}` stands at a wrong depth"));
            }
            if let Some(names) = text.strip_prefix("sub ") {
                let (names, head) = names.split_once(" : ").ok_or_else(|| format!("`{text}` has no ` : `"))?;
                let length = block(after, indent);
                program.subcommand_entry(names, head, &after[..length], indent + 2)?;
                rest = &after[length..];
                continue;
            }
            rest = after;
            program.parse_options(text)?;
        }
        program.long.sort_unstable();
        program.names.sort_unstable();
        let repeated =
            |names: &[(&'static str, u16)]| names.windows(2).find(|pair| pair[0].0 == pair[1].0).map(|pair| pair[0].0);
        if let Some(name) = repeated(&program.long).or_else(|| repeated(&program.names)) {
            return Err(format!("`{name}` stands twice in `{head}`"));
        }
        let slots = program.head.iter().chain(&program.rest).chain(&program.last);
        program.harmless = program.options.iter().all(Opt::is_harmless)
            && slots.clone().all(|slot| slot.effect == Nature::Reads && slot.kind.is_harmless());
        Ok(program)
    }

    fn subcommand_entry(
        &mut self,
        names: &'static str,
        head: &'static str,
        body: &'static str,
        indent: usize,
    ) -> Result<(), String> {
        let number = u16::try_from(self.entries.len()).map_err(|error| error.to_string())?;
        self.names.extend(names.split_ascii_whitespace().map(|name| (name, number)));
        self.entries.push(Entry { head, body, indent, program: OnceLock::new() });
        Ok(())
    }

    fn parse_head(&mut self, head: &'static str) -> Result<(), String> {
        let (words, note) = head.split_once(" ; ").unwrap_or((head, ""));
        self.note = note.trim();
        let mut words = words.split_ascii_whitespace();
        let nature = words.next().unwrap_or_default();
        self.nature = nature_of(nature).ok_or_else(|| format!("`{nature}` is no nature"))?;
        for word in words {
            if let Some(style) = word.strip_prefix('+') {
                self.parse_style(style)?;
                continue;
            }
            let (word, effect) = match (word.strip_suffix("!"), word.strip_suffix("!*")) {
                (Some(word), _) => (word, Nature::Changes),
                (_, Some(_)) => (word, Nature::Changes),
                _ => (word, Nature::Reads),
            };
            let (name, many) = match word.strip_suffix('*') {
                Some(name) => (name.trim_end_matches('!'), true),
                None => (word, false),
            };
            let kind = Kind::parse(name).ok_or_else(|| format!("`{name}` is no kind of operand"))?;
            let slot = Slot { kind, effect };
            match (many, self.rest) {
                (true, None) => self.rest = Some(slot),
                (true, Some(_)) => return Err(format!("two repeated operands in `{head}`")),
                (false, None) => self.head.push(slot),
                (false, Some(_)) => self.last.push(slot),
            }
        }
        Ok(())
    }

    fn parse_style(&mut self, name: &str) -> Result<(), String> {
        let style = &mut self.style;
        let flag = match name {
            "dash" => &mut style.dash,
            "posix" => &mut style.posix,
            "bundle" => &mut style.bundle,
            "digits" => &mut style.digits,
            "plain" => &mut style.plain,
            "nohelp" => &mut style.nohelp,
            "expression" => &mut style.expression,
            "toolchain" => &mut style.toolchain,
            "deep" => &mut style.deep,
            "needs" => &mut style.needs,
            "alone" => &mut style.alone,
            "assigns" => &mut style.assigns,
            "test" => &mut style.test,
            _ => return Err(format!("`+{name}` is no way to read arguments")),
        };
        *flag = true;
        Ok(())
    }

    fn parse_options(&mut self, line: &'static str) -> Result<(), String> {
        let mut effect = Nature::Reads;
        let mut role = Role::default();
        for word in line.split_ascii_whitespace() {
            if word.starts_with('-') {
                self.parse_option(word, effect, role)?;
                continue;
            }
            if let Some(nature) = nature_of(word) {
                effect = nature;
                continue;
            }
            if let Some(set) = word.strip_prefix('@') {
                let lines = set_lines(set).ok_or_else(|| format!("`{set}` is no set"))?;
                for line in lines.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#')) {
                    self.parse_options(line)?;
                }
                continue;
            }
            let flag = match word {
                "shows" => &mut role.shows,
                "listing" => &mut role.listing,
                "recursive" => &mut role.recursive,
                "nopattern" => &mut role.nopattern,
                "inplace" => &mut role.inplace,
                "readonly" => &mut role.readonly,
                _ => return Err(format!("`{word}` is not understood")),
            };
            *flag = true;
        }
        Ok(())
    }

    fn parse_option(&mut self, word: &'static str, effect: Nature, role: Role) -> Result<(), String> {
        let (name, kinds, attached) = match word.find(['=', '?']) {
            Some(at) if at > 1 => (&word[..at], Some(&word[at + 1..]), word.as_bytes()[at] == b'?'),
            _ => (word, None, false),
        };
        let mut values = Vec::new();
        if let Some(kinds) = kinds {
            for kind in kinds.split(',') {
                values.push(Kind::parse(kind).ok_or_else(|| format!("`{kind}` is no kind of value in `{word}`"))?);
            }
        }
        let effect = effect.max(implied(&values));
        let number = u16::try_from(self.options.len()).map_err(|error| error.to_string())?;
        if let Some(long) = name.strip_prefix("--") {
            self.long.push((long, number));
        } else if self.style.dash && name.len() > 1 {
            self.long.push((&name[1..], number));
        } else {
            let letters = &name.as_bytes()[1..];
            if letters.is_empty() || (kinds.is_some() && letters.len() > 1) {
                return Err(format!("`{word}` is not one option"));
            }
            for letter in letters {
                if self.short.iter().any(|(own, _)| own == letter) {
                    return Err(format!("`-{}` stands twice", char::from(*letter)));
                }
                self.short.push((*letter, number));
            }
        }
        self.options.push(Opt { values, attached, effect, role });
        Ok(())
    }
}

/// What an option does because of what its values mean.
fn implied(values: &[Kind]) -> Nature {
    let of = |kind: &Kind| match kind {
        Kind::Write | Kind::Destination | Kind::Run | Kind::RemoteWrite | Kind::Until => Nature::Changes,
        Kind::List | Kind::Code | Kind::CodeFile => Nature::Unknown,
        _ => Nature::Reads,
    };
    values.iter().map(of).max().unwrap_or(Nature::Reads)
}

fn nature_of(word: &str) -> Option<Nature> {
    Some(match word {
        "reads" => Nature::Reads,
        "unknown" => Nature::Unknown,
        "changes" => Nature::Changes,
        "destroys" => Nature::Destroys,
        _ => return None,
    })
}

fn next_line(text: &'static str) -> Option<(&'static str, &'static str)> {
    if text.is_empty() {
        return None;
    }
    Some(text.split_once('\n').unwrap_or((text, "")))
}

fn depth(line: &str) -> usize {
    line.len() - line.trim_start_matches(' ').len()
}

/// How many bytes of the text stand deeper than `indent`.
fn block(text: &'static str, indent: usize) -> usize {
    let mut length = 0;
    for line in text.split_inclusive('\n') {
        let bare = line.trim();
        if !bare.is_empty() && !bare.starts_with('#') && depth(line) <= indent {
            break;
        }
        length += line.len();
    }
    length
}

#[derive(Debug, Default)]
struct Table {
    programs: HashMap<&'static str, usize>,
    entries: Vec<Entry>,
    sets: HashMap<&'static str, &'static str>,
}

fn read(files: &[(&'static str, &'static str)]) -> (Table, Vec<String>) {
    let mut table = Table::default();
    let mut mistakes = Vec::new();
    for (file, text) in files {
        let mut rest: &'static str = text;
        while let Some((line, after)) = next_line(rest) {
            rest = after;
            if line.is_empty() || line.starts_with('#') {
                continue;
            }
            let length = block(after, 0);
            let body = &after[..length];
            rest = &after[length..];
            if let Some(name) = line.strip_prefix("options ") {
                table.sets.insert(name.trim(), body);
                continue;
            }
            let Some((names, head)) = line.split_once(" : ") else {
                mistakes.push(format!("{file}: `{line}` has no ` : `"));
                continue;
            };
            for name in names.split_ascii_whitespace() {
                if table.programs.insert(name, table.entries.len()).is_some() {
                    mistakes.push(format!("{file}: `{name}` stands twice"));
                }
            }
            table.entries.push(Entry { head, body, indent: 2, program: OnceLock::new() });
        }
    }
    (table, mistakes)
}

fn table() -> &'static Table {
    static TABLE: OnceLock<Table> = OnceLock::new();
    TABLE.get_or_init(|| read(FILES).0)
}

fn set_lines(name: &str) -> Option<&'static str> {
    table().sets.get(name).copied()
}

/// Looks a program up by its name without directory.
pub(super) fn program(name: &str) -> Option<&'static Program> {
    let table = table();
    table.programs.get(name).map(|at| table.entries[*at].program())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Reads an entry and its subcommands to their ends.
    fn check(name: &str, entry: &Entry, mistakes: &mut Vec<String>, count: &mut usize) {
        *count += 1;
        match Program::parse(entry.head, entry.body, entry.indent) {
            Err(mistake) => mistakes.push(format!("{name}: {mistake}")),
            Ok(program) => {
                for (sub, at) in &program.names {
                    check(&format!("{name} {sub}"), &program.entries[usize::from(*at)], mistakes, count);
                }
            }
        }
    }

    #[test]
    fn the_data_is_well_formed() {
        let (table, mut mistakes) = read(FILES);
        let mut count = 0;
        for (name, at) in &table.programs {
            check(name, &table.entries[*at], &mut mistakes, &mut count);
        }
        mistakes.sort_unstable();
        assert!(mistakes.is_empty(), "{}", mistakes.join("\n"));
        assert!(count > 1000, "{count} programs and subcommands");
    }
}
