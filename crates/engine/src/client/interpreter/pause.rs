//! The duration of a script's `\sleep`.
//!
//! Enters: the pause in the script, a client's variables. Leaves: nanoseconds, or an error of the
//! script. Never: sleeps.

use pgassay_session::shown;

use crate::script::{Amount, Content, Fault, Names, Pause, Value, Variables, undefined};

pub fn duration_ns(pause: &Pause, names: &Names, variables: &Variables) -> Result<i64, Fault> {
    let amount = match pause.amount {
        Amount::Constant(amount) => amount,
        Amount::Variable(slot) => {
            let name = names.name(slot);
            let content = variables.get(slot).ok_or_else(|| undefined(name))?;
            leading_integer(content).map_err(|text| {
                let (text, name) = (shown(&text), shown(name));
                Fault::with_value(format!(
                    "invalid sleep time \"{text}\" for variable \"{name}\""
                ))
            })?
        }
    };
    Ok(amount.saturating_mul(pause.unit_ns))
}

/// The leading integer of a variable's text, as C's `atoi` reads it.
fn leading_integer(content: &Content) -> Result<i64, Vec<u8>> {
    if let Content::Value(Value::Int(value)) = content {
        return Ok(*value);
    }
    let mut text = Vec::new();
    content.write_text(&mut text);
    let word = text.trim_ascii_start();
    let digits = word.strip_prefix(b"-").unwrap_or(word);
    let digits: Vec<u8> = digits
        .iter()
        .copied()
        .take_while(u8::is_ascii_digit)
        .collect();
    let Ok(value) = String::from_utf8_lossy(&digits).parse::<i64>() else {
        return Err(text);
    };
    Ok(if word.starts_with(b"-") {
        -value
    } else {
        value
    })
}
