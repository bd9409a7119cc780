//! Variants that alternate inside a step.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::{open_step, run_with, wait_until};
use crate::fake::FakeServer;
use crate::fake::run::{configuration, finished, number, result, step};

/// How close an edge is met by a connection at rest, apart from what the machine adds.
const EDGE_MS: f64 = 5.0;

/// A thread beside the load that does nothing but sleep: how late it wakes is the machine's doing.
struct Sleeper {
    is_over: Arc<AtomicBool>,
    thread: JoinHandle<f64>,
}

impl Sleeper {
    fn start() -> Sleeper {
        let is_over = Arc::new(AtomicBool::new(false));
        let until = Arc::clone(&is_over);
        let thread = thread::spawn(move || {
            let mut latest_ms = 0.0f64;
            while !until.load(Ordering::Relaxed) {
                let begin = Instant::now();
                thread::sleep(Duration::from_millis(1));
                latest_ms = latest_ms.max(begin.elapsed().as_secs_f64() * 1e3 - 1.0);
            }
            latest_ms
        });
        Sleeper { is_over, thread }
    }

    fn latest_ms(self) -> f64 {
        self.is_over.store(true, Ordering::Relaxed);
        self.thread.join().unwrap()
    }
}

/// The engine's own clock says how late connections that were at rest met each edge. Half of the
/// edges are in time: one may fall on a moment in which only the engine had no CPU.
fn assert_edges_are_met(slices: &[Value], machine_ms: f64) {
    let mut lags: Vec<f64> = slices
        .iter()
        .map(|slice| number(slice, "/edge_lag_ms"))
        .collect();
    lags.sort_by(f64::total_cmp);
    let median = lags[lags.len() / 2];
    assert!(
        median <= EDGE_MS + machine_ms,
        "{lags:?}, the machine {machine_ms}"
    );
}

#[test]
fn slices_alternate_and_their_sums_are_the_whole() {
    let server = FakeServer::start();
    let steps = json!([step(3, 0.2, false), step(3, 1.1, true)]);
    let mut configuration = configuration(&server, "delay 3;", steps);
    configuration["slices"] = json!({
        "variants": [{"name": "a", "sql": ["SET x = 1", "SET y = 1"], "scenarios": null},
            {"name": "b", "sql": ["SET x = 2"], "scenarios": null}],
        "schedule": [[0, 0.25], [1, 0.3]]});
    let sleeper = Sleeper::start();
    let load = finished(&configuration);
    let machine_ms = sleeper.latest_ms();
    let result = result(&load);
    let slices = result["slices"].as_array().unwrap();
    let variants: Vec<_> = slices.iter().map(|slice| &slice["variant"]).collect();
    assert_eq!(variants, ["a", "b", "a", "b"]);
    let sum = |key: &str| {
        slices
            .iter()
            .map(|slice| slice[key].as_u64().unwrap())
            .sum::<u64>()
    };
    let total = result["transactions"].as_u64().unwrap();
    assert_eq!(sum("transactions") + sum("crossing"), total);
    assert!(sum("transactions") > 200 && sum("crossing") >= 3, "{total}");
    assert_edges_are_met(slices, machine_ms);
    assert_eq!(slices[0]["end_ns"], slices[1]["start_ns"]);
    // Each of the three connections runs the SQL of each slice once.
    assert_eq!(
        ["SET x = 1", "SET y = 1", "SET x = 2"].map(|sql| server.count(sql)),
        [6, 6, 6]
    );
    let rows = load.outcome().unwrap().intervals();
    let of_slices = rows.slice.iter().zip(&rows.transactions);
    let own: u64 = of_slices
        .filter(|(slice, _)| slice.is_some())
        .map(|(_, count)| count)
        .sum();
    assert_eq!(own, sum("transactions"));
    let measured = rows.measured.iter().zip(&rows.transactions);
    let all: u64 = measured
        .filter(|(measured, _)| **measured)
        .map(|(_, count)| count)
        .sum();
    assert_eq!(all, total);
}

#[test]
fn an_edge_is_met_by_connections_that_wait_for_an_arrival() {
    let server = FakeServer::start();
    let mut configuration = configuration(&server, "ok;", json!([open_step(2, 0.75, 4.0)]));
    configuration["slices"] = json!({
        "variants": [{"name": "a", "sql": ["SET x = 1"]}, {"name": "b", "sql": ["SET x = 2"]}],
        "schedule": [[0, 0.25], [1, 0.25]]});
    let sleeper = Sleeper::start();
    let load = finished(&configuration);
    let machine_ms = sleeper.latest_ms();
    let result = result(&load);
    let slices = result["slices"].as_array().unwrap();
    assert_eq!(slices.len(), 3);
    assert!(
        slices
            .iter()
            .all(|slice| number(slice, "/edge_lag_ms") > 0.0)
    );
    // Who waited for the next arrival would be 125 ms late in the mean.
    assert_edges_are_met(slices, machine_ms);
    assert_eq!(
        ["SET x = 1", "SET x = 2"].map(|sql| server.count(sql)),
        [4, 2]
    );
}

