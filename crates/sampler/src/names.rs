//! Each text once.
//!
//! Enters: texts that repeat from row to row. Leaves: numbers that stand for them. Never:
//! forgets a text, so a number stays good as long as the sampler lives.

use std::collections::HashMap;
use std::num::NonZeroU32;
use std::sync::{Arc, Mutex, PoisonError};

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

#[derive(Debug, Default)]
struct Table {
    numbers: HashMap<Arc<str>, NameId>,
    texts: Vec<Arc<str>>,
}

impl Names {
    pub(crate) fn intern(&self, text: &str) -> NameId {
        let mut table = self.0.lock().unwrap_or_else(PoisonError::into_inner);
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
        self.0
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .texts
            .clone()
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
}
