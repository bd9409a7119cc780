//! The variables that `\gset` and `\aset` take from results.
//!
//! Enters: the column descriptions and rows of one statement's results. Leaves: variables, set
//! as texts. Never: keeps more than one row.

use pgassay_session::shown;

use crate::messages::Malformed;
use crate::script::{Capture, Fault, Names, Variables, is_name};

/// Bytes of a column description after its name.
const BEHIND_NAME: usize = 18;
const BROKEN_ROW: Malformed = Malformed("a row is not as it was described");

/// The results of the running statement.
#[derive(Debug, Default)]
pub struct Results {
    /// Bodies of the latest RowDescription and DataRow.
    columns: Vec<u8>,
    row: Vec<u8>,
    /// Rows of the current result.
    rows: u64,
    /// Rows of the result that ended last.
    last_rows: u64,
    ended: u64,
    fault: Option<Fault>,
    name: Vec<u8>,
}

impl Results {
    /// Prepares for the results of a statement.
    pub fn clear(&mut self) {
        self.rows = 0;
        self.last_rows = 0;
        self.ended = 0;
        self.fault = None;
    }

    pub fn columns(&mut self, body: &[u8]) {
        self.rows = 0;
        replace(&mut self.columns, body);
    }

    pub fn row(&mut self, body: &[u8]) {
        self.rows += 1;
        replace(&mut self.row, body);
    }

    /// One result has ended.
    pub fn end(
        &mut self,
        capture: &Capture,
        names: &Names,
        variables: &mut Variables,
    ) -> Result<(), Malformed> {
        self.last_rows = std::mem::take(&mut self.rows);
        if capture.all && self.last_rows > 0 {
            self.assign(capture, names, variables)?;
        }
        self.ended += 1;
        Ok(())
    }

    /// All results have ended.
    pub fn finish(
        &mut self,
        capture: &Capture,
        names: &Names,
        variables: &mut Variables,
    ) -> Result<Result<(), Fault>, Malformed> {
        if !capture.all {
            if self.last_rows != 1 {
                let query = self.ended.saturating_sub(1);
                return Ok(Err(Fault::new(format!(
                    "query {query}: expected one row, got {}",
                    self.last_rows
                ))));
            }
            self.assign(capture, names, variables)?;
        }
        Ok(self.fault.take().map_or(Ok(()), Err))
    }

    fn assign(
        &mut self,
        capture: &Capture,
        names: &Names,
        variables: &mut Variables,
    ) -> Result<(), Malformed> {
        let (count, mut columns) = counted(&self.columns)?;
        let (values, mut fields) = counted(&self.row)?;
        if count != values {
            return Err(BROKEN_ROW);
        }
        for _ in 0..count {
            let column = next_column(&mut columns).ok_or(BROKEN_ROW)?;
            let text = next_field(&mut fields).ok_or(BROKEN_ROW)?;
            self.name.clear();
            self.name.extend_from_slice(&capture.prefix);
            self.name.extend_from_slice(column);
            // A name that no script mentions needs no slot, but it must be a valid name.
            match names.find(&self.name) {
                Some(slot) => variables.set_text(slot, text),
                None if is_name(&self.name) => {}
                None => {
                    let command = if capture.all { "aset" } else { "gset" };
                    let name = shown(&self.name);
                    let problem = format!("{command}: invalid variable name: \"{name}\"");
                    self.fault.get_or_insert(Fault::new(problem));
                    return Ok(());
                }
            }
        }
        if columns.is_empty() && fields.is_empty() {
            Ok(())
        } else {
            Err(BROKEN_ROW)
        }
    }
}

/// The number at the front of a message, and the rest.
fn counted(body: &[u8]) -> Result<(u16, &[u8]), Malformed> {
    let (count, rest) = body.split_first_chunk().ok_or(BROKEN_ROW)?;
    Ok((u16::from_be_bytes(*count), rest))
}

fn replace(place: &mut Vec<u8>, body: &[u8]) {
    place.clear();
    place.extend_from_slice(body);
}

