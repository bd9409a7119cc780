//! Messages that nobody asked for, and bytes that are none.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::fake::FakeServer;
use crate::fake::run::{configuration, finished, number, result, step};

fn message(kind: u8, body: &[u8]) -> String {
    let length = i32::try_from(body.len() + 4).unwrap();
    hex(kind, length, body)
}

fn hex(kind: u8, length: i32, body: &[u8]) -> String {
    let bytes = [&[kind][..], &length.to_be_bytes(), body].concat();
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Ten transactions, each of which hears `said` before the end of its statement.
fn heard(said: &str) -> (FakeServer, Value) {
    let server = FakeServer::start();
    let steps = json!([{"clients": 2, "duration_s": null, "measured": true}]);
    let mut configuration = configuration(&server, &format!("raw {said};\nok;"), steps);
    configuration["transactions_per_client"] = json!(5);
    let result = result(&finished(&configuration));
    (server, result)
}

#[test]
fn what_a_server_may_say_at_any_time_changes_nothing() {
    for said in [
        message(b'A', b"\0\0\0\x07channel\0payload\0"),
        message(b'S', b"TimeZone\0Mars\0"),
        message(b'N', b"SNOTICE\0C00000\0Mhello\0\0"),
        // COPY TO STDOUT, and a COPY BOTH that nobody asked for.
        [
            message(b'H', b"\0\0\0"),
            message(b'd', &[7; 100]),
            message(b'c', b""),
        ]
        .concat(),
        message(b'W', b"\0\0\0"),
        // Out of place: rows without columns, columns cut short, a second ParseComplete.
        message(b'D', b"\0\x01\x7f\xff\xff\xff"),
        message(b'T', b"\xff\xffx"),
        message(b'1', b""),
        message(b's', b""),
    ] {
        let (server, result) = heard(&said);
        let counts = [&result["transactions"], &result["failed"]];
        assert_eq!(counts, [&json!(10), &json!(0)], "{said}: {result}");
        assert_eq!(server.count("ok;"), 10);
    }
}

#[test]
fn an_error_without_a_sqlstate_is_counted_as_internal() {
    let (_, result) = heard(&message(b'E', b"Mno code\0\0"));
    assert_eq!(result["failed"], 10);
    assert_eq!(result["scenarios"][0]["errors"], json!({"XX000": 10}));
    assert_eq!(result["lost_connections"], 0);
}

#[test]
fn a_data_request_that_nobody_expects_is_refused() {
    let server = FakeServer::start();
    let steps = json!([{"clients": 1, "duration_s": null, "measured": true}]);
    let script = format!("raw {};", message(b'G', b"\0\0\0"));
    let mut configuration = configuration(&server, &script, steps);
    configuration["transactions_per_client"] = json!(1);
    // The server takes the refusal for a message that it does not know, and hangs up.
    let begun = Instant::now();
    let result = result(&finished(&configuration));
    assert!(begun.elapsed() < Duration::from_secs(15));
    assert!(number(&result, "/transactions") + number(&result, "/lost_connections") >= 1.0);
}

#[test]
fn what_is_no_message_ends_the_connection() {
    for said in [
        hex(b'D', 3, b""),
        hex(b'D', 0, b""),
        hex(b'D', -1, b""),
        hex(b'C', i32::MIN, b""),
        hex(b'C', i32::MAX, b""),
        message(b'Z', b"?"),
        message(0, b""),
        "485454502f312e3120343030".to_owned(),
    ] {
        let (_, result) = heard(&said);
        assert_eq!(result["lost_connections"], 2, "{said}");
        assert_eq!(result["scenarios"][0]["errors"], json!({"connection": 2}));
    }
}

#[test]
fn a_message_that_never_ends_holds_up_the_end_no_longer_than_a_slow_statement() {
    let server = FakeServer::start();
    let script = format!("raw {};", hex(b'D', i32::MAX, b""));
    let configuration = configuration(&server, &script, json!([step(2, 0.1, true)]));
    let result = result(&finished(&configuration));
    assert_eq!(result["transactions"], 0);
    assert_eq!(server.count("cancel 7 9"), 2);
}
