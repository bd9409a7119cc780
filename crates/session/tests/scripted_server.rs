//! A session against a server that says exactly what the test wants.

#![allow(
    clippy::unwrap_used,
    reason = "helpers of tests are tests, which clippy cannot know"
)]

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use pgassay_session::client::Client;
use pgassay_session::tls::TlsParameters;
use pgassay_session::{Endpoint, Keepalive, Session, SessionError};

const AUTHENTICATED: &[u8] = b"R\0\0\0\x08\0\0\0\0";
const READY: &[u8] = b"Z\0\0\0\x05I";

fn message(tag: u8, body: &[u8]) -> Vec<u8> {
    let length = u32::try_from(body.len() + 4).unwrap();
    [&[tag], &length.to_be_bytes()[..], body].concat()
}

fn greeting() -> Vec<u8> {
    [
        AUTHENTICATED,
        &message(b'S', b"server_version\x0018.4\0"),
        &message(b'K', b"\0\0\x12\x67\0\0\0\x01"),
        READY,
    ]
    .concat()
}

/// Reads the start-up message, then hands over.
fn server<F>(talk: F) -> (Endpoint, JoinHandle<()>)
where
    F: FnOnce(TcpStream) + Send + 'static,
{
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let endpoint = Endpoint {
        host: "127.0.0.1".into(),
        hostaddr: String::new(),
        port: listener.local_addr().unwrap().port(),
        user: "user".into(),
        password: Some("s3cret".into()),
        dbname: "bank".into(),
        options: "-c search_path=bank".into(),
        parameters: [("geqo".to_owned(), "off".to_owned())].into(),
        connect_timeout_s: 0.3,
        tls: TlsParameters::default(),
        require_auth: String::new(),
        keepalive: Keepalive::default(),
    };
    let thread = thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        let mut length = [0; 4];
        stream.read_exact(&mut length).unwrap();
        let mut rest = vec![0; u32::from_be_bytes(length) as usize - 4];
        stream.read_exact(&mut rest).unwrap();
        let text = String::from_utf8_lossy(&rest).into_owned();
        assert!(text.contains("application_name\0pgassay\0"));
        assert!(text.contains("options\0-c search_path=bank\0"));
        assert!(text.contains("geqo\0off\0"));
        assert!(!text.contains("client_encoding"));
        talk(stream);
    });
    (endpoint, thread)
}

/// Reads one message of the client and returns its tag and body.
fn receive(stream: &mut TcpStream) -> (u8, Vec<u8>) {
    let mut head = [0; 5];
    stream.read_exact(&mut head).unwrap();
    let length = u32::from_be_bytes([head[1], head[2], head[3], head[4]]) as usize;
    let mut body = vec![0; length - 4];
    stream.read_exact(&mut body).unwrap();
    (head[0], body)
}

fn receive_until_sync(stream: &mut TcpStream) {
    while receive(stream).0 != b'S' {}
}

fn open_error(endpoint: &Endpoint) -> SessionError {
    Session::open(endpoint, "pgassay").err().unwrap()
}

#[test]
fn a_greeting_is_remembered_even_when_it_comes_byte_by_byte() {
    let (endpoint, thread) = server(|mut stream| {
        for byte in greeting() {
            stream.write_all(&[byte]).unwrap();
        }
        assert_eq!(stream.read(&mut [0]).unwrap(), 0);
    });
    let session = Session::open(&endpoint, "pgassay").unwrap();
    assert_eq!(session.backend_pid(), 0x1267);
    assert_eq!(session.parameter("server_version"), Some("18.4"));
    assert_eq!(session.parameter("no_such"), None);
    drop(session.into_stream());
    thread.join().unwrap();
}

#[test]
fn a_cleartext_password_is_sent_when_asked_for() {
    let (endpoint, thread) = server(|mut stream| {
        stream.write_all(b"R\0\0\0\x08\0\0\0\x03").unwrap();
        assert_eq!(receive(&mut stream), (b'p', b"s3cret\0".to_vec()));
        stream.write_all(&greeting()).unwrap();
    });
    Session::open(&endpoint, "pgassay").unwrap();
    thread.join().unwrap();
}

#[test]
fn a_method_that_is_not_known_is_named() {
    let (endpoint, thread) = server(|mut stream| {
        stream.write_all(b"R\0\0\0\x08\0\0\0\x07").unwrap();
    });
    let error = open_error(&endpoint);
    assert!(matches!(error, SessionError::Authentication { .. }));
    assert!(error.to_string().contains("GSSAPI"));
    thread.join().unwrap();
}

