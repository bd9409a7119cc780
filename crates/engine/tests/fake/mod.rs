//! A server that speaks just enough of the protocol to load it, with known delays and failures.
//!
//! Its SQL: `delay MS`, `fail SQLSTATE`, `failfirst N SQLSTATE`, `row VALUE` (in a column `v`),
//! `work` (which waits while the server is stalled), `begin`, `end`, `rollback`, `hangup`,
//! `garbage`, `never`, `large BYTES`, `raw HEX` (bytes before its end), `after HEX` (bytes after
//! ReadyForQuery), `leave HEX` (the same, and it hangs up), `quit HEX` (hangs up),
//! `flood` (notices without end); anything else succeeds at once. It
//! writes down what it was asked to run.

#![allow(dead_code, reason = "each test file uses a part of it")]

pub mod run;

use std::collections::HashMap;
use std::io::{Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};
use std::thread;
use std::time::Duration;

use rcgen::{CertifiedKey, generate_simple_self_signed};
use rustls::pki_types::PrivateKeyDer;
use rustls::{ServerConfig, ServerConnection, StreamOwned};

#[derive(Default)]
pub struct FakeServer {
    pub port: u16,
    pub statements: Arc<Mutex<Vec<String>>>,
    state: Arc<State>,
}

/// What all connections share.
#[derive(Default)]
struct State {
    stall: Mutex<()>,
    failures: AtomicUsize,
    refuses: AtomicBool,
    streams: Mutex<Vec<TcpStream>>,
    opened: AtomicUsize,
    /// What is said before a statement is prepared.
    preparing: Mutex<Vec<u8>>,
}

impl FakeServer {
    pub fn start() -> FakeServer {
        FakeServer::open(None)
    }

    /// Takes only those who ask for TLS.
    pub fn start_encrypted() -> FakeServer {
        let CertifiedKey { cert, signing_key } =
            generate_simple_self_signed(vec!["localhost".to_owned()]).unwrap();
        let key = PrivateKeyDer::try_from(signing_key.serialize_der()).unwrap();
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let config = ServerConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_no_client_auth()
            .with_single_cert(vec![cert.der().clone()], key)
            .unwrap();
        FakeServer::open(Some(Arc::new(config)))
    }

    fn open(tls: Option<Arc<ServerConfig>>) -> FakeServer {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let statements = Arc::new(Mutex::new(Vec::new()));
        let log = Arc::clone(&statements);
        let state: Arc<State> = Arc::default();
        let server = Arc::clone(&state);
        thread::spawn(move || {
            for stream in listener.incoming() {
                let mut stream = stream.unwrap();
                if server.refuses.load(Ordering::SeqCst) {
                    continue;
                }
                server.opened.fetch_add(1, Ordering::SeqCst);
                let end = stream.try_clone().unwrap();
                server
                    .streams
                    .lock()
                    .unwrap()
                    .push(stream.try_clone().unwrap());
                let (log, state) = (Arc::clone(&log), Arc::clone(&server));
                let tls = tls.clone();
                // A connection that breaks off is the load's affair.
                thread::spawn(move || {
                    stream.set_nodelay(true).unwrap();
                    let stream: Box<dyn Duplex> = match tls {
                        None => Box::new(stream),
                        Some(tls) => {
                            stream.read_exact(&mut [0; 8]).ok()?;
                            stream.write_all(b"S").ok()?;
                            Box::new(StreamOwned::new(
                                ServerConnection::new(tls).unwrap(),
                                stream,
                            ))
                        }
                    };
                    Connection::new(stream, log, state).serve();
                    end.shutdown(Shutdown::Both).ok()
                });
            }
        });
        FakeServer {
            port,
            statements,
            state,
        }
    }

    /// An address at which no server listens.
    pub fn nowhere() -> FakeServer {
        FakeServer {
            port: 1,
            ..FakeServer::default()
        }
    }

    /// No `work` goes on while this is held.
    pub fn stall(&self) -> MutexGuard<'_, ()> {
        self.state.stall.lock().unwrap()
    }

    /// Breaks off every connection and takes no new one.
    pub fn refuse_connections(&self) {
        self.state.refuses.store(true, Ordering::SeqCst);
        for stream in self.state.streams.lock().unwrap().drain(..) {
            // It may be closed already.
            let _ = stream.shutdown(Shutdown::Both);
        }
    }

    pub fn accept_connections(&self) {
        self.state.refuses.store(false, Ordering::SeqCst);
    }

    /// Says this before it answers each Parse.
    pub fn say_when_preparing(&self, hex: &str) {
        *self.state.preparing.lock().unwrap() = bytes_of(hex);
    }

    /// Connections taken so far.
    pub fn opened(&self) -> usize {
        self.state.opened.load(Ordering::SeqCst)
    }

    pub fn count(&self, statement: &str) -> usize {
        let statements = self.statements.lock().unwrap();
        statements.iter().filter(|sql| *sql == statement).count()
    }
}

trait Duplex: Read + Write {}
impl<T: Read + Write> Duplex for T {}

struct Connection {
    stream: Box<dyn Duplex>,
    log: Arc<Mutex<Vec<String>>>,
    state: Arc<State>,
    prepared: HashMap<String, String>,
    bound: String,
    block: u8,
    skipping: bool,
    reply: Vec<u8>,
    after: Vec<u8>,
    leaves: bool,
}

impl Connection {
    fn new(stream: Box<dyn Duplex>, log: Arc<Mutex<Vec<String>>>, state: Arc<State>) -> Connection {
        Connection {
            stream,
            log,
            state,
            prepared: HashMap::new(),
            bound: String::new(),
            block: b'I',
            skipping: false,
            reply: Vec::new(),
            after: Vec::new(),
            leaves: false,
        }
    }

