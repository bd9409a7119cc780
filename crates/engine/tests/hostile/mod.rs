//! Messages that nobody asked for, and bytes that are none.

use std::time::{Duration, Instant};

use pgassay_engine::Load;
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
        // Authentication is over.
        message(b'R', &[0; 4]),
        // Ready, before the statement has ended.
        message(b'Z', b"I"),
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
    let begun = Instant::now();
    let result = result(&finished(&configuration));
    assert!(
        begun.elapsed().as_secs_f64() > 4.5,
        "slow statements may end"
    );
    assert_eq!(result["transactions"], 0);
    assert_eq!(server.count("cancel 7 9"), 2);
}

/// A load of two clients, each with three transactions of this script.
fn three_each(script: &str, protocol: &str, think_time_s: f64) -> Value {
    let server = FakeServer::start();
    let steps = json!([{"clients": 2, "duration_s": null, "measured": true}]);
    let mut configuration = configuration(&server, script, steps);
    configuration["transactions_per_client"] = json!(3);
    configuration["protocol"] = json!(protocol);
    configuration["think_time_s"] = json!(think_time_s);
    result(&finished(&configuration))
}

#[test]
fn an_answer_that_nothing_asked_for_is_no_transaction() {
    let (complete, ready) = (message(b'C', b"DONE\0"), message(b'Z', b"I"));
    for said in [
        ready.clone(),
        format!("{complete}{ready}"),
        complete,
        message(b'D', b"\0\0"),
        message(b'1', b""),
        message(b'G', b"\0\0\0"),
    ] {
        let is_row = said == message(b'D', b"\0\0");
        for protocol in ["simple", "prepared"] {
            // In one packet with the answer, where the next statement is written but not sent.
            let result = three_each(&format!("ok;\nafter {said};\nok;"), protocol, 0.0);
            // Rows that nothing takes are skipped unread.
            let expected = if is_row { [6, 0, 0] } else { [0, 2, 2] };
            let keys = ["transactions", "failed", "lost_connections"];
            let found = keys.map(|key| result[key].as_u64().unwrap());
            assert_eq!(found, expected, "{said}: {result}");
            // Between transactions.
            let result = three_each(&format!("after {said};"), protocol, 0.1);
            let expected = if is_row { [6, 0, 0] } else { [2, 0, 2] };
            assert_eq!(
                keys.map(|key| result[key].as_u64().unwrap()),
                expected,
                "{said}"
            );
            if !is_row {
                let reason = "connection lost: the server broke the protocol: an answer that \
                              nothing asked for";
                assert_eq!(result["first_error"]["message"], reason);
            }
        }
    }
}

#[test]
fn a_row_that_is_not_as_described_breaks_the_protocol() {
    let column = message(b'T', b"\0\x01v\0\0\0\0\0\0\0\0\0\0\x19\xff\xff\0\0\0\0\0\0");
    for row in [
        message(b'D', b"\0\x01\xff\xff\xff\xf9"),
        message(b'D', b"\0\x01\x7f\xff\xff\xff"),
        message(b'D', b"\0\x02\0\0\0\x01a\0\0\0\x01b"),
        message(b'D', b"\0\0"),
        message(b'D', b"\0\x01\0\0\0\x01ab"),
        hex(b'D', (256 << 20) + 5, b""),
    ] {
        for capture in ["gset", "aset"] {
            let result = three_each(&format!("raw {column}{row} \\{capture}"), "prepared", 0.0);
            assert_eq!(result["lost_connections"], 2, "{row} {result}");
            assert_eq!(result["transactions"], 0);
        }
    }
}

#[test]
fn the_reason_of_a_session_that_the_server_ends_is_kept() {
    let fatal = message(b'E', b"SFATAL\0VFATAL\0C57P01\0Mterminating connection\0\0");
    for (script, think_time_s, counts, place) in [
        // Between transactions; in a pause of a transaction; while a statement runs.
        (format!("leave {fatal};"), 0.2, [2, 0, 2], ""),
        (
            format!("leave {fatal};\n\\sleep 5 s\nok;"),
            0.0,
            [0, 2, 2],
            "s.sql:2: ",
        ),
        (format!("ok;\nquit {fatal};"), 0.0, [0, 2, 2], "s.sql:2: "),
    ] {
        let result = three_each(&script, "simple", think_time_s);
        let keys = ["transactions", "failed", "lost_connections"];
        assert_eq!(
            keys.map(|key| result[key].as_u64().unwrap()),
            counts,
            "{script}"
        );
        assert_eq!(result["connections"]["count"], 2);
        let first = &result["first_error"];
        let reason = format!("{place}connection lost: FATAL 57P01: terminating connection");
        assert_eq!(first["message"], json!(reason), "{script}");
        assert_eq!(first["sqlstate"], "57P01");
        let errors = if counts[1] > 0 {
            json!({"connection": 2})
        } else {
            json!({})
        };
        assert_eq!(result["scenarios"][0]["errors"], errors);
    }
}

#[test]
fn notices_and_errors_that_nothing_asked_for_change_nothing() {
    let notices = message(b'N', b"SNOTICE\0C00000\0Mhello\0\0").repeat(1000);
    let error = message(b'E', b"SERROR\0VERROR\0C22012\0Mstray\0\0");
    for said in [notices, error] {
        let result = three_each(&format!("after {said};"), "prepared", 0.05);
        assert_eq!(
            (&result["transactions"], &result["failed"]),
            (&json!(6), &json!(0))
        );
    }
}

#[test]
fn notices_without_end_neither_fill_the_memory_nor_hold_up_the_end() {
    for transport in ["auto", "epoll"] {
        let server = FakeServer::start();
        let steps = json!([step(2, 30.0, true)]);
        let mut configuration = configuration(&server, "flood;", steps);
        configuration["transport"] = json!(transport);
        let load = Load::new(&configuration.to_string()).unwrap();
        load.connect().unwrap();
        load.start(None).unwrap();
        assert!(!load.wait(Duration::from_millis(500)).unwrap());
        let before = resident_bytes();
        assert!(!load.wait(Duration::from_millis(500)).unwrap());
        assert!(resident_bytes() < before + (64 << 20));
        load.stop();
        assert!(load.wait(Duration::from_secs(10)).unwrap());
        assert_eq!(result(&load)["transactions"], 0);
    }
}

fn resident_bytes() -> u64 {
    let status = std::fs::read_to_string("/proc/self/statm").unwrap();
    let pages: u64 = status.split(' ').nth(1).unwrap().parse().unwrap();
    pages * 4096
}

#[test]
fn answers_without_end_while_statements_are_prepared_are_given_up() {
    let endless = message(b'N', &[b'x'; 20_000]);
    for (said, problem) in [
        (
            message(b'Z', b"I"),
            "ReadyForQuery before the statement was prepared",
        ),
        (endless.repeat(1000), "does not end"),
    ] {
        let server = FakeServer::start();
        server.say_when_preparing(&said);
        let configuration = configuration(&server, "ok;", json!([step(1, 0.1, true)]));
        let load = Load::new(&configuration.to_string()).unwrap();
        let error = load.connect().unwrap_err().to_string();
        assert!(error.contains(problem), "{error}");
    }
}
