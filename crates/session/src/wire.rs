//! Whole protocol messages over a blocking stream.
//!
//! Enters: bytes of the server. Leaves: parsed messages, notices and parameter changes left out
//! by those who ask for it. Never: interprets a message.

use std::io::{self, Read, Write};
use std::time::Instant;

use bytes::BytesMut;
use postgres_protocol::message::backend::Message;

use crate::Stream;
use crate::stream::time_left;

const READ_BYTES: usize = 16 * 1024;

pub(crate) struct Wire {
    pub(crate) stream: Stream,
    received: BytesMut,
    chunk: Box<[u8]>,
    /// While a session is being opened, the time by which it must be.
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
        self.stream.write_all(bytes)
    }

    /// The next message; an end of the stream is an `UnexpectedEof`.
    pub(crate) fn receive(&mut self) -> io::Result<Message> {
        loop {
            if let Some(message) = Message::parse(&mut self.received)? {
                return Ok(message);
            }
            self.apply_deadline()?;
            let read = match self.stream.read(&mut self.chunk) {
                Ok(0) => return Err(io::ErrorKind::UnexpectedEof.into()),
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
