//! The sampler against a server that says exactly what the test wants.

#![allow(
    clippy::unwrap_used,
    reason = "helpers of tests are tests, which clippy cannot know"
)]

mod scripted;

use std::net::TcpListener;
use std::sync::atomic::Ordering;
use std::thread;
use std::time::Duration;

use pgassay_sampler::{NameId, SamplerError};
use pgassay_session::board::Board;

use scripted::{BEGUN_US, DAY, sampler, sampler_of, server, until};

#[test]
fn a_busy_backend_is_told_with_its_scenario_and_the_start_of_its_transaction() {
    let (port, _) = server();
    let board = Board::new(1, vec!["payment".into()]);
    board.set_backend(0, 4711);
    board.enter(0, 0);
    let sampler = sampler(port, "busy", &[], Some(board));
    sampler.start().unwrap();
    until("ticks", || sampler.cost().wait_ticks >= 5);
    sampler.stop();
    let waits = sampler.take_waits();
    let name = |id: Option<NameId>| id.map(|id| &*waits.names[id.index()]);
    assert!(waits.tick_ns.len() >= 5);
    assert!(waits.tick_ns.is_sorted());
    assert_eq!(waits.pid[0], Some(4711));
    assert_eq!(waits.leader_pid[0], None);
    assert_eq!(name(waits.wait_event[0]), Some("WalSync"));
    assert_eq!(name(waits.scenario[0]), Some("payment"));
    assert_eq!(waits.query_id[0], Some(-7));
    let start_ns = Some((BEGUN_US * 1000) & !((1 << 20) - 1));
    assert!(waits.xact_start_ns.iter().all(|found| *found == start_ns));
    assert!(sampler.take_waits().tick_ns.is_empty(), "taken once");
    assert!(sampler.warnings().is_empty());
    assert!(sampler.cost().cpu_s > 0.0);
}

#[test]
fn a_parallel_worker_runs_the_scenario_of_its_leader() {
    let (port, _) = server();
    let board = Board::new(1, vec!["report".into()]);
    board.set_backend(0, 4711);
    board.enter(0, 0);
    let sampler = sampler(port, "in parallel", &[], Some(board));
    sampler.start().unwrap();
    until("a tick", || sampler.cost().wait_ticks >= 1);
    sampler.stop();
    let waits = sampler.take_waits();
    assert_eq!(waits.leader_pid[0], Some(4711));
    let scenario = waits.scenario[0].map(|id| &*waits.names[id.index()]);
    assert_eq!(scenario, Some("report"));
}

#[test]
fn each_session_only_reads_and_waits_for_nothing_long() {
    let (port, state) = server();
    let sampler = sampler(port, "busy", &["io"], None);
    sampler.start().unwrap();
    until("both", || {
        sampler.cost().wait_ticks >= 1 && sampler.cost().counter_reads >= 1
    });
    sampler.stop();
    let said = state.said.lock().unwrap();
    for wanted in [
        "statement_timeout = '5s'",
        "lock_timeout = '1s'",
        "default_transaction_read_only = on",
        "jit = off",
        "'idle_session_timeout'",
    ] {
        let saying = said.iter().filter(|text| text.contains(wanted)).count();
        assert_eq!(saying, 2, "once for waits, once for counters: {said:?}");
    }
}

#[test]
fn starts_of_transactions_are_on_our_axis_however_wrong_the_servers_clock_is() {
    let (port, _) = server();
    let sampler = sampler(port, "a day behind", &[], None);
    sampler.start().unwrap();
    until("ticks", || sampler.cost().wait_ticks >= 3);
    sampler.stop();
    let begun_ns = BEGUN_US * 1000 + i64::try_from(DAY.as_nanos()).unwrap();
    for start_ns in sampler.take_waits().xact_start_ns {
        // Half a round trip at most, and that the machine may be busy.
        assert!((start_ns.unwrap() - begun_ns).abs() < 1_000_000_000);
    }
}

