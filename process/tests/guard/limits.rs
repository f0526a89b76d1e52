//! Limits of the machine and requests that cannot work: faults 35, 36 and 37.

use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use process::{PtySettings, PtySize, SpawnErrorKind as Kind, Stage, pty};

use crate::fixtures::{self, Helper};
use crate::support::{both, command, is_root, scenario, terminal, with_environment};

/// A copy of this program anybody may run.
pub(crate) fn shared_copy(directory: &Path, mode: u32) -> std::path::PathBuf {
    std::fs::set_permissions(directory, std::fs::Permissions::from_mode(0o755)).unwrap();
    let copy = directory.join("guard-test");
    std::fs::copy(std::env::current_exe().unwrap(), &copy).unwrap();
    std::fs::set_permissions(&copy, std::fs::Permissions::from_mode(mode)).unwrap();
    copy
}

/// Fault 35: descriptors.
#[test]
fn no_descriptor_left() {
    scenario(async || {
        for mode in ["guarded", "unguarded"] {
            let wrapper = ["sh", "-c", "ulimit -n 40; exec \"$@\"", "sh"];
            let own = std::env::current_exe().unwrap();
            let helper = Helper::start_through("full-host", &wrapper, &own, &[mode, "descriptors"]);
            let (lines, status) = helper.finish().await;
            assert!(status.success() && lines.len() == 1, "{mode}: {lines:?} {status}");
            assert!(lines[0].contains("no file descriptor is left (Too many open files"), "{lines:?}");
        }
    });
}

/// Fault 35: terminals.
#[test]
fn no_terminal_left() {
    if !is_root("no_terminal_left") {
        return;
    }
    scenario(async || {
        let script = "mount -t devpts -o newinstance,max=2,ptmxmode=0666 devpts /dev/pts &&
            mount --bind /dev/pts/ptmx /dev/ptmx && exec \"$@\"";
        for mode in ["guarded", "unguarded"] {
            let wrapper = ["unshare", "-m", "sh", "-c", script, "sh"];
            let own = std::env::current_exe().unwrap();
            let helper = Helper::start_through("full-host", &wrapper, &own, &[mode, "terminals"]);
            let (lines, status) = helper.finish().await;
            assert!(status.success() && lines.len() == 1, "{mode}: {lines:?} {status}");
            assert!(lines[0].starts_with("refused after 2: no pseudoterminal is left (No space"), "{lines:?}");
        }
    });
}

/// Fault 35: processes.
#[test]
fn no_process_left() {
    if !is_root("no_process_left") {
        return;
    }
    scenario(async || {
        let directory = tempfile::tempdir().unwrap();
        let copy = shared_copy(directory.path(), 0o755);
        let wrapper = ["setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups"];
        let wrapper: Vec<_> = wrapper.into_iter().chain(["prlimit", "--nproc=20:20"]).collect();
        for mode in ["guarded", "unguarded"] {
            let helper = Helper::start_through("full-host", &wrapper, &copy, &[mode, "processes"]);
            let (lines, status) = helper.finish().await;
            assert!(status.success() && lines.len() == 1, "{mode}: {lines:?} {status}");
            assert!(lines[0].contains("no further process can be started (Resource temporarily"), "{lines:?}");
        }
    });
}

