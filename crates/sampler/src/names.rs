//! Each text once.
//!
//! Enters: texts that repeat from row to row. Leaves: numbers that stand for them. Never: outlives
//! the rows that it came with, for some texts are seen once (tables, clients, operations under way).
//!
//! A thread numbers the texts of one reading in a table of its own; with the rows they move into
//! the table of the rows that wait to be taken, which begins anew once they are.

use std::collections::HashMap;
use std::mem;
use std::num::NonZeroU32;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// A text's number; it indexes the `names` of the columns it came with.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct NameId(NonZeroU32);

impl NameId {
    /// The text's place in `names`.
    #[must_use]
    pub fn index(self) -> usize {
        self.0.get() as usize - 1
    }
}

#[derive(Debug, Default)]
pub(crate) struct Names(Mutex<Table>);

/// What numbers of one table are in another.
pub(crate) struct Moved(Vec<NameId>);

impl Moved {
    pub(crate) fn of(&self, id: NameId) -> Option<NameId> {
        self.0.get(id.index()).copied()
    }
}

#[derive(Debug, Default)]
struct Table {
    numbers: HashMap<Arc<str>, NameId>,
    texts: Vec<Arc<str>>,
}

impl Names {
    pub(crate) fn intern(&self, text: &str) -> NameId {
        let mut table = self.table();
        if let Some(number) = table.numbers.get(text) {
            return *number;
        }
        let shared: Arc<str> = text.into();
        table.texts.push(Arc::clone(&shared));
        let place = u32::try_from(table.texts.len()).unwrap_or(u32::MAX);
        let number = NameId(NonZeroU32::new(place).unwrap_or(NonZeroU32::MAX));
        table.numbers.insert(shared, number);
        number
    }

    /// All texts so far, each at the index of its number.
    pub(crate) fn texts(&self) -> Vec<Arc<str>> {
        self.table().texts.clone()
    }

    /// All texts so far, none of which is known any more.
    pub(crate) fn take(&self) -> Vec<Arc<str>> {
        mem::take(&mut *self.table()).texts
    }

    /// All texts so far as numbers of another table, each at the index of its number here.
    pub(crate) fn moved_to(&self, other: &Names) -> Moved {
        Moved(
            self.table()
                .texts
                .iter()
                .map(|text| other.intern(text))
                .collect(),
        )
    }

    fn table(&self) -> MutexGuard<'_, Table> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_texts_share_a_number_that_leads_back_to_them() {
        let names = Names::default();
        let numbers: Vec<_> = ["LWLock", "", "IO", "LWLock"]
            .into_iter()
            .map(|text| names.intern(text))
            .collect();
        assert_eq!(numbers[0], numbers[3]);
        assert_ne!(numbers[0], numbers[2]);
        let texts = names.texts();
        assert_eq!(&*texts[numbers[1].index()], "");
        assert_eq!(&*texts[numbers[2].index()], "IO");
        assert_eq!(texts.len(), 3);
    }

    #[test]
    fn texts_keep_their_meaning_in_another_table_and_are_forgotten_once_taken() {
        let (from, to) = (Names::default(), Names::default());
        to.intern("other");
        let number = from.intern("vacuum of t");
        let moved = from.moved_to(&to).of(number).unwrap();
        assert_eq!(&*to.texts()[moved.index()], "vacuum of t");
        assert_eq!(to.take().len(), 2);
        assert!(to.texts().is_empty());
        assert_eq!(to.intern("new").index(), 0);
    }
}
