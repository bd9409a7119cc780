//! The configuration of a load.
//!
//! Enters: the JSON described at `Load` in `_core.pyi`. Leaves: a [`Configuration`] in which
//! every number makes sense. Never: fills in what was not said, apart from what is null there.

use std::collections::BTreeMap;
use std::fmt;

use pgassay_session::Endpoint;
use serde::Deserialize;

use crate::error::EngineError;
use crate::network::Transport;

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Configuration {
    pub connection: Endpoint,
    pub application_name: String,
    pub scenarios: Vec<Scenario>,
    pub steps: Vec<Step>,
    #[serde(default)]
    pub transactions_per_client: Option<u64>,
    pub protocol: Protocol,
    pub threads: usize,
    #[serde(default)]
    pub transport: Transport,
    pub seed: u64,
    pub interval_s: f64,
    #[serde(default)]
    pub variables: BTreeMap<String, Setting>,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Scenario {
    pub name: String,
    pub file: String,
    pub script: String,
    pub weight: f64,
}

#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Step {
    pub clients: usize,
    /// Not looked at where `transactions_per_client` ends the load.
    #[serde(default)]
    pub duration_s: Option<f64>,
    pub measured: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Protocol {
    /// Variables are put into the text of a Query message.
    Simple,
    /// Every execution is parsed anew, variables are parameters.
    Extended,
    /// Every statement is prepared once per connection.
    Prepared,
}

/// The value of a variable that the configuration sets.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(untagged)]
pub enum Setting {
    Null,
    Bool(bool),
    Int(i64),
    Double(f64),
    Text(String),
}

/// Ten years: beyond it, nanoseconds of Unix time come near their end.
const LONGEST_S: f64 = 10.0 * 365.0 * 86_400.0;
const SHORTEST_INTERVAL_S: f64 = 0.001;
/// Scenarios have 16-bit numbers on the sampler's board.
const MOST_SCENARIOS: usize = u16::MAX as usize;

impl Configuration {
    pub fn parse(json: &str) -> Result<Configuration, EngineError> {
        let configuration: Configuration = serde_json::from_str(json)?;
        configuration.validate()?;
        Ok(configuration)
    }

    /// Connections to open: as many as the largest step asks for.
    #[must_use]
    pub fn connections(&self) -> usize {
        self.steps
            .iter()
            .map(|step| step.clients)
            .max()
            .unwrap_or(0)
    }

    fn validate(&self) -> Result<(), EngineError> {
        if self.scenarios.is_empty() || self.scenarios.len() > MOST_SCENARIOS {
            return Err(wrong(
                "scenarios",
                self.scenarios.len(),
                format!("from 1 to {MOST_SCENARIOS} scenarios"),
            ));
        }
        for (n, scenario) in self.scenarios.iter().enumerate() {
            if !scenario.weight.is_finite() || scenario.weight < 0.0 {
                let key = format!("scenarios[{n}].weight");
                return Err(wrong(key, scenario.weight, "a number from 0 on"));
            }
        }
        let total: f64 = self.scenarios.iter().map(|scenario| scenario.weight).sum();
        if total <= 0.0 || !total.is_finite() {
            return Err(wrong("scenarios", total, "weights whose sum is above 0"));
        }
        self.validate_steps()?;
        if self.threads == 0 {
            return Err(wrong("threads", 0, "1 or more"));
        }
        if !(SHORTEST_INTERVAL_S..=LONGEST_S).contains(&self.interval_s) {
            let wanted = format!("{SHORTEST_INTERVAL_S} s or more");
            return Err(wrong("interval_s", self.interval_s, wanted));
        }
        Ok(())
    }

    fn validate_steps(&self) -> Result<(), EngineError> {
        if self.steps.is_empty() {
            return Err(wrong("steps", 0, "at least one step"));
        }
        for (n, step) in self.steps.iter().enumerate() {
            if step.clients == 0 {
                return Err(wrong(format!("steps[{n}].clients"), 0, "1 or more"));
            }
            if self.transactions_per_client.is_some() {
                continue;
            }
            let key = format!("steps[{n}].duration_s");
            match step.duration_s {
                None => return Err(wrong(key, "null", "a number of seconds above 0")),
                Some(seconds) if seconds > 0.0 && seconds <= LONGEST_S => {}
                Some(seconds) => return Err(wrong(key, seconds, "a number of seconds above 0")),
            }
        }
        match self.transactions_per_client {
            Some(0) => Err(wrong("transactions_per_client", 0, "1 or more, or null")),
            Some(_) if self.steps.len() != 1 => Err(wrong(
                "steps",
                self.steps.len(),
                "exactly one step with transactions_per_client",
            )),
            _ => Ok(()),
        }
    }
}

fn wrong(
    key: impl Into<String>,
    value: impl fmt::Display,
    wanted: impl fmt::Display,
) -> EngineError {
    EngineError::configuration(key, format!("{value} will not do; give {wanted}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    fn example() -> Value {
        json!({
            "connection": {"host": "/run/postgresql", "port": 5432, "user": "u", "password": null,
                "dbname": "d", "options": "", "connect_timeout_s": 10.0},
            "application_name": "pgassay",
            "scenarios": [{"name": "a", "file": "a.sql", "script": "SELECT 1;", "weight": 3}],
            "steps": [{"clients": 8, "duration_s": 5, "measured": false},
                {"clients": 2, "duration_s": 20.0, "measured": true}],
            "transactions_per_client": null,
            "protocol": "prepared", "threads": 1, "seed": 42, "interval_s": 1.0,
            "variables": {"scale": 10, "rate": 0.5, "name": "x", "flag": true, "none": null}
        })
    }

    fn problem(pointer: &str, value: Value) -> String {
        let mut json = example();
        *json.pointer_mut(pointer).expect(pointer) = value;
        Configuration::parse(&json.to_string())
            .expect_err(pointer)
            .to_string()
    }

    #[test]
    fn the_documented_form_is_accepted() {
        let configuration = Configuration::parse(&example().to_string()).unwrap();
        assert_eq!(configuration.connections(), 8);
        assert_eq!(configuration.variables["scale"], Setting::Int(10));
        assert_eq!(configuration.variables["rate"], Setting::Double(0.5));
        assert_eq!(configuration.variables["none"], Setting::Null);
    }

    #[test]
    fn errors_name_the_key_and_what_will_do() {
        for (pointer, value, expected) in [
            (
                "/scenarios",
                json!([]),
                "scenarios: 0 will not do; give from 1 to 65535 scenarios",
            ),
            (
                "/scenarios/0/weight",
                json!(-1),
                "scenarios[0].weight: -1 will not do; give a number from 0 on",
            ),
            (
                "/scenarios/0/weight",
                json!(0),
                "scenarios: 0 will not do; give weights whose sum is above 0",
            ),
            (
                "/steps",
                json!([]),
                "steps: 0 will not do; give at least one step",
            ),
            (
                "/steps/1/clients",
                json!(0),
                "steps[1].clients: 0 will not do; give 1 or more",
            ),
            (
                "/steps/1/duration_s",
                json!(0),
                "steps[1].duration_s: 0 will not do; give a number of seconds above 0",
            ),
            (
                "/steps/0/duration_s",
                json!(null),
                "steps[0].duration_s: null will not do; give a number of seconds above 0",
            ),
            (
                "/threads",
                json!(0),
                "threads: 0 will not do; give 1 or more",
            ),
            (
                "/interval_s",
                json!(0),
                "interval_s: 0 will not do; give 0.001 s or more",
            ),
            (
                "/transactions_per_client",
                json!(0),
                "transactions_per_client: 0 will not do; give 1 or more, or null",
            ),
            (
                "/transactions_per_client",
                json!(5),
                "steps: 2 will not do; give exactly one step with transactions_per_client",
            ),
        ] {
            assert_eq!(problem(pointer, value), expected);
        }
        assert!(problem("/protocol", json!("fast")).contains("unknown variant `fast`"));
    }

    #[test]
    fn unknown_keys_are_refused_by_name() {
        let mut json = example();
        json["stepz"] = json!(1);
        let error = Configuration::parse(&json.to_string()).unwrap_err();
        assert!(error.to_string().contains("unknown field `stepz`"));
    }
}
