//! Which row a transaction takes.
//!
//! Enters: the rows of a file, their order, the variables that scripts mention. Leaves: a row in a
//! client's variables. Never: depends on the number of threads, or asks another engine: each takes
//! every n-th row in sequence.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::Rows;
use crate::config::{RowOrder, Share};
use crate::random::Random;
use crate::script::{Slot, Variables};

/// The rows of a client's next two transactions of a scenario. They are on their way from the memory
/// while the transaction before waits for its answer.
#[derive(Debug, Clone, Copy, Default)]
pub struct Ahead(Option<[usize; 2]>);

#[derive(Debug)]
pub struct Supply {
    rows: Arc<Rows>,
    order: RowOrder,
    /// The variable of each column; none where no script mentions it.
    slots: Vec<Option<Slot>>,
    share: Share,
    /// Rows that were taken in sequence.
    taken: AtomicUsize,
}

impl Supply {
    #[must_use]
    pub fn new(rows: Arc<Rows>, order: RowOrder, slots: Vec<Option<Slot>>, share: Share) -> Supply {
        Supply {
            rows,
            order,
            slots,
            share,
            taken: AtomicUsize::new(0),
        }
    }

    /// Takes the next row; `random` and the rows that it has drawn `ahead` are the client's own.
    pub fn take(&self, random: &mut Random, ahead: &mut Ahead, variables: &mut Variables) {
        let count = self.rows.len().max(1);
        let row = match self.order {
            RowOrder::Random => {
                let Ahead(Some([row, next])) = *ahead else {
                    *ahead = Ahead(Some([random.index(count), random.index(count)]));
                    return self.take(random, ahead, variables);
                };
                let later = random.index(count);
                self.rows.fetch_start(later);
                self.rows.fetch(next);
                *ahead = Ahead(Some([next, later]));
                row
            }
            RowOrder::Sequential => {
                let taken = self.taken.fetch_add(1, Ordering::Relaxed);
                self.share.nth(taken) % count
            }
        };
        self.rows.assign(row, &self.slots, variables);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parameters::{ColumnPart, Kind};
    use crate::random::Purpose;
    use crate::script::{Content, Names, Value};

    fn taken(order: RowOrder, share: Share, client: usize, count: usize) -> Vec<i64> {
        let data: Vec<u8> = (0..5_i64).flat_map(i64::to_ne_bytes).collect();
        let kind = Kind::Int;
        let part = ColumnPart {
            kind,
            validity: None,
            starts: &[],
            data: &data,
        };
        let mut rows = Rows::new(vec![kind]);
        rows.add(5, &[part]).unwrap();
        let mut names = Names::default();
        let slot = names.slot(b"x");
        let mut variables = names.variables();
        let supply = Supply::new(Arc::new(rows), order, vec![Some(slot)], share);
        let mut random = Random::new(1, client, Purpose::Row);
        let (mut found, mut ahead) = (Vec::new(), Ahead::default());
        for _ in 0..count {
            supply.take(&mut random, &mut ahead, &mut variables);
            match variables.get(slot) {
                Some(Content::Value(Value::Int(value))) => found.push(*value),
                other => panic!("{other:?}"),
            }
        }
        found
    }

    #[test]
    fn rows_in_sequence_begin_again_and_engines_share_them() {
        let of = |index, of| taken(RowOrder::Sequential, Share { index, of }, 0, 4);
        assert_eq!(of(0, 1), [0, 1, 2, 3]);
        assert_eq!(of(0, 2), [0, 2, 4, 1]);
        assert_eq!(of(1, 2), [1, 3, 0, 2]);
    }

    #[test]
    fn rows_at_random_are_a_client_s_own_whichever_engine_has_it() {
        let draw = |index, client| taken(RowOrder::Random, Share { index, of: 3 }, client, 1000);
        assert_eq!(draw(0, 1), draw(2, 1));
        assert_ne!(draw(0, 1), draw(0, 2));
        for row in 0..5 {
            let share = draw(0, 0).iter().filter(|&&one| one == row).count();
            assert!((150..250).contains(&share), "{share}");
        }
    }
}
