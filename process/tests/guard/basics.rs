//! What a command gets, and what comes back.

use std::time::{Duration, Instant};

use process::{Exit, Guardian, Launcher, LauncherConfig, Output, SpawnErrorKind, Stage, Stdio};

use crate::fixtures;
use crate::support::{
    Running, both, command, guarded, is_alive, rest, scenario, stat, terminal, until, with_environment, with_guardian,
};

#[test]
fn output_and_exit_code() {
    both(async |launcher| {
        let mut running = Running::shell(&launcher, "echo hello; exit 7").await;
        assert_eq!(running.finish().await, Exit::Code(7));
        assert_eq!(running.text, "hello\n");
        running.child.tree_empty().await;
        assert_eq!(running.child.survivors().await, []);
    });
}

#[test]
fn a_signal_is_not_an_exit_code() {
    both(async |launcher| {
        let mut running = Running::piped(&launcher, "kill -USR1 $$").await;
        assert_eq!(running.finish().await, Exit::Signal(libc::SIGUSR1));
        let mut running = Running::piped(&launcher, "kill -34 $$").await;
        assert_eq!(running.finish().await, Exit::Signal(34));
    });
}

#[test]
fn pipes_are_one_or_two() {
    both(async |launcher| {
        let mut running = Running::piped(&launcher, "cat; echo a; echo b >&2; echo c").await;
        assert_eq!(running.finish().await, Exit::Code(0));
        assert_eq!(running.text, "a\nb\nc\n");
        let spec = command(&["sh", "-c", "echo a; echo b >&2; echo c"], Stdio::Pipes(Output::Separate));
        let mut child = launcher.spawn(spec).await.unwrap();
        let pipes = child.take_pipes().unwrap();
        assert!(child.take_pipes().is_none() && child.take_pty().is_none());
        assert_eq!(child.exit().await, Exit::Code(0));
        assert_eq!((rest(pipes.stdout), rest(pipes.stderr.unwrap())), ("a\nc\n".into(), "b\n".into()));
    });
}

#[test]
fn the_environment_is_exactly_the_given_one() {
    both(async |launcher| {
        let mut spec = command(&["/usr/bin/env"], Stdio::Pipes(Output::Merged));
        spec.env = vec![("A".into(), "x=y\n $B".into()), ("TOOLHOST_COOKIE".into(), "somebody's".into())];
        let mut running = Running::start(&launcher, spec).await.unwrap();
        assert_eq!(running.finish().await, Exit::Code(0));
        assert_eq!(running.text, format!("A=x=y\n $B\nTOOLHOST_COOKIE={}\n", running.child.cookie()));
    });
}

#[test]
fn the_program_is_found_in_the_childs_own_path() {
    let directory = tempfile::tempdir().unwrap();
    let program = directory.path().join("guard-test-program");
    std::os::unix::fs::symlink("/bin/echo", &program).unwrap();
    both(async |launcher| {
        let mut spec = command(&["guard-test-program", "found"], Stdio::Pipes(Output::Merged));
        let error = launcher.spawn(spec.clone()).await.unwrap_err();
        assert_eq!((error.kind(), error.stage()), (SpawnErrorKind::NotFound, Stage::Exec));
        let mut path = std::ffi::OsString::from("/nonexistent::");
        path.push(directory.path());
        spec.env = vec![("PATH".into(), path)];
        let mut running = Running::start(&launcher, spec.clone()).await.unwrap();
        assert_eq!(running.finish().await, Exit::Code(0));
        assert_eq!(running.text, "found\n");
        // An empty entry is the working directory.
        spec.env = vec![("PATH".into(), ":/nonexistent".into())];
        spec.workdir = directory.path().into();
        let mut running = Running::start(&launcher, spec).await.unwrap();
        assert_eq!(running.finish().await, Exit::Code(0));
    });
}

