//! The configuration of a load.
//!
//! Enters: the JSON described at `Load` in `_core.pyi`. Leaves: a [`Configuration`] in which
//! every number is valid. Never: adds defaults other than those documented there.

mod parameters;
mod pools;
mod shapes;
mod share;
mod validate;

use std::collections::BTreeMap;
use std::time::Duration;

use pgassay_session::Endpoint;
use serde::{Deserialize, Deserializer};

use crate::error::EngineError;
use crate::network::Transport;
pub use parameters::{Parameters, RowOrder};
pub use pools::{Assignment, Pools};
pub use shapes::{Arrivals, Log, Reconnect, Slices, ThinkTime};
pub use share::Share;

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
    /// How long a wait polls for answers before it sleeps.
    #[serde(default)]
    pub busy_poll_us: u32,
    pub seed: u64,
    pub interval_s: f64,
    #[serde(default)]
    pub variables: BTreeMap<String, Setting>,
    /// Whether scripts may run programs: `\shell` and `\setshell`.
    #[serde(default)]
    pub allow_shell: bool,
    #[serde(default)]
    pub arrivals: Arrivals,
    /// Limit for a transaction, from its intended start.
    #[serde(default)]
    pub latency_limit_ms: Option<f64>,
    #[serde(default)]
    pub pools: Pools,
    /// Time between transactions of one client; its mean, if it is not constant.
    #[serde(default)]
    pub think_time_s: f64,
    #[serde(default)]
    pub think_time: ThinkTime,
    /// Tries of a transaction after serialization failures or deadlocks; 0 for no limit.
    #[serde(default = "one")]
    pub max_tries: u32,
    #[serde(default)]
    pub reconnect: Reconnect,
    #[serde(default)]
    pub slices: Option<Slices>,
    /// Whether the latency of every statement is measured.
    #[serde(default)]
    pub statements: bool,
    #[serde(default)]
    pub log: Option<Log>,
    /// Whether a failure for which pgbench would abort a client ends the load.
    #[serde(default)]
    pub exit_on_abort: bool,
    /// Whether every failure is reported on standard error.
    #[serde(default)]
    pub verbose_errors: bool,
    /// The part of the load that this engine runs; all else describes the whole load.
    #[serde(default)]
    pub share: Share,
}

