//! The two queues of io_uring: submissions and completions.
//!
//! Enters: operations of slots, by index. Leaves: completions, one at a time. Never: owns the
//! memory of an operation; its callers must not touch that until the operation has completed.

use std::io;
use std::time::Duration;

use io_uring::squeue::{self, Flags};
use io_uring::types::{Fd, SubmitArgs, Timespec};
use io_uring::{IoUring, Submitter, cqueue, opcode};
use rustix::io::Errno;

use super::buffers::GROUP;

/// Operations until the first of them are submitted while completions are still being handled.
/// Larger batches wake more backends at once and are interrupted less often: with 64 clients on
/// two cores 64 take a sixth less of the client's CPU than 32, and 256 no less than 64.
const BATCH: u32 = 64;
const MSG_DONTWAIT: i32 = 0x40;
const MSG_WAITALL: i32 = 0x100;
const MSG_NOSIGNAL: i32 = 0x4000;
/// The longest send; longer messages are sent in pieces.
const LONGEST: usize = 1 << 30;
/// The kind of operation, in the low bits of its user data; the slot is in the others.
const RECEIVE: u64 = 0;
const SEND: u64 = 1;
const ALARM: u64 = 2;
const KIND: u64 = 3;
const KIND_BITS: u32 = 2;

/// Flags of `io_uring_enter`: run what is due and wait; a wait with a limit; a wait that is none
/// for I/O.
const GETEVENTS: u32 = 1;
const EXT_ARG: u32 = 1 << 3;
const NO_IOWAIT: u32 = 1 << 7;

pub struct Ring {
    ring: IoUring,
    /// Flags of every wait.
    wait: u32,
    /// Where the kernel reads the time of the alarm when that is submitted.
    alarm_time: Box<Timespec>,
    /// Why nothing can be submitted any more; the next `enter` returns it.
    failure: Option<io::Error>,
}

pub enum Completion {
    Receive {
        slot: usize,
        /// A number of bytes, or a negative error number.
        result: i32,
        buffer: Option<u16>,
        /// More completions of the same operation follow.
        goes_on: bool,
    },
    Send {
        slot: usize,
        result: i32,
    },
    Alarm,
}

impl Ring {
    /// Fails where the kernel lacks what is needed (before 6.1) or a container forbids it.
    pub fn new(connections: usize) -> io::Result<Ring> {
        let completions = connections.saturating_mul(2).clamp(256, 32_768);
        let ring = IoUring::builder()
            .setup_single_issuer()
            .setup_defer_taskrun()
            .setup_taskrun_flag()
            .setup_submit_all()
            .setup_cqsize(u32::try_from(completions).map_err(io::Error::other)?)
            .build(BATCH)?;
        let mut wait = GETEVENTS;
        if ring.params().is_feature_no_iowait() {
            wait |= NO_IOWAIT;
        }
        Ok(Ring {
            ring,
            wait,
            alarm_time: Box::default(),
            failure: None,
        })
    }

    /// Whether the kernel can distinguish a wait for answers from a wait for a disk. If not, all
    /// idle time of clients appears as iowait and I/O pressure of the host.
    pub fn waits_honestly(&self) -> bool {
        self.wait & NO_IOWAIT != 0
    }

