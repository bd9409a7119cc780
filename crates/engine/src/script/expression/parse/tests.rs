//! Tests of `parse`.

use super::*;
use crate::random::Seeds;
use crate::script::content::Content;
use crate::script::expression::{Context, Fault};

fn evaluate(text: &str) -> Result<Value, Fault> {
    let mut names = Names::default();
    let (x, y) = (names.slot(b"x"), names.slot(b"y"));
    names.slot(b"unset");
    names.slot(b"default_seed");
    let expression = parse_expression(text.as_bytes(), 0, &mut names).expect(text);
    let mut variables = names.variables();
    variables.set(x, Content::Value(Value::Int(5)));
    variables.set(y, Content::Text("2.5".into()));
    expression.evaluate(&mut Context {
        names: &names,
        variables: &variables,
        random: &mut Seeds::derive(1, 1).script(0),
        stack: &mut Vec::new(),
        place: (0, 1),
    })
}

#[test]
fn expressions_have_the_values_that_pgbench_gives_them() {
    use Value::{Bool, Double, Int, Null};
    for (text, expected) in [
        ("1 + 2 * 3", Int(7)),
        ("(1 + 2) * 3", Int(9)),
        ("10 - 4 - 3", Int(3)),
        ("-7 / 2", Int(-3)),
        ("-7 % 3", Int(-1)),
        ("7.5 % 2", Int(0)),
        ("7 / 2.0", Double(3.5)),
        ("- 2 * 3", Int(-6)),
        ("1 - -2", Int(3)),
        ("-9223372036854775808", Int(i64::MIN)),
        ("-9223372036854775808 % -1", Int(0)),
        ("1 / 0.0", Double(f64::INFINITY)),
        (":x * 2", Int(10)),
        (":x + :y", Double(7.5)),
        ("1 | 2 + 4 = 7", Bool(true)),
        ("~5 + 1", Int(-7)),
        ("~5 | 1", Int(-5)),
        ("1 is null is null", Bool(false)),
        ("6 & 3 # 1", Int(3)),
        ("1 << 4 >> 2", Int(4)),
        ("2 > 1 and 2 >= 2 and 1 <> 2 and 1 != 2", Bool(true)),
        ("1 = 1.0", Bool(true)),
        ("not 1 = 2", Bool(true)),
        ("not true or true", Bool(true)),
        ("null is null", Bool(true)),
        ("1 is not null", Bool(true)),
        ("1 < 2 is true", Bool(true)),
        ("null notnull", Bool(false)),
        ("null + 1", Null),
        ("null and false", Null),
        ("true and null", Null),
        ("null or true", Null),
        ("case when null then 1 when 2 then 3 else 4 end", Int(3)),
        ("case when 0.0 then 1 / 0 end", Null),
        ("1 << 65", Int(2)),
        ("abs(-9223372036854775808)", Int(i64::MIN)),
        ("false and 1 / 0 = 1", Bool(false)),
        ("abs(-5)", Int(5)),
        ("ABS(-1.5)", Double(1.5)),
        ("least(3, 1, 2)", Int(1)),
        ("greatest(3, 1.5)", Double(3.0)),
        ("int(2.5) + int(3.5)", Int(6)),
        ("double(3)", Double(3.0)),
        ("sqrt(16)", Double(4.0)),
        ("mod(7, 4)", Int(3)),
        ("pow(2, 10)", Double(1024.0)),
        ("random(3, 3)", Int(3)),
        ("random_zipfian(1, 1, 1.2)", Int(1)),
        ("1 \\\n + 1", Int(2)),
    ] {
        assert_eq!(evaluate(text), Ok(expected), "{text}");
    }
}

#[test]
fn a_mistake_at_run_time_is_a_fault_and_not_a_panic() {
    for (text, expected) in [
        ("1 / 0", "division by zero"),
        ("1 % 0", "division by zero"),
        ("9223372036854775807 + 1", "bigint add out of range"),
        ("-9223372036854775808 - 1", "bigint sub out of range"),
        ("9223372036854775807 * 2", "bigint mul out of range"),
        ("-9223372036854775808 / -1", "bigint div out of range"),
        ("-(-9223372036854775808)", "bigint sub out of range"),
        (
            "int(1e20)",
            "double to int overflow for 100000000000000000000.000000",
        ),
        ("(1 = 1) + 1", "cannot coerce boolean to int"),
        ("not 1", "cannot coerce int to boolean"),
        (":unset + 1", "undefined variable \"unset\""),
        ("random(5, 1)", "empty range given to random"),
        (
            "random(-9223372036854775808, 9223372036854775807)",
            "random range is too large",
        ),
        (
            "random_gaussian(1, 9, 1.9)",
            "gaussian parameter must be at least 2.000000 (not 1.900000)",
        ),
        (
            "random_exponential(1, 9, 0)",
            "exponential parameter must be greater than zero (not 0.000000)",
        ),
        (
            "random_zipfian(1, 9, 1)",
            "zipfian parameter must be in range [1.001, 1000] (not 1.000000)",
        ),
    ] {
        let problem = evaluate(text).map_err(|fault| fault.to_string());
        assert_eq!(problem, Err(expected.to_owned()), "{text}");
    }
}

#[test]
fn what_is_no_expression_is_refused_with_a_reason() {
    for (text, expected) in [
        (
            "",
            "syntax error: expected a value but found the end of the command",
        ),
        (
            "1 +",
            "syntax error: expected a value but found the end of the command",
        ),
        ("1 2", "syntax error: expected an operator but found 2"),
        (
            "(1",
            "syntax error: expected \")\" but found the end of the command",
        ),
        ("1)", "syntax error: expected an operator but found \")\""),
        (
            "1 < 2 < 3",
            "syntax error: expected an operator but found \"<\"",
        ),
        (
            "random(1)",
            "unexpected number of arguments (random): it takes 2, not 1",
        ),
        (
            "hash()",
            "unexpected number of arguments (hash): it takes 1 or 2, not 0",
        ),
        (
            "least(1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1)",
            "too many function arguments, maximum is 16",
        ),
        (
            "sqrt()",
            "unexpected number of arguments (sqrt): it takes 1, not 0",
        ),
        ("least()", "at least one argument expected (least)"),
        (
            "nope(1)",
            "unexpected function name (nope); a variable is written :nope",
        ),
        (
            "x + 1",
            "unexpected function name (x); a variable is written :x",
        ),
        (
            "9223372036854775808",
            "syntax error: expected a value but found 9223372036854775808",
        ),
        (
            "1 is 2",
            "syntax error: expected NULL, TRUE or FALSE but found 2",
        ),
        (
            "case when true then 1",
            "syntax error: expected END but found the end of the command",
        ),
        ("case 1 end", "syntax error: expected WHEN but found 1"),
        ("1 $ 2", "unexpected character ($)"),
    ] {
        let error = parse_expression(text.as_bytes(), 0, &mut Names::default()).expect_err(text);
        assert_eq!(error.text, expected, "{text}");
    }
}

#[test]
fn hostile_nesting_and_length_end_in_an_error() {
    let deep = "(".repeat(100_000);
    let signs = "-".repeat(100_000);
    let long = format!("1{}", " + 1".repeat(100_000));
    for text in [deep, signs, long] {
        assert!(parse_expression(text.as_bytes(), 0, &mut Names::default()).is_err());
    }
}
