//! One load run by several engines.

use std::collections::BTreeSet;
use std::time::Duration;

use pgassay_engine::Load;
use pgassay_session::clock::now_ns;
use serde_json::{Value, json};

use super::open_step;
use crate::fake::FakeServer;
use crate::fake::run::{configuration, number, result, step};

/// Runs all shares of a load at the same time, from a common start on.
pub fn finished_shares(configuration: &Value, of: usize) -> Vec<Load> {
    let loads = (0..of).map(|index| {
        let mut configuration = configuration.clone();
        configuration["share"] = json!({"index": index, "of": of});
        let load = Load::new(&configuration.to_string()).unwrap();
        load.connect().unwrap();
        load
    });
    let loads: Vec<_> = loads.collect();
    let start_ns = now_ns() + 100_000_000;
    for load in &loads {
        load.start(Some(start_ns)).unwrap();
    }
    for load in &loads {
        assert!(load.wait(Duration::from_secs(20)).unwrap());
    }
    loads
}

#[test]
fn shares_run_what_one_engine_would_have_run() {
    let statements = |of: usize| {
        let server = FakeServer::start();
        let steps = json!([{"clients": 5, "duration_s": null, "measured": true}]);
        let script = "\\set x random(1, 1000000)\nrun :client_id :x;";
        let mut configuration = configuration(&server, script, steps);
        configuration["transactions_per_client"] = json!(20);
        configuration["protocol"] = json!("simple");
        let loads = finished_shares(&configuration, of);
        let started: BTreeSet<_> = loads
            .iter()
            .map(|load| result(load)["started_ns"].as_i64())
            .collect();
        let clients: Vec<_> = loads
            .iter()
            .map(|load| number(&result(load), "/connections/count"))
            .collect();
        let mut statements = server.statements.lock().unwrap().clone();
        statements.sort();
        (statements, clients, started.len())
    };
    let (expected, clients, starts) = statements(1);
    assert_eq!((expected.len(), starts, &clients[..]), (100, 1, &[5.0][..]));
    let (found, clients, starts) = statements(3);
    assert_eq!(found, expected);
    assert_eq!((&clients[..], starts), (&[2.0, 2.0, 1.0][..], 1));
    // More engines than clients: those without one rest.
    let (found, clients, _) = statements(8);
    assert_eq!(found, expected);
    assert_eq!(clients.iter().filter(|&&count| count == 1.0).count(), 5);
}

#[test]
fn a_start_that_has_passed_is_made_up_at_once() {
    let server = FakeServer::start();
    let configuration = configuration(&server, "ok;", json!([step(1, 0.05, true)]));
    let load = Load::new(&configuration.to_string()).unwrap();
    load.connect().unwrap();
    let asked_ns = now_ns();
    load.start(Some(asked_ns - 1_000_000_000)).unwrap();
    assert!(load.wait(Duration::from_secs(20)).unwrap());
    assert!(result(&load)["started_ns"].as_i64().unwrap() > asked_ns);
}

#[test]
fn shares_of_an_open_loop_reach_its_rate_together() {
    let server = FakeServer::start();
    let mut configuration = configuration(&server, "ok;", json!([open_step(4, 1.5, 200.0)]));
    configuration["arrivals"] = json!("constant");
    let results: Vec<_> = finished_shares(&configuration, 3)
        .iter()
        .map(result)
        .collect();
    let sum = |pointer: &str| {
        results
            .iter()
            .map(|result| number(result, pointer))
            .sum::<f64>()
    };
    // Every arrival was begun or is backlog; at most one for each client ended after the step.
    let done = sum("/transactions") + sum("/backlog");
    assert!((296.0..=300.0).contains(&done), "{done}");
    assert!(sum("/transactions") >= 280.0, "{results:?}");
}
