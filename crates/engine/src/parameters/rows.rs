//! The rows of a file in memory.
//!
//! Enters: parts of the file's columns, in Arrow's layout. Leaves: one row's values at a time.
//! Never: keeps a row in several places: one drawn at random is one part of the memory to wait
//! for, whatever the number of its columns.

use std::fmt;

use serde::Deserialize;

use crate::script::{Content, Slot, Value, Variables};

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
    #[error("a text has a zero byte, which PostgreSQL does not take")]
    ZeroByte,
}

/// Each value begins with one of these bytes.
const NULL: u8 = 0;
const INT: u8 = 1;
const DOUBLE: u8 = 2;
const FALSE: u8 = 3;
const TRUE: u8 = 4;
const TEXT: u8 = 5;

#[derive(Default)]
pub struct Rows {
    kinds: Vec<Kind>,
    rows: usize,
    /// Bytes of a row; none where there are texts.
    width: Option<usize>,
    /// Where each row begins in `values`, if they have not all as many bytes.
    starts: Vec<u64>,
    values: Vec<u8>,
}

impl Rows {
    #[must_use]
    pub fn new(kinds: Vec<Kind>) -> Rows {
        let widths = kinds.iter().map(|kind| kind.width());
        Rows {
            width: widths.sum(),
            kinds,
            ..Rows::default()
        }
    }

    #[must_use]
    pub fn len(&self) -> usize {
        self.rows
    }

    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.rows == 0
    }

    #[must_use]
    pub fn columns(&self) -> usize {
        self.kinds.len()
    }

    /// Adds the next `length` rows; after an error none of them.
    pub fn add(&mut self, length: usize, columns: &[ColumnPart<'_>]) -> Result<(), RowsProblem> {
        if !columns
            .iter()
            .map(|column| column.kind)
            .eq(self.kinds.iter().copied())
        {
            return Err(RowsProblem::OtherColumns);
        }
        let bytes = self.values.len();
        for row in 0..length {
            if self.width.is_none() {
                self.starts.push(self.values.len() as u64);
            }
            for column in columns {
                if let Err(problem) = column.write(row, &mut self.values) {
                    self.starts.truncate(self.rows);
                    self.values.truncate(bytes);
                    return Err(problem);
                }
            }
        }
        self.rows += length;
        Ok(())
    }

    /// Sets a client's variables to a row; a column without a slot is left out.
    pub fn assign(&self, row: usize, slots: &[Option<Slot>], variables: &mut Variables) {
        let start = match self.width {
            // Nothing else is read from the memory for it.
            Some(width) => row * width,
            None => self.starts.get(row).copied().unwrap_or_default() as usize,
        };
        let mut rest = self.values.get(start..).unwrap_or_default();
        for (slot, kind) in slots.iter().zip(&self.kinds) {
            let Some((tag, after)) = rest.split_first() else {
                return;
            };
            let eight = || after.first_chunk().copied().unwrap_or_default();
            let content = match *tag {
                INT => Content::Value(Value::Int(i64::from_le_bytes(eight()))),
                DOUBLE => Content::Exact(f64::from_le_bytes(eight())),
                FALSE | TRUE => Content::Value(Value::Bool(*tag == TRUE)),
                TEXT => {
                    let length = after.first_chunk().copied().map_or(0, u32::from_le_bytes);
                    let end = length as usize + 4;
                    if let Some(slot) = slot {
                        variables.set_given(*slot, after.get(4..end).unwrap_or_default());
                    }
                    rest = after.get(end..).unwrap_or_default();
                    continue;
                }
                _ => Content::Value(Value::Null),
            };
            if let Some(slot) = slot {
                variables.set(*slot, content);
            }
            let width = kind.width().unwrap_or(1);
            rest = rest.get(width..).unwrap_or_default();
        }
    }
}

/// Counts only: values are the user's.
impl fmt::Debug for Rows {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} rows of {} columns", self.len(), self.columns())
    }
}

impl Kind {
    /// Bytes of a value with the one that it begins with; none of texts, which differ.
    fn width(self) -> Option<usize> {
        match self {
            Kind::Int | Kind::Double => Some(9),
            Kind::Bool => Some(1),
            Kind::Text => None,
        }
    }
}