#[test]
fn a_tick_that_finds_nobody_has_a_row_of_its_own() {
    let (port, _) = server();
    let sampler = sampler(port, "idle", &[], None);
    sampler.start().unwrap();
    until("ticks", || sampler.cost().wait_ticks >= 3);
    sampler.stop();
    sampler.stop();
    let waits = sampler.take_waits();
    assert_eq!(waits.tick_ns.len() as u64, sampler.cost().wait_ticks);
    assert!(waits.pid.iter().all(Option::is_none));
    assert!(matches!(sampler.start(), Err(SamplerError::AlreadyStarted)));
}

#[test]
fn what_the_server_hides_is_a_warning_and_no_row() {
    let (port, _) = server();
    let sampler = sampler(port, "hidden", &[], None);
    sampler.start().unwrap();
    until("ticks", || sampler.cost().wait_ticks >= 2);
    sampler.stop();
    assert!(sampler.take_waits().pid.iter().all(Option::is_none));
    assert_eq!(sampler.warnings().len(), 1);
    assert!(sampler.warnings()[0].contains("pg_monitor"));
}

#[test]
fn a_server_that_answers_slowly_is_asked_less_often_only_where_that_is_wanted() {
    for (share, rests) in [("0.2", true), ("null", false)] {
        let (port, _) = server();
        let sampler = sampler_of(port, "late", "", share, None);
        sampler.start().unwrap();
        until("ticks", || sampler.cost().wait_ticks >= 4);
        sampler.stop();
        let cost = sampler.cost();
        // Each answer takes 25 ms, so each rest 100 ms: ten ticks of the clock, less jitter.
        let least = if rests { 8 * (cost.wait_ticks - 1) } else { 0 };
        assert!(cost.rested_ticks >= least, "{cost:?}");
        assert_eq!(cost.rested_ticks > 0, rests, "{cost:?}");
    }
}

