//! `pgassay._core.Load`, `Merging`, `check_script`, `check_sql` and `script_statements`.
//!
//! Enters: JSON texts. Leaves: JSON texts, columns, typed exceptions. Never: holds the
//! interpreter while it connects, waits or sums up.

use std::borrow::Cow;
use std::sync::Arc;
use std::time::Duration;

use pgassay_engine::{EngineError, Intervals, Outcome};
use pgassay_session::board::Board;
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
use pyo3::types::{PyBool, PyBytes, PyDict, PyList, PyString};

use crate::errors::{
    ConfigurationError, ConnectionFailed, CoreError, connection_failed, script_error,
};
use crate::parameters::Parameters;

/// Parse one script as the engine would; returns the variables it reads but never sets.
#[pyfunction]
#[pyo3(signature = (name, text, *, allow_shell = false, binds = false, given = vec![]))]
pub fn check_script(
    name: &str,
    text: &[u8],
    allow_shell: bool,
    binds: bool,
    given: Vec<String>,
) -> PyResult<Vec<String>> {
    pgassay_engine::check_script(name, text, allow_shell, binds, &given).map_err(engine_error)
}

/// Refuse what only psql carries out in a file of SQL that is sent to the server as it is.
#[pyfunction]
pub fn check_sql(name: &str, text: &str) -> PyResult<()> {
    pgassay_engine::check_sql(name, text.as_bytes()).map_err(engine_error)
}

/// The SQL commands of a script as the engine prepares them: line, text with `$1` and so on.
#[pyfunction]
#[pyo3(signature = (name, text, *, allow_shell = false))]
pub fn script_statements(
    name: &str,
    text: &[u8],
    allow_shell: bool,
) -> PyResult<Vec<(usize, Cow<'static, [u8]>)>> {
    let found = pgassay_engine::script_statements(name, text, allow_shell).map_err(engine_error)?;
    let found = found.into_iter();
    Ok(found.map(|(line, sql)| (line, Cow::Owned(sql))).collect())
}

/// One load: connections opened ahead, then a schedule of steps run to its end.
#[pyclass(frozen, module = "pgassay._core")]
pub struct Load(pgassay_engine::Load);

impl Load {
    /// Which backend runs which scenario, for a sampler.
    pub fn board(&self) -> Arc<Board> {
        self.0.board()
    }
}

#[pymethods]
impl Load {
    #[new]
    #[pyo3(signature = (configuration, parameters = vec![]))]
    fn new(configuration: &str, parameters: Vec<Option<PyRef<'_, Parameters>>>) -> PyResult<Load> {
        let rows = parameters
            .iter()
            .map(|one| one.as_ref().map(|one| one.rows()));
        pgassay_engine::Load::with_rows(configuration, &rows.collect::<Vec<_>>())
            .map(Load)
            .map_err(engine_error)
    }

    /// Open every connection. Raises ConnectionFailed.
    fn connect(&self, py: Python<'_>) -> PyResult<()> {
        py.detach(|| self.0.connect()).map_err(engine_error)
    }

    /// Keep from now on when each transaction began, for a profile; not for a measured load.
    fn keep_history(&self) {
        self.0.board().keep_history();
    }

    /// Begin the schedule, now or at a time of `now_ns`; returns at once.
    #[pyo3(signature = (at_ns = None))]
    fn start(&self, py: Python<'_>, at_ns: Option<i64>) -> PyResult<()> {
        py.detach(|| self.0.start(at_ns)).map_err(engine_error)
    }

    /// The server's processes that serve the connections now.
    fn backends(&self) -> Vec<i32> {
        self.0.board().backends()
    }

    /// When the schedule began; None before.
    fn started_ns(&self) -> Option<i64> {
        self.0.started_ns()
    }

    /// Ask for an early end.
    fn stop(&self) {
        self.0.stop();
    }

    /// Wait without holding the interpreter; True when the load has ended.
    fn wait(&self, py: Python<'_>, timeout_s: f64) -> PyResult<bool> {
        // Negative and NaN do not wait; what is beyond any clock waits as long as one can.
        let timeout = Duration::try_from_secs_f64(timeout_s.max(0.0)).unwrap_or(Duration::MAX);
        py.detach(|| self.0.wait(timeout)).map_err(engine_error)
    }

    /// JSON of totals so far, cheap enough to ask ten times a second.
    fn progress(&self) -> PyResult<String> {
        json(serde_json::to_string(&self.0.progress()))
    }

    /// JSON of the whole, once ended.
    fn result(&self, py: Python<'_>) -> PyResult<String> {
        py.detach(|| self.0.outcome().map(|outcome| outcome.to_json()))
            .map_err(engine_error)
            .and_then(json)
    }

