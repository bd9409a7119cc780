//! Why sampling could not begin.
//!
//! Enters: errors of parsing, connecting and starting threads. Leaves: [`SamplerError`]. Never:
//! covers failures during sampling, which are warnings.

use pgassay_session::SessionError;

#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SamplerError {
    #[error("the sampler's configuration is not accepted: {0}")]
    Configuration(String),

    #[error(transparent)]
    Connection(#[from] SessionError),

    #[error("a sampler starts once; make another")]
    AlreadyStarted,

    #[error("this sampler reads no host")]
    NoHost,

    #[error("cannot start a sampler thread: {0}; raise the limit on processes (ulimit -u)")]
    Thread(#[from] std::io::Error),
}
