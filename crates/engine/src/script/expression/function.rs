//! The functions and operators of expressions.
//!
//! Enters: evaluated arguments. Leaves: a value or an error of the script. Never: parses; AND, OR
//! and CASE, which may leave an argument unevaluated, are in `expression`.

use super::hash;
use super::value::{Fault, Value, decimal};
use crate::random::{GAUSSIAN_MIN, Random, ZIPFIAN_RANGE};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Function {
    Add,
    Subtract,
    Multiply,
    Divide,
    Modulo,
    Equal,
    NotEqual,
    Less,
    LessOrEqual,
    BitAnd,
    BitOr,
    BitXor,
    ShiftLeft,
    ShiftRight,
    Not,
    Is,
    Abs,
    Debug,
    Double,
    Exp,
    Greatest,
    HashFnv1a,
    HashMurmur2,
    Int,
    Least,
    Ln,
    Permute,
    Pi,
    Power,
    Random,
    RandomExponential,
    RandomGaussian,
    RandomZipfian,
    Sqrt,
}

/// A function that a script can call by its name.
pub struct Named {
    pub name: &'static str,
    pub function: Function,
    pub least_arguments: usize,
    pub most_arguments: usize,
    /// Whether an omitted last argument is `:default_seed`.
    pub is_seeded: bool,
}

/// The most arguments of a function, as in pgbench.
const MANY: usize = 16;

const fn named(name: &'static str, function: Function, least: usize, most: usize) -> Named {
    Named {
        name,
        function,
        least_arguments: least,
        most_arguments: most,
        is_seeded: false,
    }
}

const fn seeded(name: &'static str, function: Function, most: usize) -> Named {
    Named {
        name,
        function,
        least_arguments: most - 1,
        most_arguments: most,
        is_seeded: true,
    }
}

impl Named {
    /// Checks the number of arguments.
    pub fn check_arguments(&self, count: usize) -> Result<(), String> {
        if (self.least_arguments..=self.most_arguments).contains(&count) {
            return Ok(());
        }
        let name = self.name;
        Err(if self.most_arguments < MANY {
            let wanted = match (self.least_arguments, self.most_arguments) {
                (least, most) if least < most => format!("{least} or {most}"),
                (_, most) => most.to_string(),
            };
            format!("unexpected number of arguments ({name}): it takes {wanted}, not {count}")
        } else if count == 0 {
            format!("at least one argument expected ({name})")
        } else {
            format!("too many function arguments, maximum is {MANY}")
        })
    }
}

pub const FUNCTIONS: [Named; 21] = [
    named("abs", Function::Abs, 1, 1),
    named("debug", Function::Debug, 1, 1),
    named("double", Function::Double, 1, 1),
    named("exp", Function::Exp, 1, 1),
    named("greatest", Function::Greatest, 1, MANY),
    seeded("hash", Function::HashMurmur2, 2),
    seeded("hash_fnv1a", Function::HashFnv1a, 2),
    seeded("hash_murmur2", Function::HashMurmur2, 2),
    named("int", Function::Int, 1, 1),
    named("least", Function::Least, 1, MANY),
    named("ln", Function::Ln, 1, 1),
    named("mod", Function::Modulo, 2, 2),
    seeded("permute", Function::Permute, 3),
    named("pi", Function::Pi, 0, 0),
    named("pow", Function::Power, 2, 2),
    named("power", Function::Power, 2, 2),
    named("random", Function::Random, 2, 2),
    named("random_exponential", Function::RandomExponential, 3, 3),
    named("random_gaussian", Function::RandomGaussian, 3, 3),
    named("random_zipfian", Function::RandomZipfian, 3, 3),
    named("sqrt", Function::Sqrt, 1, 1),
];

pub fn find(name: &[u8]) -> Option<&'static Named> {
    FUNCTIONS
        .iter()
        .find(|function| function.name.as_bytes().eq_ignore_ascii_case(name))
}

