//! A machine that is full, and a clock that jumps: faults 35 and 38.

use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use crate::harness::alone_bare;
use crate::hosts::Host;
use crate::measure::{is_root, note};

/// Runs the host that opens sessions until one is refused.
#[track_caller]
fn fill(kind: &str, wrapper: &[&str], says: &str) {
    let (lines, status) = Host::start("full", wrapper, &[kind]).finish();
    assert!(status.success() && lines.last().is_some_and(|last| last == "end"), "{lines:?} {status}");
    note(&lines[0]);
    assert!(lines[0].contains(says), "{lines:?}");
}

/// Fault 35: descriptors.
#[test]
fn no_descriptor_left() {
    alone_bare(|| {
        let wrapper = ["sh", "-c", "ulimit -n 40; exec \"$@\"", "sh"];
        fill("descriptors", &wrapper, "no file descriptor is left");
    });
}

/// Fault 35: terminals.
#[test]
fn no_terminal_left() {
    if !is_root("no_terminal_left") {
        return;
    }
    alone_bare(|| {
        let script = "mount -t devpts -o newinstance,max=2,ptmxmode=0666 devpts /dev/pts &&
            mount --bind /dev/pts/ptmx /dev/ptmx && exec \"$@\"";
        fill("terminals", &["unshare", "-m", "sh", "-c", script, "sh"], "refused after 2: no pseudoterminal is left");
    });
}

/// Fault 35: processes.
#[test]
fn no_process_left() {
    if !is_root("no_process_left") {
        return;
    }
    alone_bare(|| {
        let directory = tempfile::tempdir().unwrap();
        let copy = shared_copy(directory.path());
        let copy = copy.to_str().unwrap();
        let wrapper = ["setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups", "prlimit"];
        let wrapper: Vec<&str> = wrapper.into_iter().chain(["--nproc=20:20", "--", copy]).collect();
        // The copy is the program; what follows it is its argument.
        let (lines, status) = Host::through("full", &wrapper, &["processes"]).finish();
        assert!(status.success() && lines.last().is_some_and(|last| last == "end"), "{lines:?} {status}");
        note(&lines[0]);
        assert!(lines[0].contains("no further process can be started"), "{lines:?}");
    });
}

/// A copy of this program that anybody may run.
fn shared_copy(directory: &Path) -> std::path::PathBuf {
    std::fs::set_permissions(directory, std::fs::Permissions::from_mode(0o755)).unwrap();
    let copy = directory.join("faults-test");
    std::fs::copy(std::env::current_exe().unwrap(), &copy).unwrap();
    std::fs::set_permissions(&copy, std::fs::Permissions::from_mode(0o755)).unwrap();
    copy
}

/// Fault 38.
#[test]
fn a_jump_of_the_clock_moves_no_deadline() {
    let Some(library) = faketime() else {
        println!("skipped: a_jump_of_the_clock_moves_no_deadline needs libfaketime (package faketime)");
        return;
    };
    alone_bare(|| {
        let directory = tempfile::tempdir().unwrap();
        let stamp = directory.path().join("stamp");
        std::fs::write(&stamp, "+0s\n").unwrap();
        let stamp = stamp.to_str().unwrap();
        let env = [
            ("LD_PRELOAD", library.as_str()),
            ("FAKETIME_TIMESTAMP_FILE", stamp),
            ("FAKETIME_NO_CACHE", "1"),
            ("FAKETIME_DONT_FAKE_MONOTONIC", "1"),
        ];
        let (lines, status) = Host::start_with("clock", &[], &[stamp], &env).finish();
        assert!(status.success() && lines == ["end"], "{lines:?} {status}");
    });
}

/// The library that fakes the wall clock, where its package put it.
fn faketime() -> Option<String> {
    let under = std::fs::read_dir("/usr/lib").ok()?.flatten().map(|entry| entry.path());
    let mut libraries = under.map(|directory| directory.join("faketime/libfaketime.so.1"));
    libraries.find(|library| library.exists()).map(|library| library.display().to_string())
}
