//! Tries, sessions, pools, and what is counted of each statement.

use std::time::{Duration, Instant};

use serde_json::json;

use super::{run_with, wait_until};
use crate::fake::FakeServer;
use crate::fake::run::{configuration, finished, number, result, step};

/// io_uring where it may be used, and epoll.
const TRANSPORTS: [&str; 2] = ["auto", "epoll"];

#[test]
fn a_serialization_failure_is_tried_again_with_the_same_requests() {
    let server = FakeServer::start();
    let steps = json!([{"clients": 1, "duration_s": null, "measured": true}]);
    let script = "\\set x random(1, 1000000)\nbegin;\nrun :x;\nfailfirst 2 40001;\nend;";
    let mut configuration = configuration(&server, script, steps);
    configuration["transactions_per_client"] = json!(2);
    configuration["max_tries"] = json!(5);
    configuration["statements"] = json!(true);
    configuration["protocol"] = json!("simple");
    let result = result(&finished(&configuration));
    let keys = ["transactions", "failed", "retried", "retries"];
    assert_eq!(keys.map(|key| result[key].as_u64().unwrap()), [2, 0, 1, 2]);
    let statements = server.statements.lock().unwrap().clone();
    let runs: Vec<_> = statements
        .iter()
        .filter(|sql| sql.starts_with("run"))
        .collect();
    assert_eq!(runs.len(), 4);
    assert!(
        runs[0] == runs[1] && runs[1] == runs[2] && runs[2] != runs[3],
        "{runs:?}"
    );
    assert_eq!(
        statements.iter().filter(|sql| *sql == "ROLLBACK").count(),
        2
    );
    let of = |n: usize, key: &str| result["scenarios"][0]["statements"][n][key].clone();
    assert_eq!((of(3, "retries"), of(3, "failures")), (json!(2), json!(0)));
    assert_eq!(of(2, "command"), "run :x;");
}

#[test]
fn tries_end_and_other_errors_are_not_tried_again() {
    for (sqlstate, tries, retries) in [("40001", 3, 2), ("40P01", 1, 0), ("23505", 3, 0)] {
        let server = FakeServer::start();
        let steps = json!([{"clients": 1, "duration_s": null, "measured": true}]);
        let script = format!("begin;\nfail {sqlstate};\nend;");
        let mut configuration = configuration(&server, &script, steps);
        configuration["transactions_per_client"] = json!(4);
        configuration["max_tries"] = json!(tries);
        let result = result(&finished(&configuration));
        assert_eq!(
            (&result["failed"], &result["retries"]),
            (&json!(4), &json!(4 * retries))
        );
        assert_eq!(server.count("begin;"), 4 * (1 + retries));
    }
}

#[test]
fn a_load_can_end_with_the_first_client_that_pgbench_would_abort() {
    let server = FakeServer::start();
    let mut configuration = configuration(&server, "fail 40001;", json!([step(2, 0.3, true)]));
    configuration["exit_on_abort"] = json!(true);
    assert!(number(&result(&finished(&configuration)), "/failed") > 2.0);
    for (script, problem) in [
        ("delay 1;\nfail 23505;", "s.sql:2: ERROR 23505: as asked"),
        ("delay 1;\n\\set x 1 / 0", "s.sql:2: division by zero"),
    ] {
        configuration["scenarios"][0]["script"] = json!(script);
        configuration["steps"] = json!([step(2, 600.0, true)]);
        let error = finished(&configuration).outcome().unwrap_err().to_string();
        assert!(error.contains(" was aborted: "), "{error}");
        assert!(error.contains(problem), "{error}");
    }
}

#[test]
fn lost_connections_are_opened_again_and_the_outage_is_told() {
    for transport in TRANSPORTS {
        lost_and_opened_again(transport);
    }
}

