//! Tests of whole scripts.

use proptest::prelude::*;

use super::*;
use crate::random::Seeds;

fn check(text: &str) -> Result<Vec<String>, String> {
    check_script("pay.sql", text.as_bytes(), false, false, &[]).map_err(|error| error.to_string())
}

fn error(text: &str) -> String {
    check(text).expect_err(text)
}

#[test]
fn variables_that_nothing_sets_are_named_once_in_order() {
    for (text, expected) in [
        (
            "\\set aid random(1, :naccounts * :scale)\n\
             SELECT :aid, :tid, :scale, :client_id, :random_seed; \\set tid :scale",
            &["naccounts", "scale"][..],
        ),
        ("SELECT ':quoted' /* :comment */;", &[]),
        ("SELECT 1 AS a \\gset\nSELECT :a, :b;", &[]),
        ("SELECT 1 AS a \\gset p_\nSELECT :p_a, :b;", &["b"]),
        ("\\sleep :pause ms", &["pause"]),
        ("\\if :flag\n\\elif :other\n\\endif", &["flag", "other"]),
    ] {
        assert_eq!(check(text).unwrap(), expected, "{text}");
    }
}

#[test]
fn statements_are_listed_as_they_are_prepared() {
    let text = "\\set id 1\n\
                SELECT ':id', x::text FROM t WHERE id = :id AND ref = :id; -- none\n\
                BEGIN;\\if :id\nSELECT 2 \\gset\n\\endif";
    let expected = [
        (
            2,
            "SELECT ':id', x::text FROM t WHERE id = $1 AND ref = $2;",
        ),
        (3, "BEGIN;"),
        (4, "SELECT 2"),
    ];
    let found = script_statements("pay.sql", text.as_bytes(), false).unwrap();
    let found: Vec<_> = found
        .iter()
        .map(|(line, sql)| (*line, shown(sql)))
        .collect();
    let expected = expected.map(|(line, sql)| (line, sql.into()));
    assert_eq!(found, expected);
}

#[test]
fn a_script_in_any_encoding_keeps_its_bytes() {
    let text = b"-- \xe9\n\\set \xe9 1\nSELECT '\xc0\xc1', :\xe9, \"\xf1\xff\";\n";
    let found = script_statements("pay.sql", text, false).unwrap();
    assert_eq!(
        found,
        [(3, b"SELECT '\xc0\xc1', $1, \"\xf1\xff\";".to_vec())]
    );
    let wrong = [&text[..], b"\\set x :\xe8 +"].concat();
    let error = check_script("pay.sql", &wrong, false, false, &[]).unwrap_err();
    assert!(
        error.to_string().starts_with("pay.sql:4:12: syntax error"),
        "{error}"
    );
}

#[test]
fn errors_name_file_line_column_and_reason() {
    for (text, expected) in [
        ("", "1:1: empty command list; add a command to the script"),
        (
            "END;\n \\foo",
            "2:3: invalid command \\foo; the commands of a script are \\set, \\gset, \\aset, \\if, \\elif, \
             \\else, \\endif, \\sleep, \\startpipeline, \\syncpipeline, \\endpipeline, \\shell, \\setshell",
        ),
        ("\\gset", "1:1: \\gset must follow an SQL command"),
        (
            "SELECT 1 \\gset\n\\gset",
            "2:1: \\gset must follow an SQL command",
        ),
        (
            "\\set x 1\n\\aset",
            "2:1: \\aset must follow an SQL command",
        ),
        (
            "SELECT 1 \\gset a b",
            "1:18: too many arguments in command \"gset\"",
        ),
        ("\\set", "1:2: missing argument in command \"set\""),
        (
            "\\set 1x 5",
            "1:6: invalid variable name: \"1x\"; use letters, digits and _, no digit first",
        ),
        (
            "\\set x",
            "1:7: syntax error: expected a value but found the end of the command",
        ),
        (
            "\n\\set x 1 \\\n + \\\n )",
            "4:2: syntax error: expected a value but found \")\"",
        ),
        ("\\set \\\n x \\\n 1 $", "3:4: unexpected character ($)"),
        (
            "SELECT 1;\nSELECT 'a",
            "2:8: the string that begins here is not closed",
        ),
        ("\\sleep", "1:2: missing argument in command \"sleep\""),
        (
            "\\sleep x",
            "1:8: invalid sleep time, must be an integer (x)",
        ),
        (
            "\\sleep 5x ms",
            "1:8: invalid sleep time, must be an integer (5x)",
        ),
        (
            "\\sleep 10min",
            "1:10: unrecognized time unit, must be us, ms or s (min)",
        ),
        (
            "\\sleep 1 ms 2",
            "1:13: too many arguments in command \"sleep\"",
        ),
        ("\\if true\nEND;", "2:5: \\if without matching \\endif"),
        ("\\else", "1:1: \\else without matching \\if"),
        ("\\elif 1", "1:1: \\elif without matching \\if"),
        ("\\endif", "1:1: \\endif without matching \\if"),
        ("\\if 1\n\\else\n\\else", "3:1: \\else after \\else"),
        ("\\if 1\n\\else\n\\elif 2", "3:1: \\elif after \\else"),
        (
            "\\if 1\n\\endif x",
            "2:8: unexpected argument in command \"endif\"",
        ),
        (
            "END;\n\\shell true",
            "2:1: \\shell and \\setshell run programs on this machine; allow them with --allow-shell",
        ),
    ] {
        assert_eq!(error(text), format!("pay.sql:{expected}"), "{text}");
    }
}

