//! Why a log cannot be read.
//!
//! Enters: what was asked for. Leaves: [`LogError`]. Never: covers an odd entry of a log, which is
//! counted and passed over, or holds a text of a log.

#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LogError {
    #[error("the configuration of the log reader is not valid JSON of its form: {0}")]
    Configuration(#[from] serde_json::Error),

    #[error("the prefix of the log has neither %c nor %p, so its lines belong to no session")]
    NoSession,

    #[error("the prefix of the log has no time: none of %m, %t and %n")]
    NoTime,
}
