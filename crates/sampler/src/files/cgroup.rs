//! Numbers out of a control group's files.
//!
//! Enters: the text of one file, of version 1 or 2. Leaves: (object, name, value) one by one, raw.
//! Never: fails; a malformed line is skipped.

use crate::files::values::{Emit, columns};

/// Lines of a name and a number: `cpu.stat`, `memory.events`, `memory.stat` and others.
pub(crate) fn pairs(text: &str, emit: Emit<'_>) {
    for line in text.lines() {
        let mut words = line.split_ascii_whitespace();
        if let Some(name) = words.next() {
            columns("", &[name], words, emit);
        }
    }
}

/// One number and nothing else: `memory.current`, `memory.usage_in_bytes`, `cpuacct.usage`.
pub(crate) fn number(text: &str, emit: Emit<'_>) {
    columns("", &["value"], text.split_ascii_whitespace(), emit);
}

/// `io.stat` of version 2: `MAJOR:MINOR rbytes=1 wbytes=2 rios=3 …`.
pub(crate) fn io(text: &str, emit: Emit<'_>) {
    for line in text.lines() {
        let mut words = line.split_ascii_whitespace();
        let Some(device) = words.next().filter(|word| word.contains(':')) else {
            continue;
        };
        for (name, count) in words.filter_map(|word| word.split_once('=')) {
            columns(device, &[name], [count].into_iter(), emit);
        }
    }
}

/// `blkio.throttle.io_service_bytes` of version 1, `MAJOR:MINOR Read 1` a line, under the names of
/// version 2.
pub(crate) fn bytes(text: &str, emit: Emit<'_>) {
    by_direction(text, ["rbytes", "wbytes", "dbytes"], emit);
}

/// `blkio.throttle.io_serviced` of version 1, likewise.
pub(crate) fn operations(text: &str, emit: Emit<'_>) {
    by_direction(text, ["rios", "wios", "dios"], emit);
}

fn by_direction(text: &str, names: [&str; 3], emit: Emit<'_>) {
    for line in text.lines() {
        let mut words = line.split_ascii_whitespace();
        let (Some(device), Some(direction)) = (words.next(), words.next()) else {
            continue;
        };
        // Sync, Async and Total count the same operations again.
        let which = ["Read", "Write", "Discard"]
            .iter()
            .position(|known| *known == direction);
        if let Some(which) = which {
            columns(device, &[names[which]], words, emit);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::files::values::tests::{parsed, value};

    #[test]
    fn throttling_is_read_in_both_versions() {
        let two = "usage_usec 900\nuser_usec 600\nnr_periods 9\nnr_throttled 3\nthrottled_usec 7\n";
        assert_eq!(value(&parsed(pairs, two), "", "throttled_usec"), Some(7.0));
        let one = "nr_periods 9\nnr_throttled 3\nthrottled_time 7000\n";
        assert_eq!(
            value(&parsed(pairs, one), "", "throttled_time"),
            Some(7000.0)
        );
    }

    #[test]
    fn a_single_number_is_a_value_and_max_is_none() {
        assert_eq!(value(&parsed(number, "4096\n"), "", "value"), Some(4096.0));
        assert!(parsed(number, "max\n").is_empty());
    }

    #[test]
    fn input_and_output_are_per_device() {
        let text = "254:0 rbytes=1 wbytes=2 rios=3 wios=4 dbytes=0 dios=0\n8:0 rbytes\n";
        let values = parsed(io, text);
        assert_eq!(value(&values, "254:0", "wbytes"), Some(2.0));
        assert_eq!(values.len(), 6);
    }

    #[test]
    fn version_1_has_the_names_of_version_2() {
        let text = "254:0 Read 10\n254:0 Write 655360\n254:0 Sync 655370\n254:0 Async 0\n\
                    254:0 Discard 3\n254:0 Total 655373\nTotal 655373\n8:0 Wri";
        let values = parsed(bytes, text);
        assert_eq!(value(&values, "254:0", "wbytes"), Some(655_360.0));
        assert_eq!(value(&values, "254:0", "dbytes"), Some(3.0));
        assert_eq!(values.len(), 3);
        assert_eq!(
            value(&parsed(operations, text), "254:0", "rios"),
            Some(10.0)
        );
    }
}
