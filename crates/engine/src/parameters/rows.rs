//! The rows of a file in memory.
//!
//! Enters: parts of the file's columns, in Arrow's layout. Leaves: one row's values at a time.
//! Never: keeps a row in several places: one drawn at random is one part of the memory to wait
//! for, whatever the number of its columns.

use std::fmt;

use super::column::{ColumnPart, DOUBLE, FALSE, INT, Kind, RowsProblem, TEXT, TRUE, split_text};
use crate::script::{Content, Slot, Value, Variables};

/// Rows in a block, of as many bytes as 32 bits can count.
const BLOCK: usize = 1024;

#[derive(Default)]
pub struct Rows {
    kinds: Vec<Kind>,
    rows: usize,
    /// Bytes of a row; none where there are texts.
    width: Option<usize>,
    /// Where each row begins, if they have not all as many bytes: behind the start of its block.
    starts: Vec<u32>,
    /// Where each block of rows begins in `values`.
    blocks: Vec<usize>,
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
            let written = self.begin_row(self.rows + row).and_then(|()| {
                let mut columns = columns.iter();
                columns.try_for_each(|column| column.write(row, &mut self.values))
            });
            if let Err(problem) = written {
                self.starts.truncate(self.rows);
                self.blocks.truncate(self.starts.len().div_ceil(BLOCK));
                self.values.truncate(bytes);
                return Err(problem);
            }
        }
        self.rows += length;
        Ok(())
    }

    fn begin_row(&mut self, row: usize) -> Result<(), RowsProblem> {
        if self.width.is_some() {
            return Ok(());
        }
        let at = self.values.len();
        if row.is_multiple_of(BLOCK) {
            self.blocks.push(at);
        }
        let block = self.blocks.last().copied().unwrap_or_default();
        let behind = u32::try_from(at - block).map_err(|_| RowsProblem::Large)?;
        self.starts.push(behind);
        Ok(())
    }

    /// Where a row begins in `values`.
    fn start(&self, row: usize) -> usize {
        match self.width {
            // Nothing else is read from the memory for it.
            Some(width) => row * width,
            None => {
                let block = self.blocks.get(row / BLOCK).copied().unwrap_or_default();
                block + self.starts.get(row).copied().unwrap_or_default() as usize
            }
        }
    }

    /// Lets the processor fetch where a row begins, before `fetch` needs it.
    pub fn fetch_start(&self, row: usize) {
        fetch(self.starts.get(row));
    }

    /// Lets the processor fetch the first bytes of a row, before `assign` needs them.
    pub fn fetch(&self, row: usize) {
        let start = self.start(row);
        fetch(self.values.get(start));
        fetch(self.values.get(start + LINE));
    }

    /// Sets a client's variables to a row; a column without a slot is left out.
    pub fn assign(&self, row: usize, slots: &[Option<Slot>], variables: &mut Variables) {
        let mut rest = self.values.get(self.start(row)..).unwrap_or_default();
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
                    let (text, after) = split_text(after);
                    if let Some(slot) = slot {
                        variables.set_given(*slot, text);
                    }
                    rest = after;
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

/// Bytes that a processor fetches together.
const LINE: usize = 64;

/// What a transaction waits for otherwise, a place of a large memory drawn at random.
fn fetch<T>(place: Option<&T>) {
    #[cfg(target_arch = "x86_64")]
    if let Some(place) = place {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        // SAFETY: fetching ahead reads nothing into the program, and faults nowhere.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(std::ptr::from_ref(place).cast()) };
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = place;
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
    fn texts_of_any_length_are_found_in_every_block() {
        let lengths = || (0..3 * BLOCK).map(|row| row % 600);
        let mut starts = vec![0];
        starts.extend(lengths().scan(0, |end, length| {
            *end += u32::try_from(length).unwrap();
            Some(*end)
        }));
        let (starts, data) = (text(&starts), vec![b'x'; lengths().sum()]);
        let mut rows = Rows::new(vec![Kind::Text]);
        let column = ColumnPart {
            kind: Kind::Text,
            validity: None,
            starts: &starts,
            data: &data,
        };
        rows.add(3 * BLOCK, &[column]).unwrap();
        let mut names = Names::default();
        let slot = names.slot(b"t");
        let mut variables = names.variables();
        for (row, length) in lengths().enumerate() {
            rows.fetch(row);
            rows.assign(row, &[Some(slot)], &mut variables);
            let expected = Content::Given(vec![b'x'; length]);
            assert_eq!(variables.get(slot), Some(&expected));
        }
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
