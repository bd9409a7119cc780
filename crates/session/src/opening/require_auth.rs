//! libpq's `require_auth`: which authentication methods are accepted.
//!
//! Enters: the parameter's text, and the method that a server asks for. Leaves: whether it is
//! accepted. Never: authenticates.

/// The methods that libpq knows.
const KNOWN: &[&str] = &[
    "password",
    "md5",
    "gss",
    "sspi",
    "scram-sha-256",
    "oauth",
    "none",
];

/// Whether `text`, a list of accepted methods or of refused ones (each after `!`), allows `method`.
pub(crate) fn allows(text: &str, method: &str) -> Result<bool, String> {
    if text.is_empty() {
        return Ok(true);
    }
    let words: Vec<&str> = text.split(',').map(str::trim).collect();
    let negated = words.iter().filter(|word| word.starts_with('!')).count();
    if negated != 0 && negated != words.len() {
        return Err(format!(
            "require_auth={text} mixes methods with and without an exclamation mark"
        ));
    }
    for word in &words {
        let name = word.trim_start_matches('!');
        if !KNOWN.contains(&name) {
            return Err(format!(
                "require_auth={text}: \"{name}\" is none of {}",
                KNOWN.join(", ")
            ));
        }
    }
    let is_listed = words
        .iter()
        .any(|word| word.trim_start_matches('!') == method);
    Ok(is_listed != (negated > 0))
}

#[cfg(test)]
mod tests {
    use super::allows;

    #[test]
    fn a_list_allows_what_it_names_and_a_negated_one_all_else() {
        assert_eq!(allows("", "md5"), Ok(true));
        assert_eq!(allows("md5, scram-sha-256", "md5"), Ok(true));
        assert_eq!(allows("scram-sha-256", "none"), Ok(false));
        assert_eq!(allows("!password,!md5", "md5"), Ok(false));
        assert_eq!(allows("!password,!md5", "scram-sha-256"), Ok(true));
        assert!(allows("md5,!none", "md5").is_err());
        assert!(allows("md6", "md5").is_err());
    }
}
