//! Tests of `record`.

use super::*;
use crate::schedule::tests::schedule;

fn recorder(steps: &[(usize, i64)]) -> Recorder {
    let scope = Scope {
        scenarios: 2,
        ..Scope::default()
    };
    Recorder::new(schedule(steps, 1000, 10_000), scope, Shared::new(1), 0).unwrap()
}

/// A transaction that takes so long if it ends at `now_ns`.
fn attempt(scenario: usize, now_ns: i64, latency_ns: i64) -> Attempt {
    Attempt {
        scenario,
        began_ns: now_ns - latency_ns,
        tries: 1,
        ..Attempt::default()
    }
}

fn key(step: usize, interval: usize, scenario: usize) -> RowKey {
    RowKey {
        position: Position {
            step,
            interval,
            slice: None,
        },
        scenario,
        crosses: false,
    }
}

#[test]
fn a_transaction_belongs_to_the_interval_in_which_it_ends() {
    let mut recorder = recorder(&[(1, 2000), (1, 1500)]);
    assert!(
        !recorder.success(9_999, &attempt(0, 9_999, 10)),
        "before the start"
    );
    assert!(recorder.success(10_999, &attempt(0, 10_999, 10)));
    assert!(recorder.success(11_000, &attempt(0, 11_000, 20)));
    recorder.failure(11_500, &attempt(1, 11_500, 5), Failure::Client, || {
        "first".into()
    });
    assert!(recorder.success(12_000, &attempt(0, 12_000, 5000)));
    recorder.failure(
        12_001,
        &attempt(1, 12_001, 5),
        Failure::Sqlstate(*b"40001"),
        || "measured".into(),
    );
    recorder.failure(
        12_002,
        &attempt(1, 12_002, 5),
        Failure::Sqlstate(*b"40001"),
        || "later".into(),
    );
    assert!(recorder.success(13_499, &attempt(1, 13_499, 30)));
    assert!(
        !recorder.success(13_500, &attempt(1, 13_500, 30)),
        "after the end"
    );
    recorder.failure(13_500, &attempt(1, 13_500, 5), Failure::Connection, || {
        "after".into()
    });
    let report = recorder.into_report();
    let count = |key| {
        report
            .rows
            .get(&key)
            .map(|row| (row.transactions, row.failed))
    };
    assert_eq!(count(key(0, 0, 0)), Some((1, 0)));
    assert_eq!(count(key(0, 1, 0)), Some((1, 0)));
    assert_eq!(count(key(0, 1, 1)), Some((0, 1)));
    assert_eq!(count(key(1, 0, 0)), Some((1, 0)));
    assert_eq!(count(key(1, 0, 1)), Some((0, 2)));
    assert_eq!(count(key(1, 1, 1)), Some((1, 0)));
    assert_eq!(report.rows.len(), 6);
    let errors = &report.rows[&key(1, 0, 1)].errors;
    assert_eq!(*errors, [(Failure::Sqlstate(*b"40001"), 2)]);
    let messages: Vec<_> = report.first_errors.iter().map(|e| &e.message[..]).collect();
    assert_eq!(messages, ["first", "measured"]);
}

#[test]
fn a_stop_ends_the_counting() {
    let mut recorder = recorder(&[(1, 5000)]);
    assert!(recorder.success(10_100, &attempt(0, 10_100, 10)));
    recorder.shared.limit(10_200);
    assert!(!recorder.success(10_300, &attempt(0, 10_300, 10)));
    assert_eq!(recorder.step(), None);
    assert_eq!(recorder.end_ns(), 10_200);
}