#[test]
fn a_variant_may_have_scenarios_of_its_own() {
    let server = FakeServer::start();
    let mut configuration = configuration(&server, "delay 2;", json!([step(2, 0.5, true)]));
    configuration["scenarios"] = json!([
        {"name": "r", "file": "r", "script": "delay 2;", "weight": 1},
        {"name": "w", "file": "w", "script": "delay 3;", "weight": 1}]);
    configuration["slices"] = json!({
        "variants": [{"name": "r", "scenarios": ["r"]}, {"name": "w", "scenarios": ["w"]}],
        "schedule": [[0, 0.25], [1, 0.25]]});
    for pools in ["shared", "per_scenario"] {
        configuration["pools"] = json!(pools);
        let rows = finished(&configuration).outcome().unwrap().intervals();
        for (n, slice) in rows
            .slice
            .iter()
            .enumerate()
            .filter(|(_, slice)| slice.is_some())
        {
            let is_own = *slice == Some(rows.scenario[n]);
            assert_eq!(rows.transactions[n] > 0, is_own, "{pools} row {n}");
        }
    }
}

#[test]
fn a_variant_with_a_server_of_its_own_has_it_alone() {
    for reconnect in ["never", "each_transaction"] {
        let servers = [FakeServer::start(), FakeServer::start()];
        let mut configuration = configuration(&servers[0], "x", json!([step(3, 1.1, true)]));
        configuration["reconnect"] = json!(reconnect);
        configuration["scenarios"] = json!([
            {"name": "0", "file": "0", "script": "delay 2;", "weight": 1},
            {"name": "1", "file": "1", "script": "delay 3;", "weight": 1}]);
        let variant = |n: usize| {
            let mut connection = configuration["connection"].clone();
            connection["port"] = json!(servers[n].port);
            json!({"name": n.to_string(), "sql": [format!("SET x = {n}")],
                "scenarios": [n.to_string()], "connection": connection})
        };
        let variants = json!([variant(0), variant(1)]);
        configuration["slices"] = json!({"variants": variants, "schedule": [[0, 0.25], [1, 0.3]]});
        let load = finished(&configuration);
        let result = result(&load);
        assert_eq!(result["connections"]["count"], 6, "{reconnect}");
        assert_eq!(result["slices"].as_array().unwrap().len(), 4);
        let rows = load.outcome().unwrap().intervals();
        for n in 0..2 {
            // Those that crossed an edge were still their own server's.
            let of_script = |n: usize| {
                let own = rows.scenario.iter().zip(&rows.transactions);
                own.filter(|(scenario, _)| **scenario == n)
                    .map(|(_, count)| *count)
                    .sum::<u64>()
            };
            let (own, other) = [("delay 2;", "delay 3;"), ("delay 3;", "delay 2;")][n];
            let run = u64::try_from(servers[n].count(own)).unwrap();
            assert!(of_script(n) > 100, "{reconnect}: {}", of_script(n));
            // The last of each client may end after the schedule.
            let counted = of_script(n);
            assert!(
                (counted..=counted + 3).contains(&run),
                "{reconnect}: {run}, {counted}"
            );
            assert_eq!(servers[n].count(other), 0, "{reconnect}");
            let others = format!("SET x = {}", 1 - n);
            assert_eq!(servers[n].count(&others), 0, "{reconnect}");
            if reconnect == "never" {
                assert_eq!(servers[n].opened(), 3);
                // Each of its clients begins each of its slices.
                assert_eq!(servers[n].count(&format!("SET x = {n}")), 6);
            }
        }
        for (row, slice) in rows.slice.iter().enumerate() {
            if let Some(slice) = slice {
                let is_own = slice % 2 == rows.scenario[row];
                assert!(
                    is_own || rows.transactions[row] == 0,
                    "{reconnect} row {row}"
                );
            }
        }
    }
}

#[test]
fn all_servers_of_variants_are_warmed_up_on_connections_that_are_kept() {
    let servers = [FakeServer::start(), FakeServer::start()];
    let steps = json!([step(2, 0.3, false), step(2, 0.5, true)]);
    let mut configuration = configuration(&servers[0], "delay 1;", steps);
    let variant = |n: usize| {
        let mut connection = configuration["connection"].clone();
        connection["port"] = json!(servers[n].port);
        json!({"name": n.to_string(), "connection": connection})
    };
    let variants = json!([variant(0), variant(1)]);
    configuration["slices"] = json!({"variants": variants, "schedule": [[0, 0.25], [1, 0.25]]});
    for transport in ["auto", "epoll"] {
        configuration["transport"] = json!(transport);
        let opened = servers.each_ref().map(FakeServer::opened);
        let load = run_with(&configuration, |load| {
            wait_until(|| load.progress().measured);
            assert!(servers.iter().all(|server| server.count("delay 1;") > 0));
        });
        let result = result(&load);
        assert_eq!(result["lost_connections"], 0, "{transport}");
        for slice in result["slices"].as_array().unwrap() {
            assert!(
                slice["transactions"].as_u64() > Some(20),
                "{transport}: {slice}"
            );
        }
        let now = servers.each_ref().map(FakeServer::opened);
        assert_eq!(now, opened.map(|opened| opened + 2), "{transport}");
    }
}

#[test]
fn a_variant_whose_sql_is_refused_ends_the_load() {
    let server = FakeServer::start();
    let mut configuration = configuration(&server, "delay 1;", json!([step(2, 5.0, true)]));
    configuration["slices"] = json!({
        "variants": [{"name": "bad", "sql": ["fail 42704"]}], "schedule": [[0, 1]]});
    let error = finished(&configuration).outcome().unwrap_err().to_string();
    let expected = "the SQL of the slice variant \"bad\" was refused: ERROR 42704: as asked";
    assert!(error.contains(expected), "{error}");
}