/// The name at the front of column descriptions.
fn next_column<'a>(columns: &mut &'a [u8]) -> Option<&'a [u8]> {
    let end = columns.iter().position(|&byte| byte == 0)?;
    let name = columns.get(..end)?;
    *columns = columns.get(end + 1 + BEHIND_NAME..)?;
    Some(name)
}

/// The text at the front of a row's fields; NULL is empty, as in pgbench.
fn next_field<'a>(fields: &mut &'a [u8]) -> Option<&'a [u8]> {
    let (length, rest) = fields.split_first_chunk::<4>()?;
    let length = match i32::from_be_bytes(*length) {
        -1 => 0,
        length => usize::try_from(length).ok()?,
    };
    let (text, rest) = rest.split_at_checked(length)?;
    *fields = rest;
    Some(text)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::script::{Content, Slot};

    fn columns(names: &[&str]) -> Vec<u8> {
        let mut body = vec![0, names.len() as u8];
        for name in names {
            body.extend_from_slice(name.as_bytes());
            body.extend_from_slice(&[0; 1 + BEHIND_NAME]);
        }
        body
    }

    fn row(fields: &[Option<&str>]) -> Vec<u8> {
        let mut body = vec![0, fields.len() as u8];
        for field in fields {
            let length = field.map_or(-1, |text| text.len() as i32);
            body.extend_from_slice(&length.to_be_bytes());
            body.extend_from_slice(field.unwrap_or_default().as_bytes());
        }
        body
    }

    struct Lab {
        names: Names,
        variables: Variables,
        a: Slot,
        b: Slot,
        results: Results,
    }

    fn lab() -> Lab {
        let mut names = Names::default();
        let (a, b) = (names.slot(b"p_a"), names.slot(b"p_b"));
        Lab {
            variables: names.variables(),
            names,
            a,
            b,
            results: Results::default(),
        }
    }

    fn capture(all: bool) -> Capture {
        Capture {
            all,
            prefix: b"p_".to_vec(),
        }
    }

    impl Lab {
        /// One result; `None` is a command without rows.
        fn result(&mut self, all: bool, names: &[&str], rows: Option<&[&[Option<&str>]]>) {
            if let Some(rows) = rows {
                self.results.columns(&columns(names));
                for fields in rows {
                    self.results.row(&row(fields));
                }
            }
            self.results
                .end(&capture(all), &self.names, &mut self.variables)
                .unwrap();
        }

        fn finish(&mut self, all: bool) -> Result<(), String> {
            self.results
                .finish(&capture(all), &self.names, &mut self.variables)
                .map_err(|malformed| malformed.0.to_owned())?
                .map_err(|fault| fault.to_string())
        }

        fn text(&self, slot: Slot) -> Option<String> {
            match self.variables.get(slot)? {
                Content::Text(text) => Some(String::from_utf8_lossy(text).into_owned()),
                _ => None,
            }
        }
    }

    proptest! {
        #[test]
        fn hostile_columns_and_rows_never_panic(
            results in prop::collection::vec(
                (prop::option::of(hostile()), prop::option::of(hostile()), any::<bool>()), 0..6
            ),
            all: bool,
        ) {
            let mut lab = lab();
            for (columns, row, ends) in results {
                if let Some(columns) = columns {
                    lab.results.columns(&columns);
                }
                if let Some(row) = row {
                    lab.results.row(&row);
                }
                if ends {
                    let _ = lab.results.end(&capture(all), &lab.names, &mut lab.variables);
                }
            }
            let _ = lab.finish(all);
        }
    }

    /// A body that begins as one should and goes on with lengths at their edges.
    fn hostile() -> impl Strategy<Value = Vec<u8>> {
        let lengths = prop::sample::select(&[0i32, 1, 3, -1, -2, i32::MIN, i32::MAX][..]);
        let part = prop_oneof![
            lengths.prop_map(|length| length.to_be_bytes().to_vec()),
            Just(b"a\0".to_vec()),
            Just([&b"b\0"[..], &[0; BEHIND_NAME]].concat()),
            prop::collection::vec(any::<u8>(), 0..6),
        ];
        prop::collection::vec(part, 0..8).prop_map(|parts| parts.concat())
    }

    #[test]
    fn gset_takes_the_only_row_of_the_last_result() {
        let mut lab = lab();
        lab.result(false, &["a"], Some(&[&[Some("1")], &[Some("2")]]));
        lab.result(
            false,
            &["a", "b", "c"],
            Some(&[&[Some("3"), None, Some("x")]]),
        );
        assert_eq!(lab.finish(false), Ok(()));
        assert_eq!(lab.text(lab.a).as_deref(), Some("3"));
        assert_eq!(lab.text(lab.b).as_deref(), Some(""));
    }

    #[test]
    fn gset_refuses_any_other_number_of_rows() {
        for (rows, problem) in [
            (None, "query 1: expected one row, got 0"),
            (Some(&[][..]), "query 1: expected one row, got 0"),
            (
                Some(&[&[Some("1")][..], &[Some("2")]][..]),
                "query 1: expected one row, got 2",
            ),
        ] {
            let mut lab = lab();
            lab.result(false, &["a"], Some(&[&[Some("1")]]));
            lab.result(false, &["a"], rows);
            assert_eq!(lab.finish(false), Err(problem.to_owned()));
            assert_eq!(lab.text(lab.a), None);
        }
    }

    #[test]
    fn aset_takes_the_last_row_of_every_result() {
        let mut lab = lab();
        lab.result(true, &["a"], Some(&[&[Some("1")], &[Some("2")]]));
        lab.result(true, &["b"], Some(&[&[Some("3")]]));
        lab.result(true, &["b"], Some(&[]));
        lab.result(true, &[], None);
        assert_eq!(lab.finish(true), Ok(()));
        assert_eq!(lab.text(lab.a).as_deref(), Some("2"));
        assert_eq!(lab.text(lab.b).as_deref(), Some("3"));
    }

    #[test]
    fn a_column_that_is_no_name_is_a_fault() {
        let mut lab = lab();
        lab.result(false, &["?column?"], Some(&[&[Some("1")]]));
        let problem = "gset: invalid variable name: \"p_?column?\"";
        assert_eq!(lab.finish(false), Err(problem.to_owned()));
        lab.results.clear();
        lab.result(false, &["a"], Some(&[&[Some("1")]]));
        assert_eq!(lab.finish(false), Ok(()));
    }

    #[test]
    fn a_row_that_is_not_as_described_breaks_the_protocol() {
        let good = (columns(&["a"]), row(&[Some("12345")]));
        let cut = |whole: &[u8], at: usize| whole.get(..at).unwrap_or(whole).to_vec();
        let mut bad = vec![
            (columns(&["a", "b"]), good.1.clone()),
            (good.0.clone(), row(&[Some("1"), Some("2")])),
            (good.0.clone(), b"\0\x01\xff\xff\xff\xf9".to_vec()),
            (good.0.clone(), b"\0\x01\x7f\xff\xff\xffx".to_vec()),
            (good.0.clone(), [&good.1[..], b"x"].concat()),
        ];
        bad.extend((0..good.0.len()).map(|at| (cut(&good.0, at), good.1.clone())));
        bad.extend((0..good.1.len()).map(|at| (good.0.clone(), cut(&good.1, at))));
        for all in [false, true] {
            for (columns, row) in &bad {
                let mut lab = lab();
                lab.results.columns(columns);
                lab.results.row(row);
                let (names, variables) = (&lab.names, &mut lab.variables);
                let ended = lab.results.end(&capture(all), names, variables);
                let ended = ended.and_then(|()| {
                    lab.results
                        .finish(&capture(all), names, variables)
                        .map(|_| ())
                });
                assert_eq!(ended, Err(BROKEN_ROW), "{columns:?} {row:?}");
            }
        }
    }
}
