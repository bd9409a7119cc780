//! Raises the limit of open files for the connections of a load.
//!
//! Enters: a number of connections. Leaves: this process's soft limit raised where needed.
//! Never: lowers a limit, or touches the hard one.

use std::fs;

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

use crate::error::EngineError;

/// Files for event loops, samplers and anything else opened while the load runs.
const SPARE: u64 = 64;

pub fn make_room(connections: usize) -> Result<(), EngineError> {
    let in_use = fs::read_dir("/proc/self/fd").map_or(0, Iterator::count);
    let needed = (connections + in_use) as u64 + SPARE;
    let limits = getrlimit(Resource::Nofile);
    if limits.current.is_none_or(|current| current >= needed) {
        return Ok(());
    }
    let wanted = Rlimit {
        current: limits.maximum,
        maximum: limits.maximum,
    };
    let is_enough = limits.maximum.is_none_or(|maximum| maximum >= needed);
    if is_enough && setrlimit(Resource::Nofile, wanted).is_ok() {
        return Ok(());
    }
    Err(EngineError::Descriptors {
        connections,
        needed,
        limit: limits.maximum.or(limits.current).unwrap_or(0),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_soft_limit_is_raised_when_needed_and_the_hard_one_is_told() {
        let before = getrlimit(Resource::Nofile);
        let Some(maximum) = before.maximum else {
            return;
        };
        let soft = Rlimit {
            current: Some(256),
            ..before
        };
        setrlimit(Resource::Nofile, soft).unwrap();
        make_room(10).unwrap();
        make_room(200).unwrap();
        assert_eq!(getrlimit(Resource::Nofile).current, Some(maximum));
        let many = usize::try_from(maximum).unwrap();
        let error = make_room(many).unwrap_err().to_string();
        assert!(error.contains("ulimit -n"), "{error}");
    }
}
