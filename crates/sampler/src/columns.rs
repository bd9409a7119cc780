//! Samples, column by column.
//!
//! Enters: rows as they are read. Leaves: vectors of equal length, texts as numbers into `names`.
//! Never: drops or merges a row.

use std::mem;
use std::sync::Arc;

use crate::names::NameId;

/// What was busy at each tick. A tick at which nothing was has one row, with nothing but its time.
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

    pub(crate) fn take(&mut self, names: Vec<Arc<str>>) -> Waits {
        Waits {
            names,
            ..mem::take(self)
        }
    }
}

/// Numbers read at a time from an object of a source.
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
