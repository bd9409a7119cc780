//! Loads over TLS, and many connections at a time.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test may fail"
)]

mod fake;

use std::time::Duration;

use fake::FakeServer;
use pgassay_engine::{EngineError, Load};
use serde_json::{Value, json};

fn configuration(server: &FakeServer, sslmode: &str, script: &str, clients: usize) -> Value {
    json!({
        "connection": {"host": "localhost", "hostaddr": "127.0.0.1", "port": server.port,
            "user": "u", "password": null, "dbname": "d", "connect_timeout_s": 5.0,
            "tls": {"sslmode": sslmode}},
        "application_name": "test",
        "scenarios": [{"name": "s", "file": "s.sql", "script": script, "weight": 1}],
        "steps": [{"clients": clients, "measured": true}],
        "transactions_per_client": 5,
        "protocol": "prepared", "threads": 2, "seed": 1, "interval_s": 0.1, "variables": {}
    })
}

fn result(configuration: &Value) -> Value {
    let load = Load::new(&configuration.to_string()).unwrap();
    load.connect().unwrap();
    load.start(None).unwrap();
    assert!(load.wait(Duration::from_secs(20)).unwrap());
    serde_json::from_str(&load.outcome().unwrap().to_json().unwrap()).unwrap()
}

#[test]
fn a_load_over_tls_counts_as_one_without() {
    let script = "begin;\ndelay 2;\nlarge 300000;\nend;";
    for protocol in ["prepared", "extended", "simple"] {
        let server = FakeServer::start_encrypted();
        let mut configuration = configuration(&server, "require", script, 3);
        configuration["protocol"] = json!(protocol);
        let result = result(&configuration);
        assert_eq!(result["transactions"], 15, "{protocol}");
        assert_eq!(result["failed"], 0);
        assert_eq!(result["lost_connections"], 0);
    }
}

#[test]
fn a_statement_larger_than_a_socket_takes_arrives_over_tls() {
    let server = FakeServer::start_encrypted();
    let script = format!("select '{}';", "x".repeat(8_000_000));
    let mut configuration = configuration(&server, "require", &script, 1);
    configuration["protocol"] = json!("simple");
    let result = result(&configuration);
    assert_eq!(result["failed"], 0, "{}", result["first_error"]);
    let statements = server.statements.lock().unwrap();
    assert!(statements.iter().any(|sql| sql.len() > 8_000_000));
}

#[test]
fn a_server_that_hangs_up_in_tls_is_a_lost_connection() {
    let server = FakeServer::start_encrypted();
    let result = result(&configuration(&server, "prefer", "hangup;", 2));
    assert_eq!(result["lost_connections"], 2);
    assert_eq!(result["first_error"]["sqlstate"], "connection");
}

#[test]
fn an_encrypted_connection_is_served_by_epoll_and_io_uring_is_not_feigned() {
    let server = FakeServer::start_encrypted();
    let mut configuration = configuration(&server, "require", "ok;", 1);
    assert_eq!(result(&configuration)["backend"], "epoll");
    configuration["transport"] = json!("io_uring");
    match Load::new(&configuration.to_string()) {
        Ok(load) => {
            let error = load.connect().unwrap_err().to_string();
            assert!(error.contains("io_uring cannot carry TLS"), "{error}");
        }
        // A machine without it says so first.
        Err(error) => assert!(error.to_string().contains("io_uring cannot be used here")),
    }
}

#[test]
fn where_a_server_has_no_tls_sessions_opened_later_are_plain_under_io_uring_too() {
    let server = FakeServer::start();
    let mut configuration = configuration(&server, "prefer", "ok;", 2);
    configuration["reconnect"] = json!("each_transaction");
    let auto = result(&configuration)["backend"].clone();
    let mut plain = configuration.clone();
    plain["connection"]["tls"]["sslmode"] = json!("disable");
    assert_eq!(result(&plain)["backend"], auto);

    configuration["transport"] = json!("io_uring");
    let asked = server.count("tls?");
    match Load::new(&configuration.to_string()) {
        Ok(_) => {
            let result = result(&configuration);
            assert_eq!(
                (&result["transactions"], &result["failed"]),
                (&json!(10), &json!(0))
            );
            // Only by the first session of each client.
            assert_eq!(server.count("tls?") - asked, 2);
        }
        Err(error) => assert!(error.to_string().contains("io_uring cannot be used here")),
    }
}

#[test]
fn many_connections_are_opened_and_the_first_failure_is_told() {
    let server = FakeServer::start();
    let result = result(&configuration(&server, "disable", "delay 1;", 300));
    assert_eq!(result["transactions"], 1500);
    assert_eq!(result["connections"]["count"], 300);

    let refused = configuration(&server, "require", "delay 1;", 300);
    let load = Load::new(&refused.to_string()).unwrap();
    let error = load.connect().unwrap_err();
    assert!(matches!(error, EngineError::Session(_)), "{error}");
}

#[test]
fn every_transaction_can_have_an_encrypted_session_of_its_own() {
    let server = FakeServer::start_encrypted();
    let mut configuration = configuration(&server, "require", "begin;\nend;", 2);
    configuration["reconnect"] = json!("each_transaction");
    let result = result(&configuration);
    assert_eq!(
        (&result["transactions"], &result["failed"]),
        (&json!(10), &json!(0))
    );
    assert_eq!(server.opened(), 10);
}

#[test]
fn a_statement_on_an_encrypted_session_is_cancelled_over_tls() {
    let server = FakeServer::start_encrypted();
    let configuration = configuration(&server, "require", "never;", 1);
    let load = Load::new(&configuration.to_string()).unwrap();
    load.connect().unwrap();
    load.start(None).unwrap();
    while server.count("never;") == 0 {
        std::thread::yield_now();
    }
    load.stop();
    assert!(load.wait(Duration::from_secs(20)).unwrap());
    assert_eq!(server.count("cancel 7 9"), 1);
}
