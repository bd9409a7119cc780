//! Connects to one endpoint, with TLS or without, in the order that libpq tries.
//!
//! Enters: an [`Endpoint`]. Leaves: a [`Session`] for each call of `open`. Never: reads a
//! certificate file twice, or goes to another server than the endpoint's.

use std::io::{self, Read, Write};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use crate::connection::wire::Wire;
use crate::deadline::is_timeout;
use crate::deadline::time_left;
use crate::opening::failure::{opening_error, tls_problem};
use crate::opening::session::Failure;
use crate::tls::{SslMode, SslNegotiation, Tls};
use crate::{Endpoint, Session, SessionError, Stream};

/// Length and code of the message that asks for TLS.
const SSL_REQUEST: [u8; 8] = [0, 0, 0, 8, 0x04, 0xd2, 0x16, 0x2f];

/// An endpoint made ready for many sessions.
#[derive(Debug)]
pub struct Connector {
    endpoint: Endpoint,
    /// Certificate files, read at the first handshake: without one a bad file does no harm.
    tls: OnceLock<Result<Tls, String>>,
    stays_plain: AtomicBool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ConnectMode {
    Plain,
    Tls,
}

impl Connector {
    #[must_use]
    pub fn new(endpoint: Endpoint) -> Connector {
        Connector {
            endpoint,
            tls: OnceLock::new(),
            stays_plain: AtomicBool::new(false),
        }
    }

    #[must_use]
    pub fn endpoint(&self) -> &Endpoint {
        &self.endpoint
    }

    /// Connects and authenticates, blocking.
    pub fn open(&self, application_name: &str) -> Result<Session, SessionError> {
        let deadline = Instant::now() + self.endpoint.connect_timeout()?;
        if let Some(problem) = self.endpoint.tls.contradiction() {
            return Err(SessionError::Endpoint {
                place: self.endpoint.to_string(),
                problem,
            });
        }
        self.try_modes(|way| self.attempt(way, application_name, deadline))
    }

    /// A connected stream on which no protocol message was sent, in the first mode that works.
    pub(crate) fn connect(&self, deadline: Instant) -> Result<Stream, SessionError> {
        self.try_modes(|way| self.stream(way, deadline))
    }

    fn try_modes<T>(
        &self,
        mut attempt: impl FnMut(ConnectMode) -> Result<T, Failure>,
    ) -> Result<T, SessionError> {
        let mut earlier = None;
        for way in self.modes() {
            match attempt(*way) {
                Ok(reached) => return Ok(reached),
                Err(failure) => {
                    let error = SessionError::after(earlier.take(), failure.error);
                    if !failure.is_worth_another {
                        return Err(error);
                    }
                    earlier = Some(error);
                }
            }
        }
        Err(earlier.unwrap_or_else(|| SessionError::Endpoint {
            place: self.endpoint.to_string(),
            problem: "no way of connecting is left to try".to_owned(),
        }))
    }

    /// Opens later sessions without TLS, as the earlier ones came to be: the server is not asked
    /// for TLS again, even if it now offers it.
    pub fn stay_plain(&self) {
        self.stays_plain.store(true, Ordering::Relaxed);
    }

    fn modes(&self) -> &'static [ConnectMode] {
        match self.endpoint.tls.sslmode {
            _ if self.stays_plain.load(Ordering::Relaxed) => &[ConnectMode::Plain],
            _ if self.endpoint.is_local() => &[ConnectMode::Plain],
            SslMode::Disable => &[ConnectMode::Plain],
            SslMode::Allow => &[ConnectMode::Plain, ConnectMode::Tls],
            SslMode::Prefer => &[ConnectMode::Tls, ConnectMode::Plain],
            SslMode::Require | SslMode::VerifyCa | SslMode::VerifyFull => &[ConnectMode::Tls],
        }
    }

    fn attempt(
        &self,
        way: ConnectMode,
        application_name: &str,
        deadline: Instant,
    ) -> Result<Session, Failure> {
        Session::establish(
            Wire::new(self.stream(way, deadline)?, Some(deadline)),
            &self.endpoint,
            application_name,
        )
    }

    fn stream(&self, way: ConnectMode, deadline: Instant) -> Result<Stream, Failure> {
        let stream = Stream::connect(&self.endpoint, deadline)?;
        match way {
            ConnectMode::Plain => Ok(stream),
            ConnectMode::Tls => self.encrypt(stream, deadline),
        }
    }

    fn encrypt(&self, mut stream: Stream, deadline: Instant) -> Result<Stream, Failure> {
        let tls = &self.endpoint.tls;
        if tls.sslnegotiation == SslNegotiation::Postgres {
            match self.ask_for_tls(&mut stream, deadline) {
                Ok(b'S') => {}
                Ok(b'N') if tls.sslmode == SslMode::Prefer => return Ok(stream),
                Ok(b'N') => {
                    return Err(SessionError::NoTls {
                        place: self.endpoint.to_string(),
                        sslmode: tls.sslmode,
                    }
                    .into());
                }
                Ok(b'E') => {
                    let problem = "it answers the request for TLS with an error";
                    return Err(self.tls_failure(problem).into());
                }
                Ok(_) => {
                    return Err(SessionError::Protocol {
                        place: self.endpoint.to_string(),
                        problem: "no answer to the request for TLS".to_owned(),
                    }
                    .into());
                }
                Err(error) => return Err(self.unreachable(&error).into()),
            }
        }
        let Stream::Tcp(socket) = stream else {
            return Ok(stream);
        };
        let prepared = self
            .tls
            .get_or_init(|| Tls::prepare(tls, self.endpoint.certificate_host()));
        let outcome = match prepared {
            Ok(prepared) => prepared.handshake(socket, deadline),
            Err(problem) => return Err(self.maybe_retryable(self.tls_failure(problem))),
        };
        match outcome {
            Ok(stream) => Ok(Stream::Tls(Box::new(stream))),
            Err(error) if is_timeout(&error) => Err(self.unreachable(&error).into()),
            Err(error) => {
                let problem = tls_problem(&error).unwrap_or_else(|| match error.kind() {
                    io::ErrorKind::UnexpectedEof => {
                        "it closed the connection during the handshake".to_owned()
                    }
                    _ => error.to_string(),
                });
                Err(self.maybe_retryable(self.tls_failure(&problem)))
            }
        }
    }

    /// Reads the server's one-byte answer and no more, so that all that follows is read by TLS.
    fn ask_for_tls(&self, stream: &mut Stream, deadline: Instant) -> io::Result<u8> {
        stream.set_timeout(Some(time_left(deadline)?))?;
        stream.write_all(&SSL_REQUEST)?;
        let mut answer = [0];
        stream.read_exact(&mut answer)?;
        let [answer] = answer;
        Ok(answer)
    }

    fn maybe_retryable(&self, error: SessionError) -> Failure {
        Failure {
            error,
            is_worth_another: true,
        }
    }

    fn tls_failure(&self, problem: &str) -> SessionError {
        SessionError::Tls {
            place: self.endpoint.to_string(),
            problem: problem.to_owned(),
        }
    }

    fn unreachable(&self, error: &io::Error) -> SessionError {
        opening_error(&self.endpoint, error)
    }
}

impl Session {
    /// Connects and authenticates, blocking; for many sessions use a [`Connector`].
    pub fn open(endpoint: &Endpoint, application_name: &str) -> Result<Session, SessionError> {
        Connector::new(endpoint.clone()).open(application_name)
    }
}
