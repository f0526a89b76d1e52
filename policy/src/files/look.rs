//! Looking paths up: links resolved, `..` taken away, and whether the result is in the workspace.

use std::collections::HashMap;
use std::ffi::OsString;
use std::io::ErrorKind;
use std::path::{Component, Path, PathBuf};

/// Links on the way to one file that are followed; the system's own limit.
const MOST_LINKS: usize = 40;
/// Looks at the file system for one command line.
const MOST_LOOKS: usize = 4_096;

/// The workspace's roots, resolved once, and what was seen of the file system.
///
/// Each name is looked at once, so that everything is judged by one look even while links change.
#[derive(Clone, Debug)]
pub(crate) struct Look {
    roots: Vec<PathBuf>,
    seen: HashMap<OsString, Seen>,
    /// Directories that may be entered, and what may not.
    entered: HashMap<OsString, bool>,
    /// Whether something may take away what was there.
    pub(super) distrust: bool,
    /// How often the file system may still be looked at.
    left: usize,
}

/// What a name was when it was looked at.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Seen {
    Link(PathBuf),
    /// A file or directory, or something that may not be looked at.
    Plain,
    Missing,
}

/// A path after it was looked up.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Resolved {
    pub(crate) path: PathBuf,
    pub(crate) inside: bool,
}

impl Look {
    /// Resolves the roots.
    pub(crate) fn new(roots: &[PathBuf]) -> Self {
        let mut look = Self {
            roots: Vec::with_capacity(roots.len()),
            seen: HashMap::new(),
            entered: HashMap::new(),
            distrust: false,
            left: MOST_LOOKS,
        };
        for root in roots {
            if let Some(real) = look.real(Path::new("/"), root) {
                look.roots.push(real);
            }
        }
        look
    }

    /// Looks up `path`, which starts at the resolved directory `base` when it is relative.
    ///
    /// What does not exist keeps its name. A path with more links than the system follows is outside.
    pub(crate) fn resolve(&mut self, base: &Path, path: &Path) -> Resolved {
        match self.real(base, path) {
            Some(path) => Resolved { inside: self.is_inside(&path), path },
            None => Resolved { path: base.join(path), inside: false },
        }
    }

    /// Whether a resolved path is in one of the roots.
    pub(crate) fn is_inside(&self, path: &Path) -> bool {
        // Both are resolved, so that one name is one spelling.
        let path = path.as_os_str().as_encoded_bytes();
        self.roots.iter().any(|root| {
            let root = root.as_os_str().as_encoded_bytes();
            path.strip_prefix(root).is_some_and(|rest| {
                rest.is_empty() || std::path::is_separator(char::from(rest[0])) || root.ends_with(b"/")
            })
        })
    }

    /// The part of a resolved path below its root.
    pub(crate) fn below<'p>(&self, path: &'p Path) -> Option<&'p Path> {
        self.roots.iter().find_map(|root| path.strip_prefix(root).ok())
    }

    /// Whether a directory is there, may be entered, and stays.
    pub(super) fn may_enter(&mut self, directory: &Path) -> bool {
        if self.distrust {
            return false;
        }
        if let Some(known) = self.entered.get(directory.as_os_str()) {
            return *known;
        }
        if !self.spend() {
            return false;
        }
        // The dot makes the system search the directory itself.
        let may = std::fs::metadata(directory.join(".")).is_ok_and(|found| found.is_dir());
        self.entered.insert(directory.as_os_str().to_owned(), may);
        may
    }

    /// Takes one look from what is left; false when nothing is.
    fn spend(&mut self) -> bool {
        self.left = self.left.saturating_sub(1);
        self.left > 0
    }

    fn real(&mut self, base: &Path, path: &Path) -> Option<PathBuf> {
        let mut real = PathBuf::with_capacity(base.as_os_str().len() + path.as_os_str().len() + 1);
        if !path.is_absolute() {
            real.push(base);
        }
        let mut missing = false;
        let mut components = path.components();
        while let Some(component) = components.next() {
            if let Some(target) = self.step(&mut real, component, &mut missing)? {
                // The rest waits, last name first, and the link's target comes before it.
                let mut rest: Vec<OsString> = reversed(components.as_path());
                rest.extend(reversed(&target));
                return self.through_links(real, rest);
            }
        }
        Some(real)
    }

    fn through_links(&mut self, mut real: PathBuf, mut rest: Vec<OsString>) -> Option<PathBuf> {
        let mut missing = false;
        let mut links = 1;
        while let Some(name) = rest.pop() {
            // A single name is a single component.
            let Some(component) = Path::new(&name).components().next() else { continue };
            if let Some(target) = self.step(&mut real, component, &mut missing)? {
                links += 1;
                if links > MOST_LINKS {
                    return None;
                }
                rest.extend(reversed(&target));
            }
        }
        Some(real)
    }

    /// Goes on by one name; the target when it is a link. None when there were too many looks.
    fn step(&mut self, real: &mut PathBuf, component: Component<'_>, missing: &mut bool) -> Option<Option<PathBuf>> {
        match component {
            Component::CurDir => {}
            Component::ParentDir => {
                real.pop();
                *missing = false;
            }
            Component::RootDir | Component::Prefix(_) => {
                real.push(component);
                *missing = false;
            }
            Component::Normal(name) => {
                real.push(name);
                if *missing {
                    return Some(None);
                }
                if real.as_os_str().as_encoded_bytes().starts_with(b"/proc") && real.starts_with("/proc") {
                    // Links there mean something else for each process that follows them.
                    if name == "root" && real.components().count() > 3 {
                        real.clear();
                        real.push("/");
                    }
                    return Some(None);
                }
                match self.see(real)? {
                    Seen::Link(target) => {
                        let target = target.clone();
                        real.pop();
                        return Some(Some(target));
                    }
                    seen => *missing = *seen == Seen::Missing,
                }
            }
        }
        Some(None)
    }

    /// What a name is. None when there were too many looks.
    fn see(&mut self, path: &Path) -> Option<&Seen> {
        if !self.seen.contains_key(path.as_os_str()) {
            if !self.spend() {
                return None;
            }
            let seen = match path.read_link() {
                Ok(target) => Seen::Link(target),
                Err(error) if error.kind() == ErrorKind::NotFound => Seen::Missing,
                Err(_) => Seen::Plain,
            };
            self.seen.insert(path.as_os_str().to_owned(), seen);
        }
        self.seen.get(path.as_os_str())
    }
}