    pub fn submitter(&self) -> Submitter<'_> {
        self.ring.submitter()
    }

    /// Starts a multishot receive into buffers that the kernel picks.
    pub fn receive(&mut self, slot: usize, fd: Fd) {
        let entry = opcode::RecvMulti::new(fd, GROUP).build();
        self.push(&entry.user_data(user_data(slot, RECEIVE)));
    }

    /// Sends what the socket takes at once. Completes only if that is not all.
    #[inline]
    pub fn send(&mut self, slot: usize, fd: Fd, bytes: &[u8]) {
        if !bytes.is_empty() {
            let entry = send(fd, bytes, MSG_DONTWAIT | MSG_WAITALL | MSG_NOSIGNAL)
                .flags(Flags::SKIP_SUCCESS);
            self.push(&entry.user_data(user_data(slot, SEND)));
        }
    }

    /// Sends all, however long the socket takes. Always completes.
    pub fn send_waiting(&mut self, slot: usize, fd: Fd, bytes: &[u8]) {
        let entry = send(fd, bytes, MSG_WAITALL | MSG_NOSIGNAL);
        self.push(&entry.user_data(user_data(slot, SEND)));
    }

    /// Completes after this time; only while no other alarm is set.
    pub fn set_alarm(&mut self, after: Duration) {
        *self.alarm_time = Timespec::from(after);
        let entry = opcode::Timeout::new(&raw const *self.alarm_time).build();
        self.push(&entry.user_data(ALARM));
    }

    /// Queues an operation; submits those queued when there is no room.
    #[inline]
    fn push(&mut self, entry: &squeue::Entry) {
        // SAFETY: receives use the registered buffers, which are freed only when no receive is
        // under way. Sends point into the output of their slot, which is not touched before its
        // turn is past or, where the kernel keeps the send, before that completes. The time of
        // an alarm has a place of its own, set anew only when the last alarm is over.
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

    /// Submits what is queued.
    pub fn submit(&mut self) {
        // Operations that cannot be submitted now stay queued.
        let _ = self.ring.submit();
    }

    /// Whether there are completions, or will be as soon as the kernel is entered.
    #[inline]
    pub fn has_completions(&mut self) -> bool {
        self.ring.submission().taskrun() || !self.ring.completion().is_empty()
    }

    /// Submits what is queued and waits for this many completions; true if all was submitted.
    pub fn enter(&mut self, want: usize, limit: Option<Duration>) -> io::Result<bool> {
        if let Some(error) = self.failure.take() {
            return Err(error);
        }
        let queued = self.ring.submission().len() as u32;
        let want = want as u32;
        let submitter = self.ring.submitter();
        // SAFETY: the argument is of the kind that the flags name; what is queued is as `push` says.
        let result = match limit {
            None => unsafe { submitter.enter::<()>(queued, want, self.wait, None) },
            Some(limit) => {
                let limit = Timespec::from(limit);
                let arguments = SubmitArgs::new().timespec(&limit);
                unsafe { submitter.enter(queued, want, self.wait | EXT_ARG, Some(&arguments)) }
            }
        };
        match result {
            Ok(_) => {}
            Err(error) if passes(&error) => {}
            Err(error) => return Err(error),
        }
        Ok(self.ring.submission().is_empty())
    }

    /// Takes one completion off the queue, so that the kernel can reuse its place at once.
    #[inline]
    pub fn next(&mut self) -> Option<Completion> {
        let entry = self.ring.completion().next()?;
        // It was made of an index.
        let slot = (entry.user_data() >> KIND_BITS) as usize;
        let result = entry.result();
        Some(match entry.user_data() & KIND {
            RECEIVE => Completion::Receive {
                slot,
                result,
                buffer: cqueue::buffer_select(entry.flags()),
                goes_on: cqueue::more(entry.flags()),
            },
            SEND => Completion::Send { slot, result },
            _ => Completion::Alarm,
        })
    }
}

fn user_data(slot: usize, kind: u64) -> u64 {
    ((slot as u64) << KIND_BITS) | kind
}

#[inline]
fn send(fd: Fd, bytes: &[u8], flags: i32) -> squeue::Entry {
    // The rest of a longer message follows as the rest of a short send does.
    let length = bytes.len().min(LONGEST) as u32;
    opcode::Send::new(fd, bytes.as_ptr(), length)
        .flags(flags)
        .build()
}

/// Whether an error is harmless: time is up, or completions must be handled first.
fn passes(error: &io::Error) -> bool {
    let passing = [Errno::TIME, Errno::INTR, Errno::AGAIN, Errno::BUSY];
    Errno::from_io_error(error).is_some_and(|error| passing.contains(&error))
}
