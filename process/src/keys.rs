//! Named keys to the bytes a terminal sends for them (xterm, `TERM=xterm-256color`).

use crate::terminal::Modes;

/// Every key that has a name of its own.
pub const NAMES: [&str; 27] = [
    "enter",
    "tab",
    "escape",
    "up",
    "down",
    "left",
    "right",
    "home",
    "end",
    "pageup",
    "pagedown",
    "insert",
    "delete",
    "backspace",
    "space",
    "f1",
    "f2",
    "f3",
    "f4",
    "f5",
    "f6",
    "f7",
    "f8",
    "f9",
    "f10",
    "f11",
    "f12",
];

/// A key name that names no key.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("unknown key `{name}`: {}; the keys are {}, and ctrl-x, alt-x, shift-tab for any x", self.hint(), NAMES.join(" "))]
pub struct UnknownKey {
    /// The name that was given.
    pub name: String,
    /// Names that look like it, nearest first.
    pub near: Vec<String>,
}

impl UnknownKey {
    fn new(name: &str) -> Self {
        let lower = name.to_lowercase();
        let (prefix, base) = match lower.rfind(['-', '+']) {
            Some(at) if at + 1 < lower.len() => lower.split_at(at + 1),
            _ => ("", lower.as_str()),
        };
        let mut near: Vec<(usize, String)> = NAMES
            .iter()
            .map(|known| (distance(base, known), known))
            .filter(|&(far, known)| far <= 1 + known.len() / 3)
            .map(|(far, known)| (far, format!("{prefix}{known}")))
            .filter(|(_, known)| *known != lower && bytes(known, &Modes::default()).is_some())
            .collect();
        if near.is_empty() && !prefix.is_empty() {
            let modifiers = [("ctrl-", "control"), ("alt-", "alt"), ("shift-", "shift")];
            let modifier = prefix.trim_end_matches(['-', '+']);
            near.extend(modifiers.iter().filter_map(|(good, word)| {
                let far = distance(modifier, word).min(distance(modifier, good.trim_end_matches('-')));
                let key = format!("{good}{base}");
                (far <= 2 && bytes(&key, &Modes::default()).is_some()).then_some((far, key))
            }));
        }
        near.sort();
        near.truncate(3);
        Self { name: shown(name), near: near.into_iter().map(|(_, known)| known).collect() }
    }

    fn hint(&self) -> String {
        match self.near.as_slice() {
            [] => "no key is called that".to_owned(),
            near => format!("did you mean `{}`?", near.join("`, `")),
        }
    }
}

