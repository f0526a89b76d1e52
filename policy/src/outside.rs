//! Redirections that leave the workspace, which no rule about commands allows.

use std::path::{Component, Path, PathBuf};

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
    /// Why a redirection must be asked; none when its target is known and allowed.
    pub(crate) fn redirect(&self, redirect: &Redirect) -> Option<String> {
        match redirect.kind {
            RedirectKind::Text | RedirectKind::DuplicateInput | RedirectKind::DuplicateOutput => return None,
            RedirectKind::Read | RedirectKind::Write | RedirectKind::Append | RedirectKind::ReadWrite => {}
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

/// The path with `.` and `..` taken away, and with the symbolic links of what exists resolved.
fn resolve(path: &Path) -> PathBuf {
    let mut plain = PathBuf::new();
    for component in path.components() {
        match component {
            Component::ParentDir => {
                // A link before `..` decides where it leads.
                if let Ok(real) = plain.canonicalize() {
                    plain = real;
                }
                plain.pop();
            }
            Component::CurDir => {}
            other => plain.push(other),
        }
    }
    let mut existing = plain.as_path();
    let mut missing = Vec::new();
    loop {
        if let Ok(mut real) = existing.canonicalize() {
            real.extend(missing.iter().rev());
            return real;
        }
        match (existing.parent(), existing.file_name()) {
            (Some(parent), Some(name)) => {
                missing.push(name);
                existing = parent;
            }
            _ => return plain.clone(),
        }
    }
}
