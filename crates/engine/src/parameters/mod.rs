//! Parameters from files: rows of values that transactions take as variables.
//!
//! Enters: columns of a file, a part at a time; the order of the rows. Leaves: the row of each
//! transaction, in a client's variables. Never: shows a value, or copies the rows for a thread or
//! a client.

mod column;
mod rows;
mod supply;

pub use column::{ColumnPart, Kind, RowsProblem};
pub use rows::Rows;
pub use supply::{Ahead, Supply};
