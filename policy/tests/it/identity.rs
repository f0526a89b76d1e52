//! What was approved is what runs: files and directories swapped while a person is asked.

use std::fs::{self, File};
use std::os::fd::OwnedFd;
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

use policy::{Answer, Approver, Gate, NobodyToAsk, Policy, Prompt, RuleTable, Rules};
use tool_api::{
    ChatId, CommandEffect, CommandKind, Denied, DeniedKind, Effect, Effects, Grant, Permission, PermissionRequest,
    StartDirectory, ToolContext, Workspace, async_trait,
};

/// Does something while it is asked, and approves.
struct Meanwhile {
    act: Mutex<Option<Box<dyn FnOnce() + Send>>>,
    asked: Mutex<Vec<Prompt>>,
    answer: Answer,
}

impl std::fmt::Debug for Meanwhile {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Meanwhile")
    }
}

impl Meanwhile {
    fn new(act: impl FnOnce() + Send + 'static) -> Arc<Self> {
        Self::answering(Answer::Once, act)
    }

    fn answering(answer: Answer, act: impl FnOnce() + Send + 'static) -> Arc<Self> {
        Arc::new(Self { act: Mutex::new(Some(Box::new(act))), asked: Mutex::default(), answer })
    }
}

#[async_trait]
impl Approver for Meanwhile {
    async fn ask(&self, prompt: Prompt) -> Answer {
        self.asked.lock().unwrap().push(prompt);
        if let Some(act) = self.act.lock().unwrap().take() {
            act();
        }
        self.answer.clone()
    }
}

fn inode(file: &OwnedFd) -> u64 {
    File::from(file.try_clone().unwrap()).metadata().unwrap().ino()
}

/// A workspace `ws` with the directory `bin` in `PATH`, and what is `outside`.
#[derive(Clone)]
struct Scene {
    root: PathBuf,
    _directory: Arc<tempfile::TempDir>,
}

impl Scene {
    fn new() -> Self {
        let directory = tempfile::tempdir().unwrap();
        let root = directory.path().canonicalize().unwrap();
        for name in ["ws/sub", "bin", "early", "outside"] {
            fs::create_dir_all(root.join(name)).unwrap();
        }
        Self { root, _directory: Arc::new(directory) }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.root.join(name)
    }

    fn write(&self, name: &str, text: &str) -> PathBuf {
        let path = self.path(name);
        fs::write(&path, text).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
        path
    }

    /// Puts another file in the place of one, by a rename.
    fn replace(&self, name: &str, text: &str) {
        self.write("new", text);
        fs::rename(self.path("new"), self.path(name)).unwrap();
    }

    /// Writes into the very file, and sets its time back.
    fn edit(&self, name: &str, text: &str) {
        let path = self.path(name);
        let before = fs::metadata(&path).unwrap().modified().unwrap();
        fs::write(&path, text).unwrap();
        File::options().write(true).open(&path).unwrap().set_modified(before).unwrap();
        assert_eq!(fs::metadata(&path).unwrap().modified().unwrap(), before);
    }

    fn request_in(&self, workdir: &Path, command: &str) -> PermissionRequest {
        let path = |name: &str| self.path(name).to_str().unwrap().to_owned();
        let effect = CommandEffect {
            command: command.into(),
            shell: "/bin/sh".into(),
            workdir: workdir.into(),
            kind: CommandKind::Interactive,
            env: Vec::new(),
            search_path: Some(format!("{}:/nowhere:{}:/usr/bin:/bin", path("early"), path("bin")).into()),
            foreground: None,
        };
        let mut ctx = ToolContext::deny_all("c1", self.path("ws"));
        ctx.workspace = Arc::new(Workspace::new(self.path("ws")));
        PermissionRequest::new("shell_session", Effects::ANY, Effect::Command(effect), &ctx)
    }

    async fn ask(&self, command: &str, approver: Arc<dyn Approver>) -> Result<Grant, Denied> {
        gate("{}", approver).ask(self.request_in(&self.path("ws"), command)).await
    }

