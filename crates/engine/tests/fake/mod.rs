//! A server that speaks just enough of the protocol to load it, with known delays and failures.
//!
//! Its SQL: `delay MS`, `fail SQLSTATE`, `begin`, `end`, `rollback`, `hangup`, `garbage`,
//! `never`, `large BYTES`; anything else succeeds at once. It writes down what it was asked to run.

#![allow(dead_code, reason = "each test file uses a part of it")]

use std::collections::HashMap;
use std::io::{Read, Write};
use std::net::TcpListener;
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use rcgen::{CertifiedKey, generate_simple_self_signed};
use rustls::pki_types::PrivateKeyDer;
use rustls::{ServerConfig, ServerConnection, StreamOwned};

pub struct FakeServer {
    pub port: u16,
    pub statements: Arc<Mutex<Vec<String>>>,
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
        thread::spawn(move || {
            for stream in listener.incoming() {
                let log = Arc::clone(&log);
                let tls = tls.clone();
                // A connection that breaks off is the load's affair.
                thread::spawn(move || {
                    let mut stream = stream.unwrap();
                    stream.set_nodelay(true).unwrap();
                    let Some(tls) = tls else {
                        return Connection::new(Box::new(stream), log).serve();
                    };
                    stream.read_exact(&mut [0; 8]).ok()?;
                    stream.write_all(b"S").ok()?;
                    let encrypted = StreamOwned::new(ServerConnection::new(tls).unwrap(), stream);
                    Connection::new(Box::new(encrypted), log).serve()
                });
            }
        });
        FakeServer { port, statements }
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
    prepared: HashMap<String, String>,
    bound: String,
    block: u8,
    skipping: bool,
    reply: Vec<u8>,
}

impl Connection {
    fn new(stream: Box<dyn Duplex>, log: Arc<Mutex<Vec<String>>>) -> Connection {
        Connection {
            stream,
            log,
            prepared: HashMap::new(),
            bound: String::new(),
            block: b'I',
            skipping: false,
            reply: Vec::new(),
        }
    }

    fn serve(mut self) -> Option<()> {
        self.body()?; // the startup message
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
            "begin" => self.block = b'T',
            "end" | "rollback" => self.block = b'I',
            "hangup" => return None,
            "garbage" => {
                self.stream
                    .write_all(b"HTTP/1.1 400 Bad Request\r\n\r\n")
                    .ok()?;
            }
            "large" => {
                let row = vec![0; argument.parse().unwrap()];
                self.say(b'D', &row);
            }
            "never" => thread::sleep(Duration::from_secs(3600)),
            "fail" => {
                if self.block == b'T' {
                    self.block = b'E';
                }
                let fields = format!("SERROR\0VERROR\0C{argument}\0Mas asked\0\0");
                self.say(b'E', fields.as_bytes());
                return Some(false);
            }
            _ => {}
        }
        self.say(b'C', b"DONE\0");
        Some(true)
    }

    fn say(&mut self, kind: u8, body: &[u8]) {
        self.reply.push(kind);
        let length = u32::try_from(body.len() + 4).unwrap();
        self.reply.extend_from_slice(&length.to_be_bytes());
        self.reply.extend_from_slice(body);
    }

    fn ready(&mut self) -> Option<()> {
        self.say(b'Z', &[self.block]);
        self.stream.write_all(&self.reply).ok()?;
        self.stream.flush().ok()?;
        self.reply.clear();
        Some(())
    }
}
