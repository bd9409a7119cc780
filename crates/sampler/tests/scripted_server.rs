//! The sampler against a server that says exactly what the test wants.

#![allow(
    clippy::unwrap_used,
    reason = "helpers of tests are tests, which clippy cannot know"
)]

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::thread;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use pgassay_sampler::{Configuration, NameId, Sampler, SamplerError};
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
const BEGUN_US: i64 = 1_700_000_000_123_456;
const DAY: Duration = Duration::from_secs(86_400);

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
struct Mood {
    hangs_up: AtomicBool,
    /// Turns every login away; the logins that were.
    refuses: AtomicBool,
    refused: AtomicU32,
}

/// Serves one connection until the client leaves or the server hangs up.
fn serve(mut stream: TcpStream, mood: &Mood) -> std::io::Result<()> {
    let mut head = [0; 4];
    stream.read_exact(&mut head)?;
    stream.read_exact(&mut vec![0; u32::from_be_bytes(head) as usize - 4])?;
    if mood.refuses.load(Ordering::SeqCst) {
        mood.refused.fetch_add(1, Ordering::SeqCst);
        return stream.write_all(&message(b'E', b"VFATAL\0C28P01\0Mno\0\0"));
    }
    stream.write_all(GREETING)?;
    let mut statements: Vec<String> = Vec::new();
    let mut reply = Vec::new();
    loop {
        let mut head = [0; 5];
        stream.read_exact(&mut head)?;
        if mood.hangs_up.load(Ordering::SeqCst) {
            return Ok(());
        }
        let length = u32::from_be_bytes([head[1], head[2], head[3], head[4]]) as usize;
        let mut body = vec![0; length - 4];
        stream.read_exact(&mut body)?;
        let texts: Vec<_> = body.split(|byte| *byte == 0).collect();
        let text = |n: usize| String::from_utf8_lossy(texts[n]).into_owned();
        match head[0] {
            b'Q' => reply.extend([message(b'C', b"SET\0"), READY.to_vec()].concat()),
            b'P' => {
                statements.push(text(1));
                let waits = [
                    "busy",
                    "idle",
                    "hidden",
                    "late",
                    "stressed busy",
                    "a day behind",
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
                if statements[number] == "late" {
                    thread::sleep(Duration::from_millis(25));
                }
                reply.extend(answer(&statements[number]));
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

fn server() -> (u16, Arc<Mood>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let mood = Arc::new(Mood::default());
    let given = Arc::clone(&mood);
    thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let mood = Arc::clone(&given);
            thread::spawn(move || serve(stream, &mood));
        }
    });
    (port, mood)
}

fn sampler(port: u16, waits: &str, counters: &[&str], board: Option<Arc<Board>>) -> Sampler {
    let counters: Vec<String> = counters
        .iter()
        .map(|sql| format!(r#"{{"source": "s {sql}", "sql": "{sql}", "every_s": 0.01}}"#))
        .collect();
    let text = format!(
        r#"{{"connection": {{"host": "127.0.0.1", "port": {port}, "user": "u", "dbname": "d"}},
            "waits": {{"sql": "{waits}", "every_s": 0.01, "jitter": 0.5}},
            "counters": [{}], "host": null}}"#,
        counters.join(", ")
    );
    Sampler::new(Configuration::from_json(&text).unwrap(), board)
}

fn until(what: &str, mut happened: impl FnMut() -> bool) {
    let begun = Instant::now();
    while !happened() {
        assert!(begun.elapsed() < Duration::from_secs(20), "waiting: {what}");
        thread::sleep(Duration::from_millis(5));
    }
}

#[test]
fn a_busy_backend_is_told_with_its_scenario_and_the_start_of_its_transaction() {
    let (port, _) = server();
    let board = Board::new(1, vec!["payment".into()]);
    board.seat(0, 4711);
    board.enter(0, 0);
    let sampler = sampler(port, "busy", &[], Some(board));
    sampler.start().unwrap();
    until("ticks", || sampler.cost().wait_ticks >= 5);
    sampler.stop();
    let waits = sampler.take_waits();
    let name = |id: Option<NameId>| id.map(|id| &*waits.names[id.index()]);
    assert!(waits.tick_ns.len() >= 5);
    assert!(waits.tick_ns.is_sorted());
    assert_eq!(waits.pid[0], Some(4711));
    assert_eq!(waits.leader_pid[0], None);
    assert_eq!(name(waits.wait_event[0]), Some("WalSync"));
    assert_eq!(name(waits.scenario[0]), Some("payment"));
    assert_eq!(waits.query_id[0], Some(-7));
    let start_ns = Some((BEGUN_US * 1000) & !((1 << 20) - 1));
    assert!(waits.xact_start_ns.iter().all(|found| *found == start_ns));
    assert!(sampler.take_waits().tick_ns.is_empty(), "taken once");
    assert!(sampler.warnings().is_empty());
    assert!(sampler.cost().cpu_s > 0.0);
}

#[test]
fn starts_of_transactions_are_on_our_axis_however_wrong_the_servers_clock_is() {
    let (port, _) = server();
    let sampler = sampler(port, "a day behind", &[], None);
    sampler.start().unwrap();
    until("ticks", || sampler.cost().wait_ticks >= 3);
    sampler.stop();
    let begun_ns = BEGUN_US * 1000 + i64::try_from(DAY.as_nanos()).unwrap();
    for start_ns in sampler.take_waits().xact_start_ns {
        // Half a round trip at most, and that the machine may be busy.
        assert!((start_ns.unwrap() - begun_ns).abs() < 1_000_000_000);
    }
}

#[test]
fn a_tick_that_finds_nobody_has_a_row_of_its_own() {
    let (port, _) = server();
    let sampler = sampler(port, "idle", &[], None);
    sampler.start().unwrap();
    until("ticks", || sampler.cost().wait_ticks >= 3);
    sampler.stop();
    sampler.stop();
    let waits = sampler.take_waits();
    assert_eq!(waits.tick_ns.len() as u64, sampler.cost().wait_ticks);
    assert!(waits.pid.iter().all(Option::is_none));
    assert!(matches!(sampler.start(), Err(SamplerError::AlreadyStarted)));
}

#[test]
fn what_the_server_hides_is_a_warning_and_no_row() {
    let (port, _) = server();
    let sampler = sampler(port, "hidden", &[], None);
    sampler.start().unwrap();
    until("ticks", || sampler.cost().wait_ticks >= 2);
    sampler.stop();
    assert!(sampler.take_waits().pid.iter().all(Option::is_none));
    assert_eq!(sampler.warnings().len(), 1);
    assert!(sampler.warnings()[0].contains("pg_monitor"));
}

#[test]
fn a_server_that_answers_slowly_is_asked_less_often_only_where_that_is_wanted() {
    for (share, rests) in [("0.2", true), ("null", false)] {
        let (port, _) = server();
        let text = format!(
            r#"{{"connection": {{"host": "127.0.0.1", "port": {port}, "user": "u", "dbname": "d"}},
                "waits": {{"sql": "late", "every_s": 0.01, "jitter": 0.5}},
                "host": null, "busy_share": {share}}}"#
        );
        let sampler = Sampler::new(Configuration::from_json(&text).unwrap(), None);
        sampler.start().unwrap();
        until("ticks", || sampler.cost().wait_ticks >= 4);
        sampler.stop();
        let cost = sampler.cost();
        // Each answer takes 25 ms, so each rest 100 ms: ten ticks of the clock, less jitter.
        let least = if rests { 8 * (cost.wait_ticks - 1) } else { 0 };
        assert!(cost.rested_ticks >= least, "{cost:?}");
        assert_eq!(cost.rested_ticks > 0, rests, "{cost:?}");
    }
}

