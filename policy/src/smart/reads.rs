//! What keeps a command line from being one that only reads.

use std::borrow::Cow;
use std::path::{Component, Path};

use tool_api::CommandKind;

use super::{Reason, Scene};
use crate::analysis::wrappers::is_shell;
use crate::analysis::{CommandAnalysis, Reach, Redirect, RedirectKind, Segment, Word, WordPart};
use crate::judge::is_harmless;
use crate::programs::{Call, Nature};

/// Wrappers that change nothing about what runs.
const TRANSPARENT: &[&str] = &["timeout", "gtimeout", "nice", "stdbuf", "ionice", "command", "env"];

/// Programs that take orders from whoever types into them, though they only read.
const TAKE_ORDERS: &[&str] = &[
    "less", "more", "most", "pg", "man", "info", "pinfo", "top", "htop", "btop", "atop", "iotop", "nmon", "watch",
    "bat", "batcat", "delta", "view", "vim", "vi", "nano", "emacs", "lnav", "tig", "k9s", "fzf", "sk", "ncdu",
    "ranger", "gdb", "lynx", "w3m", "links", "sqlite3", "psql", "mysql",
];

/// Programs whose configuration in the current directory can make them run something.
const CONFIGURED_BY_DIRECTORY: &[&str] = &[
    "git",
    "hg",
    "svn",
    "jj",
    "sl",
    "fossil",
    "bzr",
    "gh",
    "glab",
    "tig",
    "delta",
    "cargo",
    "rustc",
    "rustup",
    "go",
    "npm",
    "npx",
    "pnpm",
    "yarn",
    "bun",
    "node",
    "deno",
    "python",
    "python3",
    "pip",
    "pip3",
    "poetry",
    "uv",
    "ruby",
    "bundle",
    "gem",
    "mix",
    "make",
    "just",
    "task",
    "cmake",
    "ninja",
    "gradle",
    "mvn",
    "terraform",
    "direnv",
    "mise",
    "asdf",
    "pre-commit",
    "gdb",
    "vim",
    "nvim",
    "emacs",
    "dotnet",
    "php",
    "composer",
    "tsc",
    "eslint",
    "prettier",
];

/// Builtins that change what later commands mean, whoever allowed them.
const CHANGE_STATE: &[&str] = &[
    "export",
    "declare",
    "typeset",
    "local",
    "readonly",
    "alias",
    "unalias",
    "hash",
    "enable",
    "set",
    "shopt",
    "trap",
    "source",
    ".",
    "eval",
    "exec",
    "unset",
    "read",
    "mapfile",
    "readarray",
    "getopts",
    "printf",
    "builtin",
    "disown",
];

/// Programs whose arguments change with what they read.
const APPENDING: &[&str] = &["xargs", "gxargs"];

/// The first thing that keeps it from being safe.
pub(super) fn obstacle<'a>(
    analysis: &'a CommandAnalysis,
    scene: &Scene<'_>,
    settled: &dyn Fn(usize) -> bool,
) -> Option<Reason<'a>> {
    let whole = |why: &'static str| Some((None, Cow::Borrowed(why)));
    if let Some(error) = &analysis.syntax_error {
        return Some((None, Cow::Owned(format!("it does not parse: {error}"))));
    }
    if let Some(doubt) = &analysis.doubt {
        return Some((None, Cow::Owned(format!("it is not understood completely: {doubt}"))));
    }
    if analysis.written().next().is_none() {
        return whole("it holds no command");
    }
    if !analysis.functions.is_empty() {
        return whole("it defines a function, which may stand for another command");
    }
    if analysis.assigns {
        return whole("an expansion sets a variable that can change what runs");
    }
    if analysis.coprocess {
        return whole("it has a coprocess");
    }
    let counted = || analysis.segments.iter().enumerate().filter(|(_, segment)| segment.reach != Reach::DenyOnly);
    let mut every_settled = true;
    for (number, segment) in counted() {
        if settled(number) {
            let changes = segment.call.nature != Nature::Reads
                && segment.program().is_some_and(|name| CHANGE_STATE.contains(&name));
            if changes || segment.words.is_empty() && !plain_assignments(segment) {
                return Some((Some(segment), Cow::Borrowed("it can change what other commands mean")));
            }
            continue;
        }
        every_settled = false;
        if let Some(why) = own_obstacle(analysis, number, segment, scene) {
            return Some((Some(segment), why));
        }
    }
    if !every_settled && let Some(why) = analysis.redirects.iter().find_map(redirect_obstacle) {
        return Some((None, why));
    }
    if analysis.loops.iter().any(|assignment| !is_plain_name(&assignment.name) && !is_harmless(&assignment.name)) {
        return whole("a loop sets a variable that can change what runs");
    }
    let goes = counted().any(|(_, segment)| leaves(segment, scene));
    let configured = || {
        counted()
            .map(|(_, segment)| segment)
            .find(|segment| segment.program().is_some_and(|name| CONFIGURED_BY_DIRECTORY.contains(&name)))
    };
    if goes && let Some(segment) = configured() {
        let why = "what is configured in another directory can make it run something";
        return Some((Some(segment), Cow::Borrowed(why)));
    }
    if !every_settled
        && let Some(segment) = configured()
        && holds_repository(scene)
    {
        let why = "the directory holds a repository of its own, whose configuration can make it run something";
        return Some((Some(segment), Cow::Borrowed(why)));
    }
    None
}

