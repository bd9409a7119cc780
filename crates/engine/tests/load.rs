//! Whole loads against a server whose delays and failures are known.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test may fail"
)]

mod fake;
mod hostile;
mod shapes;

use std::time::{Duration, Instant};

use fake::FakeServer;
use fake::run::{configuration, finished, number, result, step};
use pgassay_engine::{EngineError, Load};
use serde_json::{Value, json};

/// Little's law: what all transactions took is what the clients had, but for what was under way
/// at the edges. So latency is measured whole and once, whatever the machine.
fn assert_keeps_busy(result: &Value, clients: f64, duration_s: f64) {
    let taken = number(result, "/transactions") * number(result, "/latency_ms/mean");
    let share = taken / (clients * duration_s * 1e3);
    let edge = number(result, "/latency_ms/max") / (duration_s * 1e3);
    assert!((1.0 - share).abs() < 0.2 + edge, "{share} {edge}");
}

#[test]
fn a_known_delay_is_measured_and_intervals_add_up_to_the_result() {
    for protocol in ["prepared", "extended", "simple"] {
        let server = FakeServer::start();
        let steps = json!([step(3, 0.25, false), step(3, 0.55, true)]);
        let mut configuration = configuration(&server, "begin;\ndelay 5;\ndelay 5;\nend;", steps);
        configuration["protocol"] = json!(protocol);
        let load = finished(&configuration);
        let result = result(&load);
        assert!(number(&result, "/latency_ms/p50") >= 10.0, "{protocol}");
        assert_keeps_busy(&result, 3.0, 0.55);
        for (pointer, expected) in [
            ("/duration_s", 0.55),
            ("/connections/count", 3.0),
            ("/scenarios/0/share", 1.0),
        ] {
            let found = number(&result, pointer);
            assert!(
                (found - expected).abs() < 1e-9,
                "{protocol} {pointer} {found}"
            );
        }
        assert_eq!(result["failed"], 0);
        assert_eq!(result["first_error"], Value::Null);
        let intervals = load.outcome().unwrap().intervals();
        assert_eq!(intervals.step, [0, 0, 0, 1, 1, 1, 1, 1, 1]);
        let measured: u64 = intervals.transactions.iter().skip(3).sum();
        assert_eq!(Some(measured), result["transactions"].as_u64());
        let counts: u64 = intervals.latency_count.iter().skip(3).flatten().sum();
        assert_eq!(counts, measured);
        let tx = number(&result, "/tps") * number(&result, "/duration_s");
        assert!((tx - number(&result, "/transactions")).abs() < 1e-6);
    }
}

#[test]
fn failures_are_counted_by_sqlstate_and_rolled_back() {
    for protocol in ["prepared", "simple"] {
        let server = FakeServer::start();
        let steps = json!([step(2, 0.3, true)]);
        let script = "begin;\ndelay 2;\nfail 40001;\nend;";
        let mut configuration = configuration(&server, script, steps);
        configuration["protocol"] = json!(protocol);
        let result = result(&finished(&configuration));
        let failed = number(&result, "/failed");
        assert!(failed > 10.0, "{failed}");
        assert_eq!(
            result["scenarios"][0]["errors"],
            json!({"40001": failed as u64})
        );
        assert_eq!(result["latency_ms"]["p50"], Value::Null);
        assert_eq!(
            result["first_error"],
            json!({"sqlstate": "40001", "message": "s.sql:3: ERROR 40001: as asked", "scenario": "s"})
        );
        assert_eq!(server.count("end;"), 0);
        assert!(server.count("ROLLBACK") >= failed as usize);
        assert_eq!(server.count("ROLLBACK"), server.count("begin;"));
    }
}

#[test]
fn a_script_s_own_mistake_fails_its_transaction_without_spinning() {
    let server = FakeServer::start();
    let script = "\\set x 1 / 0\nok;";
    let configuration = configuration(&server, script, json!([step(1, 0.2, true)]));
    let result = result(&finished(&configuration));
    let failed = number(&result, "/scenarios/0/errors/client");
    assert!((1.0..=200.0).contains(&failed), "{failed}");
    assert_eq!(
        result["first_error"]["message"],
        "s.sql:1: division by zero"
    );
}

