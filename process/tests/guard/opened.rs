//! Commands that start from open files, whatever their paths lead to by then.

use std::fs::{self, File};
use std::os::fd::OwnedFd;
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt, symlink};
use std::path::Path;
use std::sync::Arc;

use process::{CommandSpec, Exit, Launcher, Opened, Output, SpawnError, SpawnErrorKind, Stdio};

use crate::support::{Running, both, command};

const PIPE: Stdio = Stdio::Pipes(Output::Merged);

/// Opens it as a place, as a host does that looks at it before it asks.
fn open(path: &Path) -> Option<Arc<OwnedFd>> {
    let flags = if cfg!(target_os = "linux") { libc::O_PATH } else { 0 };
    Some(Arc::new(File::options().read(true).custom_flags(flags).open(path).unwrap().into()))
}

/// How it ended, and all that it printed.
async fn run(launcher: &Launcher, spec: CommandSpec) -> Result<(Exit, String), SpawnError> {
    let mut running = Running::start(launcher, spec).await?;
    Ok((running.finish().await, running.text))
}

fn replace(path: &Path, other: &Path) {
    let new = path.with_extension("new");
    fs::copy(other, &new).unwrap();
    fs::rename(new, path).unwrap();
}

#[test]
fn the_directory_is_the_open_one() {
    both(async |launcher| {
        let root = tempfile::tempdir().unwrap();
        let root = root.path().canonicalize().unwrap();
        let (sub, moved, outside) = (root.join("sub"), root.join("moved"), root.join("outside"));
        fs::create_dir(&sub).unwrap();
        fs::create_dir(&outside).unwrap();
        let opened = Opened { workdir: open(&sub), program: None };
        fs::rename(&sub, &moved).unwrap();
        symlink(&outside, &sub).unwrap();
        let spec = CommandSpec { workdir: sub, opened, ..command(&["sh", "-c", "pwd -P; echo x > made"], PIPE) };
        let (exit, text) = run(&launcher, spec).await.unwrap();
        assert_eq!((exit, text.trim()), (Exit::Code(0), moved.to_str().unwrap()));
        assert!(moved.join("made").exists() && !outside.join("made").exists());
    });
}

#[test]
fn a_program_that_was_replaced_does_not_run() {
    both(async |launcher| {
        let root = tempfile::tempdir().unwrap();
        let program = root.path().join("program");
        fs::copy("/bin/true", &program).unwrap();
        let opened = Opened { workdir: None, program: open(&program) };
        let spec = CommandSpec { opened, ..command(&[program.to_str().unwrap()], PIPE) };
        let (exit, _) = run(&launcher, spec.clone()).await.unwrap();
        assert_eq!(exit, Exit::Code(0));
        replace(&program, Path::new("/bin/false"));
        match run(&launcher, spec).await {
            // Where the system executes descriptors, what was opened runs all the same.
            Ok((exit, _)) => assert_eq!(exit, Exit::Code(0)),
            Err(error) => assert_eq!(error.kind(), SpawnErrorKind::Replaced),
        }
    });
}

#[test]
fn a_script_runs_by_its_path_and_only_while_that_leads_to_it() {
    both(async |launcher| {
        let root = tempfile::tempdir().unwrap();
        let script = root.path().join("script");
        let write = |path: &Path, text: &str| {
            fs::write(path, text).unwrap();
            fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
        };
        write(&script, "#!/bin/sh\necho \"$0\"\n");
        let opened = Opened { workdir: None, program: open(&script) };
        let mut spec = CommandSpec { opened, ..command(&["script"], PIPE) };
        spec.env = vec![("PATH".into(), format!("/usr/bin:/nowhere:{}", root.path().display()).into())];
        let (exit, text) = run(&launcher, spec.clone()).await.unwrap();
        assert_eq!((exit, text.trim()), (Exit::Code(0), script.to_str().unwrap()));
        let other = root.path().join("other");
        write(&other, "#!/bin/sh\necho replaced\n");
        fs::rename(&other, &script).unwrap();
        let error = run(&launcher, spec).await.expect_err("it is another file");
        assert_eq!(error.kind(), SpawnErrorKind::Replaced, "{error}");
        assert_eq!(error.to_string(), "cannot run `script`: its path leads to another file than before");
    });
}

#[test]
fn a_name_stays_the_name_of_the_program() {
    both(async |launcher| {
        let opened = Opened { workdir: open(Path::new("/")), program: open(Path::new("/bin/cat")) };
        let spec = CommandSpec { opened, ..command(&["/bin/cat", "/proc/self/comm"], PIPE) };
        let (exit, text) = run(&launcher, spec).await.unwrap();
        assert_eq!((exit, text.trim()), (Exit::Code(0), "cat"));
    });
}

#[test]
fn nothing_of_it_stays_open_in_the_command() {
    both(async |launcher| {
        let opened = Opened { workdir: open(Path::new("/")), program: open(Path::new("/bin/ls")) };
        let spec = CommandSpec { opened, ..command(&["/bin/ls", "/proc/self/fd"], PIPE) };
        let (_, text) = run(&launcher, spec).await.unwrap();
        // The last one is the listed directory itself.
        assert_eq!(text.split_whitespace().collect::<Vec<_>>(), ["0", "1", "2", "3"]);
    });
}