#[test]
fn it_leads_the_foreground_of_a_session_with_the_terminal() {
    both(async |launcher| {
        let script = "echo hi >/dev/tty; tty; stty size; echo ids=$(ps -o pgid=,tpgid=,tty= -p $$ | tr -s ' ' ,)";
        let mut running = Running::shell(&launcher, script).await;
        assert_eq!(running.finish().await, Exit::Code(0));
        assert!(running.text.starts_with("hi\n/dev/pts/"), "{:?}", running.text);
        assert!(running.text.contains("\n40 120\n"), "{:?}", running.text);
        let pid = running.child.pid();
        assert!(running.text.contains(&format!("{pid},{pid},pts/")), "{pid}: {:?}", running.text);
    });
}

/// Fault 2.
#[test]
fn a_background_process_does_not_delay_the_exit() {
    both(async |launcher| {
        let mut running = Running::shell(&launcher, "(setsid sleep 60 &) ; sleep 0.2; echo done; exit 3").await;
        running.wait_for("done\n").await;
        let begin = Instant::now();
        assert_eq!(running.finish().await, Exit::Code(3));
        assert!(begin.elapsed() < Duration::from_secs(1), "{:?}", begin.elapsed());
        let left = running.child.survivors().await;
        assert_eq!(left.len(), 1, "{left:?}");
        assert_eq!((left[0].command.as_str(), left[0].state), ("sleep 60", 'S'));
        assert!(!running.child.is_tree_empty());
        let report = running.child.stop(Duration::from_secs(2), Duration::from_secs(5)).await;
        assert_eq!((report.found, report.killed, report.survivors.len()), (1, 0, 0), "{report:?}");
        assert!(!is_alive(left[0].pid));
    });
}

/// The system would hang up on it at the end of a session's leader, and does so without a guardian.
#[test]
fn a_job_in_the_background_outlives_its_shell() {
    scenario(async || {
        let mut running = Running::shell(&guarded(), "(sleep 0.3; echo late; exec sleep 71) & echo done; exit 3").await;
        assert_eq!(running.finish().await, Exit::Code(3));
        running.wait_for("late\n").await;
        let left = running.child.survivors().await;
        assert_eq!(left.len(), 1, "{left:?}");
        let report = running.child.stop(Duration::from_secs(2), Duration::from_secs(5)).await;
        assert!(report.complete && report.survivors.is_empty(), "{report:?}");
    });
}

#[test]
fn large_requests_arrive_whole() {
    both(async |launcher| {
        let mut spec = command(&["sh", "-c", "echo $#:${#1}:${#V1}:${#V9}"], Stdio::Pipes(Output::Merged));
        spec.argv.push("sh".into());
        spec.argv.extend((0..3).map(|_| "a".repeat(100_000).into()));
        spec.env.extend((0..10).map(|number| (format!("V{number}").into(), "e".repeat(99_999).into())));
        let mut running = Running::start(&launcher, spec).await.unwrap();
        assert_eq!(running.finish().await, Exit::Code(0));
        assert_eq!(running.text, "3:100000:99999:99999\n");
    });
}

#[test]
fn signals_go_to_the_leader_and_never_to_a_successor() {
    both(async |launcher| {
        let script = "trap 'echo usr1' USR1; echo ready; while :; do sleep 0.05; done";
        let mut running = Running::piped(&launcher, script).await;
        running.wait_for("ready\n").await;
        running.child.signal(libc::SIGUSR1).await.unwrap();
        running.wait_for("usr1\n").await;
        assert_eq!(running.child.signal(4711).await.unwrap_err().raw_os_error(), Some(libc::EINVAL));
        running.child.signal(libc::SIGKILL).await.unwrap();
        assert_eq!(running.finish().await, Exit::Signal(libc::SIGKILL));
        assert_eq!(running.child.signal(libc::SIGKILL).await.unwrap_err().raw_os_error(), Some(libc::ESRCH));
        running.child.tree_empty().await;
        assert_eq!(running.child.signal(libc::SIGKILL).await.unwrap_err().raw_os_error(), Some(libc::ESRCH));
        let report = running.child.stop(Duration::ZERO, Duration::from_secs(1)).await;
        assert_eq!(report.survivors, []);
        assert!(report.complete);
    });
}

