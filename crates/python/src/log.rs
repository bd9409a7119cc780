//! `pgassay._core.LogReader`: a server's log as scenarios, or as columns of a trace.
//!
//! Enters: a JSON configuration, bytes. Leaves: a JSON summary, and columns as bytes in the machine's
//! order, as Arrow lays them out. Never: holds the interpreter while it reads.

use std::collections::HashMap;

use pgassay_log::{LogError, Reader};
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::errors::{ConfigurationError, CoreError};

type ColumnBytes = (Py<PyBytes>, Py<PyBytes>, Py<PyBytes>);

/// Reads a log piece by piece.
#[pyclass(module = "pgassay._core")]
pub struct LogReader {
    reader: Reader,
}

#[pymethods]
impl LogReader {
    #[new]
    fn new(configuration: &str) -> PyResult<Self> {
        let reader = Reader::new(configuration).map_err(|error| match error {
            LogError::Configuration(_) => ConfigurationError::new_err(error.to_string()),
            _ => CoreError::new_err(error.to_string()),
        })?;
        Ok(Self { reader })
    }

    #[pyo3(signature = (data, *, last = false))]
    fn feed(&mut self, py: Python<'_>, data: &[u8], last: bool) {
        py.detach(|| self.reader.feed(data, last));
    }

    fn finish(&mut self, py: Python<'_>) {
        py.detach(|| self.reader.finish());
    }

    fn summary(&self, py: Python<'_>) -> PyResult<String> {
        py.detach(|| self.reader.summary())
            .map_err(|error| CoreError::new_err(error.to_string()))
    }

    fn columns(&self, py: Python<'_>, scenario: usize) -> Vec<ColumnBytes> {
        let columns = py.detach(|| self.reader.columns(scenario));
        columns
            .into_iter()
            .map(|column| {
                (
                    PyBytes::new(py, &column.tags).unbind(),
                    numbers(py, &column.offsets),
                    PyBytes::new(py, &column.bytes).unbind(),
                )
            })
            .collect()
    }

    fn waiting(&self) -> usize {
        self.reader.waiting()
    }

    fn rows(&mut self, py: Python<'_>) -> HashMap<&'static str, Py<PyBytes>> {
        let rows = py.detach(|| self.reader.take_rows());
        HashMap::from([
            ("session", numbers(py, &rows.session)),
            ("at_us", numbers(py, &rows.at_us)),
            ("kind", PyBytes::new(py, &rows.kind).unbind()),
            ("statement_offsets", numbers(py, &rows.statement.offsets)),
            (
                "statement",
                PyBytes::new(py, &rows.statement.bytes).unbind(),
            ),
            ("counts", numbers(py, &rows.counts)),
            ("value_offsets", numbers(py, &rows.values.offsets)),
            ("values", PyBytes::new(py, &rows.values.bytes).unbind()),
            (
                "values_known",
                PyBytes::new(py, &rows.values_known).unbind(),
            ),
            ("duration_us", numbers(py, &rows.duration_us)),
            ("name", numbers(py, &rows.name)),
            ("sqlstate", numbers(py, &rows.sqlstate)),
            ("database", numbers(py, &rows.database)),
            ("user", numbers(py, &rows.user)),
            ("application", numbers(py, &rows.application)),
        ])
    }

    fn names(&self) -> Vec<String> {
        self.reader.names().to_vec()
    }
}

fn numbers(py: Python<'_>, numbers: &[i64]) -> Py<PyBytes> {
    let bytes: Vec<u8> = numbers
        .iter()
        .flat_map(|number| number.to_ne_bytes())
        .collect();
    PyBytes::new(py, &bytes).unbind()
}