#[test]
fn a_variable_in_quotes_is_refused_where_parameters_are_bound() {
    let refusal = |text: &str| {
        let checked = check_script("pay.sql", text.as_bytes(), false, true, &[]);
        checked.map_err(|error| error.to_string()).err()
    };
    for text in [
        "\\set x 1\nSELECT ':x';",
        "SELECT ':x' \\gset",
        "SELECT 1 AS x \\aset\nSELECT $$ :x $$;",
        "SELECT 1 AS x \\gset p_\nSELECT \":p_x\";",
        "SELECT ':client_id';",
        "SELECT ':scale';",
    ] {
        let problem = refusal(text).expect(text);
        let advice = "in the simple protocol only; write it outside of the quotes, joined with ||";
        assert!(problem.contains(advice), "{problem}");
        let is_certain = !(text.ends_with("gset") || text.contains("aset"));
        assert_eq!(
            problem.contains("give each \\gset"),
            !is_certain,
            "{problem}"
        );
        assert!(check_script("pay.sql", text.as_bytes(), false, false, &[]).is_ok());
    }
    for text in [
        "SELECT '{\"a\":true}', ':y' /* :y */;",
        "SELECT 1 AS x \\gset p_\nSELECT ':x';",
        "SELECT 1 AS x \\gset\nSELECT '12:30', 'a: b', 'c::text', $$ x := 1 $$ -- :x\n;",
    ] {
        assert_eq!(refusal(text), None, "{text}");
    }
}

#[test]
fn scripts_of_every_kind_of_command_parse() {
    for text in [
        "\\set aid random(1, 100000 * :scale)\nBEGIN;\n\
         UPDATE a SET b = b + :aid WHERE aid = :aid;\nEND;\n",
        "\\set x 1",
        ";",
        "/* nothing else */",
        "\\ set x 1\n\\\n\\SET Y :x",
        "\\if true\n\\if false\n\\else\n\\endif\n\\elif 1\n\\else\n\\endif",
        "\\sleep 10ms\n\\sleep :x us\n\\sleep 2\n\\set x 1",
        "\\startpipeline\nSELECT 1;\n\\syncpipeline\n\\endpipeline",
        "SELECT 1 \\; SELECT 2 \\aset p_\n",
    ] {
        assert_eq!(check(text).map(|unset| unset.len() < 2), Ok(true), "{text}");
    }
    let text = "\\shell echo :x ::y\n\\setshell x echo 1";
    assert!(check_script("x", text.as_bytes(), true, false, &[]).is_ok());
}

/// Runs the expressions of a script that parses; errors do not matter.
fn evaluate_all(script: &Script, names: &Names) {
    let mut variables = names.variables();
    let mut random = Seeds::derive(1, 1).script(0);
    let mut stack = Vec::new();
    for command in &script.commands {
        let expression = match &command.action {
            Action::Set { expression, .. } | Action::If(expression) | Action::Elif(expression) => {
                expression
            }
            _ => continue,
        };
        let value = expression.evaluate(&mut Context {
            names,
            variables: &variables,
            random: &mut random,
            stack: &mut stack,
            place: (0, 1),
        });
        assert!(stack.is_empty());
        if let (Action::Set { variable, .. }, Ok(value)) = (&command.action, value) {
            variables.set(*variable, Content::Value(value));
        }
    }
}

fn never_panics(text: &[u8]) {
    let mut names = Names::default();
    match Script::parse("x", text, true, &mut names) {
        Ok(script) => evaluate_all(&script, &names),
        Err(error) => assert!(error.to_string().starts_with("x:")),
    }
}

const LANGUAGE: [&str; 77] = [
    "\\set",
    "\\set x ",
    "\\if ",
    "\\elif ",
    "\\else\n",
    "\\endif\n",
    "\\gset",
    "\\aset p",
    "\\sleep ",
    "\\shell ",
    "\\setshell",
    "\\startpipeline\n",
    "\\endpipeline\n",
    "\\",
    "\\;",
    "\n",
    "\r\n",
    " ",
    ";",
    ":",
    ":x",
    ":{?x}",
    "x",
    "é",
    "'",
    "\"",
    "$",
    "$$",
    "$a$",
    "E'",
    "(",
    ")",
    "--",
    "/*",
    "*/",
    "1",
    "0.5",
    ".",
    "e",
    "-",
    "+",
    "*",
    "/",
    "%",
    "~",
    "<",
    ">>",
    "<<",
    "=",
    "|",
    "#",
    "&",
    "random(",
    "random_zipfian(",
    "hash(",
    "permute(",
    "least(",
    "debug",
    "int(",
    "sqrt(",
    ",",
    "not ",
    " and ",
    " or ",
    " is ",
    "null",
    "true",
    "create function",
    "begin",
    "case when ",
    " then ",
    " else ",
    " end",
    "9223372036854775807",
    "9223372036854775808",
    "1e308",
    "us",
];

