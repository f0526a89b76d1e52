//! Ids, owners, limits, tombstones and sweeps of pools of real sessions.

use std::time::{Duration, Instant};

use process::{EndedBecause, Engine, EngineConfig, PoolConfig, SessionLimits, Since, StartError, State, Until};

use crate::harness::{
    alone, alone_with, code, config, ended, owner, piped, silent, spec, start_in, until_exit, until_text, wide,
};
use crate::measure::{Holdings, PATIENCE, is_alive, note, processes_of, sleeps, until};

/// A command that ends at once is found by its id, with its exit code and its output.
#[test]
fn a_fast_exit_leaves_a_tombstone() {
    alone(async |bench| {
        for number in 0..20 {
            let session = bench.sh(&format!("echo out{number}; exit {number}")).await;
            let id = session.id().to_owned();
            drop(session);
            let session = bench.pool.get(&bench.owner, &id).unwrap();
            assert_eq!(until_exit(&session).await, format!("out{number}\n"));
            let status = bench.pool.get(&bench.owner, &id).unwrap().status().await;
            assert_eq!((status.state, status.exit_code), (State::Exited, Some(number)));
            assert_eq!(status.ended_because, Some(EndedBecause::Exit));
            // Repeatable, and the output was read.
            assert_eq!(session.read(1000).text, "");
        }
    });
}

/// Finished sessions never count against the limits, and the newest stay readable.
#[test]
fn finished_sessions_do_not_count_and_the_newest_stay() {
    alone(async |bench| {
        let mut ids = Vec::new();
        for number in 0..40 {
            let session = bench.sh(&format!("echo number {number}")).await;
            assert!(!ids.contains(&session.id().to_owned()), "an id is used again");
            ids.push(session.id().to_owned());
            assert_eq!(session.waiter(Until::Exit, Since::Unread).wait(PATIENCE).await, process::Reason::Exit);
            ended(&session).await;
        }
        assert_eq!(bench.pool.running(&bench.owner.chat), 0);
        // The last start still counted one as running: it and the newest sixteen are there.
        let listed: Vec<String> = bench.pool.list(&bench.owner).iter().map(|session| session.id().to_owned()).collect();
        assert_eq!(listed, ids[ids.len() - listed.len()..], "the newest, in order");
        assert!((16..=17).contains(&listed.len()), "{listed:?}");
        for (number, id) in ids.iter().enumerate() {
            match bench.pool.get(&bench.owner, id) {
                Ok(session) => assert_eq!(session.read(100).text, format!("number {number}\n")),
                Err(error) => assert_eq!(error.to_string(), format!("unknown id `{id}`")),
            }
        }
    });
}

/// Sessions that have ended while something still holds them are bounded, too.
#[test]
fn held_sessions_are_bounded() {
    alone_with(PoolConfig { finished: 3, ..config() }, async |bench| {
        let mut holders = Vec::new();
        for _ in 0..8 {
            let session = bench.sh("setsid sleep 100 & echo p=$!").await;
            let text = until_exit(&session).await;
            holders.extend(crate::harness::numbers(&text, "p"));
        }
        assert_eq!(holders.len(), 8);
        let listed = bench.pool.list(&bench.owner).len();
        assert!((3..=4).contains(&listed), "{listed}");
        let alive = || holders.iter().filter(|pid| is_alive(**pid)).count();
        until("the holders of forgotten sessions are gone", || alive() <= listed).await;
        assert!(holders.iter().rev().take(3).all(|pid| is_alive(*pid)), "the newest are still held");
    });
}

