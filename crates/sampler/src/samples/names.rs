//! A table that stores each text once.
//!
//! Enters: texts that repeat from row to row. Leaves: indexes for them. Never: outlives the rows
//! that use it, because some texts occur only once (tables, clients, operations).
//!
//! Each reading has a table; its rows and texts are then added to the table of the rows not yet
//! taken, which is emptied when they are taken.

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

/// Maps the indexes of one table to those of another.
pub(crate) struct NameMap(Vec<NameId>);

impl NameMap {
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

    /// Takes all texts and empties the table.
    pub(crate) fn take(&self) -> Vec<Arc<str>> {
        mem::take(&mut *self.table()).texts
    }

    /// Adds all texts to another table and returns their indexes there.
    pub(crate) fn map_into(&self, other: &Names) -> NameMap {
        NameMap(
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
        let map = from.map_into(&to).of(number).unwrap();
        assert_eq!(&*to.texts()[map.index()], "vacuum of t");
        assert_eq!(to.take().len(), 2);
        assert!(to.texts().is_empty());
        assert_eq!(to.intern("new").index(), 0);
    }
}