const VALID: &str = "\\set a random(1, 100 * :scale)\n\\set b case when :a > 50 then 1.5 else null end\n\
    \\if :a is not null and not (:b isnull or false)\nSELECT :a, ':b' AS c \\gset p_\n\\elif :p_c % 3 = 1\n\
    \\sleep 10 us\n\\else\nSELECT 1\\; SELECT $$;$$, E'\\'' /* x */ \\aset\n\\endif\n\
    \\set h permute(hash(:a), 7, hash_fnv1a(~:a << 2, 5)) \\\n + abs(-3) -- 4\n\\startpipeline\nEND;\n\\endpipeline\n";

proptest! {
    // PROPTEST_CASES sets another number.
    #![proptest_config(ProptestConfig::with_cases(ProptestConfig::default().cases.max(512)))]

    #[test]
    fn arbitrary_text_never_panics(text in "\\PC{0,200}") {
        never_panics(text.as_bytes());
    }

    #[test]
    fn arbitrary_bytes_never_panic(
        parts in prop::collection::vec(
            (prop::sample::select(&LANGUAGE[..]), prop::collection::vec(any::<u8>(), 0..3)), 0..20
        )
    ) {
        let parts = parts.iter().map(|(word, bytes)| [word.as_bytes(), bytes].concat());
        never_panics(&parts.collect::<Vec<_>>().concat());
    }

    #[test]
    fn text_made_of_the_language_never_panics(
        parts in prop::collection::vec(prop::sample::select(&LANGUAGE[..]), 0..40)
    ) {
        never_panics(parts.concat().as_bytes());
    }

    #[test]
    fn expressions_made_of_the_language_never_panic(
        parts in prop::collection::vec(prop::sample::select(&LANGUAGE[31..]), 0..12)
    ) {
        never_panics(format!("\\set x {}\n\\set y :x + {}", parts.concat(), parts.concat()).as_bytes());
    }

    #[test]
    fn a_mutated_script_never_panics(
        edits in prop::collection::vec(
            (0..VALID.len(), 0usize..12, prop::sample::select(&LANGUAGE[..])), 1..6
        )
    ) {
        let mut text = VALID.to_owned();
        for (at, cut, with) in edits {
            let at = at.min(text.len());
            text.replace_range(at..(at + cut).min(text.len()), with);
            if !text.is_ascii() {
                break;
            }
        }
        never_panics(text.as_bytes());
    }

    #[test]
    fn numbers_at_the_edges_never_panic(
        left in edge(), right in edge(), third in edge(),
        operator in prop::sample::select(&["+", "-", "*", "/", "%", "<<", ">>", "&", "|", "#", "=", "<"][..]),
        function in prop::sample::select(&[
            "random", "random_gaussian", "random_exponential", "permute", "pow", "least", "hash",
        ][..]),
    ) {
        never_panics(format!("\\set x ({left}) {operator} ({right})").as_bytes());
        never_panics(format!("\\set x {function}({left}, {right})").as_bytes());
        never_panics(format!("\\set x {function}({left}, {right}, {third})").as_bytes());
        never_panics(format!("\\set x int({left}) + abs({right}) - -({third})").as_bytes());
    }
}

fn edge() -> impl Strategy<Value = String> {
    prop_oneof![
        any::<i64>().prop_map(|n| format!("({n})")),
        any::<i8>().prop_map(|n| n.to_string()),
        any::<f64>().prop_map(|n| format!("{:e}", if n.is_normal() { n } else { 0.5 })),
        Just("null".to_owned()),
        Just("true".to_owned()),
        Just("(0.0/0)".to_owned()),
        Just("(1/0.0)".to_owned()),
        Just("9223372036854775807".to_owned()),
        Just("-9223372036854775808".to_owned()),
    ]
}

#[test]
fn what_a_file_gives_is_known_and_refused_in_quotes_by_every_protocol() {
    let given = ["a".to_owned()];
    let check = |text: &str, binds| {
        check_script("x.sql", text.as_bytes(), false, binds, &given).map_err(|e| e.to_string())
    };
    for binds in [false, true] {
        let text = "\\set c :a + 1\nSELECT :a, :b, :c /* :a */;";
        assert_eq!(check(text, binds), Ok(vec!["b".to_owned()]));
        let refused = check("SELECT ':b :a';", binds).unwrap_err();
        assert!(
            refused.starts_with("x.sql:1:12: in quotes :a is not replaced"),
            "{refused}"
        );
    }
}