#[test]
fn lost_connections_end_the_load_early() {
    for script in ["delay 1;\nhangup;", "delay 1;\ngarbage;"] {
        let server = FakeServer::start();
        let configuration = configuration(&server, script, json!([step(3, 15.0, true)]));
        let begun = Instant::now();
        let result = result(&finished(&configuration));
        assert!(begun.elapsed() < Duration::from_secs(5));
        assert_eq!(result["lost_connections"], 3);
        assert_eq!(result["scenarios"][0]["errors"], json!({"connection": 3}));
        assert!(number(&result, "/duration_s") < 5.0);
    }
}

#[test]
fn every_client_does_as_many_transactions_as_asked() {
    let server = FakeServer::start();
    let steps = json!([{"clients": 3, "duration_s": null, "measured": true}]);
    let mut configuration = configuration(&server, "delay 1;", steps);
    configuration["transactions_per_client"] = json!(20);
    let result = result(&finished(&configuration));
    assert_eq!(result["transactions"], 60);
    assert_eq!(
        result["connections"],
        json!({"count": 3, "min_tx": 20, "max_tx": 20})
    );
    assert_eq!(server.count("delay 1;"), 60);
    assert!(number(&result, "/duration_s") >= 0.02);
}

#[test]
fn steps_change_the_number_of_clients_at_their_edges() {
    let server = FakeServer::start();
    let steps = json!([step(1, 0.3, true), step(4, 0.3, true), step(1, 0.3, true)]);
    let configuration = configuration(&server, "delay 10;", steps);
    let result = result(&finished(&configuration));
    let transactions: Vec<f64> = (0..3)
        .map(|n| number(&result, &format!("/steps/{n}/transactions")))
        .collect();
    assert!(transactions[1] > 2.5 * transactions[0], "{transactions:?}");
    assert!(transactions[1] > 2.5 * transactions[2], "{transactions:?}");
    let edges = |n: usize| {
        (
            result["steps"][n]["start_ns"].clone(),
            result["steps"][n]["end_ns"].clone(),
        )
    };
    assert_eq!(edges(0).1, edges(1).0);
    assert_eq!(edges(1).1, edges(2).0);
}

#[test]
fn a_stop_cancels_what_runs_and_cuts_what_does_not_end_then() {
    let server = FakeServer::start();
    let steps = json!([step(1, 30.0, true), step(2, 30.0, true)]);
    let configuration = configuration(&server, "never;", steps);
    let load = Load::new(&configuration.to_string()).unwrap();
    load.connect().unwrap();
    load.start(None).unwrap();
    assert!(!load.wait(Duration::from_millis(200)).unwrap());
    assert!(matches!(load.outcome(), Err(EngineError::Misuse(_))));
    let progress = load.progress();
    assert_eq!(
        (progress.step, progress.clients, progress.transactions),
        (0, 1, 0)
    );
    load.stop();
    let stopped = Instant::now();
    assert!(load.wait(Duration::from_secs(10)).unwrap());
    let taken = stopped.elapsed().as_secs_f64();
    assert!(taken < 4.5, "{taken}");
    let result = result(&load);
    assert_eq!(result["steps"].as_array().map(Vec::len), Some(1));
    assert!(number(&result, "/duration_s") < 2.0);
    assert_eq!(server.count("cancel 7 9"), 1, "the server was told to stop");
    assert_eq!(
        (&result["transactions"], &result["failed"]),
        (&json!(0), &json!(0))
    );
}

#[test]
fn a_seed_makes_the_same_requests_again() {
    let requests = |seed: u64| {
        let server = FakeServer::start();
        let steps = json!([{"clients": 1, "duration_s": null, "measured": true}]);
        let script = "\\set x random(1, 1000000)\nrun :x;";
        let mut configuration = configuration(&server, script, steps);
        configuration["transactions_per_client"] = json!(30);
        configuration["protocol"] = json!("simple");
        configuration["seed"] = json!(seed);
        finished(&configuration);
        let statements = server.statements.lock().unwrap();
        statements.clone()
    };
    assert_eq!(requests(5).len(), 30);
    assert_eq!(requests(5), requests(5));
    assert_ne!(requests(5), requests(6));
}

