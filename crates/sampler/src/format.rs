//! The formats of a host's files.
//!
//! Enters: a format by its name, a text. Leaves: values, by the parser of that format. Never:
//! opens a file.

use serde::Deserialize;

use crate::proc::{self, Emit};
use crate::{cgroup, network};

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