    /// Approves a command, does something meanwhile, and returns why it is refused.
    async fn refused(&self, command: &str, act: impl FnOnce() + Send + 'static) -> String {
        let grant = self.ask(command, Meanwhile::new(act)).await.unwrap();
        let denied = grant.check().expect_err("something differs");
        assert_eq!(denied.kind(), DeniedKind::Changed);
        let hint = "look at what changed it; the same call is decided anew, for what is there then";
        assert_eq!(denied.hint(), Some(hint));
        denied.reason().replace(self.root.to_str().unwrap(), "")
    }

    /// Approves a command, does something meanwhile, and expects it to be as it was.
    #[track_caller]
    fn same(&self, command: &str, act: impl FnOnce() + Send + 'static) -> impl Future<Output = ()> {
        let place = std::panic::Location::caller();
        let asked = {
            let (scene, command) = (self.clone(), command.to_owned());
            async move { scene.ask(&command, Meanwhile::new(act)).await.unwrap() }
        };
        async move {
            let grant = asked.await;
            for checked in [grant.check(), grant.check_started()] {
                assert!(checked.is_ok(), "{place}: {checked:?}");
            }
        }
    }
}

fn gate(rules: &str, approver: Arc<dyn Approver>) -> Gate {
    let table: RuleTable = serde_json::from_str(rules).unwrap();
    let rules = Rules::new(&table, "rules.json", None).unwrap();
    Gate::new(ChatId::new("c1"), Arc::new(Policy::new().with_layer(rules)), approver)
}

#[tokio::test]
async fn an_executable_that_is_replaced() {
    let scene = Scene::new();
    scene.write("bin/tool", "#!/bin/sh\necho good\n");
    let meanwhile = scene.clone();
    let why = scene.refused("tool --version", move || meanwhile.replace("bin/tool", "#!/bin/sh\necho evil\n")).await;
    assert_eq!(why, "`/bin/tool` is not the file that was approved: another file took its place");
    let meanwhile = scene.clone();
    let why = scene.refused("tool", move || fs::remove_file(meanwhile.path("bin/tool")).unwrap()).await;
    assert_eq!(why, "`/bin/tool` was approved, and is gone");
}

#[tokio::test]
async fn an_edit_in_place_with_its_time_set_back() {
    let scene = Scene::new();
    scene.write("bin/tool", "#!/bin/sh\necho good\n");
    let meanwhile = scene.clone();
    let why = scene.refused("tool", move || meanwhile.edit("bin/tool", "#!/bin/sh\necho evil\n")).await;
    assert_eq!(why, "`/bin/tool` is not the file that was approved: its content differs");
    let meanwhile = scene.clone();
    let why = scene.refused("tool", move || meanwhile.edit("bin/tool", "#!/bin/sh\necho longer\n")).await;
    assert_eq!(why, "`/bin/tool` is not the file that was approved: its size differs");
    let meanwhile = scene.clone();
    let touch = move || {
        let file = File::options().write(true).open(meanwhile.path("bin/tool")).unwrap();
        file.set_modified(std::time::UNIX_EPOCH).unwrap();
    };
    let why = scene.refused("tool", touch).await;
    assert_eq!(why, "`/bin/tool` is not the file that was approved: its modification time differs");
}

