//! Comparing what was approved with what is there now, and saying what differs.

use std::path::Path;

use tool_api::{Denied, DeniedKind};

use super::file::Kind;
use super::look::{Seen, SeenFile};

/// Changes that are told; the rest is counted.
const TOLD: usize = 3;

/// What differs, for a person.
pub(super) fn changes<'s>(before: impl Iterator<Item = &'s Seen>, now: &[Seen]) -> Vec<String> {
    let mut found = Vec::new();
    let mut now = now.iter();
    for before in before {
        match now.next() {
            Some(now) => compare(before, now, &mut found),
            // The names are those of the plan, so this cannot be; it is no reason to allow anything.
            None => found.push(format!("`{}` could not be looked at", crate::visible(&before.name))),
        }
    }
    found.dedup();
    found
}

/// A denial when there is a change.
pub(super) fn refuse(changes: &[String]) -> Result<(), Denied> {
    if changes.is_empty() {
        return Ok(());
    }
    let mut reason = changes[..changes.len().min(TOLD)].join("; ");
    if changes.len() > TOLD {
        reason.push_str(&format!("; and {} more changes", changes.len() - TOLD));
    }
    let hint = "look at what changed it; the same call is decided anew, for what is there then";
    Err(Denied::new(DeniedKind::Changed, reason).with_hint(hint))
}

fn compare(before: &Seen, now: &Seen, found: &mut Vec<String>) {
    let name = crate::visible(&before.name);
    match (&before.file, &now.file) {
        (None, None) => {}
        (Some(before), None) => found.push(format!("`{}` was approved, and is gone", shown(&before.path))),
        (None, Some(now)) => {
            found.push(format!("`{name}` would run `{}`, which was not there when it was approved", shown(&now.path)))
        }
        (Some(before), Some(now)) if before.path != now.path => {
            found.push(format!("`{name}` would run `{}`, and `{}` was approved", shown(&now.path), shown(&before.path)))
        }
        (Some(before), Some(now)) => {
            if let Some(difference) = difference(before, now) {
                found.push(format!("`{}` is not the file that was approved: {difference}", shown(&before.path)));
                return;
            }
            for (number, before) in before.interpreters.iter().enumerate() {
                match now.interpreters.get(number) {
                    Some(now) => compare(before, now, found),
                    None => found.push(format!("`{}` could not be looked at", crate::visible(&before.name))),
                }
            }
        }
    }
}

/// How a file differs from what it was.
fn difference(before: &SeenFile, now: &SeenFile) -> Option<&'static str> {
    let (old, new) = (&before.facts, &now.facts);
    if old.kind != new.kind {
        return Some("it is of another kind");
    }
    if (old.device, old.inode) != (new.device, new.inode) {
        return Some("another file took its place");
    }
    // A directory changes with every file in it, and a device with every use.
    if old.kind != Kind::File {
        return None;
    }
    if old.size != new.size {
        return Some("its size differs");
    }
    let hash = |file: &SeenFile| file.content.as_ref().and_then(|content| content.sha256);
    match (hash(before), hash(now)) {
        (Some(old), Some(new)) if old != new => return Some("its content differs"),
        (Some(_), Some(_)) => {}
        // The change time also differs after a new name or other rights, but nothing else tells without the content.
        _ if old.changed != new.changed => return Some("it was changed"),
        _ => {}
    }
    (old.modified != new.modified).then_some("its modification time differs")
}

fn shown(path: &Path) -> String {
    crate::visible(&path.to_string_lossy())
}