#[test]
fn a_query_that_takes_long_rests_by_its_own_share_and_the_others_go_on() {
    let (port, state) = server();
    let queries = [("late io", "0.001"), ("io", "null")].map(|(sql, share)| {
        format!(r#"{{"source": "{sql}", "sql": "{sql}", "every_s": 0.01, "busy_share": {share}}}"#)
    });
    let sampler = sampler_of(port, "idle", &queries.join(", "), "null", None);
    sampler.start().unwrap();
    // A minute's thousandth is 60 ms: after three readings of 25 ms it rests for 15 s or more.
    until("readings", || sampler.cost().counter_reads >= 100);
    sampler.stop();
    let asked = state.late.load(Ordering::SeqCst);
    assert!((1..=3).contains(&asked), "{asked}");
    assert_eq!(
        sampler.cost().rested_ticks,
        0,
        "pauses are for slow servers only"
    );
    let values = sampler.take_counters();
    let source = |row: usize| &*values.names[values.source[row].index()];
    assert!((0..values.source.len()).all(|row| source(row) == "io"));
}

#[test]
fn current_values_take_no_row() {
    let (port, _) = server();
    let sampler = sampler(port, "busy", &["io"], None);
    sampler.start().unwrap();
    until("readings", || {
        sampler.cost().counter_reads >= 1 && sampler.cost().wait_ticks >= 3
    });
    sampler.stop();
    let current = sampler.current(&["s io".to_owned()]);
    assert_eq!(current, sampler.current(&["s io".to_owned()]));
    let ticks = sampler.take_waits().tick_ns.len();
    assert!(
        current.contains(&format!(r#""IO:WalSync":{ticks}"#)),
        "{current}"
    );
    assert!(
        current.contains(r#""checkpointer/relation":{"read_time_ms":1.5,"reads":41.0}"#),
        "{current}"
    );
}

#[test]
fn labels_are_joined_and_a_null_gives_no_value() {
    let (port, _) = server();
    let sampler = sampler(port, "idle", &["io"], None);
    sampler.start().unwrap();
    until("a reading", || sampler.cost().counter_reads >= 1);
    sampler.stop();
    let values = sampler.take_counters();
    let read: Vec<_> = (0..3)
        .map(|row| {
            let name = |id: NameId| &*values.names[id.index()];
            assert_eq!(name(values.source[row]), "s io");
            let object = name(values.object[row]);
            (object, name(values.name[row]), values.value[row])
        })
        .collect();
    assert_eq!(
        read,
        [
            ("checkpointer/relation", "reads", 41.0),
            ("checkpointer/relation", "read_time_ms", 1.5),
            ("walwriter/", "read_time_ms", 0.0),
        ]
    );
    assert_eq!(values.time_ns[0], values.time_ns[2]);
}

#[test]
fn a_query_that_fails_is_dropped_with_one_warning_and_the_others_go_on() {
    let (port, _) = server();
    let queries = ["nonsense", "divide", "slow", "io"];
    let sampler = sampler(port, "io", &queries, None);
    sampler.start().unwrap();
    until("readings", || sampler.cost().counter_reads >= 5);
    sampler.stop();
    let mut warnings = sampler.warnings();
    warnings.sort();
    assert_eq!(warnings.len(), 4, "{warnings:?}");
    assert!(warnings[0].starts_with("s divide ") && warnings[0].contains("22012"));
    assert!(warnings[1].starts_with("s nonsense ") && warnings[1].contains("42601"));
    assert!(warnings[2].starts_with("s slow ") && warnings[2].contains("57014"));
    assert!(warnings[3].starts_with("waits ") && warnings[3].contains("xact_start_us"));
    assert_eq!(sampler.cost().wait_ticks, 0);
}

#[test]
fn a_query_that_cannot_be_made_ready_for_the_moment_is_tried_again() {
    let (port, _) = server();
    let sampler = sampler(port, "stressed busy", &["stressed io", "absent"], None);
    sampler.start().unwrap();
    until("both", || {
        let cost = sampler.cost();
        cost.wait_ticks >= 3 && cost.counter_reads >= 3
    });
    sampler.stop();
    let told = |code: &str| {
        sampler
            .warnings()
            .iter()
            .filter(|w| w.contains(code))
            .count()
    };
    assert_eq!(
        (told("53200"), told("55000")),
        (2, 1),
        "{:?}",
        sampler.warnings()
    );
    let values = sampler.take_counters();
    assert!(values.value.contains(&41.0));
}

#[test]
fn sampling_goes_on_after_the_server_was_away_with_one_warning() {
    let (port, state) = server();
    let sampler = sampler(port, "busy", &["io"], None);
    sampler.start().unwrap();
    until("ticks", || sampler.cost().wait_ticks >= 3);
    state.hangs_up.store(true, Ordering::SeqCst);
    until("the loss", || !sampler.warnings().is_empty());
    thread::sleep(Duration::from_millis(100));
    let (ticks, reads) = (sampler.cost().wait_ticks, sampler.cost().counter_reads);
    state.hangs_up.store(false, Ordering::SeqCst);
    until("both back", || {
        let cost = sampler.cost();
        cost.wait_ticks > ticks + 3 && cost.counter_reads > reads + 3
    });
    sampler.stop();
    assert_eq!(sampler.warnings().len(), 1, "{:?}", sampler.warnings());
}

#[test]
fn a_login_that_is_refused_is_not_tried_over_and_over() {
    let ((port, state), (other, _)) = (server(), server());
    let (refused, clock) = (
        sampler(port, "busy", &["io"], None),
        sampler(other, "busy", &[], None),
    );
    refused.start().unwrap();
    until("ticks", || refused.cost().wait_ticks >= 3);
    state.refuses.store(true, Ordering::SeqCst);
    state.hangs_up.store(true, Ordering::SeqCst);
    until("both refused", || state.refused.load(Ordering::SeqCst) == 2);
    clock.start().unwrap();
    // Two seconds, in which there were four tries of each once.
    until("a while", || clock.cost().wait_ticks >= 200);
    assert_eq!(state.refused.load(Ordering::SeqCst), 2);
    refused.stop();
    clock.stop();
}

#[test]
fn nobody_listening_is_told_at_the_start_and_one_may_try_again() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    drop(listener);
    let sampler = sampler(port, "busy", &[], None);
    for _ in 0..2 {
        let error = sampler.start().unwrap_err();
        assert!(matches!(error, SamplerError::Connection(_)), "{error}");
    }
}
