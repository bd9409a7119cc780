//! Transactions that take rows of a file as their variables.

use std::sync::Arc;
use std::time::Duration;

use pgassay_engine::{ColumnPart, Kind, Load, Rows};
use serde_json::{Value, json};

use crate::fake::FakeServer;
use crate::fake::run::{configuration, result};

const ROWS: i64 = 5;

/// Rows of a number from 0 on, and a text that is NULL in each second one.
fn rows() -> Arc<Rows> {
    let numbers: Vec<u8> = (0..ROWS).flat_map(i64::to_ne_bytes).collect();
    let starts: Vec<u8> = (0..=6_u32).flat_map(|at| (at * 4).to_ne_bytes()).collect();
    let part = |kind, validity, starts, data| ColumnPart {
        kind,
        validity,
        starts,
        data,
    };
    let columns = [
        part(Kind::Int, None, &[][..], &numbers[..]),
        part(
            Kind::Text,
            Some(&[0b10101][..]),
            &starts,
            b"it'sit'sit'sit'sit's",
        ),
    ];
    let mut rows = Rows::new(vec![Kind::Int, Kind::Text]);
    rows.add(5, &columns).unwrap();
    Arc::new(rows)
}

fn asked(server: &FakeServer, script: &str, clients: usize, transactions: u64) -> Value {
    let steps = json!([{"clients": clients, "duration_s": null, "measured": true}]);
    let mut configuration = configuration(server, script, steps);
    configuration["transactions_per_client"] = json!(transactions);
    configuration["protocol"] = json!("simple");
    configuration["scenarios"][0]["parameters"] =
        json!({"columns": ["id", "note"], "order": "sequential"});
    configuration
}

fn finished(configuration: &Value) -> Value {
    let load = Load::with_rows(&configuration.to_string(), &[Some(rows())]).unwrap();
    load.connect().unwrap();
    load.start(None).unwrap();
    assert!(load.wait(Duration::from_secs(20)).unwrap());
    result(&load)
}

#[test]
fn all_clients_share_the_rows_in_sequence() {
    let server = FakeServer::start();
    let done = finished(&asked(&server, "run :id, :note /* :id */;", 4, 5));
    assert_eq!(done["transactions"], 20);
    for id in 0..ROWS {
        let note = if id % 2 == 0 { "'it''s'" } else { "NULL" };
        assert_eq!(server.count(&format!("run {id}, {note} /* :id */;")), 4);
    }
}

#[test]
fn a_seed_draws_the_same_rows_whatever_the_threads_and_engines() {
    let drawn = |threads: usize, of: usize| {
        let server = FakeServer::start();
        let mut configuration = asked(&server, "run :client_id :id;", 3, 4);
        configuration["threads"] = json!(threads);
        configuration["scenarios"][0]["parameters"] = json!({"columns": ["id", "note"]});
        for index in 0..of {
            configuration["share"] = json!({"index": index, "of": of});
            finished(&configuration);
        }
        let mut found = server.statements.lock().unwrap().clone();
        found.sort();
        found
    };
    assert_eq!(drawn(1, 1).len(), 12);
    assert_eq!(drawn(1, 1), drawn(3, 1));
    assert_eq!(drawn(1, 1), drawn(1, 2));
}

#[test]
fn a_transaction_that_is_tried_again_keeps_its_row() {
    let server = FakeServer::start();
    let mut configuration = asked(&server, "run :id;\nfailfirst 2 40001;", 1, 2);
    configuration["max_tries"] = json!(3);
    let done = finished(&configuration);
    assert_eq!((&done["failed"], &done["retries"]), (&json!(0), &json!(2)));
    assert_eq!(
        [0, 1, 2].map(|id| server.count(&format!("run {id};"))),
        [3, 1, 0]
    );
}

#[test]
fn a_failure_s_text_is_left_out_unless_it_can_hold_no_value() {
    for (script, private, message) in [
        (
            "fail 23505;",
            true,
            "s.sql:1: ERROR 23505: its text may hold a parameter and is not shown",
        ),
        ("fail 23505;", false, "s.sql:1: ERROR 23505: as asked"),
        (
            "\\set x :note + 1\nok;",
            true,
            "s.sql:1: its text may hold a parameter and is not shown",
        ),
        ("\\set x 1 / 0\nok;", true, "s.sql:1: division by zero"),
    ] {
        let server = FakeServer::start();
        let mut configuration = asked(&server, script, 1, 1);
        configuration["scenarios"][0]["parameters"]["private"] = json!(private);
        assert_eq!(finished(&configuration)["first_error"]["message"], message);
    }
}

#[test]
fn rows_that_do_not_fit_the_columns_are_refused() {
    let server = FakeServer::nowhere();
    let configuration = asked(&server, "run :id;", 1, 1);
    for rows in [
        vec![],
        vec![Some(Arc::new(Rows::new(vec![Kind::Int, Kind::Text])))],
    ] {
        let error = Load::with_rows(&configuration.to_string(), &rows)
            .err()
            .unwrap();
        assert!(
            error
                .to_string()
                .starts_with("scenarios[0].parameters: give rows")
        );
    }
}
