//! Samples, column by column.
//!
//! Enters: rows as they are read. Leaves: vectors of equal length, texts as indexes into `names`.
//! Never: drops or merges a row.

use std::mem;
use std::sync::Arc;

use crate::samples::names::{NameId, NameMap, Names};

/// The busy processes at each tick. A tick without any has one row with only its time.
#[derive(Debug, Default)]
pub struct Waits {
    pub names: Vec<Arc<str>>,
    pub tick_ns: Vec<i64>,
    pub pid: Vec<Option<i32>>,
    pub leader_pid: Vec<Option<i32>>,
    pub backend_type: Vec<Option<NameId>>,
    pub state: Vec<Option<NameId>>,
    pub wait_event_type: Vec<Option<NameId>>,
    pub wait_event: Vec<Option<NameId>>,
    pub query_id: Vec<Option<i64>>,
    pub xact_start_ns: Vec<Option<i64>>,
    pub scenario: Vec<Option<NameId>>,
}

/// One row of [`Waits`].
#[derive(Debug, Default, Clone, Copy)]
pub(crate) struct Wait {
    pub(crate) pid: Option<i32>,
    pub(crate) leader_pid: Option<i32>,
    pub(crate) backend_type: Option<NameId>,
    pub(crate) state: Option<NameId>,
    pub(crate) wait_event_type: Option<NameId>,
    pub(crate) wait_event: Option<NameId>,
    pub(crate) query_id: Option<i64>,
    pub(crate) xact_start_ns: Option<i64>,
    pub(crate) scenario: Option<NameId>,
}

impl Waits {
    pub(crate) fn push(&mut self, tick_ns: i64, wait: Wait) {
        self.tick_ns.push(tick_ns);
        self.pid.push(wait.pid);
        self.leader_pid.push(wait.leader_pid);
        self.backend_type.push(wait.backend_type);
        self.state.push(wait.state);
        self.wait_event_type.push(wait.wait_event_type);
        self.wait_event.push(wait.wait_event);
        self.query_id.push(wait.query_id);
        self.xact_start_ns.push(wait.xact_start_ns);
        self.scenario.push(wait.scenario);
    }
}

impl Wait {
    fn renamed(self, by: &NameMap) -> Wait {
        let name = |id: Option<NameId>| id.and_then(|id| by.of(id));
        Wait {
            backend_type: name(self.backend_type),
            state: name(self.state),
            wait_event_type: name(self.wait_event_type),
            wait_event: name(self.wait_event),
            scenario: name(self.scenario),
            ..self
        }
    }
}

/// Rows of waits that were not taken yet, and their names.
#[derive(Debug, Default)]
pub(crate) struct Ticks {
    names: Names,
    rows: Waits,
}

impl Ticks {
    /// All rows of one tick, whose texts are in `names`.
    pub(crate) fn append(
        &mut self,
        tick_ns: i64,
        waits: impl ExactSizeIterator<Item = Wait>,
        names: &Names,
    ) {
        if waits.len() == 0 {
            self.rows.push(tick_ns, Wait::default());
        }
        let map = names.map_into(&self.names);
        for wait in waits {
            self.rows.push(tick_ns, wait.renamed(&map));
        }
    }

    pub(crate) fn take(&mut self) -> Waits {
        Waits {
            names: self.names.take(),
            ..mem::take(&mut self.rows)
        }
    }
}

/// Numeric values with their time, source and object.
#[derive(Debug, Default)]
pub struct Values {
    pub names: Vec<Arc<str>>,
    pub time_ns: Vec<i64>,
    pub source: Vec<NameId>,
    pub object: Vec<NameId>,
    pub name: Vec<NameId>,
    pub value: Vec<f64>,
}

impl Values {
    pub(crate) fn push(
        &mut self,
        time_ns: i64,
        source: NameId,
        object: NameId,
        name: NameId,
        value: f64,
    ) {
        self.time_ns.push(time_ns);
        self.source.push(source);
        self.object.push(object);
        self.name.push(name);
        self.value.push(value);
    }

    pub(crate) fn clear(&mut self) {
        self.time_ns.clear();
        self.source.clear();
        self.object.clear();
        self.name.clear();
        self.value.clear();
    }

    pub(crate) fn take(&mut self, names: Vec<Arc<str>>) -> Values {
        Values {
            names,
            ..mem::take(self)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_last_no_longer_than_the_rows_they_came_with() {
        let mut ticks = Ticks::default();
        for text in ["first", "second"] {
            let names = Names::default();
            names.intern("state");
            let wait = Wait {
                wait_event: Some(names.intern(text)),
                ..Wait::default()
            };
            ticks.append(1, [wait].into_iter(), &names);
            ticks.append(2, [].into_iter(), &Names::default());
            let taken = ticks.take();
            let event = taken.wait_event[0].unwrap();
            assert_eq!(&*taken.names[event.index()], text);
            assert_eq!((taken.names.len(), taken.tick_ns.len()), (2, 2));
        }
    }
}