    fn serve(mut self) -> Option<()> {
        // A start-up message, or a request for TLS or to cancel.
        let mut opening = self.body()?;
        if opening == [4, 210, 22, 47] {
            self.log.lock().unwrap().push("tls?".to_owned());
            self.stream.write_all(b"N").ok()?;
            opening = self.body()?;
        }
        if let [4, 210, 22, 46, key @ ..] = opening.as_slice() {
            let key = key.iter().filter(|byte| **byte > 0);
            let key: Vec<String> = key.map(u8::to_string).collect();
            self.log
                .lock()
                .unwrap()
                .push(format!("cancel {}", key.join(" ")));
            return None;
        }
        self.say(b'R', &[0, 0, 0, 0]);
        self.say(b'S', b"server_version\x0018.0\0");
        self.say(b'K', &[0, 0, 0, 7, 0, 0, 0, 9]);
        self.ready()?;
        loop {
            let mut kind = [0];
            self.stream.read_exact(&mut kind).ok()?;
            let body = self.body()?;
            let words: Vec<String> = body
                .split(|byte| *byte == 0)
                .map(|word| String::from_utf8_lossy(word).into_owned())
                .collect();
            match kind[0] {
                b'S' => {
                    self.skipping = false;
                    self.ready()?;
                }
                b'X' => return None,
                _ if self.skipping => {}
                b'P' => {
                    let said = self.state.preparing.lock().unwrap().clone();
                    self.reply.extend(said);
                    self.prepared.insert(words[0].clone(), words[1].clone());
                    self.say(b'1', b"");
                }
                b'B' => {
                    self.bound = self.prepared[&words[1]].clone();
                    self.say(b'2', b"");
                }
                b'D' => self.say(b'n', b""),
                b'E' => {
                    let sql = self.bound.clone();
                    self.skipping = !self.run(&sql)?;
                }
                b'Q' => {
                    self.run(&words[0])?;
                    self.ready()?;
                }
                other => panic!("message {other}"),
            }
        }
    }

    /// Reads a length and as much as it says.
    fn body(&mut self) -> Option<Vec<u8>> {
        let mut length = [0; 4];
        self.stream.read_exact(&mut length).ok()?;
        let mut body = vec![0; u32::from_be_bytes(length) as usize - 4];
        self.stream.read_exact(&mut body).ok()?;
        Some(body)
    }

    /// False after an error.
    fn run(&mut self, sql: &str) -> Option<bool> {
        self.log.lock().unwrap().push(sql.to_owned());
        let sql = sql.trim_end_matches(';').to_lowercase();
        let (word, argument) = sql.split_once(' ').unwrap_or((&sql, ""));
        match word {
            "delay" => thread::sleep(Duration::from_millis(argument.parse().unwrap())),
            "work" => drop(self.state.stall.lock().unwrap()),
            "failfirst" => {
                let (count, sqlstate) = argument.split_once(' ').unwrap();
                let so_far = self.state.failures.fetch_add(1, Ordering::SeqCst);
                if so_far < count.parse().unwrap() {
                    return Some(self.fail(sqlstate));
                }
            }
            "row" => {
                self.say(b'T', b"\0\x01v\0\0\0\0\0\0\0\0\0\0\x19\xff\xff\0\0\0\0\0\0");
                let length = u32::try_from(argument.len()).unwrap().to_be_bytes();
                self.say(
                    b'D',
                    &[b"\0\x01", &length[..], argument.as_bytes()].concat(),
                );
            }
            "begin" => self.block = b'T',
            "end" | "rollback" => self.block = b'I',
            "hangup" => return None,
            "flood" => {
                let notice = bytes_of("4e0000000d534e4f544943450000").repeat(1000);
                while self.stream.write_all(&notice).is_ok() {}
                return None;
            }
            "quit" => {
                self.stream.write_all(&bytes_of(argument)).ok()?;
                return None;
            }
            "garbage" => {
                self.stream
                    .write_all(b"HTTP/1.1 400 Bad Request\r\n\r\n")
                    .ok()?;
            }
            "large" => {
                let row = vec![0; argument.parse().unwrap()];
                self.say(b'D', &row);
            }
            "raw" => self.reply.extend(bytes_of(argument)),
            "after" | "leave" => {
                self.after = bytes_of(argument);
                self.leaves = word == "leave";
            }
            "never" => thread::sleep(Duration::from_secs(3600)),
            "fail" => return Some(self.fail(argument)),
            _ => {}
        }
        self.say(b'C', b"DONE\0");
        Some(true)
    }

    fn fail(&mut self, sqlstate: &str) -> bool {
        if self.block == b'T' {
            self.block = b'E';
        }
        let fields = format!("SERROR\0VERROR\0C{sqlstate}\0Mas asked\0\0");
        self.say(b'E', fields.as_bytes());
        false
    }

    fn say(&mut self, kind: u8, body: &[u8]) {
        self.reply.push(kind);
        let length = u32::try_from(body.len() + 4).unwrap();
        self.reply.extend_from_slice(&length.to_be_bytes());
        self.reply.extend_from_slice(body);
    }

    fn ready(&mut self) -> Option<()> {
        self.say(b'Z', &[self.block]);
        self.reply.append(&mut self.after);
        self.stream.write_all(&self.reply).ok()?;
        self.stream.flush().ok()?;
        self.reply.clear();
        (!self.leaves).then_some(())
    }
}

fn bytes_of(hex: &str) -> Vec<u8> {
    let bytes = hex.as_bytes().chunks(2);
    let bytes = bytes.map(|two| std::str::from_utf8(two).unwrap());
    bytes
        .map(|two| u8::from_str_radix(two, 16).unwrap())
        .collect()
}
