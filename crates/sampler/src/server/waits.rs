//! The waits thread: reads what each busy process is doing, tick by tick.
//!
//! Enters: rows of the waits query. Leaves: [`Waits`](crate::Waits). Never: counts the sampler
//! itself, which the query leaves out.

use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use pgassay_session::client::{Client, Column, Row, Statement};
use pgassay_session::{SessionError, clock};

use crate::configuration::WaitsQuery;
use crate::cost::CpuMeter;
use crate::samples::columns::Wait;
use crate::samples::names::Names;
use crate::schedule::{Schedule, rest_after};
use crate::server::backoff::Backoff;
use crate::server::link::{Link, is_transient};
use crate::server::server_clock::ServerClock;
use crate::shared::Shared;

/// Low bits of a transaction's start that are dropped, about a millisecond: the offset of the
/// server's clock is hardly known better, and these bits would need most of the storage.
const XACT_START_NOISE: i64 = (1 << 20) - 1;

const INT4: u32 = 23;
const INT8: u32 = 20;
const TEXT: u32 = 25;

/// The columns of the waits query, in their order.
const COLUMNS: [(&str, u32); 9] = [
    ("pid", INT4),
    ("leader_pid", INT4),
    ("backend_type", TEXT),
    ("state", TEXT),
    ("wait_event_type", TEXT),
    ("wait_event", TEXT),
    ("query_id", INT8),
    ("xact_start_us", INT8),
    ("clock_us", INT8),
];

pub(crate) fn run(link: Link, first: Client, query: &WaitsQuery, shared: &Shared) {
    let seed = clock::now_ns().cast_unsigned();
    let mut schedule = Schedule::new(Instant::now(), query.every, query.jitter, seed);
    let mut meter = CpuMeter::new(&shared.costs);
    let mut clock = ServerClock::default();
    link.keep_serving(first, shared, |client| {
        serve(client, query, shared, &mut schedule, &mut meter, &mut clock)
    });
}

/// The rows of one tick, each with the start of its transaction, and the server's clock.
#[derive(Default)]
struct WaitsReading {
    names: Names,
    rows: Vec<(Wait, Option<i64>)>,
    clock_us: Option<i64>,
}

/// Reads until asked to stop, or until the query proves unusable.
fn serve(
    client: &mut Client,
    query: &WaitsQuery,
    shared: &Shared,
    schedule: &mut Schedule,
    meter: &mut CpuMeter<'_>,
    clock: &mut ServerClock,
) -> Result<(), SessionError> {
    let mut ready = None;
    let mut backoff = Backoff::default();
    schedule.resume(Instant::now());
    let mut look = WaitsReading::default();
    while !shared.stop.wait_until(schedule.due()) {
        let began = Instant::now();
        let late = schedule.is_late(began);
        let mut pause = Duration::ZERO;
        match read(client, query, &mut ready, shared, &mut look, clock) {
            Ok(true) => backoff.succeeded(),
            Ok(false) => return Ok(()),
            Err(error) if error.is_fatal() => return Err(error),
            Err(error) => {
                warn(shared, &error.to_string());
                if !is_transient(&error) {
                    return Ok(());
                }
                pause = backoff.after(&error, Instant::now());
            }
        }
        let now = Instant::now();
        let rest = rest_after(now - began, shared.busy_share).max(pause);
        let skipped = schedule.advance_after_rest(now, now + rest);
        shared.costs.count_ticks(late, skipped);
        meter.count_cpu();
    }
    Ok(())
}

/// Reads one tick, after preparing the query if needed; false if its columns cannot be used.
///
/// Preparing may fail temporarily, just as reading may.
fn read(
    client: &mut Client,
    query: &WaitsQuery,
    ready: &mut Option<Statement>,
    shared: &Shared,
    look: &mut WaitsReading,
    clock: &mut ServerClock,
) -> Result<bool, SessionError> {
    let statement = match ready {
        Some(statement) => statement,
        None => ready.insert(client.prepare(&query.sql)?),
    };
    if let Some(problem) = mismatch(&statement.columns) {
        warn(shared, &problem);
        return Ok(false);
    }
    tick(client, statement, shared, look, clock)?;
    Ok(true)
}

