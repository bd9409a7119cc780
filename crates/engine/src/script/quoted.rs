//! Variables in quotes, which only the simple protocol can replace, and there only some.
//!
//! Enters: a statement, and the variables that something sets. Leaves: nothing, or the first one
//! that would not be replaced. Never: refuses text in quotes that only looks like a variable,
//! where that can be known.

use std::collections::BTreeSet;

use pgassay_session::shown;

use super::{Piece, Problem, Slot, SqlContext, Statement};

/// The variables that something sets.
#[derive(Debug, Default)]
pub struct Known {
    pub slots: BTreeSet<Slot>,
    /// Columns of results set variables too, so that it may be any.
    pub may_be_any: bool,
    /// Those that the scenario's file of parameters gives.
    pub given: BTreeSet<Slot>,
}

impl Known {
    /// Within quotes the server reads a parameter as text.
    pub fn refuse_quoted(&self, statement: &Statement) -> Result<(), Problem> {
        self.refuse_given_in_quotes(statement)?;
        for piece in &statement.pieces {
            if let Piece::Variable {
                slot,
                name,
                offset,
                within: SqlContext::Quotes,
            } = piece
                && (self.may_be_any || self.slots.contains(slot))
            {
                let advice = if self.slots.contains(slot) {
                    ""
                } else {
                    "; if it is no variable, give each \\gset and \\aset a prefix"
                };
                let problem = format!(
                    "in quotes :{name} is replaced in the simple protocol only; write it outside \
                     of the quotes, joined with ||, or use the simple protocol (-M simple){advice}",
                    name = shown(name),
                );
                return Err(Problem::new(*offset, problem));
            }
        }
        Ok(())
    }

    /// A literal within quotes would be no literal, so no protocol replaces those of a file.
    pub fn refuse_given_in_quotes(&self, statement: &Statement) -> Result<(), Problem> {
        for piece in &statement.pieces {
            if let Piece::Variable {
                slot,
                name,
                offset,
                within: SqlContext::Quotes,
            } = piece
                && self.given.contains(slot)
            {
                let problem = format!(
                    "in quotes :{name} is not replaced, because a file of parameters gives it; \
                     write it outside of the quotes, joined with ||",
                    name = shown(name),
                );
                return Err(Problem::new(*offset, problem));
            }
        }
        Ok(())
    }
}
