//! When transactions begin: rates, limits, think time.

use std::time::Duration;

use serde_json::{Value, json};

use super::{open_step, run_with, wait_until};
use crate::fake::FakeServer;
use crate::fake::run::{configuration, finished, number, result, step};

#[test]
fn a_rate_is_kept_by_both_kinds_of_arrivals() {
    for arrivals in ["constant", "poisson"] {
        let server = FakeServer::start();
        let mut configuration = configuration(&server, "ok;", json!([open_step(4, 1.5, 200.0)]));
        configuration["arrivals"] = json!(arrivals);
        let result = result(&finished(&configuration));
        let found = number(&result, "/transactions");
        let spread = if arrivals == "constant" { 10.0 } else { 70.0 };
        assert!((found - 300.0).abs() <= spread, "{arrivals}: {found}");
        assert_eq!(result["rate_asked"], 200.0);
        let (service, response) = ("/latency_ms/mean", "/response_ms/mean");
        let lag = number(&result, "/schedule_lag_ms/mean");
        let sum = number(&result, service) + lag;
        assert!((number(&result, response) - sum).abs() < 0.01, "{sum}");
        assert!(number(&result, "/backlog") <= 10.0);
    }
}

#[test]
fn a_closed_loop_has_no_response_and_no_lag() {
    let server = FakeServer::start();
    let configuration = configuration(&server, "ok;", json!([step(1, 0.1, true)]));
    let result = result(&finished(&configuration));
    assert_eq!(result.get("response_ms"), None);
    assert_eq!(result["rate_asked"], Value::Null);
    assert_eq!(
        result["schedule_lag_ms"],
        json!({"mean": null, "max": null})
    );
}

#[test]
fn a_server_slower_than_the_rate_shows_as_queueing_and_backlog() {
    let server = FakeServer::start();
    let mut configuration = configuration(&server, "delay 20;", json!([open_step(2, 1.0, 200.0)]));
    configuration["arrivals"] = json!("constant");
    let result = result(&finished(&configuration));
    // Two connections manage 100 a second at most: half of the arrivals are left at the end.
    let done = number(&result, "/transactions");
    assert!(done <= 100.0, "{done}");
    assert!(number(&result, "/backlog") >= 98.0);
    assert!(number(&result, "/latency_ms/p50") < 100.0);
    assert!(number(&result, "/response_ms/p50") > 150.0);
    assert!(number(&result, "/response_ms/max") >= number(&result, "/schedule_lag_ms/max"));
}

#[test]
fn a_stall_of_the_server_is_not_hidden_from_the_response() {
    let server = FakeServer::start();
    let mut configuration = configuration(&server, "work;", json!([open_step(2, 3.0, 100.0)]));
    configuration["arrivals"] = json!("constant");
    let load = run_with(&configuration, |load| {
        wait_until(|| load.progress().transactions > 20);
        let stalled = server.stall();
        std::thread::sleep(Duration::from_secs(1));
        drop(stalled);
    });
    let result = result(&load);
    // A hundred arrivals met the stall; a closed loop would have seen it twice in 200.
    assert!(number(&result, "/response_ms/p99") > 900.0);
    assert!(number(&result, "/response_ms/p95") > 700.0);
    assert!(number(&result, "/latency_ms/p95") < 300.0);
    assert!(number(&result, "/transactions") >= 290.0);
}

#[test]
fn what_is_too_late_to_begin_is_skipped_and_what_ends_late_is_counted() {
    let server = FakeServer::start();
    let mut configuration = configuration(&server, "delay 20;", json!([open_step(1, 1.0, 200.0)]));
    configuration["arrivals"] = json!("constant");
    configuration["latency_limit_ms"] = json!(30);
    let result = result(&finished(&configuration));
    let (done, skipped) = (
        number(&result, "/transactions"),
        number(&result, "/skipped"),
    );
    assert!(
        skipped > 100.0 && done + skipped <= 201.0,
        "{done} {skipped}"
    );
    assert!(number(&result, "/schedule_lag_ms/max") <= 31.0);
    assert!(number(&result, "/late") > 0.5 * done);
    assert_eq!(result["scenarios"][0]["skipped"], result["skipped"]);
}

#[test]
fn a_latency_limit_counts_in_a_closed_loop_too() {
    let server = FakeServer::start();
    let mut configuration = configuration(&server, "delay 5;", json!([step(1, 0.2, true)]));
    configuration["latency_limit_ms"] = json!(4);
    let result = result(&finished(&configuration));
    assert_eq!(result["late"], result["transactions"]);
    assert_eq!(result["skipped"], 0);
}

#[test]
fn clients_think_between_transactions() {
    for (kind, spread) in [("constant", 0.5), ("exponential", 0.6)] {
        let server = FakeServer::start();
        let mut configuration = configuration(&server, "ok;", json!([step(8, 1.0, true)]));
        configuration["think_time_s"] = json!(0.05);
        configuration["think_time"] = json!(kind);
        let result = result(&finished(&configuration));
        let done = number(&result, "/transactions");
        assert!((done / 160.0 - 1.0).abs() < spread, "{kind}: {done}");
        assert!(number(&result, "/latency_ms/p50") < 40.0);
    }
}

#[test]
fn a_client_without_time_left_says_so() {
    let server = FakeServer::start();
    // An expression that takes far longer than the server's answer.
    let script = format!(
        "\\set x {}\nok;",
        vec!["random_zipfian(1, 1000000, 1.001)"; 150].join(" + ")
    );
    let busy = configuration(&server, &script, json!([step(1, 0.5, true)]));
    let share = |of: &Value| number(of, "/client_cpu_s") / number(of, "/duration_s");
    // Beside other work the thread may get far less than the whole processor that it would take.
    let busy = (0..5)
        .map(|_| result(&finished(&busy)))
        .find(|busy| share(busy) > 0.2)
        .unwrap();
    assert_eq!(busy["steps"][0]["client_limited"], share(&busy) > 0.9);
    let idle = configuration(&server, "delay 10;", json!([step(1, 0.5, true)]));
    let idle = result(&finished(&idle));
    assert!(share(&busy) > 3.0 * share(&idle));
    assert_eq!(idle["client_limited"], false);
}
