//! Splits the received bytes, in pieces of any size, into messages.
//!
//! Enters: received bytes. Leaves: one message at a time. Never: buffers what is skipped, so a
//! result of a million rows needs no more memory than one row.

/// A message that the engine handles; all others are `Other`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Message<'a> {
    /// The server waits for the next query; the byte is I, T or E.
    Ready(u8),
    /// The fields of an ErrorResponse.
    Error(&'a [u8]),
    ParseComplete,
    /// The body of a RowDescription.
    Columns(&'a [u8]),
    /// The body of a DataRow; `Other` unless rows are kept.
    Row(&'a [u8]),
    /// A statement's end: CommandComplete or EmptyQueryResponse.
    Complete,
    /// The server waits for data of a COPY FROM STDIN.
    CopyIn,
    Other,
}

/// Why what the server sent is not PostgreSQL's protocol.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Malformed(pub &'static str);

/// Message types that a server may send within a session.
const KNOWN: &[u8] = b"123ACDEGHIKNSTWZcdnst";
/// Types of messages that may be long; a long one of another type is not PostgreSQL's protocol.
const LONG: &[u8] = b"ADENTdt";
const MOST_SHORT: usize = 30_000;
/// The longest error message that is kept; longer ones are cut.
const MOST_KEPT: usize = 64 * 1024;
/// The longest row whose values variables take.
const LONGEST_ROW: usize = 256 << 20;
const HEADER: usize = 5;
const NO_MESSAGE: Malformed = Malformed("not a message of a session");

#[derive(Debug, Default)]
pub struct Reader {
    /// The header of the current message, as far as it has arrived.
    header: [u8; HEADER],
    header_length: usize,
    /// Bytes of the body still to come.
    missing: usize,
    /// The body, if it is used.
    kept: Vec<u8>,
    /// Whether the columns and rows of results are returned.
    keeps_rows: bool,
}

impl Reader {
    /// Sets whether columns and rows are returned; if not, they are skipped.
    pub fn keep_rows(&mut self, keeps_rows: bool) {
        self.keeps_rows = keeps_rows;
    }

    /// Consumes `bytes` up to the end of one message and returns the message, or consumes all
    /// and returns `None` if the message is not complete.
    pub fn next<'r, 'b: 'r>(
        &'r mut self,
        bytes: &mut &'b [u8],
    ) -> Result<Option<Message<'r>>, Malformed> {
        if self.header_length == 0 {
            // Nearly always the whole message has arrived, and nothing is copied.
            if let Some((header, rest)) = bytes.split_first_chunk::<HEADER>() {
                let (kind, length) = decode(*header)?;
                if let Some((body, rest)) = rest.split_at_checked(length) {
                    *bytes = rest;
                    return message(kind, body, self.keeps_rows).map(Some);
                }
            }
        }
        self.next_in_pieces(bytes)
    }

    fn next_in_pieces(&mut self, bytes: &mut &[u8]) -> Result<Option<Message<'_>>, Malformed> {
        if self.header_length < HEADER {
            let head = take(bytes, HEADER - self.header_length);
            for (place, byte) in self.header.iter_mut().skip(self.header_length).zip(head) {
                *place = *byte;
            }
            self.header_length += head.len();
            if self.header_length < HEADER {
                return Ok(None);
            }
            (_, self.missing) = decode(self.header)?;
            if self.keeps_rows && self.missing > LONGEST_ROW {
                return Err(Malformed(
                    "a row for \\gset or \\aset is longer than 256 MB",
                ));
            }
            self.kept.clear();
        }
        let part = take(bytes, self.missing);
        self.missing -= part.len();
        let [kind, ..] = self.header;
        let most = match kind {
            b'E' | b'Z' => MOST_KEPT,
            b'T' | b'D' if self.keeps_rows => usize::MAX,
            _ => 0,
        };
        let room = most.saturating_sub(self.kept.len());
        self.kept.extend(part.iter().take(room));
        if self.missing > 0 {
            return Ok(None);
        }
        self.header_length = 0;
        message(kind, &self.kept, self.keeps_rows).map(Some)
    }
}

fn take<'b>(bytes: &mut &'b [u8], most: usize) -> &'b [u8] {
    let (taken, rest) = bytes.split_at(most.min(bytes.len()));
    *bytes = rest;
    taken
}

/// The type of a message and the length of its body.
fn decode(header: [u8; HEADER]) -> Result<(u8, usize), Malformed> {
    let [kind, length @ ..] = header;
    let length = i32::from_be_bytes(length);
    // The length counts itself.
    let body = usize::try_from(length.saturating_sub(4)).map_err(|_| NO_MESSAGE)?;
    if KNOWN.contains(&kind) && (body <= MOST_SHORT || LONG.contains(&kind)) {
        Ok((kind, body))
    } else {
        Err(NO_MESSAGE)
    }
}