fn tick(
    client: &mut Client,
    statement: &Statement,
    shared: &Shared,
    look: &mut WaitsReading,
    server_clock: &mut ServerClock,
) -> Result<(), SessionError> {
    look.rows.clear();
    look.names.take();
    look.clock_us = None;
    let asked_ns = clock::now_ns();
    let mut hidden = false;
    client.query(statement, |row| {
        if is_hidden(row) {
            hidden = true;
        } else {
            look.rows.push(decode(row, &look.names));
            look.clock_us = look.clock_us.or_else(|| row.int8(8));
        }
    })?;
    // Scenarios last milliseconds: read the board first, store the rows after it.
    let running = shared.board.as_ref().map(|board| board.running());
    // The server took its snapshot between query and answer: take the middle.
    let answered_ns = clock::now_ns();
    let tick_ns = asked_ns + (answered_ns - asked_ns) / 2;
    if let Some(clock_us) = look.clock_us {
        server_clock.compare(asked_ns, answered_ns, clock_us);
    }

    if hidden {
        shared.warnings.add("privileges", || {
            "waits of other roles' sessions are hidden, so busy ones are missing; \
             grant pg_monitor to the sampler's role"
                .to_owned()
        });
    }
    shared
        .recent
        .note_tick(&look.names, look.rows.iter().map(|(wait, _)| wait));
    for (wait, xact_start_us) in &mut look.rows {
        wait.scenario = running
            .as_ref()
            // A parallel worker does what its leader asked for.
            .and_then(|running| running.scenario(wait.leader_pid.or(wait.pid)?))
            .map(|scenario| look.names.intern(scenario));
        wait.xact_start_ns =
            xact_start_us.map(|start| server_clock.to_local_ns(start) & !XACT_START_NOISE);
    }
    let waits = look.rows.iter().map(|(wait, _)| *wait);
    shared.waits().append(tick_ns, waits, &look.names);
    shared.costs.wait_ticks.fetch_add(1, Ordering::Relaxed);
    Ok(())
}

/// Whether the server hides what this process does, for lack of a privilege.
fn is_hidden(row: Row<'_>) -> bool {
    (2..6).all(|column| row.bytes(column).is_none())
}

/// A row, and when its transaction began by the server's clock, in microseconds.
fn decode(row: Row<'_>, names: &Names) -> (Wait, Option<i64>) {
    let name = |column| row.text(column).map(|text| names.intern(&text));
    let wait = Wait {
        pid: row.int4(0),
        leader_pid: row.int4(1),
        backend_type: name(2),
        state: name(3),
        wait_event_type: name(4),
        wait_event: name(5),
        query_id: row.int8(6),
        xact_start_ns: None,
        scenario: None,
    };
    (wait, row.int8(7))
}

/// What is wrong with the columns of the waits query, if anything is.
fn mismatch(columns: &[Column]) -> Option<String> {
    let fits = columns.len() == COLUMNS.len()
        && columns
            .iter()
            .zip(COLUMNS)
            .all(|(column, (name, type_oid))| column.name == name && column.type_oid == type_oid);
    (!fits).then(|| {
        let expected = COLUMNS.map(|(name, _)| name).join(", ");
        format!("its columns are not {expected} of types int4, int4, 4 × text, 3 × int8")
    })
}

fn warn(shared: &Shared, problem: &str) {
    shared
        .warnings
        .add("waits", || format!("waits could not be sampled: {problem}"));
}

#[cfg(test)]
mod tests {
    use super::*;

    fn columns() -> Vec<Column> {
        COLUMNS
            .iter()
            .map(|&(name, type_oid)| Column {
                name: name.into(),
                type_oid,
            })
            .collect()
    }

    #[test]
    fn columns_of_the_right_names_and_types_fit() {
        assert_eq!(mismatch(&columns()), None);
    }

    #[test]
    fn a_column_of_another_type_or_too_few_columns_do_not_fit() {
        let mut other = columns();
        other[6].type_oid = INT4;
        assert!(mismatch(&other).is_some());
        assert!(mismatch(&columns()[..7]).is_some());
    }
}
