//! Transactions of the same statements are one scenario.
//!
//! Enters: whole transactions. Leaves: for each sequence of templates how many there were, their
//! times, and a random sample of the rows of values that occurred together. Never: holds more than
//! [`MOST`] sequences or [`MOST_BYTES`] of rows: where rows are too many, every sample is thinned to
//! half, which leaves a random sample.

use std::collections::HashMap;

use rand_xoshiro::Xoroshiro128StarStar;
use rand_xoshiro::rand_core::{Rng, SeedableRng};
use serde::Serialize;

use crate::call::{Call, each_value};
use crate::templates::{Templates, Verb};

const MOST: usize = 100_000;
const MOST_BYTES: usize = 512 << 20;
/// Rows of a scenario without values, which are held for their pauses.
const FOR_PAUSES: usize = 1000;
const QUANTILES: i64 = 10;

/// What tells scenarios apart.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize)]
pub(crate) struct Key {
    pub(crate) database: usize,
    pub(crate) explicit: bool,
    pub(crate) rolled_back: bool,
    pub(crate) statements: Vec<u32>,
}

/// What a statement of a scenario did.
#[derive(Debug, Default, Clone, Serialize)]
pub(crate) struct Done {
    pub(crate) time_us: i64,
    pub(crate) failed: u64,
}

#[derive(Debug, Serialize)]
pub(crate) struct Scenario {
    #[serde(flatten)]
    pub(crate) key: Key,
    pub(crate) transactions: u64,
    /// With that of BEGIN and COMMIT.
    pub(crate) time_us: i64,
    pub(crate) done: Vec<Done>,
    /// Transactions whose values are not all in the log.
    pub(crate) without_values: u64,
    #[serde(skip)]
    rows: Vec<Row>,
    #[serde(skip)]
    seen: u64,
}

#[derive(Debug)]
struct Row {
    pauses_us: Vec<i64>,
    values: Box<[u8]>,
}

/// A column of values, as Arrow has texts.
#[derive(Debug, Default)]
pub struct Column {
    /// Of each row: 0 NULL, 1 a number, 2 a text, 3 true or false.
    pub tags: Vec<u8>,
    pub offsets: Vec<i64>,
    pub bytes: Vec<u8>,
}

