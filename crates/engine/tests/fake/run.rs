//! Loads run against the fake server.
//!
//! Enters: a script, steps. Leaves: a finished load and its result. Never: asserts what it was.

use std::time::Duration;

use pgassay_engine::Load;
use serde_json::{Value, json};

use super::FakeServer;

pub fn configuration(server: &FakeServer, script: &str, steps: Value) -> Value {
    json!({
        "connection": {"host": "127.0.0.1", "port": server.port, "user": "u", "password": null,
            "dbname": "d", "options": "", "connect_timeout_s": 5.0},
        "application_name": "test",
        "scenarios": [{"name": "s", "file": "s.sql", "script": script, "weight": 1}],
        "steps": steps,
        "transactions_per_client": null,
        "protocol": "prepared", "threads": 2, "seed": 1, "interval_s": 0.1, "variables": {}
    })
}

pub fn step(clients: usize, duration_s: f64, measured: bool) -> Value {
    json!({"clients": clients, "duration_s": duration_s, "measured": measured})
}

pub fn finished(configuration: &Value) -> Load {
    let load = Load::new(&configuration.to_string()).unwrap();
    load.connect().unwrap();
    load.start(None).unwrap();
    assert!(load.wait(Duration::from_secs(20)).unwrap());
    load
}

pub fn result(load: &Load) -> Value {
    serde_json::from_str(&load.outcome().unwrap().to_json().unwrap()).unwrap()
}

pub fn number(value: &Value, pointer: &str) -> f64 {
    value
        .pointer(pointer)
        .and_then(Value::as_f64)
        .expect(pointer)
}
