//! One socket of the ring, from `add` until the kernel has released it.
//!
//! Enters: bytes to send, completions of sends. Leaves: the bytes to send next. Never: changes or
//! frees bytes that the kernel may still read.

use std::io;
use std::mem;

use io_uring::types::Fd;
use pgassay_session::Stream;
use rustix::fd::{AsFd, AsRawFd};
use rustix::net::{Shutdown, shutdown};

pub struct Slot {
    pub stream: Stream,
    pub token: usize,
    /// Submitted to the kernel in turn `sent_in`; free for the next message after that turn.
    output: Vec<u8>,
    sent_in: u64,
    /// To be sent after `output`.
    queued: Vec<u8>,
    /// The kernel is sending the rest of `output` as the socket takes it.
    pub is_sending: bool,
    /// A receive is pending in the kernel.
    pub is_receiving: bool,
    /// Removed: its events are ignored.
    pub is_leaving: bool,
    pub failure: Option<io::Error>,
}

impl Slot {
    pub fn new(stream: Stream, token: usize) -> Slot {
        Slot {
            stream,
            token,
            output: Vec::new(),
            sent_in: 0,
            queued: Vec::new(),
            is_sending: false,
            is_receiving: false,
            is_leaving: false,
            failure: None,
        }
    }

    /// Whether the next message can be sent in this turn.
    #[inline]
    pub fn is_free(&self, turn: u64) -> bool {
        self.sent_in != turn && !self.is_sending
    }

    /// The empty buffer in which the next message is written; only while free.
    #[inline]
    pub fn take_output(&mut self) -> Vec<u8> {
        let mut output = mem::take(&mut self.output);
        output.clear();
        output
    }

    /// Puts the buffer back and returns what of it is to be sent.
    #[inline]
    pub fn put_output(&mut self, output: Vec<u8>, turn: u64) -> &[u8] {
        self.output = output;
        if !self.output.is_empty() {
            self.sent_in = turn;
        }
        &self.output
    }

    /// Keeps bytes for later; true if there were none yet.
    pub fn queue(&mut self, bytes: &[u8]) -> bool {
        let is_first = self.queued.is_empty();
        self.queued.extend_from_slice(bytes);
        is_first
    }

    /// Makes the bytes kept for later the output of this turn.
    pub fn next_output(&mut self, turn: u64) -> &[u8] {
        mem::swap(&mut self.output, &mut self.queued);
        self.queued.clear();
        self.sent_in = turn;
        &self.output
    }

    /// Notes how much was sent; returns the rest, which the kernel sends when the socket takes it.
    pub fn rest(&mut self, taken: usize) -> &[u8] {
        self.output.drain(..taken.min(self.output.len()));
        self.is_sending = !self.output.is_empty();
        &self.output
    }

    pub fn drop_queued(&mut self) {
        self.queued.clear();
    }

    #[must_use]
    pub fn has_queued(&self) -> bool {
        !self.queued.is_empty()
    }

    /// Shuts both directions down, so that pending operations complete soon.
    pub fn shut_down(&self) {
        // A socket that is closed already needs no shutting down.
        let _ = shutdown(&self.stream, Shutdown::Both);
    }

    /// Whether the kernel may still use its memory or its socket.
    #[must_use]
    pub fn is_with_kernel(&self, turn: u64) -> bool {
        self.is_receiving || !self.is_free(turn)
    }

    #[inline]
    #[must_use]
    pub fn fd(&self) -> Fd {
        Fd(self.stream.as_fd().as_raw_fd())
    }
}
