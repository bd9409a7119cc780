//! What to do about a meta command that cannot be read.
//!
//! Enters: a problem, and the command. Leaves: the problem with advice, where the mistake is a
//! known one. Never: decides whether it is a mistake.

use super::problem::Problem;

const COMMANDS: [&str; 13] = [
    "set",
    "gset",
    "aset",
    "if",
    "elif",
    "else",
    "endif",
    "sleep",
    "startpipeline",
    "syncpipeline",
    "endpipeline",
    "shell",
    "setshell",
];

/// `text` is the command without its backslash, and begins at `offset` of the script.
pub fn advised(mut problem: Problem, text: &str, offset: usize) -> Problem {
    let name = text.split_ascii_whitespace().next().unwrap_or_default();
    let is = |known: &&str| name.eq_ignore_ascii_case(known);
    let is_behind = |mark: &str| {
        text.find(mark)
            .is_some_and(|at| offset + at <= problem.offset)
    };
    let advice = if is(&"setrandom") {
        "PostgreSQL 9.6 removed it: write \\set name random(1, 100)".to_owned()
    } else if is_behind("--") || is_behind("/*") {
        "a comment cannot follow a meta command: write it on a line of its own".to_owned()
    } else if text.trim_end().ends_with(';') {
        "a meta command ends with its line, without a semicolon".to_owned()
    } else if !COMMANDS.iter().any(is) {
        format!("the commands of a script are \\{}", COMMANDS.join(", \\"))
    } else {
        return problem;
    };
    problem.text = format!("{}; {advice}", problem.text);
    problem
}

#[cfg(test)]
mod tests {
    use crate::script::{Names, Script};

    #[test]
    fn known_mistakes_have_advice() {
        let comment = "a comment cannot follow a meta command: write it on a line of its own";
        let semicolon = "a meta command ends with its line, without a semicolon";
        for (script, advice) in [
            ("\\set x 1 -- note", comment),
            ("\\set x 1 -- (see there", comment),
            ("\\set x :y /* note */", comment),
            ("\\if 1 -- note\n\\endif", comment),
            ("\\if 1\n\\endif -- note", comment),
            ("\\sleep 1 ms -- note", comment),
            ("SELECT 1 \\gset -- note", comment),
            ("\\startpipeline -- note", comment),
            ("\\set x 1;", semicolon),
            ("\\sleep 1 ms;", semicolon),
            (
                "\\setrandom x 1 10",
                "PostgreSQL 9.6 removed it: write \\set name random(1, 100)",
            ),
            (
                "\\restrict a",
                "the commands of a script are \\set, \\gset, \\aset, ",
            ),
        ] {
            let mut names = Names::default();
            let problem = Script::parse("x.sql", script.as_bytes(), false, &mut names).unwrap_err();
            let problem = problem.to_string();
            assert!(
                problem.contains(&format!("; {advice}")),
                "{script}: {problem}"
            );
        }
        for script in ["\\set x 1 --2", "\\set x random(1, 2) --:x"] {
            assert!(
                Script::parse("x.sql", script.as_bytes(), false, &mut Names::default()).is_ok()
            );
        }
        let problem = Script::parse("x.sql", b"\\set x foo(1) --2", false, &mut Names::default());
        assert!(!problem.unwrap_err().to_string().contains(comment));
    }
}
