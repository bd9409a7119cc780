//! Shapes of load with scripts that sleep, keep results and send pipelines.

use std::time::{Duration, Instant};

use serde_json::json;

use super::{run_with, wait_until};
use crate::fake::FakeServer;
use crate::fake::run::{configuration, finished, number, result, step};

const PIPELINE: &str =
    "\\startpipeline\nbegin;\nrun 1;\nfailfirst 2 40001;\nend;\n\\endpipeline\nafter;";

#[test]
fn a_pipeline_is_tried_again_whether_or_not_its_statements_were_prepared() {
    for reconnect in ["never", "each_transaction"] {
        let server = FakeServer::start();
        let steps = json!([{"clients": 1, "duration_s": null, "measured": true}]);
        let mut configuration = configuration(&server, PIPELINE, steps);
        configuration["transactions_per_client"] = json!(3);
        configuration["max_tries"] = json!(3);
        configuration["reconnect"] = json!(reconnect);
        let result = result(&finished(&configuration));
        let keys = ["transactions", "failed", "retried", "retries"];
        assert_eq!(keys.map(|key| result[key].as_u64().unwrap()), [3, 0, 1, 2]);
        assert_eq!(server.count("run 1;"), 5);
        assert_eq!(server.count("ROLLBACK"), 2);
        assert_eq!(server.count("after;"), 3);
    }
}

#[test]
fn a_pipeline_has_the_latency_and_failures_of_its_statements() {
    let server = FakeServer::start();
    let script = "ok;\n\\startpipeline\ndelay 4;\ndelay 4;\n\\endpipeline";
    let mut configuration = configuration(&server, script, json!([step(1, 0.3, true)]));
    configuration["statements"] = json!(true);
    let measured = result(&finished(&configuration));
    let statements = measured["scenarios"][0]["statements"].as_array().unwrap();
    let lines: Vec<_> = statements.iter().map(|s| &s["line"]).collect();
    assert_eq!(lines, [1, 2, 3, 4, 5]);
    assert_eq!(statements[4]["command"], "\\endpipeline");
    assert!(statements[2]["latency_ms"]["mean"].is_null());
    assert!(number(&statements[4], "/latency_ms/p50") >= 8.0);

    configuration["scenarios"][0]["script"] = json!(PIPELINE);
    let failing = result(&finished(&configuration));
    let ends = &failing["scenarios"][0]["statements"][5];
    assert_eq!((&ends["line"], &ends["failures"]), (&json!(6), &json!(2)));
}

#[test]
fn meta_commands_have_their_latency_and_failures_too() {
    let server = FakeServer::start();
    let script = "\\if :client_id = 0\n\\sleep 3 ms\n\\elif 1 / 0 = 0\nok;\n\\else\nok;\n\\endif\nok;\n\\set x 1 / 0";
    let mut configuration = configuration(&server, script, json!([step(1, 0.2, true)]));
    configuration["statements"] = json!(true);
    let result = result(&finished(&configuration));
    let statements = result["scenarios"][0]["statements"].as_array().unwrap();
    let lines: Vec<_> = statements.iter().map(|s| &s["line"]).collect();
    assert_eq!(lines, [1, 2, 3, 4, 5, 6, 7, 8, 9]);
    assert_eq!(statements[1]["command"], "\\sleep 3 ms");
    assert!(number(&statements[1], "/latency_ms/p50") >= 3.0);
    for (n, ran) in [true, true, true, false, false, false, true, true, false]
        .iter()
        .enumerate()
    {
        assert_eq!(statements[n]["latency_ms"]["mean"].is_number(), *ran, "{n}");
    }
    assert_eq!(statements[8]["failures"], result["failed"]);
    assert!(number(&result, "/failed") >= 1.0);
}

#[test]
fn a_transaction_is_tried_again_with_the_variables_that_it_began_with() {
    let server = FakeServer::start();
    let steps = json!([{"clients": 1, "duration_s": null, "measured": true}]);
    let script = "begin;\nrun :v;\nrow 5 \\gset\nfailfirst 1 40001;\nend;";
    let mut configuration = configuration(&server, script, steps);
    configuration["transactions_per_client"] = json!(2);
    configuration["max_tries"] = json!(2);
    configuration["protocol"] = json!("simple");
    configuration["variables"] = json!({"v": 1});
    let result = result(&finished(&configuration));
    assert_eq!(result["transactions"], 2, "{result}");
    let counts = ["run 1;", "run 5;"].map(|sql| server.count(sql));
    assert_eq!(counts, [2, 1]);
}

#[test]
fn a_connection_lost_while_its_script_sleeps_is_opened_again() {
    let server = FakeServer::start();
    let script = "\\startpipeline\nbegin;\n\\syncpipeline\n\\sleep 200 ms\nend;\n\\endpipeline";
    let mut configuration = configuration(&server, script, json!([step(2, 1.5, true)]));
    configuration["reconnect"] = json!("on_loss");
    let load = run_with(&configuration, |_| {
        wait_until(|| server.count("begin;") == 2);
        server.refuse_connections();
        server.accept_connections();
    });
    let result = result(&load);
    assert_eq!(result["scenarios"][0]["errors"], json!({"connection": 2}));
    assert_eq!(result["lost_connections"], 2);
    assert!(number(&result, "/transactions") >= 4.0);
    assert_eq!(server.opened(), 4);
}

#[test]
fn a_script_that_sleeps_over_an_edge_is_not_woken_and_not_switched() {
    let server = FakeServer::start();
    let script = "begin;\n\\sleep 70 ms\nend;";
    let mut configuration = configuration(&server, script, json!([step(1, 1.0, true)]));
    configuration["slices"] = json!({
        "variants": [{"name": "a", "sql": ["SET a"], "scenarios": null},
            {"name": "b", "sql": ["SET b"], "scenarios": null}],
        "schedule": [[0, 0.25], [1, 0.25]]});
    let result = result(&finished(&configuration));
    assert_eq!(result["failed"], 0);
    assert!(number(&result, "/latency_ms/p50") >= 70.0);
    let slices = result["slices"].as_array().unwrap();
    let sum = |key: &str| slices.iter().map(|s| s[key].as_u64().unwrap()).sum::<u64>();
    assert!(sum("crossing") > 0);
    let all = sum("transactions") + sum("crossing");
    assert_eq!(Some(all), result["transactions"].as_u64());
    let statements = server.statements.lock().unwrap().clone();
    for pair in statements.windows(2) {
        let is_open = pair[0] == "begin;";
        assert!(!is_open || pair[1] == "end;", "{statements:?}");
    }
}

#[test]
fn a_script_asleep_at_the_end_is_cut_and_nothing_is_cancelled() {
    let server = FakeServer::start();
    let script = "begin;\n\\sleep 1000 s\nend;";
    let configuration = configuration(&server, script, json!([step(2, 0.1, true)]));
    let begun = Instant::now();
    let result = result(&finished(&configuration));
    assert!(begun.elapsed() < Duration::from_secs(8));
    assert_eq!(server.count("cancel 7 9"), 0);
    assert_eq!(
        (&result["transactions"], &result["failed"]),
        (&json!(0), &json!(0))
    );
}