fn lost_and_opened_again(transport: &str) {
    let server = FakeServer::start();
    let mut configuration = configuration(&server, "delay 1;", json!([step(3, 3.0, true)]));
    configuration["reconnect"] = json!("on_loss");
    configuration["transport"] = json!(transport);
    let mut down = Duration::ZERO;
    let mut begun = Instant::now();
    let load = run_with(&configuration, |load| {
        wait_until(|| load.progress().transactions > 50);
        begun = Instant::now();
        server.refuse_connections();
        let gone = Instant::now();
        std::thread::sleep(Duration::from_millis(300));
        down = gone.elapsed();
        server.accept_connections();
    });
    let since = begun.elapsed();
    let result = result(&load);
    assert_eq!(result["lost_connections"], 3);
    let outages = result["outages"].as_array().unwrap();
    assert_eq!(outages.len(), 1, "{outages:?}");
    let time = |key: &str| outages[0][key].as_i64().unwrap();
    // No shorter than the server was down, and over before the load was.
    let outage = Duration::from_nanos(u64::try_from(time("end_ns") - time("start_ns")).unwrap());
    assert!(
        down <= outage && outage < since,
        "{down:?} {outage:?} {since:?}"
    );
    assert_eq!(time("connections"), 3);
    assert!(number(&result, "/connect_ms/max") > 0.0);
    let after = load.outcome().unwrap().intervals();
    assert!(
        *after.transactions.last().unwrap() > 0,
        "it goes on to the end"
    );
    assert_eq!(after.connects.iter().sum::<u64>(), 3);
    let errors = &result["scenarios"][0]["errors"];
    assert_eq!(*errors, json!({"connection": result["failed"]}));
}

#[test]
fn every_transaction_can_have_a_session_of_its_own() {
    for transport in TRANSPORTS {
        one_session_each(transport);
    }
}

fn one_session_each(transport: &str) {
    let server = FakeServer::start();
    let steps = json!([{"clients": 2, "duration_s": null, "measured": true}]);
    let mut configuration = configuration(&server, "ok;", steps);
    configuration["transactions_per_client"] = json!(10);
    configuration["reconnect"] = json!("each_transaction");
    configuration["transport"] = json!(transport);
    let result = result(&finished(&configuration));
    assert_eq!(
        (&result["transactions"], &result["failed"]),
        (&json!(20), &json!(0))
    );
    assert_eq!(result["lost_connections"], 0);
    // The first transactions run on the sessions that were opened ahead.
    assert_eq!(server.opened(), 20);
    assert!(number(&result, "/connect_ms/mean") > 0.0);
}

#[test]
fn each_scenario_can_have_connections_of_its_own() {
    let server = FakeServer::start();
    let mut configuration = configuration(&server, "x", json!([step(4, 0.5, true)]));
    configuration["pools"] = json!("per_scenario");
    configuration["scenarios"] = json!([
        {"name": "a", "file": "a", "script": "delay 10;", "weight": 3},
        {"name": "b", "file": "b", "script": "delay 10;", "weight": 1},
        {"name": "c", "file": "c", "script": "delay 10;", "weight": -2}]);
    let result = result(&finished(&configuration));
    assert_eq!(server.opened(), 6);
    let done: Vec<f64> = (0..3)
        .map(|n| number(&result, &format!("/scenarios/{n}/transactions")))
        .collect();
    for (count, connections) in done.iter().zip([3.0, 1.0, 2.0]) {
        assert!(
            (count / connections / done[1] - 1.0).abs() < 0.35,
            "{done:?}"
        );
    }
    assert_eq!(result["connections"]["count"], 6);
}

#[test]
fn each_statement_is_measured_where_that_is_asked_for() {
    let server = FakeServer::start();
    let script = "begin;\ndelay 8;\n\\set x 1\ndelay 2;\nend;";
    let mut configuration = configuration(&server, script, json!([step(2, 0.4, true)]));
    let without = result(&finished(&configuration));
    assert_eq!(without["scenarios"][0]["statements"], json!([]));
    configuration["statements"] = json!(true);
    let result = result(&finished(&configuration));
    let statements = result["scenarios"][0]["statements"].as_array().unwrap();
    let lines: Vec<_> = statements
        .iter()
        .map(|s| s["line"].as_u64().unwrap())
        .collect();
    assert_eq!(lines, [1, 2, 3, 4, 5]);
    assert_eq!(statements[2]["command"], "\\set x 1");
    let median = |n: usize| number(&statements[n], "/latency_ms/p50");
    // As long as the server took at least, and in the same order.
    assert!(median(1) >= 8.0 && median(3) >= 2.0);
    assert!(median(1) > median(3) && median(3) > median(2));
    let sum: f64 = (0..5)
        .map(|n| number(&statements[n], "/latency_ms/mean"))
        .sum();
    assert!((sum / number(&result, "/latency_ms/mean") - 1.0).abs() < 0.2);
}

#[test]
fn errors_are_told_per_interval() {
    let server = FakeServer::start();
    let script = "delay 1;\nfail 23505;";
    let configuration = configuration(&server, script, json!([step(1, 0.3, true)]));
    let rows = finished(&configuration).outcome().unwrap().intervals();
    for (n, failed) in rows.failed.iter().enumerate() {
        assert!(*failed > 0);
        assert_eq!(rows.error_sqlstate[n], ["23505"]);
        assert_eq!(rows.error_count[n], [*failed]);
    }
}
