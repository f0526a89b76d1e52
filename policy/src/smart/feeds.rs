//! Downloads and decoded texts that go straight into a shell or interpreter: nobody has seen what would run.

use std::borrow::Cow;

use super::Reason;
use crate::analysis::wrappers::{ShellCall, base_name, is_shell};
use crate::analysis::{CommandAnalysis, RedirectKind, Segment, Stdin, Word, WordPart};

/// Programs that print what comes from elsewhere.
const DOWNLOADERS: &[&str] = &[
    "curl", "wget", "wget2", "fetch", "aria2c", "http", "https", "xh", "xhs", "curlie", "axel", "lynx", "w3m", "links",
    "elinks", "nc", "ncat", "netcat", "socat", "telnet", "dig", "nslookup", "host", "drill", "tftp", "ftp", "GET",
];

/// Interpreters, with the letters of options after which the next word is code, and those options in full.
const INTERPRETERS: &[(&str, &str, &[&str])] = &[
    ("python", "cm", &[]),
    ("pypy", "cm", &[]),
    ("perl", "eE", &[]),
    ("ruby", "e", &[]),
    ("node", "ep", &["--eval", "--print"]),
    ("nodejs", "ep", &["--eval", "--print"]),
    ("bun", "ep", &["--eval", "--print"]),
    ("deno", "", &[]),
    ("php", "rBRE", &["--run"]),
    ("lua", "e", &[]),
    ("luajit", "e", &[]),
    ("Rscript", "e", &[]),
    ("julia", "eE", &["--eval", "--print"]),
    ("osascript", "e", &[]),
    ("tclsh", "", &[]),
    ("guile", "c", &[]),
    ("groovy", "e", &[]),
    ("elixir", "e", &["--eval"]),
];

/// What runs unseen, and why.
pub(super) fn find(analysis: &CommandAnalysis) -> Option<Reason<'_>> {
    let segments = &analysis.segments;
    let mut tainted: Vec<&str> = Vec::new();
    let mut foreign = false;
    for segment in segments {
        if gives_away_shell(segment) {
            return Some((Some(segment), Cow::Borrowed("it gives a shell to another machine")));
        }
        foreign |= brings(segment);
    }
    if !foreign {
        return None;
    }
    let reason = |segment| {
        let why = "what is downloaded or decoded would run without anybody having seen it";
        Some((Some(segment), Cow::Borrowed(why)))
    };
    for (number, _) in segments.iter().enumerate().filter(|(_, segment)| brings(segment)) {
        if let Some(runs) = climb(analysis, number, &mut tainted) {
            return reason(runs);
        }
    }
    // The last segment so far that brings something.
    let mut last = None;
    for (number, segment) in segments.iter().enumerate() {
        let piped = matches!(segment.stdin, Stdin::Pipe(first) if last.is_some_and(|last| last >= first));
        if piped && matches!(segment.program(), Some("read" | "mapfile" | "readarray")) {
            tainted.extend(segment.words.iter().skip(1).filter_map(Word::value).filter(|name| !name.starts_with('-')));
        }
        let carries = |word: &Word| carries(word, &tainted);
        let carrying = !tainted.is_empty() && segment.words.iter().any(carries);
        if carrying && segment.words.iter().enumerate().any(|(at, word)| carries(word) && runs_word(segment, at)) {
            return reason(segment);
        }
        if reads_its_program(segment) {
            let fed = segment.redirects.iter().any(|redirect| redirect.feeds_stdin() && carries(&redirect.target));
            if piped || fed || is_poured_into(segments, segment) {
                return reason(segment);
            }
        }
        if carrying || brings(segment) {
            last = Some(number);
        }
    }
    None
}

/// Whether a word has the value of a variable with something from elsewhere.
fn carries(word: &Word, tainted: &[&str]) -> bool {
    let foreign = |part: &WordPart| matches!(part, WordPart::Variable { name, .. } if tainted.contains(&name.as_str()));
    word.parts.iter().any(foreign)
}

/// `curl ... > >(sh)`: whether the command that holds the segment in a substitution for its output brings something.
fn is_poured_into(segments: &[Segment], segment: &Segment) -> bool {
    let Some(outer) = segment.within.and_then(|within| segments.get(within.segment)) else { return false };
    let mut targets = outer.redirects.iter().map(|redirect| &redirect.target).chain(&outer.words);
    brings(outer) && targets.any(|word| word.text.starts_with(">("))
}

/// Whether a segment prints something that comes from elsewhere, or that was written so that nobody reads it.
fn brings(segment: &Segment) -> bool {
    let Some(name) = segment.program() else { return false };
    let arguments = || segment.words.iter().skip(1).map(|word| word.text.as_str());
    let decodes = match name {
        "base64" | "gbase64" | "base32" | "basenc" => arguments().any(|text| {
            text.starts_with("--d") || text.starts_with('-') && !text.starts_with("--") && text.contains(['d', 'D'])
        }),
        "openssl" => arguments().any(|text| matches!(text, "-d" | "s_client" | "-D")),
        "xxd" => arguments().any(|text| text.starts_with("-r") || text == "--revert" || text == "-ps" || text == "-p"),
        "uudecode" => true,
        _ => DOWNLOADERS.contains(&name),
    };
    decodes || segment.redirects.iter().any(|redirect| is_network(&redirect.target.text))
}

fn is_network(path: &str) -> bool {
    path.starts_with("/dev/tcp/") || path.starts_with("/dev/udp/")
}

