//! A profile as pprof and continuous profilers read it.
//!
//! Enters: folded stacks, the nanoseconds of one weight, when it was taken. Leaves: the bytes of
//! pprof's `profile.proto`, not compressed. Never: has addresses, which no reader needs.
//!
//! The frames that are no functions, kind of process and scenario or application, are labels here.

use std::collections::HashMap;

use prost::Message;

use crate::error::ProfileError;
use crate::stacks::stacks;

/// First words of a second frame that is no function.
const NAMED: [&str; 2] = ["scenario", "application"];

#[derive(Clone, PartialEq, Message)]
struct Profile {
    #[prost(message, repeated, tag = "1")]
    sample_type: Vec<ValueType>,
    #[prost(message, repeated, tag = "2")]
    sample: Vec<Sample>,
    #[prost(message, repeated, tag = "4")]
    location: Vec<Location>,
    #[prost(message, repeated, tag = "5")]
    function: Vec<Function>,
    #[prost(string, repeated, tag = "6")]
    string_table: Vec<String>,
    #[prost(int64, tag = "9")]
    time_nanos: i64,
    #[prost(int64, tag = "10")]
    duration_nanos: i64,
    #[prost(message, optional, tag = "11")]
    period_type: Option<ValueType>,
    #[prost(int64, tag = "12")]
    period: i64,
}

#[derive(Clone, Copy, PartialEq, Message)]
struct ValueType {
    #[prost(int64, tag = "1")]
    r#type: i64,
    #[prost(int64, tag = "2")]
    unit: i64,
}

#[derive(Clone, PartialEq, Message)]
struct Sample {
    #[prost(uint64, repeated, tag = "1")]
    location_id: Vec<u64>,
    #[prost(int64, repeated, tag = "2")]
    value: Vec<i64>,
    #[prost(message, repeated, tag = "3")]
    label: Vec<Label>,
}

#[derive(Clone, Copy, PartialEq, Message)]
struct Label {
    #[prost(int64, tag = "1")]
    key: i64,
    #[prost(int64, tag = "2")]
    str: i64,
}

#[derive(Clone, PartialEq, Message)]
struct Location {
    #[prost(uint64, tag = "1")]
    id: u64,
    #[prost(message, repeated, tag = "4")]
    line: Vec<Line>,
}

#[derive(Clone, Copy, PartialEq, Message)]
struct Line {
    #[prost(uint64, tag = "1")]
    function_id: u64,
}

#[derive(Clone, Copy, PartialEq, Message)]
struct Function {
    #[prost(uint64, tag = "1")]
    id: u64,
    #[prost(int64, tag = "2")]
    name: i64,
    #[prost(int64, tag = "3")]
    system_name: i64,
}

/// `value` names what is measured, such as `cpu`; one weight of a stack is `unit_ns` of it.
pub fn pprof(
    folded: &str,
    value: &str,
    unit_ns: f64,
    time_ns: i64,
    duration_ns: i64,
) -> Result<Vec<u8>, ProfileError> {
    let mut texts = Texts::default();
    let mut profile = Profile {
        time_nanos: time_ns,
        duration_nanos: duration_ns,
        ..Profile::default()
    };
    let process = texts.number("process");
    let measured = ValueType {
        r#type: texts.number(value),
        unit: texts.number("nanoseconds"),
    };
    profile.sample_type.push(measured);
    profile.period_type = Some(measured);
    #[allow(clippy::cast_possible_truncation)]
    let period = unit_ns.round() as i64;
    profile.period = period;
    let mut locations: HashMap<&str, u64> = HashMap::new();
    for stack in stacks(folded) {
        let (frames, weight) = stack?;
        let (kind, rest) = frames
            .split_first()
            .map_or(("", &[][..]), |(kind, rest)| (*kind, rest));
        let mut label = vec![Label {
            key: process,
            str: texts.number(kind),
        }];
        let named = rest.first().and_then(|name| name.split_once(' '));
        let named = named.filter(|(what, _)| NAMED.contains(what));
        if let Some((what, name)) = named {
            label.push(Label {
                key: texts.number(what),
                str: texts.number(name),
            });
        }
        let functions = rest.get(usize::from(named.is_some())..).unwrap_or_default();
        let location_id = functions
            .iter()
            .rev()
            .map(|&name| {
                let next = locations.len() as u64 + 1;
                *locations.entry(name).or_insert_with(|| {
                    let text = texts.number(name);
                    profile.function.push(Function {
                        id: next,
                        name: text,
                        system_name: text,
                    });
                    profile.location.push(Location {
                        id: next,
                        line: vec![Line { function_id: next }],
                    });
                    next
                })
            })
            .collect();
        #[allow(clippy::cast_possible_truncation, clippy::cast_precision_loss)]
        let value = vec![(weight as f64 * unit_ns).round() as i64];
        profile.sample.push(Sample {
            location_id,
            value,
            label,
        });
    }
    profile.string_table = texts.table();
    Ok(profile.encode_to_vec())
}

/// The table of texts; its first is empty.
#[derive(Default)]
struct Texts(HashMap<String, i64>);

impl Texts {
    fn number(&mut self, text: &str) -> i64 {
        let next = i64::try_from(self.0.len())
            .unwrap_or(i64::MAX)
            .saturating_add(1);
        *self.0.entry(text.to_owned()).or_insert(next)
    }

    fn table(self) -> Vec<String> {
        let mut sorted: Vec<(i64, String)> =
            self.0.into_iter().map(|(text, at)| (at, text)).collect();
        sorted.sort_unstable();
        std::iter::once(String::new())
            .chain(sorted.into_iter().map(|(_, text)| text))
            .collect()
    }
}
