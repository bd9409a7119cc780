//! The counters thread: runs each counters query when it is due.
//!
//! Enters: rows of text labels and numbers. Leaves: [`Values`], labels joined into an object.
//! Never: computes differences or detects resets; a NULL gives no row.

use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use pgassay_session::client::{Client, Column, Row, Statement};
use pgassay_session::{SessionError, clock};

use crate::configuration::CounterQuery;
use crate::cost::CpuMeter;
use crate::samples::columns::Values;
use crate::samples::names::Names;
use crate::schedule::{Allowance, Schedule, rest_after};
use crate::server::backoff::Backoff;
use crate::server::link::{Link, SEND_AS_THEY_ARE, cannot_convert, is_transient};
use crate::shared::Shared;

const INT8: u32 = 20;
const TEXT: u32 = 25;
const FLOAT8: u32 = 701;

/// A query and when it runs; dropped for good once it proves unusable.
struct Task<'a> {
    query: &'a CounterQuery,
    schedule: Schedule,
    /// Prepared in the current session.
    ready: Option<Prepared>,
    backoff: Backoff,
    /// The time allowance of this query, if it has one.
    allowance: Option<Allowance>,
    useless: bool,
}

/// The role of a column of a counters query.
enum Part {
    Label,
    Integer(String),
    Float(String),
}

struct Prepared {
    statement: Statement,
    parts: Vec<Part>,
}

pub(crate) fn run(link: Link, first: Client, queries: &[CounterQuery], shared: &Shared) {
    let start = Instant::now();
    let mut tasks: Vec<Task<'_>> = queries
        .iter()
        .map(|query| Task {
            query,
            // Counters have no jitter, so that sources read at equal times can be compared.
            schedule: Schedule::new(start, query.every, 0.0, 0),
            ready: None,
            backoff: Backoff::default(),
            allowance: query.busy_share.map(|share| Allowance::new(share, start)),
            useless: false,
        })
        .collect();
    let mut meter = CpuMeter::new(&shared.costs);
    link.keep_serving(first, shared, |client| {
        serve(client, &mut tasks, shared, &mut meter)
    });
}

