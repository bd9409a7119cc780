//! The values that the parsers of a host's files emit.
//!
//! Enters: words of a file. Leaves: (object, name, value) one by one, raw. Never: fails; a
//! malformed word ends its line.

/// Receives a parser's values: object, name, value.
pub(crate) type Emit<'a> = &'a mut dyn FnMut(&str, &str, f64);

/// Pairs names with whole numbers, up to the first word that is not a number.
pub(crate) fn columns<'a>(
    object: &str,
    names: &[&str],
    words: impl Iterator<Item = &'a str>,
    emit: Emit<'_>,
) {
    for (name, word) in names.iter().zip(words) {
        match word.parse::<u64>() {
            Ok(value) => emit(object, name, value as f64),
            Err(_) => return,
        }
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    pub(crate) type Parser = fn(&str, Emit<'_>);

    pub(crate) fn parsed(parser: Parser, text: &str) -> Vec<(String, String, f64)> {
        let mut values = Vec::new();
        parser(text, &mut |object, name, value| {
            values.push((object.to_owned(), name.to_owned(), value));
        });
        values
    }

    pub(crate) fn value(values: &[(String, String, f64)], object: &str, name: &str) -> Option<f64> {
        let mut found = values.iter().filter(|v| v.0 == object && v.1 == name);
        let value = found.next().map(|v| v.2);
        assert!(found.next().is_none(), "{object}/{name} twice");
        value
    }
}
