//! The inputs of the recorder: its scope, and a running transaction.
//!
//! Enters: numbers of clients. Leaves: plain values. Never: counts.

/// The numbers of things to count.
#[derive(Debug, Clone, Copy, Default)]
pub struct Scope {
    pub scenarios: usize,
    /// Number of commands of scripts to measure; 0 if commands are not measured.
    pub commands: usize,
    pub latency_limit_ns: Option<i64>,
}

/// A running transaction.
#[derive(Debug, Clone, Copy, Default)]
pub struct Attempt {
    pub scenario: usize,
    /// The intended start, in an open loop.
    pub due_ns: Option<i64>,
    pub began_ns: i64,
    /// The slice in which it began.
    pub slice: Option<usize>,
    pub tries: u32,
}

impl Attempt {
    /// The time from which its latency limit counts.
    #[must_use]
    pub fn expected_ns(&self) -> i64 {
        self.due_ns.unwrap_or(self.began_ns)
    }
}
