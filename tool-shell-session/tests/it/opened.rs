//! A start keeps to what was approved: the open directory, the open shell, and conditions right before and after.

use std::fs::{self, File};
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::json;
use tool_api::{
    Condition, Denied, DeniedKind, Effect, Grant, Handle, OpenedDirectory, Permission, PermissionRequest,
    StartDirectory, ToolErrorKind, async_trait,
};
use tool_shell_session::Config;

use crate::host::run;

fn open(path: &Path) -> Arc<Handle> {
    Arc::new(File::open(path).unwrap().into())
}

/// Opens the directory, and then puts a link to another one in its place.
#[derive(Debug)]
struct Swaps {
    outside: PathBuf,
}

#[async_trait]
impl Permission for Swaps {
    async fn ask(&self, request: PermissionRequest) -> Result<Grant, Denied> {
        let Effect::Command(effect) = request.effect else { panic!("{request:?}") };
        let opened = OpenedDirectory { path: effect.workdir.clone(), file: open(&effect.workdir) };
        let shell = open(&effect.shell);
        fs::rename(&effect.workdir, effect.workdir.with_file_name("moved")).unwrap();
        symlink(&self.outside, &effect.workdir).unwrap();
        Ok(Grant::new().with_directory(StartDirectory::Opened(opened)).with_program(shell))
    }
}

#[test]
fn it_starts_in_the_directory_that_was_approved() {
    run(Config::default(), |host| async move {
        fs::create_dir(host.root().join("sub")).unwrap();
        fs::create_dir(host.root().join("outside")).unwrap();
        let permission = Arc::new(Swaps { outside: host.root().join("outside") });
        let host = host.with(|ctx| ctx.with_permission(permission));
        // The shell knows where it is, although the path that it was told leads elsewhere.
        let command = "pwd; pwd -P; echo $PWD; touch made; cd ..; pwd";
        let start = json!({"action": "start", "command": command, "workdir": "sub", "until": "exit", "waitMs": 30_000});
        let answer = host.call(start).await;
        let root = host.root().display();
        answer.expect(json!({"output": format!("{root}/moved\n{root}/moved\n{root}/moved\n{root}\n"), "exitCode": 0}));
        assert!(host.root().join("moved/made").exists());
        assert!(!host.root().join("outside/made").exists());
    });
}

/// Grants with a directory and a condition.
#[derive(Debug)]
struct Grants(Grant);

#[async_trait]
impl Permission for Grants {
    async fn ask(&self, _request: PermissionRequest) -> Result<Grant, Denied> {
        Ok(self.0.clone())
    }
}

#[test]
fn a_directory_that_could_not_be_opened_is_not_tried_by_its_path() {
    run(Config::default(), |host| async move {
        fs::create_dir(host.root().join("sub")).unwrap();
        let missing = Arc::new(std::io::Error::from_raw_os_error(2));
        let grant = Grant::new().with_directory(StartDirectory::Unavailable(missing));
        let host = host.with(|ctx| ctx.with_permission(Arc::new(Grants(grant))));
        let start = json!({"action": "start", "command": "touch made", "workdir": "sub"});
        let error = host.try_call(start).await.unwrap_err();
        assert_eq!(error.kind(), ToolErrorKind::System);
        let path = host.root().join("sub");
        assert_eq!(
            error.report(),
            format!(
                "nothing was started: cannot change to the working directory `{}`: No such file or directory (os \
                 error 2)\nhint: choose an existing directory that may be entered",
                path.display()
            )
        );
        host.call(json!({"action": "list"})).await.expect(json!({"sessions": []}));
        assert!(!path.join("made").exists());
    });
}

/// Holds before the start and not after it.
#[derive(Debug, Default)]
struct HeldBefore {
    checks: AtomicUsize,
}

impl Condition for HeldBefore {
    fn check(&self) -> Result<(), Denied> {
        self.checks.fetch_add(1, Ordering::SeqCst);
        Ok(())
    }

    fn check_started(&self) -> Result<(), Denied> {
        assert_eq!(self.checks.load(Ordering::SeqCst), 1, "it was checked before");
        Err(Denied::new(DeniedKind::Changed, "`/bin/x` is not the file that was approved").with_hint("look"))
    }
}

#[test]
fn what_changed_while_it_was_started_is_stopped_at_once() {
    run(Config::default(), |host| async move {
        let grant = Grant::new().with_condition(Arc::new(HeldBefore::default()));
        let denied = host.with(|ctx| ctx.with_permission(Arc::new(Grants(grant))));
        let start = json!({"action": "start", "command": "sleep 1000 & setsid sleep 1001 & sleep 1002"});
        let error = denied.try_call(start).await.unwrap_err();
        assert_eq!(error.kind(), ToolErrorKind::Denied);
        assert_eq!(
            error.report(),
            "permission denied: `/bin/x` is not the file that was approved; that came while it was started, so session \
             `s1` ran for a moment before it was stopped, and nothing of its process tree is left\nhint: look"
        );
        assert_eq!(host.processes(), Vec::<String>::new());
        host.call(json!({"action": "read", "id": "s1"})).await.expect(json!({"endedBecause": "killed"}));
    });
}
