//! Real starts while directories are swapped under them.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use host::{CallOptions, Host, Registry, RegistryConfig, Settings, builtin_tools};
use policy::{Answer, Approver, Policy, Prompt};
use serde_json::{Value, json};
use tool_api::{ToolCall, ToolErrorKind, Workspace};

use crate::program::Run;

/// Starts of one play.
const STARTS: usize = 300;

/// Renames a directory and a link of the same name there and back until it is dropped, also by a failure.
struct Flipper {
    stop: Arc<AtomicBool>,
    thread: Option<std::thread::JoinHandle<u64>>,
}

impl Flipper {
    fn start(directory: &Path, link: &Path) -> Self {
        let stop = Arc::new(AtomicBool::new(false));
        let (ended, sub, link) = (Arc::clone(&stop), directory.to_owned(), link.to_owned());
        let kept = directory.with_file_name("kept");
        let thread = std::thread::spawn(move || {
            let mut flips = 0;
            while !ended.load(Ordering::Relaxed) {
                for (from, to) in [(&sub, &kept), (&link, &sub), (&sub, &link), (&kept, &sub)] {
                    fs::rename(from, to).unwrap();
                    std::thread::yield_now();
                }
                // Long enough for some starts to get through.
                (0..50).for_each(|_| std::thread::yield_now());
                flips += 1;
            }
            flips
        });
        Self { stop, thread: Some(thread) }
    }
}

impl Drop for Flipper {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        let flips = self.thread.take().map(|thread| thread.join());
        if !std::thread::panicking() {
            assert!(flips.unwrap().unwrap() > 0);
        }
    }
}

#[test]
fn no_start_gets_outside_through_a_link_that_comes_and_goes() {
    let elsewhere = tempfile::tempdir().unwrap();
    let outside = elsewhere.path().canonicalize().unwrap();
    fs::write(outside.join("marker"), "it is outside").unwrap();
    let start = json!({"action": "start", "command": "cat marker; touch started", "workdir": "sub", "until": "exit"});
    let line = json!({"tool": "shell_session", "arguments": start}).to_string() + "\n";
    let rules = "[permission.bash]\n\"*\" = \"allow\"\n[permission.external_directory]\n\"*\" = \"deny\"\n";
    let run = Run::new().config(rules).file("sub/marker", "it is inside").file("calls.jsonl", &line.repeat(STARTS));
    let root = run.directory().canonicalize().unwrap();
    symlink(&outside, root.join("link")).unwrap();
    let flipper = Flipper::start(&root.join("sub"), &root.join("link"));
    let (ran, started) = run.args(["play", "calls.jsonl", "--json"]).run_then(|_| {
        drop(flipper);
        root.join("sub/started").exists()
    });
    let results: Vec<Value> = ran.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(results.len(), STARTS, "{ran:?}");
    let text = |result: &Value| result.to_string();
    let inside = results.iter().filter(|result| text(result).contains("it is inside")).count();
    let denied = results.iter().filter(|result| text(result).contains("permission denied")).count();
    let gone = results.iter().filter(|result| text(result).contains("cannot change to the working directory")).count();
    println!("{inside} ran inside, {denied} were denied, {gone} found no directory");
    assert!(results.iter().all(|result| !text(result).contains("it is outside")), "{ran:?}");
    assert_eq!(inside + denied + gone, STARTS, "{ran:?}");
    assert!(inside > 0 && started, "{ran:?}");
    assert_eq!(fs::read_dir(&outside).unwrap().count(), 1, "something was made outside");
}

/// Approves, and has put a link to the outside in the place of the directory that was shown.
#[derive(Debug)]
struct Swap {
    root: PathBuf,
    outside: PathBuf,
}

#[policy::async_trait]
impl Approver for Swap {
    async fn ask(&self, prompt: Prompt) -> Answer {
        assert_eq!(prompt.workdir, Some(self.root.join("sub")));
        fs::rename(self.root.join("sub"), self.root.join("moved")).unwrap();
        symlink(&self.outside, self.root.join("sub")).unwrap();
        Answer::Once
    }
}

#[test]
fn a_directory_that_was_swapped_during_the_question_is_not_started_in() {
    let (dir, elsewhere) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let (root, outside) = (dir.path().canonicalize().unwrap(), elsewhere.path().canonicalize().unwrap());
    fs::create_dir(root.join("sub")).unwrap();
    let registry = Registry::new(builtin_tools(&Settings::defaults()).unwrap(), RegistryConfig::default()).unwrap();
    let host = Host::new(registry).with_policy(Policy::new());
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let chat = host.open_chat(Workspace::new(&root));
        let arguments = json!({"action": "start", "command": "touch made", "workdir": "sub", "until": "exit"});
        let swap = Swap { root: root.clone(), outside: outside.clone() };
        let options = CallOptions::new().with_approver(Arc::new(swap));
        let error = host.call(&chat, ToolCall::new("shell_session", arguments), options).await.unwrap_err();
        assert_eq!(error.kind(), ToolErrorKind::Denied, "{error}");
        assert_eq!(
            error.report().replace(root.to_str().unwrap(), ""),
            "permission denied, nothing was done: `/sub` leads to another directory than the one that was approved\n\
             hint: look at what changed it; the same call is decided anew, for what is there then"
        );
        host.end().await;
    });
    assert_eq!(fs::read_dir(&outside).unwrap().count(), 0);
    assert_eq!(fs::read_dir(root.join("moved")).unwrap().count(), 0);
}
