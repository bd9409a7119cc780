//! Tests of `parse`.

use super::*;
use crate::random::{Purpose, Random};
use crate::script::expression::Context;
use crate::script::value::{Content, Fault};

fn evaluate(text: &str) -> Result<Value, Fault> {
    let mut names = Names::default();
    let (x, y) = (names.slot("x"), names.slot("y"));
    names.slot("unset");
    let expression = parse_expression(text, 1, &mut names).expect(text);
    let mut variables = names.variables();
    variables.set(x, Content::Value(Value::Int(5)));
    variables.set(y, Content::Text("2.5".into()));
    expression.evaluate(&mut Context {
        variables: &variables,
        random: &mut Random::new(1, 0, Purpose::Script),
        stack: &mut Vec::new(),
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
        ("~5 + 1", Int(-5)),
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
        ("null and false", Bool(false)),
        ("true and null", Null),
        ("null or true", Bool(true)),
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
        ("abs(-9223372036854775808)", "bigint abs out of range"),
        ("int(1e20)", "double to int overflow for 1e+20"),
        ("(1 = 1) + 1", "cannot coerce boolean to int"),
        ("not 1", "cannot coerce int to boolean"),
        (
            ":unset + 1",
            "a variable is read before anything has set it",
        ),
        ("random(5, 1)", "empty range given to random: 5 to 1"),
        (
            "random(-9223372036854775808, 9223372036854775807)",
            "the range given to random is too large",
        ),
        (
            "random_gaussian(1, 9, 1.9)",
            "the parameter of random_gaussian must be at least 2, not 1.9",
        ),
        (
            "random_exponential(1, 9, 0)",
            "the parameter of random_exponential must be above 0, not 0",
        ),
        (
            "random_zipfian(1, 9, 1)",
            "the parameter of random_zipfian must be from 1.001 to 1000, not 1",
        ),
    ] {
        assert_eq!(evaluate(text), Err(Fault::new(expected)), "{text}");
    }
}

#[test]
fn what_is_no_expression_is_refused_with_a_reason() {
    for (text, expected) in [
        ("", "expected a value but found the end of the command"),
        ("1 +", "expected a value but found the end of the command"),
        ("1 2", "expected an operator but found 2"),
        ("(1", "expected \")\" but found the end of the command"),
        ("1)", "expected an operator but found \")\""),
        ("1 < 2 < 3", "expected an operator but found \"<\""),
        ("random(1)", "random() takes 2 arguments, not 1"),
        ("sqrt()", "sqrt() takes 1 argument, not 0"),
        ("least()", "least() takes 1 to 16 arguments, not 0"),
        (
            "nope(1)",
            "unknown function \"nope\"; a variable is written :nope",
        ),
        ("x + 1", "unknown function \"x\"; a variable is written :x"),
        (
            "9223372036854775808",
            "the integer 9223372036854775808 is out of range",
        ),
        ("1 is 2", "expected NULL, TRUE or FALSE but found 2"),
        ("case when true then 1 end", "CASE is not supported yet"),
        ("1 $ 2", "unexpected character '$'"),
    ] {
        let error = parse_expression(text, 1, &mut Names::default()).expect_err(text);
        assert_eq!(error.problem, expected, "{text}");
    }
}

#[test]
fn hostile_nesting_and_length_end_in_an_error() {
    let deep = "(".repeat(100_000);
    let signs = "-".repeat(100_000);
    let long = format!("1{}", " + 1".repeat(100_000));
    for text in [deep, signs, long] {
        assert!(parse_expression(&text, 1, &mut Names::default()).is_err());
    }
}