#[test]
fn a_refusal_keeps_its_sqlstate_and_names_the_place() {
    let (endpoint, thread) = server(|mut stream| {
        let body = b"SFATAL\0VFATAL\0C53300\0Msorry, too many clients already\0\0";
        stream.write_all(&message(b'E', body)).unwrap();
    });
    let error = open_error(&endpoint);
    assert_eq!(error.sqlstate(), Some("53300"));
    let text = error.to_string();
    assert!(text.contains("127.0.0.1:") && text.contains("\"user\""));
    assert!(text.contains("max_connections") && !text.contains('\n'));
    assert!(!text.contains("s3cret"));
    thread.join().unwrap();
}

#[test]
fn a_silent_server_is_given_up_in_time() {
    let (endpoint, thread) = server(|mut stream| {
        let _ = stream.read(&mut [0]);
    });
    let begun = Instant::now();
    assert!(matches!(
        open_error(&endpoint),
        SessionError::ConnectTimedOut { .. }
    ));
    assert!(begun.elapsed() >= Duration::from_millis(290));
    assert!(begun.elapsed() < Duration::from_secs(5));
    thread.join().unwrap();
}

#[test]
fn a_server_that_drips_is_given_up_in_time_too() {
    let (endpoint, thread) = server(|mut stream| {
        while stream.write_all(&message(b'N', b"\0")).is_ok() {
            thread::sleep(Duration::from_millis(20));
        }
    });
    assert!(matches!(
        open_error(&endpoint),
        SessionError::ConnectTimedOut { .. }
    ));
    thread.join().unwrap();
}

#[test]
fn something_that_is_no_postgresql_is_told_so() {
    let (endpoint, thread) = server(|mut stream| {
        stream
            .write_all(b"HTTP/1.1 400 Bad Request\r\n\r\n")
            .unwrap();
    });
    let error = open_error(&endpoint).to_string();
    assert!(error.contains("127.0.0.1:"), "{error}");
    thread.join().unwrap();
}

#[test]
fn what_is_no_message_is_told_without_waiting_for_the_rest_of_it() {
    let long = [&b"R"[..], &i32::MAX.to_be_bytes()].concat();
    let negative = [&b"R"[..], &(-1i32).to_be_bytes(), &[0; 8]].concat();
    let none = [&b"R"[..], &[0; 12]].concat();
    let copy = message(b'G', &[0; 7]);
    for (said, problem) in [
        (
            &b"HTTP/1.1 400 Bad Request\r\n\r\n"[..],
            "does not speak PostgreSQL's protocol",
        ),
        (
            b"SSH-2.0-OpenSSH_9.2p1 Debian\r\n",
            "does not speak PostgreSQL's protocol",
        ),
        (&long, "does not speak PostgreSQL's protocol"),
        (&negative, "does not speak PostgreSQL's protocol"),
        (&none, "does not speak PostgreSQL's protocol"),
        (&copy, "does not speak PostgreSQL's protocol"),
        (
            b"Ecould not fork new process for connection: Out of memory\n\0",
            "could not fork new process for connection: Out of memory",
        ),
        (
            b"EFATAL:  unsupported frontend protocol\0",
            "FATAL:  unsupported frontend protocol",
        ),
    ] {
        let said = said.to_vec();
        // It says no more, and does not hang up before the client does.
        let (endpoint, thread) = server(move |mut stream| {
            stream.write_all(&said).unwrap();
            let _ = stream.read_to_end(&mut Vec::new());
        });
        let error = open_error(&endpoint);
        assert!(
            !matches!(error, SessionError::ConnectTimedOut { .. }),
            "{error}"
        );
        assert!(error.to_string().contains(problem), "{error}");
        thread.join().unwrap();
    }
}

#[test]
fn nobody_listening_is_unreachable() {
    let (endpoint, thread) = server(drop);
    let _ = open_error(&endpoint);
    thread.join().unwrap();
    assert!(matches!(
        open_error(&endpoint),
        SessionError::Unreachable { .. }
    ));
}

