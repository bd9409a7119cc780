//! Tests of `share_report` and `Merging`.

use serde_json::{Value, json};

use super::*;
use crate::config::tests::example;
use crate::config::{Configuration, Share};
use crate::outcome::{Merging, Outcome};
use crate::program::Program;
use crate::record::progress::Shared;
use crate::record::{Attempt, Failure, Recorder, Scope};

const SECOND_NS: i64 = 1_000_000_000;
const CLIENTS: usize = 8;

/// A load of a warm-up and a measured step.
fn configuration() -> (String, Configuration) {
    let json = example().to_string();
    let configuration = Configuration::parse(&json).unwrap();
    (json, configuration)
}

/// Made-up transactions of some clients, counted by one worker on a host with its own clock.
fn worker(schedule: &Schedule, clients: &[usize], until_s: i64) -> Report {
    let scope = Scope {
        scenarios: 1,
        commands: 1,
        latency_limit_ns: None,
    };
    let mut recorder = Recorder::new(schedule.clone(), scope, Shared::new(1), 0).unwrap();
    let start_ns = schedule.start_ns();
    for number in 0..until_s * 400 {
        let client = number as usize % CLIENTS;
        if !clients.contains(&client) {
            continue;
        }
        let now_ns = start_ns + number * SECOND_NS / 400;
        let attempt = Attempt {
            began_ns: now_ns - 50_000 - number * number % 7_000_000,
            tries: 1 + u32::from(number % 31 == 0),
            ..Attempt::default()
        };
        if number % 97 == 5 {
            let failure = if number % 2 == 0 {
                Failure::Connection
            } else {
                Failure::Sqlstate(*b"40001")
            };
            recorder.failure(now_ns, &attempt, failure, || format!("the {number}th"));
        } else {
            recorder.success(now_ns, &attempt);
            recorder.command(0, attempt.began_ns, now_ns);
        }
        if number % 1000 == 3 {
            recorder.outage(now_ns, now_ns + SECOND_NS);
        }
    }
    let mut report = recorder.into_report();
    report.connections = clients.iter().map(|&client| (client, 7)).collect();
    report.backend = "epoll";
    report
}

/// The report of an engine with two workers; its clock shows `start_ns` when the load begins.
fn engine(share: Share, start_ns: i64, until_s: i64) -> ShareReport {
    let (_, configuration) = configuration();
    let schedule = Schedule::new(&configuration, start_ns);
    let own: Vec<_> = (0..CLIENTS).filter(|&client| share.has(client)).collect();
    let (some, others) = own.split_at(own.len() / 2);
    let workers = [some, others].map(|clients| worker(&schedule, clients, until_s));
    let arrivals = Arrivals::new(&configuration, &schedule);
    let times = LoadTimes {
        limit_ns: start_ns + until_s * SECOND_NS,
        connect_ns: 1000 * (1 + share.index as i64),
    };
    let mut report = ShareReport::new(&schedule, Some(&arrivals), times, workers.into());
    for step in &mut report.steps {
        // Of this test, which differs from run to run.
        (step.cpu_ns, step.busiest_ns) = (2 * SECOND_NS, SECOND_NS);
    }
    report
}

fn shares(of: usize) -> Vec<ShareReport> {
    let share = |index| engine(Share { index, of }, 7_777 * index as i64 * SECOND_NS, 30);
    (0..of).map(share).collect()
}

fn merged(reports: &[ShareReport], started_ns: i64) -> Outcome {
    in_groups(reports, started_ns, reports.len())
}

/// As reports come, some at a time.
fn in_groups(reports: &[ShareReport], started_ns: i64, size: usize) -> Outcome {
    let mut merging = Merging::new(&configuration().0).unwrap();
    for group in reports.chunks(size) {
        let bytes: Vec<_> = group.iter().map(|one| one.to_bytes().unwrap()).collect();
        merging.add(&bytes).unwrap();
    }
    merging.finish(started_ns).unwrap()
}

