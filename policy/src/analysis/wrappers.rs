//! What a command line makes another program run: wrappers' arguments, inner scripts, `find -exec`.

mod added;
mod runner;
mod scripts;
mod shell_call;
pub(crate) mod table;

use std::borrow::Cow;

use super::added::Added;
use super::tree::Word;
use scripts::{benchmarks, debugged, option_script};
pub(crate) use shell_call::ShellCall;
pub use table::Reach;
use table::{SHELLS, SOMEWHERE, SUBCOMMANDS, WRAPPERS, Wrapper};

/// What a wrapper runs.
#[derive(Clone, Debug)]
pub(crate) enum Inner {
    /// A command line.
    Command { words: Vec<Word>, reach: Reach },
    /// A script for a shell; `bash` tells whether it is read as bash reads it.
    Script { text: String, bash: bool, reach: Reach, operands: Operands },
}

impl Inner {
    /// The text of a script.
    pub(crate) fn script(&self) -> Option<&str> {
        match self {
            Self::Script { text, .. } => Some(text),
            Self::Command { .. } => None,
        }
    }
}

/// The positional parameters of an inner script.
#[derive(Clone, Debug)]
pub(crate) enum Operands {
    /// Its own, `$0` first.
    Own(Vec<Word>),
    /// Those of the script around it.
    Outer,
}

/// What a command line contains beyond itself.
#[derive(Clone, Debug, Default)]
pub(crate) struct Unwrapped {
    pub(crate) inner: Vec<Inner>,
    /// Why it is not known what runs.
    pub(crate) doubt: Option<&'static str>,
    /// Variables that a wrapper sets.
    pub(crate) sets: Vec<String>,
    /// What it adds to the words of what it runs.
    pub(crate) added: Added,
}

/// The last component of a program's path.
pub(crate) fn base_name(path: &str) -> &str {
    // Names are short: a look at each byte is faster than a search.
    match path.bytes().rposition(|byte| byte == b'/') {
        Some(at) => &path[at + 1..],
        None => path,
    }
}

/// The last bytes of shells' names.
const SHELL_ENDS: [bool; 256] = {
    let mut ends = [false; 256];
    let mut at = 0;
    while at < SHELLS.len() {
        let name = SHELLS[at].as_bytes();
        ends[name[name.len() - 1] as usize] = true;
        at += 1;
    }
    ends
};

/// Whether a program is a shell.
pub(crate) fn is_shell(name: &str) -> bool {
    let base = base_name(name).trim_start_matches('-');
    // This is asked of every word that may be a program, and few end as shells do.
    let Some(last) = base.bytes().next_back() else { return false };
    if SHELL_ENDS[usize::from(last)] && SHELLS.contains(&base) {
        return true;
    }
    let versioned = base.ends_with(|last: char| last.is_ascii_digit() || matches!(last, '.' | '-'));
    versioned
        && base.rsplit_once('-').is_some_and(|(stem, version)| {
            SHELLS.contains(&stem) && version.bytes().all(|b| b.is_ascii_digit() || b == b'.')
        })
}

/// The entry of a plain wrapper.
pub(crate) fn wrapper(name: &str) -> Option<&'static Wrapper> {
    WRAPPERS.iter().find(|wrapper| wrapper.name == name)
}

/// Looks one level into a command line.
pub(crate) fn unwrap(words: &[Word]) -> Unwrapped {
    let mut found = Unwrapped::default();
    let Some(name) = words.first().and_then(Word::value) else { return found };
    let name = base_name(name);
    let arguments = &words[1..];
    match name {
        "command" => command_builtin(arguments, &mut found),
        "eval" => script(join(arguments), true, Reach::Through, arguments, &mut found),
        "trap" => trap(arguments, &mut found),
        "alias" => aliases(arguments, &mut found),
        "env" => env(arguments, 0, &mut found),
        "find" | "gfind" | "fd" | "fdfind" => find(arguments, &mut found),
        "watch" => watch(arguments, &mut found),
        "hyperfine" => benchmarks(arguments, &mut found),
        "gdb" | "lldb" => debugged(arguments, &mut found),
        "script" => option_script(arguments, "c", "command", "EIBOTmto", &mut found),
        "su" => option_script(arguments, "c", "command", "gGswU", &mut found),
        "nix-shell" => option_script(arguments, "", "run", "pIAE", &mut found),
        "parallel" => parallel(arguments, &mut found),
        "git" => git_alias(arguments, &mut found),
        "ssh" => ssh(arguments, &mut found),
        _ if name.starts_with("ld-linux") || name.starts_with("ld-musl") || name == "ld.so" => {
            found.inner.push(Inner::Command { words: after_options(arguments, &[]), reach: Reach::Both });
        }
        _ if is_shell(name) => shell(name, arguments, &mut found),
        _ => {
            if let Some(wrapper) = wrapper(name) {
                plain(wrapper, arguments, &mut found);
            }
            if SOMEWHERE.contains(&name) {
                guess(arguments, &mut found);
            }
            runner::runner(name, arguments, &mut found);
        }
    }
    found.inner.retain(|inner| match inner {
        Inner::Command { words, .. } => !words.is_empty(),
        Inner::Script { text, .. } => !text.trim().is_empty(),
    });
    found
}

