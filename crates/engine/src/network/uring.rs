//! The network on Linux' io_uring: one receive per connection that goes on for ever, buffers
//! that the kernel picks, replies submitted together with the wait.
//!
//! Enters and leaves: as `Network` says. Never: holds a completion back, since its time is read
//! when it is handed over; or touches memory that the kernel may still use.
//!
//! A send is tried without waiting, so that it has completed when the call that submitted it
//! returns. Success then needs no completion: only a short send (`MSG_WAITALL` makes it a
//! failure) or an error has one, and the rest is sent by an operation that may wait.

use std::io;
use std::mem;
use std::time::Duration;

use io_uring::squeue::{self, Flags};
use io_uring::types::{Fd, SubmitArgs, Timespec};
use io_uring::{IoUring, cqueue, opcode};
use pgassay_session::Stream;
use rustix::io::Errno;

use super::{Event, Network, Sink};
use buffers::{Buffers, GROUP};
use slot::Slot;

mod buffers;
mod slot;

/// Replies until the first of them are submitted while completions are still being handled.
const BATCH: u32 = 32;
const MSG_DONTWAIT: i32 = 0x40;
const MSG_WAITALL: i32 = 0x100;
const MSG_NOSIGNAL: i32 = 0x4000;
/// What a completion is of, in the low bits of its user data; above them the slot.
const RECEIVE: u64 = 0;
const SEND: u64 = 1;
const KIND_BITS: u32 = 1;
/// How often and how long the end waits for the kernel to let go of memory.
const LAST_WAITS: usize = 20;
const LAST_WAIT: Duration = Duration::from_millis(50);

pub struct Uring {
    ring: IoUring,
    buffers: mem::ManuallyDrop<Buffers>,
    slots: Vec<Option<Slot>>,
    free: Vec<usize>,
    /// By token.
    slot_of: Vec<Option<usize>>,
    /// Advances when everything submitted before has completed or told why not.
    turn: u64,
    /// Slots with bytes queued behind a message of the same turn.
    late: Vec<usize>,
    /// Slots of removed connections, until the kernel has let go of them.
    leaving: Vec<usize>,
    /// Why nothing can be submitted any more; told by the next wait.
    failure: Option<io::Error>,
}

impl Uring {
    /// Fails where the kernel lacks it (before 6.1) or a container forbids it.
    pub fn new(connections: usize) -> io::Result<Uring> {
        let completions = connections.saturating_mul(2).clamp(256, 32_768);
        let ring = IoUring::builder()
            .setup_single_issuer()
            .setup_defer_taskrun()
            .setup_submit_all()
            .setup_cqsize(u32::try_from(completions).map_err(io::Error::other)?)
            .build(BATCH)?;
        let buffers = Buffers::new(connections)?;
        buffers.register(&ring.submitter())?;
        Ok(Uring {
            ring,
            buffers: mem::ManuallyDrop::new(buffers),
            slots: Vec::new(),
            free: Vec::new(),
            slot_of: Vec::new(),
            turn: 1,
            late: Vec::new(),
            leaving: Vec::new(),
            failure: None,
        })
    }

    /// Whether this process may use it: the error says why not.
    pub fn probe() -> io::Result<()> {
        Uring::new(1).map(drop)
    }

    /// Queues an operation; submits those queued when there is no room.
    #[inline]
    fn push(&mut self, entry: &squeue::Entry) {
        // SAFETY: receives use the registered buffers, which outlive the ring. Sends point into
        // the output of their slot, which is not touched before its turn is past or, where the
        // kernel keeps the send, before that completes.
        while unsafe { self.ring.submission().push(entry) }.is_err() {
            if let Err(error) = self.ring.submit() {
                if !passes(&error) {
                    self.failure = Some(error);
                    return;
                }
                std::thread::yield_now();
            }
        }
    }

    fn receive(&mut self, index: usize) {
        if let Some(Some(slot)) = self.slots.get_mut(index) {
            slot.is_receiving = true;
            let fd = slot.fd();
            let entry = opcode::RecvMulti::new(fd, GROUP).build();
            self.push(&entry.user_data(user_data(index, RECEIVE)));
        }
    }

    /// Sends what the slot's output holds, as much as the socket takes.
    #[inline]
    fn push_send(&mut self, index: usize, fd: Fd, place: Option<(*const u8, u32)>) {
        if let Some((start, length)) = place {
            let entry = opcode::Send::new(fd, start, length)
                .flags(MSG_DONTWAIT | MSG_WAITALL | MSG_NOSIGNAL)
                .build()
                .flags(Flags::SKIP_SUCCESS);
            self.push(&entry.user_data(user_data(index, SEND)));
        }
    }

