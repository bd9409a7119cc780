//! Names of variables, and what a client's variables hold.
//!
//! Enters: names while scripts are parsed, contents while they run. Leaves: slots and contents.
//! Never: looks a name up while a load runs.

use std::collections::HashMap;

use super::value::{Content, Fault};

/// Where a variable lies, the same for all clients and scripts of a load.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Slot(usize);

/// The names seen so far, shared by all scripts of a load.
#[derive(Debug, Default, Clone)]
pub struct Names {
    slots: HashMap<String, Slot>,
    names: Vec<String>,
}

impl Names {
    pub fn slot(&mut self, name: &str) -> Slot {
        if let Some(slot) = self.slots.get(name) {
            return *slot;
        }
        let slot = Slot(self.names.len());
        self.names.push(name.to_owned());
        self.slots.insert(name.to_owned(), slot);
        slot
    }

    #[must_use]
    pub fn name(&self, slot: Slot) -> &str {
        self.names.get(slot.0).map_or("?", String::as_str)
    }

    /// A client's variables, none of them set.
    #[must_use]
    pub fn variables(&self) -> Variables {
        Variables {
            contents: vec![None; self.names.len()],
        }
    }
}

/// The variables of one client.
#[derive(Debug, Clone)]
pub struct Variables {
    contents: Vec<Option<Content>>,
}

impl Variables {
    /// Takes over the contents of another client's variables, or of this one's earlier ones,
    /// without allocating where they are numbers.
    pub fn copy_from(&mut self, other: &Variables) {
        self.contents.clone_from(&other.contents);
    }

    pub fn set(&mut self, slot: Slot, content: Content) {
        if let Some(place) = self.contents.get_mut(slot.0) {
            *place = Some(content);
        }
    }

    pub fn read(&self, slot: Slot) -> Result<&Content, Fault> {
        match self.contents.get(slot.0) {
            Some(Some(content)) => Ok(content),
            _ => Err(Fault::new("a variable is read before anything has set it")),
        }
    }

    #[must_use]
    pub fn is_set(&self, slot: Slot) -> bool {
        self.read(slot).is_ok()
    }
}
