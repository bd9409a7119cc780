//! Sends and receives whole protocol messages over a blocking stream.
//!
//! Enters: bytes of the server. Leaves: parsed messages. Never: interprets a message.

use std::io::{self, Read, Write};
use std::time::{Duration, Instant};

use bytes::BytesMut;
use postgres_protocol::message::backend::Message;

use crate::Stream;
use crate::deadline::time_left;

const READ_BYTES: usize = 16 * 1024;
/// The longest message while a session is opened, as in libpq.
const LONGEST_OPENING: i32 = 30_000;
/// Bytes of all messages that open a session; a real server sends some thousand.
const MOST_OPENING: usize = 1 << 20;
/// Bytes of one answer to a query of a sampler; the largest real ones have some million.
const MOST_ANSWER: usize = 256 << 20;
/// The part of a protocol 2 error message that is shown.
const LONGEST_TEXT: usize = 1000;

pub(crate) struct Wire {
    pub(crate) stream: Stream,
    received: BytesMut,
    chunk: Box<[u8]>,
    /// The time by which a session must be open, while it is being opened.
    deadline: Option<Instant>,
    /// How long the answer to a request may take once the session is open, and until when.
    patience: Option<Duration>,
    answer_by: Option<Instant>,
    /// Bytes that may still be read before the next request is sent, or the session is open.
    allowance: usize,
}

impl Wire {
    pub(crate) fn new(stream: Stream, deadline: Option<Instant>) -> Wire {
        Wire {
            stream,
            received: BytesMut::with_capacity(READ_BYTES),
            chunk: vec![0; READ_BYTES].into_boxed_slice(),
            allowance: if deadline.is_some() {
                MOST_OPENING
            } else {
                MOST_ANSWER
            },
            deadline,
            patience: None,
            answer_by: None,
        }
    }

    /// How long the server may be silent, and how long an answer may take; `None` for ever.
    pub(crate) fn set_patience(&mut self, patience: Option<Duration>) -> io::Result<()> {
        self.patience = patience;
        self.stream.set_timeout(patience)
    }

    pub(crate) fn send(&mut self, bytes: &[u8]) -> io::Result<()> {
        if self.deadline.is_none() {
            self.allowance = MOST_ANSWER;
            self.answer_by = self.patience.map(|patience| Instant::now() + patience);
        }
        self.apply_deadline()?;
        self.stream.write_all(bytes)?;
        self.stream.flush()
    }

    /// The next message; the end of the stream is an `UnexpectedEof`.
    pub(crate) fn receive(&mut self) -> io::Result<Message> {
        loop {
            let problem = match self.deadline {
                Some(_) => not_a_message(&self.received, false),
                None => too_long(&self.received),
            };
            problem.map_or(Ok(()), Err)?;
            if let Some(message) = Message::parse(&mut self.received)? {
                return Ok(message);
            }
            self.apply_deadline()?;
            if let Some(answer_by) = self.answer_by {
                time_left(answer_by)?;
            }
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
            // Messages without end, or one of that length, would fill the memory.
            self.allowance = self.allowance.checked_sub(read).ok_or_else(|| {
                io::Error::new(io::ErrorKind::InvalidData, "its answer does not end")
            })?;
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

/// An error if the length of the message that begins here is none, or beyond the allowance.
fn too_long(received: &[u8]) -> Option<io::Error> {
    let ([_, length @ ..], _) = received.split_first_chunk::<5>()?;
    let length = usize::try_from(i32::from_be_bytes(*length)).unwrap_or(0);
    (!(4..=MOST_ANSWER).contains(&length)).then(|| {
        io::Error::new(
            io::ErrorKind::InvalidData,
            "its answer is not a protocol message",
        )
    })
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