    fn transmit(&mut self, index: usize, bytes: &[u8]) {
        let turn = self.turn;
        let Some(Some(slot)) = self.slots.get_mut(index) else {
            return;
        };
        if slot.is_free(turn) && !slot.has_queued() {
            let mut output = slot.take_output();
            output.extend_from_slice(bytes);
            let place = place(slot.put_output(output, turn));
            let fd = slot.fd();
            self.push_send(index, fd, place);
        } else if slot.queue(bytes) {
            self.late.push(index);
        }
    }

    /// Sends what was queued behind messages that are out by now.
    fn transmit_late(&mut self) {
        let turn = self.turn;
        for index in mem::take(&mut self.late) {
            let Some(Some(slot)) = self.slots.get_mut(index) else {
                continue;
            };
            // A message that the kernel holds for longer lists its slot anew when it is out.
            if slot.is_sending || !slot.has_queued() {
                continue;
            }
            if slot.is_free(turn) {
                let fd = slot.fd();
                let place = place(slot.next_output(turn));
                self.push_send(index, fd, place);
            } else {
                self.late.push(index);
            }
        }
    }

    /// Frees the slots of removed connections that the kernel has let go of.
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

    /// Each is taken off the queue by itself, so that the kernel has its place at once.
    #[inline]
    fn next_completion(&mut self) -> Option<cqueue::Entry> {
        self.ring.completion().next()
    }

    fn complete(&mut self, entry: &cqueue::Entry, sink: &mut impl Sink) {
        let Ok(index) = usize::try_from(entry.user_data() >> KIND_BITS) else {
            return;
        };
        if entry.user_data() & SEND == SEND {
            self.sent(index, entry.result());
        } else {
            self.received(index, entry, sink);
        }
    }

    /// A send was short, failed, or is the rest of one.
    #[cold]
    fn sent(&mut self, index: usize, result: i32) {
        let Some(Some(slot)) = self.slots.get_mut(index) else {
            return;
        };
        let was_rest = mem::take(&mut slot.is_sending);
        if slot.is_leaving {
            return;
        }
        let taken = match usize::try_from(result) {
            Ok(taken) => taken,
            Err(_) if result == -Errno::AGAIN.raw_os_error() => 0,
            Err(_) => {
                // What the peer said before is still received, then the failure is reported.
                slot.failure = Some(io::Error::from_raw_os_error(-result));
                slot.shut_down();
                return;
            }
        };
        let rest = slot.rest(taken);
        match place(rest) {
            Some((start, length)) => {
                let fd = slot.fd();
                let entry = opcode::Send::new(fd, start, length)
                    .flags(MSG_WAITALL | MSG_NOSIGNAL)
                    .build();
                self.push(&entry.user_data(user_data(index, SEND)));
            }
            None => {
                slot.is_sending = false;
                if was_rest && slot.has_queued() {
                    self.late.push(index);
                }
            }
        }
    }

    #[inline]
    fn received(&mut self, index: usize, entry: &cqueue::Entry, sink: &mut impl Sink) {
        let buffer = cqueue::buffer_select(entry.flags());
        let turn = self.turn;
        let Some(Some(slot)) = self.slots.get_mut(index) else {
            return;
        };
        slot.is_receiving = cqueue::more(entry.flags());
        let is_over = !slot.is_receiving;
        let length = entry.result();
        if slot.is_leaving {
            if let Some(number) = buffer {
                self.buffers.lend(number);
            }
            return;
        }
        if let (Ok(length @ 1..), Some(number)) = (usize::try_from(length), buffer) {
            let bytes = self.buffers.received(number, length);
            let is_free = slot.is_free(turn) && !slot.has_queued();
            let mut reply = if is_free {
                slot.take_output()
            } else {
                Vec::new()
            };
            sink.event(slot.token, Event::Received(bytes), &mut reply);
            self.buffers.lend(number);
            if is_free {
                let fd = slot.fd();
                let place = place(slot.put_output(reply, turn));
                self.push_send(index, fd, place);
            } else if !reply.is_empty() {
                self.transmit(index, &reply);
            }
            if is_over {
                self.receive(index);
            }
            return;
        }
        if let Some(number) = buffer {
            self.buffers.lend(number);
        }
        let passing = [Errno::NOBUFS, Errno::INTR, Errno::AGAIN];
        if passing.map(|error| -error.raw_os_error()).contains(&length) {
            if is_over {
                self.receive(index);
            }
            return;
        }
        let event = match slot.failure.take() {
            Some(failure) => Event::Failed(failure),
            None if length == 0 => Event::Closed,
            None => Event::Failed(io::Error::from_raw_os_error(-length)),
        };
        let token = slot.token;
        sink.event(token, event, &mut Vec::new());
        self.remove(token);
    }

