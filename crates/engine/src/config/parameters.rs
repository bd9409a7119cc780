//! The parameters of a scenario: variables that the rows of a file give.
//!
//! Enters: names and order. Leaves: the same. Never: holds a value; the rows are given apart.

use serde::Deserialize;

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Parameters {
    /// The variables, in the order of the rows' columns.
    pub columns: Vec<String>,
    #[serde(default)]
    pub order: RowOrder,
    /// Whether texts of failures that may show a value are left out.
    #[serde(default = "yes")]
    pub private: bool,
}

fn yes() -> bool {
    true
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum RowOrder {
    /// Each transaction draws a row.
    #[default]
    Random,
    /// One row after the other, whichever client is next; after the last the first again.
    Sequential,
}
