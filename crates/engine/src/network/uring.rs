//! The network on Linux' io_uring: one multishot receive per connection, buffers that the kernel
//! picks, replies submitted together with the wait.
//!
//! Enters and leaves: as `Network` says. Never: delays a completion, whose time is read when it
//! is passed on; or touches memory that the kernel may still use.
//!
//! A send is tried without waiting, so that it has completed when the call that submitted it
//! returns. Success then needs no completion: only a short send (`MSG_WAITALL` makes it a
//! failure) or an error has one, and the rest is sent by an operation that may wait.

use std::io;
use std::mem::{self, ManuallyDrop};
use std::time::Duration;

use pgassay_session::Stream;
use rustix::io::Errno;

use super::alarm::{Alarm, Limit};
use super::{BusyPoll, Event, Network, Sink};
use buffers::Buffers;
use ring::{Completion, Ring};
use slot::Slot;

mod buffers;
mod ring;
mod slot;

/// How often and how long the end waits for the kernel to release memory.
const LAST_WAITS: usize = 20;
const LAST_WAIT: Duration = Duration::from_millis(50);

pub struct Uring {
    ring: Ring,
    buffers: ManuallyDrop<Buffers>,
    slots: Vec<Option<Slot>>,
    free: Vec<usize>,
    /// By token.
    slot_of: Vec<Option<usize>>,
    /// Advances when every send submitted before has succeeded or failed.
    turn: u64,
    /// Slots with bytes queued behind a message of the same turn.
    late: Vec<usize>,
    /// Slots of removed connections, until the kernel has released them.
    leaving: Vec<usize>,
    alarm: Alarm,
    poll: BusyPoll,
}

impl Uring {
    /// Fails where the kernel lacks what is needed (before 6.1) or a container forbids it.
    pub fn new(connections: usize, poll: BusyPoll) -> io::Result<Uring> {
        let ring = Ring::new(connections)?;
        let buffers = Buffers::new(connections)?;
        buffers.register(&ring.submitter())?;
        Ok(Uring {
            ring,
            buffers: ManuallyDrop::new(buffers),
            slots: Vec::new(),
            free: Vec::new(),
            slot_of: Vec::new(),
            turn: 1,
            late: Vec::new(),
            leaving: Vec::new(),
            alarm: Alarm::default(),
            poll,
        })
    }

    /// Whether io_uring's waits are not counted as iowait here; an error says why this process
    /// cannot use io_uring.
    pub fn probe() -> io::Result<bool> {
        Uring::new(1, BusyPoll::new(Duration::ZERO)).map(|uring| uring.ring.waits_honestly())
    }

    fn transmit(&mut self, index: usize, bytes: &[u8]) {
        let Some(Some(slot)) = self.slots.get_mut(index) else {
            return;
        };
        if slot.is_free(self.turn) && !slot.has_queued() {
            let mut output = slot.take_output();
            output.extend_from_slice(bytes);
            let fd = slot.fd();
            self.ring
                .send(index, fd, slot.put_output(output, self.turn));
        } else if slot.queue(bytes) {
            self.late.push(index);
        }
    }

    /// Sends what was queued behind messages that have been sent by now.
    fn send_deferred(&mut self) {
        for index in mem::take(&mut self.late) {
            let Some(Some(slot)) = self.slots.get_mut(index) else {
                continue;
            };
            // A message that the kernel still sends lists its slot again when it is done.
            if slot.is_sending || !slot.has_queued() {
                continue;
            }
            if !slot.is_free(self.turn) {
                self.late.push(index);
                continue;
            }
            let fd = slot.fd();
            self.ring.send(index, fd, slot.next_output(self.turn));
            if slot.is_leaving {
                self.ring.submit();
                slot.shut_down();
            }
        }
    }

    /// Frees the slots of removed connections that the kernel has released.
    fn release(&mut self) {
        for index in mem::take(&mut self.leaving) {
            match self.slots.get_mut(index) {
                Some(Some(slot)) if slot.is_with_kernel(self.turn) => self.leaving.push(index),
                Some(place) => {
                    *place = None;
                    self.free.push(index);
                }
                None => {}
            }
        }
    }

