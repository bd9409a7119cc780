//! Values of script variables and expressions, with pgbench's rules of conversion.
//!
//! Enters: results of expressions, settings of the configuration. Leaves: numbers, and the text
//! that goes to the server. Never: loses a fraction or a sign silently, except where pgbench
//! rounds (a double used as an integer).

use std::fmt;
use std::io::Write;

/// An error of the script while it runs: the transaction fails and is counted.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct Fault {
    message: String,
    /// Whether the message shows the content of a variable.
    pub shows_value: bool,
}

impl Fault {
    pub(crate) fn new(message: impl Into<String>) -> Fault {
        Fault {
            message: message.into(),
            shows_value: false,
        }
    }

    /// A fault whose message shows the content of a variable, or what was computed from it.
    pub(crate) fn with_value(message: impl Into<String>) -> Fault {
        Fault {
            shows_value: true,
            ..Fault::new(message)
        }
    }
}

/// The result of an expression.
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
                    Err(Fault::with_value(format!(
                        "double to int overflow for {}",
                        decimal(rounded)
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

    /// Whether the value is true as a condition: numbers except 0 are, NULL is not.
    #[must_use]
    pub fn is_true(self) -> bool {
        match self {
            Value::Null => false,
            Value::Bool(value) => value,
            Value::Int(value) => value != 0,
            Value::Double(value) => value != 0.0,
        }
    }

    /// Type and value, as `debug` shows them.
    #[must_use]
    pub fn described(self) -> String {
        match self {
            Value::Null => "null".to_owned(),
            _ => format!("{} {}", self.type_name(), Text(self)),
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
            Value::Int(value) => output.write_all(itoa::Buffer::new().format(value).as_bytes()),
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

/// As C's `%f` writes it.
#[must_use]
pub fn decimal(value: f64) -> String {
    if value.is_finite() {
        format!("{value:.6}")
    } else {
        Text(Value::Double(value)).to_string()
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
}
