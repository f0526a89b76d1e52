//! Commands that destroy what cannot be brought back: whole systems, homes and disks.

use std::borrow::Cow;
use std::path::Path;

use super::{Reason, Scene};
use crate::analysis::wrappers::base_name;
use crate::analysis::{CommandAnalysis, Redirect, RedirectKind, Segment, Word, WordPart};
use crate::programs::{FileUse, Nature, Usage};

/// Directories whose loss is the loss of the system; `*` is any name.
const SYSTEM: &[&[&str]] = &[
    &["bin"],
    &["boot"],
    &["dev"],
    &["etc"],
    &["home"],
    &["lib"],
    &["lib32"],
    &["lib64"],
    &["libx32"],
    &["media"],
    &["mnt"],
    &["nix"],
    &["opt"],
    &["proc"],
    &["root"],
    &["run"],
    &["sbin"],
    &["srv"],
    &["sys"],
    &["usr"],
    &["var"],
    &["snap"],
    &["efi"],
    &["boot", "efi"],
    &["home", "*"],
    &["usr", "bin"],
    &["usr", "sbin"],
    &["usr", "lib"],
    &["usr", "lib64"],
    &["usr", "libexec"],
    &["usr", "share"],
    &["usr", "local"],
    &["usr", "include"],
    &["var", "lib"],
    &["nix", "store"],
    &["Applications"],
    &["Library"],
    &["System"],
    &["System", "*"],
    &["Users"],
    &["Users", "*"],
    &["Volumes"],
    &["private"],
    &["private", "etc"],
    &["private", "var"],
    &["cores"],
    &["c"],
    &["mnt", "c"],
    &["c", "Windows"],
    &["c", "Users"],
];

/// Programs that remove or spoil what is below a directory, where others only add to it.
const SWEEP: &[&str] = &[
    "rm",
    "grm",
    "srm",
    "wipe",
    "shred",
    "trash",
    "trash-put",
    "rmtrash",
    "chmod",
    "gchmod",
    "chown",
    "gchown",
    "chgrp",
    "gchgrp",
    "chattr",
    "chflags",
    "chcon",
    "setfacl",
    "find",
    "gfind",
    "fd",
    "fdfind",
];

/// Tests of `find` that leave most files alone.
const NARROWS: &[&str] = &[
    "-name",
    "-iname",
    "-path",
    "-ipath",
    "-wholename",
    "-regex",
    "-iregex",
    "-mtime",
    "-mmin",
    "-ctime",
    "-cmin",
    "-atime",
    "-amin",
    "-newer",
    "-size",
    "-empty",
    "-user",
    "-group",
    "-perm",
    "-inum",
    "-samefile",
    "-xtype",
    "-lname",
    "-nouser",
    "-nogroup",
];

/// What destroys, and which command does it.
pub(super) fn find<'a>(analysis: &'a CommandAnalysis, scene: &Scene<'_>) -> Option<Reason<'a>> {
    if analysis.multiplies {
        return Some((None, Cow::Borrowed("a function starts itself again and again, until nothing else runs")));
    }
    let mut here = Here { scene, directory: Some(absolute(scene.workdir)) };
    let mut lost = None;
    for segment in &analysis.segments {
        if segment.call.nature == Nature::Destroys {
            let why: &str = &segment.call.why;
            let why = if why.is_empty() { "it destroys what cannot be brought back" } else { why };
            return Some((Some(segment), Cow::Borrowed(why)));
        }
        if lost.is_none() {
            lost = here.loses(segment).or_else(|| here.stops_everything(segment)).map(|why| (Some(segment), why));
        }
        if let Some(why) = segment.redirects.iter().find_map(overwrites) {
            return Some((Some(segment), why));
        }
        here.follow(segment);
    }
    let groups = analysis.redirects.iter().find_map(overwrites).map(|why| (None, why));
    lost.or(groups)
}

/// Where a segment runs, as far as the script tells.
struct Here<'s> {
    scene: &'s Scene<'s>,
    /// The names of the directory; none when a `cd` leads somewhere unknown.
    directory: Option<Vec<String>>,
}

