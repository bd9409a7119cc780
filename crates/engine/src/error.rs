//! The errors of a load as a whole.
//!
//! Enters: the problem, found by any module. Leaves: one line that names the key or place and
//! the fix. Never: covers a failed transaction, which is counted as data.

use pgassay_session::SessionError;

/// Why a load could not be made, opened or finished.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum EngineError {
    #[error("{key}: {problem}")]
    Configuration { key: String, problem: String },

    #[error("the load configuration is not valid JSON: {0}")]
    Json(#[from] serde_json::Error),

    #[error("{file}:{line}:{column}: {problem}")]
    Script {
        file: String,
        line: usize,
        /// In characters, from 1.
        column: usize,
        problem: String,
        /// The line, and below it a caret under the place.
        excerpt: String,
    },

    #[error(transparent)]
    Session(#[from] SessionError),

    #[error(
        "{connections} connections need {needed} open files and this process may have {limit}; raise the limit: ulimit -n {needed}"
    )]
    Descriptors {
        connections: usize,
        needed: u64,
        limit: u64,
    },

    #[error("{0}")]
    Misuse(&'static str),

    /// The report of an engine that cannot be merged with others.
    #[error("{0}")]
    Report(String),

    #[error("a worker of the load failed, {0}; the load has no result")]
    Worker(String),
}

impl EngineError {
    pub(crate) fn configuration(key: impl Into<String>, problem: impl Into<String>) -> EngineError {
        EngineError::Configuration {
            key: key.into(),
            problem: problem.into(),
        }
    }
}
