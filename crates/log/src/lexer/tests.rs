//! Templates and constants of texts.

use super::*;

fn of(text: &str) -> (String, Vec<String>) {
    let mut scanned = Scanned::default();
    scan(text.as_bytes(), &mut scanned);
    let template = String::from_utf8_lossy(&scanned.template).replace('\u{1}', "?");
    let value = |constant: &Constant| {
        let text = &scanned.values[constant.begin..constant.end];
        String::from_utf8_lossy(text).into_owned()
    };
    (template, scanned.constants.iter().map(value).collect())
}

fn check(text: &str, template: &str, values: &[&str]) {
    let (found, constants) = of(text);
    assert_eq!(found, template, "{text}");
    assert_eq!(constants, values, "{text}");
}

#[test]
fn constants_of_all_kinds_are_taken_out() {
    check(
        "SELECT  a FROM t\n WHERE b = 'it''s' ;",
        "SELECT a FROM t WHERE b = ?",
        &["it's"],
    );
    check(r"SELECT E'a\n\x41\u00e9\''", "SELECT ?", &["a\nAé'"]);
    check(
        "SELECT $$it's$$, $x$ $$ $x$",
        "SELECT ?, ?",
        &["it's", " $$ "],
    );
    check(
        "SELECT 1, 2.5e-3, .5, 0x1F, 1_000",
        "SELECT ?, ?, ?, ?, ?",
        &["1", "2.5e-3", ".5", "0x1F", "1_000"],
    );
    check(
        "VALUES (NULL, true, 'x')",
        "VALUES (?, ?, ?)",
        &["", "true", "x"],
    );
    check(
        "UPDATE t SET a = NULL WHERE b IS NULL",
        "UPDATE t SET a = ? WHERE b IS NULL",
        &[""],
    );
    check(
        "SELECT U&'\\0041', b'01', t1.c2",
        "SELECT U&'\\0041', b'01', t1.c2",
        &[],
    );
}

#[test]
fn a_sign_belongs_to_a_number_where_nothing_stands_before_it() {
    check(
        "SELECT -1, a -2, (b)-3, c = -4",
        "SELECT ?, a -?, (b)-?, c = ?",
        &["-1", "2", "3", "-4"],
    );
    check(
        "SELECT 1-1 WHERE a >-5 AND -7 < b",
        "SELECT ?-? WHERE a >? AND ? < b",
        &["1", "1", "-5", "-7"],
    );
}

#[test]
fn comments_go_and_hints_stay() {
    check(
        "/* a /* b */ 'c' */ SELECT 1 -- 'd'\n, 2",
        "SELECT ? , ?",
        &["1", "2"],
    );
    check(
        "/*+ SeqScan(t) */ SELECT 1",
        "/*+ SeqScan(t) */ SELECT ?",
        &["1"],
    );
}

#[test]
fn typed_constants_become_casts_and_what_takes_no_parameter_stays() {
    check(
        "SELECT date '2020-01-01'",
        "SELECT CAST(? AS date)",
        &["2020-01-01"],
    );
    check(
        "SELECT interval '1' day, now()",
        "SELECT interval '1' day, now()",
        &[],
    );
    check(
        "SELECT a::numeric(10,2), 'x'::varchar(3)",
        "SELECT a::numeric(10,2), ?::varchar(3)",
        &["x"],
    );
    check(
        "SELECT a FROM t GROUP BY 1, 2 ORDER BY 1 LIMIT 5",
        "SELECT a FROM t GROUP BY 1, 2 ORDER BY 1 LIMIT ?",
        &["5"],
    );
    check("SELECT a[1:2], a[3]", "SELECT a[1:2], a[?]", &["3"]);
    check(
        "SELECT x AT TIME ZONE 'UTC'",
        "SELECT x AT TIME ZONE ?",
        &["UTC"],
    );
    check(
        "SELECT timestamp with time zone '2020-01-01'",
        "SELECT timestamp with time zone '2020-01-01'",
        &[],
    );
    check(
        "SELECT extract('year' from d)",
        "SELECT extract('year' from d)",
        &[],
    );
    check(
        "SELECT pg_catalog.date 'x', \"My\" 'y'",
        "SELECT CAST(? AS pg_catalog.date), CAST(? AS \"My\")",
        &["x", "y"],
    );
}

#[test]
fn several_statements_are_told_apart() {
    let mut scanned = Scanned::default();
    scan(b"BEGIN; UPDATE t SET a = 1; COMMIT;", &mut scanned);
    assert_eq!(scanned.ends, [(5, 0), (25, 1)]);
    assert_eq!(scanned.template, b"BEGIN; UPDATE t SET a = \x01; COMMIT");
}

#[test]
fn any_bytes_are_scanned() {
    let mut scanned = Scanned::default();
    for text in [
        "'",
        "E'\\",
        "$a$",
        "/*",
        "\"",
        "$",
        "1..2",
        "e'\\x'",
        "\u{0}\u{1}'\u{1}'",
        "-",
        "U&'",
    ] {
        scan(text.as_bytes(), &mut scanned);
        let marks = scanned
            .template
            .iter()
            .filter(|byte| **byte == MARK)
            .count();
        assert_eq!(marks, scanned.constants.len(), "{text}");
    }
}
