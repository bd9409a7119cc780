//! Tests of `log`.

use super::*;
use serde_json::json;

const S: i64 = 1_000_000_000;

fn log(changes: serde_json::Value, rate: Option<f64>) -> Log<Vec<u8>> {
    let mut json = config::tests::example();
    json["log"] = json!({"prefix": "x"});
    for (key, value) in changes.as_object().unwrap() {
        json["log"][key] = value.clone();
    }
    json["max_tries"] = json!(if rate.is_some() { 3 } else { 1 });
    json["steps"][1]["rate"] = json!(rate);
    let configuration = Configuration::parse(&json.to_string()).unwrap();
    let settings = configuration.log.clone().unwrap();
    Log::new(Vec::new(), &configuration, &settings, 0, 100 * S)
}

fn attempt(due_ns: Option<i64>, began_ns: i64, tries: u32) -> Attempt {
    Attempt {
        scenario: 1,
        due_ns,
        began_ns,
        slice: None,
        tries,
    }
}

#[test]
fn a_line_is_pgbench_s() {
    let mut plain = log(json!({}), None);
    plain.write(
        100 * S + 2_500_000,
        3,
        7,
        &attempt(None, 100 * S, 1),
        TransactionEnd::Succeeded,
    );
    plain.write(
        101 * S,
        3,
        8,
        &attempt(None, 100 * S, 1),
        TransactionEnd::Failed,
    );
    assert_eq!(plain.file, b"3 7 2500 1 100 2500\n3 8 failed 1 101 0\n");
    let mut open = log(json!({"failures_detailed": true}), Some(10.0));
    open.write(
        102 * S,
        0,
        1,
        &attempt(Some(100 * S), 101 * S, 3),
        TransactionEnd::Succeeded,
    );
    open.write(
        102 * S,
        0,
        2,
        &attempt(Some(100 * S), 100 * S, 1),
        TransactionEnd::Skipped,
    );
    open.write(
        102 * S,
        0,
        3,
        &attempt(Some(100 * S), 101 * S, 3),
        TransactionEnd::Deadlock,
    );
    let lines =
        "0 1 2000000 1 102 0 1000000 2\n0 2 skipped 1 102 0 0 0\n0 3 deadlock 1 102 0 1000000 2\n";
    assert_eq!(String::from_utf8(open.file).unwrap(), lines);
}

#[test]
fn sums_are_written_for_every_stretch_also_an_empty_one() {
    let mut log = log(json!({"aggregate_interval_s": 2}), Some(10.0));
    log.write(
        100 * S + 3_000_000,
        0,
        1,
        &attempt(Some(100 * S), 100 * S + 1_000_000, 1),
        TransactionEnd::Succeeded,
    );
    log.write(
        101 * S + 4_000_000,
        0,
        2,
        &attempt(Some(101 * S), 101 * S, 2),
        TransactionEnd::Succeeded,
    );
    log.write(
        105 * S,
        0,
        3,
        &attempt(Some(105 * S), 105 * S, 1),
        TransactionEnd::Skipped,
    );
    let lines = "100 2 7000 25000000 3000 4000 1000 1000000 0 1000 0 1 1 0 0\n\
        102 0 0 0 0 0 0 0 0 0 0 0 0 0 0\n";
    assert_eq!(String::from_utf8(log.file.clone()).unwrap(), lines);
    assert!(log.finish(106 * S).is_ok());
}

#[test]
fn a_sample_has_about_its_share() {
    let mut log = log(json!({"sampling_rate": 0.25}), None);
    for number in 0..10_000 {
        log.write(
            100 * S,
            0,
            number,
            &attempt(None, 100 * S, 1),
            TransactionEnd::Succeeded,
        );
    }
    let lines = log.file.iter().filter(|&&byte| byte == b'\n').count();
    assert!((2_300..2_700).contains(&lines), "{lines}");
}