fn result(outcome: &Outcome) -> Value {
    serde_json::from_str(&outcome.to_json().unwrap()).unwrap()
}

#[test]
fn shares_merge_to_what_one_engine_would_have_counted() {
    let (_, configuration) = configuration();
    let program = Program::compile(&configuration, &[]).unwrap();
    let whole = engine(Share::default(), 5 * SECOND_NS, 30);
    let schedule = Schedule::new(&configuration, 50 * SECOND_NS);
    let one = Outcome::new(&configuration, &program, &schedule, whole);
    let shares = merged(&shares(3), 50 * SECOND_NS);
    assert!(one.report.rows.len() >= 25);
    assert_eq!(
        format!("{:?}", one.intervals()),
        format!("{:?}", shares.intervals())
    );
    let (mut expected, mut found) = (result(&one), result(&shares));
    let generators = found.as_object_mut().unwrap().remove("generators").unwrap();
    // Three processes took time, and opened their connections at the same time.
    for result in [&mut expected, &mut found] {
        for pointer in [
            "/client_cpu_s",
            "/initial_connect_ms",
            "/steps/0/client_cpu_s",
            "/steps/1/client_cpu_s",
        ] {
            *result.pointer_mut(pointer).unwrap() = Value::Null;
        }
    }
    assert_eq!(found, expected);
    assert_eq!(
        found["connections"],
        json!({"count": 8, "min_tx": 7, "max_tx": 7})
    );
    assert_eq!(found["first_error"]["message"], "the 2042th");
    let sum = |key: &str| {
        let generators = generators.as_array().unwrap().iter();
        generators
            .map(|generator| generator[key].as_u64().unwrap())
            .sum::<u64>()
    };
    assert_eq!(found["transactions"], sum("transactions"));
    assert_eq!(found["failed"], sum("failed"));
    assert_eq!(sum("connections"), 8);
    assert_eq!(generators[1]["client_cpu_s"], 2.0);
    assert_eq!(generators[2]["backend"], "epoll");
}

#[test]
fn reports_merge_to_the_same_however_many_come_at_a_time() {
    let mut shares = shares(5);
    shares[1].backend = "io_uring".to_owned();
    let expected = format!("{:?}", merged(&shares, 0));
    assert!(expected.contains("epoll, io_uring"));
    for size in [1, 2, 4] {
        assert_eq!(format!("{:?}", in_groups(&shares, 0, size)), expected);
    }
}

#[test]
fn an_engine_that_limited_the_load_is_told_apart() {
    let mut shares = shares(2);
    shares[1].steps[1].client_limited = true;
    let result = result(&merged(&shares, 0));
    assert_eq!(result["client_limited"], true);
    assert_eq!(result["steps"][1]["client_limited"], true);
    let limited: Vec<_> = [0, 1]
        .map(|n| result["generators"][n]["client_limited"].clone())
        .into();
    assert_eq!(limited, [false, true]);
    assert_eq!(result["initial_connect_ms"], 0.002);
}

#[test]
fn a_load_ends_where_its_last_engine_ended() {
    let share = |index, until_s| engine(Share { index, of: 2 }, SECOND_NS, until_s);
    let result = result(&merged(&[share(0, 7), share(1, 11)], 0));
    assert_eq!(result["ended_ns"], 11 * SECOND_NS);
    let idle = ShareReport::new(
        &Schedule::new(&configuration().1, 0),
        Some(&Arrivals::new(
            &configuration().1,
            &Schedule::new(&configuration().1, 0),
        )),
        LoadTimes {
            limit_ns: i64::MAX,
            connect_ns: 0,
        },
        Vec::new(),
    );
    assert_eq!(
        idle.end_ns,
        Some(0),
        "without a connection there is nothing to wait for"
    );
    let result = self::result(&merged(&[idle, share(0, 7)], 0));
    assert_eq!(result["ended_ns"], 7 * SECOND_NS);
    assert_eq!(result["backend"], "epoll");
}