/// Fault 36.
#[test]
fn what_cannot_be_executed_is_an_error() {
    let directory = tempfile::tempdir().unwrap();
    let file = |name: &str, text: &str, mode| {
        let path = directory.path().join(name);
        std::fs::write(&path, text).unwrap();
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(mode)).unwrap();
        path.to_str().unwrap().to_owned()
    };
    let interpreter = file("interpreter", "#!/no/such/interp\n", 0o755);
    let garbage = file("garbage", "\x7fELFgarbage", 0o755);
    let text = file("text", "echo this is not run by a shell\n", 0o755);
    let plain = file("plain", "#!/bin/sh\necho no\n", 0o644);
    let long = "x".repeat(200_000);
    let own = directory.path().to_str().unwrap();
    let cases: [(&[&str], Kind, i32); 8] = [
        (&[&interpreter], Kind::NotFound, libc::ENOENT),
        (&["/no/such/program"], Kind::NotFound, libc::ENOENT),
        (&["no-such-program"], Kind::NotFound, libc::ENOENT),
        (&[&garbage], Kind::BadFormat, libc::ENOEXEC),
        (&[&text], Kind::BadFormat, libc::ENOEXEC),
        (&["echo", &long], Kind::TooLong, libc::E2BIG),
        (&[own], Kind::NotExecutable, libc::EACCES),
        (&[&plain], Kind::NotExecutable, libc::EACCES),
    ];
    both(async |launcher| {
        for (argv, kind, errno) in cases {
            let mut spec = command(argv, terminal());
            spec.env.push(("GUARD_TEST_MARK".into(), "cannot-run".into()));
            let error = launcher.spawn(spec).await.unwrap_err();
            assert_eq!((error.kind(), error.errno(), error.stage()), (kind, Some(errno), Stage::Exec), "{error}");
            assert!(error.to_string().contains(argv[0]) && error.hint().is_some(), "{error}");
            assert_eq!(with_environment("GUARD_TEST_MARK=cannot-run"), []);
        }
        let error = launcher.spawn(command(&[&interpreter], terminal())).await.unwrap_err();
        assert!(error.to_string().contains("interpreter"), "{error}");
        for (workdir, errno) in [("/no/such/directory", libc::ENOENT), (interpreter.as_str(), libc::ENOTDIR)] {
            let mut spec = command(&["true"], terminal());
            spec.workdir = workdir.into();
            let error = launcher.spawn(spec).await.unwrap_err();
            let found = (error.kind(), error.errno(), error.stage());
            assert_eq!(found, (Kind::Workdir, Some(errno), Stage::Workdir), "{error}");
            assert!(error.to_string().contains(workdir), "{error}");
        }
    });
}

#[test]
fn what_is_no_command_is_refused() {
    both(async |launcher| {
        let good = command(&["true"], terminal());
        let mut cases = vec![command(&[], terminal()), command(&[""], terminal()), command(&["a", "b\0c"], terminal())];
        for (name, value) in [("A=B", "c"), ("", "c"), ("A\0", "c"), ("A", "c\0")] {
            let mut spec = good.clone();
            spec.env.push((name.into(), value.into()));
            cases.push(spec);
        }
        for workdir in ["", "/\0"] {
            let mut spec = good.clone();
            spec.workdir = workdir.into();
            cases.push(spec);
        }
        for spec in cases {
            let error = launcher.spawn(spec).await.unwrap_err();
            assert_eq!((error.kind(), error.stage()), (Kind::InvalidInput, Stage::Request), "{error}");
            assert!(error.hint().is_some());
        }
    });
}

/// Fault 37.
#[test]
fn terminals_do_not_leak_into_other_programs() {
    scenario(async || {
        let (stop, end) = (AtomicBool::new(false), Instant::now() + Duration::from_secs(8));
        let own = std::env::current_exe().unwrap();
        let (opened, codes) = std::thread::scope(|scope| {
            let opener = scope.spawn(|| {
                let mut count = 0;
                while !stop.load(Ordering::Relaxed) {
                    drop(pty::open(PtySize::default(), PtySettings::default()).unwrap());
                    count += 1;
                }
                count
            });
            let mut codes = Vec::new();
            while Instant::now() < end || codes.len() < 100 {
                let mut command = std::process::Command::new(&own);
                let (name, value) = fixtures::named("leak");
                command.env(name, value).stdin(std::process::Stdio::null());
                command.stdout(std::process::Stdio::null()).stderr(std::process::Stdio::null());
                codes.push(command.status().unwrap().code());
            }
            stop.store(true, Ordering::Relaxed);
            (opener.join().unwrap(), codes)
        });
        eprintln!("{opened} terminals were opened while {} programs were started", codes.len());
        assert!(opened > 100, "{opened}");
        assert!(
            codes.iter().all(|code| *code == Some(0)),
            "{:?}",
            codes.iter().filter(|code| **code != Some(0)).count()
        );
    });
}