impl ColumnPart<'_> {
    fn write(&self, row: usize, output: &mut Vec<u8>) -> Result<(), RowsProblem> {
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
                output.extend_from_slice(&(end - begin).to_le_bytes());
                output.extend_from_slice(text);
            }
        }
        Ok(())
    }
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::script::Names;

    fn text(starts: &[u32]) -> Vec<u8> {
        starts
            .iter()
            .flat_map(|start| start.to_ne_bytes())
            .collect()
    }

    #[test]
    fn a_row_s_values_are_the_client_s_variables() {
        let ints: Vec<u8> = [7_i64, -1].iter().flat_map(|n| n.to_ne_bytes()).collect();
        let doubles: Vec<u8> = [0.1_f64, 2.0]
            .iter()
            .flat_map(|n| n.to_ne_bytes())
            .collect();
        let starts = text(&[3, 5, 5]);
        let part = |kind, validity, starts, data| ColumnPart {
            kind,
            validity,
            starts,
            data,
        };
        let mut rows = Rows::new(vec![Kind::Int, Kind::Text, Kind::Double, Kind::Bool]);
        let columns = [
            part(Kind::Int, Some(&[0b01_u8][..]), &[][..], &ints[..]),
            part(Kind::Text, None, &starts[..], &b"abcde"[..]),
            part(Kind::Double, None, &[], &doubles),
            part(Kind::Bool, None, &[], &[0b01]),
        ];
        rows.add(2, &columns).unwrap();
        assert_eq!(format!("{rows:?}"), "2 rows of 4 columns");

        let mut names = Names::default();
        let slots = [b"i", b"t", b"d", b"b"].map(|name| Some(names.slot(name)));
        let mut variables = names.variables();
        let mut taken = |row| {
            rows.assign(row, &slots, &mut variables);
            slots.map(|slot| variables.get(slot.unwrap()).unwrap().clone())
        };
        let given = |text: &str| Content::Given(text.into());
        let (int, bool) = (Value::Int(7), Value::Bool(true));
        let first = [
            Content::Value(int),
            given("de"),
            Content::Exact(0.1),
            Content::Value(bool),
        ];
        assert_eq!(taken(0), first);
        let (null, bool) = (Value::Null, Value::Bool(false));
        let second = [
            Content::Value(null),
            given(""),
            Content::Exact(2.0),
            Content::Value(bool),
        ];
        assert_eq!(taken(1), second);
        rows.assign(0, &[None, None, None, slots[3]], &mut variables);
        assert_eq!(variables.get(slots[3].unwrap()), Some(&first[3]));
    }

    #[test]
    fn rows_without_texts_have_their_nulls_too() {
        let ints: Vec<u8> = (0..3_i64).flat_map(i64::to_ne_bytes).collect();
        let part = |kind, bits, data| ColumnPart {
            kind,
            validity: Some(bits),
            starts: &[],
            data,
        };
        let mut rows = Rows::new(vec![Kind::Int, Kind::Bool]);
        let columns = [
            part(Kind::Int, &[0b101_u8][..], &ints[..]),
            part(Kind::Bool, &[0b110], &[0b100]),
        ];
        rows.add(3, &columns).unwrap();
        let mut names = Names::default();
        let slots = [b"i", b"b"].map(|name| Some(names.slot(name)));
        let mut variables = names.variables();
        let taken = [0, 1, 2].map(|row| {
            rows.assign(row, &slots, &mut variables);
            slots.map(|slot| variables.get(slot.unwrap()).unwrap().clone())
        });
        let expected = [
            [Value::Int(0), Value::Null],
            [Value::Null, Value::Bool(false)],
            [Value::Int(2), Value::Bool(true)],
        ];
        assert_eq!(taken, expected.map(|row| row.map(Content::Value)));
    }

    #[test]
    fn what_is_not_as_it_was_described_is_refused_and_not_kept() {
        let starts = text(&[0, 1, 3]);
        let part = |kind, data| ColumnPart {
            kind,
            validity: None,
            starts: &starts,
            data,
        };
        for (length, kind, data, problem) in [
            (2, Kind::Text, &b"ab"[..], RowsProblem::Short),
            (3, Kind::Text, b"abc", RowsProblem::Short),
            (2, Kind::Text, b"ab\0", RowsProblem::ZeroByte),
            (1, Kind::Int, b"12345678", RowsProblem::OtherColumns),
        ] {
            let mut rows = Rows::new(vec![Kind::Text]);
            assert_eq!(rows.add(length, &[part(kind, data)]), Err(problem));
            assert!(rows.is_empty());
        }
    }
}
