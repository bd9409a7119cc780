//! The errors of sockets while a session is opened.
//!
//! Enters: an input/output error. Leaves: a [`SessionError`] with advice for the user. Never: an
//! error of the server.

use std::io;

use crate::SessionError;
use crate::connection::endpoint::Endpoint;
use crate::deadline::is_timeout;

/// A socket error during connecting, with advice for the user.
pub(super) fn opening_error(endpoint: &Endpoint, error: &io::Error) -> SessionError {
    let place = endpoint.to_string();
    if let Some(problem) = tls_problem(error) {
        return SessionError::Tls { place, problem };
    }
    match error.kind() {
        _ if is_timeout(error) => SessionError::ConnectTimedOut {
            place,
            after: endpoint.connect_timeout().unwrap_or_default(),
        },
        io::ErrorKind::InvalidData | io::ErrorKind::InvalidInput => SessionError::Protocol {
            place,
            problem: error.to_string(),
        },
        io::ErrorKind::UnexpectedEof => SessionError::Unreachable {
            place,
            problem: "it closed the connection at once".to_owned(),
        },
        _ => SessionError::Unreachable {
            place,
            problem: error.to_string(),
        },
    }
}

/// The TLS error inside an input/output error, if that is what failed.
pub(super) fn tls_problem(error: &io::Error) -> Option<String> {
    let error = error.get_ref()?.downcast_ref::<rustls::Error>()?;
    Some(match error {
        rustls::Error::General(problem) => problem.clone(),
        rustls::Error::AlertReceived(alert) => {
            format!("the server ended it with the alert {alert:?}")
        }
        rustls::Error::InvalidMessage(_) => "the server does not speak TLS as expected".to_owned(),
        other => other.to_string(),
    })
}