/// Whether a segment alone only reads.
pub(super) fn segment(analysis: &CommandAnalysis, scene: &Scene<'_>, number: usize) -> bool {
    analysis.segments.get(number).is_some_and(|segment| own_obstacle(analysis, number, segment, scene).is_none())
}

fn own_obstacle<'a>(
    analysis: &CommandAnalysis,
    number: usize,
    segment: &'a Segment,
    scene: &Scene<'_>,
) -> Option<Cow<'a, str>> {
    if segment.words.is_empty() {
        if !plain_assignments(segment) {
            return Some(Cow::Borrowed("it sets a variable that can change what runs"));
        }
        return segment.redirects.iter().find_map(redirect_obstacle);
    }
    let names = segment.assignments.iter().map(|assignment| &assignment.name).chain(&segment.sets);
    if let Some(name) = names.into_iter().find(|name| !is_harmless(name)) {
        return Some(Cow::Owned(format!("`{}` is set, which can change what runs", crate::visible(name))));
    }
    // A locale with a directory in its name is a file that programs load.
    let locale = |name: &str| name.starts_with("LC_") || name.starts_with("LANG");
    if segment.assignments.iter().any(|assignment| locale(&assignment.name) && assignment.value.text.contains('/')) {
        return Some(Cow::Borrowed("it sets a locale that is a file"));
    }
    if let Some(why) = segment.redirects.iter().find_map(redirect_obstacle) {
        return Some(why);
    }
    if !is_system_program(segment.words[0].value().unwrap_or_default()) {
        return Some(Cow::Borrowed("it is a program of that directory, whatever its name is"));
    }
    let program = segment.program().unwrap_or_default();
    if scene.kind == CommandKind::Interactive && TAKE_ORDERS.contains(&program) {
        return Some(Cow::Borrowed("it stays open, and what is typed into it can run something"));
    }
    if APPENDING.contains(&program) {
        return appending(analysis, number, segment);
    }
    let through = || {
        (TRANSPARENT.contains(&program) || is_shell(program)) && {
            let mut inner = inner(analysis, number).peekable();
            inner.peek().is_some() && inner.all(|inner| inner.reach == Reach::Through)
        }
    };
    if segment.call.nature == Nature::Reads && !is_shell(program) || through() {
        return None;
    }
    Some(why_not(&segment.call))
}

/// Whether a name is looked up in the search path, or names a directory of the system's programs.
fn is_system_program(name: &str) -> bool {
    const DIRECTORIES: &[&str] =
        &["/bin", "/usr/bin", "/usr/local/bin", "/sbin", "/usr/sbin", "/usr/local/sbin", "/opt/homebrew/bin"];
    name.rsplit_once('/').is_none_or(|(directory, _)| DIRECTORIES.contains(&directory))
}

fn why_not(call: &Call) -> Cow<'_, str> {
    if call.why.is_empty() { Cow::Borrowed("it is not known to only read") } else { Cow::Borrowed(&*call.why) }
}

/// What a wrapper runs directly.
fn inner(analysis: &CommandAnalysis, wrapper: usize) -> impl Iterator<Item = &Segment> {
    // What a command runs, however deep, stands right behind it.
    let behind = analysis.segments.iter().skip(wrapper + 1);
    behind
        .take_while(move |segment| segment.wrapper.is_some_and(|own| own >= wrapper))
        .filter(move |segment| segment.wrapper == Some(wrapper) && segment.reach != Reach::DenyOnly)
}