#[test]
fn rows_are_decoded_and_an_error_leaves_the_client_usable() {
    let (endpoint, thread) = server(|mut stream| {
        stream.write_all(&greeting()).unwrap();
        // Prepare: two columns, int4 and text.
        receive_until_sync(&mut stream);
        let column = |name: &[u8], type_oid: u32| {
            [name, b"\0\0\0\0\0\0\0", &type_oid.to_be_bytes(), &[0; 8]].concat()
        };
        let columns = [b"\0\x02".to_vec(), column(b"pid", 23), column(b"state", 25)].concat();
        let described = [
            message(b'1', b""),
            message(b't', b"\0\0"),
            message(b'T', &columns),
            READY.to_vec(),
        ];
        stream.write_all(&described.concat()).unwrap();
        // Query: a row, a notice, a row with NULL.
        receive_until_sync(&mut stream);
        let answer = [
            message(b'2', b""),
            message(b'D', b"\0\x02\0\0\0\x04\0\0\0\x2a\0\0\0\x04idle"),
            message(b'N', b"SNOTICE\0\0"),
            message(b'D', b"\0\x02\xff\xff\xff\xff\xff\xff\xff\xff"),
            message(b'C', b"SELECT 2\0"),
            READY.to_vec(),
        ];
        stream.write_all(&answer.concat()).unwrap();
        // Query: an error.
        receive_until_sync(&mut stream);
        let error = message(b'E', b"VERROR\0C57014\0Mcanceling\0\0");
        stream.write_all(&[error, READY.to_vec()].concat()).unwrap();
        // A simple query.
        assert_eq!(receive(&mut stream), (b'Q', b"SET a = 1\0".to_vec()));
        stream
            .write_all(&[message(b'C', b"SET\0"), READY.to_vec()].concat())
            .unwrap();
        assert_eq!(receive(&mut stream).0, b'X');
    });
    let mut client = Client::new(Session::open(&endpoint, "pgassay").unwrap());
    let statement = client.prepare("SELECT …").unwrap();
    assert_eq!(statement.columns[1].name, "state");
    assert_eq!(statement.columns[1].type_oid, 25);

    let mut rows = Vec::new();
    client
        .query(&statement, |row| {
            assert_eq!(row.int8(0), None, "of another type");
            assert_eq!(row.int4(7), None, "not there");
            rows.push((row.int4(0), row.text(1).map(|text| text.into_owned())));
        })
        .unwrap();
    assert_eq!(rows, [(Some(42), Some("idle".to_owned())), (None, None)]);

    let error = client.query(&statement, |_| {}).unwrap_err();
    assert_eq!(error.sqlstate(), Some("57014"));
    assert!(!error.is_fatal());
    client.execute("SET a = 1").unwrap();
    client.close();
    thread.join().unwrap();
}

#[test]
fn a_server_that_goes_away_says_why_and_a_silent_one_times_out() {
    let (endpoint, thread) = server(|mut stream| {
        stream.write_all(&greeting()).unwrap();
        receive(&mut stream);
        let error = message(b'E', b"VFATAL\0C57P01\0Mterminating connection\0\0");
        stream.write_all(&error).unwrap();
    });
    let mut client = Client::new(Session::open(&endpoint, "pgassay").unwrap());
    let error = client.execute("SELECT 1").unwrap_err();
    assert_eq!(error.sqlstate(), Some("57P01"));
    assert!(error.is_fatal());
    thread.join().unwrap();

    let (endpoint, thread) = server(|mut stream| {
        stream.write_all(&greeting()).unwrap();
        while stream.read(&mut [0; 64]).unwrap_or(0) > 0 {}
    });
    let mut client = Client::new(Session::open(&endpoint, "pgassay").unwrap());
    client
        .set_read_timeout(Some(Duration::from_millis(50)))
        .unwrap();
    let error = client.execute("SELECT 1").unwrap_err();
    assert!(matches!(error, SessionError::QueryTimedOut { .. }));
    drop(client);
    thread.join().unwrap();
}

#[test]
fn messages_without_end_do_not_fill_the_memory_while_a_session_is_opened() {
    let parameter = |n: u32| message(b'S', format!("name{n}\0{}\0", "x".repeat(1000)).as_bytes());
    let notice = |_: u32| message(b'N', b"SNOTICE\0Mwait\0\0");
    for (before, said) in [
        (AUTHENTICATED, &parameter as &dyn Fn(u32) -> Vec<u8>),
        (AUTHENTICATED, &notice),
        (b"", &notice),
    ] {
        let endless: Vec<u8> = (0..100_000).flat_map(said).take(4 << 20).collect();
        let (mut endpoint, thread) = server(move |mut stream| {
            let _ = stream.write_all(&[before, &endless].concat());
        });
        endpoint.connect_timeout_s = 120.0;
        let error = open_error(&endpoint);
        assert!(matches!(error, SessionError::Protocol { .. }), "{error}");
        assert!(error.to_string().contains("does not end"), "{error}");
        thread.join().unwrap();
    }
}

