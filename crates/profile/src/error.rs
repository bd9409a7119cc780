//! Why a profile could not be read or drawn.
//!
//! Enters: errors of reading and drawing. Leaves: [`ProfileError`]. Never: covers an odd line of
//! perf's text, which is skipped.

#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ProfileError {
    #[error("the text of perf script cannot be read: {0}")]
    Reading(#[source] std::io::Error),

    #[error("the flame graph cannot be drawn: {0}")]
    Drawing(#[source] std::io::Error),

    #[error("line {line} of the folded stacks does not end in a number")]
    Stack { line: usize },

    #[error("the profile holds no sample")]
    Empty,

    #[error("the profile cannot be written as JSON: {0}")]
    Json(#[from] serde_json::Error),
}
