//! The audit file: one JSON line for each decision about an effect, and one for each effect.

mod line;

use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::SystemTime;

use policy::{Audit, AuditError, AuditEvent};
use tool_api::Mask;

/// Appends what was decided and done to a file, secrets hidden.
///
/// Each line is one write to the system, so that lines of several hosts do not mix and none is lost when the host is
/// killed. They are not forced to the disk, so that the last ones may be lost when the machine stops.
///
/// The file is made with the mode 0600, and is given it if others may read it. What is no regular file, a link
/// included, is refused. A file that was renamed is written on; one that was removed is an error.
#[derive(Debug)]
pub struct AuditFile {
    path: PathBuf,
    mask: Arc<dyn Mask>,
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    file: File,
    /// The last line is not whole, so that the next one begins with an end of line.
    torn: bool,
}

impl AuditFile {
    /// Opens the file, and makes it if there is none.
    ///
    /// # Errors
    /// What the system refuses, and a file that is none.
    pub fn open(path: impl Into<PathBuf>, mask: Arc<dyn Mask>) -> io::Result<Self> {
        let path = path.into();
        let file = open(&path)?;
        if !file.metadata()?.is_file() {
            return Err(io::Error::new(io::ErrorKind::InvalidInput, "it is not a regular file"));
        }
        Ok(Self { path, mask, state: Mutex::new(State { file, torn: false }) })
    }

    /// Returns where the file was when it was opened.
    pub fn path(&self) -> &Path {
        &self.path
    }
}

impl Audit for AuditFile {
    fn record(&self, event: &AuditEvent<'_>) -> Result<(), AuditError> {
        let mut line = line::line(event, SystemTime::now(), &*self.mask).to_string();
        line.push('\n');
        // A panic elsewhere leaves at most a line that is not whole, which `torn` says.
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.write(&line).map_err(|error| AuditError::new(format!("{error} (`{}`)", self.path.display())))
    }
}

impl State {
    fn write(&mut self, line: &str) -> io::Result<()> {
        still_there(&self.file)?;
        let line = if self.torn { format!("\n{line}") } else { line.to_owned() };
        self.torn = true;
        self.file.write_all(line.as_bytes())?;
        self.torn = false;
        Ok(())
    }
}

#[cfg(unix)]
fn open(path: &Path) -> io::Result<File> {
    use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};

    use nix::fcntl::OFlag;

    // A pipe that nobody reads must not hold the start.
    let flags = (OFlag::O_NOFOLLOW | OFlag::O_NONBLOCK).bits();
    let file = OpenOptions::new().append(true).create(true).mode(0o600).custom_flags(flags).open(path);
    let file = file.map_err(|error| match error.raw_os_error() {
        Some(code) if code == nix::errno::Errno::ELOOP as i32 => io::Error::other("it is a symbolic link"),
        _ => error,
    })?;
    let mut permissions = file.metadata()?.permissions();
    if permissions.mode() & 0o077 != 0 && file.metadata()?.is_file() {
        permissions.set_mode(0o600);
        file.set_permissions(permissions)?;
    }
    Ok(file)
}

#[cfg(not(unix))]
fn open(path: &Path) -> io::Result<File> {
    OpenOptions::new().append(true).create(true).open(path)
}

/// Refuses to go on writing into a file that has no name any more, which nobody will read.
#[cfg(unix)]
fn still_there(file: &File) -> io::Result<()> {
    use std::os::unix::fs::MetadataExt;

    if file.metadata()?.nlink() == 0 {
        return Err(io::Error::new(io::ErrorKind::NotFound, "the file was removed"));
    }
    Ok(())
}

#[cfg(not(unix))]
fn still_there(_file: &File) -> io::Result<()> {
    Ok(())
}

#[cfg(test)]
#[cfg(unix)]
mod tests {
    use std::fs;
    use std::os::unix::fs::{PermissionsExt, symlink};

    use policy::{Answer, Approver, AuditWhat, Decider, Decision, Gate, NobodyToAsk, Policy, Prompt};
    use tool_api::{
        CallId, CommandEffect, CommandKind, DeniedKind, Effect, Effects, NoMask, Permission, PermissionRequest,
        ReadEffect, ToolContext,
    };

    use super::*;

    fn mode(path: &Path) -> u32 {
        fs::metadata(path).unwrap().permissions().mode() & 0o777
    }

    fn audit(path: &Path) -> AuditFile {
        AuditFile::open(path, Arc::new(NoMask)).unwrap()
    }

    fn request() -> PermissionRequest {
        let ctx = ToolContext::deny_all("c1", "/srv").with_call(CallId::new("k-1"));
        let effect = Effect::Read(ReadEffect { what: "a".into(), path: None });
        PermissionRequest::new("t", Effects::READ_ONLY, effect, &ctx)
    }

