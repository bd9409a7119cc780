//! Counts of a replay that a load of scripts does not have.
//!
//! Enters: starts and ends of statements. Leaves: how late they began and why, what failed here and
//! at the source, times by statement. Never: keeps a text or a value.

use std::collections::BTreeMap;

use hdrhistogram::Histogram;
use hdrhistogram::errors::CreationError;
use serde::Serialize;

use crate::record::histogram;

/// A later start is late.
const LATE_NS: u64 = 5_000_000;
/// Of a log that does not have them.
const NO_SQLSTATE: &str = "     ";

pub struct Counts {
    own: Lateness,
    predecessor: Lateness,
    figures: Figures,
}

/// What is counted as it is shown.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Figures {
    /// Sessions that were opened.
    pub sessions: u64,
    /// Statements outside of transactions, and ends of transactions that were not rolled back.
    pub transactions: u64,
    pub failed_here_and_there: u64,
    /// Those that failed by another SQLSTATE here: "there/here" → statements.
    pub failed_otherwise: BTreeMap<String, u64>,
    pub failed_here_only: u64,
    pub failed_there_only: u64,
    /// How late statements began because of this engine; null at full speed, where none is due.
    pub late_own: Option<Late>,
    /// How late because the statement or session before them had not ended.
    pub late_predecessor: Option<Late>,
    /// By the number that the trace's reader gave each.
    pub statements: Vec<Statement>,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize)]
pub struct Late {
    pub p50_ms: f64,
    pub p99_ms: f64,
    pub max_ms: f64,
    /// Share of the statements that were more than 5 ms late.
    pub share: f64,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize)]
pub struct Statement {
    pub count: u64,
    pub failed: u64,
    /// Sum of the response times of those that succeeded.
    pub sum_ns: u64,
}

struct Lateness {
    histogram: Histogram<u64>,
    late: u64,
}

impl Lateness {
    fn new() -> Result<Lateness, CreationError> {
        Ok(Lateness {
            histogram: histogram()?,
            late: 0,
        })
    }

    fn add(&mut self, late_ns: i64) {
        let late_ns = u64::try_from(late_ns).unwrap_or(0);
        self.histogram.saturating_record(late_ns);
        self.late += u64::from(late_ns > LATE_NS);
    }

    fn shown(&self) -> Late {
        let ms = |value: u64| value as f64 / 1e6;
        Late {
            p50_ms: ms(self.histogram.value_at_quantile(0.5)),
            p99_ms: ms(self.histogram.value_at_quantile(0.99)),
            max_ms: ms(self.histogram.max()),
            share: self.late as f64 / self.histogram.len().max(1) as f64,
        }
    }
}

impl Counts {
    pub fn new(statements: usize) -> Result<Counts, CreationError> {
        Ok(Counts {
            own: Lateness::new()?,
            predecessor: Lateness::new()?,
            figures: Figures {
                statements: vec![Statement::default(); statements],
                ..Figures::default()
            },
        })
    }

    pub fn opened(&mut self) {
        self.figures.sessions += 1;
    }

    /// A statement of the trace's time `at_ns`, which could begin at `due_ns`, began.
    pub fn began(&mut self, at_ns: i64, due_ns: i64, began_ns: i64) {
        self.own.add(began_ns - due_ns);
        self.predecessor.add(due_ns - at_ns);
    }

    pub fn transaction(&mut self) {
        self.figures.transactions += 1;
    }

    /// A statement succeeded after this time.
    pub fn done(&mut self, number: u32, took_ns: i64, failed_there: Option<[u8; 5]>) {
        self.figures.failed_there_only += u64::from(failed_there.is_some());
        if let Some(statement) = self.statement(number) {
            statement.count += 1;
            statement.sum_ns += u64::try_from(took_ns).unwrap_or(0);
        }
    }

    /// A statement failed by a SQLSTATE, or another name of a failure.
    pub fn failed(&mut self, number: u32, here: &str, failed_there: Option<[u8; 5]>) {
        let figures = &mut self.figures;
        if let Some(code) = failed_there {
            figures.failed_here_and_there += 1;
            let there = String::from_utf8_lossy(&code);
            if there != NO_SQLSTATE && there != here {
                let pair = format!("{there}/{here}");
                *figures.failed_otherwise.entry(pair).or_default() += 1;
            }
        } else {
            figures.failed_here_only += 1;
        }
        if let Some(statement) = self.statement(number) {
            statement.count += 1;
            statement.failed += 1;
        }
    }

    fn statement(&mut self, number: u32) -> Option<&mut Statement> {
        let number = usize::try_from(number).ok()?;
        self.figures.statements.get_mut(number)
    }

    #[must_use]
    pub fn into_figures(self, is_paced: bool) -> Figures {
        Figures {
            late_own: is_paced.then(|| self.own.shown()),
            late_predecessor: is_paced.then(|| self.predecessor.shown()),
            ..self.figures
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failure_by_another_sqlstate_than_at_the_source_is_counted_as_such() {
        let mut counts = Counts::new(1).unwrap();
        counts.failed(0, "23505", Some(*b"23505"));
        counts.failed(0, "42P01", Some(*b"23505"));
        counts.failed(0, "42P01", Some(*b"     "));
        counts.failed(0, "42P01", None);
        counts.done(0, 5, Some(*b"23505"));
        let found = counts.into_figures(false);
        assert_eq!(
            (found.failed_here_and_there, found.failed_here_only),
            (3, 1)
        );
        assert_eq!(found.failed_there_only, 1);
        assert_eq!(
            found.failed_otherwise,
            BTreeMap::from([("23505/42P01".to_owned(), 1)])
        );
        assert_eq!(
            (found.statements[0].count, found.statements[0].failed),
            (5, 4)
        );
    }
}
