//! The network on Linux' epoll, edge-triggered.
//!
//! Enters and leaves: as `Network` says. Never: reads again after a short read, which on a
//! stream means that the socket is drained: a round trip takes one send, one receive and a share
//! of one wait.

use std::io;
use std::time::Duration;

use pgassay_session::Stream;
use rustix::event::Timespec;
use rustix::event::epoll::{self, CreateFlags, EventData, EventFlags};
use rustix::fd::OwnedFd;
use rustix::io::Errno;
use rustix::net::{RecvFlags, SendFlags, recv, send};

use super::{Event, Network, Sink};

const RECEIVE_BYTES: usize = 64 * 1024;
const EVENTS: usize = 256;
/// Full reads of one socket before the others have their turn.
const MOST_READS: usize = 4;

pub struct Epoll {
    epoll: OwnedFd,
    sockets: Vec<Option<Socket>>,
    events: Vec<epoll::Event>,
    received: Box<[u8]>,
    reply: Vec<u8>,
    /// Sockets that had more to read, or that failed outside of `wait`.
    unsettled: Vec<usize>,
}

struct Socket {
    stream: Stream,
    /// Bytes that the socket did not take yet.
    unsent: Vec<u8>,
    failure: Option<io::Error>,
    /// The peer has closed: no further edge will tell, so reading goes on up to the end.
    is_ending: bool,
}

impl Socket {
    /// Sending failed: what the peer said before is still read, then the failure is reported.
    fn fail(&mut self, error: io::Error) {
        self.failure = Some(error);
        self.is_ending = true;
    }
}

enum Reading {
    Drained,
    More,
    Over,
}

impl Epoll {
    pub fn new() -> io::Result<Epoll> {
        Ok(Epoll {
            epoll: epoll::create(CreateFlags::CLOEXEC)?,
            sockets: Vec::new(),
            events: Vec::with_capacity(EVENTS),
            received: vec![0; RECEIVE_BYTES].into_boxed_slice(),
            reply: Vec::with_capacity(4096),
            unsettled: Vec::new(),
        })
    }

    /// Sends what can be sent and keeps the rest; listens for writability while there is one.
    fn transmit(&mut self, token: usize, bytes: &[u8]) {
        let Some(Some(socket)) = self.sockets.get_mut(token) else {
            return;
        };
        if !socket.unsent.is_empty() {
            socket.unsent.extend_from_slice(bytes);
            return;
        }
        let result = send_some(&socket.stream, bytes).and_then(|sent| {
            let rest = bytes.get(sent..).unwrap_or_default();
            if rest.is_empty() {
                return Ok(());
            }
            socket.unsent.extend_from_slice(rest);
            listen(&self.epoll, socket, token, true)
        });
        if let Err(error) = result {
            socket.fail(error);
            self.unsettled.push(token);
        }
    }

    fn flush(&mut self, token: usize) {
        let Some(Some(socket)) = self.sockets.get_mut(token) else {
            return;
        };
        if socket.unsent.is_empty() {
            return;
        }
        let result = send_some(&socket.stream, &socket.unsent).and_then(|sent| {
            socket.unsent.drain(..sent);
            if socket.unsent.is_empty() {
                listen(&self.epoll, socket, token, false)
            } else {
                Ok(())
            }
        });
        if let Err(error) = result {
            socket.fail(error);
            self.unsettled.push(token);
        }
    }

    fn read(&mut self, token: usize, sink: &mut impl Sink) {
        for _ in 0..MOST_READS {
            match self.read_once(token, sink) {
                Reading::Drained => return,
                Reading::More => {}
                Reading::Over => {
                    self.remove(token);
                    return;
                }
            }
        }
        self.unsettled.push(token);
    }