/// At the limit a start is refused, says what runs, and leaves nothing; the next one after an end works.
#[test]
fn a_start_over_the_limit_is_refused() {
    alone(async |bench| {
        let mut sessions = Vec::new();
        for _ in 0..4 {
            sessions.push(bench.start(silent(&["cat"])).await);
        }
        let refused = start_in(&bench.pool, &bench.owner, spec(&["cat"])).await.unwrap_err();
        let StartError::Limit(limit) = refused else { panic!("{refused}") };
        assert_eq!((limit.limit, limit.host, limit.running.len()), (4, false, 4), "{limit}");
        let other = owner("other");
        for _ in 0..4 {
            sessions.push(start_in(&bench.pool, &other, silent(&["cat"])).await.unwrap());
        }
        let refused = start_in(&bench.pool, &owner("third"), spec(&["cat"])).await.unwrap_err();
        let StartError::Limit(limit) = refused else { panic!("{refused}") };
        // Nobody learns what others run.
        assert_eq!((limit.limit, limit.host, limit.running.len()), (8, true, 0), "{limit}");
        sessions[0].stop(EndedBecause::Killed).await;
        assert_eq!(bench.pool.list(&bench.owner).len(), 4);
        bench.start(silent(&["cat"])).await;
    });
}

/// Nobody reaches, or learns of, what another chat runs.
#[test]
fn owners_are_apart() {
    alone(async |bench| {
        let session = bench.start(silent(&["cat"])).await;
        let (other, id) = (owner("other"), session.id());
        let foreign = bench.pool.get(&other, id).unwrap_err().to_string();
        let unknown = bench.pool.get(&other, "s999").unwrap_err().to_string();
        assert_eq!(foreign.replace(id, "ID"), unknown.replace("s999", "ID"));
        assert!(bench.engine.find(&other, id).is_err() && bench.engine.find(&bench.owner, id).is_ok());
        assert!(bench.pool.list(&other).is_empty() && bench.pool.running(&other.chat) == 0);
        bench.pool.end_chat(&other.chat).await;
        bench.pool.end_project(&other.project).await;
        assert!(session.is_running());
        bench.pool.end_chat(&bench.owner.chat).await;
        assert_eq!(session.status().await.ended_because, Some(EndedBecause::ChatEnded));
        assert!(bench.pool.get(&bench.owner, id).is_err());
    });
}