#[test]
fn the_grace_lets_a_program_clean_up() {
    both(async |launcher| {
        let script =
            "trap 'sleep 0.2; echo cleaned; exit 5' TERM; trap '' HUP; echo ready; while :; do sleep 0.05; done";
        let mut running = Running::piped(&launcher, script).await;
        running.wait_for("ready\n").await;
        let report = running.child.stop(Duration::from_secs(10), Duration::from_secs(20)).await;
        assert_eq!((report.killed, report.survivors.len()), (0, 0), "{report:?}");
        assert_eq!(running.finish().await, Exit::Code(5));
        assert!(running.text.ends_with("cleaned\n"), "{:?}", running.text);
    });
}

#[test]
fn dropping_the_child_ends_its_tree() {
    both(async |launcher| {
        let mut running =
            Running::shell(&launcher, "trap '' HUP TERM; setsid sleep 71 & sleep 72 & echo ready; wait").await;
        running.wait_for("ready\n").await;
        let cookie = running.child.cookie().to_owned();
        until("three processes", || with_environment(&cookie).len() == 3).await;
        drop(running);
        until("nothing is left", || with_environment(&cookie).is_empty()).await;
    });
}

#[test]
fn another_program_can_serve() {
    scenario(async || {
        let launcher = with_guardian(Guardian::Program(env!("CARGO_BIN_EXE_toolhost-guardian").into()));
        let mut running = Running::shell(&launcher, "ps -o args= -p $PPID; exit 4").await;
        assert_eq!(running.finish().await, Exit::Code(4));
        assert!(running.text.contains("toolhost-fork-server"), "{:?}", running.text);
    });
}