    /// Handles the completion of a send that was short, failed, or is the rest of another.
    #[cold]
    fn sent(&mut self, index: usize, result: i32) {
        let Some(Some(slot)) = self.slots.get_mut(index) else {
            return;
        };
        slot.is_sending = false;
        if slot.is_leaving {
            // Bytes queued behind it must be listed again.
            slot.drop_queued();
            slot.shut_down();
            return;
        }
        let taken = match usize::try_from(result) {
            Ok(taken) => taken,
            Err(_) if is_one_of(result, &[Errno::AGAIN, Errno::INTR]) => 0,
            Err(_) => {
                // Bytes that the peer sent before are received, then the failure is reported.
                slot.failure = Some(io::Error::from_raw_os_error(-result));
                slot.shut_down();
                return;
            }
        };
        let fd = slot.fd();
        let rest = slot.rest(taken);
        if !rest.is_empty() {
            self.ring.send_waiting(index, fd, rest);
        } else if slot.has_queued() {
            self.late.push(index);
        }
    }

    #[inline]
    fn received(&mut self, index: usize, bytes: Received, sink: &mut impl Sink) {
        let Received { number, length } = bytes;
        let Some(Some(slot)) = self.slots.get_mut(index) else {
            return;
        };
        let is_free = slot.is_free(self.turn) && !slot.has_queued();
        let mut reply = if is_free {
            slot.take_output()
        } else {
            Vec::new()
        };
        let bytes = self.buffers.received(number, length);
        sink.event(slot.token, Event::Received(bytes), &mut reply);
        if is_free {
            let fd = slot.fd();
            self.ring.send(index, fd, slot.put_output(reply, self.turn));
        } else if !reply.is_empty() {
            self.transmit(index, &reply);
        }
    }

    /// Handles a connection that the peer has closed, or that is broken.
    #[cold]
    fn ended(&mut self, index: usize, result: i32, sink: &mut impl Sink) {
        let Some(Some(slot)) = self.slots.get_mut(index) else {
            return;
        };
        let event = match slot.failure.take() {
            Some(failure) => Event::Failed(failure),
            None if result == 0 => Event::Closed,
            None => Event::Failed(io::Error::from_raw_os_error(-result)),
        };
        let token = slot.token;
        sink.event(token, event, &mut Vec::new());
        self.remove(token);
    }

    fn complete(&mut self, completion: Completion, sink: &mut impl Sink) {
        let (index, result, buffer, goes_on) = match completion {
            Completion::Alarm => return self.alarm.fired(),
            Completion::Send { slot, result } => return self.sent(slot, result),
            Completion::Receive {
                slot,
                result,
                buffer,
                goes_on,
            } => (slot, result, buffer, goes_on),
        };
        let Some(Some(slot)) = self.slots.get_mut(index) else {
            return;
        };
        slot.is_receiving = goes_on;
        let is_leaving = slot.is_leaving;
        if let Some(number) = buffer {
            if let (Ok(length @ 1..), false) = (usize::try_from(result), is_leaving) {
                self.received(index, Received { number, length }, sink);
            }
            self.buffers.give_to_kernel(number);
        }
        let passing = [Errno::NOBUFS, Errno::INTR, Errno::AGAIN];
        if is_leaving {
            // The connection was removed, so its events are ignored.
        } else if result > 0 || is_one_of(result, &passing) {
            if !goes_on && let Some(Some(slot)) = self.slots.get_mut(index) {
                slot.is_receiving = true;
                self.ring.receive(index, slot.fd());
            }
        } else {
            self.ended(index, result, sink);
        }
    }

    /// Submits what is queued, waits for this many completions and handles all of them.
    fn turn(
        &mut self,
        want: usize,
        limit: Option<Duration>,
        sink: &mut impl Sink,
    ) -> io::Result<()> {
        self.enter(want, limit)?;
        self.handle(sink);
        Ok(())
    }