/// The names of a path, last one first.
fn reversed(path: &Path) -> Vec<OsString> {
    path.components().rev().map(|component| component.as_os_str().to_owned()).collect()
}

/// Whether a path names no file but something that every command has.
pub(crate) fn is_device(path: &str) -> bool {
    matches!(
        path,
        "/dev/null"
            | "/dev/zero"
            | "/dev/full"
            | "/dev/random"
            | "/dev/urandom"
            | "/dev/stdin"
            | "/dev/stdout"
            | "/dev/stderr"
            | "/dev/tty"
    ) || path
        .strip_prefix("/dev/fd/")
        .or_else(|| path.strip_prefix("/proc/self/fd/"))
        .is_some_and(|number| !number.is_empty() && number.bytes().all(|b| b.is_ascii_digit()))
}

#[cfg(all(test, unix))]
mod tests {
    use std::os::unix::fs::symlink;
    use std::path::{Path, PathBuf};

    use super::Look;

    #[test]
    fn links_are_followed_also_into_nothing() {
        let directory = tempfile::tempdir().unwrap();
        let root = directory.path().canonicalize().unwrap();
        std::fs::create_dir(root.join("sub")).unwrap();
        symlink("../nothing", root.join("sub/dangling")).unwrap();
        symlink("/etc", root.join("away")).unwrap();
        symlink("loop", root.join("loop")).unwrap();
        symlink("sub", root.join("link")).unwrap();
        let mut look = Look::new(std::slice::from_ref(&root));
        let mut check = |path: &str, expected: &Path, inside: bool| {
            let found = look.resolve(&root, Path::new(path));
            assert_eq!((found.path.as_path(), found.inside), (expected, inside), "{path}");
        };
        check("sub/dangling", &root.join("nothing"), true);
        check("away/x/../hosts", Path::new("/etc/hosts"), false);
        check("link/../a/./b", &root.join("a/b"), true);
        check("away/..", Path::new("/"), false);
        check("loop", &root.join("loop"), false);
        check("loop/x", &root.join("loop/x"), false);
        check("new/file", &root.join("new/file"), true);
        check("new/../../x", &root.parent().unwrap().join("x"), false);
        check("/proc/self/cwd/x", Path::new("/proc/self/cwd/x"), false);
        check("/proc/self/root/etc/passwd", Path::new("/etc/passwd"), false);
    }

    #[test]
    fn a_neighbour_with_the_same_beginning_is_outside() {
        let mut look = Look::new(&[PathBuf::from("/srv/proj")]);
        assert!(!look.resolve(Path::new("/"), Path::new("/srv/projX/a")).inside);
        assert!(look.resolve(Path::new("/"), Path::new("/srv//proj/./a")).inside);
    }

    #[test]
    fn looks_are_bounded() {
        let mut look = Look::new(&[PathBuf::from("/srv/proj")]);
        // A name is looked at once.
        let long = "a/../".repeat(10_000);
        assert!(look.resolve(Path::new("/srv/proj"), Path::new(&long)).inside);
        let long: String = (0..10_000).map(|number| format!("{number}/../")).collect();
        assert!(!look.resolve(Path::new("/srv/proj"), Path::new(&long)).inside);
    }
}
