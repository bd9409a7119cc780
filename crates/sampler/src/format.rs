//! The forms that a host's files have.
//!
//! Enters: a form by its name, a text. Leaves: the parser of that form, called. Never: opens a
//! file.

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
    /// A name and a number a line.
    Pairs,
    Number,
    CgroupIo,
    /// Version 1's I/O has a file for each of the two.
    CgroupBytes,
    CgroupOperations,
    /// Not a file that is read: the room of the file system that the path is in.
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

    pub(crate) fn tells_of_devices(self) -> bool {
        self == Format::Diskstats
    }
}
