//! The network on Linux' epoll, edge-triggered.
//!
//! Enters and leaves: as `Network` says. Never: reads again after a short read, which means that
//! the socket is empty: a round trip takes one send, one receive and a share of one wait.

mod transfer;

use std::io;
use std::time::Duration;

use pgassay_session::Stream;
use pgassay_session::tls::Reception;
use rustix::event::epoll::{self, CreateFlags, EventData, EventFlags};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fd::OwnedFd;
use rustix::io::Errno;
use rustix::time::{
    Itimerspec, TimerfdClockId, TimerfdFlags, TimerfdTimerFlags, timerfd_create, timerfd_settime,
};

use super::alarm::{Alarm, Limit};
use super::{BusyPoll, Event, Network, Sink};

const RECEIVE_BYTES: usize = 64 * 1024;
const EVENTS: usize = 256;
/// Full reads of one socket before the others are served.
const MOST_READS: usize = 4;
/// The token of the timer.
const TIMER: u64 = u64::MAX;

pub struct Epoll {
    epoll: OwnedFd,
    timer: OwnedFd,
    alarm: Alarm,
    poll: BusyPoll,
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
    /// The socket was full; epoll reports when it takes more.
    is_full: bool,
    failure: Option<io::Error>,
    /// The peer has closed: epoll reports nothing more, so reading goes on up to the end.
    is_ending: bool,
}

impl Socket {
    /// Sending failed: bytes that the peer sent before are read, then the failure is reported.
    fn fail(&mut self, error: io::Error) {
        self.failure = Some(error);
        self.is_ending = true;
    }
}

enum Wait {
    /// Does not wait: events are pending, or no time is left.
    No,
    /// Waits for an event; the timer is one.
    ForEvents,
}

enum Reading {
    Drained,
    More,
    Over,
}

impl Epoll {
    pub fn new(poll: BusyPoll) -> io::Result<Epoll> {
        let epoll = epoll::create(CreateFlags::CLOEXEC)?;
        let timer = timerfd_create(
            TimerfdClockId::Monotonic,
            TimerfdFlags::CLOEXEC | TimerfdFlags::NONBLOCK,
        )?;
        // Edge-triggered, so it need not be read: each setting causes a new event.
        let edges = EventFlags::IN | EventFlags::ET;
        epoll::add(&epoll, &timer, EventData::new_u64(TIMER), edges)?;
        Ok(Epoll {
            epoll,
            timer,
            alarm: Alarm::default(),
            poll,
            sockets: Vec::new(),
            events: Vec::with_capacity(EVENTS),
            received: vec![0; RECEIVE_BYTES].into_boxed_slice(),
            reply: Vec::with_capacity(4096),
            unsettled: Vec::new(),
        })
    }

    /// Sends what the socket takes and keeps the rest; waits for writability while there is a rest.
    fn transmit(&mut self, token: usize, bytes: &[u8]) {
        let Some(Some(socket)) = self.sockets.get_mut(token) else {
            return;
        };
        let result = transfer::transmit(&mut socket.stream, &mut socket.unsent, bytes);
        if !matches!(result, Ok(is_sent) if is_sent != socket.is_full) {
            self.after_send(token, result);
        }
    }

    fn flush(&mut self, token: usize) {
        let Some(Some(socket)) = self.sockets.get_mut(token) else {
            return;
        };
        let result = transfer::flush(&mut socket.stream, &mut socket.unsent);
        self.after_send(token, result);
    }

    /// Handles the result of a send: registers for writability, or notes the failure.
    fn after_send(&mut self, token: usize, result: io::Result<bool>) {
        let Some(Some(socket)) = self.sockets.get_mut(token) else {
            return;
        };
        let result = result.and_then(|is_sent| {
            if is_sent != socket.is_full {
                return Ok(());
            }
            socket.is_full = !is_sent;
            let data = EventData::new_u64(token as u64);
            epoll::modify(&self.epoll, &socket.stream, data, flags(socket.is_full))
                .map_err(io::Error::from)
        });
        if let Err(error) = result {
            socket.fail(error);
            self.unsettled.push(token);
        }
    }

    /// Prepares the next wait so that it ends in time. None: a short wait is over and nothing
    /// happened.
    ///
    /// The timeout of epoll is in milliseconds (epoll_pwait2 needs Linux 5.11), that of ppoll in
    /// nanoseconds: short waits use ppoll on the epoll set.
    fn limit(&mut self, timeout: Duration) -> io::Result<Option<Wait>> {
        if timeout.is_zero() {
            return Ok(Some(Wait::No));
        }
        let limit = self.alarm.limit(timeout);
        if limit == Limit::Running {
            return Ok(Some(Wait::ForEvents));
        }
        let time = Timespec::try_from(timeout).map_err(io::Error::other)?;
        if limit == Limit::Start {
            let once = Itimerspec {
                it_interval: Timespec::default(),
                it_value: time,
            };
            timerfd_settime(&self.timer, TimerfdTimerFlags::empty(), &once)?;
            return Ok(Some(Wait::ForEvents));
        }
        match poll(&mut [PollFd::new(&self.epoll, PollFlags::IN)], Some(&time)) {
            Ok(0) | Err(Errno::INTR) => Ok(None),
            Ok(_) => Ok(Some(Wait::No)),
            Err(error) => Err(error.into()),
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
        let reading = match transfer::receive(&mut socket.stream, &mut self.received) {
            Ok(Reception::Bytes {
                length,
                is_socket_empty,
            }) => {
                if length > 0 {
                    let bytes = self.received.get(..length).unwrap_or_default();
                    sink.event(token, Event::Received(bytes), &mut reply);
                }
                if length == 0
                    && is_socket_empty
                    && let Some(error) = socket.failure.take()
                {
                    sink.event(token, Event::Failed(error), &mut reply);
                    Reading::Over
                } else if is_socket_empty && (length == 0 || !socket.is_ending) {
                    Reading::Drained
                } else {
                    // Also after the peer has closed: epoll does not report the end of the data.
                    Reading::More
                }
            }
            end => {
                let event = match (socket.failure.take(), end) {
                    (Some(error), _) | (None, Err(error)) => Event::Failed(error),
                    (None, Ok(_)) => Event::Closed,
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
        if !stream.is_plain() {
            // TLS may hold decrypted bytes already, which epoll does not report.
            self.unsettled.push(token);
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
                is_full: false,
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
        let epoll = &self.epoll;
        let is_ready = || {
            let now = Timespec::default();
            poll(&mut [PollFd::new(epoll, PollFlags::IN)], Some(&now)).is_ok_and(|ready| ready > 0)
        };
        let timeout = if self.poll.finds(timeout, is_ready) {
            Duration::ZERO
        } else {
            timeout
        };
        let limit = match self.limit(timeout)? {
            None => return Ok(()),
            Some(Wait::No) => Some(Timespec::default()),
            Some(Wait::ForEvents) => None,
        };
        let mut events = std::mem::take(&mut self.events);
        events.clear();
        let spare = rustix::buffer::spare_capacity(&mut events);
        match epoll::wait(&self.epoll, spare, limit.as_ref()) {
            Ok(_) | Err(Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
        for token in std::mem::take(&mut self.unsettled) {
            self.read(token, sink);
        }
        for event in &events {
            if event.data.u64() == TIMER {
                self.alarm.fired();
                continue;
            }
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
