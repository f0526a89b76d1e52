//! Ending whole trees: faults 23, 24, 25 and 27, and guardians that are killed.

use std::time::{Duration, Instant};

use process::{Exit, Output, Stdio};

use crate::fixtures::{self, Helper};
use crate::support::{
    ESCAPEES, Recorded, Running, both, command, guarded, is_alive, scenario, stat, unguarded, until, with_environment,
};

const GRACE: Duration = Duration::from_secs(2);
const DEADLINE: Duration = Duration::from_secs(10);

/// Fault 23.
#[test]
fn nobody_escapes() {
    scenario(async || {
        let mut running = Running::shell(&guarded(), ESCAPEES).await;
        running.wait_for("ready\n").await;
        let recorded = Recorded(running.numbers("p"));
        assert_eq!((recorded.0.len(), recorded.alive().len()), (8, 8), "{:?}", running.text);
        assert_eq!(running.child.survivors().await.len(), 8);
        let report = running.child.stop(GRACE, DEADLINE).await;
        assert_eq!(recorded.alive(), []);
        assert_eq!(with_environment(running.child.cookie()), []);
        assert_eq!((report.found, report.survivors.len()), (8, 0), "{report:?}");
        assert!(report.elapsed < Duration::from_secs(1), "{report:?}");
        assert_eq!(running.finish().await, Exit::Signal(libc::SIGTERM));
    });
}

#[test]
fn nobody_escapes_a_dropped_child() {
    scenario(async || {
        let mut running = Running::shell(&guarded(), ESCAPEES).await;
        running.wait_for("ready\n").await;
        let recorded = Recorded(running.numbers("p"));
        assert_eq!(recorded.alive().len(), 8);
        drop(running);
        let took = until("all are gone", || recorded.alive().is_empty()).await;
        assert!(took < Duration::from_secs(1), "{took:?}");
    });
}

/// Without a guardian one kind is not found, and only that: no parent, no session, no environment.
#[test]
fn without_a_guardian_one_escapes() {
    scenario(async || {
        let mut running = Running::shell(&unguarded(), ESCAPEES).await;
        running.wait_for("ready\n").await;
        let recorded = Recorded(running.numbers("p"));
        assert_eq!(recorded.alive().len(), 8, "{:?}", running.text);
        let report = running.child.stop(GRACE, DEADLINE).await;
        assert_eq!((report.found, report.survivors.len()), (7, 0), "{report:?}");
        assert_eq!(with_environment(running.child.cookie()), []);
        let left = recorded.alive();
        assert_eq!(left.len(), 1);
        assert_eq!(std::fs::read(format!("/proc/{}/cmdline", left[0])).unwrap(), b"sleep\x0076\0");
    });
}

/// Fault 24.
#[test]
fn a_fork_chain_ends() {
    scenario(async || {
        let directory = tempfile::tempdir().unwrap();
        let counter = directory.path().join("counter");
        let length = || std::fs::metadata(&counter).map_or(0, |metadata| metadata.len());
        let own = std::env::current_exe().unwrap();
        let mut spec = command(&[own.to_str().unwrap(), "4", "8"], Stdio::Pipes(Output::Merged));
        spec.env.push(fixtures::named("bomb"));
        spec.env.push(("COUNTER".into(), counter.clone().into()));
        let mut running = Running::start(&guarded(), spec).await.unwrap();
        assert_eq!(running.finish().await, Exit::Code(0), "{:?}", running.text);
        until("the chains are long", || length() > 400).await;
        let report = running.child.stop(Duration::ZERO, Duration::from_secs(5)).await;
        let stopped = length();
        assert_eq!(report.survivors, [], "{report:?}");
        assert!(running.child.is_tree_empty() && report.elapsed < Duration::from_secs(2), "{report:?}");
        assert_eq!(with_environment(running.child.cookie()), []);
        tokio::time::sleep(Duration::from_millis(300)).await;
        assert_eq!(length(), stopped, "somebody still forks");
    });
}

