//! The shape of a load's result, `pgassay.load/1`: its objects and their keys, in their order.
//!
//! Enters: figures. Leaves: values that serde writes. Never: sums anything.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::outcome::Distribution;
use crate::record::Total;

#[derive(Serialize)]
pub(super) struct Document<'a> {
    pub(super) schema: &'static str,
    #[serde(flatten)]
    pub(super) counts: Counts,
    pub(super) duration_s: f64,
    pub(super) client_cpu_s: f64,
    pub(super) busy_poll_s: f64,
    pub(super) client_limited: bool,
    pub(super) rate_asked: Option<f64>,
    pub(super) rate_reached: Option<f64>,
    pub(super) backlog: u64,
    pub(super) connections: Connections,
    pub(super) connect_ms: MeanMax,
    pub(super) initial_connect_ms: f64,
    pub(super) lost_connections: u64,
    #[serde(flatten)]
    pub(super) unfinished: Unfinished,
    pub(super) latency_with_unfinished_ms: Latency,
    pub(super) outages: Vec<Outage>,
    pub(super) scenarios: Vec<Scenario<'a>>,
    pub(super) slices: Vec<Slice<'a>>,
    pub(super) started_ns: i64,
    pub(super) ended_ns: i64,
    pub(super) backend: &'a str,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) generators: Vec<Generator<'a>>,
    pub(super) first_error: Option<FirstError<'a>>,
    pub(super) steps: Vec<Step>,
}

/// The figures that the whole load, a scenario and a step have in common.
#[derive(Serialize)]
pub(super) struct Counts {
    pub(super) tps: f64,
    pub(super) transactions: u64,
    pub(super) failed: u64,
    pub(super) skipped: u64,
    pub(super) late: u64,
    pub(super) retried: u64,
    pub(super) retries: u64,
    pub(super) latency_ms: Latency,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) response_ms: Option<Latency>,
    pub(super) schedule_lag_ms: MeanMax,
}

/// Milliseconds; all null where nothing succeeded.
#[derive(Serialize)]
pub(super) struct Latency {
    pub(super) mean: Option<f64>,
    pub(super) p50: Option<f64>,
    pub(super) p95: Option<f64>,
    pub(super) p99: Option<f64>,
    pub(super) p999: Option<f64>,
    pub(super) max: Option<f64>,
}

/// Milliseconds; null without any value.
#[derive(Serialize)]
pub(super) struct MeanMax {
    pub(super) mean: Option<f64>,
    pub(super) max: Option<f64>,
}

/// Transactions running at the end of the load, which are counted nowhere else.
#[derive(Serialize, Default)]
pub(super) struct Unfinished {
    pub(super) unfinished: usize,
    pub(super) unfinished_max_ms: Option<f64>,
}

/// One of several engines, in measured steps.
#[derive(Serialize)]
pub(super) struct Generator<'a> {
    pub(super) connections: usize,
    pub(super) transactions: u64,
    pub(super) failed: u64,
    pub(super) client_cpu_s: f64,
    pub(super) busy_poll_s: f64,
    pub(super) client_limited: bool,
    pub(super) backend: &'a str,
}

#[derive(Serialize)]
pub(super) struct Connections {
    pub(super) count: usize,
    pub(super) min_tx: u64,
    pub(super) max_tx: u64,
}

#[derive(Serialize)]
pub(super) struct Outage {
    pub(super) start_ns: i64,
    pub(super) end_ns: i64,
    pub(super) connections: u64,
}

#[derive(Serialize)]
pub(super) struct Scenario<'a> {
    pub(super) name: &'a str,
    pub(super) weight: f64,
    pub(super) share: f64,
    #[serde(flatten)]
    pub(super) counts: Counts,
    pub(super) errors: BTreeMap<String, u64>,
    pub(super) connect_ms: MeanMax,
    pub(super) statements: Vec<Statement<'a>>,
}

#[derive(Serialize)]
pub(super) struct Statement<'a> {
    pub(super) command: &'a str,
    pub(super) line: usize,
    pub(super) latency_ms: Latency,
    pub(super) failures: u64,
    pub(super) retries: u64,
}

#[derive(Serialize)]
pub(super) struct Slice<'a> {
    pub(super) index: usize,
    pub(super) variant: &'a str,
    pub(super) step: usize,
    pub(super) start_ns: i64,
    pub(super) end_ns: i64,
    pub(super) transactions: u64,
    pub(super) failed: u64,
    pub(super) crossing: u64,
    pub(super) tps: f64,
    pub(super) latency_ms: Latency,
    pub(super) edge_lag_ms: f64,
}

#[derive(Serialize)]
pub(super) struct FirstError<'a> {
    pub(super) sqlstate: String,
    pub(super) message: &'a str,
    pub(super) scenario: &'a str,
}

#[derive(Serialize)]
pub(super) struct Step {
    pub(super) index: usize,
    pub(super) clients: usize,
    pub(super) measured: bool,
    pub(super) start_ns: i64,
    pub(super) end_ns: i64,
    #[serde(flatten)]
    pub(super) counts: Counts,
    pub(super) rate_asked: Option<f64>,
    pub(super) rate_reached: Option<f64>,
    pub(super) backlog: u64,
    #[serde(flatten)]
    pub(super) unfinished: Unfinished,
    pub(super) client_cpu_s: f64,
    pub(super) busy_poll_s: f64,
    pub(super) client_limited: bool,
}

impl Latency {
    pub(super) fn of(distribution: &Distribution) -> Latency {
        let ms = |ns: Option<f64>| ns.map(|ns| ns / 1e6);
        Latency {
            mean: ms(distribution.mean_ns()),
            p50: ms(distribution.quantile_ns(0.5)),
            p95: ms(distribution.quantile_ns(0.95)),
            p99: ms(distribution.quantile_ns(0.99)),
            p999: ms(distribution.quantile_ns(0.999)),
            max: ms(distribution.max_ns()),
        }
    }
}

impl MeanMax {
    pub(super) fn of(total: Total) -> MeanMax {
        MeanMax {
            mean: total.mean_ns().map(|ns| ns / 1e6),
            max: total.max_ns().map(|ns| ns / 1e6),
        }
    }
}
