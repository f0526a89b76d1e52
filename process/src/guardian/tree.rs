//! The processes below a guardian, and signals to them.

use std::collections::{HashMap, HashSet};
use std::io;

use crate::sys::{self, Process};

/// The tree below one process.
#[derive(Debug)]
pub(crate) struct Tree {
    root: i32,
    /// The session of the command. Where orphans leave the tree (no subreaper), it is how they are found again.
    session: Option<i32>,
    /// Those seen so far, only kept where orphans leave the tree.
    known: HashSet<(i32, u64)>,
}

impl Tree {
    /// All below `root`, which is not part of it.
    pub(crate) fn below(root: i32) -> Self {
        Self { root, session: None, known: HashSet::new() }
    }

    /// Names the session of the command.
    pub(crate) fn with_session(mut self, session: i32) -> Self {
        self.session = Some(session);
        self
    }

    /// The living processes of the tree, parents first; zombies are not alive.
    pub(crate) fn living(&mut self) -> Vec<Process> {
        let mut found = self.walk().unwrap_or_else(|| self.scan(&sys::all_processes()));
        found.retain(|process| !process.is_dead());
        found
    }

    /// By the kernel's lists of children. `None` where there are none.
    fn walk(&self) -> Option<Vec<Process>> {
        if !sys::subreaper() {
            return None;
        }
        let mut pids = Vec::new();
        if !sys::children(self.root, &mut pids) {
            return None;
        }
        let mut found = Vec::new();
        let mut seen = HashSet::new();
        let mut next = 0;
        while next < pids.len() {
            let pid = pids[next];
            next += 1;
            if seen.insert(pid)
                && let Some(process) = sys::process(pid)
            {
                found.push(process);
                sys::children(pid, &mut pids);
            }
        }
        Some(found)
    }

    /// By the parents of all processes.
    fn scan(&mut self, all: &[Process]) -> Vec<Process> {
        let mut below: HashMap<i32, Vec<&Process>> = HashMap::new();
        for process in all {
            below.entry(process.parent).or_default().push(process);
        }
        let mut queue: Vec<&Process> = below.get(&self.root).cloned().unwrap_or_default();
        if !sys::subreaper() {
            let ours = |process: &&Process| {
                process.pid != self.root
                    && (Some(process.session) == self.session || self.known.contains(&(process.pid, process.start)))
            };
            queue.extend(all.iter().filter(ours));
        }
        let mut seen = HashSet::new();
        let mut found = Vec::new();
        let mut next = 0;
        while next < queue.len() {
            let process = queue[next];
            next += 1;
            if seen.insert(process.pid) {
                found.push(*process);
                queue.extend(below.get(&process.pid).into_iter().flatten());
            }
        }
        if !sys::subreaper() {
            self.known = found.iter().map(|process| (process.pid, process.start)).collect();
        }
        found
    }

    /// Sends a signal to one process of the tree.
    ///
    /// A child of this process cannot be mistaken: its number is not used again before we reap it. Every other
    /// one is checked to be the one that was seen.
    pub(crate) fn signal(&self, process: &Process, number: i32) -> io::Result<()> {
        if process.parent == self.root && self.root == std::process::id().cast_signed() {
            sys::kill(process.pid, number)
        } else {
            sys::signal(process, number)
        }
    }
}

/// Asks a process to end; a stopped one is woken, since it would not see the signal.
pub(crate) const ASK: [i32; 3] = [libc::SIGTERM, libc::SIGHUP, libc::SIGCONT];

#[cfg(test)]
mod tests {
    use super::*;

    fn process(pid: i32, parent: i32) -> Process {
        Process { pid, parent, group: pid, session: pid, start: 1, state: b'S', name: [0; 16] }
    }

    #[test]
    fn a_scan_finds_all_below_and_nothing_else() {
        let all = [process(5, 4), process(1, 0), process(2, 1), process(3, 2), process(4, 2), process(9, 1)];
        let mut found: Vec<_> = Tree::below(2).scan(&all).iter().map(|process| process.pid).collect();
        found.sort_unstable();
        assert_eq!(found, [3, 4, 5]);
    }
}