    /// One row per interval × scenario, in order of time; once ended.
    fn intervals<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let intervals = py
            .detach(|| self.0.outcome().map(|outcome| outcome.intervals()))
            .map_err(engine_error)?;
        columns(py, intervals)
    }

    /// What this engine counted, for `Merging`; once ended.
    fn report<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let bytes = py
            .detach(|| self.0.outcome()?.report_bytes())
            .map_err(engine_error)?;
        Ok(PyBytes::new(py, &bytes))
    }
}

/// Adds up the reports of the engines that ran shares of one load, as they come.
#[pyclass(module = "pgassay._core")]
pub struct Merging(Option<pgassay_engine::Merging>);

/// The reports of the engines that ran shares of one load, as one.
#[pyclass(frozen, module = "pgassay._core")]
pub struct Merged(Outcome);

#[pymethods]
impl Merging {
    #[new]
    fn new(configuration: &str) -> PyResult<Merging> {
        let merging = pgassay_engine::Merging::new(configuration).map_err(engine_error)?;
        Ok(Merging(Some(merging)))
    }

    /// Add some reports; they need not be kept.
    fn add(&mut self, py: Python<'_>, reports: Vec<PyBackedBytes>) -> PyResult<()> {
        let merging = self.0.as_mut().ok_or(FINISHED).map_err(engine_error)?;
        py.detach(|| merging.add(&reports)).map_err(engine_error)
    }

    /// All that were added, as one load that began at `started_ns`; once.
    fn finish(&mut self, py: Python<'_>, started_ns: i64) -> PyResult<Merged> {
        let merging = self.0.take().ok_or(FINISHED).map_err(engine_error)?;
        py.detach(|| merging.finish(started_ns))
            .map(Merged)
            .map_err(engine_error)
    }
}

const FINISHED: EngineError = EngineError::Misuse("finish() was called already");

#[pymethods]
impl Merged {
    /// JSON of the whole, as of `Load.result`.
    fn result(&self, py: Python<'_>) -> PyResult<String> {
        json(py.detach(|| self.0.to_json()))
    }

    /// The columns of `Load.intervals`.
    fn intervals<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let intervals = py.detach(|| self.0.intervals());
        columns(py, intervals)
    }
}

pub fn columns(py: Python<'_>, intervals: Intervals) -> PyResult<Bound<'_, PyDict>> {
    let names: Vec<_> = intervals
        .scenario_names
        .iter()
        .map(|name| PyString::new(py, name))
        .collect();
    let scenarios = intervals.scenario.iter().map(|&number| names.get(number));
    let measured = intervals.measured.iter().map(|&flag| PyBool::new(py, flag));
    let columns = PyDict::new(py);
    columns.set_item("start_ns", intervals.start_ns)?;
    columns.set_item("step", intervals.step)?;
    columns.set_item("slice", intervals.slice)?;
    columns.set_item("measured", PyList::new(py, measured)?)?;
    columns.set_item("scenario", PyList::new(py, scenarios)?)?;
    columns.set_item("transactions", intervals.transactions)?;
    columns.set_item("failed", intervals.failed)?;
    columns.set_item("error_sqlstate", intervals.error_sqlstate)?;
    columns.set_item("error_count", intervals.error_count)?;
    columns.set_item("retried", intervals.retried)?;
    columns.set_item("retries", intervals.retries)?;
    columns.set_item("skipped", intervals.skipped)?;
    columns.set_item("late", intervals.late)?;
    columns.set_item("latency_sum_ns", intervals.latency_sum_ns)?;
    columns.set_item("latency_ns", intervals.latency_ns)?;
    columns.set_item("latency_count", intervals.latency_count)?;
    columns.set_item("response_sum_ns", intervals.response_sum_ns)?;
    columns.set_item("response_ns", intervals.response_ns)?;
    columns.set_item("response_count", intervals.response_count)?;
    columns.set_item("lag_sum_ns", intervals.lag_sum_ns)?;
    columns.set_item("lag_max_ns", intervals.lag_max_ns)?;
    columns.set_item("connects", intervals.connects)?;
    columns.set_item("connect_sum_ns", intervals.connect_sum_ns)?;
    Ok(columns)
}

pub fn json(text: serde_json::Result<String>) -> PyResult<String> {
    text.map_err(|error| CoreError::new_err(error.to_string()))
}

pub fn engine_error(error: EngineError) -> PyErr {
    match error {
        EngineError::Session(error) => connection_failed(&error),
        EngineError::Descriptors { .. } => ConnectionFailed::new_err(error.to_string()),
        EngineError::Configuration { .. } | EngineError::Json(_) => {
            ConfigurationError::new_err(error.to_string())
        }
        EngineError::Script { ref excerpt, .. } => script_error(error.to_string(), excerpt),
        _ => CoreError::new_err(error.to_string()),
    }
}
