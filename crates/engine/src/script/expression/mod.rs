//! Compiled expressions and their evaluation.
//!
//! Enters: a tree from `parse`, the variables and random numbers of one client. Leaves: a value
//! or an error of the script. Never: allocates once its stack has grown, except for an error.

mod function;
mod hash;
mod parse;
pub(super) mod token;
mod value;

use super::variables::{Names, Slot, Variables};
use crate::random::Random;
use function::{Function, apply};
pub(super) use parse::parse_expression;
pub use value::{Fault, Value};

#[derive(Debug, Clone, PartialEq)]
pub enum Expression {
    Constant(Value),
    Variable(Slot),
    Call(Function, Box<[Expression]>),
    And(Box<[Expression; 2]>),
    Or(Box<[Expression; 2]>),
    Case {
        /// Conditions, each with its result.
        branches: Box<[[Expression; 2]]>,
        otherwise: Box<Expression>,
    },
}

/// The inputs of an evaluation for one client.
pub struct Context<'a> {
    pub names: &'a Names,
    pub variables: &'a Variables,
    pub random: &'a mut Random,
    /// Arguments of the calls being evaluated.
    pub stack: &'a mut Vec<Value>,
    /// Numbers of the script and the command, which `debug` shows.
    pub place: (usize, usize),
}

impl Expression {
    pub fn evaluate(&self, context: &mut Context<'_>) -> Result<Value, Fault> {
        match self {
            Expression::Constant(value) => Ok(*value),
            Expression::Variable(slot) => context.variables.value(*slot, context.names),
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
                let result = apply(*function, arguments, context.random, context.place);
                context.stack.truncate(base);
                result
            }
            Expression::And(sides) => junction(sides, false, context),
            Expression::Or(sides) => junction(sides, true, context),
            Expression::Case {
                branches,
                otherwise,
            } => {
                for [condition, result] in branches {
                    if condition.evaluate(context)?.is_true() {
                        return result.evaluate(context);
                    }
                }
                otherwise.evaluate(context)
            }
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
            Expression::Case {
                branches,
                otherwise,
            } => {
                for part in branches.iter().flatten() {
                    part.variables(visit);
                }
                otherwise.variables(visit);
            }
        }
    }
}

/// AND and OR as in pgbench, which differs from SQL: NULL on the left is the result whatever the
/// right side is. `decisive` is the value of the left side that decides the result.
fn junction(
    sides: &[Expression; 2],
    decisive: bool,
    context: &mut Context<'_>,
) -> Result<Value, Fault> {
    let [left, right] = sides;
    let left = left.evaluate(context)?;
    if left == Value::Null || left.to_bool()? == decisive {
        return Ok(left);
    }
    let right = right.evaluate(context)?;
    if right != Value::Null {
        right.to_bool()?;
    }
    Ok(right)
}
