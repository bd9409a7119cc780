//! A server that says exactly what a test wants, and samplers of it.
//!
//! Enters: the name of an answer in place of SQL. Leaves: that answer, in PostgreSQL's protocol. Never:
//! listens beyond loopback.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use pgassay_sampler::{Configuration, Sampler};
use pgassay_session::board::Board;

const GREETING: &[u8] = b"R\0\0\0\x08\0\0\0\0K\0\0\0\x0c\0\0\x12\x67\0\0\0\x01Z\0\0\0\x05I";
const READY: &[u8] = b"Z\0\0\0\x05I";

const WAITS: &[(&str, u32)] = &[
    ("pid", 23),
    ("leader_pid", 23),
    ("backend_type", 25),
    ("state", 25),
    ("wait_event_type", 25),
    ("wait_event", 25),
    ("query_id", 20),
    ("xact_start_us", 20),
    ("clock_us", 20),
];
const IO: &[(&str, u32)] = &[
    ("backend_type", 25),
    ("reads", 20),
    ("object", 25),
    ("read_time_ms", 701),
];

/// When the busy backend's transaction began.
pub const BEGUN_US: i64 = 1_700_000_000_123_456;
pub const DAY: Duration = Duration::from_secs(86_400);

fn clock_us(behind: Duration) -> i64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
    i64::try_from((now - behind).as_micros()).unwrap()
}

fn message(tag: u8, body: &[u8]) -> Vec<u8> {
    let length = u32::try_from(body.len() + 4).unwrap();
    [&[tag], &length.to_be_bytes()[..], body].concat()
}

fn described(columns: &[(&str, u32)]) -> Vec<u8> {
    let mut body = u16::try_from(columns.len()).unwrap().to_be_bytes().to_vec();
    for (name, type_oid) in columns {
        body.extend_from_slice(name.as_bytes());
        body.extend_from_slice(&[0; 7]);
        body.extend_from_slice(&type_oid.to_be_bytes());
        body.extend_from_slice(&[0; 8]);
    }
    message(b'T', &body)
}

fn row(values: &[Option<&[u8]>]) -> Vec<u8> {
    let mut body = u16::try_from(values.len()).unwrap().to_be_bytes().to_vec();
    for value in values {
        match value {
            Some(value) => {
                body.extend_from_slice(&u32::try_from(value.len()).unwrap().to_be_bytes());
                body.extend_from_slice(value);
            }
            None => body.extend_from_slice(&[0xff; 4]),
        }
    }
    message(b'D', &body)
}

fn answer(sql: &str) -> Vec<u8> {
    match sql {
        "busy" | "stressed busy" | "a day behind" => row(&[
            Some(&4711_i32.to_be_bytes()),
            None,
            Some(b"client backend"),
            Some(b"active"),
            Some(b"IO"),
            Some(b"WalSync"),
            Some(&(-7_i64).to_be_bytes()),
            Some(&BEGUN_US.to_be_bytes()),
            Some(
                &clock_us(if sql == "a day behind" {
                    DAY
                } else {
                    Duration::ZERO
                })
                .to_be_bytes(),
            ),
        ]),
        "in parallel" => row(&[
            Some(&4712_i32.to_be_bytes()),
            Some(&4711_i32.to_be_bytes()),
            Some(b"parallel worker"),
            Some(b"active"),
            None,
            None,
            Some(&(-7_i64).to_be_bytes()),
            Some(&BEGUN_US.to_be_bytes()),
            Some(&clock_us(Duration::ZERO).to_be_bytes()),
        ]),
        "hidden" => row(&[
            Some(&1_i32.to_be_bytes()),
            None,
            None,
            None,
            None,
            None,
            None,
            None,
            None,
        ]),
        "io" | "stressed io" => [
            row(&[
                Some(b"checkpointer"),
                Some(&41_i64.to_be_bytes()),
                Some(b"relation"),
                Some(&1.5_f64.to_be_bytes()),
            ]),
            row(&[Some(b"walwriter"), None, None, Some(&0_f64.to_be_bytes())]),
        ]
        .concat(),
        "divide" => message(b'E', b"VERROR\0C22012\0Mdivision by zero\0\0"),
        "slow" => message(b'E', b"VERROR\0C57014\0Mstatement timeout\0\0"),
        _ => Vec::new(),
    }
}

/// What the server does to everybody.
#[derive(Default)]
pub struct ServerState {
    pub hangs_up: AtomicBool,
    /// Turns every login away; the logins that were.
    pub refuses: AtomicBool,
    pub refused: AtomicU32,
    /// Answers that it took its time for.
    pub late: AtomicU32,
    /// What was asked of it outside the extended protocol.
    pub said: Mutex<Vec<String>>,
}

