//! Commands that destroy what cannot be brought back: whole systems, homes and disks.

mod paths;

use std::borrow::Cow;

use super::{Reason, Scene};
use crate::analysis::wrappers::base_name;
use crate::analysis::{CommandAnalysis, Redirect, RedirectKind, Segment, Stdin, Word, WordPart};
use crate::programs::{FileUse, Nature, Usage};
use paths::{HOME, SYSTEM, absolute, collect, glob, is_disk, is_everything, written};

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
    let mut here = Here { scene, moved: None };
    let mut lost = None;
    for (number, segment) in analysis.segments.iter().enumerate() {
        if segment.call.nature == Nature::Destroys {
            let why: &str = &segment.call.why;
            let why = if why.is_empty() { "it destroys what cannot be brought back" } else { why };
            return Some((Some(segment), Cow::Borrowed(why)));
        }
        if lost.is_none() {
            lost = here
                .loses(segment)
                .or_else(|| here.hands_over(analysis, number))
                .or_else(|| here.stops_everything(segment))
                .map(|why| (Some(segment), why));
        }
        if let Some(why) = segment.redirects.iter().find_map(overwrites).or_else(|| rewrites_disk(segment)) {
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
    /// The names of the directory that a `cd` led to, none of them when that is unknown; none before the first `cd`.
    moved: Option<Option<Vec<String>>>,
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
            let sweeps = || segment.call.recursive || has_unknown_options(segment, &file.path);
            if SWEEP.contains(&program) && sweeps() && self.is_vital(&file.path) && !narrowed() {
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

    /// What `xargs rm -r` gets from the commands before it.
    fn hands_over(&self, analysis: &CommandAnalysis, number: usize) -> Option<Cow<'static, str>> {
        const PRODUCERS: usize = 16;
        let segment = analysis.segments.get(number)?;
        let wrapper = analysis.segments.get(segment.wrapper?)?;
        let sweeps = segment.call.recursive && segment.program().is_some_and(|name| SWEEP.contains(&name));
        let Stdin::Pipe(first) = segment.stdin else { return None };
        if !sweeps || !matches!(wrapper.program(), Some("xargs" | "gxargs")) {
            return None;
        }
        let from = first.max(number.saturating_sub(PRODUCERS));
        let word = analysis.segments.get(from..number)?.iter().find_map(|producer| {
            let words = producer.words.get(1..).unwrap_or_default();
            let lists = match producer.program()? {
                "find" | "gfind" => !words.iter().any(|word| NARROWS.contains(&&*word.text)),
                "echo" | "printf" | "ls" => true,
                _ => false,
            };
            words.iter().filter(|_| lists).find(|word| !word.text.starts_with('-') && self.is_vital(word))
        })?;
        Some(Cow::Owned(format!("it removes or spoils what is below `{}`", crate::visible(&word.text))))
    }

    /// `kill -9 -1`: every process of the person.
    fn stops_everything(&self, segment: &Segment) -> Option<Cow<'static, str>> {
        if segment.program() != Some("kill") || segment.words.iter().any(|word| word.text == "-l") {
            return None;
        }
        // The first `-1` may be the signal: `kill -1 5` hangs up process 5.
        let all = segment.words.iter().skip(2).any(|word| word.text == "-1");
        all.then_some(Cow::Borrowed("it ends every process"))
    }

    /// Follows `cd` from one segment to the next.
    fn follow(&mut self, segment: &Segment) {
        if !matches!(segment.program(), Some("cd" | "pushd" | "chdir")) {
            return;
        }
        let mut operands =
            segment.words.iter().skip(1).filter(|word| !matches!(&*word.text, "-P" | "-L" | "-e" | "--"));
        let to = match (operands.next(), operands.next()) {
            (None, _) => Some(vec![HOME.to_owned()]),
            (Some(word), None) if word.text.starts_with(|first| first != '/' && first != '~') && !word.is_dynamic() => {
                match self.moved.take().unwrap_or_else(|| Some(absolute(self.scene.workdir))) {
                    Some(names) if word.text != "-" => Some(collect(names, &word.text)),
                    _ => None,
                }
            }
            (Some(word), None) if word.text != "-" => self.resolve(word).pop(),
            _ => None,
        }
        // Nothing that deep is vital, and a way up from there is no way that a person takes.
        .filter(|names| names.len() <= MOST_NAMES);
        self.moved = Some(to);
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

    fn directory(&self) -> Option<Vec<String>> {
        self.moved.clone().unwrap_or_else(|| Some(absolute(self.scene.workdir)))
    }

    fn names(&self, text: &str) -> Option<Vec<String>> {
        let from = match text.as_bytes().first()? {
            b'/' | b'~' => Vec::new(),
            _ => self.directory()?,
        };
        Some(collect(from, text))
    }
}

/// Names of a path that are followed.
const MOST_NAMES: usize = 64;

/// Whether words other than `file` may become options.
fn has_unknown_options(segment: &Segment, file: &Word) -> bool {
    let unknown = |part: &WordPart| {
        matches!(part, WordPart::Variable { quoted: false, .. } | WordPart::Expansion { quoted: false })
    };
    segment.words.iter().skip(1).any(|word| word.span != file.span && word.parts.first().is_some_and(unknown))
}

/// What makes a tool for disks write one.
const DISK_ORDERS: &[&str] = &[
    "-Z",
    "--zap",
    "--zap-all",
    "-o",
    "--clear",
    "mklabel",
    "mktable",
    "mkpart",
    "rm",
    "resizepart",
    "-w",
    "-n",
    "--zero-superblock",
    "--wipe",
    "--delete",
    "luksFormat",
    "luksErase",
    "erase",
    "--security-erase",
    "--security-erase-enhanced",
    "--trim-sector-ranges",
    "--make-bad-sector",
    "-d",
];

/// Tools that change the disk they name, when they are told to.
const DISK_TOOLS: &[&str] =
    &["sgdisk", "sfdisk", "parted", "badblocks", "cryptsetup", "mdadm", "hdparm", "fdisk", "gdisk", "cfdisk"];

/// Whether a tool for disks writes the one it names: by its order, or by orders that it reads.
fn rewrites_disk(segment: &Segment) -> Option<Cow<'static, str>> {
    if !segment.program().is_some_and(|name| DISK_TOOLS.contains(&name)) || segment.call.nature == Nature::Reads {
        return None;
    }
    let disk = segment.words.iter().find(|word| is_disk(&word.text))?;
    let told = segment.words.iter().any(|word| DISK_ORDERS.contains(&&*word.text));
    let fed = matches!(segment.stdin, Stdin::Pipe(_) | Stdin::Redirected);
    (told || fed).then(|| Cow::Owned(format!("it rewrites the device `{}`", crate::visible(&disk.text))))
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
