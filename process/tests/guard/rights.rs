//! Signals, rights and states out of the ordinary: faults 29, 30, 32 and 34.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use process::{Exit, SurvivorReason};

use crate::fixtures::Helper;
use crate::limits::shared_copy;
use crate::support::{Running, both, is_root, scenario};

/// Fault 34.
#[test]
fn an_odd_host_has_ordinary_commands() {
    scenario(async || {
        for mode in ["guarded", "unguarded"] {
            let wrapper = ["sh", "-c", "ulimit -Sn 123; umask 027; exec \"$@\"", "sh"];
            let own = std::env::current_exe().unwrap();
            let (lines, status) = Helper::start_through("odd-host", &wrapper, &own, &[mode]).finish().await;
            assert!(status.success(), "{mode}: {lines:?}");
            let none = "0000000000000000";
            let [blocked, ignored] = ["SigBlk", "SigIgn"].map(|name| format!("{name}:\t{none}"));
            let once = [&blocked, &ignored, "123", "0027", "0", "1", "2"];
            let expected: Vec<&str> = once.iter().chain(&once).copied().chain(["end"]).collect();
            assert_eq!(lines, expected, "{mode}");
        }
    });
}

/// Fault 30.
#[test]
fn a_setuid_program_is_not_taken_for_dead() {
    if !is_root("a_setuid_program_is_not_taken_for_dead") {
        return;
    }
    scenario(async || {
        let directory = tempfile::tempdir().unwrap();
        let setuid = shared_copy(directory.path(), 0o4755);
        let plain = tempfile::tempdir().unwrap();
        let plain_copy = shared_copy(plain.path(), 0o755);
        let wrapper = ["setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups"];
        for mode in ["guarded", "unguarded"] {
            let arguments = [mode, setuid.to_str().unwrap()];
            let helper = Helper::start_through("unprivileged-host", &wrapper, &plain_copy, &arguments);
            let (lines, status) = helper.finish().await;
            assert!(status.success() && lines == ["end"], "{mode}: {lines:?} {status}");
        }
    });
}

/// Fault 32.
#[test]
fn a_number_used_again_is_left_alone() {
    if !is_root("a_number_used_again_is_left_alone") {
        return;
    }
    if !Path::new("/proc/sys/kernel/ns_last_pid").exists() {
        eprintln!("skipped: a_number_used_again_is_left_alone needs /proc/sys/kernel/ns_last_pid");
        return;
    }
    scenario(async || {
        for mode in ["guarded", "unguarded"] {
            let wrapper = ["unshare", "-pf", "--mount-proc"];
            let own = std::env::current_exe().unwrap();
            let (lines, status) = Helper::start_through("pid-host", &wrapper, &own, &[mode]).finish().await;
            assert!(status.success() && lines == ["end"], "{mode}: {lines:?} {status}");
        }
    });
}

/// A file system in a file, which can be frozen.
struct Frozen {
    _directory: tempfile::TempDir,
    mount: PathBuf,
    frozen: bool,
}

impl Frozen {
    fn new() -> Option<Self> {
        let directory = tempfile::tempdir().unwrap();
        let (image, mount) = (directory.path().join("image"), directory.path().join("mount"));
        std::fs::create_dir(&mount).unwrap();
        std::fs::File::create(&image).unwrap().set_len(16 << 20).unwrap();
        let image = image.to_str().unwrap();
        let made = run("mkfs.ext4", &["-q", image]) && run("mount", &["-o", "loop", image, mount.to_str().unwrap()]);
        made.then_some(Self { _directory: directory, mount, frozen: false })
    }

    fn freeze(&mut self) {
        self.frozen = run("fsfreeze", &["-f", self.mount.to_str().unwrap()]);
        assert!(self.frozen);
    }

    fn unfreeze(&mut self) {
        if std::mem::take(&mut self.frozen) {
            assert!(run("fsfreeze", &["-u", self.mount.to_str().unwrap()]));
        }
    }
}

impl Drop for Frozen {
    fn drop(&mut self) {
        self.unfreeze();
        // Processes that were frozen may take a moment to let go.
        for _ in 0..200 {
            if run("umount", &[self.mount.to_str().unwrap()]) {
                return;
            }
            std::thread::sleep(Duration::from_millis(10));
        }
    }
}

fn run(program: &str, arguments: &[&str]) -> bool {
    let output = Command::new(program).args(arguments).output();
    output.is_ok_and(|output| output.status.success())
}

/// Fault 29.
#[test]
fn what_cannot_be_killed_is_reported_and_ends_later() {
    if !is_root("what_cannot_be_killed_is_reported_and_ends_later") {
        return;
    }
    both(async |launcher| {
        let Some(mut frozen) = Frozen::new() else {
            eprintln!("skipped: what_cannot_be_killed_is_reported_and_ends_later needs mkfs.ext4 and loop mounts");
            return;
        };
        let file = frozen.mount.join("f");
        frozen.freeze();
        let mut running = Running::piped(&launcher, &format!("echo ready; echo x > {}", file.display())).await;
        running.wait_for("ready\n").await;
        let pid = running.child.pid();
        crate::support::until("it waits", || crate::support::stat(pid).is_some_and(|stat| stat[0] == "D")).await;
        let deadline = Duration::from_millis(600);
        let report = running.child.stop(Duration::from_millis(100), deadline).await;
        assert!(report.elapsed >= deadline && report.elapsed < deadline + Duration::from_secs(3), "{report:?}");
        assert_eq!(report.survivors.len(), 1, "{report:?}");
        let survivor = &report.survivors[0];
        assert_eq!((survivor.process.pid, survivor.process.state), (pid, 'D'), "{report:?}");
        assert_eq!(survivor.reason, SurvivorReason::Uninterruptible);
        assert_eq!(survivor.wait_channel.as_deref(), Some("percpu_rwsem_wait"));
        assert_eq!(running.child.try_exit(), None);
        frozen.unfreeze();
        let exit = running.finish().await;
        assert!(matches!(exit, Exit::Signal(libc::SIGTERM | libc::SIGKILL | libc::SIGHUP)), "{exit:?}");
        running.child.tree_empty().await;
    });
}