/// A shell whose input or output is a connection.
fn gives_away_shell(segment: &Segment) -> bool {
    let Some(name) = segment.program() else { return false };
    if is_shell(name) || interpreter(name).is_some() {
        return segment.redirects.iter().any(|redirect| is_network(&redirect.target.text));
    }
    if !matches!(name, "nc" | "ncat" | "netcat" | "nc.traditional") {
        return false;
    }
    let mut arguments = segment.words.iter().skip(1).map(|word| word.text.as_str());
    arguments.any(|text| {
        matches!(text, "--exec" | "--sh-exec" | "--lua-exec")
            || text.starts_with("--exec=")
            || text.starts_with("--sh-exec=")
            || text.starts_with('-') && !text.starts_with("--") && text.contains(['e', 'c'])
    })
}

/// Follows the output of a substitution outwards to where it is run; notes the variables that get it.
fn climb<'a>(analysis: &'a CommandAnalysis, from: usize, tainted: &mut Vec<&'a str>) -> Option<&'a Segment> {
    let segments = &analysis.segments;
    let mut current = from;
    while let Some(segment) = segments.get(current) {
        let Some(within) = segment.within else {
            current = segment.wrapper?;
            continue;
        };
        let outer = segments.get(within.segment)?;
        // What the outer command wraps has the same words.
        let family = || {
            let behind = segments.iter().skip(within.segment + 1);
            let wrapped = behind.take_while(|inner| inner.wrapper.is_some_and(|own| own >= within.segment));
            std::iter::once(outer).chain(wrapped)
        };
        match within.word {
            Some(at) => {
                let word = outer.words.get(at)?;
                let runs = family().find(|member| {
                    let at = member.words.iter().position(|own| own.span == word.span && own.text == word.text);
                    at.is_some_and(|at| runs_word(member, at))
                });
                if runs.is_some() {
                    return runs;
                }
            }
            None => {
                let feeds = outer.redirects.iter().any(|redirect| {
                    redirect.feeds_stdin()
                        && (redirect.kind == RedirectKind::Text || redirect.target.parts.contains(&WordPart::Process))
                });
                if feeds && let Some(member) = family().find(|member| reads_its_program(member)) {
                    return Some(member);
                }
                tainted.extend(outer.assignments.iter().map(|assignment| assignment.name.as_str()));
            }
        }
        // A declaration is a word: `export X=$(curl ...)`.
        if let Some(name) = within.word.and_then(|at| outer.words.get(at)).and_then(|word| assigned(&word.text))
            && matches!(outer.program(), Some("export" | "declare" | "typeset" | "local" | "readonly"))
        {
            tainted.push(name);
        }
        current = within.segment;
    }
    None
}

fn assigned(text: &str) -> Option<&str> {
    text.split_once('=').map(|(name, _)| name)
}

/// Whether a word, which starts with something dynamic where it counts, is run as a command or as code.
fn runs_word(segment: &Segment, at: usize) -> bool {
    let Some(word) = segment.words.get(at) else { return false };
    if at == 0 {
        return begins_command(word);
    }
    let Some(name) = segment.program() else { return false };
    let arguments = &segment.words[1..];
    let same = |other: Option<&Word>| other.is_some_and(|other| other.span == word.span && other.text == word.text);
    if is_shell(name) {
        let call = ShellCall::read(arguments);
        return same(call.script) && begins_command(word) || same(call.file) && is_process(word);
    }
    match name {
        "eval" => return at == 1 && begins_command(word),
        "source" | "." => return at == 1,
        "trap" => return at == 1 && begins_command(word),
        _ => {}
    }
    let Some((letters, long)) = interpreter(name) else { return false };
    let before = segment.words[at - 1].text.as_str();
    let code = long.contains(&before)
        || before.starts_with('-') && !before.starts_with("--") && before.ends_with(|last| letters.contains(last));
    code && begins_command(word) || is_process(word)
}

/// Whether a word is code whose first command comes of an expansion.
fn begins_command(word: &Word) -> bool {
    let mut before = String::new();
    for part in &word.parts {
        match part {
            WordPart::Literal(text) => before.push_str(text),
            WordPart::Variable { .. } | WordPart::Expansion { .. } | WordPart::Process => {
                let before = before.trim_end_matches([' ', '\t']);
                return before.is_empty() || before.ends_with([';', '|', '&', '(', '{', '\n', '=', '!']);
            }
            _ => return false,
        }
    }
    false
}

fn is_process(word: &Word) -> bool {
    word.parts.contains(&WordPart::Process)
}

fn interpreter(name: &str) -> Option<(&'static str, &'static [&'static str])> {
    let stem = base_name(name).trim_end_matches(|c: char| c.is_ascii_digit() || c == '.');
    INTERPRETERS.iter().find(|(own, ..)| *own == stem).map(|(_, letters, long)| (*letters, *long))
}

/// Whether a segment takes its commands from standard input.
fn reads_its_program(segment: &Segment) -> bool {
    let Some(name) = segment.program() else { return false };
    let arguments = &segment.words[1..];
    let stdin = |word: &Word| matches!(&*word.text, "-" | "/dev/stdin" | "/dev/fd/0" | "/proc/self/fd/0");
    if is_shell(name) {
        let call = ShellCall::read(arguments);
        return !call.command && !call.informs && (call.stdin || call.file.is_none_or(stdin));
    }
    if matches!(name, "source" | ".") {
        return arguments.first().is_some_and(stdin);
    }
    let Some((letters, long)) = interpreter(name) else { return false };
    for (at, word) in arguments.iter().enumerate() {
        let text = word.text.as_str();
        if stdin(word) {
            return true;
        }
        if at == 0 && text == "run" && matches!(name, "deno" | "bun") {
            continue;
        }
        if !text.starts_with('-') {
            return false;
        }
        let code = long.iter().any(|option| text.starts_with(option))
            || !text.starts_with("--") && text[1..].contains(|letter| letters.contains(letter))
            || matches!(text, "--version" | "--help" | "-V" | "-h" | "-v");
        if code {
            return false;
        }
    }
    true
}
