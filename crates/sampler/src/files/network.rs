//! Parsers for the files of `/proc/net`.
//!
//! Enters: the text of one file. Leaves: (object, name, value) one by one, raw. Never: fails; a
//! malformed line is skipped.

use crate::files::values::{Emit, columns};

/// `net/dev`: bytes, packets, errors and drops of each interface with traffic.
pub(crate) fn dev(text: &str, emit: Emit<'_>) {
    const RECEIVED: [&str; 4] = ["rx_bytes", "rx_packets", "rx_errors", "rx_drops"];
    const SENT: [&str; 4] = ["tx_bytes", "tx_packets", "tx_errors", "tx_drops"];
    for line in text.lines() {
        let Some((interface, counts)) = line.split_once(':') else {
            continue;
        };
        let words = || counts.split_ascii_whitespace();
        if words().all(|word| word == "0") {
            continue;
        }
        columns(interface.trim(), &RECEIVED, words(), emit);
        columns(interface.trim(), &SENT, words().skip(8), emit);
    }
}

/// `net/snmp`: segments that TCP sent, retransmitted and discarded, on the whole host.
pub(crate) fn snmp(text: &str, emit: Emit<'_>) {
    const WANTED: [&str; 6] = [
        "ActiveOpens",
        "PassiveOpens",
        "CurrEstab",
        "OutSegs",
        "RetransSegs",
        "InErrs",
    ];
    let mut lines = text.lines().filter_map(|line| line.strip_prefix("Tcp:"));
    let (Some(names), Some(counts)) = (lines.next(), lines.next()) else {
        return;
    };
    let pairs = names
        .split_ascii_whitespace()
        .zip(counts.split_ascii_whitespace());
    for (name, count) in pairs.filter(|(name, _)| WANTED.contains(name)) {
        columns("tcp", &[name], [count].into_iter(), emit);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::files::values::tests::{parsed, value};

    const DEV: &str = "\
Inter-|   Receive                                                |  Transmit
 face |bytes    packets errs drop fifo frame compressed multicast|bytes    packets errs drop fifo colls carrier compressed
    lo: 1000      10    0    0    0     0          0         0     1000      10    0    0    0     0       0          0
  eth0:5000 50 1 2 0 0 0 0 7000 70 3 4 0 0 0 0
 dummy: 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0
";
    const SNMP: &str = "\
Ip: Forwarding DefaultTTL
Ip: 1 64
Tcp: RtoAlgorithm RtoMin RtoMax MaxConn ActiveOpens PassiveOpens AttemptFails EstabResets CurrEstab InSegs OutSegs RetransSegs InErrs OutRsts InCsumErrors
Tcp: 1 200 120000 -1 105 103 0 2 4 100 200 7 0 3 0
";

    #[test]
    fn interfaces_without_traffic_are_left_out() {
        let values = parsed(dev, DEV);
        assert_eq!(value(&values, "eth0", "rx_drops"), Some(2.0));
        assert_eq!(value(&values, "eth0", "tx_bytes"), Some(7000.0));
        assert_eq!(value(&values, "lo", "tx_packets"), Some(10.0));
        assert_eq!(values.len(), 16);
    }

    #[test]
    fn retransmits_are_found_by_their_name() {
        let values = parsed(snmp, SNMP);
        assert_eq!(value(&values, "tcp", "RetransSegs"), Some(7.0));
        assert_eq!(values.len(), 6);
        assert!(parsed(snmp, "Tcp: RetransSegs\n").is_empty());
    }
}
