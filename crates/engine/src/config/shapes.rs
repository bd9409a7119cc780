//! Shapes of a load beyond its steps: arrivals, think time, reconnecting, slices, logs.
//!
//! Enters: their keys in the configuration. Leaves: checked values. Never: accepts a combination
//! without a clear meaning.

use pgassay_session::Endpoint;
use serde::Deserialize;

use super::Configuration;
use super::validate::{LONGEST_S, wrong};
use crate::error::EngineError;

/// Above this rate the gap between two arrivals nears the resolution of the clock.
const HIGHEST_RATE: f64 = 1e7;
pub const SHORTEST_SLICE_S: f64 = 0.25;

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Arrivals {
    #[default]
    Poisson,
    Constant,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ThinkTime {
    #[default]
    Constant,
    Exponential,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Reconnect {
    #[default]
    Never,
    OnLoss,
    EachTransaction,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Slices {
    pub variants: Vec<Variant>,
    /// Index of a variant and seconds, over and over within each measured step.
    pub schedule: Vec<(usize, f64)>,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Variant {
    pub name: String,
    /// Statements that every connection runs when a slice of this variant begins.
    #[serde(default)]
    pub sql: Vec<String>,
    /// The scenarios that run in its slices; all if null.
    #[serde(default)]
    pub scenarios: Option<Vec<String>>,
    /// The variant's own server: the load opens all its clients there too; they are idle in the
    /// slices of other variants.
    #[serde(default)]
    pub connection: Option<Endpoint>,
}

/// Files of transactions, as pgbench -l writes them.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Log {
    pub prefix: String,
    #[serde(default = "all")]
    pub sampling_rate: f64,
    #[serde(default)]
    pub aggregate_interval_s: Option<u32>,
    /// Whether failures are written with their kind.
    #[serde(default)]
    pub failures_detailed: bool,
}

fn all() -> f64 {
    1.0
}

impl Configuration {
    /// The variants, if each has its own server.
    pub(super) fn servers(&self) -> Option<&[Variant]> {
        let variants = &self.slices.as_ref()?.variants;
        let have_servers = variants.iter().all(|variant| variant.connection.is_some());
        have_servers.then_some(variants)
    }

    pub(super) fn validate_shapes(&self) -> Result<(), EngineError> {
        let is_open = self.steps.iter().any(|step| step.rate.is_some());
        for (n, step) in self.steps.iter().enumerate() {
            if let Some(rate) = step
                .rate
                .filter(|rate| !(*rate > 0.0 && *rate <= HIGHEST_RATE))
            {
                let wanted = format!("a number above 0 and up to {HIGHEST_RATE}");
                return Err(wrong(format!("steps[{n}].rate"), rate, wanted));
            }
        }
        if is_open && self.pool_shares().iter().all(Option::is_none) {
            return Err(wrong(
                "steps",
                "a rate",
                "at least one scenario with a weight above 0",
            ));
        }
        let is_time = |seconds: f64| seconds > 0.0 && seconds <= LONGEST_S;
        if let Some(limit_ms) = self.latency_limit_ms.filter(|ms| !is_time(ms / 1e3)) {
            return Err(wrong(
                "latency_limit_ms",
                limit_ms,
                "a number above 0, or null",
            ));
        }
        if self.think_time_s != 0.0 && !is_time(self.think_time_s) {
            return Err(wrong(
                "think_time_s",
                self.think_time_s,
                "a number from 0 on",
            ));
        }
        if self.think_time_s > 0.0 && is_open {
            let wanted = "0 with a rate, which already says when transactions begin";
            return Err(wrong("think_time_s", self.think_time_s, wanted));
        }
        let is_counted = self.transactions_per_client.is_some();
        if self.max_tries == 0 && is_counted && self.latency_limit_ms.is_none() {
            let wanted = "1 or more, a latency_limit_ms, or a load that its duration ends";
            return Err(wrong("max_tries", 0, wanted));
        }
        if let Some(slices) = &self.slices {
            self.validate_slices(slices)?;
        }
        match &self.log {
            Some(log) => self.validate_log(log),
            None => Ok(()),
        }
    }

    fn validate_slices(&self, slices: &Slices) -> Result<(), EngineError> {
        if self.transactions_per_client.is_some() {
            let wanted = "null with transactions_per_client, whose end is not known in advance";
            return Err(wrong("slices", "an object", wanted));
        }
        if slices.variants.is_empty() || slices.schedule.is_empty() {
            return Err(wrong("slices", "an empty list", "variants and a schedule"));
        }
        for (n, variant) in slices.variants.iter().enumerate() {
            let key = format!("slices.variants[{n}]");
            if slices
                .variants
                .iter()
                .take(n)
                .any(|other| other.name == variant.name)
            {
                let wanted = "a name that no other variant has";
                return Err(wrong(
                    format!("{key}.name"),
                    format!("{:?}", variant.name),
                    wanted,
                ));
            }
            if let Some(sql) = variant.sql.iter().find(|sql| sql.contains('\0')) {
                return Err(wrong(
                    format!("{key}.sql"),
                    format!("{sql:?}"),
                    "SQL without a zero byte",
                ));
            }
            let Some(names) = &variant.scenarios else {
                continue;
            };
            let chosen = |name: &String| self.scenarios.iter().find(|s| s.name == *name);
            if let Some(name) = names.iter().find(|name| chosen(name).is_none()) {
                let wanted = "the name of a scenario";
                return Err(wrong(
                    format!("{key}.scenarios"),
                    format!("{name:?}"),
                    wanted,
                ));
            }
            if !names.iter().filter_map(chosen).any(|s| s.weight != 0.0) {
                let wanted = "a scenario whose weight is not 0, or null for all";
                return Err(wrong(format!("{key}.scenarios"), "no scenario", wanted));
            }
        }
        self.validate_servers(slices)?;
        for (n, &(variant, seconds)) in slices.schedule.iter().enumerate() {
            let key = format!("slices.schedule[{n}]");
            if variant >= slices.variants.len() {
                let wanted = format!("a variant below {}", slices.variants.len());
                return Err(wrong(key, variant, wanted));
            }
            if !(SHORTEST_SLICE_S..=LONGEST_S).contains(&seconds) {
                let wanted = format!("{SHORTEST_SLICE_S} s or more");
                return Err(wrong(key, seconds, wanted));
            }
        }
        Ok(())
    }

    fn validate_servers(&self, slices: &Slices) -> Result<(), EngineError> {
        let has_server = |variant: &Variant| variant.connection.is_some();
        if !slices.variants.iter().any(has_server) {
            return Ok(());
        }
        if let Some(n) = slices.variants.iter().position(|v| !has_server(v)) {
            let wanted = "a connection for every variant or for none";
            let key = format!("slices.variants[{n}].connection");
            return Err(wrong(key, "null", wanted));
        }
        match self.steps.iter().position(|step| step.rate.is_some()) {
            // An arrival claimed by a client of an idle server would have to wait for its slice.
            Some(n) => Err(wrong(
                format!("steps[{n}].rate"),
                "a rate",
                "null when variants have their own servers",
            )),
            None => Ok(()),
        }
    }

    fn validate_log(&self, log: &Log) -> Result<(), EngineError> {
        if log.prefix.is_empty() {
            return Err(wrong("log.prefix", "\"\"", "the beginning of a file name"));
        }
        if !(log.sampling_rate > 0.0 && log.sampling_rate <= 1.0) {
            let wanted = "a number above 0 and up to 1";
            return Err(wrong("log.sampling_rate", log.sampling_rate, wanted));
        }
        match log.aggregate_interval_s {
            Some(0) => Err(wrong("log.aggregate_interval_s", 0, "1 or more, or null")),
            Some(seconds) if log.sampling_rate < 1.0 => {
                let wanted = "null with a sampling_rate: a sample has no sums";
                Err(wrong("log.aggregate_interval_s", seconds, wanted))
            }
            _ => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::example;
    use super::*;
    use serde_json::{Value, json};

    fn problem(changes: &[(&str, Value)]) -> String {
        let mut json = example();
        for (key, value) in changes {
            json[*key] = value.clone();
        }
        let error = Configuration::parse(&json.to_string()).expect_err("accepted");
        error.to_string()
    }

    #[test]
    fn every_shape_is_accepted_in_its_documented_form() {
        let mut json = example();
        for (key, value) in [
            ("arrivals", json!("constant")),
            ("latency_limit_ms", json!(20)),
            ("pools", json!("per_scenario")),
            ("max_tries", json!(0)),
            ("reconnect", json!("on_loss")),
            ("statements", json!(true)),
            (
                "slices",
                json!({"variants": [{"name": "a", "sql": ["SET x = 1"], "scenarios": ["a"]},
                    {"name": "b", "sql": [], "scenarios": null}],
                    "schedule": [[0, 0.5], [1, 0.25]]}),
            ),
            (
                "log",
                json!({"prefix": "x", "sampling_rate": 0.5, "aggregate_interval_s": null}),
            ),
        ] {
            json[key] = value;
        }
        json["steps"][1]["rate"] = json!(100);
        let configuration = Configuration::parse(&json.to_string()).unwrap();
        assert_eq!(configuration.arrivals, Arrivals::Constant);
        assert_eq!(configuration.reconnect, Reconnect::OnLoss);
        assert_eq!(configuration.steps[1].rate, Some(100.0));
    }

    #[test]
    fn what_has_no_meaning_is_refused_by_name() {
        let open = json!([{"clients": 1, "duration_s": 1, "measured": true, "rate": 10}]);
        let slices = |schedule: Value, scenarios: Value| json!({"variants": [{"name": "a", "scenarios": scenarios}], "schedule": schedule});
        let served = |scheduled: Value| {
            let connection = example()["connection"].clone();
            json!({"variants": [{"name": "a", "connection": connection}, {"name": "b", "connection": scheduled}],
                "schedule": [[0, 0.5], [1, 0.5]]})
        };
        let log = |rate: f64, seconds: Value| json!({"prefix": "x", "sampling_rate": rate, "aggregate_interval_s": seconds});
        for (changes, expected) in [
            (
                vec![("latency_limit_ms", json!(0))],
                "latency_limit_ms: 0 is not allowed; give a number above 0, or null",
            ),
            (
                vec![("slices", served(json!(null)))],
                "slices.variants[1].connection: null is not allowed; give a connection for every variant or for none",
            ),
            (
                vec![
                    ("slices", served(example()["connection"].clone())),
                    ("steps", open.clone()),
                ],
                "steps[0].rate: a rate is not allowed; give null when variants have their own servers",
            ),
            (
                vec![("steps", open), ("think_time_s", json!(1))],
                "think_time_s: 1 is not allowed; give 0 with a rate, which already says when transactions begin",
            ),
            (
                vec![("slices", slices(json!([[1, 0.5]]), json!(null)))],
                "slices.schedule[0]: 1 is not allowed; give a variant below 1",
            ),
            (
                vec![("slices", slices(json!([[0, 0.1]]), json!(null)))],
                "slices.schedule[0]: 0.1 is not allowed; give 0.25 s or more",
            ),
            (
                vec![("slices", slices(json!([[0, 0.5]]), json!(["z"])))],
                "slices.variants[0].scenarios: \"z\" is not allowed; give the name of a scenario",
            ),
            (
                vec![("log", log(0.0, json!(null)))],
                "log.sampling_rate: 0 is not allowed; give a number above 0 and up to 1",
            ),
            (
                vec![("log", log(0.5, json!(2)))],
                "log.aggregate_interval_s: 2 is not allowed; give null with a sampling_rate: a sample has no sums",
            ),
        ] {
            assert_eq!(problem(&changes), expected);
        }
        assert!(problem(&[("arrivals", json!("bursty"))]).contains("unknown variant `bursty`"));
    }
}
