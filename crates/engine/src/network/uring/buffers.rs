//! Buffers for what the kernel receives: io_uring's provided buffer ring.
//!
//! Enters: numbers of buffers that have been read. Leaves: the bytes that a completion reports.
//! Never: frees or reads memory that the kernel may still write: a buffer is the kernel's from
//! `give_to_kernel` until a completion names it, and all of it while a receive is under way.

use std::alloc::{Layout, alloc_zeroed, dealloc};
use std::io;
use std::ptr::NonNull;
use std::sync::atomic::{AtomicU16, Ordering};

use io_uring::Submitter;
use io_uring::types::BufRingEntry;

/// The buffer group that receive operations name.
pub const GROUP: u16 = 0;
/// Enough for nearly every answer; a larger one arrives in pieces.
const BUFFER_BYTES: usize = 16 * 1024;
/// An odd number of cache lines between buffers, so that they do not share one cache set.
const STRIDE: usize = BUFFER_BYTES + 64;
const PAGE: usize = 4096;
const LEAST: usize = 16;
const MOST: usize = 1024;

pub struct Buffers {
    /// The kernel's ring of buffers, and behind it the buffers.
    memory: NonNull<u8>,
    layout: Layout,
    data_at: usize,
    count: u16,
    tail: u16,
}

impl Buffers {
    /// Creates a limited number of buffers for the connections; if they run out, the kernel
    /// reports it and the receive is started again.
    pub fn new(connections: usize) -> io::Result<Buffers> {
        let count = connections.clamp(LEAST, MOST).next_power_of_two();
        let data_at = (count * size_of::<BufRingEntry>()).next_multiple_of(PAGE);
        let layout = Layout::from_size_align(data_at + count * STRIDE, PAGE)
            .map_err(|_| io::Error::from(io::ErrorKind::OutOfMemory))?;
        // SAFETY: the layout is not empty. Zeroes are valid entries and bytes.
        let memory = NonNull::new(unsafe { alloc_zeroed(layout) })
            .ok_or_else(|| io::Error::from(io::ErrorKind::OutOfMemory))?;
        let mut buffers = Buffers {
            memory,
            layout,
            data_at,
            count: u16::try_from(count).map_err(io::Error::other)?,
            tail: 0,
        };
        for number in 0..buffers.count {
            buffers.give_to_kernel(number);
        }
        Ok(buffers)
    }

    pub fn register(&self, submitter: &Submitter<'_>) -> io::Result<()> {
        let address = self.memory.as_ptr() as u64;
        // SAFETY: the memory is page-aligned, holds that many entries, and is freed only
        // when no receive is under way.
        unsafe { submitter.register_buf_ring_with_flags(address, self.count, GROUP, 0) }
    }

    /// Gives a buffer (back) to the kernel.
    #[inline]
    pub fn give_to_kernel(&mut self, number: u16) {
        let entries = self.memory.as_ptr().cast::<BufRingEntry>();
        let place = usize::from(self.tail & (self.count - 1));
        let data = self.data_at + usize::from(number) * STRIDE;
        // SAFETY: place and number are below count, so both lie within the allocation; the
        // kernel reads this entry only after the tail has passed it.
        unsafe {
            let entry = &mut *entries.add(place);
            entry.set_addr(self.memory.as_ptr().add(data) as u64);
            entry.set_len(BUFFER_BYTES as u32);
            entry.set_bid(number);
        }
        self.tail = self.tail.wrapping_add(1);
        // SAFETY: the address of the tail within the first entry is aligned for 16 bits and
        // valid; the kernel reads it at any time, hence the atomic store.
        unsafe {
            let tail = BufRingEntry::tail(entries).cast_mut();
            AtomicU16::from_ptr(tail).store(self.tail, Ordering::Release);
        }
    }

    /// The bytes that a completion reports in a buffer.
    #[inline]
    pub fn received(&self, number: u16, length: usize) -> &[u8] {
        if number >= self.count {
            return &[];
        }
        let data = self.data_at + usize::from(number) * STRIDE;
        // SAFETY: the buffer lies within the allocation. The completion has made it ours: the
        // kernel does not write it until it is given to it again, which needs `&mut self`.
        unsafe {
            let start = self.memory.as_ptr().add(data);
            std::slice::from_raw_parts(start, length.min(BUFFER_BYTES))
        }
    }
}

impl Drop for Buffers {
    fn drop(&mut self) {
        // SAFETY: allocated with this layout, and the owner drops it only when no receive is
        // under way.
        unsafe { dealloc(self.memory.as_ptr(), self.layout) }
    }
}
