//! Counts of a replay that a load of scripts does not have.
//!
//! Enters: starts and ends of statements. Leaves: how late they began and why, what failed here and
//! at the source, times by statement. Never: keeps a text or a value.

use hdrhistogram::Histogram;
use hdrhistogram::errors::CreationError;
use serde::Serialize;

use crate::record::histogram;

/// A later start is late.
const LATE_NS: u64 = 5_000_000;

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

    /// A statement ended: after this time, or by a failure.
    pub fn ended(&mut self, number: u32, took_ns: Option<i64>, failed_there: bool) {
        match (took_ns.is_none(), failed_there) {
            (true, true) => self.figures.failed_here_and_there += 1,
            (true, false) => self.figures.failed_here_only += 1,
            (false, true) => self.figures.failed_there_only += 1,
            (false, false) => {}
        }
        let number = usize::try_from(number).unwrap_or(usize::MAX);
        if let Some(statement) = self.figures.statements.get_mut(number) {
            statement.count += 1;
            match took_ns {
                Some(ns) => statement.sum_ns += u64::try_from(ns).unwrap_or(0),
                None => statement.failed += 1,
            }
        }
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
