//! The values of a column, and the bytes that a row has of each.
//!
//! Enters: a part of a file's column, in Arrow's layout. Leaves: a tag and the value's bytes. Never:
//! takes a buffer for longer than it is.

use serde::Deserialize;

/// The type of a column.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    Int,
    Double,
    Bool,
    Text,
}

/// A part of a column: the values in these buffers.
#[derive(Debug, Clone, Copy)]
pub struct ColumnPart<'b> {
    pub kind: Kind,
    /// A bit for each value that is not NULL, the lowest of a byte first; none without NULL.
    pub validity: Option<&'b [u8]>,
    /// Of text: where each value begins in `data`, and the last one ends, as 32-bit integers.
    pub starts: &'b [u8],
    /// 64-bit integers or doubles in the machine's order, bits of booleans, or bytes of texts.
    pub data: &'b [u8],
}

/// Why a part cannot be taken.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RowsProblem {
    #[error("its buffers are too short")]
    Short,
    #[error("its columns are not those of the rows before")]
    OtherColumns,
    #[error("its rows are too large")]
    Large,
    #[error("a text has a zero byte, which PostgreSQL does not take")]
    ZeroByte,
}

/// Each value begins with one of these bytes.
const NULL: u8 = 0;
pub(super) const INT: u8 = 1;
pub(super) const DOUBLE: u8 = 2;
pub(super) const FALSE: u8 = 3;
pub(super) const TRUE: u8 = 4;
pub(super) const TEXT: u8 = 5;
/// A text's length is a byte, or this one and four more.
const LONG: u8 = u8::MAX;

impl Kind {
    /// Bytes of a value with the one that it begins with; none of texts, which differ.
    pub(super) fn width(self) -> Option<usize> {
        match self {
            Kind::Int | Kind::Double => Some(9),
            Kind::Bool => Some(1),
            Kind::Text => None,
        }
    }
}

impl ColumnPart<'_> {
    pub(super) fn write(&self, row: usize, output: &mut Vec<u8>) -> Result<(), RowsProblem> {
        if let Some(bits) = self.validity
            && !bit(bits, row)?
        {
            // As many bytes as any other value, but for a text.
            output.resize(output.len() + self.kind.width().unwrap_or(1), NULL);
            return Ok(());
        }
        match self.kind {
            Kind::Int => {
                output.push(INT);
                let value = i64::from_ne_bytes(fixed(self.data, row)?);
                output.extend_from_slice(&value.to_le_bytes());
            }
            Kind::Double => {
                output.push(DOUBLE);
                let value = f64::from_ne_bytes(fixed(self.data, row)?);
                output.extend_from_slice(&value.to_le_bytes());
            }
            Kind::Bool => output.push(if bit(self.data, row)? { TRUE } else { FALSE }),
            Kind::Text => {
                let edge = |at| fixed(self.starts, at).map(u32::from_ne_bytes);
                let (begin, end) = (edge(row)?, edge(row + 1)?);
                let text = self.data.get(begin as usize..end as usize);
                let text = text.ok_or(RowsProblem::Short)?;
                if text.contains(&0) {
                    return Err(RowsProblem::ZeroByte);
                }
                output.push(TEXT);
                match u8::try_from(end - begin) {
                    Ok(length) if length != LONG => output.push(length),
                    _ => {
                        output.push(LONG);
                        output.extend_from_slice(&(end - begin).to_le_bytes());
                    }
                }
                output.extend_from_slice(text);
            }
        }
        Ok(())
    }
}

/// A text, and what comes after it.
pub(super) fn split_text(bytes: &[u8]) -> (&[u8], &[u8]) {
    let (length, rest) = match bytes.split_first() {
        Some((&LONG, rest)) => match rest.split_first_chunk() {
            Some((length, rest)) => (u32::from_le_bytes(*length) as usize, rest),
            None => (0, rest),
        },
        Some((&length, rest)) => (usize::from(length), rest),
        None => (0, bytes),
    };
    rest.split_at_checked(length).unwrap_or_default()
}

fn bit(bits: &[u8], at: usize) -> Result<bool, RowsProblem> {
    let byte = bits.get(at / 8).ok_or(RowsProblem::Short)?;
    Ok(byte >> (at % 8) & 1 == 1)
}

fn fixed<const N: usize>(data: &[u8], at: usize) -> Result<[u8; N], RowsProblem> {
    let rest = data.get(at * N..);
    let found = rest.and_then(|rest| rest.first_chunk().copied());
    found.ok_or(RowsProblem::Short)
}
