//! One read or write on a non-blocking stream, plain or with TLS.
//!
//! Enters: a stream, bytes to send or a buffer to fill. Leaves: how many were moved. Never: makes
//! more than one system call for a plain stream that is not full.

use std::io;

use pgassay_session::Stream;
use pgassay_session::tls::Reception;
use rustix::io::Errno;
use rustix::net::{RecvFlags, SendFlags, recv, send};

/// Reads what has arrived. After a read that does not fill the buffer a plain socket is empty.
#[inline]
pub(super) fn receive(stream: &mut Stream, room: &mut [u8]) -> io::Result<Reception> {
    if let Stream::Tls(stream) = stream {
        return stream.receive(room);
    }
    loop {
        return match recv(&*stream, &mut *room, RecvFlags::DONTWAIT) {
            Ok((0, _)) => Ok(Reception::Closed),
            Ok((length, _)) => Ok(Reception::Bytes {
                length,
                is_socket_empty: length < room.len(),
            }),
            Err(Errno::INTR) => continue,
            Err(Errno::AGAIN) => Ok(Reception::Bytes {
                length: 0,
                is_socket_empty: true,
            }),
            Err(error) => Err(error.into()),
        };
    }
}

/// Sends what the socket takes; the rest is in `unsent`, or in TLS's buffer. True if all was
/// sent.
#[inline]
pub(super) fn transmit(
    stream: &mut Stream,
    unsent: &mut Vec<u8>,
    bytes: &[u8],
) -> io::Result<bool> {
    if let Stream::Tls(stream) = stream {
        return stream.send(bytes);
    }
    if !unsent.is_empty() {
        unsent.extend_from_slice(bytes);
        return Ok(false);
    }
    let sent = send_some(stream, bytes)?;
    let rest = bytes.get(sent..).unwrap_or_default();
    unsent.extend_from_slice(rest);
    Ok(rest.is_empty())
}

/// Sends what `transmit` could not; true if all is sent now.
pub(super) fn flush(stream: &mut Stream, unsent: &mut Vec<u8>) -> io::Result<bool> {
    if let Stream::Tls(stream) = stream {
        return stream.flush();
    }
    let sent = send_some(stream, unsent)?;
    unsent.drain(..sent);
    Ok(unsent.is_empty())
}

/// How many bytes the socket took; none if it is full.
#[inline]
fn send_some(stream: &Stream, bytes: &[u8]) -> io::Result<usize> {
    let mut sent = 0;
    while let Some(rest) = bytes.get(sent..).filter(|rest| !rest.is_empty()) {
        match send(stream, rest, SendFlags::DONTWAIT | SendFlags::NOSIGNAL) {
            Ok(taken) => sent += taken,
            Err(Errno::INTR) => {}
            Err(Errno::AGAIN) => break,
            Err(error) => return Err(error.into()),
        }
    }
    Ok(sent)
}