/// What is left out of all scenarios, by reason and template.
pub(crate) type Lost = HashMap<(&'static str, Option<u32>), (u64, i64)>;

pub(crate) struct Scenarios {
    numbers: HashMap<Key, usize>,
    pub(crate) all: Vec<Scenario>,
    pub(crate) lost: Lost,
    most_rows: usize,
    bytes: usize,
    random: Xoroshiro128StarStar,
}

impl Scenarios {
    pub(crate) fn new(most_rows: usize, seed: u64) -> Self {
        Self {
            numbers: HashMap::new(),
            all: Vec::new(),
            lost: HashMap::new(),
            most_rows: most_rows.max(1),
            bytes: 0,
            random: Xoroshiro128StarStar::seed_from_u64(seed),
        }
    }

    pub(crate) fn lose(&mut self, reason: &'static str, call: &Call) {
        let lost = self.lost.entry((reason, call.template)).or_default();
        lost.0 += 1;
        lost.1 += call.duration_us.unwrap_or(0);
    }

    /// Counts a transaction; `control_us` is the time of BEGIN and COMMIT.
    pub(crate) fn add(
        &mut self,
        database: usize,
        explicit: bool,
        rolled_back: bool,
        calls: &[Call],
        control_us: i64,
        templates: &Templates,
    ) {
        if calls.is_empty() {
            return;
        }
        let key = Key {
            database,
            explicit,
            rolled_back,
            statements: calls.iter().filter_map(|call| call.template).collect(),
        };
        let number = match self.numbers.get(&key) {
            Some(number) => *number,
            None if self.all.len() >= MOST => {
                for call in calls {
                    self.lose("too-many-sequences", call);
                }
                return;
            }
            None => {
                let number = self.all.len();
                self.numbers.insert(key.clone(), number);
                self.all.push(Scenario {
                    done: vec![Done::default(); key.statements.len()],
                    key,
                    transactions: 0,
                    time_us: 0,
                    without_values: 0,
                    rows: Vec::new(),
                    seen: 0,
                });
                number
            }
        };
        let scenario = &mut self.all[number];
        scenario.transactions += 1;
        scenario.time_us += control_us;
        let mut whole = true;
        for (call, done) in calls.iter().zip(&mut scenario.done) {
            let duration = call.duration_us.unwrap_or(0);
            scenario.time_us += duration;
            done.time_us += duration;
            done.failed += u64::from(call.failed.is_some());
            let template = call.template.map(|number| templates.get(number));
            whole &= !call.values.cut
                && template.is_none_or(|template| {
                    template.verb != Verb::Data
                        || call.values.count == template.parameters + template.constants
                });
        }
        if !whole {
            scenario.without_values += 1;
            return;
        }
        let values: usize = calls.iter().map(|call| call.values.bytes.len()).sum();
        let most = if values == 0 {
            FOR_PAUSES
        } else {
            self.most_rows
        };
        scenario.seen += 1;
        let place = if scenario.rows.len() < most {
            scenario.rows.len()
        } else {
            (self.random.next_u64() % scenario.seen) as usize
        };
        if place >= most {
            return;
        }
        let pauses_us = calls.windows(2).map(|two| two[1].start_us - two[0].end_us);
        let row = Row {
            pauses_us: pauses_us.collect(),
            values: calls
                .iter()
                .flat_map(|call| call.values.bytes.iter().copied())
                .collect(),
        };
        self.bytes += size(&row);
        if let Some(old) = scenario.rows.get_mut(place) {
            self.bytes -= size(old);
            *old = row;
        } else {
            scenario.rows.push(row);
        }
        if self.bytes > MOST_BYTES {
            self.thin();
        }
    }

    fn thin(&mut self) {
        self.most_rows = (self.most_rows / 2).max(1);
        for scenario in &mut self.all {
            while scenario.rows.len() > self.most_rows {
                let place = self.random.next_u64() as usize % scenario.rows.len();
                scenario.rows.swap_remove(place);
            }
        }
        self.bytes = self
            .all
            .iter()
            .flat_map(|scenario| &scenario.rows)
            .map(size)
            .sum();
    }
}

fn size(row: &Row) -> usize {
    row.values.len() + 8 * row.pauses_us.len() + size_of::<Row>()
}

impl Scenario {
    /// The sampled rows by column, in the order of the statements' values.
    pub(crate) fn columns(&self) -> Vec<Column> {
        let mut columns: Vec<Column> = Vec::new();
        for row in &self.rows {
            for (index, (tag, text)) in each_value(&row.values).enumerate() {
                if columns.len() <= index {
                    columns.push(Column {
                        offsets: vec![0],
                        ..Column::default()
                    });
                }
                let column = &mut columns[index];
                column.tags.push(tag);
                column.bytes.extend_from_slice(text);
                column
                    .offsets
                    .push(i64::try_from(column.bytes.len()).unwrap_or(i64::MAX));
            }
        }
        columns
    }

    /// Quantiles (0, 10, …, 100 %) of the pause before each statement but the first, in µs; none
    /// where the mean is less than `resolution_us`, which the log's times do not show.
    pub(crate) fn pauses(&self, resolution_us: i64) -> Vec<Vec<i64>> {
        let count = self.key.statements.len().saturating_sub(1);
        let of_place = |place: usize| {
            let mut pauses: Vec<i64> = self.rows.iter().map(|row| row.pauses_us[place]).collect();
            pauses.sort_unstable();
            let last = i64::try_from(pauses.len()).unwrap_or(0) - 1;
            if last < 0 || pauses.iter().sum::<i64>() / (last + 1) < resolution_us {
                return Vec::new();
            }
            let at = |quantile: i64| pauses[(last * quantile / QUANTILES) as usize].max(0);
            (0..=QUANTILES).map(at).collect()
        };
        (0..count).map(of_place).collect()
    }
}
