//! `pgassay._core.Parameters`: the rows of a file of parameters.
//!
//! Enters: columns as bytes, a part of the rows at a time. Leaves: rows that loads share. Never:
//! reads a file, or shows a value.

use std::sync::Arc;

use pgassay_engine::{ColumnPart, Kind, Rows};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;

use crate::errors::{ConfigurationError, CoreError};

/// Bits of what is not NULL, where texts begin, and the values.
type Part = (Option<PyBackedBytes>, Option<PyBackedBytes>, PyBackedBytes);

/// The rows of a file of parameters, which loads share.
#[pyclass(module = "pgassay._core")]
pub struct Parameters {
    kinds: Vec<Kind>,
    rows: Arc<Rows>,
}

impl Parameters {
    pub fn rows(&self) -> Arc<Rows> {
        Arc::clone(&self.rows)
    }
}

#[pymethods]
impl Parameters {
    #[new]
    fn new(kinds: Vec<String>) -> PyResult<Parameters> {
        let kinds = kinds.iter().map(|name| match name.as_str() {
            "int" => Ok(Kind::Int),
            "double" => Ok(Kind::Double),
            "bool" => Ok(Kind::Bool),
            "text" => Ok(Kind::Text),
            _ => Err(ConfigurationError::new_err(
                "a column is int, double, bool or text",
            )),
        });
        let kinds: Vec<Kind> = kinds.collect::<PyResult<_>>()?;
        Ok(Parameters {
            rows: Arc::new(Rows::new(kinds.clone())),
            kinds,
        })
    }

    /// Add the next rows: of each column its buffers in Arrow's layout.
    fn add(&mut self, py: Python<'_>, length: usize, columns: Vec<Part>) -> PyResult<()> {
        let rows = Arc::get_mut(&mut self.rows)
            .ok_or_else(|| CoreError::new_err("a load uses these rows: make others"))?;
        if columns.len() != self.kinds.len() {
            return Err(PyValueError::new_err("give each column once"));
        }
        let parts = self.kinds.iter().zip(&columns);
        let parts: Vec<ColumnPart<'_>> = parts
            .map(|(&kind, (validity, starts, data))| ColumnPart {
                kind,
                validity: validity.as_deref(),
                starts: starts.as_deref().unwrap_or_default(),
                data,
            })
            .collect();
        py.detach(|| rows.add(length, &parts))
            .map_err(|problem| CoreError::new_err(problem.to_string()))
    }

    fn __len__(&self) -> usize {
        self.rows.len()
    }
}