/// Fault 25.
#[test]
fn nothing_outlives_a_killed_host() {
    scenario(async || {
        let mut host = Helper::start("doomed-host", &[]);
        let lines = host.lines_until("ready").await;
        let number = |line: &String| line.strip_prefix("p=")?.parse().ok();
        let recorded = Recorded(lines.iter().filter_map(number).collect());
        assert_eq!((recorded.0.len(), recorded.alive().len()), (25, 25), "{lines:?}");
        let cookies: Vec<_> = lines.iter().filter_map(|line| line.strip_prefix("cookie=")).collect();
        assert_eq!(cookies.len(), 4);
        host.kill();
        let gone = || recorded.alive().is_empty() && cookies.iter().all(|cookie| with_environment(cookie).is_empty());
        let took = until("all are gone", gone).await;
        eprintln!("a killed host's processes were gone after {took:?}");
        assert!(took < Duration::from_secs(1), "{took:?}");
        let servers = lines.iter().filter_map(|line| line.strip_prefix("server=")?.parse().ok());
        let servers: Vec<i32> = servers.collect();
        assert_eq!(servers.len(), 1);
        until("the fork server is gone", || !is_alive(servers[0])).await;
    });
}

/// Fault 27.
#[test]
fn ignoring_everything_lasts_as_long_as_the_grace() {
    both(async |launcher| {
        let script = "trap '' HUP INT TERM QUIT; echo ready; while :; do sleep 1; done";
        let mut running = Running::shell(&launcher, script).await;
        running.wait_for("ready\n").await;
        let grace = Duration::from_millis(700);
        let report = running.child.stop(grace, DEADLINE).await;
        assert!(report.elapsed >= grace && report.elapsed < grace + Duration::from_secs(2), "{report:?}");
        assert_eq!(running.finish().await, Exit::Signal(libc::SIGKILL));
        assert!(report.killed >= 1 && report.survivors.is_empty(), "{report:?}");
        assert!(report.killed_processes.iter().any(|(_, name)| name == "sh"), "{report:?}");
    });
}

/// A stop goes on when nobody waits for it, and a second one can be quicker.
#[test]
fn a_stop_is_not_taken_back() {
    both(async |launcher| {
        let script = "trap '' HUP TERM; echo ready; while :; do sleep 0.1; done";
        let mut running = Running::shell(&launcher, script).await;
        running.wait_for("ready\n").await;
        let stop = running.child.stop(Duration::from_millis(300), DEADLINE);
        assert!(tokio::time::timeout(Duration::from_millis(50), stop).await.is_err());
        assert_eq!(running.child.exit().await, Exit::Signal(libc::SIGKILL));
        running.child.tree_empty().await;

        let mut running = Running::shell(&launcher, script).await;
        running.wait_for("ready\n").await;
        let patient = running.child.stop(Duration::from_secs(60), DEADLINE);
        assert!(tokio::time::timeout(Duration::from_millis(50), patient).await.is_err());
        let report = running.child.stop(Duration::ZERO, DEADLINE).await;
        assert!(report.elapsed < Duration::from_secs(2) && report.survivors.is_empty(), "{report:?}");
    });
}

#[test]
fn a_command_that_kills_its_guardian_is_ended_too() {
    scenario(async || {
        let launcher = guarded();
        let mut other = Running::shell(&launcher, "echo ready; read line; echo got=$line; exit 6").await;
        other.wait_for("ready\n").await;
        let script = ESCAPEES.replace("echo ready;", "echo ready; kill -9 $PPID;");
        let mut running = Running::shell(&launcher, &script).await;
        running.wait_for("ready\n").await;
        let recorded = Recorded(running.numbers("p"));
        assert_eq!(recorded.0.len(), 8);
        assert_eq!(running.child.exit().await, Exit::Lost);
        running.child.tree_empty().await;
        assert_eq!(recorded.alive(), []);
        assert_eq!(with_environment(running.child.cookie()), []);
        // The others do not notice.
        crate::support::write(&other, "still here\n");
        assert_eq!(other.finish().await, Exit::Code(6));
        assert!(other.text.contains("got=still here\n"), "{:?}", other.text);
    });
}

/// The chain forks on while its guardian is killed.
#[test]
fn a_fork_chain_that_kills_its_guardian_ends() {
    scenario(async || {
        let directory = tempfile::tempdir().unwrap();
        let counter = directory.path().join("counter");
        let own = std::env::current_exe().unwrap();
        let mut spec = command(&["sh", "-c", "\"$0\" 4 8; kill -9 $PPID; sleep 60"], Stdio::Pipes(Output::Merged));
        spec.argv.push(own.into());
        spec.env.push(fixtures::named("bomb"));
        spec.env.push(("COUNTER".into(), counter.clone().into()));
        let running = Running::start(&guarded(), spec).await.unwrap();
        assert_eq!(running.child.exit().await, Exit::Lost);
        running.child.tree_empty().await;
        let length = std::fs::metadata(&counter).unwrap().len();
        assert!(length > 0);
        assert_eq!(with_environment(running.child.cookie()), []);
        tokio::time::sleep(Duration::from_millis(300)).await;
        assert_eq!(std::fs::metadata(&counter).unwrap().len(), length, "somebody still forks");
    });
}

