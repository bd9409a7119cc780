//! A TLS connection, for blocking use and for an event loop.
//!
//! Enters: a socket, plain bytes to send. Leaves: received bytes, decrypted. Never: blocks in
//! [`TlsStream::receive`], [`TlsStream::send`] or [`TlsStream::flush`] once the socket is
//! non-blocking.

use std::fmt;
use std::io::{self, Read, Write};
use std::net::TcpStream;
use std::time::Instant;

use rustls::ClientConnection;
use rustls::pki_types::CertificateDer;

use crate::deadline::time_left;

pub struct TlsStream {
    connection: ClientConnection,
    pub(crate) socket: TcpStream,
}

/// The result of one [`TlsStream::receive`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reception {
    /// This many bytes, perhaps none; `is_socket_empty` if the socket has no more for now.
    Bytes {
        length: usize,
        is_socket_empty: bool,
    },
    /// The peer has ended the connection.
    Closed,
}

impl TlsStream {
    pub(super) fn handshake(
        mut connection: ClientConnection,
        socket: TcpStream,
        deadline: Instant,
    ) -> io::Result<TlsStream> {
        // A load sends whole messages of any length, so rustls must not limit its buffer.
        connection.set_buffer_limit(None);
        let mut stream = TlsStream { connection, socket };
        while stream.connection.is_handshaking() || stream.connection.wants_write() {
            let left = Some(time_left(deadline)?);
            stream.socket.set_read_timeout(left)?;
            stream.socket.set_write_timeout(left)?;
            stream.advance()?;
        }
        Ok(stream)
    }

    /// One step of the handshake.
    fn advance(&mut self) -> io::Result<()> {
        let outcome = if self.connection.wants_write() {
            self.connection.write_tls(&mut self.socket)
        } else {
            self.connection.read_tls(&mut self.socket)
        };
        match outcome {
            Ok(0) => return Err(io::ErrorKind::UnexpectedEof.into()),
            Ok(_) => {}
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
        self.decrypt().inspect_err(|_| {
            // Send the alert with the reason; whether the peer receives it does not matter.
            let _ = self.connection.write_tls(&mut self.socket);
        })
    }

    /// The certificate that the server sent.
    pub(crate) fn server_certificate(&self) -> Option<&CertificateDer<'static>> {
        self.connection.peer_certificates()?.first()
    }

    pub(super) fn has_protocol(&self, name: &[u8]) -> bool {
        self.connection.alpn_protocol() == Some(name)
    }

    /// Decrypts what the socket has into `buffer`, without waiting.
    pub fn receive(&mut self, buffer: &mut [u8]) -> io::Result<Reception> {
        let mut is_socket_empty = false;
        let mut length = 0;
        let mut failure = None;
        loop {
            let room = buffer.get_mut(length..).unwrap_or_default();
            if room.is_empty() {
                return Ok(Reception::Bytes {
                    length,
                    is_socket_empty: false,
                });
            }
            match self.connection.reader().read(room) {
                Ok(read) if read > 0 => {
                    length += read;
                    continue;
                }
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                // End of the stream: bytes before it are returned first, the end at the next call.
                _ if length > 0 => {
                    return Ok(Reception::Bytes {
                        length,
                        is_socket_empty: false,
                    });
                }
                Ok(_) => return Ok(Reception::Closed),
                Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => {
                    return Ok(Reception::Closed);
                }
                Err(error) => return Err(error),
            }
            match failure {
                // The next call reports it again.
                Some(_) if length > 0 => {
                    return Ok(Reception::Bytes {
                        length,
                        is_socket_empty: false,
                    });
                }
                Some(error) => return Err(error),
                None if is_socket_empty => {
                    return Ok(Reception::Bytes {
                        length,
                        is_socket_empty,
                    });
                }
                None => {}
            }
            let mut source = Source {
                socket: &self.socket,
                is_socket_empty: &mut is_socket_empty,
            };
            match self.connection.read_tls(&mut source) {
                Ok(_) => failure = self.decrypt().err(),
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => is_socket_empty = true,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => failure = Some(error),
            }
            if self.connection.wants_write() {
                // A message of TLS itself; what is not sent now goes with the next send.
                let _ = self.flush();
            }
        }
    }

    /// Encrypts everything and sends what the socket takes; true if that was all.
    pub fn send(&mut self, bytes: &[u8]) -> io::Result<bool> {
        self.connection.writer().write_all(bytes)?;
        self.flush()
    }

    /// Sends what the socket takes of the unsent bytes; true if all are sent.
    pub fn flush(&mut self) -> io::Result<bool> {
        while self.connection.wants_write() {
            match self.connection.write_tls(&mut self.socket) {
                Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
                Ok(_) => {}
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(false),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(true)
    }

    fn decrypt(&mut self) -> io::Result<()> {
        match self.connection.process_new_packets() {
            Ok(_) => Ok(()),
            Err(error) => Err(io::Error::new(io::ErrorKind::InvalidData, error)),
        }
    }
}

/// Reads from the socket; a short read means that the socket is empty.
struct Source<'a> {
    socket: &'a TcpStream,
    is_socket_empty: &'a mut bool,
}

impl Read for Source<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let length = self.socket.read(buffer)?;
        // After the end of the stream another read reports that end, so it is not empty.
        *self.is_socket_empty = length > 0 && length < buffer.len();
        Ok(length)
    }
}

/// Waits, as the socket does.
impl Read for TlsStream {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match rustls::Stream::new(&mut self.connection, &mut self.socket).read(buffer) {
            // Servers seldom send the TLS close alert.
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => Ok(0),
            other => other,
        }
    }
}

/// Waits, as the socket does.
impl Write for TlsStream {
    fn write(&mut self, buffer: &[u8]) -> io::Result<usize> {
        rustls::Stream::new(&mut self.connection, &mut self.socket).write(buffer)
    }

    fn flush(&mut self) -> io::Result<()> {
        rustls::Stream::new(&mut self.connection, &mut self.socket).flush()
    }
}

impl fmt::Debug for TlsStream {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("TlsStream").field(&self.socket).finish()
    }
}