fn message(kind: u8, body: &[u8], keeps_rows: bool) -> Result<Message<'_>, Malformed> {
    Ok(match kind {
        b'Z' => match body {
            [status @ (b'I' | b'T' | b'E')] => Message::Ready(*status),
            _ => return Err(NO_MESSAGE),
        },
        b'E' => Message::Error(body),
        b'1' => Message::ParseComplete,
        b'T' if keeps_rows => Message::Columns(body),
        b'D' if keeps_rows => Message::Row(body),
        b'C' | b'I' => Message::Complete,
        b'G' => Message::CopyIn,
        _ => Message::Other,
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn encode(kind: u8, body: &[u8]) -> Vec<u8> {
        let length = u32::try_from(body.len() + 4).unwrap();
        [&[kind][..], &length.to_be_bytes(), body].concat()
    }

    fn response() -> Vec<u8> {
        [
            encode(b'1', b""),
            encode(b'2', b""),
            encode(b'T', &[7; 300]),
            encode(b'D', &[0; 1000]),
            encode(b'E', b"SERROR\0C40001\0\0"),
            encode(b'G', b"\0\0\0"),
            encode(b'Z', b"T"),
        ]
        .concat()
    }

    /// What matters of `bytes` when they arrive in pieces of `size`.
    fn read(bytes: &[u8], size: usize) -> Result<Vec<String>, Malformed> {
        read_keeping(bytes, size, false)
    }

    fn read_keeping(bytes: &[u8], size: usize, keeps_rows: bool) -> Result<Vec<String>, Malformed> {
        let mut reader = Reader::default();
        reader.keep_rows(keeps_rows);
        let mut found = Vec::new();
        for mut piece in bytes.chunks(size) {
            while let Some(message) = reader.next(&mut piece)? {
                if message != Message::Other {
                    found.push(format!("{message:?}"));
                }
            }
            assert!(piece.is_empty());
        }
        Ok(found)
    }

    #[test]
    fn pieces_of_any_size_give_the_same_messages() {
        let whole = read(&response(), usize::MAX).unwrap();
        assert_eq!(whole.len(), 4);
        assert_eq!(whole[3], "Ready(84)");
        for size in 1..400 {
            assert_eq!(read(&response(), size).as_ref(), Ok(&whole), "{size}");
        }
        let whole = read_keeping(&response(), usize::MAX, true).unwrap();
        assert_eq!(whole.len(), 6);
        for size in 1..400 {
            assert_eq!(read_keeping(&response(), size, true).as_ref(), Ok(&whole));
        }
    }

    #[test]
    fn large_rows_are_not_kept() {
        let mut reader = Reader::default();
        let header = [&b"D"[..], &1_000_000_000u32.to_be_bytes()].concat();
        assert_eq!(reader.next(&mut &header[..]), Ok(None));
        for _ in 0..100 {
            assert_eq!(reader.next(&mut &[0; 65536][..]), Ok(None));
        }
        assert_eq!(reader.kept.capacity(), 0);
    }

    #[test]
    fn long_errors_are_cut() {
        let error = encode(b'E', &vec![b'x'; 1_000_000]);
        let (first, mut rest) = error.split_at(500_000);
        let mut reader = Reader::default();
        assert_eq!(reader.next(&mut &first[..]), Ok(None));
        let message = reader.next(&mut rest).unwrap();
        assert_eq!(message, Some(Message::Error(&vec![b'x'; MOST_KEPT])));
    }

    #[test]
    fn what_is_no_message_is_refused() {
        for bytes in [
            encode(b'?', b""),
            encode(b'Z', b"X"),
            encode(b'Z', b""),
            // Authentication is over.
            encode(b'R', &[0; 4]),
            encode(b'v', b""),
            b"D\0\0\0\x03".to_vec(),
            b"D\xff\xff\xff\xff".to_vec(),
            b"D\x80\0\0\0".to_vec(),
            b"HTTP/1.1 400".to_vec(),
        ] {
            assert_eq!(read(&bytes, usize::MAX), Err(NO_MESSAGE), "{bytes:?}");
            assert_eq!(read(&bytes, 1), Err(NO_MESSAGE), "{bytes:?}");
        }
    }

    /// Messages of any kind in any order, some with a length that is not theirs, some cut off.
    fn conversation() -> impl Strategy<Value = Vec<u8>> {
        let edges = prop::sample::select(&[0i32, 3, 4, 5, -1, i32::MIN, i32::MAX, 30_005][..]);
        let message = (
            prop::sample::select(KNOWN),
            prop::collection::vec(any::<u8>(), 0..40),
            prop::option::weighted(0.1, edges),
            prop::option::weighted(0.1, 0usize..40),
        )
            .prop_map(|(kind, body, length, cut)| {
                let mut bytes = encode(kind, if kind == b'Z' { b"I" } else { &body });
                if let Some(length) = length {
                    bytes.splice(1..5, length.to_be_bytes());
                }
                bytes.truncate(cut.unwrap_or(usize::MAX));
                bytes
            });
        prop::collection::vec(message, 0..12).prop_map(|messages| messages.concat())
    }

    proptest! {
        #[test]
        fn messages_in_any_order_do_not_depend_on_pieces(
            bytes in conversation(), size in 1usize..50, keeps_rows: bool
        ) {
            let whole = read_keeping(&bytes, usize::MAX, keeps_rows);
            prop_assert_eq!(read_keeping(&bytes, size, keeps_rows).ok(), whole.ok());
        }

        #[test]
        fn arbitrary_bytes_end_and_do_not_depend_on_pieces(
            bytes in prop::collection::vec(any::<u8>(), 0..300), size in 1usize..50
        ) {
            let whole = read(&bytes, usize::MAX);
            if whole.is_ok() {
                prop_assert_eq!(read(&bytes, size), whole);
            } else {
                prop_assert!(read(&bytes, size).is_err());
            }
        }
    }
}