#[test]
fn a_program_that_does_not_serve_is_an_error() {
    scenario(async || {
        let deaf = tempfile::tempdir().unwrap();
        let deaf = deaf.path().join("deaf");
        std::fs::write(&deaf, "#!/bin/sh\nexec sleep 300\n").unwrap();
        std::fs::set_permissions(&deaf, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
        for program in ["/bin/true", "/bin/cat", deaf.to_str().unwrap(), "/no/such/program"] {
            let mut config = LauncherConfig::default();
            config.guardian = Guardian::Program(program.into());
            config.spawn_timeout = Duration::from_secs(1);
            let launcher = Launcher::new(config);
            let error = launcher.spawn(command(&["true"], terminal())).await.unwrap_err();
            assert_eq!(error.kind(), SpawnErrorKind::Guardian, "{program}: {error}");
            assert!(error.hint().is_some());
        }
    });
}

#[test]
fn the_server_keeps_nothing_of_the_host() {
    scenario(async || {
        let (_read, write) = std::io::pipe().unwrap();
        nix::fcntl::fcntl(&write, nix::fcntl::FcntlArg::F_SETFD(nix::fcntl::FdFlag::empty())).unwrap();
        let running = Running::shell(&guarded(), "sleep 60").await;
        let guardian: i32 = stat(running.child.pid()).unwrap()[1].parse().unwrap();
        let server: i32 = stat(guardian).unwrap()[1].parse().unwrap();
        assert_eq!(stat(server).unwrap()[1], std::process::id().to_string());
        for pid in [guardian, server] {
            let held: Vec<_> = std::fs::read_dir(format!("/proc/{pid}/fd"))
                .unwrap()
                .flatten()
                .map(|entry| std::fs::read_link(entry.path()).unwrap().display().to_string())
                .filter(|target| target != "/dev/null")
                .collect();
            assert!(held.iter().all(|target| target.starts_with("socket:")) && held.len() <= 3, "{held:?}");
        }
        let sessions: Vec<_> = [guardian, server].map(|pid| stat(pid).unwrap()[3].clone()).into();
        assert_eq!(sessions, [guardian.to_string(), server.to_string()]);
    });
}

#[test]
fn a_dropped_start_leaves_nothing() {
    both(async |launcher| {
        let mut spec = command(&["sleep", "60"], terminal());
        spec.env.push(("GUARD_TEST_MARK".into(), "dropped-start".into()));
        for pause in [0, 50, 100, 200, 400, 800, 1600] {
            let start = launcher.spawn(spec.clone());
            let _ = tokio::time::timeout(Duration::from_micros(pause), start).await;
        }
        until("nothing runs", || with_environment("GUARD_TEST_MARK=dropped-start").is_empty()).await;
    });
}

#[test]
fn fixtures_are_this_program() {
    scenario(async || {
        let own = std::env::current_exe().unwrap();
        let mut spec = command(&[own.to_str().unwrap(), "a b", ""], Stdio::Pipes(Output::Merged));
        spec.env.push(fixtures::named("args"));
        let mut running = Running::start(&guarded(), spec).await.unwrap();
        assert_eq!(running.finish().await, Exit::Code(0));
        assert_eq!(running.text, "[\"a b\", \"\"]\n");
    });
}

#[test]
fn holders_are_told_from_others() {
    both(async |launcher| {
        let script = "setsid sleep 71 & (setsid sleep 72 </dev/null >/dev/null 2>&1 &); sleep 0.2; echo done; exit 3";
        let mut child = launcher.spawn(command(&["sh", "-c", script], terminal())).await.unwrap();
        let pty = child.take_pty().unwrap();
        assert_eq!(child.exit().await, Exit::Code(3));
        let commands = |mut found: Vec<process::ProcessInfo>| {
            found.sort_by(|a, b| a.command.cmp(&b.command));
            found.into_iter().map(|process| process.command).collect::<Vec<_>>()
        };
        assert_eq!(commands(child.survivors().await), ["sleep 71", "sleep 72"]);
        assert_eq!(commands(child.holders(&pty.slave).await.unwrap()), ["sleep 71"]);

        let script = "sleep 71 >/dev/null & sleep 72 >/dev/null 2>&1 & sleep 0.2; exit 3";
        let mut child = launcher.spawn(command(&["sh", "-c", script], Stdio::Pipes(Output::Merged))).await.unwrap();
        let pipes = child.take_pipes().unwrap();
        assert_eq!(child.exit().await, Exit::Code(3));
        assert_eq!(commands(child.holders(&pipes.stdout).await.unwrap()), ["sleep 71"]);
    });
}

#[test]
fn many_start_at_once() {
    scenario(async || {
        let launcher = guarded();
        let tasks: Vec<_> = (0..64)
            .map(|number| {
                let launcher = launcher.clone();
                tokio::spawn(async move {
                    let mut running = Running::shell(&launcher, &format!("echo n={number}; exit {number}")).await;
                    assert_eq!(running.finish().await, Exit::Code(number));
                    assert_eq!(running.numbers("n"), [number]);
                    running.child.tree_empty().await;
                })
            })
            .collect();
        for task in tasks {
            task.await.unwrap();
        }
    });
}

#[test]
fn one_launcher_serves_several_runtimes() {
    scenario(async || {
        let launcher = guarded();
        let threads: Vec<_> = (0..3)
            .map(|number| {
                let launcher = launcher.clone();
                std::thread::spawn(move || {
                    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
                    runtime.block_on(async {
                        let mut running = Running::shell(&launcher, &format!("exit {number}")).await;
                        assert_eq!(running.finish().await, Exit::Code(number));
                    });
                })
            })
            .collect();
        for thread in threads {
            thread.join().unwrap();
        }
    });
}

#[test]
fn a_child_that_outlives_its_runtime_ends_when_dropped() {
    both(async |launcher| {
        let other = std::thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
            let child = runtime.block_on(async {
                let spec = command(&["sh", "-c", "trap '' HUP TERM; setsid sleep 71 & sleep 72"], terminal());
                launcher.spawn(spec).await.unwrap()
            });
            drop(runtime);
            let waits = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
            let exit = waits.block_on(child.exit());
            (child.cookie().to_owned(), exit, child)
        });
        let (cookie, exit, child) = other.join().unwrap();
        assert_eq!(exit, Exit::Lost);
        drop(child);
        until("nothing is left", || with_environment(&cookie).is_empty()).await;
    });
}
