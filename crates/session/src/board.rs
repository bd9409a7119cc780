//! A lock-free table of which backend runs which scenario at this moment.
//!
//! Enters: the engine's calls when a connection begins or ends a transaction. Leaves: snapshots
//! for the sampler. Never: locks or waits, since the engine writes here on every transaction.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// One slot per connection of a load; only the thread of that connection writes it.
#[derive(Debug)]
pub struct Board {
    slots: Vec<Slot>,
    scenarios: Vec<String>,
}

/// Process id in the high half, scenario index plus one (0: between transactions) in the low
/// half. It is one word so that a reader never pairs a pid with another session's scenario, and
/// it fills a cache line because neighbouring slots may belong to different threads.
#[derive(Debug, Default)]
#[repr(align(64))]
struct Slot(AtomicU64);

const SCENARIO_MASK: u64 = 0xffff_ffff;

impl Board {
    #[must_use]
    pub fn new(slots: usize, scenarios: Vec<String>) -> Arc<Board> {
        Arc::new(Board {
            slots: (0..slots).map(|_| Slot::default()).collect(),
            scenarios,
        })
    }

    /// The connection in `slot` is now served by backend `pid`, and idle.
    pub fn set_backend(&self, slot: usize, pid: i32) {
        if let Some(slot) = self.slots.get(slot) {
            slot.0
                .store(u64::from(pid.cast_unsigned()) << 32, Ordering::Relaxed);
        }
    }

    /// The connection in `slot` begins a transaction of the scenario with this index.
    #[inline]
    pub fn enter(&self, slot: usize, scenario: u16) {
        if let Some(slot) = self.slots.get(slot) {
            // Load and store suffice: a slot has one writer.
            let pid = slot.0.load(Ordering::Relaxed) & !SCENARIO_MASK;
            slot.0
                .store(pid | (u64::from(scenario) + 1), Ordering::Relaxed);
        }
    }

    /// The connection in `slot` has ended its transaction.
    #[inline]
    pub fn leave(&self, slot: usize) {
        if let Some(slot) = self.slots.get(slot) {
            let pid = slot.0.load(Ordering::Relaxed) & !SCENARIO_MASK;
            slot.0.store(pid, Ordering::Relaxed);
        }
    }

    /// A snapshot of the running scenarios, for lookup by pid.
    #[must_use]
    pub fn running(&self) -> Running<'_> {
        let mut busy: Vec<(i32, usize)> = self
            .slots
            .iter()
            .filter_map(|slot| {
                let word = slot.0.load(Ordering::Relaxed);
                let scenario = usize::try_from(word & SCENARIO_MASK).ok()?.checked_sub(1)?;
                let pid = u32::try_from(word >> 32).ok()?.cast_signed();
                Some((pid, scenario))
            })
            .collect();
        busy.sort_unstable();
        Running { board: self, busy }
    }
}

/// The busy backends at one moment.
#[derive(Debug)]
pub struct Running<'a> {
    board: &'a Board,
    busy: Vec<(i32, usize)>,
}

impl<'a> Running<'a> {
    /// The scenario that backend `pid` runs; `None` if it is idle or not of this load.
    #[must_use]
    pub fn scenario(&self, pid: i32) -> Option<&'a str> {
        let at = self.busy.binary_search_by_key(&pid, |&(pid, _)| pid).ok()?;
        let (_, scenario) = self.busy.get(at)?;
        self.board.scenarios.get(*scenario).map(String::as_str)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn board() -> Arc<Board> {
        Board::new(3, vec!["payment".into(), "transfer".into()])
    }

    #[test]
    fn a_backend_is_found_between_enter_and_leave() {
        let board = board();
        board.set_backend(0, 4711);
        board.set_backend(2, 4000);
        assert_eq!(board.running().scenario(4711), None);
        board.enter(0, 1);
        board.enter(2, 0);
        let running = board.running();
        assert_eq!(running.scenario(4711), Some("transfer"));
        assert_eq!(running.scenario(4000), Some("payment"));
        board.leave(0);
        assert_eq!(board.running().scenario(4711), None);
        assert_eq!(running.scenario(4711), Some("transfer"), "a snapshot stays");
    }

    #[test]
    fn a_new_backend_in_a_slot_starts_idle() {
        let board = board();
        board.set_backend(1, 10);
        board.enter(1, 0);
        board.set_backend(1, 11);
        assert_eq!(board.running().scenario(10), None);
        assert_eq!(board.running().scenario(11), None);
    }

    #[test]
    fn slots_and_scenarios_that_do_not_exist_are_ignored() {
        let board = board();
        board.set_backend(9, 1);
        board.enter(9, 0);
        board.leave(9);
        board.set_backend(0, 1);
        board.enter(0, u16::MAX);
        assert_eq!(board.running().scenario(1), None);
    }

    #[test]
    fn a_reader_never_sees_a_scenario_of_another_backend() {
        let board = board();
        let writer = Arc::clone(&board);
        let thread = std::thread::spawn(move || {
            for _ in 0..20_000 {
                writer.set_backend(0, 100);
                writer.enter(0, 0);
                writer.set_backend(0, 101);
                writer.enter(0, 1);
            }
        });
        while !thread.is_finished() {
            let running = board.running();
            assert!(matches!(running.scenario(100), None | Some("payment")));
            assert!(matches!(running.scenario(101), None | Some("transfer")));
        }
        thread.join().unwrap();
    }
}