/// Serves one connection until the client leaves or the server hangs up.
fn serve(mut stream: TcpStream, state: &ServerState) -> std::io::Result<()> {
    let mut head = [0; 4];
    stream.read_exact(&mut head)?;
    stream.read_exact(&mut vec![0; u32::from_be_bytes(head) as usize - 4])?;
    if state.refuses.load(Ordering::SeqCst) {
        state.refused.fetch_add(1, Ordering::SeqCst);
        return stream.write_all(&message(b'E', b"VFATAL\0C28P01\0Mno\0\0"));
    }
    stream.write_all(GREETING)?;
    let mut statements: Vec<String> = Vec::new();
    let mut reply = Vec::new();
    loop {
        let mut head = [0; 5];
        stream.read_exact(&mut head)?;
        if state.hangs_up.load(Ordering::SeqCst) {
            return Ok(());
        }
        let length = u32::from_be_bytes([head[1], head[2], head[3], head[4]]) as usize;
        let mut body = vec![0; length - 4];
        stream.read_exact(&mut body)?;
        let texts: Vec<_> = body.split(|byte| *byte == 0).collect();
        let text = |n: usize| String::from_utf8_lossy(texts[n]).into_owned();
        match head[0] {
            b'Q' => {
                state.said.lock().unwrap().push(text(0));
                reply.extend([message(b'C', b"SET\0"), READY.to_vec()].concat());
            }
            b'P' => {
                statements.push(text(1));
                let waits = [
                    "busy",
                    "idle",
                    "hidden",
                    "late",
                    "stressed busy",
                    "a day behind",
                    "in parallel",
                ];
                let columns = if waits.contains(&text(1).as_str()) {
                    WAITS
                } else {
                    IO
                };
                let asked = statements.iter().filter(|sql| **sql == text(1)).count();
                if text(1) == "nonsense" {
                    reply.extend(message(b'E', b"VERROR\0C42601\0Msyntax error\0\0"));
                } else if text(1) == "absent" {
                    reply.extend(message(b'E', b"VERROR\0C55000\0Mnot preloaded\0\0"));
                } else if text(1).starts_with("stressed") && asked <= 2 {
                    reply.extend(message(b'E', b"VERROR\0C53200\0Mout of memory\0\0"));
                } else {
                    let parsed = [message(b'1', b""), message(b't', b"\0\0")].concat();
                    reply.extend([parsed, described(columns)].concat());
                }
            }
            b'B' => {
                // Portal "", statement "sN".
                let number: usize = text(1)[1..].parse().unwrap();
                reply.extend(message(b'2', b""));
                if statements[number].starts_with("late") {
                    state.late.fetch_add(1, Ordering::SeqCst);
                    thread::sleep(Duration::from_millis(25));
                }
                let answer = answer(&statements[number]);
                if answer.first() != Some(&b'E') {
                    reply.extend([&answer, &message(b'C', b"SELECT 1\0")[..]].concat());
                } else {
                    reply.extend(answer);
                }
            }
            b'S' => reply.extend(READY),
            b'X' => return Ok(()),
            _ => {}
        }
        if matches!(head[0], b'Q' | b'S') {
            stream.write_all(&reply)?;
            reply.clear();
        }
    }
}

pub fn server() -> (u16, Arc<ServerState>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let state = Arc::new(ServerState::default());
    let given = Arc::clone(&state);
    thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let state = Arc::clone(&given);
            thread::spawn(move || serve(stream, &state));
        }
    });
    (port, state)
}

pub fn sampler(port: u16, waits: &str, counters: &[&str], board: Option<Arc<Board>>) -> Sampler {
    let counters: Vec<String> = counters
        .iter()
        .map(|sql| format!(r#"{{"source": "s {sql}", "sql": "{sql}", "every_s": 0.01}}"#))
        .collect();
    sampler_of(port, waits, &counters.join(", "), "null", board)
}

/// The same with whole counter queries and a share of the time.
pub fn sampler_of(
    port: u16,
    waits: &str,
    counters: &str,
    busy_share: &str,
    board: Option<Arc<Board>>,
) -> Sampler {
    let text = format!(
        r#"{{"connection": {{"host": "127.0.0.1", "port": {port}, "user": "u", "dbname": "d"}},
            "waits": {{"sql": "{waits}", "every_s": 0.01, "jitter": 0.5}},
            "counters": [{counters}], "host": null, "busy_share": {busy_share}}}"#
    );
    Sampler::new(Configuration::from_json(&text).unwrap(), board)
}

pub fn until(what: &str, mut happened: impl FnMut() -> bool) {
    let begun = Instant::now();
    while !happened() {
        assert!(begun.elapsed() < Duration::from_secs(20), "waiting: {what}");
        thread::sleep(Duration::from_millis(5));
    }
}