/// A session that nobody calls is stopped; one that is called lives, up to its lifetime.
#[test]
fn idle_and_old_sessions_are_swept() {
    let idle = Duration::from_millis(400);
    let lifetime = Duration::from_millis(1600);
    let limits = SessionLimits { idle, lifetime, ..SessionLimits::default() };
    alone_with(PoolConfig { session: limits, ..config() }, async move |bench| {
        let begin = Instant::now();
        let lonely = bench.start(silent(&["cat"])).await;
        let busy = bench.start(silent(&["cat"])).await;
        let held = bench.sh("setsid sleep 100 & echo p=$!").await;
        let holder = crate::harness::numbers(&until_exit(&held).await, "p");
        let mut lonely_ended = None;
        while busy.is_running() {
            assert!(begin.elapsed() < PATIENCE);
            bench.pool.get(&bench.owner, busy.id()).unwrap();
            if lonely_ended.is_none() && !lonely.is_running() {
                lonely_ended = Some(begin.elapsed());
            }
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        let (lonely_ended, busy_ended) = (lonely_ended.unwrap(), begin.elapsed());
        note(format!("idle after {lonely_ended:?}, over after {busy_ended:?}"));
        assert!(lonely_ended >= idle && lonely_ended < idle + Duration::from_millis(800), "{lonely_ended:?}");
        assert!(busy_ended >= lifetime && busy_ended < lifetime + Duration::from_millis(800), "{busy_ended:?}");
        assert_eq!(lonely.status().await.ended_because, Some(EndedBecause::Idle));
        assert_eq!(busy.status().await.ended_because, Some(EndedBecause::Lifetime));
        // What is left of an ended one is swept as well.
        until("the holder is gone", || !is_alive(holder[0])).await;
        assert_eq!(held.status().await.ended_because, Some(EndedBecause::Exit));
    });
}

/// Nothing wakes up where nothing runs, nor for a session that does nothing.
#[test]
fn idle_costs_nothing() {
    alone(async |bench| {
        for running in [false, true] {
            if running {
                let session = bench.sh("stty -echo; echo ready; exec cat").await;
                until_text(&session, "ready").await;
            } else {
                ended(&bench.sh("true").await).await;
            }
            // What has just happened settles.
            tokio::time::sleep(Duration::from_millis(300)).await;
            let before = sleeps("process-io");
            tokio::time::sleep(Duration::from_secs(1)).await;
            let woken = sleeps("process-io") - before;
            note(format!("running {running}: {woken} wake-ups in a second"));
            assert!(woken <= 2, "{woken}");
        }
    });
}

/// A start that nobody waits for any more leaves nothing, or a listed session.
#[test]
fn a_dropped_start_leaves_nothing_or_a_listed_session() {
    alone_with(wide(), async |bench| {
        let mut dropped = 0;
        for round in 0..200_u32 {
            let start = start_in(&bench.pool, &bench.owner, silent(&["cat"]));
            let patience = Duration::from_micros(u64::from(round) * 25);
            dropped += u32::from(tokio::time::timeout(patience, start).await.is_err());
        }
        note(format!("{dropped} of 200 starts were dropped"));
        assert!(dropped > 10);
        let listed = bench.pool.list(&bench.owner);
        assert_eq!(bench.pool.running(&bench.owner.chat), listed.len(), "no place is lost");
        until("only the listed run", || processes_of(std::process::id()).len() == listed.len()).await;
    });
}

/// A shutdown while starts are under way: each is refused or ended.
#[test]
fn a_shutdown_ends_starts_that_are_under_way() {
    alone_with(wide(), async |bench| {
        for round in 0..20_u64 {
            let pool = bench.pool(wide());
            let starts: Vec<_> = (0..8)
                .map(|_| {
                    let (pool, owner) = (pool.clone(), bench.owner.clone());
                    tokio::spawn(async move { start_in(&pool, &owner, silent(&["cat"])).await.is_ok() })
                })
                .collect();
            tokio::time::sleep(Duration::from_micros(round * 500)).await;
            pool.shutdown().await;
            for start in starts {
                start.await.unwrap();
            }
            assert!(start_in(&pool, &bench.owner, spec(&["true"])).await.is_err());
            until("nothing runs after the shutdown", || processes_of(std::process::id()).is_empty()).await;
            assert!(pool.list(&bench.owner).iter().all(|session| !session.is_running()));
        }
    });
}

/// The end of a chat, a project, a pool or the engine leaves nothing, running or held.
#[test]
fn every_end_leaves_nothing() {
    alone(async |_| {
        for way in ["chat", "project", "shutdown", "engine"] {
            let before = Holdings::now();
            let engine = Engine::new(EngineConfig::default());
            let pool = engine.pool(config());
            let chat = owner("chat");
            let running = start_in(&pool, &chat, silent(&["cat"])).await.unwrap();
            let task = start_in(&pool, &chat, piped(&["sleep", "100"])).await.unwrap();
            let held = start_in(&pool, &chat, spec(&["sh", "-c", "setsid sleep 100 & exit 3"])).await.unwrap();
            until_exit(&held).await;
            assert_eq!((running.is_running(), task.is_running(), code(&held).await), (true, true, Some(3)));
            match way {
                "chat" => pool.end_chat("chat").await,
                "project" => pool.end_project(&chat.project).await,
                "shutdown" => pool.shutdown().await,
                _ => {}
            }
            if way != "engine" {
                assert_eq!(processes_of(std::process::id()), Vec::<i32>::new(), "{way}");
                assert!(pool.list(&chat).is_empty());
            }
            drop((pool, engine));
            // Handles that somebody still has keep nothing alive.
            let begin = Instant::now();
            until("nothing is left", || {
                processes_of(std::process::id()).is_empty() && Holdings::now().children.len() <= before.children.len()
            })
            .await;
            let terminals = || Holdings::now().descriptors.iter().filter(|name| name.contains("/dev/pt")).count();
            until("no terminal is left", || terminals() == 0).await;
            assert!(begin.elapsed() < Duration::from_secs(3), "{way}: {:?}", begin.elapsed());
            // Whoever still asks is told, and is not left waiting.
            let reason =
                tokio::time::timeout(PATIENCE, running.waiter(Until::Exit, Since::Unread).wait(PATIENCE / 2)).await;
            assert_eq!(reason, Ok(process::Reason::Exit), "{way}");
            drop((running, task, held));
            until("no descriptor is left", || Holdings::now().descriptors.len() <= before.descriptors.len()).await;
        }
    });
}
