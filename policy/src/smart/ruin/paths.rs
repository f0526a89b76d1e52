//! Paths that must not be lost, and what the words of a command may name.

use std::path::Path;

use crate::analysis::{Word, WordPart};

/// Directories whose loss is the loss of the system; `*` is any name.
pub(super) const SYSTEM: &[&[&str]] = &[
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

/// Stands for the home directory as the first name of a path.
pub(super) const HOME: &str = "~";

pub(super) fn absolute(path: &Path) -> Vec<String> {
    collect(Vec::new(), &path.to_string_lossy())
}

pub(super) fn collect(mut names: Vec<String>, text: &str) -> Vec<String> {
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
pub(super) fn written(word: &Word) -> Vec<String> {
    const MOST: usize = 16;
    if !word.is_dynamic() {
        // A quoted tilde is a name like any other.
        let tilde = if word.text.starts_with('~') { "./" } else { "" };
        return vec![format!("{tilde}{}", word.text)];
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
pub(super) fn is_everything(name: &str) -> bool {
    name.contains('*') && name.bytes().all(|byte| byte == b'*' || byte == b'.')
}

/// Whether a pattern of `*` and literal text matches.
pub(super) fn glob(pattern: &str, text: &str) -> bool {
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

/// Whether a path is a disk, a partition of one, or the memory.
pub(super) fn is_disk(path: &str) -> bool {
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