#[test]
fn a_glance_takes_nothing_away() {
    let (port, _) = server();
    let sampler = sampler(port, "busy", &["io"], None);
    sampler.start().unwrap();
    until("readings", || {
        sampler.cost().counter_reads >= 1 && sampler.cost().wait_ticks >= 3
    });
    sampler.stop();
    let seen = sampler.glance(&["s io".to_owned()]);
    assert_eq!(seen, sampler.glance(&["s io".to_owned()]));
    let ticks = sampler.take_waits().tick_ns.len();
    assert!(seen.contains(&format!(r#""IO:WalSync":{ticks}"#)), "{seen}");
    assert!(
        seen.contains(r#""checkpointer/relation":{"read_time_ms":1.5,"reads":41.0}"#),
        "{seen}"
    );
}

#[test]
fn labels_are_joined_and_a_null_gives_no_value() {
    let (port, _) = server();
    let sampler = sampler(port, "idle", &["io"], None);
    sampler.start().unwrap();
    until("a reading", || sampler.cost().counter_reads >= 1);
    sampler.stop();
    let values = sampler.take_counters();
    let read: Vec<_> = (0..3)
        .map(|row| {
            let name = |id: NameId| &*values.names[id.index()];
            assert_eq!(name(values.source[row]), "s io");
            let object = name(values.object[row]);
            (object, name(values.name[row]), values.value[row])
        })
        .collect();
    assert_eq!(
        read,
        [
            ("checkpointer/relation", "reads", 41.0),
            ("checkpointer/relation", "read_time_ms", 1.5),
            ("walwriter/", "read_time_ms", 0.0),
        ]
    );
    assert_eq!(values.time_ns[0], values.time_ns[2]);
}

#[test]
fn a_query_that_fails_is_dropped_with_one_warning_and_the_others_go_on() {
    let (port, _) = server();
    let queries = ["nonsense", "divide", "slow", "io"];
    let sampler = sampler(port, "io", &queries, None);
    sampler.start().unwrap();
    until("readings", || sampler.cost().counter_reads >= 5);
    sampler.stop();
    let mut warnings = sampler.warnings();
    warnings.sort();
    assert_eq!(warnings.len(), 4, "{warnings:?}");
    assert!(warnings[0].starts_with("s divide ") && warnings[0].contains("22012"));
    assert!(warnings[1].starts_with("s nonsense ") && warnings[1].contains("42601"));
    assert!(warnings[2].starts_with("s slow ") && warnings[2].contains("57014"));
    assert!(warnings[3].starts_with("waits ") && warnings[3].contains("xact_start_us"));
    assert_eq!(sampler.cost().wait_ticks, 0);
}

#[test]
fn a_query_that_cannot_be_made_ready_for_the_moment_is_tried_again() {
    let (port, _) = server();
    let sampler = sampler(port, "stressed busy", &["stressed io", "absent"], None);
    sampler.start().unwrap();
    until("both", || {
        let cost = sampler.cost();
        cost.wait_ticks >= 3 && cost.counter_reads >= 3
    });
    sampler.stop();
    let told = |code: &str| {
        sampler
            .warnings()
            .iter()
            .filter(|w| w.contains(code))
            .count()
    };
    assert_eq!(
        (told("53200"), told("55000")),
        (2, 1),
        "{:?}",
        sampler.warnings()
    );
    let values = sampler.take_counters();
    assert!(values.value.contains(&41.0));
}

#[test]
fn sampling_goes_on_after_the_server_was_away_with_one_warning() {
    let (port, mood) = server();
    let sampler = sampler(port, "busy", &["io"], None);
    sampler.start().unwrap();
    until("ticks", || sampler.cost().wait_ticks >= 3);
    mood.hangs_up.store(true, Ordering::SeqCst);
    until("the loss", || !sampler.warnings().is_empty());
    thread::sleep(Duration::from_millis(100));
    let (ticks, reads) = (sampler.cost().wait_ticks, sampler.cost().counter_reads);
    mood.hangs_up.store(false, Ordering::SeqCst);
    until("both back", || {
        let cost = sampler.cost();
        cost.wait_ticks > ticks + 3 && cost.counter_reads > reads + 3
    });
    sampler.stop();
    assert_eq!(sampler.warnings().len(), 1, "{:?}", sampler.warnings());
}

#[test]
fn a_login_that_is_refused_is_not_tried_over_and_over() {
    let ((port, mood), (other, _)) = (server(), server());
    let (refused, clock) = (
        sampler(port, "busy", &["io"], None),
        sampler(other, "busy", &[], None),
    );
    refused.start().unwrap();
    until("ticks", || refused.cost().wait_ticks >= 3);
    mood.refuses.store(true, Ordering::SeqCst);
    mood.hangs_up.store(true, Ordering::SeqCst);
    until("both refused", || mood.refused.load(Ordering::SeqCst) == 2);
    clock.start().unwrap();
    // Two seconds, in which there were four tries of each once.
    until("a while", || clock.cost().wait_ticks >= 200);
    assert_eq!(mood.refused.load(Ordering::SeqCst), 2);
    refused.stop();
    clock.stop();
}

#[test]
fn nobody_listening_is_told_at_the_start_and_one_may_try_again() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    drop(listener);
    let sampler = sampler(port, "busy", &[], None);
    for _ in 0..2 {
        let error = sampler.start().unwrap_err();
        assert!(matches!(error, SamplerError::Connection(_)), "{error}");
    }
}
