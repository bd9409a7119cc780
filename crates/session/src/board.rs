//! A lock-free table of which backend runs which scenario at this moment.
//!
//! Enters: the engine's calls when a connection begins or ends a transaction. Leaves: snapshots
//! for the sampler. Never: locks or waits, since the engine writes here on every transaction;
//! but for a profile, whose load is not measured, it keeps when each transaction began.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use crate::clock::now_ns;

/// One slot per connection of a load; only the thread of that connection writes it.
#[derive(Debug)]
pub struct Board {
    slots: Vec<Slot>,
    scenarios: Vec<String>,
    /// One log per slot, once it is asked for.
    began: OnceLock<Vec<Mutex<Vec<Began>>>>,
}

/// When a backend began a transaction, and the scenario's index.
#[derive(Debug, Clone, Copy)]
struct Began {
    pid: i32,
    time_ns: i64,
    scenario: u16,
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
            began: OnceLock::new(),
        })
    }

    /// Keep from now on when each transaction began; it costs each a reading of the clock.
    pub fn keep_history(&self) {
        self.began
            .get_or_init(|| self.slots.iter().map(|_| Mutex::default()).collect());
    }

    /// What was kept, for look-up by time.
    #[must_use]
    pub fn history(&self) -> History<'_> {
        let mut of_backend: HashMap<i32, Vec<(i64, u16)>> = HashMap::new();
        for log in self.began.get().into_iter().flatten() {
            for one in log.lock().unwrap_or_else(PoisonError::into_inner).iter() {
                let begun = of_backend.entry(one.pid).or_default();
                begun.push((one.time_ns, one.scenario));
            }
        }
        for begun in of_backend.values_mut() {
            begun.sort_unstable();
        }
        History {
            board: self,
            of_backend,
        }
    }

    /// The connection in `slot` is now served by backend `pid`, and idle.
    pub fn set_backend(&self, slot: usize, pid: i32) {
        if let Some(slot) = self.slots.get(slot) {
            slot.0
                .store(u64::from(pid.cast_unsigned()) << 32, Ordering::Relaxed);
        }
    }

    /// The connection in slot `number` begins a transaction of the scenario with this index.
    #[inline]
    pub fn enter(&self, number: usize, scenario: u16) {
        if let Some(slot) = self.slots.get(number) {
            // Load and store suffice: a slot has one writer.
            let pid = slot.0.load(Ordering::Relaxed) & !SCENARIO_MASK;
            slot.0
                .store(pid | (u64::from(scenario) + 1), Ordering::Relaxed);
            if let Some(log) = self.began.get().and_then(|logs| logs.get(number)) {
                let pid = u32::try_from(pid >> 32).unwrap_or(0).cast_signed();
                let time_ns = now_ns();
                log.lock()
                    .unwrap_or_else(PoisonError::into_inner)
                    .push(Began {
                        pid,
                        time_ns,
                        scenario,
                    });
            }
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

    /// The backends that serve the connections now.
    #[must_use]
    pub fn backends(&self) -> Vec<i32> {
        let words = self.slots.iter().map(|slot| slot.0.load(Ordering::Relaxed));
        let pids = words.filter_map(|word| u32::try_from(word >> 32).ok());
        pids.map(u32::cast_signed).filter(|pid| *pid != 0).collect()
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

/// When backends began their transactions.
#[derive(Debug)]
pub struct History<'a> {
    board: &'a Board,
    of_backend: HashMap<i32, Vec<(i64, u16)>>,
}

impl<'a> History<'a> {
    /// The scenario that backend `pid` began last before that time: what it does after its answer,
    /// such as counting statistics, belongs to it too. `None` if it is not of this load.
    #[must_use]
    pub fn scenario(&self, pid: i32, time_ns: i64) -> Option<&'a str> {
        let begun = self.of_backend.get(&pid)?;
        let after = begun.partition_point(|&(since_ns, _)| since_ns <= time_ns);
        let (_, scenario) = begun.get(after.checked_sub(1)?)?;
        let scenario = self.board.scenarios.get(usize::from(*scenario));
        scenario.map(String::as_str)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_history_says_which_transaction_a_backend_had_begun_last() {
        let board = board();
        board.set_backend(0, 4711);
        board.enter(0, 0);
        assert_eq!(
            board.history().scenario(4711, i64::MAX),
            None,
            "not asked for"
        );
        board.keep_history();
        let before = now_ns();
        board.enter(0, 1);
        board.leave(0);
        let between = now_ns();
        board.enter(0, 0);
        let history = board.history();
        assert_eq!(history.scenario(4711, before - 1), None);
        assert_eq!(history.scenario(4711, between), Some("transfer"));
        assert_eq!(history.scenario(4711, i64::MAX), Some("payment"));
        assert_eq!(history.scenario(1, i64::MAX), None);
    }

    fn board() -> Arc<Board> {
        Board::new(3, vec!["payment".into(), "transfer".into()])
    }

    #[test]
    fn a_backend_is_found_between_enter_and_leave() {
        let board = board();
        board.set_backend(0, 4711);
        board.set_backend(2, 4000);
        assert_eq!(board.running().scenario(4711), None);
        assert_eq!(board.backends(), [4711, 4000]);
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
