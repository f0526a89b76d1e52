//! Paths with wildcards: inside when they start inside, go nowhere up, and match no link that leads outside.

use std::ffi::OsStr;
use std::path::Path;

use super::value::ANY;
use super::walk::Walk;
use crate::programs::Usage;

/// Entries of directories that are looked at for one command line.
pub(super) const MOST_ENTRIES: usize = 4_096;
/// Wildcards in one path.
const MOST_DEPTH: usize = 32;

impl Walk<'_> {
    /// Notes what a path with wildcards may reach from a resolved directory.
    pub(super) fn pattern(&mut self, base: &Path, text: &str, usage: Usage) {
        let at = text.find(ANY).unwrap_or(text.len());
        let start = text[..at].rfind('/').map_or(0, |slash| slash + 1);
        let (fixed, wild) = text.split_at(start);
        let directory = self.look.resolve(base, Path::new(fixed));
        let goes_up = wild.split('/').any(may_be_parent);
        if !directory.inside || goes_up || !self.matches(&directory.path, wild, usage, 0) {
            self.unknown_text(&text.replace(ANY, "*"), usage);
        }
    }

    /// Looks at the entries of a directory inside; false when there is too much to look at.
    fn matches(&mut self, directory: &Path, wild: &str, usage: Usage, depth: usize) -> bool {
        if depth > MOST_DEPTH {
            return false;
        }
        let at = wild.find(ANY).unwrap_or(wild.len());
        let start = if at == wild.len() { at } else { wild[..at].rfind('/').map_or(0, |slash| slash + 1) };
        let (fixed, wild) = wild.split_at(start);
        let resolved;
        let mut directory = directory;
        if !fixed.is_empty() {
            resolved = self.look.resolve(directory, Path::new(fixed));
            if !resolved.inside {
                self.outside(&resolved.path, &directory.join(fixed), usage);
                return true;
            }
            directory = &resolved.path;
        }
        if wild.is_empty() {
            return true;
        }
        let (component, rest) = match wild.split_once('/') {
            Some((component, rest)) => (component, rest.trim_start_matches('/')),
            None => (wild, ""),
        };
        let Ok(entries) = std::fs::read_dir(directory) else { return true };
        let pattern = component.split_once(ANY).zip(component.rsplit_once(ANY));
        let (prefix, suffix) = pattern.map_or(("", ""), |((prefix, _), (_, suffix))| (prefix, suffix));
        let mut leads_on = Vec::new();
        for entry in entries {
            if self.entries == 0 {
                return false;
            }
            self.entries -= 1;
            let Ok(entry) = entry else { return false };
            let name = entry.file_name();
            if !fits(&name, prefix, suffix, self.hidden_entries) {
                continue;
            }
            let Ok(kind) = entry.file_type() else { return false };
            if kind.is_symlink() || kind.is_dir() && !rest.is_empty() {
                leads_on.push(name);
            }
        }
        leads_on.sort_unstable();
        for name in leads_on {
            let next = self.look.resolve(directory, Path::new(&name));
            if !next.inside {
                self.outside(&next.path, &directory.join(&name), usage);
            } else if !rest.is_empty() && !self.matches(&next.path, rest, usage, depth + 1) {
                return false;
            }
        }
        true
    }
}

/// Whether a name could match; wider than the pattern, never narrower.
fn fits(name: &OsStr, prefix: &str, suffix: &str, hidden: bool) -> bool {
    let name = name.as_encoded_bytes();
    if name.starts_with(b".") && !hidden && !prefix.starts_with('.') {
        return false;
    }
    name.len() >= prefix.len() + suffix.len()
        && name.starts_with(prefix.as_bytes())
        && name.ends_with(suffix.as_bytes())
}

/// Whether a component is `..`, or a pattern that some shells let match it.
fn may_be_parent(component: &str) -> bool {
    if component == "." || !component.starts_with('.') {
        return false;
    }
    component.chars().all(|c| c == '.' || c == ANY) && component.chars().filter(|c| *c == '.').count() <= 2
}
