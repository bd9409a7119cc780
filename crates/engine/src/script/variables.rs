//! Names of variables, and the contents of a client's variables.
//!
//! Enters: names while scripts are parsed, contents while they run. Leaves: slots and contents.
//! Never: looks a name up while a load runs, except for the columns of a `\gset`.

use std::collections::HashMap;

use pgassay_session::shown;

use super::content::Content;
use super::expression::token::{begins_word, is_word};
use super::expression::{Fault, Value};

/// The index of a variable, the same for all clients and scripts of a load.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Slot(usize);

/// The names read so far, shared by all scripts of a load.
#[derive(Debug, Default, Clone)]
pub struct Names {
    slots: HashMap<Vec<u8>, Slot>,
    names: Vec<Vec<u8>>,
}

impl Names {
    pub fn slot(&mut self, name: &[u8]) -> Slot {
        if let Some(slot) = self.find(name) {
            return slot;
        }
        let slot = Slot(self.names.len());
        self.names.push(name.to_vec());
        self.slots.insert(name.to_vec(), slot);
        slot
    }

    /// The slot of a name that some script mentions.
    #[must_use]
    pub fn find(&self, name: &[u8]) -> Option<Slot> {
        self.slots.get(name).copied()
    }

    #[must_use]
    pub fn name(&self, slot: Slot) -> &[u8] {
        self.names.get(slot.0).map_or(b"?", Vec::as_slice)
    }

    pub fn all(&self) -> impl Iterator<Item = Slot> {
        (0..self.names.len()).map(Slot)
    }

    /// A client's variables, none of them set.
    #[must_use]
    pub fn variables(&self) -> Variables {
        Variables {
            contents: vec![None; self.names.len()],
        }
    }
}

/// Whether a variable may have this name: letters, digits, `_`, no digit first.
#[must_use]
pub fn is_name(name: &[u8]) -> bool {
    name.first().is_some_and(|&byte| begins_word(byte)) && name.iter().all(|&byte| is_word(byte))
}

/// The variables of one client.
#[derive(Debug, Clone)]
pub struct Variables {
    contents: Vec<Option<Content>>,
}

impl Variables {
    /// Copies the contents from a saved state of this client, reusing the memory of texts.
    pub fn copy_from(&mut self, other: &Variables) {
        for (place, content) in self.contents.iter_mut().zip(&other.contents) {
            match (place, content) {
                (Some(Content::Text(place)), Some(Content::Text(text)))
                | (Some(Content::Given(place)), Some(Content::Given(text))) => {
                    place.clone_from(text);
                }
                (place, content) => place.clone_from(content),
            }
        }
    }

    pub fn set(&mut self, slot: Slot, content: Content) {
        if let Some(place) = self.contents.get_mut(slot.0) {
            *place = Some(content);
        }
    }

    /// Sets a text, reusing the memory of the previous one.
    pub fn set_text(&mut self, slot: Slot, text: &[u8]) {
        match self.contents.get_mut(slot.0) {
            Some(Some(Content::Text(place))) => {
                place.clear();
                place.extend_from_slice(text);
            }
            Some(place) => *place = Some(Content::Text(text.to_vec())),
            None => {}
        }
    }

    /// The same for a text of a file of parameters.
    pub fn set_given(&mut self, slot: Slot, text: &[u8]) {
        match self.contents.get_mut(slot.0) {
            Some(Some(Content::Given(place))) => {
                place.clear();
                place.extend_from_slice(text);
            }
            Some(place) => *place = Some(Content::Given(text.to_vec())),
            None => {}
        }
    }

    #[must_use]
    pub fn get(&self, slot: Slot) -> Option<&Content> {
        self.contents.get(slot.0)?.as_ref()
    }

    /// The value for an expression.
    pub fn value(&self, slot: Slot, names: &Names) -> Result<Value, Fault> {
        match self.get(slot) {
            Some(Content::Value(value)) => Ok(*value),
            Some(content) => content.to_value(names.name(slot)),
            None => Err(undefined(names.name(slot))),
        }
    }
}

#[must_use]
pub fn undefined(name: &[u8]) -> Fault {
    Fault::new(format!("undefined variable \"{}\"", shown(name)))
}