#[test]
fn a_killed_server_is_replaced() {
    scenario(async || {
        let launcher = guarded();
        let mut old = Running::shell(&launcher, ESCAPEES).await;
        old.wait_for("ready\n").await;
        let recorded = Recorded(old.numbers("p"));
        let script = "kill -9 $(ps -o ppid= -p $PPID); echo killed; read line; exit 9";
        let mut killer = Running::shell(&launcher, script).await;
        killer.wait_for("killed\n").await;
        let mut new = Running::shell(&launcher, "echo new; exit 2").await;
        assert_eq!(new.finish().await, Exit::Code(2));
        crate::support::write(&killer, "\n");
        assert_eq!(killer.finish().await, Exit::Code(9));
        let report = old.child.stop(GRACE, DEADLINE).await;
        assert_eq!((report.found, report.survivors.len()), (8, 0), "{report:?}");
        assert_eq!(recorded.alive(), []);
    });
}

/// Nobody is left who could know all of the tree, so the host ends what carries its mark.
#[test]
fn a_command_that_kills_guardian_and_server_is_ended_by_the_host() {
    scenario(async || {
        let launcher = guarded();
        let script = "sleep 71 & setsid sleep 72 & (setsid sleep 73 &)
            kill -9 $(ps -o ppid= -p $PPID) $PPID; exec sleep 74";
        let running = Running::shell(&launcher, script).await;
        assert_eq!(running.child.exit().await, Exit::Lost);
        running.child.tree_empty().await;
        assert_eq!(with_environment(running.child.cookie()), []);
        let mut new = Running::shell(&launcher, "exit 2").await;
        assert_eq!(new.finish().await, Exit::Code(2));
    });
}

#[test]
fn stopped_guardians_and_servers_go_on() {
    scenario(async || {
        let launcher = guarded();
        let script = "kill -STOP $PPID $(ps -o ppid= -p $PPID); echo stopped; sleep 60";
        let mut running = Running::shell(&launcher, script).await;
        running.wait_for("stopped\n").await;
        let mut new = Running::shell(&launcher, "exit 2").await;
        assert_eq!(new.finish().await, Exit::Code(2));
        let report = running.child.stop(GRACE, DEADLINE).await;
        assert!(report.survivors.is_empty() && report.elapsed < GRACE, "{report:?}");
    });
}

/// What a person or a service manager sends to everything of the host does not end the guardians before their
/// commands.
#[test]
fn guardians_ignore_what_is_meant_for_others() {
    scenario(async || {
        let launcher = guarded();
        let script = "S=$(ps -o ppid= -p $PPID); for s in HUP INT QUIT TERM USR1 USR2; do kill -$s $PPID $S; done
            echo sent; exit 3";
        let mut running = Running::shell(&launcher, script).await;
        assert_eq!(running.finish().await, Exit::Code(3));
        running.child.tree_empty().await;
    });
}

/// Fault 1 at this level: what is left after many short commands is nothing.
#[test]
fn many_short_commands_leave_nothing() {
    scenario(async || {
        let launcher = guarded();
        let begin = Instant::now();
        for number in 0..500 {
            let code = number % 7;
            let mut running = Running::shell(&launcher, &format!("echo {number}; exit {code}")).await;
            assert_eq!(running.finish().await, Exit::Code(code));
            assert_eq!(running.text, format!("{number}\n"));
        }
        eprintln!("500 short commands took {:?}", begin.elapsed());
        let guardians = || {
            let own = std::process::id().to_string();
            let server = crate::support::pids().into_iter().find(|pid| stat(*pid).is_some_and(|stat| stat[1] == own));
            let server = server.map(|pid| pid.to_string()).unwrap_or_default();
            crate::support::pids().iter().filter(|pid| stat(**pid).is_some_and(|stat| stat[1] == server)).count()
        };
        // The one for the next command.
        until("no guardian but the spare is left", || guardians() == 1).await;
    });
}