/// Reads until asked to stop, or until every query was dropped.
fn serve(
    client: &mut Client,
    tasks: &mut [Task<'_>],
    shared: &Shared,
    meter: &mut CpuMeter<'_>,
) -> Result<(), SessionError> {
    for task in tasks.iter_mut() {
        task.ready = None;
        task.schedule.resume(Instant::now());
    }
    let (mut values, names) = (Values::default(), Names::default());
    while let Some(due) = next_due(tasks) {
        if shared.stop.wait_until(due) {
            break;
        }
        let now = Instant::now();
        for task in tasks.iter_mut().filter(|task| !task.useless) {
            if task.schedule.due() > now {
                continue;
            }
            let began = Instant::now();
            let late = task.schedule.is_late(now);
            let mut pause = Duration::ZERO;
            let mut looked = look(client, task, &mut values, &names, shared);
            if looked.as_ref().is_err_and(cannot_convert) {
                let as_they_are = client.execute(SEND_AS_THEY_ARE);
                looked = as_they_are.and_then(|()| look(client, task, &mut values, &names, shared));
            }
            match looked {
                Ok(()) => task.backoff.succeeded(),
                Err(error) if error.is_fatal() => return Err(error),
                Err(error) => {
                    warn(shared, task.query, &error.to_string());
                    task.useless = !is_transient(&error);
                    pause = task.backoff.after(&error, Instant::now());
                }
            }
            let ended = Instant::now();
            let rest = rest_after(ended - began, shared.busy_share).max(pause);
            let own = task.allowance.as_mut().map_or(Duration::ZERO, |allowed| {
                allowed.rest_after(ended - began, ended)
            });
            let mut skipped = task
                .schedule
                .advance_after_rest(ended, ended + rest.max(own));
            if own > rest {
                // A pause for the query's own share is normal and no sign of a slow server.
                skipped.rested = 0;
            }
            shared.costs.count_ticks(late, skipped);
        }
        meter.count_cpu();
    }
    Ok(())
}

/// When the next query is due; `None` once all were dropped.
fn next_due(tasks: &[Task<'_>]) -> Option<Instant> {
    let useful = tasks.iter().filter(|task| !task.useless);
    useful.map(|task| task.schedule.due()).min()
}

/// Prepares the query if needed and reads it; either may fail temporarily.
fn look(
    client: &mut Client,
    task: &mut Task<'_>,
    values: &mut Values,
    names: &Names,
    shared: &Shared,
) -> Result<(), SessionError> {
    if task.ready.is_none() {
        task.ready = prepare(client, task.query, shared)?;
    }
    match &task.ready {
        Some(prepared) => read(client, &task.query.source, prepared, values, names, shared),
        None => {
            task.useless = true;
            Ok(())
        }
    }
}

/// Prepares the query; `None` with a warning if its columns cannot be used.
fn prepare(
    client: &mut Client,
    query: &CounterQuery,
    shared: &Shared,
) -> Result<Option<Prepared>, SessionError> {
    let statement = client.prepare(&query.sql)?;
    match parts(&statement.columns) {
        Ok(parts) => Ok(Some(Prepared { statement, parts })),
        Err(problem) => {
            warn(shared, query, &problem);
            Ok(None)
        }
    }
}

fn parts(columns: &[Column]) -> Result<Vec<Part>, String> {
    columns
        .iter()
        .map(|column| match column.type_oid {
            TEXT => Ok(Part::Label),
            INT8 => Ok(Part::Integer(column.name.clone())),
            FLOAT8 => Ok(Part::Float(column.name.clone())),
            _ => Err(format!(
                "column \"{}\" is not text, int8 or float8; cast it",
                column.name
            )),
        })
        .collect()
}

fn read(
    client: &mut Client,
    source: &str,
    prepared: &Prepared,
    values: &mut Values,
    names: &Names,
    shared: &Shared,
) -> Result<(), SessionError> {
    // A reading that failed half-way is discarded.
    values.clear();
    names.take();
    let source = names.intern(source);
    let asked_ns = clock::now_ns();
    let mut object = String::new();
    client.query(&prepared.statement, |row| {
        join_labels(row, &prepared.parts, &mut object);
        let object = names.intern(&object);
        for (column, part) in prepared.parts.iter().enumerate() {
            let (name, value) = match part {
                Part::Label => continue,
                Part::Integer(name) => (name, row.int8(column).map(|value| value as f64)),
                Part::Float(name) => (name, row.float8(column)),
            };
            if let Some(value) = value {
                values.push(0, source, object, names.intern(name), value);
            }
        }
    })?;
    let time_ns = asked_ns + (clock::now_ns() - asked_ns) / 2;
    values.time_ns.fill(time_ns);
    shared.recent.note_values(values, names);
    shared.counters().append(values, names);
    shared.costs.counter_reads.fetch_add(1, Ordering::Relaxed);
    Ok(())
}

/// The labels of a row with `/` between them; a NULL label is an empty one.
fn join_labels(row: Row<'_>, parts: &[Part], object: &mut String) {
    object.clear();
    let labels = parts
        .iter()
        .enumerate()
        .filter(|(_, part)| matches!(part, Part::Label));
    for (n, (column, _)) in labels.enumerate() {
        if n > 0 {
            object.push('/');
        }
        object.push_str(&row.text(column).unwrap_or_default());
    }
}

fn warn(shared: &Shared, query: &CounterQuery, problem: &str) {
    let source = &query.source;
    shared.warnings.add(&format!("counters {source}"), || {
        format!("{source} could not be read: {problem}")
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    fn column(name: &str, type_oid: u32) -> Column {
        Column {
            name: name.into(),
            type_oid,
        }
    }

    #[test]
    fn text_is_a_label_and_numbers_are_values() {
        let columns = [column("o", TEXT), column("n", INT8), column("t", FLOAT8)];
        let parts = parts(&columns).unwrap();
        assert!(matches!(
            parts[..],
            [Part::Label, Part::Integer(_), Part::Float(_)]
        ));
    }

    #[test]
    fn a_column_of_another_type_is_named() {
        let problem = parts(&[column("wal_bytes", 1700)]).err().unwrap();
        assert!(problem.contains("wal_bytes"));
    }
}
