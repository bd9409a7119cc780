//! Removes values that only repeat the one before.
//!
//! Enters: readings in order of time. Leaves: the first and last of each run of equal values, so
//! that a line through the kept values goes through every reading. Never: loses a change or its
//! time.

use std::collections::HashMap;

use crate::samples::columns::Values;
use crate::samples::names::{NameId, Names};

/// The latest reading of one counter, and whether its row was left out so far.
#[derive(Debug)]
struct Last {
    time_ns: i64,
    value: f64,
    held_back: bool,
}

type Key = (NameId, NameId, NameId);

#[derive(Debug, Default)]
pub(crate) struct Thinned {
    names: Names,
    kept: Values,
    last: HashMap<Key, Last>,
}

impl Thinned {
    /// Takes all rows of `values`, whose texts are in `names`; it is empty afterwards.
    pub(crate) fn append(&mut self, values: &mut Values, names: &Names) {
        let map = names.map_into(&self.names);
        for row in 0..values.time_ns.len() {
            let (Some(&time_ns), Some(source), Some(object), Some(name), Some(&value)) = (
                values.time_ns.get(row),
                values.source.get(row).and_then(|id| map.of(*id)),
                values.object.get(row).and_then(|id| map.of(*id)),
                values.name.get(row).and_then(|id| map.of(*id)),
                values.value.get(row),
            ) else {
                break;
            };
            self.push(time_ns, (source, object, name), value);
        }
        values.clear();
    }

    fn push(&mut self, time_ns: i64, key: Key, value: f64) {
        let (source, object, name) = key;
        if let Some(last) = self.last.get_mut(&key) {
            if last.value.to_bits() == value.to_bits() {
                last.time_ns = time_ns;
                last.held_back = true;
                return;
            }
            if last.held_back {
                self.kept
                    .push(last.time_ns, source, object, name, last.value);
            }
        }
        self.kept.push(time_ns, source, object, name, value);
        let last = Last {
            time_ns,
            value,
            held_back: false,
        };
        self.last.insert(key, last);
    }

    /// Takes all rows, with each counter's latest reading. Later rows start afresh, so each batch
    /// can be read without the others.
    pub(crate) fn take(&mut self) -> Values {
        let mut held: Vec<_> = self.last.drain().filter(|(_, l)| l.held_back).collect();
        held.sort_by_key(|((source, object, name), last)| {
            (last.time_ns, source.index(), object.index(), name.index())
        });
        for ((source, object, name), last) in held {
            self.kept
                .push(last.time_ns, source, object, name, last.value);
        }
        self.kept.take(self.names.take())
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn thinned(readings: &[f64]) -> Vec<(i64, f64)> {
        let names = Names::default();
        let name = names.intern("n");
        let mut values = Values::default();
        let mut kept = Thinned::default();
        for (at, value) in (0..).zip(readings) {
            values.push(at, name, name, name, *value);
            kept.append(&mut values, &names);
        }
        let taken = kept.take();
        taken.time_ns.into_iter().zip(taken.value).collect()
    }

    #[test]
    fn a_stretch_of_equal_values_leaves_its_ends() {
        let kept = thinned(&[1.0, 1.0, 1.0, 4.0, 5.0, 5.0, 5.0]);
        assert_eq!(kept, [(0, 1.0), (2, 1.0), (3, 4.0), (4, 5.0), (6, 5.0)]);
    }

    #[test]
    fn every_piece_taken_stands_on_its_own() {
        let names = Names::default();
        let name = names.intern("n");
        let mut values = Values::default();
        let mut kept = Thinned::default();
        for piece in 0..3 {
            for second in 0..2 {
                values.push(2 * piece + second, name, name, name, 7.0);
            }
            kept.append(&mut values, &names);
            assert_eq!(kept.take().value, [7.0, 7.0]);
        }
    }

    #[test]
    fn what_is_seen_once_is_forgotten_with_the_piece_it_came_in() {
        let mut kept = Thinned::default();
        for operation in ["vacuum of a", "vacuum of b", "vacuum of c"] {
            let names = Names::default();
            let (source, name) = (names.intern("progress"), names.intern("blocks"));
            let mut values = Values::default();
            values.push(1, source, names.intern(operation), name, 7.0);
            kept.append(&mut values, &names);
            let taken = kept.take();
            assert_eq!(&*taken.names[taken.object[0].index()], operation);
            assert_eq!(taken.names.len(), 3);
        }
    }

    proptest! {
        #[test]
        fn the_line_through_what_is_kept_goes_through_every_reading(
            readings in prop::collection::vec((0_u8..3).prop_map(f64::from), 1..40)
        ) {
            let kept = thinned(&readings);
            prop_assert!(kept.is_sorted_by_key(|(at, _)| *at));
            for (at, value) in (0_i64..).zip(&readings) {
                let before = kept.iter().rev().find(|(time, _)| *time <= at);
                let after = kept.iter().find(|(time, _)| *time >= at);
                let (Some(before), Some(after)) = (before, after) else {
                    return Err(TestCaseError::fail("an end is missing"));
                };
                // Between two different values nothing was read.
                prop_assert!(before.0 == at || after.0 == at || before.1 == after.1);
                prop_assert!(before.1 == *value || after.1 == *value);
            }
        }
    }
}