#[test]
fn reports_that_cannot_be_merged_are_refused_with_the_reason() {
    let (json, _) = configuration();
    let good = shares(1).remove(0).to_bytes().unwrap();
    let other_version = [&[VERSION + 1], &good[1..]].concat();
    let cut = good[..good.len() - 1].to_vec();
    let added = |json: &str, reports: &[Vec<u8>]| {
        let mut merging = Merging::new(json).unwrap();
        reports.iter().try_for_each(|one| merging.add(&[one]))?;
        merging.finish(0)
    };
    let problem = |reports: &[Vec<u8>]| added(&json, reports).unwrap_err().to_string();
    assert_eq!(
        problem(&[good.clone(), other_version]),
        "report 2 was made by another version of pgassay; install the same version on every host"
    );
    assert!(problem(&[cut]).starts_with("report 1 is damaged: "));
    assert_eq!(problem(&[Vec::new()]), "report 1 is empty");
    assert_eq!(problem(&[]), "add a report before the outcome is asked for");
    let mut longer = example();
    longer["steps"]
        .as_array_mut()
        .unwrap()
        .push(json!({"clients": 1, "duration_s": 1, "measured": true}));
    let error = added(&longer.to_string(), &[good]).unwrap_err().to_string();
    assert_eq!(
        error,
        "report 1 is of another load; give all engines the same configuration"
    );
}

#[test]
fn a_report_is_read_as_it_was_written() {
    let written = shares(3).remove(1).to_bytes().unwrap();
    let read = ShareReport::from_bytes(&written, "it").unwrap();
    assert_eq!(read.to_bytes().unwrap(), written);
    assert!(read.commands[0].total.count > 0);
}

/// If this fails, the form of reports has changed: count `VERSION` up and write the new bytes here.
#[test]
fn a_version_has_one_form() {
    let schedule = crate::schedule::tests::schedule(&[(1, 1000), (1, 2000)], 1000, 10_000);
    let scope = Scope {
        scenarios: 1,
        commands: 1,
        latency_limit_ns: None,
    };
    let mut recorder = Recorder::new(schedule, scope, Shared::new(1), 0).unwrap();
    let attempt = Attempt {
        began_ns: 11_100,
        tries: 2,
        due_ns: Some(11_050),
        ..Attempt::default()
    };
    recorder.success(11_500, &attempt);
    recorder.failure(11_600, &attempt, Failure::Sqlstate(*b"40001"), || {
        "no".to_owned()
    });
    recorder.command(0, 11_100, 11_400);
    recorder.outage(11_700, 11_800);
    let mut worker = recorder.into_report();
    worker.steps[1].cpu_ns = 1;
    worker.steps[1].polled_ns = 2;
    worker.unfinished_ns = vec![8];
    worker.connections = vec![(3, 4)];
    worker.backend = "epoll";
    let mut report = ShareReport {
        rows: worker.rows.clone(),
        steps: vec![StepOutcome::default(); 2],
        edge_lag_ns: vec![5],
        connect_ns: 6,
        end_ns: Some(7),
        ..ShareReport::default()
    };
    report.add_worker(worker, 10_000);
    let bytes = report.to_bytes().unwrap();
    assert_eq!(bytes, FORM, "{bytes:?}");
}

const FORM: &[u8] = &[
    1, 1, 1, 0, 0, 0, 0, 1, 1, 0, 0, 2, 2, 1, 144, 3, 144, 3, 2, 6, 1, 1, 194, 3, 194, 3, 0, 2,
    100, 50, 0, 0, 0, 1, 0, 52, 48, 48, 48, 49, 1, 2, 0, 0, 0, 0, 0, 0, 0, 0, 2, 4, 2, 0, 0, 0, 0,
    0, 1, 1, 172, 2, 172, 2, 1, 191, 2, 1, 0, 0, 1, 10, 1, 128, 25, 1, 0, 52, 48, 48, 48, 49, 2,
    110, 111, 0, 1, 3, 4, 0, 1, 8, 1, 200, 26, 144, 28, 12, 1, 14, 5, 101, 112, 111, 108, 108,
];
