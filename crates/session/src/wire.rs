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
/// The longest message on the way to a session, as libpq has it.
const MOST_OPENING: i32 = 30_000;
/// Of what a server says in protocol 2.
const MOST_TEXT: usize = 1000;

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
        self.stream.write_all(bytes)?;
        self.stream.flush()
    }

    /// The next message; an end of the stream is an `UnexpectedEof`.
    pub(crate) fn receive(&mut self) -> io::Result<Message> {
        loop {
            if self.deadline.is_some() {
                foreign(&self.received, false).map_or(Ok(()), Err)?;
            }
            if let Some(message) = Message::parse(&mut self.received)? {
                return Ok(message);
            }
            self.apply_deadline()?;
            let read = match self.stream.read(&mut self.chunk) {
                Ok(0) => {
                    let said = foreign(&self.received, true).filter(|_| self.deadline.is_some());
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

/// What cannot begin a message while a session is opened, where messages are short: waiting for
/// the rest of it would last as long as patience does. A postmaster that cannot start a backend
/// says so in the words of protocol 2, a letter and a text.
fn foreign(received: &[u8], is_all: bool) -> Option<io::Error> {
    let (header, _) = received.split_first_chunk::<5>()?;
    let [tag, length @ ..] = *header;
    let is_short = (4..=MOST_OPENING).contains(&i32::from_be_bytes(length));
    match tag {
        b'E' if !is_short => {
            let text = received.get(1..)?;
            let end = text.iter().position(|&byte| byte == 0);
            let is_whole = is_all || text.len() > MOST_TEXT;
            let text = text.get(..end.or(is_whole.then_some(text.len()))?)?;
            let text = text.get(..text.len().min(MOST_TEXT))?;
            let text = String::from_utf8_lossy(text);
            Some(io::Error::other(text.trim().to_owned()))
        }
        b'R' | b'E' | b'N' | b'S' | b'K' | b'Z' | b'v' | b'A' if is_short => None,
        _ => Some(io::Error::new(
            io::ErrorKind::InvalidData,
            "its answer is no message",
        )),
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::net::UnixStream;
    use std::time::Duration;

    use proptest::prelude::*;

    use super::*;
    use crate::connect::Opening;
    use crate::{Endpoint, Stream};

    /// A wire on which a server has said this and hung up.
    fn heard(bytes: &[u8]) -> (Wire, UnixStream) {
        let (ours, mut server) = UnixStream::pair().unwrap();
        server.write_all(bytes).unwrap();
        server.shutdown(std::net::Shutdown::Write).unwrap();
        let deadline = Instant::now() + Duration::from_secs(60);
        (Wire::new(Stream::Unix(ours), Some(deadline)), server)
    }

    /// Bytes that look like messages more often than chance would have it.
    fn conversation() -> impl Strategy<Value = Vec<u8>> {
        let message = (
            prop::sample::select(&b"RRRRSKZENTDCvXA1n"[..]),
            prop::collection::vec(any::<u8>(), 0..40),
            prop::option::weighted(0.1, any::<u32>()),
            prop::option::weighted(0.5, prop::sample::select(vec![0u32, 3, 5, 7, 10, 11, 12])),
        )
            .prop_map(|(tag, mut body, length, code)| {
                if let Some(code) = code {
                    body.splice(0..0, code.to_be_bytes());
                }
                let length = length.unwrap_or(u32::try_from(body.len() + 4).unwrap());
                [&[tag][..], &length.to_be_bytes(), &body].concat()
            });
        prop::collection::vec(message, 0..8).prop_map(|messages| messages.concat())
    }

    proptest! {
        #[test]
        fn arbitrary_bytes_end_in_an_error(bytes in prop::collection::vec(any::<u8>(), 0..400)) {
            let (mut wire, _server) = heard(&bytes);
            while wire.receive().is_ok() {}
        }

        #[test]
        fn whatever_a_server_says_opening_a_session_ends(bytes in conversation()) {
            let (wire, _server) = heard(&bytes);
            let endpoint: Endpoint = serde_json::from_str(
                r#"{"host": "/h", "port": 1, "user": "u", "password": "p", "dbname": "d"}"#,
            )
            .unwrap();
            let _ = Opening::run(wire, &endpoint, "fuzz");
        }
    }
}
