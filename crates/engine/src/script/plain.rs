//! Files of plain SQL, which are sent to the server as they are.
//!
//! Enters: a file's name and text. Leaves: nothing, or the first thing in it that only psql
//! carries out. Never: refuses what the server would accept; SQL that cannot be cut is left to
//! the server.

use pgassay_session::shown;

use super::command::Statement;
use super::problem::Problem;
use super::split::{Raw, Splitter};
use super::variables::Names;
use crate::error::EngineError;

/// Refuses psql's commands and data after a COPY FROM STDIN, which pg_dump writes.
pub fn check_sql(file: &str, text: &[u8]) -> Result<(), EngineError> {
    let mut splitter = Splitter::new(text);
    // After an error it is not known where statements end.
    while let Some(Ok(command)) = splitter.next_command() {
        let problem = match command {
            Raw::Meta { offset, text } => {
                let text = shown(text);
                let name = text.split_ascii_whitespace().next().unwrap_or_default();
                Problem::new(offset, format!("\\{name} is a command of psql, {ADVICE}"))
            }
            Raw::Sql { pieces, offset } => {
                let sql = Statement::new(&pieces, &mut Names::default()).text();
                if !copies_from_the_client(&shown(&sql)) {
                    continue;
                }
                Problem::new(
                    offset,
                    format!("COPY … FROM STDIN takes data of psql, {ADVICE}"),
                )
            }
        };
        return Err(problem.locate(file, text));
    }
    Ok(())
}

const ADVICE: &str = "but this file goes to the server without it: write SQL only (from pg_dump: \
                      with --inserts, and without its \\restrict and \\unrestrict)";

fn copies_from_the_client(sql: &str) -> bool {
    let words = sql.trim_end_matches(';').split_ascii_whitespace();
    let words: Vec<_> = words.map(str::to_ascii_lowercase).collect();
    words.first().is_some_and(|word| word == "copy")
        && words.windows(2).any(|two| two == ["from", "stdin"])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_only_psql_carries_out_is_refused() {
        for (text, place) in [
            (
                "-- a dump\n\\restrict abc\nSET x = 1;",
                "schema.sql:2:1: \\restrict is a command",
            ),
            (
                "CREATE TABLE t (a int);\n\\i more.sql\n",
                "schema.sql:2:1: \\i is a command",
            ),
            ("SELECT 1 \\gset\n", "schema.sql:1:10: \\gset is a command"),
            (
                "CREATE TABLE t (a text);\nCOPY public.t (a) FROM stdin;\nit's\n\\.\n",
                "schema.sql:2:1: COPY … FROM STDIN takes data of psql",
            ),
            (
                "copy t from STDIN with (format csv);\n1\n\\.",
                "schema.sql:1:1: COPY",
            ),
        ] {
            let problem = check_sql("schema.sql", text.as_bytes())
                .unwrap_err()
                .to_string();
            assert!(problem.starts_with(place), "{problem}");
            assert!(problem.contains("--inserts"));
        }
    }

    #[test]
    fn what_the_server_takes_is_left_to_it() {
        for text in [
            "",
            "SELECT E'a\\n', '\\restrict', $$ \\i x $$; -- \\d\n/* \\d */",
            "COPY t FROM '/tmp/stdin'; COPY t FROM PROGRAM 'from stdin'; COPY t TO STDOUT;",
            "INSERT INTO copy SELECT 'COPY t FROM stdin';",
            "SELECT 'not closed\n\\d",
            "CREATE FUNCTION f() RETURNS int BEGIN ATOMIC SELECT 1; END; SELECT :scale, ':x';",
        ] {
            assert!(check_sql("schema.sql", text.as_bytes()).is_ok(), "{text}");
        }
    }
}
