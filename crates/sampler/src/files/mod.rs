//! The formats of a host's files.
//!
//! Enters: a format by its name, a text. Leaves: values, by the parser of that format. Never:
//! opens a file.

mod cgroup;
mod network;
mod proc;
mod values;

use serde::Deserialize;

pub(crate) use values::Emit;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Format {
    Stat,
    Meminfo,
    Vmstat,
    Diskstats,
    Loadavg,
    Pressure,
    NetDev,
    NetSnmp,
    /// Lines of a name and a number.
    Pairs,
    Number,
    CgroupIo,
    /// Control groups of version 1 have one file for bytes and one for operations.
    CgroupBytes,
    CgroupOperations,
    /// Reads no file: the free and total space of the path's file system.
    FileSystem,
}

impl Format {
    pub(crate) fn parse(self, text: &str, emit: Emit<'_>) {
        match self {
            Format::Stat => proc::stat(text, emit),
            Format::Meminfo => proc::meminfo(text, emit),
            Format::Vmstat => proc::vmstat(text, emit),
            Format::Diskstats => proc::diskstats(text, emit),
            Format::Loadavg => proc::loadavg(text, emit),
            Format::Pressure => proc::pressure(text, emit),
            Format::NetDev => network::dev(text, emit),
            Format::NetSnmp => network::snmp(text, emit),
            Format::Pairs | Format::FileSystem => cgroup::pairs(text, emit),
            Format::Number => cgroup::number(text, emit),
            Format::CgroupIo => cgroup::io(text, emit),
            Format::CgroupBytes => cgroup::bytes(text, emit),
            Format::CgroupOperations => cgroup::operations(text, emit),
        }
    }

    pub(crate) fn has_devices(self) -> bool {
        self == Format::Diskstats
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::proc::tests::{DISKSTATS, PRESSURE, STAT};
    use super::values::tests::{Parser, parsed};
    use super::*;

    const ALL: [Parser; 11] = [
        proc::stat,
        proc::meminfo,
        proc::vmstat,
        proc::diskstats,
        proc::loadavg,
        proc::pressure,
        network::dev,
        network::snmp,
        cgroup::pairs,
        cgroup::number,
        cgroup::io,
    ];

    #[test]
    fn a_text_cut_anywhere_gives_finite_numbers() {
        for text in [STAT, DISKSTATS, PRESSURE] {
            for end in 0..text.len() {
                for parser in ALL {
                    let values = parsed(parser, &text[..end]);
                    assert!(values.iter().all(|(_, _, value)| value.is_finite()));
                }
            }
        }
    }

    proptest! {
        #[test]
        fn any_text_gives_finite_numbers(
            text in "(cpu|ctxt|some|full|total=|Tcp:|eth0:|8:0 rbytes=|nr_dirty|vda|kB|:|[0-9]{1,25}|nan|-1|\\PC| |\n){0,60}"
        ) {
            for parser in ALL {
                let values = parsed(parser, &text);
                prop_assert!(values.iter().all(|(_, _, value)| value.is_finite()));
            }
        }
    }
}