#[test]
fn a_second_authentication_is_refused() {
    for said in [&b"R\0\0\0\x08\0\0\0\0"[..], b"R\0\0\0\x08\0\0\0\x03"] {
        let (endpoint, thread) = server(move |mut stream| {
            stream
                .write_all(&[AUTHENTICATED, said, READY].concat())
                .unwrap();
        });
        assert!(matches!(
            open_error(&endpoint),
            SessionError::Protocol { .. }
        ));
        thread.join().unwrap();
    }
}

#[test]
fn more_iterations_of_scram_than_a_client_has_time_for_are_refused() {
    for count in ["100001", "4294967295", "99999999999999", "-1"] {
        let (endpoint, thread) = server(move |mut stream| {
            stream
                .write_all(&message(b'R', b"\0\0\0\x0aSCRAM-SHA-256\0\0"))
                .unwrap();
            let (_, first) = receive(&mut stream);
            let first = String::from_utf8_lossy(&first).into_owned();
            let nonce = first.rsplit_once("r=").unwrap().1;
            let answer = format!("\0\0\0\x0br={nonce}x,s=c2FsdA==,i={count}");
            stream.write_all(&message(b'R', answer.as_bytes())).unwrap();
        });
        let error = open_error(&endpoint).to_string();
        assert!(error.contains("iterations of SCRAM"), "{error}");
        thread.join().unwrap();
    }
}

/// The error of a query of one int4 column that is answered with `answer`.
fn query_error(answer: Vec<u8>, patience: Duration) -> SessionError {
    let (endpoint, thread) = server(move |mut stream| {
        stream.write_all(&greeting()).unwrap();
        receive_until_sync(&mut stream);
        let columns = [b"\0\x01pid\0\0\0\0\0\0\0\0\0\0\x17", &[0; 8][..]].concat();
        let described = [message(b'1', b""), message(b'T', &columns), READY.to_vec()];
        stream.write_all(&described.concat()).unwrap();
        receive_until_sync(&mut stream);
        // The client may close the connection before all is sent.
        let _ = stream.write_all(&answer);
        while stream
            .write_all(&message(b'N', b"SNOTICE\0Mwait\0\0"))
            .is_ok()
        {
            thread::sleep(Duration::from_millis(10));
        }
    });
    let mut client = Client::new(Session::open(&endpoint, "pgassay").unwrap());
    client.set_read_timeout(Some(patience)).unwrap();
    let statement = client.prepare("SELECT …").unwrap();
    let error = client.query(&statement, |_| {}).unwrap_err();
    drop(client);
    thread.join().unwrap();
    error
}

#[test]
fn an_answer_that_breaks_the_protocol_is_an_error() {
    let seven = message(b'D', b"\0\x01\xff\xff\xff\xf9");
    let two = message(b'D', b"\0\x02\0\0\0\x01a\0\0\0\x01b");
    let none = message(b'D', b"\0\0");
    let short = message(b'D', b"\0\x01\0\0\0\x09ab");
    let rest = message(b'D', b"\0\x01\0\0\0\x01ab");
    // It is ready, but has not run anything.
    let ready = READY.to_vec();
    let negative = [&b"D"[..], &(-1i32).to_be_bytes()].concat();
    let huge = [&b"D"[..], &i32::MAX.to_be_bytes()].concat();
    for answer in [seven, two, none, short, rest, ready, negative, huge] {
        let shown = format!("{answer:?}");
        let error = query_error(answer, Duration::from_secs(60));
        assert!(
            matches!(error, SessionError::Protocol { .. }),
            "{shown}: {error}"
        );
        assert!(error.is_fatal());
    }
}

#[test]
fn an_answer_that_only_drips_ends_in_time() {
    let error = query_error(Vec::new(), Duration::from_millis(200));
    assert!(
        matches!(error, SessionError::QueryTimedOut { .. }),
        "{error}"
    );
}
