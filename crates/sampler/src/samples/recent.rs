//! The latest readings, for the live view.
//!
//! Enters: each tick's rows and each reading's values, as they come. Leaves: running sums and the
//! last readings as JSON. Never: keeps more than one reading of a source, or takes a row away.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex, PoisonError};

use serde_json::{Map, Value, json};

use crate::samples::columns::{Values, Wait};
use crate::samples::names::{NameId, Names};

/// The backend types that run a load's transactions.
const OF_CLIENTS: [&str; 2] = ["client backend", "parallel worker"];
const CHECKPOINTER: &str = "checkpointer";

/// Owned texts, because they outlive the tick's table of names.
type Event = (Option<Arc<str>>, Option<Arc<str>>);

#[derive(Debug, Default)]
pub(crate) struct Recent(Mutex<Sums>);

#[derive(Debug, Default)]
struct Sums {
    ticks: u64,
    /// Ticks at which the checkpointer was busy.
    checkpointing: u64,
    /// In how many samples a client backend was in each wait event, since the beginning.
    busy: HashMap<Event, u64>,
    readings: HashMap<Arc<str>, Reading>,
}

#[derive(Debug, Default)]
struct Reading {
    time_ns: i64,
    values: Vec<(Arc<str>, Arc<str>, f64)>,
}

impl Recent {
    pub(crate) fn note_tick<'a>(&self, names: &Names, waits: impl Iterator<Item = &'a Wait>) {
        let clients = OF_CLIENTS.map(|kind| names.intern(kind));
        let checkpointer = names.intern(CHECKPOINTER);
        let texts = names.texts();
        let text = |id: Option<NameId>| id.and_then(|id| texts.get(id.index()).cloned());
        let mut sums = self.sums();
        sums.ticks += 1;
        let mut checkpointing = false;
        for wait in waits {
            match wait.backend_type {
                Some(kind) if clients.contains(&kind) => {
                    *sums
                        .busy
                        .entry((text(wait.wait_event_type), text(wait.wait_event)))
                        .or_default() += 1;
                }
                Some(kind) => checkpointing |= kind == checkpointer,
                None => {}
            }
        }
        sums.checkpointing += u64::from(checkpointing);
    }

    /// Values of one reading, whose texts are in `names`; those of one source stand together.
    pub(crate) fn note_values(&self, values: &Values, names: &Names) {
        let texts = names.texts();
        let text = |id: Option<&NameId>| id.and_then(|id| texts.get(id.index()).cloned());
        let mut sums = self.sums();
        let mut before = None;
        for (row, source) in values.source.iter().enumerate() {
            let Some(name) = text(Some(source)) else {
                continue;
            };
            let reading = sums.readings.entry(name).or_default();
            if before != Some(*source) {
                reading.values.clear();
                before = Some(*source);
            }
            let (Some(time_ns), Some(object), Some(name), Some(value)) = (
                values.time_ns.get(row),
                text(values.object.get(row)),
                text(values.name.get(row)),
                values.value.get(row),
            ) else {
                continue;
            };
            reading.time_ns = *time_ns;
            reading.values.push((object, name, *value));
        }
    }

    pub(crate) fn to_json(&self, sources: &[String]) -> String {
        let sums = self.sums();
        let mut busy = BTreeMap::new();
        for ((kind, event), count) in &sums.busy {
            let name = kind.as_ref().map_or_else(
                || "CPU".to_owned(),
                |kind| format!("{kind}:{}", event.as_deref().unwrap_or_default()),
            );
            *busy.entry(name).or_insert(0) += count;
        }
        let mut readings = Map::new();
        for (source, reading) in &sums.readings {
            if !sources.iter().any(|wanted| **wanted == **source) {
                continue;
            }
            let mut objects: BTreeMap<&str, BTreeMap<&str, f64>> = BTreeMap::new();
            for (object, name, value) in &reading.values {
                let values = objects.entry(object).or_default();
                values.insert(name, *value);
            }
            let entry = json!({"time_ns": reading.time_ns, "objects": objects});
            readings.insert(source.to_string(), entry);
        }
        Value::Object(Map::from_iter([
            ("ticks".to_owned(), sums.ticks.into()),
            ("checkpointing".to_owned(), sums.checkpointing.into()),
            ("busy".to_owned(), json!(busy)),
            ("readings".to_owned(), Value::Object(readings)),
        ]))
        .to_string()
    }

    /// Sums stay valid even if a thread panicked with the lock: they are only added to.
    fn sums(&self) -> std::sync::MutexGuard<'_, Sums> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wait(names: &Names, kind: &str, event: Option<(&str, &str)>) -> Wait {
        Wait {
            backend_type: Some(names.intern(kind)),
            wait_event_type: event.map(|(kind, _)| names.intern(kind)),
            wait_event: event.map(|(_, event)| names.intern(event)),
            ..Wait::default()
        }
    }

    #[test]
    fn clients_are_summed_by_event_and_the_checkpointer_by_tick() {
        let (recent, names) = (Recent::default(), Names::default());
        let rows = [
            wait(&names, "client backend", Some(("IO", "WALSync"))),
            wait(&names, "parallel worker", None),
            wait(&names, "checkpointer", None),
            wait(&names, "walwriter", None),
        ];
        recent.note_tick(&names, rows.iter());
        recent.note_tick(&names, rows[..1].iter());
        recent.note_tick(&names, [].iter());
        let found: Value = serde_json::from_str(&recent.to_json(&[])).unwrap();
        let expected = json!({"ticks": 3, "checkpointing": 1, "readings": {},
                          "busy": {"CPU": 1, "IO:WALSync": 2}});
        assert_eq!(found, expected);
    }

    #[test]
    fn only_the_last_reading_of_a_source_is_kept_and_only_what_is_asked_for_is_told() {
        let (recent, names) = (Recent::default(), Names::default());
        let mut values = Values::default();
        let id = |text: &str| names.intern(text);
        for time_ns in [1, 2] {
            values.clear();
            values.push(time_ns, id("stat"), id("cpu"), id("user"), time_ns as f64);
            values.push(time_ns, id("loadavg"), id(""), id("one"), 0.5);
            recent.note_values(&values, &names);
        }
        let asked = ["stat".to_owned(), "absent".to_owned()];
        let found: Value = serde_json::from_str(&recent.to_json(&asked)).unwrap();
        let expected = json!({"stat": {"time_ns": 2, "objects": {"cpu": {"user": 2.0}}}});
        assert_eq!(found["readings"], expected);
    }
}
