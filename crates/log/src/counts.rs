//! What a log has of entries and statements.
//!
//! Enters: each entry's time, each statement. Leaves: counts and sums, in all and by database. Never:
//! sees a text.

use std::collections::{BTreeMap, HashMap};

use serde::Serialize;

use crate::call::{Call, Protocol};

pub(crate) const SECOND_US: i64 = 1_000_000;

/// What the log has of entries.
#[derive(Debug, Default, Serialize)]
pub(crate) struct Counts {
    /// Of sessions that were asked for.
    pub(crate) entries: u64,
    pub(crate) statements: u64,
    pub(crate) with_duration: u64,
    pub(crate) shortest_us: Option<i64>,
    pub(crate) failed: u64,
    pub(crate) first_us: Option<i64>,
    pub(crate) last_us: i64,
    /// How often a time was more than a second before the latest one.
    pub(crate) back: u64,
    pub(crate) whole_seconds: bool,
    pub(crate) simple: u64,
    pub(crate) extended: u64,
    pub(crate) prepared: u64,
    pub(crate) sessions: u64,
    pub(crate) cut: u64,
    pub(crate) not_utf8: u64,
}

impl Counts {
    pub(crate) fn entry(&mut self, time_us: i64) {
        self.entries += 1;
        self.whole_seconds &= time_us % SECOND_US == 0;
        self.back += u64::from(self.first_us.is_some() && time_us < self.last_us - SECOND_US);
        self.first_us = Some(self.first_us.map_or(time_us, |first| first.min(time_us)));
        self.last_us = self.last_us.max(time_us);
    }

    pub(crate) fn call(&mut self, call: &Call) {
        self.statements += 1;
        match call.protocol {
            Protocol::Simple => self.simple += 1,
            Protocol::Extended => self.extended += 1,
            Protocol::Prepared => self.prepared += 1,
        }
        if let Some(duration_us) = call.duration_us {
            self.with_duration += 1;
            if call.failed.is_none() {
                let shortest = self.shortest_us.unwrap_or(duration_us);
                self.shortest_us = Some(shortest.min(duration_us));
            }
        }
    }
}

/// What one database has.
#[derive(Debug, Default)]
pub(crate) struct OfDatabase {
    pub(crate) commits: u64,
    pub(crate) rollbacks: u64,
    /// Transactions begun before the log, or without an end in it.
    pub(crate) partial: u64,
    pub(crate) busy_us: i64,
    /// Statements by the number of their user's name.
    users: HashMap<i64, u64>,
    /// Second → sessions that came less those that went.
    changes: BTreeMap<i64, i64>,
}

impl OfDatabase {
    pub(crate) fn call(&mut self, call: &Call, user: i64) {
        self.busy_us += call.duration_us.unwrap_or(0);
        *self.users.entry(user).or_default() += 1;
    }

    pub(crate) fn session(&mut self, first_us: i64, last_us: i64) {
        *self.changes.entry(first_us / SECOND_US).or_default() += 1;
        *self.changes.entry(last_us / SECOND_US + 1).or_default() -= 1;
    }

    /// The most sessions that were there in one second, by their first and last entries.
    pub(crate) fn at_once(&self) -> u64 {
        let (mut now, mut most) = (0, 0);
        for change in self.changes.values() {
            now += change;
            most = most.max(now);
        }
        u64::try_from(most).unwrap_or(0)
    }

    /// The number of the user's name with most statements.
    pub(crate) fn user(&self) -> Option<i64> {
        let most = self
            .users
            .iter()
            .max_by_key(|(user, calls)| (**calls, -**user));
        most.map(|(user, _)| *user)
    }
}
