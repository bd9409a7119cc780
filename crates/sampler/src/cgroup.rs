//! Numbers out of a control group's files.
//!
//! Enters: the text of one file, of version 1 or 2. Leaves: (object, name, value) one by one, raw.
//! Never: fails; a line that is not as it should be is passed over.

use crate::proc::{Emit, columns};

/// A name and a number a line: `cpu.stat`, `memory.events`, `memory.stat` and others.
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::proc::tests::{parsed, value};

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
    fn input_and_output_are_told_by_device() {
        let text = "254:0 rbytes=1 wbytes=2 rios=3 wios=4 dbytes=0 dios=0\n8:0 rbytes\n";
        let values = parsed(io, text);
        assert_eq!(value(&values, "254:0", "wbytes"), Some(2.0));
        assert_eq!(values.len(), 6);
    }
}
