//! One row of a result.
//!
//! Enters: a DataRow message. Leaves: values by column, decoded on request. Never: copies.

use std::borrow::Cow;
use std::io;
use std::ops::Range;

use postgres_protocol::message::backend::DataRowBody;

use crate::shown;

/// One row of a result, in binary form.
///
/// Every getter returns `None` for NULL, for a column that does not exist, and for a value of
/// another type: check the types once, in `Statement::columns`.
#[derive(Debug, Clone, Copy)]
pub struct Row<'a> {
    buffer: &'a [u8],
    ranges: &'a [Option<Range<usize>>],
}

impl<'a> Row<'a> {
    /// A row with another number of values than `columns`, or with a length that is none, is an
    /// error.
    pub(crate) fn parse(
        body: &'a DataRowBody,
        columns: usize,
        ranges: &'a mut Vec<Option<Range<usize>>>,
    ) -> io::Result<Row<'a>> {
        let malformed = || io::Error::new(io::ErrorKind::InvalidData, "a row is malformed");
        ranges.clear();
        let mut rest = body.buffer();
        while let Some((length, after)) = rest.split_first_chunk() {
            let at = body.buffer().len() - after.len();
            rest = after;
            ranges.push(match i32::from_be_bytes(*length) {
                -1 => None,
                length => {
                    let length = usize::try_from(length).map_err(|_| malformed())?;
                    rest = after.get(length..).ok_or_else(malformed)?;
                    Some(at..at + length)
                }
            });
        }
        if !rest.is_empty() || ranges.len() != columns {
            return Err(malformed());
        }
        Ok(Row {
            buffer: body.buffer(),
            ranges,
        })
    }

    /// The bytes of a value.
    #[must_use]
    pub fn bytes(&self, column: usize) -> Option<&'a [u8]> {
        let range = self.ranges.get(column)?.as_ref()?;
        self.buffer.get(range.clone())
    }

    /// A value of type int4.
    #[must_use]
    pub fn int4(&self, column: usize) -> Option<i32> {
        Some(i32::from_be_bytes(self.bytes(column)?.try_into().ok()?))
    }

    /// A value of type int8.
    #[must_use]
    pub fn int8(&self, column: usize) -> Option<i64> {
        Some(i64::from_be_bytes(self.bytes(column)?.try_into().ok()?))
    }

    /// A value of type float8.
    #[must_use]
    pub fn float8(&self, column: usize) -> Option<f64> {
        Some(f64::from_be_bytes(self.bytes(column)?.try_into().ok()?))
    }

    /// A value of type text, varchar or name; bytes that are not UTF-8 are shown by number.
    #[must_use]
    pub fn text(&self, column: usize) -> Option<Cow<'a, str>> {
        self.bytes(column).map(shown)
    }
}