#[test]
fn rows_of_workers_merge_to_what_one_worker_would_have_counted() {
    let latencies: Vec<i64> = (0..4000).map(|n| 20_000 + n * n * 7).collect();
    let rows = |parts: &[&[i64]]| {
        let mut sums = RowSums::new();
        for part in parts {
            let mut recorder = recorder(&[(1, 5000)]);
            for latency in *part {
                recorder.success(10_000, &attempt(0, 10_000, *latency));
            }
            sums.add(&recorder.into_report().rows[&key(0, 0, 0)]);
        }
        sums.take()
    };
    let (left, right) = latencies.split_at(1234);
    assert_eq!(rows(&[left, right]), rows(&[&latencies]));
    assert_eq!(rows(&[&latencies]).transactions, 4000);
}

#[test]
fn buckets_are_finer_than_one_percent_at_20_microseconds_and_hold_an_hour() {
    let latencies = histogram::<u32>().unwrap();
    let width = latencies.highest_equivalent(20_000) - latencies.lowest_equivalent(20_000);
    assert!(width < 100, "{width}");
    let mut recorder = recorder(&[(1, 5000)]);
    recorder.success(10_000, &attempt(0, 10_000, 10_000_000_000_000));
    recorder.success(10_000, &attempt(0, 10_000, 0));
    let report = recorder.into_report();
    let row = &report.rows[&key(0, 0, 0)];
    assert_eq!(row.service.total.max_ns, 10_000_000_000_000);
    assert_eq!(
        row.service
            .buckets
            .iter()
            .map(|(_, count)| count)
            .sum::<u64>(),
        2
    );
}

#[test]
fn a_slice_has_only_what_began_and_ended_in_it() {
    let mut schedule = schedule(&[(1, 1000), (1, 2000)], 1000, 10_000);
    let slice = |start_ns, end_ns| Slice {
        step: 1,
        variant: 0,
        start_ns,
        end_ns,
    };
    schedule.slices = [slice(11_000, 11_500), slice(11_500, 13_000)].into();
    let scope = Scope {
        scenarios: 1,
        ..Scope::default()
    };
    let mut recorder = Recorder::new(schedule, scope, Shared::new(1), 0).unwrap();
    let begun_in = |slice| Attempt {
        slice,
        ..attempt(0, 0, 0)
    };
    assert!(
        recorder.success(11_100, &begun_in(None)),
        "from the warm-up"
    );
    assert!(recorder.success(11_200, &begun_in(Some(0))));
    assert!(recorder.success(11_600, &begun_in(Some(0))));
    assert!(recorder.success(12_100, &begun_in(Some(1))));
    let rows = recorder.into_report().rows;
    let found: Vec<_> = rows
        .iter()
        .map(|(key, row)| {
            (
                key.position.slice,
                key.position.interval,
                key.crosses,
                row.transactions,
            )
        })
        .collect();
    let expected = [
        (Some(0), 0, false, 1),
        (Some(0), 0, true, 1),
        (Some(1), 0, true, 1),
        (Some(1), 1, false, 1),
    ];
    assert_eq!(found, expected);
}

#[test]
fn lateness_lag_and_response_count_from_the_intended_start() {
    let mut schedule = schedule(&[(1, 1000), (1, 1000)], 1000, 10_000);
    schedule.steps[1].rate = Some(1.0);
    let scope = Scope {
        scenarios: 1,
        latency_limit_ns: Some(300),
        ..Scope::default()
    };
    let mut recorder = Recorder::new(schedule, scope, Shared::new(1), 0).unwrap();
    let due = |due_ns| Attempt {
        due_ns: Some(due_ns),
        tries: 3,
        ..attempt(0, 11_500, 100)
    };
    recorder.success(11_500, &due(11_200));
    recorder.success(11_500, &due(11_199));
    let rows = recorder.into_report().rows;
    let row = rows.values().next().unwrap();
    assert_eq!(
        (row.transactions, row.late, row.retried, row.retries),
        (2, 1, 2, 4)
    );
    assert_eq!(
        (row.service.total.sum_ns, row.response.total.sum_ns),
        (200, 601)
    );
    assert_eq!((row.lag.sum_ns, row.lag.max_ns), (401, 201));
}
