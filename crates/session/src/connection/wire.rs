//! Sends and receives whole protocol messages over a blocking stream.
//!
//! Enters: bytes of the server. Leaves: parsed messages. Never: interprets a message.

use std::io::{self, Read, Write};
use std::time::Instant;

use bytes::BytesMut;
use postgres_protocol::message::backend::Message;

use crate::Stream;
use crate::deadline::time_left;

const READ_BYTES: usize = 16 * 1024;
/// The longest message while a session is opened, as in libpq.
const LONGEST_OPENING: i32 = 30_000;
/// The part of a protocol 2 error message that is shown.
const LONGEST_TEXT: usize = 1000;

pub(crate) struct Wire {
    pub(crate) stream: Stream,
    received: BytesMut,
    chunk: Box<[u8]>,
    /// The time by which a session must be open, while it is being opened.
    deadline: Option<Instant>,
}

impl Wire {
    pub(crate) fn new(stream: Stream, deadline: Option<Instant>) -> Wire {
        Wire {
            stream,
            received: BytesMut::with_capacity(READ_BYTES),
            chunk: vec![0; READ_BYTES].into_boxed_slice(),
            deadline,
        }
    }

    pub(crate) fn send(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.apply_deadline()?;
        self.stream.write_all(bytes)?;
        self.stream.flush()
    }

    /// The next message; the end of the stream is an `UnexpectedEof`.
    pub(crate) fn receive(&mut self) -> io::Result<Message> {
        loop {
            if self.deadline.is_some() {
                not_a_message(&self.received, false).map_or(Ok(()), Err)?;
            }
            if let Some(message) = Message::parse(&mut self.received)? {
                return Ok(message);
            }
            self.apply_deadline()?;
            let read = match self.stream.read(&mut self.chunk) {
                Ok(0) => {
                    let said =
                        not_a_message(&self.received, true).filter(|_| self.deadline.is_some());
                    return Err(said.unwrap_or_else(|| io::ErrorKind::UnexpectedEof.into()));
                }
                Ok(read) => read,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => return Err(error),
            };
            self.received
                .extend_from_slice(self.chunk.get(..read).unwrap_or_default());
        }
    }

    /// Whether bytes of a further message have been read from the stream already.
    pub(crate) fn has_unread(&self) -> bool {
        !self.received.is_empty()
    }

    fn apply_deadline(&self) -> io::Result<()> {
        match self.deadline {
            Some(deadline) => self.stream.set_timeout(Some(time_left(deadline)?)),
            None => Ok(()),
        }
    }
}

/// An error if these bytes cannot begin a message of an opening session, whose messages are
/// short; waiting for the rest would last until the deadline. A postmaster that cannot start a
/// backend reports it in protocol 2: the letter E and a text.
fn not_a_message(received: &[u8], is_all: bool) -> Option<io::Error> {
    let (header, _) = received.split_first_chunk::<5>()?;
    let [tag, length @ ..] = *header;
    let is_short = (4..=LONGEST_OPENING).contains(&i32::from_be_bytes(length));
    match tag {
        b'E' if !is_short => {
            let text = received.get(1..)?;
            let end = text.iter().position(|&byte| byte == 0);
            let is_whole = is_all || text.len() > LONGEST_TEXT;
            let text = text.get(..end.or(is_whole.then_some(text.len()))?)?;
            let text = text.get(..text.len().min(LONGEST_TEXT))?;
            let text = String::from_utf8_lossy(text);
            Some(io::Error::other(text.trim().to_owned()))
        }
        b'R' | b'E' | b'N' | b'S' | b'K' | b'Z' | b'v' | b'A' if is_short => None,
        _ => Some(io::Error::new(
            io::ErrorKind::InvalidData,
            "its answer is not a protocol message",
        )),
    }
}