#[test]
fn what_is_asked_in_the_wrong_order_is_refused() {
    let server = FakeServer::start();
    let configuration = configuration(&server, "ok;", json!([step(1, 0.05, true)]));
    let load = Load::new(&configuration.to_string()).unwrap();
    assert!(matches!(load.start(None), Err(EngineError::Misuse(_))));
    assert!(matches!(
        load.wait(Duration::ZERO),
        Err(EngineError::Misuse(_))
    ));
    assert!(matches!(load.outcome(), Err(EngineError::Misuse(_))));
    load.connect().unwrap();
    assert!(matches!(load.connect(), Err(EngineError::Misuse(_))));
    load.start(None).unwrap();
    assert!(matches!(load.start(None), Err(EngineError::Misuse(_))));
    assert!(load.wait(Duration::from_secs(20)).unwrap());
    assert_eq!(result(&load), result(&load));
}

#[test]
fn a_variable_that_nothing_sets_is_found_before_connecting() {
    let server = FakeServer::start();
    let configuration = configuration(
        &server,
        "ok;\nrun :x + :client_id;",
        json!([step(1, 1.0, true)]),
    );
    let Err(error) = Load::new(&configuration.to_string()) else {
        panic!("accepted");
    };
    assert_eq!(
        error.to_string(),
        "s.sql:2:5: undefined variable \"x\"; add \\set x or give it a value"
    );
    let configuration = self::configuration(
        &server,
        "\\set y :client_id + :client_idx + :x\nok;",
        json!([step(1, 1.0, true)]),
    );
    let Err(error) = Load::new(&configuration.to_string()) else {
        panic!("accepted");
    };
    // Under the name, not under the command.
    assert!(
        error
            .to_string()
            .starts_with("s.sql:1:21: undefined variable \"client_idx\""),
        "{error}"
    );
}

#[test]
fn an_unreachable_server_is_an_error_of_connect() {
    let server = FakeServer::nowhere();
    let configuration = configuration(&server, "ok;", json!([step(1, 1.0, true)]));
    let load = Load::new(&configuration.to_string()).unwrap();
    assert!(matches!(load.connect(), Err(EngineError::Session(_))));
}

#[test]
fn a_sleeping_client_holds_up_nobody() {
    let server = FakeServer::start();
    let script = "begin;\n\\sleep 20 ms\nend;";
    let mut configuration = configuration(&server, script, json!([step(20, 0.5, true)]));
    configuration["threads"] = json!(1);
    let result = result(&finished(&configuration));
    assert!(number(&result, "/latency_ms/p50") >= 20.0);
    // One after the other they would do 25.
    assert!(number(&result, "/transactions") > 50.0);
    assert_keeps_busy(&result, 20.0, 0.5);
    assert_eq!(result["failed"], 0);
}

#[test]
fn a_script_that_never_waits_leaves_others_their_turn_and_ends_in_time() {
    let server = FakeServer::start();
    let mut configuration = configuration(&server, "\\set x 1", json!([step(2, 0.2, true)]));
    configuration["threads"] = json!(1);
    let busy = configuration["scenarios"][0].clone();
    let mut waiting = busy.clone();
    waiting["name"] = json!("waiting");
    waiting["script"] = json!("\\if true\nok;\n\\endif");
    waiting["weight"] = json!(0.1);
    configuration["scenarios"] = json!([busy, waiting]);
    let begun = Instant::now();
    let result = result(&finished(&configuration));
    assert!(begun.elapsed() < Duration::from_secs(5));
    for scenario in 0..2 {
        let pointer = format!("/scenarios/{scenario}/transactions");
        assert!(number(&result, &pointer) > 10.0, "{result}");
    }
}
