//! Tests of `split`.

use super::*;
use pgassay_session::shown;

/// Commands as text with the line they begin on; variables in braces, but within quotes in
/// brackets and within comments in angles.
fn commands(text: &str) -> Vec<String> {
    let line = |offset| crate::script::problem::line_of(text.as_bytes(), offset);
    split(text.as_bytes())
        .expect(text)
        .iter()
        .map(|command| match command {
            Raw::Sql { pieces, offset } => {
                let sql: String = pieces
                    .iter()
                    .map(|piece| match piece {
                        RawPiece::Text(text) => shown(text).into_owned(),
                        RawPiece::Variable { name, within, .. } => match (within, shown(name)) {
                            (SqlContext::Code, name) => format!("{{{name}}}"),
                            (SqlContext::Quotes, name) => format!("[{name}]"),
                            (SqlContext::Comment, name) => format!("<{name}>"),
                        },
                    })
                    .collect();
                format!("{} {sql}", line(*offset))
            }
            Raw::Meta { offset, text } => format!("{} \\{}", line(*offset), shown(text)),
        })
        .collect()
}

#[test]
fn commands_are_cut_where_pgbench_cuts_them() {
    for (text, expected) in [
        ("", &[] as &[&str]),
        ("-- only\n -- comments", &[]),
        (
            "-- a\n/* a /* nested */ comment */ ;;",
            &["2 /* a /* nested */ comment */ ;", "2 ;"],
        ),
        ("SELECT 1;\n\nEND;\n", &["1 SELECT 1;", "3 END;"]),
        (
            "BEGIN; SELECT\n 1; END",
            &["1 BEGIN;", "1 SELECT\n 1;", "2 END"],
        ),
        ("\\set x 1\nSELECT :x;", &["1 \\set x 1", "2 SELECT {x};"]),
        (
            "SELECT 1 \\set y 3\nEND;",
            &["1 SELECT 1", "1 \\set y 3", "2 END;"],
        ),
        (
            "\\set x 1 \\\n + 2\nEND;",
            &["1 \\set x 1 \\\n + 2", "3 END;"],
        ),
        (
            "\\set x 1 \\\r\n + 2\r\nEND;",
            &["1 \\set x 1 \\\r\n + 2\r", "3 END;"],
        ),
        (
            "SELECT ';', \";\", 'it''s;';",
            &["1 SELECT ';', \";\", 'it''s;';"],
        ),
        (
            "SELECT E'\\';', e'a''b\\\\';END;",
            &["1 SELECT E'\\';', e'a''b\\\\';", "1 END;"],
        ),
        ("SELECT 'a\\';END;", &["1 SELECT 'a\\';", "1 END;"]),
        (
            "SELECT E'a\\n'\n'it\\'s;' -- not :x'\n\t 'an\\':x';END;",
            &[
                "1 SELECT E'a\\n'\n'it\\'s;' -- not <x>'\n\t 'an\\'[x]';",
                "3 END;",
            ],
        ),
        // Not continued: on the same line, behind another comment, or behind code.
        ("SELECT E'a' '\\';END;", &["1 SELECT E'a' '\\';", "1 END;"]),
        (
            "SELECT E'a' /* b\n */ '\\';END;",
            &["1 SELECT E'a' /* b\n */ '\\';", "2 END;"],
        ),
        (
            "SELECT E'a',\n'\\';END;",
            &["1 SELECT E'a',\n'\\';", "2 END;"],
        ),
        (
            "SELECT 'a'\n'\\', U&'b\\'\n'\\', x'0'\n'\\';END;",
            &["1 SELECT 'a'\n'\\', U&'b\\'\n'\\', x'0'\n'\\';", "4 END;"],
        ),
        (
            "-- a\rSELECT 1 -- b\r;END;",
            &["1 SELECT 1 -- b\r;", "1 END;"],
        ),
        (
            "CREATE TABLE function (a int); CREATE VIEW v AS begin; END;",
            &[
                "1 CREATE TABLE function (a int);",
                "1 CREATE VIEW v AS begin;",
                "1 END;",
            ],
        ),
        (
            "CREATE TABLE t (a); CREATE TRIGGER procedure x begin; END;",
            &[
                "1 CREATE TABLE t (a);",
                "1 CREATE TRIGGER procedure x begin;",
                "1 END;",
            ],
        ),
        ("DO $$ x; :y $$;END;", &["1 DO $$ x; [y] $$;", "1 END;"]),
        (
            "DO $a$ $$;$b$; $a$;END;",
            &["1 DO $a$ $$;$b$; $a$;", "1 END;"],
        ),
        ("SELECT $1, a$b$; END;", &["1 SELECT $1, a$b$;", "1 END;"]),
        (
            "SELECT 1$a$;$a$, $1$$;$$, 1e'\\', 1_0a$b$; END;",
            &["1 SELECT 1$a$;$a$, $1$$;$$, 1e'\\', 1_0a$b$;", "1 END;"],
        ),
        (
            "SELECT 1 -- ; don't :x\n, 2;",
            &["1 SELECT 1 -- ; don't <x>\n, 2;"],
        ),
        ("SELECT 1 /* ; ' :x */;", &["1 SELECT 1 /* ; ' <x> */;"]),
        ("SELECT 4 /2 - 1;", &["1 SELECT 4 /2 - 1;"]),
        (
            "CREATE RULE r AS (a; b);END;",
            &["1 CREATE RULE r AS (a; b);", "1 END;"],
        ),
        (
            "create or replace function f() begin atomic select case when a then b end; end; END;",
            &[
                "1 create or replace function f() begin atomic select case when a then b end; end;",
                "1 END;",
            ],
        ),
        ("SELECT 1\\; SELECT 2;", &["1 SELECT 1; SELECT 2;"]),
        ("\\;\\;;", &["1 ;;;"]),
        (
            "SELECT \\:x, 'a\\:x', ':{?x}', :{?x}, :::x, :1;",
            &["1 SELECT {x}, 'a\\[x]', ':{?x}', FALSE, :::x, :1;"],
        ),
        (
            "SELECT E'\\':x', $a$:b:c$a$, 'it''s :d';",
            &["1 SELECT E'\\'[x]', $a$[b][c]$a$, 'it''s [d]';"],
        ),
        (
            "SELECT :x::int, ::y, a[1:2], '12:30', :é;",
            &["1 SELECT {x}::int, ::y, a[1:2], '12:30', {é};"],
        ),
        (
            "SELECT ':x', \":x\", :x+:y, f(a := :z);",
            &["1 SELECT '[x]', \"[x]\", {x}+{y}, f(a := {z});"],
        ),
    ] {
        assert_eq!(commands(text), expected, "{text}");
    }
}

#[test]
fn what_is_not_closed_is_refused_where_it_begins() {
    for (text, offset) in [
        ("\nSELECT 'a\nb;", 8),
        ("SELECT 1,\n\"a;", 10),
        ("\n\nDO $x$ ; $y$;", 5),
        ("/* /* */", 0),
        ("SELECT 1\n/*;", 9),
        ("SELECT E'\\'", 8),
    ] {
        assert_eq!(
            split(text.as_bytes()).expect_err(text).offset,
            offset,
            "{text}"
        );
    }
}
