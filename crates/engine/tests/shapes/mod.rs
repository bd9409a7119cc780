//! Shapes of load against a server whose delays and failures are known.

mod arrivals;
mod parameters;
mod scripts;
mod sessions;
mod shares;
mod slices;

use std::time::{Duration, Instant};

use pgassay_engine::Load;
use serde_json::{Value, json};

pub fn open_step(clients: usize, duration_s: f64, rate: f64) -> Value {
    json!({"clients": clients, "duration_s": duration_s, "measured": true, "rate": rate})
}

/// Starts a load and does something once it runs.
pub fn run_with(configuration: &Value, meanwhile: impl FnOnce(&Load)) -> Load {
    let load = Load::new(&configuration.to_string()).unwrap();
    load.connect().unwrap();
    load.start(None).unwrap();
    meanwhile(&load);
    assert!(load.wait(Duration::from_secs(20)).unwrap());
    load
}

pub fn wait_until(condition: impl Fn() -> bool) {
    let deadline = Instant::now() + Duration::from_secs(10);
    while !condition() {
        assert!(Instant::now() < deadline, "it never came about");
        std::thread::yield_now();
    }
}