impl Here<'_> {
    /// Whether a call changes or removes everything below a directory that must not be lost, or a disk.
    fn loses(&self, segment: &Segment) -> Option<Cow<'static, str>> {
        let program = segment.program().unwrap_or_default();
        let written = || segment.call.files.iter().filter(|file| file.usage == Usage::Write);
        let everything =
            |text: &str| Cow::Owned(format!("it removes or spoils everything below `{}`", crate::visible(text)));
        for file in written() {
            let text = &*file.path.text;
            if is_disk(text) {
                return Some(Cow::Owned(format!("it overwrites the device `{}`", crate::visible(text))));
            }
            let narrowed =
                || program.ends_with("find") && segment.words.iter().any(|word| NARROWS.contains(&&*word.text));
            if segment.call.recursive && SWEEP.contains(&program) && self.is_vital(&file.path) && !narrowed() {
                return Some(everything(text));
            }
        }
        if let Some(file) = self.moved(program, segment).or_else(|| self.emptied(program, segment)) {
            return Some(everything(&file.path.text));
        }
        let unprotected = || segment.words.iter().any(|word| word.text.starts_with("--no-preserve-r"));
        let removes = matches!(segment.program(), Some("rm" | "chmod" | "chown" | "chgrp"));
        (removes && unprotected()).then_some(Cow::Borrowed("it asks for no protection of the root directory"))
    }

    /// What `mv` takes away: everything it names but the last, which is where it goes.
    fn moved<'f>(&self, program: &str, segment: &'f Segment) -> Option<&'f FileUse> {
        if !matches!(program, "mv" | "gmv") {
            return None;
        }
        let named = |word: &Word| word.text.starts_with("-t") || word.text.starts_with("--t");
        let into = usize::from(!segment.words.iter().any(named));
        let files = segment.call.files.as_slice();
        files.iter().take(files.len().saturating_sub(into)).find(|file| self.is_vital(&file.path))
    }

    /// Where `find` starts that runs a sweeping program on all it finds, and what `rsync --delete` makes a copy of.
    fn emptied<'f>(&self, program: &str, segment: &'f Segment) -> Option<&'f FileUse> {
        let words = || segment.words.iter().map(|word| word.text.as_str());
        match program {
            "rsync" if words().any(|text| text.starts_with("--del")) => {
                segment.call.files.iter().rfind(|file| file.usage == Usage::Write && self.is_vital(&file.path))
            }
            "find" | "gfind" => {
                let mut rest = words().skip_while(|text| !matches!(*text, "-exec" | "-execdir"));
                let runs = rest.nth(1).is_some_and(|name| SWEEP.contains(&base_name(name)));
                let narrowed = words().any(|text| NARROWS.contains(&text));
                if !runs || narrowed {
                    return None;
                }
                segment.call.files.iter().find(|file| self.is_vital(&file.path))
            }
            _ => None,
        }
    }

    /// `kill -9 -1`: every process of the person.
    fn stops_everything(&self, segment: &Segment) -> Option<Cow<'static, str>> {
        let words: Vec<&str> = segment.words.iter().filter_map(Word::value).collect();
        let [name, arguments @ ..] = words.as_slice() else { return None };
        if !matches!(*name, "kill" | "/bin/kill" | "/usr/bin/kill") || arguments.contains(&"-l") {
            return None;
        }
        // The first `-1` may be the signal: `kill -1 5` hangs up process 5.
        let all = arguments.iter().skip(1).any(|argument| *argument == "-1");
        all.then_some(Cow::Borrowed("it ends every process"))
    }

    /// Follows `cd` from one segment to the next.
    fn follow(&mut self, segment: &Segment) {
        if !matches!(segment.program(), Some("cd" | "pushd" | "chdir")) {
            return;
        }
        let mut operands =
            segment.words.iter().skip(1).filter(|word| !matches!(&*word.text, "-P" | "-L" | "-e" | "--"));
        self.directory = match (operands.next(), operands.next()) {
            (None, _) => Some(vec![HOME.to_owned()]),
            (Some(word), None) if word.text.starts_with(|first| first != '/' && first != '~') && !word.is_dynamic() => {
                match self.directory.take() {
                    Some(names) if word.text != "-" => Some(collect(names, &word.text)),
                    _ => None,
                }
            }
            (Some(word), None) if word.text != "-" => self.resolve(word).pop(),
            _ => None,
        }
        // Nothing that deep is vital, and a way up from there is no way that a person takes.
        .filter(|names| names.len() <= MOST_NAMES);
    }

    /// Whether a word names, or may name, a directory that must not be lost, or everything in it.
    fn is_vital(&self, word: &Word) -> bool {
        self.resolve(word).iter().any(|names| self.is_vital_path(names))
    }

    fn is_vital_path(&self, names: &[String]) -> bool {
        let end = names.iter().rposition(|name| !is_everything(name)).map_or(0, |last| last + 1);
        let names = &names[..end];
        if names.is_empty() || names == [HOME] {
            return true;
        }
        let vital = |path: &[&str]| {
            path.len() == names.len() && path.iter().zip(names).all(|(own, name)| *own == "*" || glob(name, own))
        };
        let home = self.scene.home.map(absolute).is_some_and(|home| home == names);
        home || SYSTEM.iter().any(|path| vital(path))
    }

    /// The paths that a word may be, as names from the root on, in which `*` stands for any text. Empty when unknown.
    fn resolve(&self, word: &Word) -> Vec<Vec<String>> {
        written(word).iter().filter_map(|text| self.names(text)).collect()
    }

    fn names(&self, text: &str) -> Option<Vec<String>> {
        let mut names = match text.as_bytes().first()? {
            b'/' => Vec::new(),
            b'~' => return Some(collect(Vec::new(), &text.replacen('~', HOME, 1))),
            _ => self.directory.clone()?,
        };
        // A name that stands for everything in a directory goes no further up than that directory.
        if text.starts_with('/') {
            names.clear();
        }
        Some(collect(names, text))
    }
}

