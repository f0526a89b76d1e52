//! Running a scenario alone, reading what commands print, and counting what is left.

use std::io::Read;
use std::os::fd::OwnedFd;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use process::{
    Child, CommandSpec, Guardian, Launcher, LauncherConfig, Output, PtySettings, PtySize, SpawnError, Stdio, pty,
};
use tokio::io::Interest;
use tokio::io::unix::AsyncFd;

/// Longer than anything takes on a loaded machine; reaching it is a failure.
pub(crate) const PATIENCE: Duration = Duration::from_secs(30);

static ALONE: Mutex<()> = Mutex::new(());

/// Runs a scenario while no other one runs, and checks that it leaves no descriptor, no child and no zombie.
#[track_caller]
pub(crate) fn scenario<F: Future<Output = ()>>(run: impl FnOnce() -> F) {
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    // What `tokio` opens once for all runtimes is not the scenario's.
    drop(tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap());
    let before = descriptors();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async { tokio::time::timeout(2 * PATIENCE, run()).await.expect("the scenario ends") });
    drop(runtime);
    let end = Instant::now() + PATIENCE;
    while (descriptors().len() > before.len() || !own_children().is_empty()) && Instant::now() < end {
        std::thread::sleep(Duration::from_millis(5));
    }
    assert_eq!(own_children(), Vec::<String>::new(), "children of the host are left");
    assert!(descriptors().len() <= before.len(), "descriptors are left: {:?}, before {before:?}", descriptors());
}

/// Runs a scenario with guardians, and once more without.
#[track_caller]
pub(crate) fn both<F: Future<Output = ()>>(run: impl Fn(Launcher) -> F) {
    scenario(|| run(guarded()));
    scenario(|| run(unguarded()));
}

pub(crate) fn guarded() -> Launcher {
    let launcher = Launcher::new(LauncherConfig::default());
    assert!(launcher.is_guarded(), "this program called run_if_requested");
    launcher
}

pub(crate) fn unguarded() -> Launcher {
    with_guardian(Guardian::Without)
}

pub(crate) fn with_guardian(guardian: Guardian) -> Launcher {
    let mut config = LauncherConfig::default();
    config.guardian = guardian;
    Launcher::new(config)
}

fn descriptors() -> Vec<String> {
    let name = |entry: std::fs::DirEntry| {
        let target = std::fs::read_link(entry.path()).map(|path| path.display().to_string());
        format!("{} {}", entry.file_name().display(), target.unwrap_or_default())
    };
    std::fs::read_dir("/proc/self/fd").unwrap().flatten().map(name).collect()
}

fn own_children() -> Vec<String> {
    let own = std::process::id().to_string();
    let child = |pid: i32| stat(pid).filter(|stat| stat[1] == own).map(|stat| format!("{pid} {}", stat.join(" ")));
    pids().into_iter().filter_map(child).collect()
}

pub(crate) fn pids() -> Vec<i32> {
    let entries = std::fs::read_dir("/proc").unwrap().flatten();
    entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok()).collect()
}

/// State, parent, group, session, ...
pub(crate) fn stat(pid: i32) -> Option<Vec<String>> {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    let fields = stat.rsplit_once(')')?.1;
    Some(fields.split_whitespace().map(str::to_owned).collect())
}

/// Whether there is such a process and it is no zombie.
pub(crate) fn is_alive(pid: i32) -> bool {
    stat(pid).is_some_and(|stat| !matches!(stat[0].as_str(), "Z" | "X"))
}

/// The living processes with this text in their environment.
pub(crate) fn with_environment(text: &str) -> Vec<i32> {
    let has = |pid: &i32| {
        std::fs::read(format!("/proc/{pid}/environ"))
            .is_ok_and(|bytes| bytes.windows(text.len()).any(|window| window == text.as_bytes()))
    };
    pids().into_iter().filter(|pid| is_alive(*pid)).filter(has).collect()
}

/// Waits until something holds.
#[track_caller]
pub(crate) fn until(what: &'static str, holds: impl Fn() -> bool) -> impl Future<Output = Duration> {
    let begin = Instant::now();
    async move {
        while !holds() {
            assert!(begin.elapsed() < PATIENCE, "not within {PATIENCE:?}: {what}");
            tokio::time::sleep(Duration::from_millis(2)).await;
        }
        begin.elapsed()
    }
}

pub(crate) fn terminal() -> Stdio {
    Stdio::Pty(PtySize::default(), PtySettings::default())
}

pub(crate) fn command(argv: &[&str], stdio: Stdio) -> CommandSpec {
    let path = std::env::var_os("PATH").unwrap_or_else(|| "/usr/bin:/bin".into());
    CommandSpec {
        argv: argv.iter().map(Into::into).collect(),
        env: vec![("PATH".into(), path)],
        workdir: "/".into(),
        stdio,
        opened: process::Opened::default(),
    }
}

/// A command and all it printed so far.
pub(crate) struct Running {
    pub(crate) child: Child,
    /// Kept open until everything is read.
    pub(crate) _slave: Option<OwnedFd>,
    pub(crate) output: AsyncFd<OwnedFd>,
    pub(crate) text: String,
}

