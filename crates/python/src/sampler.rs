//! `pgassay._core.Sampler`.
//!
//! Enters: the configuration and perhaps a `Load`. Leaves: columns as dicts of equally long
//! lists. Never: holds the interpreter while it connects or waits for threads.

use std::sync::Arc;

use pgassay_sampler::{Configuration, HostFiles, NameId, Values, Waits};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PyString};

use crate::errors::{CoreError, sampler_error};
use crate::load::Load;

/// Reads one server and, if asked, this host on a jittered clock, from connections of its own.
#[pyclass(frozen, module = "pgassay._core")]
pub struct Sampler(pgassay_sampler::Sampler);

#[pymethods]
impl Sampler {
    #[new]
    #[pyo3(signature = (configuration, load = None))]
    fn new(configuration: &str, load: Option<PyRef<'_, Load>>) -> PyResult<Sampler> {
        let configuration =
            Configuration::from_json(configuration).map_err(|error| sampler_error(&error))?;
        let board = load.map(|load| load.board());
        Ok(Sampler(pgassay_sampler::Sampler::new(configuration, board)))
    }

    /// Open the connections and begin; returns at once. Raises ConnectionFailed.
    fn start(&self, py: Python<'_>) -> PyResult<()> {
        py.detach(|| self.0.start())
            .map_err(|error| sampler_error(&error))
    }

    /// End sampling and close the connections; safe to call twice.
    fn stop(&self, py: Python<'_>) {
        py.detach(|| self.0.stop());
    }

    /// Columns read since the last call, one row per tick and busy process.
    fn take_waits<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let waits = py.detach(|| self.0.take_waits());
        wait_columns(py, waits)
    }

    /// Raw values read from the server since the last call.
    fn take_counters<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let values = py.detach(|| self.0.take_counters());
        value_columns(py, values)
    }

    /// Raw values read from /proc since the last call.
    fn take_host<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let values = py.detach(|| self.0.take_host());
        value_columns(py, values)
    }

    /// What is read of the host from its next reading on.
    fn read_host(&self, host: &str) -> PyResult<()> {
        let files = HostFiles::from_json(host).map_err(|error| sampler_error(&error))?;
        self.0
            .read_host(files)
            .map_err(|error| sampler_error(&error))
    }

    /// JSON of the running sums and the latest readings, without taking a row.
    fn current(&self, sources: Vec<String>) -> String {
        self.0.current(&sources)
    }

    /// What could not be read, one line each, each once.
    fn warnings(&self) -> Vec<String> {
        self.0.warnings()
    }

    /// JSON of what the sampling has taken.
    fn cost(&self) -> PyResult<String> {
        serde_json::to_string(&self.0.cost()).map_err(|error| CoreError::new_err(error.to_string()))
    }
}

fn wait_columns<'py>(py: Python<'py>, waits: Waits) -> PyResult<Bound<'py, PyDict>> {
    let names = Names::new(py, &waits.names);
    let columns = PyDict::new(py);
    columns.set_item("tick_ns", waits.tick_ns)?;
    columns.set_item("pid", waits.pid)?;
    columns.set_item("leader_pid", waits.leader_pid)?;
    columns.set_item("backend_type", names.column(waits.backend_type)?)?;
    columns.set_item("state", names.column(waits.state)?)?;
    columns.set_item("wait_event_type", names.column(waits.wait_event_type)?)?;
    columns.set_item("wait_event", names.column(waits.wait_event)?)?;
    columns.set_item("query_id", waits.query_id)?;
    columns.set_item("xact_start_ns", waits.xact_start_ns)?;
    columns.set_item("scenario", names.column(waits.scenario)?)?;
    Ok(columns)
}

fn value_columns<'py>(py: Python<'py>, values: Values) -> PyResult<Bound<'py, PyDict>> {
    let names = Names::new(py, &values.names);
    let columns = PyDict::new(py);
    columns.set_item("time_ns", values.time_ns)?;
    columns.set_item("source", names.column(values.source)?)?;
    columns.set_item("object", names.column(values.object)?)?;
    columns.set_item("name", names.column(values.name)?)?;
    columns.set_item("value", values.value)?;
    Ok(columns)
}

/// One Python string for each text, shared by all rows that have it.
struct Names<'py> {
    py: Python<'py>,
    texts: Vec<Bound<'py, PyString>>,
}

impl<'py> Names<'py> {
    fn new(py: Python<'py>, texts: &[Arc<str>]) -> Names<'py> {
        let texts = texts.iter().map(|text| PyString::new(py, text)).collect();
        Names { py, texts }
    }

    fn column<T: Into<Option<NameId>>>(&self, ids: Vec<T>) -> PyResult<Bound<'py, PyList>> {
        PyList::new(
            self.py,
            ids.into_iter().map(|id| {
                let id: Option<NameId> = id.into();
                id.and_then(|id| self.texts.get(id.index()))
            }),
        )
    }
}
