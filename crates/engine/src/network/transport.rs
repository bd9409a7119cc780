//! Chooses the backend that serves a load.
//!
//! Enters: the configured transport, whether sessions are encrypted. Leaves: a backend that works
//! here, or why none does. Never: falls back to epoll if io_uring was requested by name.

use serde::Deserialize;

use super::Uring;
use crate::error::EngineError;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Transport {
    /// io_uring where it may be used and its waits are not counted as I/O (Linux 6.15), else epoll.
    #[default]
    Auto,
    IoUring,
    Epoll,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Backend {
    Uring,
    Epoll,
}

impl Transport {
    /// Tries io_uring: a kernel may be too old for it and a container may forbid it.
    pub fn choose(self) -> Result<Backend, EngineError> {
        match (self, Uring::probe) {
            (Transport::Epoll, _) => Ok(Backend::Epoll),
            (Transport::Auto, probe) => Ok(match probe() {
                Ok(true) => Backend::Uring,
                Ok(false) | Err(_) => Backend::Epoll,
            }),
            (Transport::IoUring, probe) => match probe() {
                Ok(_) => Ok(Backend::Uring),
                Err(error) => Err(EngineError::configuration(
                    "transport",
                    format!(
                        "io_uring cannot be used here ({error}): it needs Linux 6.1 and a \
                         container that allows it; give auto or epoll"
                    ),
                )),
            },
        }
    }
    /// The backend for open connections: io_uring cannot serve encrypted ones.
    pub fn serve(self, chosen: Backend, are_plain: bool) -> Result<Backend, EngineError> {
        match (self, chosen) {
            (_, Backend::Epoll) => Ok(Backend::Epoll),
            (_, Backend::Uring) if are_plain => Ok(Backend::Uring),
            (Transport::IoUring, Backend::Uring) => Err(EngineError::configuration(
                "transport",
                "io_uring cannot carry TLS, which connections have; give auto or epoll, or \
                 sslmode=disable",
            )),
            (_, Backend::Uring) => Ok(Backend::Epoll),
        }
    }
}
