//! A stop ends everything, and so does the end of the host, however it ends: faults 1, 23, 25 and 27.

use std::time::{Duration, Instant};

use process::{EndedBecause, Engine, EngineConfig, PoolConfig, SessionLimits, State};

use crate::harness::{alone, alone_bare, alone_with, config, ended, numbers, until_exit, until_text, wide};
use crate::hosts::Host;
use crate::measure::{is_alive, note, processes_of, until, with_environment};
use crate::shapes::{ESCAPEES, ESCAPEES_COUNT};

/// Fault 23, by each way in which a session is stopped.
#[test]
fn nobody_escapes() {
    alone_with(wide(), async |_| {
        for way in ["stop", "chat", "project", "shutdown", "drop"] {
            let engine = Engine::new(EngineConfig::default());
            let pool = engine.pool(wide());
            let owner = crate::harness::owner(way);
            let spec = crate::harness::spec(&["sh", "-c", ESCAPEES]);
            let session = crate::harness::start_in(&pool, &owner, spec).await.unwrap();
            let text = until_text(&session, "ready").await;
            let pids = numbers(&text, "p");
            assert_eq!((pids.len(), alive(&pids)), (ESCAPEES_COUNT, ESCAPEES_COUNT), "{text}");
            let begin = Instant::now();
            match way {
                "stop" => {
                    let report = session.stop(EndedBecause::Killed).await;
                    assert_eq!((report.found, report.survivors.len()), (ESCAPEES_COUNT, 0), "{report:?}");
                    assert_eq!(session.status().await.ended_because, Some(EndedBecause::Killed));
                }
                "chat" => pool.end_chat(&owner.chat).await,
                "project" => pool.end_project(&owner.project).await,
                "shutdown" => pool.shutdown().await,
                _ => {
                    drop((engine, pool, session));
                    until("all are gone", || alive(&pids) == 0).await;
                }
            }
            note(format!("{way}: all gone after {:?}", begin.elapsed()));
            assert_eq!(alive(&pids), 0, "{way}");
            assert!(begin.elapsed() < Duration::from_secs(1), "{way}: {:?}", begin.elapsed());
        }
    });
}

fn alive(pids: &[i32]) -> usize {
    pids.iter().filter(|pid| is_alive(**pid)).count()
}

/// Fault 27.
#[test]
fn who_ignores_everything_is_killed_after_the_grace() {
    let grace = Duration::from_millis(700);
    let limits = SessionLimits { grace, ..SessionLimits::default() };
    alone_with(PoolConfig { session: limits, ..config() }, async move |bench| {
        let session = bench.sh("trap '' HUP INT TERM QUIT; echo ready; while :; do sleep 1; done").await;
        until_text(&session, "ready").await;
        let begin = Instant::now();
        let report = session.stop(EndedBecause::Killed).await;
        let took = begin.elapsed();
        assert!(took >= grace && took < grace + Duration::from_millis(500), "{took:?}");
        assert!(report.killed >= 1 && report.survivors.is_empty(), "{report:?}");
        let status = session.status().await;
        assert_eq!((status.state, status.signal), (State::Signaled, Some(libc::SIGKILL)), "{status:?}");
    });
}

/// Stopping from two sides at once, and stopping what has ended.
#[test]
fn a_second_stop_finds_nothing() {
    alone(async |bench| {
        let session = bench.sh("echo ready; sleep 100").await;
        until_text(&session, "ready").await;
        let (first, second) = tokio::join!(session.stop(EndedBecause::Killed), session.stop(EndedBecause::Idle));
        assert_eq!((first.survivors.len(), second.survivors.len()), (0, 0), "{first:?} {second:?}");
        let third = session.stop(EndedBecause::Killed).await;
        assert_eq!((third.found, third.killed), (0, 0), "{third:?}");
        // Whoever asked first is the reason.
        assert_eq!(session.status().await.ended_because, Some(EndedBecause::Killed));
        ended(&session).await;
    });
}

/// Output that comes while a session is being stopped is kept.
#[test]
fn last_words_are_kept() {
    alone(async |bench| {
        let session =
            bench.sh("trap 'echo bye; exit 5' TERM; trap '' HUP; echo ready; while :; do sleep 0.05; done").await;
        until_text(&session, "ready").await;
        session.stop(EndedBecause::Killed).await;
        assert!(until_exit(&session).await.ends_with("bye\n"));
        let status = session.status().await;
        assert_eq!((status.exit_code, status.ended_because), (Some(5), Some(EndedBecause::Killed)));
    });
}

/// Fault 25.
#[test]
fn nothing_outlives_a_killed_host() {
    alone_bare(|| {
        let mut host = Host::start("doomed", &[], &[]);
        let lines = host.lines_until("ready");
        let pids = numbers(&lines.join(" "), "p");
        assert_eq!((pids.len(), alive(&pids)), (3 * ESCAPEES_COUNT + 1, 3 * ESCAPEES_COUNT + 1), "{lines:?}");
        host.kill();
        gone(&host, &pids);
    });
}

/// Fault 1, the host killed in the middle.
#[test]
fn a_host_killed_among_short_sessions_leaves_nothing() {
    alone_bare(|| {
        for _ in 0..5 {
            let mut host = Host::start("storm", &[], &[]);
            host.lines_until("ready");
            host.kill();
            gone(&host, &[]);
        }
    });
}

/// Waits until no process of a killed host is left, its fork server and guardians included.
fn gone(host: &Host, pids: &[i32]) {
    let begin = Instant::now();
    let server = format!("TOOLHOST_FORK_SERVER={}\0", host.pid());
    let left = || {
        let mut left: Vec<i32> = pids.iter().copied().filter(|pid| is_alive(*pid)).collect();
        left.extend(processes_of(host.pid()));
        left
    };
    while !left().is_empty() {
        assert!(begin.elapsed() < Duration::from_secs(1), "{:?} are left", left());
        std::thread::sleep(Duration::from_millis(2));
    }
    let took = begin.elapsed();
    while !with_environment(&server).is_empty() {
        assert!(begin.elapsed() < Duration::from_secs(5), "guardians are left: {:?}", with_environment(&server));
        std::thread::sleep(Duration::from_millis(2));
    }
    note(format!("a killed host's processes were gone after {took:?}, its guardians after {:?}", begin.elapsed()));
}
