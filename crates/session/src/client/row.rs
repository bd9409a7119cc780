//! One row of a result.
//!
//! Enters: a DataRow message. Leaves: values by column, decoded on request. Never: copies.

use std::io;
use std::ops::Range;

use fallible_iterator::FallibleIterator;
use postgres_protocol::message::backend::DataRowBody;

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
    pub(crate) fn parse(
        body: &'a DataRowBody,
        ranges: &'a mut Vec<Option<Range<usize>>>,
    ) -> io::Result<Row<'a>> {
        ranges.clear();
        body.ranges().for_each(|range| {
            ranges.push(range);
            Ok(())
        })?;
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

    /// A value of type text, varchar or name.
    #[must_use]
    pub fn text(&self, column: usize) -> Option<&'a str> {
        std::str::from_utf8(self.bytes(column)?).ok()
    }
}