/// The command line without the options before its subcommand, for rules that deny.
pub(crate) fn without_global_options(words: &[Word]) -> Option<Vec<Word>> {
    let name = base_name(words.first()?.value()?);
    let (_, short, long) = SUBCOMMANDS.iter().find(|(program, ..)| *program == name)?;
    let mut rest = &words[1..];
    // `cargo +nightly test`
    if name == "cargo" && rest.first().is_some_and(|w| w.text.starts_with('+')) {
        rest = &rest[1..];
    }
    let (count, _) = options(rest, short, long);
    let skipped = words.len() - 1 - rest.len() + count;
    if skipped == 0 {
        return None;
    }
    let mut shortened = vec![words[0].clone()];
    shortened.extend_from_slice(&words[1 + skipped..]);
    Some(shortened)
}

/// How many words are options and their values, and whether all of them were known.
pub(crate) fn options(words: &[Word], short: &str, long: &[&str]) -> (usize, bool) {
    let mut index = 0;
    while let Some(word) = words.get(index) {
        let Some(text) = word.value() else { return (index, false) };
        if text == "--" {
            return (index + 1, true);
        }
        if let Some(option) = text.strip_prefix("--") {
            let takes = !option.contains('=') && long.iter().any(|l| l.starts_with(option));
            index += if takes { 2 } else { 1 };
        } else if text.len() > 1 && text.starts_with('-') {
            let cluster = &text[1..];
            let value = cluster.char_indices().find(|(_, c)| short.contains(*c));
            let separate = value.is_some_and(|(at, c)| at + c.len_utf8() == cluster.len());
            index += if separate { 2 } else { 1 };
        } else {
            break;
        }
    }
    (index.min(words.len()), true)
}

fn after_options(words: &[Word], long: &[&str]) -> Vec<Word> {
    words[options(words, "", long).0..].to_vec()
}

/// Whether a word is `NAME=value`.
pub(crate) fn assigned_name(text: &str) -> Option<&str> {
    let (name, _) = text.split_once('=')?;
    super::compound::is_name(name).then_some(name)
}

fn plain(wrapper: &Wrapper, arguments: &[Word], found: &mut Unwrapped) {
    let (mut index, known) = options(arguments, wrapper.short, wrapper.long);
    let mut reach = wrapper.reach;
    if wrapper.name == "sudo" && sudo_lists(&arguments[..index]) {
        return;
    }
    if !known && wrapper.reach != Reach::DenyOnly {
        guess(&arguments[index..], found);
        found.doubt = Some("options of a wrapper that are known only when it runs");
        return;
    }
    while wrapper.assigns
        && let Some(name) = arguments.get(index).and_then(|word| assigned_name(&word.text))
    {
        found.sets.push(name.to_owned());
        index += 1;
    }
    let mut operands = wrapper.operands;
    if wrapper.name == "setarch"
        && arguments.get(index).and_then(Word::value).is_some_and(|word| {
            !word.contains("86")
                && !word.starts_with("linux")
                && !word.starts_with("arm")
                && !word.starts_with("aarch")
                && !word.starts_with("uname")
        })
    {
        operands = 0;
    }
    let operand_words = arguments.get(index..index + operands).unwrap_or_default();
    if operand_words.iter().any(Word::may_split) {
        found.doubt = Some("an operand of a wrapper that is known only when it runs");
        guess(&arguments[index..], found);
        return;
    }
    index += operands;
    if wrapper.name == "flock" && arguments.get(index).is_some_and(|w| matches!(w.text.as_str(), "-c" | "--command")) {
        let rest = &arguments[index + 1..];
        script(join(rest), false, Reach::Both, rest, found);
        return;
    }
    if wrapper.name == "xargs"
        && arguments[..index.min(arguments.len())]
            .iter()
            .any(|w| w.text.starts_with("-a") || w.text.starts_with("--arg-file"))
    {
        reach = Reach::Both;
    }
    let rest = arguments.get(index..).unwrap_or_default();
    if wrapper.name == "xargs" {
        found.added = added::by_xargs(&arguments[..index.min(arguments.len())]);
    }
    if wrapper.name == "xargs" && rest.is_empty() {
        found.inner.push(Inner::Command { words: vec![Word::literal("echo")], reach });
        return;
    }
    // Options may follow the operands: `flock l -n cmd` is not one of them, `timeout 5 -- cmd` is.
    let rest = if rest.first().is_some_and(|word| word.text == "--") { &rest[1..] } else { rest };
    found.inner.push(Inner::Command { words: rest.to_vec(), reach });
}