/// Applies `function`; the parser has checked the number of arguments.
pub fn apply(
    function: Function,
    arguments: &[Value],
    random: &mut Random,
    place: (usize, usize),
) -> Result<Value, Fault> {
    // As in pgbench, a NULL argument makes the result NULL, whatever the function.
    let sees_null = matches!(function, Function::Is | Function::Debug);
    if !sees_null && arguments.contains(&Value::Null) {
        return Ok(Value::Null);
    }
    let argument = |index: usize| arguments.get(index).copied().unwrap_or(Value::Null);
    let (first, second) = (argument(0), argument(1));
    match function {
        Function::Add
        | Function::Subtract
        | Function::Multiply
        | Function::Divide
        | Function::Equal
        | Function::NotEqual
        | Function::Less
        | Function::LessOrEqual => arithmetic(function, first, second),
        // Always of integers, unlike the other four.
        Function::Modulo => integers(function, first.to_int()?, second.to_int()?),
        Function::BitAnd
        | Function::BitOr
        | Function::BitXor
        | Function::ShiftLeft
        | Function::ShiftRight => bits(function, first.to_int()?, second.to_int()?),
        Function::Not => Ok(Value::Bool(!first.to_bool()?)),
        Function::Is => Ok(Value::Bool(first == second)),
        Function::Abs => match first {
            Value::Double(value) => Ok(Value::Double(value.abs())),
            // The least integer is its own absolute value, as in pgbench.
            _ => Ok(Value::Int(first.to_int()?.wrapping_abs())),
        },
        Function::Debug => {
            let (script, command) = place;
            eprintln!(
                "debug(script={script},command={command}): {}",
                first.described()
            );
            Ok(first)
        }
        Function::Double => Ok(Value::Double(first.to_double()?)),
        Function::Int => Ok(Value::Int(first.to_int()?)),
        Function::Exp => Ok(Value::Double(first.to_double()?.exp())),
        Function::Ln => Ok(Value::Double(first.to_double()?.ln())),
        Function::Sqrt => Ok(Value::Double(first.to_double()?.sqrt())),
        Function::Pi => Ok(Value::Double(std::f64::consts::PI)),
        Function::Power => Ok(Value::Double(first.to_double()?.powf(second.to_double()?))),
        // Comparisons and not `min`, which would leave NaN out.
        Function::Least => extreme(arguments, i64::min, |a, b| if a < b { a } else { b }),
        Function::Greatest => extreme(arguments, i64::max, |a, b| if a > b { a } else { b }),
        Function::HashFnv1a => Ok(Value::Int(hash::fnv1a(first.to_int()?, second.to_int()?))),
        Function::HashMurmur2 => Ok(Value::Int(hash::murmur2(first.to_int()?, second.to_int()?))),
        Function::Permute => {
            let (value, size) = (first.to_int()?, second.to_int()?);
            let seed = argument(2).to_int()?;
            if size <= 0 {
                return Err(Fault::new(
                    "permute size parameter must be greater than zero",
                ));
            }
            Ok(Value::Int(hash::permute(value, size, seed)))
        }
        Function::Random
        | Function::RandomExponential
        | Function::RandomGaussian
        | Function::RandomZipfian => draw(function, first, second, argument(2), random),
    }
}

/// Of doubles if either is one, else of integers.
fn arithmetic(function: Function, left: Value, right: Value) -> Result<Value, Fault> {
    let is_double = |value| matches!(value, Value::Double(_));
    if !is_double(left) && !is_double(right) {
        return integers(function, left.to_int()?, right.to_int()?);
    }
    let (left, right) = (left.to_double()?, right.to_double()?);
    Ok(match function {
        Function::Add => Value::Double(left + right),
        Function::Subtract => Value::Double(left - right),
        Function::Multiply => Value::Double(left * right),
        Function::Divide => Value::Double(left / right),
        Function::Equal => Value::Bool(left == right),
        Function::NotEqual => Value::Bool(left != right),
        Function::Less => Value::Bool(left < right),
        _ => Value::Bool(left <= right),
    })
}