    #[tokio::test]
    async fn what_cannot_be_written_down_does_not_happen() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("audit.jsonl");
        let file = Arc::new(audit(&path));
        let policy = Arc::new(Policy::new());
        let gate = Gate::new("c1".into(), policy, Arc::new(NobodyToAsk::new("nobody"))).with_audit(file);
        let grant = gate.ask(request()).await.unwrap();
        assert_eq!(grant.check(), Ok(()));
        let kept = fs::read_to_string(&path).unwrap();
        assert_eq!(kept.lines().count(), 2, "{kept}");
        fs::remove_file(&path).unwrap();
        let denied = grant.check().unwrap_err();
        assert_eq!(denied.kind(), DeniedKind::Failed);
        assert!(denied.reason().contains("the file was removed"), "{denied}");
        assert_eq!(gate.ask(request()).await.unwrap_err().kind(), DeniedKind::Failed);
    }

    /// Never answers, or asks after the call.
    #[derive(Debug)]
    struct Later {
        suspends: bool,
        asked: tokio::sync::Notify,
    }

    #[policy::async_trait]
    impl Approver for Later {
        async fn ask(&self, _prompt: Prompt) -> Answer {
            self.asked.notify_one();
            if self.suspends { Answer::Suspended } else { std::future::pending().await }
        }
    }

    fn command() -> PermissionRequest {
        let ctx = ToolContext::deny_all("c1", "/").with_call(CallId::new("k-2"));
        let effect = Effect::Command(CommandEffect {
            command: "make".into(),
            shell: "/bin/sh".into(),
            workdir: "/".into(),
            kind: CommandKind::Once,
            env: Vec::new(),
            search_path: None,
            foreground: None,
        });
        PermissionRequest::new("t", Effects::default(), effect, &ctx)
    }

    #[tokio::test]
    async fn what_has_no_answer_yet_or_never_gets_one_is_written_down() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("audit.jsonl");
        let file = Arc::new(audit(&path));
        for suspends in [true, false] {
            let later = Arc::new(Later { suspends, asked: tokio::sync::Notify::new() });
            let approver: Arc<dyn Approver> = later.clone();
            let gate = Gate::new("c1".into(), Arc::new(Policy::new()), approver).with_audit(file.clone());
            let asking = tokio::spawn(async move { gate.ask(command()).await });
            later.asked.notified().await;
            if suspends {
                assert_eq!(asking.await.unwrap().unwrap_err().kind(), DeniedKind::Suspended);
            } else {
                asking.abort();
                assert!(asking.await.unwrap_err().is_cancelled());
            }
        }
        let kept = fs::read_to_string(&path).unwrap();
        let lines: Vec<serde_json::Value> = kept.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        let parts = |line: &serde_json::Value| format!("{} {}", line["decision"], line["by"]);
        assert_eq!(lines.iter().map(parts).collect::<Vec<_>>(), [r#""ask" "suspended""#, r#""deny" "cancelled""#]);
    }

    #[test]
    fn only_the_person_reads_the_file_and_only_a_file_is_written() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("audit.jsonl");
        audit(&path);
        assert_eq!(mode(&path), 0o600);
        fs::set_permissions(&path, fs::Permissions::from_mode(0o644)).unwrap();
        fs::write(&path, "before\n").unwrap();
        audit(&path);
        assert_eq!((mode(&path), fs::read_to_string(&path).unwrap().as_str()), (0o600, "before\n"));

        let refused = |path: &Path| AuditFile::open(path, Arc::new(NoMask)).unwrap_err().to_string();
        let link = dir.path().join("link");
        symlink(&path, &link).unwrap();
        assert_eq!(refused(&link), "it is a symbolic link");
        let pipe = dir.path().join("pipe");
        nix::unistd::mkfifo(&pipe, nix::sys::stat::Mode::S_IRWXU).unwrap();
        refused(&pipe);
        refused(dir.path());
        refused(&dir.path().join("missing/audit.jsonl"));
        assert_eq!(refused(Path::new("/dev/null")), "it is not a regular file");
    }

    #[test]
    fn lines_of_several_hosts_do_not_mix() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("audit.jsonl");
        let request = request();
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    let file = audit(&path);
                    for _ in 0..100 {
                        let reason = "x".repeat(3000);
                        let what = AuditWhat::Decided {
                            decision: Decision::Allow,
                            by: Decider::Rule,
                            reason: &reason,
                            feedback: None,
                            always: &[],
                        };
                        file.record(&AuditEvent::new("r1", &request, what)).unwrap();
                    }
                });
            }
        });
        let kept = fs::read_to_string(&path).unwrap();
        assert_eq!(kept.lines().count(), 400);
        assert!(kept.lines().all(|line| serde_json::from_str::<serde_json::Value>(line).is_ok()));
    }
}
