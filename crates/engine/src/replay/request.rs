//! The messages of one statement of a trace.
//!
//! Enters: a row, which statements its session has prepared. Leaves: the bytes of one round trip.
//! Never: changes a text or a value.

use std::collections::HashMap;
use std::error::Error;
use std::io;

use bytes::BytesMut;
use postgres_protocol::IsNull;
use postgres_protocol::message::frontend;

use super::chunk::{Chunk, Kind, Row};

/// The statements that a session has prepared by the protocol.
#[derive(Debug, Default)]
pub struct Prepared {
    texts: HashMap<String, String>,
    /// What the request under way prepares.
    under_way: Option<(String, String)>,
}

impl Prepared {
    /// The server has parsed what the last request prepares.
    pub fn parsed(&mut self) {
        if let Some((name, text)) = self.under_way.take() {
            self.texts.insert(name, text);
        }
    }

    /// The last request failed for a prepared statement that is not there.
    pub fn missing(&mut self, name: &str) {
        self.texts.remove(name);
    }

    fn has(&self, row: &Row<'_>) -> bool {
        self.texts
            .get(row.name)
            .is_some_and(|text| text == row.text)
    }

    /// Forgets what a statement of SQL may have removed: it is prepared again when it is used.
    fn forget(&mut self, text: &str) {
        if begins_with(text, "discard") || begins_with(text, "deallocate") {
            self.texts.clear();
        }
    }
}

/// Whether a statement begins with this word, in any case.
#[must_use]
pub fn begins_with(text: &str, word: &str) -> bool {
    let head = text.trim_start().get(..word.len());
    head.is_some_and(|head| head.eq_ignore_ascii_case(word))
}

/// Appends the messages of a statement; `buffer` is room to write in.
pub fn write(
    chunk: &Chunk,
    place: usize,
    row: &Row<'_>,
    prepared: &mut Prepared,
    buffer: &mut BytesMut,
    output: &mut Vec<u8>,
) -> io::Result<()> {
    buffer.clear();
    prepared.under_way = None;
    prepared.forget(row.text);
    if row.kind == Kind::Simple {
        frontend::query(row.text, buffer)?;
    } else {
        let name = if row.kind == Kind::Prepared {
            row.name
        } else {
            ""
        };
        if name.is_empty() || !prepared.has(row) {
            if !name.is_empty() {
                // One with another text may be there; closing one that is not does nothing.
                frontend::close(b'S', name, buffer)?;
                prepared.under_way = Some((name.to_owned(), row.text.to_owned()));
            }
            frontend::parse(name, row.text, [], buffer)?;
        }
        let values = chunk.values(place).unwrap_or_default();
        let write_value = |value: Option<&str>, buffer: &mut BytesMut| match value {
            Some(text) => {
                buffer.extend_from_slice(text.as_bytes());
                Ok::<_, Box<dyn Error + Sync + Send>>(IsNull::No)
            }
            None => Ok(IsNull::Yes),
        };
        frontend::bind("", name, [], values, write_value, [], buffer)
            .map_err(|_| io::Error::other("too many or too long parameters"))?;
        frontend::describe(b'P', "", buffer)?;
        frontend::execute("", 0, buffer)?;
        frontend::sync(buffer);
    }
    output.extend_from_slice(buffer);
    Ok(())
}
