//! A connection to a server, of any kind.
//!
//! Enters: an [`Endpoint`](crate::Endpoint) and a deadline. Leaves: a connected [`Stream`].
//! Never: sends anything, or waits longer than the deadline, name lookup included.

use std::io::{self, Read, Write};
use std::net::{IpAddr, SocketAddr, TcpStream, ToSocketAddrs};
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::net::UnixStream;
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

use rustix::net::sockopt::{Timeout, set_socket_timeout};
use rustix::net::{AddressFamily, SocketAddrUnix, SocketFlags, SocketType, connect, socket_with};

use crate::SessionError;
use crate::connection::endpoint::Endpoint;
use crate::deadline::{is_timeout, time_left};
use crate::tls::TlsStream;

/// A connected socket, with TLS on it or without.
#[derive(Debug)]
pub enum Stream {
    Unix(UnixStream),
    Tcp(TcpStream),
    Tls(Box<TlsStream>),
}

impl Stream {
    pub(crate) fn connect(endpoint: &Endpoint, deadline: Instant) -> Result<Stream, SessionError> {
        match endpoint.socket_address() {
            Some(address) => address
                .and_then(|address| connect_unix(&address, deadline))
                .map(Stream::Unix),
            None => connect_tcp(endpoint, deadline).map(Stream::Tcp),
        }
        .map_err(|error| {
            if is_timeout(&error) {
                SessionError::ConnectTimedOut {
                    place: endpoint.to_string(),
                    after: endpoint.connect_timeout().unwrap_or_default(),
                }
            } else {
                SessionError::Unreachable {
                    place: endpoint.to_string(),
                    problem: error.to_string(),
                }
            }
        })
    }

    /// Whether bytes go over the socket unencrypted.
    #[must_use]
    pub fn is_plain(&self) -> bool {
        !matches!(self, Stream::Tls(_))
    }

    /// Whether reads and writes return at once instead of waiting.
    pub fn set_nonblocking(&self, nonblocking: bool) -> io::Result<()> {
        match self {
            Stream::Unix(stream) => stream.set_nonblocking(nonblocking),
            Stream::Tcp(stream) => stream.set_nonblocking(nonblocking),
            Stream::Tls(stream) => stream.socket.set_nonblocking(nonblocking),
        }
    }

    /// How long one read or write may wait; `None` for ever.
    pub(crate) fn set_timeout(&self, timeout: Option<Duration>) -> io::Result<()> {
        let tcp = match self {
            Stream::Unix(stream) => {
                stream.set_read_timeout(timeout)?;
                return stream.set_write_timeout(timeout);
            }
            Stream::Tcp(stream) => stream,
            Stream::Tls(stream) => &stream.socket,
        };
        tcp.set_read_timeout(timeout)?;
        tcp.set_write_timeout(timeout)
    }
}

fn connect_unix(address: &SocketAddrUnix, deadline: Instant) -> io::Result<UnixStream> {
    // The standard library cannot limit this connect, which waits while the backlog is full.
    // The kernel limits it by the send timeout.
    let socket = socket_with(
        AddressFamily::UNIX,
        SocketType::STREAM,
        SocketFlags::CLOEXEC,
        None,
    )?;
    set_socket_timeout(&socket, Timeout::Send, Some(time_left(deadline)?))?;
    connect(&socket, address)?;
    Ok(UnixStream::from(socket))
}

fn connect_tcp(endpoint: &Endpoint, deadline: Instant) -> io::Result<TcpStream> {
    let addresses = addresses(endpoint.host_name(), endpoint.port, deadline)?;
    let mut last_error = io::Error::new(io::ErrorKind::NotFound, "the name has no address");
    for (n, address) in addresses.iter().enumerate() {
        // An address that does not answer must leave time for the addresses after it.
        let shares = u32::try_from(addresses.len() - n).unwrap_or(u32::MAX);
        let left = match time_left(deadline) {
            Ok(left) => left / shares,
            Err(error) => return Err(error),
        };
        match TcpStream::connect_timeout(address, left) {
            Ok(stream) => {
                stream.set_nodelay(true)?;
                endpoint.keepalive.apply(&stream)?;
                return Ok(stream);
            }
            Err(error) => last_error = error,
        }
    }
    Err(last_error)
}

/// Looks a name up. The system's resolver has no time limit, so it runs in a thread that is
/// abandoned when it takes too long.
fn addresses(host: &str, port: u16, deadline: Instant) -> io::Result<Vec<SocketAddr>> {
    if let Ok(address) = host.parse::<IpAddr>() {
        return Ok(vec![SocketAddr::new(address, port)]);
    }
    let (sender, receiver) = mpsc::channel();
    let name = host.to_owned();
    thread::Builder::new().spawn(move || {
        let found = (name.as_str(), port).to_socket_addrs().map(Vec::from_iter);
        // The receiver may have given up by now.
        let _ = sender.send(found);
    })?;
    receiver
        .recv_timeout(time_left(deadline)?)
        .map_err(|_| io::Error::from(io::ErrorKind::TimedOut))?
}

impl From<UnixStream> for Stream {
    fn from(stream: UnixStream) -> Stream {
        Stream::Unix(stream)
    }
}

impl AsFd for Stream {
    fn as_fd(&self) -> BorrowedFd<'_> {
        match self {
            Stream::Unix(stream) => stream.as_fd(),
            Stream::Tcp(stream) => stream.as_fd(),
            Stream::Tls(stream) => stream.socket.as_fd(),
        }
    }
}

impl Read for Stream {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self {
            Stream::Unix(stream) => stream.read(buffer),
            Stream::Tcp(stream) => stream.read(buffer),
            Stream::Tls(stream) => stream.read(buffer),
        }
    }
}

impl Write for Stream {
    fn write(&mut self, buffer: &[u8]) -> io::Result<usize> {
        match self {
            Stream::Unix(stream) => stream.write(buffer),
            Stream::Tcp(stream) => stream.write(buffer),
            Stream::Tls(stream) => stream.write(buffer),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Stream::Unix(_) | Stream::Tcp(_) => Ok(()),
            Stream::Tls(stream) => Write::flush(&mut **stream),
        }
    }
}
