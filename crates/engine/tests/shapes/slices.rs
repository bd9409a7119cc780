//! Variants that alternate inside a step.

use serde_json::json;

use super::open_step;
use crate::fake::FakeServer;
use crate::fake::run::{configuration, finished, number, result, step};

#[test]
fn slices_alternate_and_their_sums_are_the_whole() {
    let server = FakeServer::start();
    let steps = json!([step(3, 0.2, false), step(3, 1.1, true)]);
    let mut configuration = configuration(&server, "delay 3;", steps);
    configuration["slices"] = json!({
        "variants": [{"name": "a", "sql": ["SET x = 1", "SET y = 1"], "scenarios": null},
            {"name": "b", "sql": ["SET x = 2"], "scenarios": null}],
        "schedule": [[0, 0.25], [1, 0.3]]});
    let load = finished(&configuration);
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
    for slice in slices {
        // Who waited for the next arrival would be 125 ms late in the mean.
        assert!(slice["edge_lag_ms"].as_f64().unwrap() <= 60.0, "{slice}");
    }
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
    let result = result(&finished(&configuration));
    let slices = result["slices"].as_array().unwrap();
    let mut lags: Vec<f64> = slices
        .iter()
        .map(|slice| number(slice, "/edge_lag_ms"))
        .collect();
    // Who waited for the next arrival would be 125 ms late in the mean; one of three may meet a
    // machine that is busy with something else.
    lags.sort_by(f64::total_cmp);
    assert!(
        lags.len() == 3 && lags[1] <= 60.0 && lags[0] > 0.0,
        "{lags:?}"
    );
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
fn a_variant_whose_sql_is_refused_ends_the_load() {
    let server = FakeServer::start();
    let mut configuration = configuration(&server, "delay 1;", json!([step(2, 5.0, true)]));
    configuration["slices"] = json!({
        "variants": [{"name": "bad", "sql": ["fail 42704"]}], "schedule": [[0, 1]]});
    let error = finished(&configuration).outcome().unwrap_err().to_string();
    let expected = "the SQL of the slice variant \"bad\" was refused: ERROR 42704: as asked";
    assert!(error.contains(expected), "{error}");
}
