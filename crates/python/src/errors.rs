//! The exceptions of `pgassay._core`.
//!
//! Enters: errors of the engine, the sampler and their sessions. Leaves: typed Python exceptions
//! with a one-line message and the server's SQLSTATE. Never: decides whether something is wrong.

use pgassay_profile::ProfileError;
use pgassay_sampler::SamplerError;
use pgassay_session::SessionError;
use pyo3::create_exception;
use pyo3::exceptions::PyException;
use pyo3::prelude::*;

create_exception!(
    pgassay._core,
    CoreError,
    PyException,
    "Something the native module could not do; the message is one line and names the fix."
);
create_exception!(
    pgassay._core,
    ConfigurationError,
    CoreError,
    "The configuration text is not one the engine or sampler accepts."
);
create_exception!(
    pgassay._core,
    ScriptError,
    CoreError,
    "A script does not parse; the message starts with `FILE:LINE:COLUMN:`."
);
create_exception!(
    pgassay._core,
    ConnectionFailed,
    CoreError,
    "A session could not be opened: unreachable, refused, wrong password, no such database."
);

pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    let py = module.py();
    let base = py.get_type::<CoreError>();
    // Every instance answers to `sqlstate`; those of the server's refusals get their own.
    base.setattr("sqlstate", py.None())?;
    module.add("CoreError", base)?;
    module.add("ConfigurationError", py.get_type::<ConfigurationError>())?;
    py.get_type::<ScriptError>().setattr("excerpt", "")?;
    module.add("ScriptError", py.get_type::<ScriptError>())?;
    module.add("ConnectionFailed", py.get_type::<ConnectionFailed>())
}

/// A session that could not be opened.
pub(crate) fn connection_failed(error: &SessionError) -> PyErr {
    let raised = ConnectionFailed::new_err(error.to_string());
    match error.sqlstate() {
        Some(sqlstate) => with_attribute(raised, "sqlstate", sqlstate),
        None => raised,
    }
}

/// A script that does not parse; `excerpt` shows where.
pub(crate) fn script_error(message: String, excerpt: &str) -> PyErr {
    with_attribute(ScriptError::new_err(message), "excerpt", excerpt)
}

fn with_attribute(raised: PyErr, name: &str, value: &str) -> PyErr {
    Python::attach(|py| match raised.value(py).setattr(name, value) {
        Ok(()) => raised,
        Err(failure) => failure,
    })
}

pub(crate) fn sampler_error(error: &SamplerError) -> PyErr {
    match error {
        SamplerError::Configuration(_) => ConfigurationError::new_err(error.to_string()),
        SamplerError::Connection(error) => connection_failed(error),
        _ => CoreError::new_err(error.to_string()),
    }
}

pub(crate) fn profile_error(error: &ProfileError) -> PyErr {
    CoreError::new_err(error.to_string())
}