fn sudo_lists(options: &[Word]) -> bool {
    options.iter().any(|word| {
        matches!(word.text.as_str(), "--list" | "--validate" | "--remove-timestamp" | "--edit" | "--version" | "--help")
            || matches!(word.text.as_str(), "-l" | "-ll" | "-v" | "-K" | "-e" | "-V")
    })
}

/// Any rest of the words may be what runs; enough of it to match a rule.
fn guess(words: &[Word], found: &mut Unwrapped) {
    const STARTS: usize = 16;
    const WORDS: usize = 32;
    for start in 0..words.len().min(STARTS) {
        let rest = &words[start..words.len().min(start + WORDS)];
        found.inner.push(Inner::Command { words: rest.to_vec(), reach: Reach::DenyOnly });
    }
}

fn command_builtin(arguments: &[Word], found: &mut Unwrapped) {
    let (index, known) = options(arguments, "", &[]);
    let asks = arguments[..index].iter().any(|w| w.text.starts_with('-') && w.text.contains(['v', 'V']));
    if asks {
        return;
    }
    if !known {
        found.doubt = Some("options of a wrapper that are known only when it runs");
        guess(&arguments[index..], found);
        return;
    }
    found.inner.push(Inner::Command { words: arguments[index..].to_vec(), reach: Reach::Through });
}

fn env(arguments: &[Word], splits: usize, found: &mut Unwrapped) {
    const MOST_SPLITS: usize = 4;
    if splits > MOST_SPLITS {
        found.doubt = Some("`env -S` inside itself");
        return;
    }
    // `-S` splits its value into further arguments, and everything behind it follows.
    for (index, word) in arguments.iter().enumerate() {
        let text = word.text.as_str();
        let attached = text.strip_prefix("--split-string=").or_else(|| {
            text.strip_prefix('-').filter(|t| !t.starts_with('-')).and_then(|t| {
                let at = t.find('S')?;
                t[..at].bytes().all(|b| b"iv0".contains(&b)).then_some(&t[at + 1..])
            })
        });
        let (value, next) = match attached {
            Some("") => (arguments.get(index + 1).map(|w| w.text.clone()), index + 2),
            Some(value) => (Some(value.to_owned()), index + 1),
            None if text == "--split-string" => (arguments.get(index + 1).map(|w| w.text.clone()), index + 2),
            None if text.starts_with('-') || assigned_name(text).is_some() => continue,
            None => break,
        };
        let Some(value) = value else { return };
        if arguments[..next.min(arguments.len())].iter().any(Word::is_dynamic) || value.contains(['$', '\\']) {
            found.doubt = Some("`env -S` with an expansion");
        }
        let mut split = split_string(&value);
        split.extend_from_slice(arguments.get(next..).unwrap_or_default());
        let mut inner = Unwrapped::default();
        env(&split, splits + 1, &mut inner);
        for inner in inner.inner {
            found.inner.push(match inner {
                Inner::Command { words, .. } => Inner::Command { words, reach: Reach::Both },
                other => other,
            });
        }
        found.sets.extend(inner.sets);
        found.doubt = found.doubt.or(inner.doubt);
        return;
    }
    let env = wrapper("env").expect("the table has env");
    let (index, _) = options(arguments, env.short, env.long);
    plain(env, arguments, found);
    // `env -i` and `env -u` change what the command finds.
    if arguments[..index].iter().any(|w| w.text.starts_with('-') && w.text != "--") {
        for inner in &mut found.inner {
            if let Inner::Command { reach, .. } = inner
                && *reach == Reach::Through
            {
                *reach = Reach::Both;
            }
        }
    }
}

/// Splits as `env -S` does, for plain text and quotes.
fn split_string(text: &str) -> Vec<Word> {
    let mut words = Vec::new();
    let mut current: Option<String> = None;
    let mut quote = None;
    for character in text.chars() {
        match quote {
            Some(open) if character == open => quote = None,
            Some(_) => current.get_or_insert_default().push(character),
            None if character == '\'' || character == '"' => {
                quote = Some(character);
                current.get_or_insert_default();
            }
            None if character.is_ascii_whitespace() => words.extend(current.take().map(Word::literal)),
            None => current.get_or_insert_default().push(character),
        }
    }
    words.extend(current.map(Word::literal));
    words
}