    fn read_once(&mut self, token: usize, sink: &mut impl Sink) -> Reading {
        let Some(Some(socket)) = self.sockets.get_mut(token) else {
            return Reading::Drained;
        };
        let mut reply = std::mem::take(&mut self.reply);
        reply.clear();
        let reading = match recv(&socket.stream, &mut *self.received, RecvFlags::DONTWAIT) {
            Ok((length, _)) if length > 0 => {
                let bytes = self.received.get(..length).unwrap_or_default();
                sink.event(token, Event::Received(bytes), &mut reply);
                if length < RECEIVE_BYTES && !socket.is_ending {
                    Reading::Drained
                } else {
                    Reading::More
                }
            }
            Err(Errno::INTR) => Reading::More,
            Err(Errno::AGAIN) if socket.failure.is_none() => Reading::Drained,
            end => {
                let event = match (socket.failure.take(), end) {
                    (Some(error), _) => Event::Failed(error),
                    (None, Ok(_)) => Event::Closed,
                    (None, Err(error)) => Event::Failed(error.into()),
                };
                sink.event(token, event, &mut reply);
                Reading::Over
            }
        };
        if !reply.is_empty() && !matches!(reading, Reading::Over) {
            self.transmit(token, &reply);
        }
        self.reply = reply;
        reading
    }
}

impl Network for Epoll {
    fn add(&mut self, token: usize, stream: Stream) -> io::Result<()> {
        stream.set_nonblocking(true)?;
        if self.sockets.len() <= token {
            self.sockets.resize_with(token + 1, || None);
        }
        epoll::add(
            &self.epoll,
            &stream,
            EventData::new_u64(token as u64),
            flags(false),
        )?;
        if let Some(place) = self.sockets.get_mut(token) {
            *place = Some(Socket {
                stream,
                unsent: Vec::new(),
                failure: None,
                is_ending: false,
            });
        }
        Ok(())
    }

    fn remove(&mut self, token: usize) {
        if let Some(place) = self.sockets.get_mut(token) {
            // Closing the socket also takes it out of the epoll set.
            *place = None;
        }
    }

    fn send(&mut self, token: usize, bytes: &[u8]) {
        self.transmit(token, bytes);
    }

    fn wait(&mut self, timeout: Duration, sink: &mut impl Sink) -> io::Result<()> {
        let timeout = if self.unsettled.is_empty() {
            timeout
        } else {
            Duration::ZERO
        };
        let timeout = Timespec::try_from(timeout).map_err(io::Error::other)?;
        let mut events = std::mem::take(&mut self.events);
        events.clear();
        let spare = rustix::buffer::spare_capacity(&mut events);
        match epoll::wait(&self.epoll, spare, Some(&timeout)) {
            Ok(_) | Err(Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
        for token in std::mem::take(&mut self.unsettled) {
            self.read(token, sink);
        }
        for event in &events {
            let Ok(token) = usize::try_from(event.data.u64()) else {
                continue;
            };
            let ready = event.flags;
            if ready.contains(EventFlags::OUT) {
                self.flush(token);
            }
            let ends = EventFlags::RDHUP | EventFlags::HUP | EventFlags::ERR;
            if ready.intersects(ends)
                && let Some(Some(socket)) = self.sockets.get_mut(token)
            {
                socket.is_ending = true;
            }
            if ready.intersects(ends | EventFlags::IN) {
                self.read(token, sink);
            }
        }
        self.events = events;
        Ok(())
    }

    fn name(&self) -> &'static str {
        "epoll"
    }
}

fn flags(writable: bool) -> EventFlags {
    let flags = EventFlags::IN | EventFlags::RDHUP | EventFlags::ET;
    if writable {
        flags | EventFlags::OUT
    } else {
        flags
    }
}

fn listen(epoll: &OwnedFd, socket: &Socket, token: usize, writable: bool) -> io::Result<()> {
    let data = EventData::new_u64(token as u64);
    epoll::modify(epoll, &socket.stream, data, flags(writable))?;
    Ok(())
}

/// How many bytes the socket took; none if it is full.
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
