//! Redirections that leave the workspace, which no rule about commands allows.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use crate::analysis::{Redirect, RedirectKind, WordPart};
use crate::rules::{Area, Decision, Rules, Subject};

/// Where the workspace is, and what rules say about the rest.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Outside<'p> {
    pub(crate) roots: &'p [PathBuf],
    pub(crate) workdir: &'p Path,
    pub(crate) home: Option<&'p Path>,
    pub(crate) layers: &'p [Rules],
}

impl Outside<'_> {
    /// Whether a redirection names a file that is looked up.
    pub(crate) fn is_file(&self, redirect: &Redirect) -> bool {
        let named = matches!(
            redirect.kind,
            RedirectKind::Read | RedirectKind::Write | RedirectKind::Append | RedirectKind::ReadWrite
        );
        named && (redirect.target.is_dynamic() || !is_device(&redirect.target.text))
    }

    /// Why a redirection must be asked; none when its target is known and allowed.
    pub(crate) fn redirect(&self, redirect: &Redirect) -> Option<String> {
        if !self.is_file(redirect) {
            return None;
        }
        let target = &redirect.target;
        let text = match target.parts.as_slice() {
            [] => target.text.clone(),
            // The process is a segment of its own.
            [WordPart::Process] => return None,
            [WordPart::Tilde(user), rest @ ..] if user.is_empty() => {
                let rest = match rest {
                    [] => "",
                    [WordPart::Literal(rest)] => rest,
                    _ => return Some(unknown(&target.text)),
                };
                match self.home.and_then(Path::to_str) {
                    Some(home) => format!("{home}{rest}"),
                    None => return Some(unknown(&target.text)),
                }
            }
            _ => return Some(unknown(&target.text)),
        };
        if is_device(&text) {
            return None;
        }
        self.directory(&self.workdir.join(&text))
    }

    /// Why a path must be asked because of where it leads; none inside the workspace, and where a rule allows it.
    pub(crate) fn directory(&self, path: &Path) -> Option<String> {
        let path = resolve(path);
        if self.root_of(&path).is_some() {
            return None;
        }
        let shown = path.to_string_lossy();
        let subject = Subject { text: &shown, also: &[] };
        let decided = self
            .layers
            .iter()
            .filter_map(|layer| layer.decide(Area::ExternalDirectory, &subject))
            .max_by_key(|rule| rule.decision);
        match decided {
            Some(rule) if rule.decision == Decision::Allow => None,
            _ => Some(format!("`{shown}` is outside the workspace")),
        }
    }

    /// The names that rules may call a file by.
    pub(crate) fn names(&self, path: &Path) -> Names {
        let real = resolve(path);
        let mut exact = vec![real.to_string_lossy().into_owned()];
        let mut also = Vec::new();
        if let Some(root) = self.root_of(&real)
            && let Ok(below) = real.strip_prefix(&root)
        {
            exact.push(below.to_string_lossy().into_owned());
        }
        // A link's own name may be denied, never allowed: what changes is where it leads.
        also.push(path.to_string_lossy().into_owned());
        for root in self.roots {
            also.extend(path.strip_prefix(root).ok().map(|below| below.to_string_lossy().into_owned()));
        }
        Names { exact, also }
    }

    /// The workspace root, resolved, that a resolved path is in.
    fn root_of(&self, path: &Path) -> Option<PathBuf> {
        self.roots.iter().map(|root| resolve(root)).find(|root| path.starts_with(root))
    }
}

/// The names of a file: what it is, and what else it is called.
#[derive(Clone, Debug)]
pub(crate) struct Names {
    /// Resolved: absolute, then below its root.
    pub(crate) exact: Vec<String>,
    /// As written.
    pub(crate) also: Vec<String>,
}

fn unknown(target: &str) -> String {
    format!("the file `{target}` of a redirection is known only when it runs")
}

fn is_device(path: &str) -> bool {
    matches!(path, "/dev/null" | "/dev/zero" | "/dev/full" | "/dev/stdin" | "/dev/stdout" | "/dev/stderr" | "/dev/tty")
        || path.strip_prefix("/dev/fd/").is_some_and(|number| number.bytes().all(|b| b.is_ascii_digit()))
}

/// The path with every symbolic link on its way resolved, also one that leads to nothing, and `.` and `..` taken away.
///
/// A path with more links than the system follows becomes `/`, which is outside of every workspace.
fn resolve(path: &Path) -> PathBuf {
    const MOST_LINKS: usize = 40;
    let mut links = 0;
    let mut real = PathBuf::new();
    let mut rest: Vec<OsString> = names(path);
    while let Some(name) = rest.pop() {
        match name.as_encoded_bytes() {
            b"." => continue,
            b".." => {
                real.pop();
                continue;
            }
            _ => real.push(&name),
        }
        let Ok(target) = real.read_link() else { continue };
        links += 1;
        if links > MOST_LINKS {
            return PathBuf::from("/");
        }
        real.pop();
        // An absolute target starts again at the root: its first name is the root itself.
        rest.extend(names(&target));
    }
    real
}

/// The names of a path, last one first.
fn names(path: &Path) -> Vec<OsString> {
    path.components().rev().map(|component| component.as_os_str().to_owned()).collect()
}

#[cfg(all(test, unix))]
mod tests {
    use std::os::unix::fs::symlink;
    use std::path::Path;

    use super::resolve;

    #[test]
    fn links_are_followed_also_into_nothing() {
        let directory = tempfile::tempdir().unwrap();
        let root = directory.path().canonicalize().unwrap();
        std::fs::create_dir(root.join("sub")).unwrap();
        symlink("../nothing", root.join("sub/dangling")).unwrap();
        symlink("/etc", root.join("away")).unwrap();
        symlink("loop", root.join("loop")).unwrap();
        symlink("sub", root.join("link")).unwrap();
        let check = |path: &str, expected: &Path| assert_eq!(resolve(&root.join(path)), expected, "{path}");
        check("sub/dangling", &root.join("nothing"));
        check("away/x/../hosts", Path::new("/etc/hosts"));
        check("link/../a/./b", &root.join("a/b"));
        check("away/..", Path::new("/"));
        check("loop", Path::new("/"));
        check("new/file", &root.join("new/file"));
    }
}