#[tokio::test]
async fn what_was_read_before_is_read_again_after_a_change() {
    let scene = Scene::new();
    scene.write("bin/tool", "good");
    // Old enough to be remembered.
    let touched = std::process::Command::new("touch").args(["-d", "2001-01-01"]).arg(scene.path("bin/tool")).status();
    assert!(touched.unwrap().success());
    let gate = gate(r#"{"bash": "allow"}"#, Arc::new(NobodyToAsk::new("nobody is there")));
    for _ in 0..3 {
        let grant = gate.ask(scene.request_in(&scene.path("ws"), "tool")).await.unwrap();
        grant.check().unwrap();
    }
    let grant = gate.ask(scene.request_in(&scene.path("ws"), "tool")).await.unwrap();
    scene.edit("bin/tool", "evil");
    assert_eq!(grant.check().unwrap_err().kind(), DeniedKind::Changed);
    let grant = gate.ask(scene.request_in(&scene.path("ws"), "tool")).await.unwrap();
    grant.check().unwrap();
}

#[tokio::test]
async fn scripts_of_interpreters() {
    let scene = Scene::new();
    for (command, script) in [
        ("sh run.sh a", "ws/run.sh"),
        ("cd sub && python3 -u ./x.py", "ws/sub/x.py"),
        ("bash -c 'cat; . ./env.sh'", "ws/env.sh"),
        ("nice -n 5 node app.js", "ws/app.js"),
        ("echo x; perl < in.pl", "ws/in.pl"),
        ("make -f other.mk", "ws/other.mk"),
    ] {
        scene.write(script, "good");
        let meanwhile = scene.clone();
        let why = scene.refused(command, move || meanwhile.edit(script, "evil")).await;
        assert_eq!(why, format!("`/{script}` is not the file that was approved: its content differs"), "{command}");
    }
}

#[tokio::test]
async fn interpreters_of_scripts() {
    let scene = Scene::new();
    scene.write("bin/inner", "\x7fELF");
    scene.write("interpreter", &format!("#!{}\n", scene.path("bin/inner").display()));
    scene.write("ws/direct", &format!("#!{} -x\n", scene.path("interpreter").display()));
    scene.write("ws/by-env", "#!/usr/bin/env -S A=1 interpreter -x\n");
    symlink(scene.path("interpreter"), scene.path("bin/interpreter")).unwrap();
    for (command, expected) in [("./direct", "/bin/inner"), ("./by-env", "/bin/inner")] {
        let meanwhile = scene.clone();
        let why = scene.refused(command, move || meanwhile.replace("bin/inner", "other")).await;
        assert_eq!(why, format!("`{expected}` is not the file that was approved: another file took its place"));
    }
    let meanwhile = scene.clone();
    let why = scene.refused("./by-env", move || drop(meanwhile.write("early/interpreter", "other"))).await;
    assert_eq!(why, "`interpreter` would run `/early/interpreter`, and `/bin/interpreter` was approved");
}

#[tokio::test]
async fn what_stands_before_it_in_the_path() {
    let scene = Scene::new();
    scene.write("bin/tool", "good");
    let meanwhile = scene.clone();
    let why = scene.refused("sudo -n tool x", move || drop(meanwhile.write("early/tool", "evil"))).await;
    assert_eq!(why, "`tool` would run `/early/tool`, and `/bin/tool` was approved");
    let meanwhile = scene.clone();
    let why = scene.refused("later", move || drop(meanwhile.write("bin/later", "evil"))).await;
    assert_eq!(why, "`later` would run `/bin/later`, which was not there when it was approved");
    // What cannot be run is passed over, as the shell does.
    let meanwhile = scene.clone();
    let plain = move || {
        fs::remove_file(meanwhile.path("early/tool")).unwrap();
        fs::write(meanwhile.path("early/later"), "no program").unwrap();
    };
    scene.same("later", plain).await;
}

#[tokio::test]
async fn a_link_that_leads_elsewhere() {
    let scene = Scene::new();
    scene.write("good", "#!/bin/sh\n");
    scene.write("evil", "#!/bin/sh\n");
    symlink(scene.path("good"), scene.path("bin/tool")).unwrap();
    let meanwhile = scene.clone();
    let retarget = move || {
        symlink(meanwhile.path("evil"), meanwhile.path("link")).unwrap();
        fs::rename(meanwhile.path("link"), meanwhile.path("bin/tool")).unwrap();
    };
    let why = scene.refused("true && tool", retarget).await;
    assert_eq!(why, "`/bin/tool` is not the file that was approved: another file took its place");
}

#[tokio::test]
async fn a_directory_that_is_moved_away() {
    let scene = Scene::new();
    for outside in [true, false] {
        let meanwhile = scene.clone();
        let swap = move || {
            fs::rename(meanwhile.path("ws/sub"), meanwhile.path("ws/moved")).unwrap();
            if outside {
                symlink("../outside", meanwhile.path("ws/sub")).unwrap();
            }
        };
        let request = scene.request_in(&scene.path("ws/sub"), "echo hi");
        let inside = fs::metadata(scene.path("ws/sub")).unwrap();
        let grant = gate("{}", Meanwhile::new(swap)).ask(request).await.unwrap();
        let denied = grant.check().unwrap_err();
        let expected = "`/ws/sub` leads to another directory than the one that was approved";
        assert_eq!(denied.reason().replace(scene.root.to_str().unwrap(), ""), expected);
        // What would have been started in is still the one that was asked about.
        let StartDirectory::Opened(opened) = grant.directory() else { panic!("{:?}", grant.directory()) };
        assert_eq!(inode(&opened.file), inside.ino());
        assert_eq!(opened.path, scene.path("ws/sub"));
        if outside {
            fs::remove_file(scene.path("ws/sub")).unwrap();
        }
        fs::remove_dir(scene.path("ws/moved")).unwrap();
        fs::create_dir(scene.path("ws/sub")).unwrap();
    }
}

#[tokio::test]
async fn a_directory_that_is_not_there_is_never_started_in() {
    let scene = Scene::new();
    let request = scene.request_in(&scene.path("ws/none"), "./x; cat y");
    let grant = gate("{}", Meanwhile::new(|| {})).ask(request).await.unwrap();
    let StartDirectory::Unavailable(error) = grant.directory() else { panic!("{:?}", grant.directory()) };
    assert_eq!(error.kind(), std::io::ErrorKind::NotFound);
    let request = scene.request_in(&scene.write("ws/file", ""), "ls");
    let grant = gate("{}", Meanwhile::new(|| {})).ask(request).await.unwrap();
    let StartDirectory::Unavailable(error) = grant.directory() else { panic!("{:?}", grant.directory()) };
    assert_eq!(error.kind(), std::io::ErrorKind::NotADirectory);
}

#[tokio::test]
async fn a_link_to_a_directory_is_named_as_what_it_is() {
    let scene = Scene::new();
    symlink("../outside", scene.path("ws/away")).unwrap();
    let front = Meanwhile::new(|| {});
    let gate = gate(r#"{"bash": "allow"}"#, front.clone());
    gate.ask(scene.request_in(&scene.path("ws/away"), "ls")).await.unwrap();
    let asked = front.asked.lock().unwrap();
    assert_eq!(asked[0].workdir.as_deref(), Some(scene.path("outside").as_path()));
    assert!(asked[0].reason.ends_with("/outside` is outside the workspace"), "{}", asked[0].reason);
}

#[tokio::test]
async fn large_files_are_compared_without_reading_them() {
    const LARGE: u64 = 64 * 1024 * 1024 + 1;
    let scene = Scene::new();
    let grow = |name: &str| File::options().write(true).open(scene.write(name, "#!/bin/sh\n")).unwrap().set_len(LARGE);
    grow("bin/large").unwrap();
    scene.same("large", || {}).await;
    let meanwhile = scene.clone();
    let edit = move || {
        let path = meanwhile.path("bin/large");
        let before = fs::metadata(&path).unwrap().modified().unwrap();
        let file = File::options().write(true).open(&path).unwrap();
        std::os::unix::fs::FileExt::write_at(&file, b"x", LARGE - 1).unwrap();
        file.set_modified(before).unwrap();
    };
    let why = scene.refused("large", edit).await;
    assert_eq!(why, "`/bin/large` is not the file that was approved: it was changed");
    let meanwhile = scene.clone();
    let why = scene.refused("large", move || meanwhile.replace("bin/large", "")).await;
    assert_eq!(why, "`/bin/large` is not the file that was approved: another file took its place");
}

#[tokio::test]
async fn what_changes_nothing_refuses_nothing() {
    let scene = Scene::new();
    scene.write("bin/box", "#!/bin/sh\n");
    fs::hard_link(scene.path("bin/box"), scene.path("bin/ls-of-box")).unwrap();
    scene.write("ws/run.sh", "#!/bin/sh\n");
    let meanwhile = scene.clone();
    let use_them = move || {
        // Its access time.
        let tool = File::open(meanwhile.path("bin/box")).unwrap();
        tool.set_times(fs::FileTimes::new().set_accessed(std::time::UNIX_EPOCH)).unwrap();
        // Another name, which changes its change time.
        fs::hard_link(meanwhile.path("bin/box"), meanwhile.path("bin/another")).unwrap();
        fs::set_permissions(meanwhile.path("ws/run.sh"), fs::Permissions::from_mode(0o700)).unwrap();
        // New files beside them.
        meanwhile.write("ws/new", "x");
        meanwhile.write("early/unrelated", "x");
        meanwhile.write("ws/data", "y");
    };
    let command = "box; ls-of-box; ./run.sh; nothing-of-this-name; f() { echo; }; f; cat data > out; cd sub";
    scene.same(command, use_them).await;
}

#[tokio::test]
async fn only_regular_files_are_opened() {
    let scene = Scene::new();
    let made = std::process::Command::new("mkfifo").arg(scene.path("ws/pipe")).status().unwrap();
    assert!(made.success());
    // Opening it would wait for a writer.
    let meanwhile = scene.clone();
    let use_it = move || drop(File::options().read(true).write(true).open(meanwhile.path("ws/pipe")).unwrap());
    scene.same("sh ./pipe; ./pipe; sh /dev/null; bash .", use_it).await;
    let meanwhile = scene.clone();
    let why = scene.refused("sh pipe", move || meanwhile.replace("ws/pipe", "evil")).await;
    assert_eq!(why, "`/ws/pipe` is not the file that was approved: it is of another kind");
}

#[tokio::test]
async fn an_answer_given_later_is_for_the_same_files() {
    let scene = Scene::new();
    scene.write("bin/tool", "good");
    let front = Meanwhile::answering(Answer::Suspended, || {});
    let gate = gate("{}", front.clone());
    let ask = || gate.ask(scene.request_in(&scene.path("ws"), "tool"));
    let suspended = |result: Result<Grant, Denied>| assert_eq!(result.unwrap_err().kind(), DeniedKind::Suspended);
    suspended(ask().await);
    suspended(ask().await);
    // Its change time alone is no reason to ask again.
    fs::set_permissions(scene.path("bin/tool"), fs::Permissions::from_mode(0o700)).unwrap();
    suspended(ask().await);
    scene.edit("bin/tool", "evil");
    suspended(ask().await);
    let bindings: Vec<String> = front.asked.lock().unwrap().iter().map(|prompt| prompt.binding.clone()).collect();
    assert_eq!(bindings[0], bindings[1]);
    assert_eq!(bindings[0], bindings[2]);
    assert_ne!(bindings[0], bindings[3]);
}

#[tokio::test]
async fn the_question_shows_programs_from_unusual_places() {
    let scene = Scene::new();
    scene.write("bin/tool", "");
    let front = Meanwhile::new(|| {});
    scene.ask("tool; cat | nice tool; ./own", front.clone()).await.unwrap();
    let asked = front.asked.lock().unwrap();
    assert_eq!(asked[0].runs, [format!("tool is {}", scene.path("bin/tool").display())]);
    assert!(asked[0].to_string().contains(&format!("\nRuns: tool is {}\n", scene.path("bin/tool").display())));
}

#[tokio::test]
async fn right_after_the_start_only_what_the_command_cannot_have_changed_counts() {
    let scene = Scene::new();
    scene.write("ws/run.sh", "good");
    scene.write("bin/tool", "good");
    let grant = scene.ask("tool run.sh && ./run.sh", Meanwhile::new(|| {})).await.unwrap();
    grant.check().unwrap();
    scene.edit("ws/run.sh", "evil");
    grant.check_started().unwrap();
    scene.replace("bin/tool", "evil");
    let denied = grant.check_started().unwrap_err();
    assert!(denied.reason().ends_with("/bin/tool` is not the file that was approved: another file took its place"));
}

#[tokio::test]
async fn a_shell_that_is_replaced() {
    let scene = Scene::new();
    scene.write("shell", "#!/bin/sh\n");
    let mut request = scene.request_in(&scene.path("ws"), "true");
    let Effect::Command(effect) = &mut request.effect else { panic!() };
    effect.shell = scene.path("shell");
    let before = fs::metadata(scene.path("shell")).unwrap().ino();
    let meanwhile = scene.clone();
    let gate = gate("{}", Meanwhile::new(move || meanwhile.replace("shell", "evil")));
    let grant = gate.ask(request).await.unwrap();
    assert_eq!(inode(grant.program().unwrap()), before);
    assert_eq!(grant.check().unwrap_err().kind(), DeniedKind::Changed);
}

/// Ends its thread also when the test fails.
struct Flipper {
    stop: Arc<AtomicBool>,
    thread: Option<std::thread::JoinHandle<u64>>,
}

impl Flipper {
    /// Renames `ws/sub` and a link to the outside of the same name there and back, as fast as it can.
    fn start(scene: &Scene) -> Self {
        let stop = Arc::new(AtomicBool::new(false));
        symlink("../outside", scene.path("ws/link")).unwrap();
        let (ended, sub, kept, link) =
            (Arc::clone(&stop), scene.path("ws/sub"), scene.path("ws/kept"), scene.path("ws/link"));
        let thread = std::thread::spawn(move || {
            let mut flips = 0;
            while !ended.load(Ordering::Relaxed) {
                fs::rename(&sub, &kept).unwrap();
                fs::rename(&link, &sub).unwrap();
                fs::rename(&sub, &link).unwrap();
                fs::rename(&kept, &sub).unwrap();
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

#[tokio::test]
async fn a_link_that_comes_and_goes_never_leads_outside() {
    let scene = Scene::new();
    let inside = fs::metadata(scene.path("ws/sub")).unwrap().ino();
    let gate = gate(r#"{"bash": "allow"}"#, Arc::new(NobodyToAsk::new("nobody is there")));
    let flipper = Flipper::start(&scene);
    let (mut granted, mut asked, mut gone) = (0, 0, 0);
    for _ in 0..3000 {
        match gate.ask(scene.request_in(&scene.path("ws/sub"), "ls")).await {
            Ok(grant) => match grant.directory() {
                StartDirectory::Opened(opened) => {
                    granted += 1;
                    assert_eq!(inode(&opened.file), inside, "it leads outside, unasked");
                }
                StartDirectory::Unavailable(_) => gone += 1,
                StartDirectory::ByPath => panic!("a path may lead anywhere"),
            },
            Err(denied) => {
                assert_eq!(denied.kind(), DeniedKind::NoAnswer, "{denied}");
                asked += 1;
            }
        }
    }
    drop(flipper);
    assert!(granted > 0, "{granted} granted, {asked} asked, {gone} gone");
    println!("{granted} granted, {asked} asked, {gone} gone");
}

#[tokio::test]
async fn names_that_are_no_paths_are_looked_up_in_vain() {
    let scene = Scene::new();
    let long = "x".repeat(5_000);
    let deep = format!("./{}", "a/".repeat(3_000));
    for command in [format!("{long}; sh {long}"), deep, "./a\u{1}b; ''".to_owned(), "cd x; ".repeat(300) + "./y"] {
        scene.same(&command, || {}).await;
    }
    // Links in a circle lead nowhere, and so do interpreters of each other.
    symlink("circle", scene.path("ws/circle")).unwrap();
    scene.write("ws/one", &format!("#!{}\n", scene.path("ws/two").display()));
    scene.write("ws/two", &format!("#!{}\n", scene.path("ws/one").display()));
    scene.same("./circle; ./one; sh two", || {}).await;
    let meanwhile = scene.clone();
    let why = scene.refused("./one", move || meanwhile.edit("ws/two", "#!/bin/other\n")).await;
    assert!(why.starts_with("`/ws/two` is not the file that was approved: "), "{why}");
}
