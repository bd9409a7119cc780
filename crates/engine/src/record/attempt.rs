//! What the recorder is told beforehand: its scope, and a transaction under way.
//!
//! Enters: numbers of clients. Leaves: plain values. Never: counts.

/// What is to be counted.
#[derive(Debug, Clone, Copy, Default)]
pub struct Scope {
    pub scenarios: usize,
    /// Commands of scripts whose latency is measured; 0 if none is.
    pub commands: usize,
    pub latency_limit_ns: Option<i64>,
}

/// A transaction under way.
#[derive(Debug, Clone, Copy, Default)]
pub struct Attempt {
    pub scenario: usize,
    /// Its intended start, in an open loop.
    pub due_ns: Option<i64>,
    pub began_ns: i64,
    /// In which it began.
    pub slice: Option<usize>,
    pub tries: u32,
}

impl Attempt {
    /// From when on its latency limit counts.
    #[must_use]
    pub fn expected_ns(&self) -> i64 {
        self.due_ns.unwrap_or(self.began_ns)
    }
}