/// Names of a path that are followed.
const MOST_NAMES: usize = 64;

/// Stands for the home directory as the first name of a path.
const HOME: &str = "~";

fn absolute(path: &Path) -> Vec<String> {
    collect(Vec::new(), &path.to_string_lossy())
}

fn collect(mut names: Vec<String>, text: &str) -> Vec<String> {
    for name in text.split('/') {
        match name {
            "" | "." => {}
            ".." => {
                names.pop();
            }
            name => names.push(name.to_owned()),
        }
    }
    names
}

/// The texts a word may become, with `~` for the home directory and `*` for what a pattern stands for.
fn written(word: &Word) -> Vec<String> {
    const MOST: usize = 16;
    if !word.is_dynamic() {
        return vec![word.text.clone()];
    }
    let mut text = String::new();
    let mut bracket = false;
    for part in &word.parts {
        match part {
            // A bracket expression is one part and stands where it ends, between the texts of its ends.
            WordPart::Literal(literal) => {
                text.push_str(literal.strip_prefix(']').filter(|_| bracket).unwrap_or(literal))
            }
            WordPart::Tilde(user) if user.is_empty() => text.push_str(HOME),
            WordPart::Tilde(user) if user == "root" => text.push_str("/root"),
            WordPart::Tilde(user) => text.push_str(&format!("/home/{user}")),
            WordPart::Variable { name, .. } if name == "HOME" => text.push_str(HOME),
            WordPart::Variable { name, .. } if name == "PWD" => text.push('.'),
            WordPart::Glob => {
                let name = text.rfind('/').map_or(0, |slash| slash + 1);
                if let Some(open) = text[name..].find('[') {
                    text.truncate(name + open);
                    bracket = true;
                }
                text.push('*');
            }
            // Quotes in a list of alternatives are rare, and then it is not known.
            WordPart::Brace => {
                let mut texts = vec![word.text.clone()];
                while let Some(at) = texts.iter().position(|text| alternatives(text).is_some()) {
                    let text = texts.swap_remove(at);
                    texts.extend(alternatives(&text).unwrap_or_default());
                    if texts.len() > MOST {
                        return Vec::new();
                    }
                }
                for text in &mut texts {
                    for home in ["${HOME}", "$HOME"] {
                        *text = text.replace(home, HOME);
                    }
                    *text = text.replace('?', "*").replace(['"', '\''], "");
                }
                return texts;
            }
            WordPart::Expansion { .. } if word.text.trim_start_matches('"').starts_with("${HOME") => {
                text.push_str(HOME)
            }
            WordPart::Variable { .. } | WordPart::Expansion { .. } | WordPart::Process => return Vec::new(),
        }
    }
    vec![text]
}

