//! The way to one endpoint: with TLS or without, in the order that libpq tries.
//!
//! Enters: an [`Endpoint`]. Leaves: a [`Session`] each time one is asked for. Never: reads a
//! certificate file twice, or goes to another server than the endpoint's.

use std::io::{self, Read, Write};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use crate::connect::Opening;
use crate::error::{is_timeout, tls_problem};
use crate::stream::time_left;
use crate::tls::{SslMode, SslNegotiation, Tls};
use crate::wire::Wire;
use crate::{Endpoint, Session, SessionError, Stream};

/// Length and code of the message that asks for TLS.
const SSL_REQUEST: [u8; 8] = [0, 0, 0, 8, 0x04, 0xd2, 0x16, 0x2f];

/// An endpoint made ready for many sessions.
#[derive(Debug)]
pub struct Connector {
    endpoint: Endpoint,
    /// Read when first needed: where it comes to no handshake, a bad file does no harm.
    tls: OnceLock<Result<Tls, String>>,
    stays_plain: AtomicBool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Way {
    Plain,
    Tls,
}

/// Why one way led nowhere, and whether libpq would try the other.
pub(crate) struct Failure {
    pub(crate) error: SessionError,
    pub(crate) is_worth_another: bool,
}

impl From<SessionError> for Failure {
    fn from(error: SessionError) -> Failure {
        Failure {
            error,
            is_worth_another: false,
        }
    }
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
        self.try_ways(|way| self.attempt(way, application_name, deadline))
    }

    /// A stream on which nothing was said yet, on the first way that leads to the server.
    pub(crate) fn reach(&self, deadline: Instant) -> Result<Stream, SessionError> {
        self.try_ways(|way| self.stream(way, deadline))
    }

    fn try_ways<T>(
        &self,
        mut attempt: impl FnMut(Way) -> Result<T, Failure>,
    ) -> Result<T, SessionError> {
        let mut earlier = None;
        for way in self.ways() {
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
            problem: "there is no way to it".to_owned(),
        }))
    }

    /// From now on sessions are opened without TLS, for those before came to be so: a server
    /// that would take TLS by now is not asked.
    pub fn stay_plain(&self) {
        self.stays_plain.store(true, Ordering::Relaxed);
    }

    fn ways(&self) -> &'static [Way] {
        match self.endpoint.tls.sslmode {
            _ if self.stays_plain.load(Ordering::Relaxed) => &[Way::Plain],
            _ if self.endpoint.is_local() => &[Way::Plain],
            SslMode::Disable => &[Way::Plain],
            SslMode::Allow => &[Way::Plain, Way::Tls],
            SslMode::Prefer => &[Way::Tls, Way::Plain],
            SslMode::Require | SslMode::VerifyCa | SslMode::VerifyFull => &[Way::Tls],
        }
    }

    fn attempt(
        &self,
        way: Way,
        application_name: &str,
        deadline: Instant,
    ) -> Result<Session, Failure> {
        Opening::run(
            Wire::new(self.stream(way, deadline)?, Some(deadline)),
            &self.endpoint,
            application_name,
        )
    }

    fn stream(&self, way: Way, deadline: Instant) -> Result<Stream, Failure> {
        let stream = Stream::connect(&self.endpoint, deadline)?;
        match way {
            Way::Plain => Ok(stream),
            Way::Tls => self.encrypt(stream, deadline),
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
                    let problem = "it answers the question for TLS with an error";
                    return Err(self.tls_failure(problem).into());
                }
                Ok(_) => {
                    return Err(SessionError::Protocol {
                        place: self.endpoint.to_string(),
                        problem: "no answer to the question for TLS".to_owned(),
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
            .get_or_init(|| Tls::prepare(tls, self.endpoint.name_to_prove()));
        let outcome = match prepared {
            Ok(prepared) => prepared.shake_hands(socket, deadline),
            Err(problem) => return Err(self.worth_another(self.tls_failure(problem))),
        };
        match outcome {
            Ok(stream) => Ok(Stream::Tls(Box::new(stream))),
            Err(error) if is_timeout(&error) => Err(self.unreachable(&error).into()),
            Err(error) => {
                let problem = tls_problem(&error).unwrap_or_else(|| match error.kind() {
                    io::ErrorKind::UnexpectedEof => "it hung up in the handshake".to_owned(),
                    _ => error.to_string(),
                });
                Err(self.worth_another(self.tls_failure(&problem)))
            }
        }
    }

    /// The server's one byte. Reading no more keeps anything that follows inside TLS.
    fn ask_for_tls(&self, stream: &mut Stream, deadline: Instant) -> io::Result<u8> {
        stream.set_timeout(Some(time_left(deadline)?))?;
        stream.write_all(&SSL_REQUEST)?;
        let mut answer = [0];
        stream.read_exact(&mut answer)?;
        let [answer] = answer;
        Ok(answer)
    }

    fn worth_another(&self, error: SessionError) -> Failure {
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
        SessionError::while_opening(&self.endpoint, error)
    }
}
