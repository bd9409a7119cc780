//! A connection that is opened again after each restart of the server.
//!
//! Enters: an endpoint. Leaves: a read-only client with short timeouts, and a new one whenever
//! the connection is lost. Never: gives up before it is asked to stop.

use std::time::{Duration, Instant};

use pgassay_session::client::Client;
use pgassay_session::{Endpoint, Session, SessionError};

use crate::server::backoff::Backoff;
use crate::shared::Shared;

/// A sampler must not block other sessions for long, nor change anything. Its queries are never
/// compiled: where an arm switches an `enable_…` setting off, their estimated cost passes
/// `jit_above_cost`, and compiling takes a processor from the load.
const SETTINGS: &str = "SET statement_timeout = '5s'; SET lock_timeout = '1s'; \
                        SET default_transaction_read_only = on; SET jit = off";
/// Limits of the role that would end a session between two readings or in a slow one. Names that
/// the server does not know are passed over.
const LIFTED: &str = "SELECT pg_catalog.set_config(name, '0', false) FROM pg_catalog.pg_settings \
                      WHERE name IN ('idle_session_timeout', 'transaction_timeout')";

/// Longer than `statement_timeout`, so that the server's error arrives first.
const READ_TIMEOUT: Duration = Duration::from_secs(6);
/// A shorter session does not reset the pauses: something may end every session at once.
const WORKED_AFTER: Duration = Duration::from_secs(30);
/// Bounds how long a stop may have to wait for a server that does not answer.
const RECONNECT_TIMEOUT_S: f64 = 2.0;

#[derive(Debug, Clone)]
pub(crate) struct Link {
    endpoint: Endpoint,
    application_name: String,
}

impl Link {
    pub(crate) fn new(endpoint: Endpoint, application_name: String) -> Link {
        Link {
            endpoint,
            application_name,
        }
    }

    pub(crate) fn open(&self) -> Result<Client, SessionError> {
        open(&self.endpoint, &self.application_name)
    }

    /// Keeps `serve` supplied with a client until it ends well or sampling stops.
    pub(crate) fn keep_serving<F>(self, first: Client, shared: &Shared, mut serve: F)
    where
        F: FnMut(&mut Client) -> Result<(), SessionError>,
    {
        let mut client = first;
        let mut backoff = Backoff::default();
        let mut opened = Instant::now();
        while let Err(error) = serve(&mut client) {
            if opened.elapsed() > WORKED_AFTER {
                backoff.succeeded();
            }
            shared.warnings.add("connection", || {
                format!("{error}; samples are missing until the server is back")
            });
            match self.reopen(error, &mut backoff, shared) {
                Some(again) => (client, opened) = (again, Instant::now()),
                None => return,
            }
        }
        client.close();
    }

    fn reopen(&self, lost: SessionError, backoff: &mut Backoff, shared: &Shared) -> Option<Client> {
        let endpoint = Endpoint {
            connect_timeout_s: self.endpoint.connect_timeout_s.min(RECONNECT_TIMEOUT_S),
            ..self.endpoint.clone()
        };
        let mut error = lost;
        while !shared.stop.wait_for(backoff.after(&error, Instant::now())) {
            match open(&endpoint, &self.application_name) {
                Ok(client) => return Some(client),
                Err(again) => error = again,
            }
        }
        None
    }
}

fn open(endpoint: &Endpoint, application_name: &str) -> Result<Client, SessionError> {
    let mut client = Client::new(Session::open(endpoint, application_name)?);
    client.set_read_timeout(Some(READ_TIMEOUT))?;
    client.execute(SETTINGS)?;
    client.execute(LIFTED)?;
    Ok(client)
}

/// Names arrive as the bytes that they are, whatever their encoding.
pub(crate) const SEND_AS_THEY_ARE: &str = "SET client_encoding = 'SQL_ASCII'";

/// Whether the server could not convert a name to UTF-8: that of another database, or any in a
/// database without an encoding.
pub(crate) fn cannot_convert(error: &SessionError) -> bool {
    matches!(error.sqlstate(), Some("22021" | "22P05"))
}

/// Whether a query that failed with this error may succeed at its next tick.
///
/// A server under stress returns many errors, and its samples matter most. Permanent are only
/// errors of the query itself: classes 42 (access, syntax, names) and 0A (not supported), and
/// 55000 (an extension that is not preloaded).
pub(crate) fn is_transient(error: &SessionError) -> bool {
    let sqlstate = error.sqlstate().unwrap_or_default();
    !(sqlstate.starts_with("42") || sqlstate.starts_with("0A") || sqlstate == "55000")
}
