//! Opens the connections of a load and prepares its statements on them.
//!
//! Enters: the set-up of the load. Leaves: clients ready to run, each with its
//! stream. Never: runs a statement; one that cannot be prepared yet, because another creates its
//! table, say, is prepared when it is first used.

use std::io::{self, Read, Write};
use std::time::Duration;

use pgassay_session::{CancelKey, Session, SessionError, Stream};
use rustix::net::sockopt::{Timeout, set_socket_timeout};

use crate::client::Client;
use crate::config::Configuration;
use crate::error::EngineError;
use crate::messages::{Message, Reader, SYNC};
use crate::program::Program;
use crate::setup::Setup;

/// Statements prepared per round trip: few enough that their answers fit a socket's buffer.
const BATCH: usize = 32;

/// A session ready to run transactions.
pub struct Opened {
    pub stream: Stream,
    pub key: CancelKey,
    pub backend_pid: i32,
    /// Whether it is, by number of the statement.
    pub prepared: Vec<bool>,
}

pub fn open_clients(setup: &Setup) -> Result<Vec<(Client, Stream)>, EngineError> {
    let seats = setup.seats.iter().enumerate();
    seats
        .map(|(number, seat)| {
            let opened = open_session(setup)?;
            setup.board.seat(number, opened.backend_pid);
            let client = Client::new(number, *seat, setup, opened.key, opened.prepared);
            Ok((client, opened.stream))
        })
        .collect()
}

pub fn open_session(setup: &Setup) -> Result<Opened, EngineError> {
    let configuration = &setup.configuration;
    let session = Session::open(&configuration.connection, &configuration.application_name)?;
    let (key, backend_pid) = (session.cancel_key(), session.backend_pid());
    let mut stream = session.into_stream();
    let prepared = if setup.prepares_ahead() {
        prepare(&mut stream, configuration, &setup.program).map_err(|error| {
            EngineError::Session(SessionError::Lost {
                place: configuration.connection.to_string(),
                problem: format!("while preparing statements: {error}"),
            })
        })?
    } else {
        vec![false; setup.program.commands.len()]
    };
    Ok(Opened {
        stream,
        key,
        backend_pid,
        prepared,
    })
}

/// Prepares what it can; returns, by number of the statement, what it could.
fn prepare(
    stream: &mut Stream,
    configuration: &Configuration,
    program: &Program,
) -> io::Result<Vec<bool>> {
    let mut prepared = vec![false; program.commands.len()];
    let preparations: Vec<_> = program.preparations().collect();
    if preparations.is_empty() {
        return Ok(prepared);
    }
    let patience = Duration::from_secs_f64(configuration.connection.connect_timeout_s.max(1.0));
    for timeout in [Timeout::Recv, Timeout::Send] {
        set_socket_timeout(&*stream, timeout, Some(patience))?;
    }
    for batch in preparations.chunks(BATCH) {
        let mut bytes = Vec::new();
        for (_, parse) in batch {
            bytes.extend_from_slice(parse);
            // A Sync for each, so that one refusal does not skip the others.
            bytes.extend_from_slice(SYNC);
        }
        stream.write_all(&bytes)?;
        let done = await_preparations(stream, batch.len())?;
        for ((number, _), done) in batch.iter().zip(done) {
            if let Some(place) = prepared.get_mut(*number) {
                *place = done;
            }
        }
    }
    Ok(prepared)
}

/// Reads the answers to so many pairs of Parse and Sync.
fn await_preparations(stream: &mut Stream, count: usize) -> io::Result<Vec<bool>> {
    let mut reader = Reader::default();
    let mut done = Vec::with_capacity(count);
    let mut is_parsed = false;
    let mut chunk = [0; 4096];
    while done.len() < count {
        let length = match stream.read(&mut chunk) {
            Ok(0) => return Err(io::ErrorKind::UnexpectedEof.into()),
            Ok(length) => length,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(error),
        };
        let mut bytes = chunk.get(..length).unwrap_or_default();
        loop {
            match reader.next(&mut bytes) {
                Ok(Some(Message::ParseComplete)) => is_parsed = true,
                Ok(Some(Message::Ready(_))) => done.push(std::mem::take(&mut is_parsed)),
                Ok(Some(_)) => {}
                Ok(None) => break,
                Err(_) => return Err(io::Error::other("the server broke the protocol")),
            }
        }
    }
    Ok(done)
}