impl Running {
    pub(crate) async fn start(launcher: &Launcher, spec: CommandSpec) -> Result<Self, SpawnError> {
        let mut child = launcher.spawn(spec).await?;
        let (output, slave) = match (child.take_pty(), child.take_pipes()) {
            (Some(pty), None) => (pty.master, Some(pty.slave)),
            (None, Some(pipes)) => (pipes.stdout, None),
            other => panic!("one of both: {other:?}"),
        };
        Ok(Self {
            child,
            _slave: slave,
            output: pty::register(output, Interest::READABLE).unwrap(),
            text: String::new(),
        })
    }

    /// `sh -c` on a terminal.
    pub(crate) async fn shell(launcher: &Launcher, script: &str) -> Self {
        Self::start(launcher, command(&["sh", "-c", script], terminal())).await.unwrap()
    }

    /// `sh -c` on one pipe.
    pub(crate) async fn piped(launcher: &Launcher, script: &str) -> Self {
        Self::start(launcher, command(&["sh", "-c", script], Stdio::Pipes(Output::Merged))).await.unwrap()
    }

    /// Reads what is there; false at the end.
    pub(crate) fn drain(&mut self) -> bool {
        let mut buffer = [0; 4096];
        loop {
            match nix::unistd::read(&self.output, &mut buffer) {
                Ok(0) | Err(nix::errno::Errno::EIO) => return false,
                Ok(count) => self.text.push_str(&String::from_utf8_lossy(&buffer[..count])),
                Err(nix::errno::Errno::EAGAIN) => return true,
                Err(error) => panic!("{error}"),
            }
        }
    }

    /// Reads until the output has this text.
    #[track_caller]
    pub(crate) fn wait_for(&mut self, text: &str) -> impl Future<Output = ()> {
        let text = text.to_owned();
        async move {
            let wait = async {
                loop {
                    let mut ready = self.output.readable().await.unwrap();
                    ready.clear_ready();
                    drop(ready);
                    let open = self.drain();
                    if self.text.contains(&text) {
                        return;
                    }
                    assert!(open, "the output ended without {text:?}: {:?}", self.text);
                }
            };
            let waited = tokio::time::timeout(PATIENCE, wait).await;
            assert!(waited.is_ok(), "{text:?} did not come");
        }
    }

    /// The exit and all that was printed until then.
    pub(crate) async fn finish(&mut self) -> process::Exit {
        loop {
            tokio::select! {
                exit = self.child.exit() => {
                    self.drain();
                    return exit;
                }
                ready = self.output.readable() => {
                    ready.unwrap().clear_ready();
                    if !self.drain() {
                        let exit = self.child.exit().await;
                        return exit;
                    }
                }
            }
        }
    }

    /// The numbers a script printed as `name=NUMBER`.
    pub(crate) fn numbers(&self, name: &str) -> Vec<i32> {
        let prefix = format!("{name}=");
        self.text.split_whitespace().filter_map(|word| word.strip_prefix(&prefix)?.parse().ok()).collect()
    }
}

/// The whole text of a pipe that has ended.
pub(crate) fn rest(fd: OwnedFd) -> String {
    let mut bytes = Vec::new();
    let mut file = std::fs::File::from(fd);
    match file.read_to_end(&mut bytes) {
        Ok(_) => {}
        Err(error) => assert_eq!(error.kind(), std::io::ErrorKind::WouldBlock),
    }
    String::from_utf8(bytes).unwrap()
}

/// Writes to the terminal as if typed.
pub(crate) fn write(running: &Running, text: &str) {
    assert_eq!(nix::unistd::write(&running.output, text.as_bytes()).unwrap(), text.len());
}

/// Whether tests that need root can run; says so when not.
pub(crate) fn is_root(test: &str) -> bool {
    let root = nix::unistd::geteuid().is_root();
    if !root {
        eprintln!("skipped: {test} needs root");
    }
    root
}

/// Eight processes that leave their parent, group, session or environment in different ways. Each prints its pid
/// as `p=NUMBER`; the last line is `ready`.
pub(crate) const ESCAPEES: &str = "sleep 71 & echo p=$!
    nohup sleep 72 >/dev/null 2>&1 & echo p=$!
    setsid sleep 73 & echo p=$!
    (setsid sh -c 'echo p=$$; exec sleep 74 >/dev/null 2>&1' &)
    set -m; sleep 75 & echo p=$!; set +m
    (env -i setsid /bin/sh -c 'echo p=$$; exec sleep 76 >/dev/null 2>&1' &)
    sleep 77 & kill -STOP $!; echo p=$!
    echo p=$$
    sleep 0.3; echo ready; exec sleep 79";

/// Ends recorded processes when the test does, however it ends.
pub(crate) struct Recorded(pub(crate) Vec<i32>);

impl Recorded {
    pub(crate) fn alive(&self) -> Vec<i32> {
        self.0.iter().copied().filter(|pid| is_alive(*pid)).collect()
    }
}

impl Drop for Recorded {
    fn drop(&mut self) {
        for pid in self.alive() {
            let _ = nix::sys::signal::kill(nix::unistd::Pid::from_raw(pid), nix::sys::signal::Signal::SIGKILL);
        }
    }
}
