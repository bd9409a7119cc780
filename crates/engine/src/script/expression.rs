//! Compiled expressions and their evaluation.
//!
//! Enters: a tree from `parse`, the variables and random numbers of one client. Leaves: a value
//! or a fault of the script. Never: allocates once its stack has grown, except for a fault.

use super::function::{Function, apply};
use super::value::{Content, Fault, Value};
use super::variables::{Slot, Variables};
use crate::random::Random;

#[derive(Debug, Clone, PartialEq)]
pub enum Expression {
    Constant(Value),
    Variable(Slot),
    Call(Function, Box<[Expression]>),
    And(Box<[Expression; 2]>),
    Or(Box<[Expression; 2]>),
}

/// What an evaluation reads and uses, all of one client.
pub struct Context<'a> {
    pub variables: &'a Variables,
    pub random: &'a mut Random,
    /// Arguments of calls under way.
    pub stack: &'a mut Vec<Value>,
}

impl Expression {
    pub fn evaluate(&self, context: &mut Context<'_>) -> Result<Value, Fault> {
        match self {
            Expression::Constant(value) => Ok(*value),
            Expression::Variable(slot) => context.variables.read(*slot).and_then(Content::to_value),
            Expression::Call(function, arguments) => {
                let base = context.stack.len();
                for argument in arguments {
                    match argument.evaluate(context) {
                        Ok(value) => context.stack.push(value),
                        Err(fault) => {
                            context.stack.truncate(base);
                            return Err(fault);
                        }
                    }
                }
                let arguments = context.stack.get(base..).unwrap_or_default();
                let result = apply(*function, arguments, context.random);
                context.stack.truncate(base);
                result
            }
            // SQL's three-valued logic; the right side is evaluated only if it matters.
            Expression::And(sides) => junction(sides, false, context),
            Expression::Or(sides) => junction(sides, true, context),
        }
    }

    /// Calls `visit` for every variable that the expression reads.
    pub fn variables(&self, visit: &mut impl FnMut(Slot)) {
        match self {
            Expression::Constant(_) => {}
            Expression::Variable(slot) => visit(*slot),
            Expression::Call(_, arguments) => {
                for argument in arguments {
                    argument.variables(visit);
                }
            }
            Expression::And(sides) | Expression::Or(sides) => {
                for side in sides.iter() {
                    side.variables(visit);
                }
            }
        }
    }
}

/// `decisive` is the value of one side that settles the result.
fn junction(
    sides: &[Expression; 2],
    decisive: bool,
    context: &mut Context<'_>,
) -> Result<Value, Fault> {
    let [left, right] = sides;
    let left = left.evaluate(context)?;
    if left == Value::Bool(decisive) {
        return Ok(left);
    }
    let left_is_null = left == Value::Null;
    if !left_is_null {
        left.to_bool()?;
    }
    let right = right.evaluate(context)?;
    if right == Value::Null {
        return Ok(Value::Null);
    }
    if right.to_bool()? == decisive {
        return Ok(right);
    }
    Ok(if left_is_null { Value::Null } else { right })
}
