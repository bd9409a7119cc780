//! Tests of `record`.

use super::*;
use crate::schedule::tests::schedule;

fn recorder(steps: &[(usize, i64)]) -> Recorder {
    Recorder::new(schedule(steps, 1000, 10_000), 2, Shared::new(1), 0).unwrap()
}

fn key(step: usize, interval: usize, scenario: usize) -> RowKey {
    (Position { step, interval }, scenario)
}

#[test]
fn a_transaction_belongs_to_the_interval_in_which_it_ends() {
    let mut recorder = recorder(&[(1, 2000), (1, 1500)]);
    assert!(!recorder.success(9_999, 0, 10), "before the start");
    assert!(recorder.success(10_999, 0, 10));
    assert!(recorder.success(11_000, 0, 20));
    recorder.failure(11_500, 1, Failure::Client, || "first".into());
    assert!(recorder.success(12_000, 0, 5000));
    recorder.failure(12_001, 1, Failure::Sqlstate(*b"40001"), || {
        "measured".into()
    });
    recorder.failure(12_002, 1, Failure::Sqlstate(*b"40001"), || "later".into());
    assert!(recorder.success(13_499, 1, 30));
    assert!(!recorder.success(13_500, 1, 30), "after the end");
    recorder.failure(13_500, 1, Failure::Connection, || "after".into());
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
    assert_eq!(report.errors[1], [(Failure::Sqlstate(*b"40001"), 2)].into());
    let messages: Vec<_> = report.first_errors.iter().map(|e| &e.message[..]).collect();
    assert_eq!(messages, ["first", "measured"]);
}

#[test]
fn a_stop_ends_the_counting() {
    let mut recorder = recorder(&[(1, 5000)]);
    assert!(recorder.success(10_100, 0, 10));
    recorder.shared.limit(10_200);
    assert!(!recorder.success(10_300, 0, 10));
    assert_eq!(recorder.step(), None);
    assert_eq!(recorder.end_ns(), 10_200);
}

#[test]
fn rows_of_workers_merge_to_what_one_worker_would_have_counted() {
    let latencies: Vec<i64> = (0..4000).map(|n| 20_000 + n * n * 7).collect();
    let rows = |parts: &[&[i64]]| {
        let mut merged = Row::default();
        for part in parts {
            let mut recorder = recorder(&[(1, 5000)]);
            for latency in *part {
                recorder.success(10_000, 0, *latency);
            }
            merged.merge(&recorder.into_report().rows[&key(0, 0, 0)]);
        }
        merged
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
    recorder.success(10_000, 0, 10_000_000_000_000);
    recorder.success(10_000, 0, 0);
    let report = recorder.into_report();
    let row = &report.rows[&key(0, 0, 0)];
    assert_eq!(row.latency_max_ns, 10_000_000_000_000);
    assert_eq!(row.buckets.iter().map(|(_, count)| count).sum::<u64>(), 2);
}
