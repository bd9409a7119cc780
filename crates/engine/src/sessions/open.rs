//! Opens one session of a load and prepares its statements on it.
//!
//! Enters: the set-up of the load. Leaves: a session ready to run transactions. Never: runs a
//! statement; one that cannot be prepared yet, for example because another statement creates
//! its table, is prepared when it is first used.

use std::io::{self, Read, Write};
use std::time::{Duration, Instant};

use pgassay_session::{CancelKey, Endpoint, SessionError, Stream};
use rustix::net::sockopt::{Timeout, set_socket_timeout};

use crate::config::Assignment;
use crate::error::EngineError;
use crate::messages::{Malformed, Message, Reader, SYNC};
use crate::program::Program;
use crate::setup::Setup;

/// Statements prepared per round trip: few enough that their answers fit a socket's buffer.
const BATCH: usize = 32;
/// Bytes of the answers to one round trip; real ones have some hundred for each statement.
const MOST_ANSWER: usize = 16 << 20;

/// A session ready to run transactions.
pub struct Opened {
    pub stream: Stream,
    pub key: CancelKey,
    pub backend_pid: i32,
    /// Whether each statement is prepared, by its number.
    pub prepared: Vec<bool>,
}

pub fn open_session(assignment: Assignment, setup: &Setup) -> Result<Opened, EngineError> {
    let configuration = &setup.configuration;
    let connector = setup.connector(assignment);
    let session = connector.open(&configuration.application_name)?;
    let (key, backend_pid) = (session.cancel_key(), session.backend_pid());
    let mut stream = session.into_stream();
    let prepared = if setup.prepares_ahead() {
        prepare(&mut stream, connector.endpoint(), &setup.program).map_err(|error| {
            EngineError::Session(SessionError::Lost {
                place: connector.endpoint().to_string(),
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

/// Prepares all statements that the server accepts; returns which ones, by their numbers.
fn prepare(stream: &mut Stream, endpoint: &Endpoint, program: &Program) -> io::Result<Vec<bool>> {
    let mut prepared = vec![false; program.commands.len()];
    let preparations: Vec<_> = program.preparations().collect();
    if preparations.is_empty() {
        return Ok(prepared);
    }
    let patience = Duration::from_secs_f64(endpoint.connect_timeout_s.max(1.0));
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
        stream.flush()?;
        let done = await_preparations(stream, batch.len(), patience)?;
        for ((number, _), done) in batch.iter().zip(done) {
            if let Some(place) = prepared.get_mut(*number) {
                *place = done;
            }
        }
    }
    Ok(prepared)
}

/// Reads the answers to this many pairs of Parse and Sync, each of which may take `patience`.
fn await_preparations(
    stream: &mut Stream,
    count: usize,
    patience: Duration,
) -> io::Result<Vec<bool>> {
    let broken =
        |problem: &str| io::Error::other(format!("the server broke the protocol: {problem}"));
    let mut reader = Reader::default();
    let mut done = Vec::with_capacity(count);
    let (mut is_parsed, mut has_failed) = (false, false);
    let mut chunk = [0; 4096];
    let (mut left, mut since) = (MOST_ANSWER, Instant::now());
    while done.len() < count {
        if since.elapsed() > patience {
            return Err(io::ErrorKind::TimedOut.into());
        }
        let length = match stream.read(&mut chunk) {
            Ok(0) => return Err(io::ErrorKind::UnexpectedEof.into()),
            Ok(length) => length,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(error),
        };
        left = left
            .checked_sub(length)
            .ok_or_else(|| broken("its answer does not end"))?;
        let mut bytes = chunk.get(..length).unwrap_or_default();
        loop {
            match reader.next(&mut bytes) {
                Ok(Some(Message::ParseComplete)) => is_parsed = true,
                Ok(Some(Message::Error(_))) => has_failed = true,
                Ok(Some(Message::Ready(_))) if done.len() < count && (is_parsed || has_failed) => {
                    done.push(is_parsed);
                    (is_parsed, has_failed, since) = (false, false, Instant::now());
                }
                Ok(Some(Message::Ready(_))) => {
                    return Err(broken("ReadyForQuery before the statement was prepared"));
                }
                Ok(Some(_)) => {}
                Ok(None) => break,
                Err(Malformed(problem)) => return Err(broken(problem)),
            }
        }
    }
    Ok(done)
}
