//! `pgassay._core.Replay`.
//!
//! Enters: JSON text, columns of a trace as bytes. Leaves: JSON texts, columns, typed exceptions.
//! Never: holds the interpreter while it connects or waits.

use std::collections::HashMap;
use std::time::Duration;

use pgassay_engine::{Columns, Texts};
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
use pyo3::types::PyDict;

use crate::load::{columns, engine_error, json};

/// One replay of a trace: settings, then the trace piece by piece.
#[pyclass(frozen, module = "pgassay._core")]
pub struct Replay(pgassay_engine::Replay);

#[pymethods]
impl Replay {
    #[new]
    fn new(settings: &str) -> PyResult<Replay> {
        pgassay_engine::Replay::new(settings)
            .map(Replay)
            .map_err(engine_error)
    }

    /// Open and close one session. Raises ConnectionFailed.
    fn connect(&self, py: Python<'_>) -> PyResult<()> {
        py.detach(|| self.0.connect()).map_err(engine_error)
    }

    /// Hand over the next rows of the trace; wait while there are enough ahead. False when the
    /// replay has ended.
    fn feed(&self, py: Python<'_>, rows: HashMap<String, PyBackedBytes>) -> PyResult<bool> {
        py.detach(|| self.0.feed(taken(&rows)))
            .map_err(engine_error)
    }

    /// Say that the trace has no more rows.
    fn end_of_trace(&self) {
        self.0.end_of_trace();
    }

    /// Begin, now or at a time of `now_ns`; returns at once.
    #[pyo3(signature = (at_ns = None))]
    fn start(&self, py: Python<'_>, at_ns: Option<i64>) -> PyResult<()> {
        py.detach(|| self.0.start(at_ns)).map_err(engine_error)
    }

    /// When the replay began; None before.
    fn started_ns(&self) -> Option<i64> {
        self.0.started_ns()
    }

    /// Ask for an early end.
    fn stop(&self) {
        self.0.stop();
    }

    /// Wait without holding the interpreter; True when the replay has ended.
    fn wait(&self, py: Python<'_>, timeout_s: f64) -> bool {
        let timeout = Duration::try_from_secs_f64(timeout_s.max(0.0)).unwrap_or(Duration::MAX);
        py.detach(|| self.0.wait(timeout))
    }

    /// JSON of totals so far, as of `Load.progress`.
    fn progress(&self) -> PyResult<String> {
        json(serde_json::to_string(&self.0.progress()))
    }

    /// JSON of the whole, as of `Load.result`, once ended.
    fn result(&self, py: Python<'_>) -> PyResult<String> {
        py.detach(|| self.0.outcome().map(|(outcome, _)| outcome.to_json()))
            .map_err(engine_error)
            .and_then(json)
    }

    /// JSON of what only a replay counts, once ended.
    fn figures(&self, py: Python<'_>) -> PyResult<String> {
        py.detach(|| {
            self.0
                .outcome()
                .map(|(_, figures)| serde_json::to_string(&*figures))
        })
        .map_err(engine_error)
        .and_then(json)
    }

    /// The columns of `Load.intervals`.
    fn intervals<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let intervals = py
            .detach(|| self.0.outcome().map(|(outcome, _)| outcome.intervals()))
            .map_err(engine_error)?;
        columns(py, intervals)
    }
}

fn taken(rows: &HashMap<String, PyBackedBytes>) -> Columns {
    let bytes = |name: &str| rows.get(name).map_or(&[][..], |bytes| &**bytes);
    let texts = |name: &str| Texts {
        ends: numbers(bytes(&format!("{name}_ends")), u32::from_le_bytes),
        bytes: bytes(name).to_vec(),
    };
    Columns {
        session: numbers(bytes("session"), i32::from_le_bytes),
        at_us: numbers(bytes("at_us"), i64::from_le_bytes),
        kind: bytes("kind").to_vec(),
        statement: numbers(bytes("statement"), i32::from_le_bytes),
        name: numbers(bytes("name"), i32::from_le_bytes),
        failed_there: numbers(bytes("failed_there"), |code| code),
        is_last: bytes("is_last").to_vec(),
        first_value: numbers(bytes("first_value"), u32::from_le_bytes),
        value_is_null: bytes("value_is_null").to_vec(),
        values: texts("values"),
        statements: texts("statements"),
        numbers: numbers(bytes("numbers"), u32::from_le_bytes),
        names: texts("names"),
    }
}

fn numbers<const N: usize, T>(bytes: &[u8], read: impl Fn([u8; N]) -> T) -> Vec<T> {
    bytes
        .chunks_exact(N)
        .filter_map(|word| Some(read(word.try_into().ok()?)))
        .collect()
}