/// A name as it can be shown: short, without control characters.
fn shown(name: &str) -> String {
    name.chars().take(40).map(|char| if char.is_control() { '\u{FFFD}' } else { char }).collect()
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct Modifiers {
    shift: bool,
    alt: bool,
    ctrl: bool,
}

impl Modifiers {
    /// The parameter xterm adds to a key's sequence: 1 is none.
    fn param(self) -> u8 {
        1 + u8::from(self.shift) + 2 * u8::from(self.alt) + 4 * u8::from(self.ctrl)
    }
}

/// Gives the bytes of a key: one of [`NAMES`], a single character, or either after `ctrl-`, `alt-`, `shift-`.
///
/// Names are the same in upper and lower case; a single character is meant as it stands, also after `alt-`. Application cursor mode is honoured.
pub fn encode(name: &str, modes: &Modes) -> Result<Vec<u8>, UnknownKey> {
    bytes(name, modes).ok_or_else(|| UnknownKey::new(name))
}

fn bytes(name: &str, modes: &Modes) -> Option<Vec<u8>> {
    let (modifiers, base) = split(name);
    let mut chars = base.chars();
    match (chars.next(), chars.next()) {
        (Some(char), None) => character(char, modifiers),
        _ => named(&base.to_lowercase(), modifiers, modes),
    }
}

/// Takes the modifiers off a name.
fn split(name: &str) -> (Modifiers, &str) {
    let mut modifiers = Modifiers::default();
    let mut rest = name;
    if let Some(char) = name.strip_prefix('^').filter(|char| char.len() == 1) {
        return (Modifiers { ctrl: true, ..modifiers }, char);
    }
    while let Some(at) = rest.find(['-', '+']).filter(|&at| at + 1 < rest.len()) {
        match rest[..at].to_lowercase().as_str() {
            "ctrl" | "control" | "c" => modifiers.ctrl = true,
            "alt" | "meta" | "option" | "m" => modifiers.alt = true,
            "shift" | "s" => modifiers.shift = true,
            _ => break,
        }
        rest = &rest[at + 1..];
    }
    (modifiers, rest)
}

fn character(char: char, modifiers: Modifiers) -> Option<Vec<u8>> {
    if char.is_control() {
        return None;
    }
    let char = match modifiers {
        Modifiers { shift: true, .. } => char.to_uppercase().next().unwrap_or(char),
        _ => char,
    };
    let mut bytes = Vec::new();
    if modifiers.alt {
        bytes.push(0x1b);
    }
    if modifiers.ctrl {
        bytes.push(match char.to_ascii_lowercase() {
            letter @ 'a'..='z' => letter as u8 & 0x1f,
            '@' | ' ' | '2' => 0x00,
            '[' | '3' => 0x1b,
            '\\' | '4' => 0x1c,
            ']' | '5' => 0x1d,
            '^' | '6' => 0x1e,
            '_' | '/' | '-' | '7' => 0x1f,
            '?' | '8' => 0x7f,
            _ => return None,
        });
    } else {
        bytes.extend_from_slice(char.encode_utf8(&mut [0; 4]).as_bytes());
    }
    Some(bytes)
}

fn named(name: &str, modifiers: Modifiers, modes: &Modes) -> Option<Vec<u8>> {
    let simple = |plain: &str| match modifiers {
        Modifiers { ctrl: false, shift: false, alt } => Some([if alt { "\x1b" } else { "" }, plain].concat()),
        _ => None,
    };
    let letter = |last: char, application: bool| match modifiers.param() {
        1 if application => format!("\x1bO{last}"),
        1 => format!("\x1b[{last}"),
        param => format!("\x1b[1;{param}{last}"),
    };
    let tilde = |number: u8| match modifiers.param() {
        1 => format!("\x1b[{number}~"),
        param => format!("\x1b[{number};{param}~"),
    };
    let cursor = modes.application_cursor;
    let text = match name {
        "enter" | "return" => simple("\r")?,
        "escape" | "esc" => simple("\x1b")?,
        "tab" if modifiers == (Modifiers { shift: true, ..Modifiers::default() }) => "\x1b[Z".to_owned(),
        "tab" => simple("\t")?,
        "space" => return character(' ', modifiers),
        "backspace" if modifiers.ctrl => "\x08".to_owned(),
        "backspace" | "bs" => simple("\x7f")?,
        "up" => letter('A', cursor),
        "down" => letter('B', cursor),
        "right" => letter('C', cursor),
        "left" => letter('D', cursor),
        "home" => letter('H', cursor),
        "end" => letter('F', cursor),
        "insert" | "ins" => tilde(2),
        "delete" | "del" => tilde(3),
        "pageup" | "page-up" | "pgup" => tilde(5),
        "pagedown" | "page-down" | "pgdn" | "pgdown" => tilde(6),
        "f1" => letter('P', true),
        "f2" => letter('Q', true),
        "f3" => letter('R', true),
        "f4" => letter('S', true),
        "f5" => tilde(15),
        "f6" => tilde(17),
        "f7" => tilde(18),
        "f8" => tilde(19),
        "f9" => tilde(20),
        "f10" => tilde(21),
        "f11" => tilde(23),
        "f12" => tilde(24),
        _ => return None,
    };
    Some(text.into_bytes())
}

/// The edit distance with neighbours swapped (optimal string alignment); long strings are far from everything.
fn distance(a: &str, b: &str) -> usize {
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().take(32).collect(), b.chars().collect());
    let mut before = vec![0; b.len() + 1];
    let mut last: Vec<usize> = (0..=b.len()).collect();
    for i in 1..=a.len() {
        let mut row = vec![i; b.len() + 1];
        for j in 1..=b.len() {
            let change = usize::from(a[i - 1] != b[j - 1]);
            row[j] = (last[j] + 1).min(row[j - 1] + 1).min(last[j - 1] + change);
            if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                row[j] = row[j].min(before[j - 2] + 1);
            }
        }
        before = std::mem::replace(&mut last, row);
    }
    last[b.len()]
}