/// The texts that the first innermost `{a,b}` of a text stands for.
fn alternatives(text: &str) -> Option<Vec<String>> {
    let close = text.find('}')?;
    let open = text[..close].rfind('{')?;
    let inside = &text[open + 1..close];
    if text[..open].ends_with('$') || !inside.contains(',') {
        return None;
    }
    Some(inside.split(',').map(|one| format!("{}{one}{}", &text[..open], &text[close + 1..])).collect())
}

/// Whether a name stands for everything in its directory, or for everything hidden.
fn is_everything(name: &str) -> bool {
    name.contains('*') && name.bytes().all(|byte| byte == b'*' || byte == b'.')
}

/// Whether a pattern of `*` and literal text matches.
fn glob(pattern: &str, text: &str) -> bool {
    let Some((start, rest)) = pattern.split_once('*') else { return pattern == text };
    let Some(mut text) = text.strip_prefix(start) else { return false };
    let mut pieces: Vec<&str> = rest.split('*').collect();
    let end = pieces.pop().unwrap_or_default();
    for piece in pieces {
        match text.find(piece) {
            Some(at) => text = &text[at + piece.len()..],
            None => return false,
        }
    }
    text.ends_with(end)
}

fn overwrites(redirect: &Redirect) -> Option<Cow<'static, str>> {
    let writes = matches!(redirect.kind, RedirectKind::Write | RedirectKind::Append | RedirectKind::ReadWrite);
    let text = &*redirect.target.text;
    if !writes {
        return None;
    }
    if is_disk(text) {
        return Some(Cow::Owned(format!("it overwrites the device `{}`", crate::visible(text))));
    }
    // Letters written here reboot, crash or end everything at once.
    (text == "/proc/sysrq-trigger").then_some(Cow::Borrowed("it gives the kernel an order that stops the machine"))
}

/// Whether a path is a disk, a partition of one, or the memory.
fn is_disk(path: &str) -> bool {
    const DISKS: &[&str] = &[
        "sd", "hd", "vd", "xvd", "nvme", "mmcblk", "dm-", "md", "mapper/", "disk", "rdisk", "loop", "nbd", "zd", "sr",
        "ram", "mem", "kmem", "port", "mtd", "pmem", "bcache", "drbd", "rbd",
    ];
    let mut rest = path;
    while let Some(shorter) = rest.strip_prefix("//").or_else(|| rest.strip_prefix("/.")) {
        rest = if rest.starts_with("//") { &rest[1..] } else { shorter };
    }
    let Some(name) = rest.strip_prefix("/dev/") else { return false };
    let name = name.trim_start_matches(['/', '.']);
    DISKS.iter().any(|disk| {
        name.strip_prefix(disk).is_some_and(|rest| {
            disk.ends_with('/')
                || rest.is_empty()
                || rest.starts_with(|c: char| c.is_ascii_digit() || matches!(c, '*' | '?' | '[' | '/' | '{' | '$'))
                || disk.len() <= 3 && disk.ends_with('d') && rest.starts_with(|c: char| c.is_ascii_lowercase())
        })
    })
}

#[cfg(test)]
mod tests {
    use super::{glob, is_disk};

    #[test]
    fn disks() {
        for path in [
            "/dev/sda",
            "/dev/sda1",
            "/dev/sd*",
            "/dev/nvme0n1",
            "/dev/vdb",
            "/dev/mapper/x",
            "/dev/disk/by-id/y",
            "/dev/mem",
            "//dev//sda",
            "/dev/./sda",
            "/dev/rdisk2",
            "/dev/mmcblk0p1",
            "/dev/xvda",
            "/dev/sd[a-z]",
        ] {
            assert!(is_disk(path), "{path}");
        }
        for path in ["/dev/null", "/dev/stdout", "/dev/random", "/dev/sda.img", "dev/sda", "/dev/shm/x", "/dev/tty"] {
            assert!(is_disk(path) == (path == "/dev/sda.img"), "{path}");
        }
    }

    #[test]
    fn globs() {
        for (pattern, text, expected) in [
            ("us*", "usr", true),
            ("*", "etc", true),
            ("h*e", "home", true),
            ("h*x", "home", false),
            ("et", "etc", false),
        ] {
            assert_eq!(glob(pattern, text), expected, "{pattern}");
        }
    }
}
