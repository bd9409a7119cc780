//! Values of script variables and expressions, with pgbench's rules of conversion.
//!
//! Enters: results of expressions, settings of the configuration. Leaves: numbers, and the text
//! that goes to the server. Never: loses a fraction or a sign silently, except where pgbench
//! rounds (a double used as an integer).

use std::fmt;
use std::io::Write;

/// A script's own mistake while it runs: the transaction fails and is counted.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct Fault(pub String);

impl Fault {
    pub(crate) fn new(message: impl Into<String>) -> Fault {
        Fault(message.into())
    }
}

/// What an expression evaluates to.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Value {
    Null,
    Bool(bool),
    Int(i64),
    Double(f64),
}

impl Value {
    pub fn type_name(self) -> &'static str {
        match self {
            Value::Null => "null",
            Value::Bool(_) => "boolean",
            Value::Int(_) => "int",
            Value::Double(_) => "double",
        }
    }

    pub fn to_int(self) -> Result<i64, Fault> {
        match self {
            Value::Int(value) => Ok(value),
            Value::Double(value) => {
                let rounded = value.round_ties_even();
                // 2^63 is exact as a double, i64::MAX is not.
                const LIMIT: f64 = 9_223_372_036_854_775_808.0;
                if (-LIMIT..LIMIT).contains(&rounded) {
                    Ok(rounded as i64)
                } else {
                    Err(Fault::new(format!(
                        "double to int overflow for {}",
                        Text(self)
                    )))
                }
            }
            Value::Null | Value::Bool(_) => Err(self.cannot_become("int")),
        }
    }

    pub fn to_double(self) -> Result<f64, Fault> {
        match self {
            Value::Int(value) => Ok(value as f64),
            Value::Double(value) => Ok(value),
            Value::Null | Value::Bool(_) => Err(self.cannot_become("double")),
        }
    }

    pub fn to_bool(self) -> Result<bool, Fault> {
        match self {
            Value::Bool(value) => Ok(value),
            _ => Err(self.cannot_become("boolean")),
        }
    }

    fn cannot_become(self, wanted: &str) -> Fault {
        Fault::new(format!("cannot coerce {} to {wanted}", self.type_name()))
    }

    /// Appends the text pgbench would put into SQL.
    pub fn write_text(self, output: &mut Vec<u8>) {
        // Writing to a vector does not fail.
        let _ = match self {
            Value::Null => output.write_all(b"NULL"),
            Value::Bool(value) => output.write_all(if value { b"true" } else { b"false" }),
            Value::Int(value) => write!(output, "{value}"),
            Value::Double(value) => write_double(value, output),
        };
    }
}

/// Shows a value as its text.
struct Text(Value);

impl fmt::Display for Text {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut text = Vec::new();
        self.0.write_text(&mut text);
        f.write_str(&String::from_utf8_lossy(&text))
    }
}

/// 15 significant digits in C's `%g` form, which is how pgbench writes a double.
fn write_double(value: f64, output: &mut Vec<u8>) -> std::io::Result<()> {
    const DIGITS: i32 = 15;
    if value.is_nan() {
        return output.write_all(b"NaN");
    }
    if value.is_infinite() {
        return output.write_all(if value > 0.0 {
            b"Infinity"
        } else {
            b"-Infinity"
        });
    }
    let scientific = format!("{value:.*e}", DIGITS as usize - 1);
    let (mantissa, exponent) = scientific.split_once('e').unwrap_or((&scientific, "0"));
    let exponent: i32 = exponent.parse().unwrap_or(0);
    if (-4..DIGITS).contains(&exponent) {
        let decimals = usize::try_from(DIGITS - 1 - exponent).unwrap_or(0);
        let fixed = format!("{value:.decimals$}");
        output.write_all(without_trailing_zeros(&fixed).as_bytes())
    } else {
        let sign = if exponent < 0 { '-' } else { '+' };
        write!(
            output,
            "{}e{sign}{:02}",
            without_trailing_zeros(mantissa),
            exponent.abs()
        )
    }
}

fn without_trailing_zeros(number: &str) -> &str {
    if number.contains('.') {
        number.trim_end_matches('0').trim_end_matches('.')
    } else {
        number
    }
}

/// What a variable holds: an expression's result, or a text given from outside.
#[derive(Debug, Clone, PartialEq)]
pub enum Content {
    Value(Value),
    Text(Box<str>),
}

impl Content {
    /// The value in an expression; a text is read as pgbench reads the value of `-D`.
    pub fn to_value(&self) -> Result<Value, Fault> {
        match self {
            Content::Value(value) => Ok(*value),
            Content::Text(text) => {
                let word = text.trim();
                match word.to_ascii_lowercase().as_str() {
                    "null" => return Ok(Value::Null),
                    "true" | "on" | "yes" => return Ok(Value::Bool(true)),
                    "false" | "off" | "no" => return Ok(Value::Bool(false)),
                    _ => {}
                }
                if let Ok(value) = word.parse() {
                    return Ok(Value::Int(value));
                }
                let numeric = word
                    .bytes()
                    .all(|b| b.is_ascii_digit() || b"+-.eE".contains(&b));
                match word.parse() {
                    Ok(value) if numeric => Ok(Value::Double(value)),
                    _ => Err(Fault::new(format!("\"{text}\" is not a number"))),
                }
            }
        }
    }

    pub fn write_text(&self, output: &mut Vec<u8>) {
        match self {
            Content::Value(value) => value.write_text(output),
            Content::Text(text) => output.extend_from_slice(text.as_bytes()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(value: Value) -> String {
        Text(value).to_string()
    }

    #[test]
    fn doubles_are_written_as_c_writes_percent_g() {
        for (value, expected) in [
            (0.0, "0"),
            (-0.5, "-0.5"),
            (1.0 / 3.0, "0.333333333333333"),
            (100.0, "100"),
            (1e20, "1e+20"),
            (1.5e-7, "1.5e-07"),
            (0.0001, "0.0001"),
            (123_456_789_012_345.0, "123456789012345"),
            (1_234_567_890_123_456.0, "1.23456789012346e+15"),
            (0.1 + 0.2, "0.3"),
            (999_999_999_999_999.9, "1e+15"),
            (f64::INFINITY, "Infinity"),
        ] {
            assert_eq!(text(Value::Double(value)), expected);
        }
        assert_eq!(text(Value::Int(i64::MIN)), "-9223372036854775808");
        assert_eq!(text(Value::Bool(true)), "true");
    }

    #[test]
    fn a_double_becomes_the_nearest_integer_or_a_fault() {
        assert_eq!(Value::Double(7.5).to_int(), Ok(8));
        assert_eq!(Value::Double(6.5).to_int(), Ok(6));
        assert!(Value::Double(9.3e18).to_int().is_err());
        assert!(Value::Double(f64::NAN).to_int().is_err());
        assert!(Value::Bool(true).to_int().is_err());
        assert!(Value::Null.to_double().is_err());
    }

    #[test]
    fn a_given_text_is_read_by_its_form() {
        let read = |text: &str| Content::Text(text.into()).to_value();
        assert_eq!(read("12"), Ok(Value::Int(12)));
        assert_eq!(read(" 1e3"), Ok(Value::Double(1000.0)));
        assert_eq!(read("TRUE"), Ok(Value::Bool(true)));
        assert_eq!(read("null"), Ok(Value::Null));
        assert!(read("accounts").is_err());
        assert!(read("inf").is_err());
    }
}