    fn enter(&mut self, want: usize, limit: Option<Duration>) -> io::Result<()> {
        if self.ring.enter(want, limit)? {
            self.turn += 1;
        }
        Ok(())
    }

    fn handle(&mut self, sink: &mut impl Sink) {
        // The queue grows only when the kernel is entered, so this ends.
        while let Some(completion) = self.ring.next() {
            self.complete(completion, sink);
        }
        self.send_deferred();
        self.release();
    }
}

/// Bytes in a buffer.
struct Received {
    number: u16,
    length: usize,
}

fn is_one_of(result: i32, errors: &[Errno]) -> bool {
    errors.iter().any(|error| -error.raw_os_error() == result)
}

impl Network for Uring {
    fn add(&mut self, token: usize, stream: Stream) -> io::Result<()> {
        if !stream.is_plain() {
            let problem = "io_uring moves plain bytes only";
            return Err(io::Error::new(io::ErrorKind::Unsupported, problem));
        }
        let mut slot = Slot::new(stream, token);
        slot.is_receiving = true;
        let fd = slot.fd();
        let index = self.free.pop().unwrap_or(self.slots.len());
        match self.slots.get_mut(index) {
            Some(place) => *place = Some(slot),
            None => self.slots.push(Some(slot)),
        }
        if self.slot_of.len() <= token {
            self.slot_of.resize(token + 1, None);
        }
        if let Some(place) = self.slot_of.get_mut(token) {
            *place = Some(index);
        }
        self.ring.receive(index, fd);
        Ok(())
    }

    fn remove(&mut self, token: usize) {
        let Some(index) = self.slot_of.get_mut(token).and_then(Option::take) else {
            return;
        };
        // A message accepted just before, such as Terminate, is still sent.
        self.ring.submit();
        if let Some(Some(slot)) = self.slots.get_mut(index) {
            slot.is_leaving = true;
            // A message that is queued behind another is sent when that one is known to be sent.
            if slot.is_sending || !slot.has_queued() {
                slot.shut_down();
            }
            self.leaving.push(index);
        }
    }

    fn send(&mut self, token: usize, bytes: &[u8]) {
        if let Some(index) = self.slot_of.get(token).copied().flatten() {
            self.transmit(index, bytes);
        }
    }

    fn wait(&mut self, timeout: Duration, sink: &mut impl Sink) -> io::Result<()> {
        if !self.late.is_empty() {
            // They can be sent once what is queued now has been sent.
            return self.turn(0, Some(Duration::ZERO), sink);
        }
        let limit = match self.alarm.limit(timeout) {
            Limit::Running => None,
            Limit::Own => Some(timeout),
            Limit::Start => {
                self.ring.set_alarm(timeout);
                None
            }
        };
        if self.poll.is_off() {
            return self.turn(1, limit, sink);
        }
        self.enter(0, None)?;
        if !self.ring.has_completions() {
            let found = self.poll.finds(timeout, || self.ring.has_completions());
            self.enter(usize::from(!found), limit)?;
        }
        self.handle(sink);
        Ok(())
    }

    fn name(&self) -> &'static str {
        "io_uring"
    }
}

/// Ignores events after the end.
struct IgnoreEvents;

impl Sink for IgnoreEvents {
    fn event(&mut self, _: usize, _: Event<'_>, _: &mut Vec<u8>) {}
}

impl Drop for Uring {
    fn drop(&mut self) {
        for token in 0..self.slot_of.len() {
            self.remove(token);
        }
        for _ in 0..LAST_WAITS {
            if self.leaving.is_empty() {
                // SAFETY: no operation is pending any more, so nothing will write the buffers; and
                // they are not used again.
                unsafe { ManuallyDrop::drop(&mut self.buffers) };
                return;
            }
            // Last messages can be submitted without waiting for a completion.
            let want = usize::from(self.late.is_empty());
            if self.turn(want, Some(LAST_WAIT), &mut IgnoreEvents).is_err() {
                break;
            }
        }
        // The kernel may still write this memory, so it is leaked rather than freed.
        mem::forget(mem::take(&mut self.slots));
    }
}