fn find(arguments: &[Word], found: &mut Unwrapped) {
    let mut index = 0;
    while let Some(word) = arguments.get(index) {
        index += 1;
        let runs = matches!(
            word.text.as_str(),
            "-exec" | "-execdir" | "-ok" | "-okdir" | "-x" | "-X" | "--exec" | "--exec-batch"
        );
        if !runs {
            if word.is_dynamic() && word.may_split() && word.text.contains('{') {
                found.doubt = Some("arguments of `find` that are known only when it runs");
            }
            continue;
        }
        let rest = &arguments[index..];
        let end = rest.iter().position(|w| matches!(w.text.as_str(), ";" | "+")).unwrap_or(rest.len());
        found.added = added::by_find(&word.text, &rest[..end]);
        found.inner.push(Inner::Command { words: rest[..end].to_vec(), reach: Reach::Both });
        index += end;
    }
}

fn watch(arguments: &[Word], found: &mut Unwrapped) {
    let (index, _) = options(arguments, "nq", &["interval", "equexit"]);
    let rest = &arguments[index..];
    script(join(rest), false, Reach::Both, rest, found);
}

fn parallel(arguments: &[Word], found: &mut Unwrapped) {
    let (index, _) = options(arguments, "jaIdNnLSP", &["jobs", "arg-file", "delimiter", "max-args", "sshlogin"]);
    let rest = &arguments[index..];
    let end = rest.iter().position(|w| w.text.starts_with(":::")).unwrap_or(rest.len());
    script(join(&rest[..end]), false, Reach::Both, &rest[..end], found);
    found.doubt = Some("a script that is known only when it runs");
}

fn trap(arguments: &[Word], found: &mut Unwrapped) {
    let (index, _) = options(arguments, "", &[]);
    let Some(action) = arguments.get(index) else { return };
    if arguments.len() > index + 1 && action.text != "-" {
        script(Cow::Borrowed(&action.text), true, Reach::Both, std::slice::from_ref(action), found);
    }
}

fn aliases(arguments: &[Word], found: &mut Unwrapped) {
    for word in arguments {
        if let Some((_, value)) = word.text.split_once('=') {
            found.inner.push(Inner::Script {
                text: value.trim_matches(['\'', '"']).to_owned(),
                bash: true,
                reach: Reach::DenyOnly,
                operands: Operands::Outer,
            });
        }
    }
}

fn git_alias(arguments: &[Word], found: &mut Unwrapped) {
    for pair in arguments.windows(2) {
        let value = pair[1].text.split_once("=!").map(|(_, value)| value);
        if let (true, Some(value)) = (pair[0].text == "-c", value) {
            found.inner.push(Inner::Script {
                text: value.to_owned(),
                bash: false,
                reach: Reach::Both,
                operands: Operands::Own(Vec::new()),
            });
        }
    }
}

fn ssh(arguments: &[Word], found: &mut Unwrapped) {
    const VALUES: &str = "BbcDEeFIiJLlmOopQRSWw";
    let (index, _) = options(arguments, VALUES, &[]);
    let rest = arguments.get(index + 1..).unwrap_or_default();
    // Options may follow the host.
    let rest = &rest[options(rest, VALUES, &[]).0..];
    if !rest.is_empty() {
        found.inner.push(Inner::Script {
            text: join(rest).into_owned(),
            bash: false,
            reach: Reach::DenyOnly,
            operands: Operands::Own(Vec::new()),
        });
    }
}

fn shell(name: &str, arguments: &[Word], found: &mut Unwrapped) {
    let call = ShellCall::read(arguments);
    if !call.known {
        found.doubt = Some("options of a shell that are known only when it runs");
        guess(arguments, found);
    }
    if let Some(text) = call.script {
        let bash = matches!(name, "bash" | "rbash");
        let reach = if call.plain { Reach::Through } else { Reach::Both };
        script(Cow::Borrowed(&text.text), bash, reach, std::slice::from_ref(text), found);
        if let Some(Inner::Script { operands, .. }) = found.inner.last_mut() {
            *operands = Operands::Own(call.operands.to_vec());
        }
    }
}

fn join(words: &[Word]) -> Cow<'_, str> {
    match words {
        [word] => Cow::Borrowed(&word.text),
        words => Cow::Owned(words.iter().map(|w| w.text.as_str()).collect::<Vec<_>>().join(" ")),
    }
}

fn script(text: Cow<'_, str>, bash: bool, reach: Reach, from: &[Word], found: &mut Unwrapped) {
    if from.iter().any(Word::is_dynamic) {
        found.doubt = Some("a script that is known only when it runs");
    }
    found.inner.push(Inner::Script { text: text.into_owned(), bash, reach, operands: Operands::Outer });
}