fn one() -> u32 {
    1
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Scenario {
    pub name: String,
    pub file: String,
    #[serde(deserialize_with = "text_or_bytes")]
    pub script: Vec<u8>,
    /// Share of the transactions; with a pool per scenario, −n means n connections in every step.
    pub weight: f64,
    /// Variables that a file gives.
    #[serde(default)]
    pub parameters: Option<Parameters>,
}

#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Step {
    pub clients: usize,
    /// Ignored if `transactions_per_client` ends the load.
    #[serde(default)]
    pub duration_s: Option<f64>,
    pub measured: bool,
    /// Transactions begun per second, whether or not earlier ones have ended.
    #[serde(default)]
    pub rate: Option<f64>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Protocol {
    /// Variables are replaced in the text of a Query message.
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
    /// A text that is not UTF-8.
    Bytes(Vec<u8>),
}

/// A JSON string, or an array of bytes for a text that is not UTF-8.
fn text_or_bytes<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<u8>, D::Error> {
    #[derive(Deserialize)]
    #[serde(untagged)]
    enum Written {
        Text(String),
        Bytes(Vec<u8>),
    }
    Ok(match Written::deserialize(deserializer)? {
        Written::Text(text) => text.into_bytes(),
        Written::Bytes(bytes) => bytes,
    })
}

impl Configuration {
    pub fn busy_poll(&self) -> Duration {
        Duration::from_micros(self.busy_poll_us.into())
    }

    pub fn parse(json: &str) -> Result<Configuration, EngineError> {
        let mut deserializer = serde_json::Deserializer::from_str(json);
        let configuration: Configuration =
            serde_path_to_error::deserialize(&mut deserializer).map_err(invalid_value)?;
        deserializer.end()?;
        configuration.validate()?;
        Ok(configuration)
    }
}

/// The error for an unknown key or a value of the wrong type: its path and one line.
fn invalid_value(error: serde_path_to_error::Error<serde_json::Error>) -> EngineError {
    let path = error.path().to_string();
    let error = error.into_inner();
    if !error.is_data() {
        return EngineError::Json(error);
    }
    let text = error.to_string();
    // A program writes the text on one line, so line and column are of no use.
    let place = format!(" at line {} column {}", error.line(), error.column());
    let problem = text.strip_suffix(&place).unwrap_or(&text);
    EngineError::configuration(path, problem)
}

#[cfg(test)]
pub mod tests {
    use super::*;
    use serde_json::{Value, json};

    pub fn example() -> Value {
        json!({
            "connection": {"host": "/run/postgresql", "port": 5432, "user": "u", "password": null,
                "dbname": "d", "options": "", "connect_timeout_s": 10.0},
            "application_name": "pgassay",
            "scenarios": [{"name": "a", "file": "a.sql", "script": "SELECT 1;", "weight": 3}],
            "steps": [{"clients": 8, "duration_s": 5, "measured": false},
                {"clients": 2, "duration_s": 20.0, "measured": true}],
            "transactions_per_client": null,
            "protocol": "prepared", "threads": 1, "seed": 42, "interval_s": 1.0,
            "variables": {"scale": 10, "rate": 0.5, "name": "x", "flag": true, "none": null},
            "share": {"index": 0, "of": 1}
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
        assert_eq!(configuration.assignments().len(), 8);
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
                "scenarios: 0 is not allowed; give from 1 to 65535 scenarios",
            ),
            (
                "/scenarios/0/weight",
                json!(-1),
                "scenarios[0].weight: -1 is not allowed; give a number from 0 on",
            ),
            (
                "/scenarios/0/weight",
                json!(0),
                "scenarios: 0 is not allowed; give weights whose sum is above 0",
            ),
            (
                "/steps",
                json!([]),
                "steps: 0 is not allowed; give at least one step",
            ),
            (
                "/steps/1/clients",
                json!(0),
                "steps[1].clients: 0 is not allowed; give 1 or more",
            ),
            (
                "/steps/1/duration_s",
                json!(0),
                "steps[1].duration_s: 0 is not allowed; give a number of seconds above 0",
            ),
            (
                "/steps/0/duration_s",
                json!(null),
                "steps[0].duration_s: null is not allowed; give a number of seconds above 0",
            ),
            (
                "/threads",
                json!(0),
                "threads: 0 is not allowed; give 1 or more",
            ),
            (
                "/interval_s",
                json!(0),
                "interval_s: 0 is not allowed; give 0.001 s or more",
            ),
            (
                "/share",
                json!({"index": 0, "of": 0}),
                "share.of: 0 is not allowed; give 1 or more",
            ),
            (
                "/share",
                json!({"index": 3, "of": 3}),
                "share.index: 3 is not allowed; give a number below share.of, 3",
            ),
            (
                "/transactions_per_client",
                json!(0),
                "transactions_per_client: 0 is not allowed; give 1 or more, or null",
            ),
            (
                "/transactions_per_client",
                json!(5),
                "steps: 2 is not allowed; give exactly one step with transactions_per_client",
            ),
        ] {
            assert_eq!(problem(pointer, value), expected);
        }
    }

    #[test]
    fn what_does_not_fit_is_told_by_the_path_of_its_key() {
        for (pointer, value, expected) in [
            (
                "/protocol",
                json!("fast"),
                "protocol: unknown variant `fast`, expected one of `simple`, `extended`, `prepared`",
            ),
            (
                "/steps/1/clients",
                json!("many"),
                "steps[1].clients: invalid type: string \"many\", expected usize",
            ),
            (
                "/connection/port",
                json!(70_000),
                "connection.port: invalid value: integer `70000`, expected u16",
            ),
            (
                "/scenarios/0",
                json!({"name": "a", "file": "a", "weight": 1}),
                "scenarios[0]: missing field `script`",
            ),
            (
                "/steps/0",
                json!({"clients": 1, "measured": true, "duratoin_s": 1}),
                "steps[0].duratoin_s: unknown field `duratoin_s`, expected one of `clients`, `duration_s`, `measured`, `rate`",
            ),
        ] {
            assert_eq!(problem(pointer, value), expected);
        }
        for text in ["", "{", "{} {}", "no"] {
            let error = Configuration::parse(text).unwrap_err().to_string();
            let is_told = error.starts_with("the load configuration is not valid JSON: ")
                || error.contains("missing field");
            assert!(is_told, "{text}: {error}");
        }
    }

    #[test]
    fn unknown_keys_are_refused_by_name() {
        let mut json = example();
        json["stepz"] = json!(1);
        let error = Configuration::parse(&json.to_string()).unwrap_err();
        let error = error.to_string();
        assert!(
            error.starts_with("stepz: unknown field `stepz`, expected one of `connection`"),
            "{error}"
        );
    }
}