    /// Submits what is queued, waits for so many completions and handles all there are.
    fn turn(&mut self, want: usize, timeout: Duration, sink: &mut impl Sink) -> io::Result<()> {
        let timeout = Timespec::from(timeout);
        let arguments = SubmitArgs::new().timespec(&timeout);
        match self.ring.submitter().submit_with_args(want, &arguments) {
            Ok(_) => {}
            Err(error) if passes(&error) => {}
            Err(error) => return Err(error),
        }
        if self.ring.submission().is_empty() {
            self.turn += 1;
        }
        // The queue grows only when we ask the kernel to work, so this ends.
        while let Some(entry) = self.next_completion() {
            self.complete(&entry, sink);
        }
        self.transmit_late();
        self.release();
        self.failure.take().map_or(Ok(()), Err)
    }
}

/// Whether an error of a submission is none: time is up, or completions must be handled first.
fn passes(error: &io::Error) -> bool {
    let passing = [Errno::TIME, Errno::INTR, Errno::AGAIN, Errno::BUSY];
    Errno::from_io_error(error).is_some_and(|error| passing.contains(&error))
}

fn user_data(index: usize, kind: u64) -> u64 {
    ((index as u64) << KIND_BITS) | kind
}

/// Where bytes lie, if there are any; longer messages than the kernel takes go in pieces.
#[inline]
fn place(bytes: &[u8]) -> Option<(*const u8, u32)> {
    const MOST: usize = 1 << 30;
    let length = u32::try_from(bytes.len().min(MOST)).ok()?;
    (length > 0).then_some((bytes.as_ptr(), length))
}

impl Network for Uring {
    fn add(&mut self, token: usize, stream: Stream) -> io::Result<()> {
        if !stream.is_plain() {
            let problem = "io_uring moves plain bytes only";
            return Err(io::Error::new(io::ErrorKind::Unsupported, problem));
        }
        let slot = Slot::new(stream, token);
        let index = match self.free.pop() {
            Some(index) => index,
            None => {
                self.slots.push(None);
                self.slots.len() - 1
            }
        };
        if let Some(place) = self.slots.get_mut(index) {
            *place = Some(slot);
        }
        if self.slot_of.len() <= token {
            self.slot_of.resize(token + 1, None);
        }
        if let Some(place) = self.slot_of.get_mut(token) {
            *place = Some(index);
        }
        self.receive(index);
        Ok(())
    }

    fn remove(&mut self, token: usize) {
        let Some(index) = self.slot_of.get_mut(token).and_then(Option::take) else {
            return;
        };
        // A message accepted just before, like a goodbye, is still sent.
        let _ = self.ring.submit();
        if let Some(Some(slot)) = self.slots.get_mut(index) {
            slot.is_leaving = true;
            slot.shut_down();
            self.leaving.push(index);
        }
    }

    fn send(&mut self, token: usize, bytes: &[u8]) {
        if let Some(index) = self.slot_of.get(token).copied().flatten() {
            self.transmit(index, bytes);
        }
    }

    fn wait(&mut self, timeout: Duration, sink: &mut impl Sink) -> io::Result<()> {
        if self.late.is_empty() {
            self.turn(1, timeout, sink)
        } else {
            // They can be sent when what is queued now is out.
            self.turn(0, Duration::ZERO, sink)
        }
    }

    fn name(&self) -> &'static str {
        "io_uring"
    }
}

/// Of what comes after the end.
struct Nobody;

impl Sink for Nobody {
    fn event(&mut self, _: usize, _: Event<'_>, _: &mut Vec<u8>) {}
}

impl Drop for Uring {
    fn drop(&mut self) {
        for token in 0..self.slot_of.len() {
            self.remove(token);
        }
        for _ in 0..LAST_WAITS {
            if self.leaving.is_empty() {
                // SAFETY: nothing is under way any more, so nothing will write the buffers; and
                // they are not used again.
                unsafe { mem::ManuallyDrop::drop(&mut self.buffers) };
                return;
            }
            if self.turn(1, LAST_WAIT, &mut Nobody).is_err() {
                break;
            }
        }
        // The kernel has not let go: rather lose the memory than have it written later.
        mem::forget(mem::take(&mut self.slots));
    }
}