fn integers(function: Function, left: i64, right: i64) -> Result<Value, Fault> {
    let (result, operation) = match function {
        Function::Add => (left.checked_add(right), "add"),
        Function::Subtract => (left.checked_sub(right), "sub"),
        Function::Multiply => (left.checked_mul(right), "mul"),
        Function::Divide | Function::Modulo if right == 0 => {
            return Err(Fault::new("division by zero"));
        }
        Function::Divide => (left.checked_div(right), "div"),
        // The remainder of the least integer by -1 is 0, not an overflow.
        Function::Modulo => (Some(left.wrapping_rem(right)), "mod"),
        Function::Equal => return Ok(Value::Bool(left == right)),
        Function::NotEqual => return Ok(Value::Bool(left != right)),
        Function::Less => return Ok(Value::Bool(left < right)),
        _ => return Ok(Value::Bool(left <= right)),
    };
    match result {
        Some(result) => Ok(Value::Int(result)),
        None => Err(Fault::new(format!("bigint {operation} out of range"))),
    }
}

fn bits(function: Function, left: i64, right: i64) -> Result<Value, Fault> {
    // Only the last six bits of the distance count, as on processors.
    let distance = right as u32;
    Ok(Value::Int(match function {
        Function::BitAnd => left & right,
        Function::BitOr => left | right,
        Function::BitXor => left ^ right,
        Function::ShiftLeft => left.wrapping_shl(distance),
        _ => left.wrapping_shr(distance),
    }))
}

fn extreme(
    arguments: &[Value],
    of_integers: fn(i64, i64) -> i64,
    of_doubles: fn(f64, f64) -> f64,
) -> Result<Value, Fault> {
    let (first, rest) = match arguments {
        [first, rest @ ..] => (*first, rest),
        [] => return Ok(Value::Null),
    };
    if arguments
        .iter()
        .any(|value| matches!(value, Value::Double(_)))
    {
        let mut result = first.to_double()?;
        for value in rest {
            result = of_doubles(result, value.to_double()?);
        }
        Ok(Value::Double(result))
    } else {
        let mut result = first.to_int()?;
        for value in rest {
            result = of_integers(result, value.to_int()?);
        }
        Ok(Value::Int(result))
    }
}

fn draw(
    function: Function,
    min: Value,
    max: Value,
    parameter: Value,
    random: &mut Random,
) -> Result<Value, Fault> {
    let (min, max) = (min.to_int()?, max.to_int()?);
    if min > max {
        return Err(Fault::new("empty range given to random"));
    }
    if max.checked_sub(min).is_none_or(|span| span == i64::MAX) {
        return Err(Fault::new("random range is too large"));
    }
    if function == Function::Random {
        return Ok(Value::Int(random.uniform(min, max)));
    }
    let parameter = parameter.to_double()?;
    let shown = || decimal(parameter);
    Ok(Value::Int(match function {
        Function::RandomGaussian => {
            if parameter < GAUSSIAN_MIN || parameter.is_nan() {
                return Err(Fault::with_value(format!(
                    "gaussian parameter must be at least {} (not {})",
                    decimal(GAUSSIAN_MIN),
                    shown()
                )));
            }
            random.gaussian(min, max, parameter)
        }
        Function::RandomZipfian => {
            if !ZIPFIAN_RANGE.contains(&parameter) {
                return Err(Fault::with_value(format!(
                    "zipfian parameter must be in range [{:.3}, {:.0}] (not {})",
                    ZIPFIAN_RANGE.start(),
                    ZIPFIAN_RANGE.end(),
                    shown()
                )));
            }
            random.zipfian(min, max, parameter)
        }
        _ => {
            if parameter <= 0.0 || parameter.is_nan() {
                return Err(Fault::with_value(format!(
                    "exponential parameter must be greater than zero (not {})",
                    shown()
                )));
            }
            random.exponential(min, max, parameter)
        }
    }))
}
