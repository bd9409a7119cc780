//! A part of a trace: rows in order of time, as columns.
//!
//! Enters: columns that the reader of the trace made. Leaves: checked rows, one at a time. Never:
//! reads a file, or shows a text.

use crate::error::EngineError;

/// What a row of a trace does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    Connect,
    Simple,
    Extended,
    Prepared,
    Disconnect,
}

/// Texts one after the other: text n lies between `ends[n]` and `ends[n + 1]`.
#[derive(Debug, Default)]
pub struct Texts {
    pub ends: Vec<u32>,
    pub bytes: Vec<u8>,
}

/// The columns of some rows. `statement`, `name` and `values` refer to the texts beside them; −1
/// is none.
#[derive(Debug, Default)]
pub struct Columns {
    pub session: Vec<i32>,
    /// Microseconds since the first row of the trace.
    pub at_us: Vec<i64>,
    pub kind: Vec<u8>,
    pub statement: Vec<i32>,
    pub name: Vec<i32>,
    /// The SQLSTATE by which the statement failed at the source; zeros where it did not.
    pub failed_there: Vec<[u8; 5]>,
    /// Whether the row is the last of its session.
    pub is_last: Vec<u8>,
    /// Parameters of row n are the values from `first_value[n]` up to `first_value[n + 1]`.
    pub first_value: Vec<u32>,
    pub value_is_null: Vec<u8>,
    pub values: Texts,
    pub statements: Texts,
    /// The number under which each text of `statements` is counted.
    pub numbers: Vec<u32>,
    pub names: Texts,
}

/// Checked columns.
#[derive(Debug)]
pub struct Chunk(Columns);

/// A statement and how it is sent.
#[derive(Debug, Clone, Copy)]
pub struct Row<'c> {
    pub session: i32,
    pub at_us: i64,
    pub kind: Kind,
    /// Empty where the row is no statement.
    pub text: &'c str,
    /// Of the prepared statement; empty for none.
    pub name: &'c str,
    pub number: u32,
    pub failed_there: Option<[u8; 5]>,
    pub is_last: bool,
}

impl Texts {
    fn get(&self, number: usize) -> Option<&str> {
        let start = usize::try_from(*self.ends.get(number)?).ok()?;
        let end = usize::try_from(*self.ends.get(number + 1)?).ok()?;
        std::str::from_utf8(self.bytes.get(start..end)?).ok()
    }

    fn are_whole(&self) -> bool {
        let count = self.ends.len().saturating_sub(1);
        (0..count).all(|number| self.get(number).is_some())
    }
}

impl Chunk {
    pub fn new(columns: Columns) -> Result<Chunk, EngineError> {
        let rows = columns.session.len();
        let refused = |problem: &str| EngineError::configuration("trace", problem);
        let lengths = [
            columns.at_us.len(),
            columns.kind.len(),
            columns.statement.len(),
            columns.name.len(),
            columns.failed_there.len(),
            columns.is_last.len(),
            columns.first_value.len().saturating_sub(1),
        ];
        if lengths.iter().any(|&length| length != rows) {
            return Err(refused("its columns have different lengths"));
        }
        let texts = [&columns.values, &columns.statements, &columns.names];
        if !texts.iter().all(|texts| texts.are_whole()) {
            return Err(refused(
                "a text is not UTF-8, or its place lies outside the texts",
            ));
        }
        let chunk = Chunk(columns);
        if (0..rows).any(|row| chunk.row(row).is_none() || chunk.values(row).is_none()) {
            return Err(refused("a row refers to what is not there"));
        }
        Ok(chunk)
    }

    #[must_use]
    pub fn row(&self, row: usize) -> Option<Row<'_>> {
        let columns = &self.0;
        let kind = match columns.kind.get(row)? {
            0 => Kind::Connect,
            1 => Kind::Simple,
            2 => Kind::Extended,
            3 => Kind::Prepared,
            4 => Kind::Disconnect,
            _ => return None,
        };
        let (text, number) = match usize::try_from(*columns.statement.get(row)?) {
            Ok(statement) => (
                columns.statements.get(statement)?,
                *columns.numbers.get(statement)?,
            ),
            Err(_) if matches!(kind, Kind::Connect | Kind::Disconnect) => ("", 0),
            Err(_) => return None,
        };
        let name = match usize::try_from(*columns.name.get(row)?) {
            Ok(name) => columns.names.get(name)?,
            Err(_) => "",
        };
        Some(Row {
            session: *columns.session.get(row)?,
            at_us: *columns.at_us.get(row)?,
            kind,
            text,
            name,
            number,
            failed_there: Some(*columns.failed_there.get(row)?).filter(|code| *code != [0; 5]),
            is_last: *columns.is_last.get(row)? != 0,
        })
    }

    /// The parameters of a row; `None` among them is NULL.
    #[must_use]
    pub fn values(&self, row: usize) -> Option<Vec<Option<&str>>> {
        let columns = &self.0;
        let first = *columns.first_value.get(row)?;
        let end = *columns.first_value.get(row + 1)?;
        let value = |place: u32| {
            let place = usize::try_from(place).ok()?;
            match columns.value_is_null.get(place)? {
                0 => columns.values.get(place).map(Some),
                _ => Some(None),
            }
        };
        (first..end).map(value).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(texts: &[&str]) -> Texts {
        let mut found = Texts {
            ends: vec![0],
            bytes: Vec::new(),
        };
        for text in texts {
            found.bytes.extend_from_slice(text.as_bytes());
            found.ends.push(u32::try_from(found.bytes.len()).unwrap());
        }
        found
    }

    /// A connection, and a statement with the parameters `a` and NULL.
    fn columns() -> Columns {
        Columns {
            session: vec![3, 3],
            at_us: vec![0, 5],
            kind: vec![0, 3],
            statement: vec![-1, 0],
            name: vec![-1, 0],
            failed_there: vec![[0; 5], *b"42P01"],
            is_last: vec![0, 1],
            first_value: vec![0, 0, 2],
            value_is_null: vec![0, 1],
            values: texts(&["a", ""]),
            statements: texts(&["SELECT $1, $2"]),
            numbers: vec![7],
            names: texts(&["s"]),
        }
    }

    #[test]
    fn a_row_has_its_texts_and_values() {
        let chunk = Chunk::new(columns()).unwrap();
        let row = chunk.row(1).unwrap();
        assert_eq!((row.session, row.at_us, row.kind), (3, 5, Kind::Prepared));
        assert_eq!((row.text, row.name, row.number), ("SELECT $1, $2", "s", 7));
        assert_eq!((row.failed_there, row.is_last), (Some(*b"42P01"), true));
        assert!(chunk.row(0).unwrap().failed_there.is_none());
        assert_eq!(chunk.values(1), Some(vec![Some("a"), None]));
        assert_eq!(chunk.values(0), Some(vec![]));
        assert!(chunk.row(2).is_none());
    }

    #[test]
    fn columns_that_do_not_fit_together_are_refused() {
        let spoil: [fn(&mut Columns); 8] = [
            |columns| columns.at_us.truncate(1),
            |columns| columns.kind = vec![0, 9],
            |columns| columns.statement = vec![-1, 1],
            |columns| columns.statement = vec![-1, -1],
            |columns| columns.first_value = vec![0, 0, 3],
            |columns| columns.numbers.clear(),
            |columns| columns.statements.bytes = vec![0xff; 13],
            |columns| columns.names.ends = vec![0, 9],
        ];
        for spoil in spoil {
            let mut columns = columns();
            spoil(&mut columns);
            assert!(Chunk::new(columns).is_err());
        }
    }
}