/// `xargs`: the inner command must read whatever arguments follow.
fn appending<'a>(analysis: &CommandAnalysis, number: usize, segment: &'a Segment) -> Option<Cow<'a, str>> {
    let follows =
        Word { text: "$(cat)".to_owned(), parts: vec![WordPart::Expansion { quoted: false }], ..Word::default() };
    let mut commands = inner(analysis, number).peekable();
    let reads = commands.peek().is_some()
        && commands.all(|inner| {
            let mut words = inner.words.clone();
            words.push(follows.clone());
            inner.reach == Reach::Through && Call::of(&words).nature == Nature::Reads
        });
    if reads && segment.call.nature == Nature::Reads {
        return None;
    }
    Some(Cow::Borrowed("it runs a command with arguments that are known only when it runs"))
}

/// Whether only variables are set that programs take no orders from.
fn plain_assignments(segment: &Segment) -> bool {
    segment.assignments.iter().all(|assignment| {
        // A subscript is arithmetic, which may execute what it is made of.
        let subscript = assignment.value.span.start > assignment.span.start + assignment.name.len() + "+=".len();
        (is_plain_name(&assignment.name) || is_harmless(&assignment.name)) && !subscript
    })
}

/// Whether a variable is one that neither the shell nor, as far as is known, a program looks at.
fn is_plain_name(name: &str) -> bool {
    name.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_')
        && !name.contains("proxy")
        && !name.starts_with("npm_")
        && !name.starts_with("pnpm_")
        && !matches!(name, "auto_resume" | "histchars" | "path" | "fpath" | "cdpath" | "manpath" | "prompt")
}

fn redirect_obstacle(redirect: &Redirect) -> Option<Cow<'static, str>> {
    let target = redirect.target.value();
    let allowed = match redirect.kind {
        RedirectKind::Text => true,
        RedirectKind::DuplicateInput | RedirectKind::DuplicateOutput => {
            target.is_some_and(|text| text.bytes().all(|byte| byte.is_ascii_digit() || byte == b'-'))
        }
        RedirectKind::Read => match (target, redirect.target.parts.as_slice()) {
            (Some(path), _) => !is_device(path) || matches!(path, "/dev/null" | "/dev/stdin"),
            (None, parts) => matches!(parts, [WordPart::Process]),
        },
        RedirectKind::Write | RedirectKind::Append => {
            target.is_some_and(|path| matches!(path, "/dev/null" | "/dev/stdout" | "/dev/stderr"))
        }
        RedirectKind::ReadWrite => false,
    };
    let named = redirect.descriptor.as_ref().is_none_or(|number| number.bytes().all(|byte| byte.is_ascii_digit()));
    if allowed && named {
        return None;
    }
    Some(match redirect.kind {
        RedirectKind::Write | RedirectKind::Append | RedirectKind::ReadWrite => {
            Cow::Owned(format!("a redirection writes `{}`", crate::visible(&redirect.target.text)))
        }
        _ => Cow::Owned(format!(
            "a redirection of `{}` is not known to only read",
            crate::visible(&redirect.target.text)
        )),
    })
}

/// Whether a path is below `/dev`, however it is written.
pub(super) fn is_device(path: &str) -> bool {
    let mut names = Path::new(path).components();
    names.next() == Some(Component::RootDir)
        && (path.contains("..") || names.next().is_some_and(|name| name.as_os_str() == "dev"))
}

/// Whether a command goes to another directory than the one it starts in.
fn leaves(segment: &Segment, scene: &Scene<'_>) -> bool {
    match segment.program() {
        Some("pushd" | "popd" | "chdir") => true,
        Some("cd") => match segment.words.get(1..) {
            Some([word]) => word.value().is_none_or(|text| {
                let to = Path::new(text);
                text != "." && to != scene.workdir && !scene.roots.iter().any(|root| root == to)
            }),
            _ => true,
        },
        _ => false,
    }
}

/// Whether a repository begins at the working directory or above it, below the workspace's root.
fn holds_repository(scene: &Scene<'_>) -> bool {
    if scene.roots.iter().any(|root| root == scene.workdir) {
        return false;
    }
    let root = scene.roots.iter().find(|root| scene.workdir.starts_with(root));
    scene.workdir.ancestors().take_while(|directory| Some(*directory) != root.map(|root| root.as_path())).any(
        |directory| {
            directory.join(".git").symlink_metadata().is_ok() || directory.join("HEAD").symlink_metadata().is_ok()
        },
    )
}
