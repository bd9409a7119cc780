//! A log from its bytes to scenarios or to a trace.
//!
//! Enters: a configuration, bytes of files in the order of their times. Leaves: [`Summary`] with the
//! rows of each scenario, or columns of a trace. Never: reads a file itself, or grows with the log
//! beyond the limits of templates, sequences and rows.

use serde::{Deserialize, Serialize};

use crate::counts::Counts;
use crate::entry::Entry;
use crate::error::LogError;
use crate::forms::{CsvForm, Cutter, Form, JsonForm, Prefix, StderrForm};
use crate::scenarios::{Column, Scenario};
use crate::sessions::Sessions;
use crate::trace::Rows;

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Configuration {
    pub form: FormName,
    /// log_line_prefix, of stderr.
    #[serde(default)]
    pub prefix: String,
    /// Only these are read; `None` for all.
    #[serde(default)]
    pub database: Option<String>,
    #[serde(default)]
    pub user: Option<String>,
    #[serde(default)]
    pub application: Option<String>,
    /// Applications whose name begins so are passed over.
    #[serde(default)]
    pub without_applications: Vec<String>,
    /// Of one scenario.
    pub most_rows: usize,
    pub seed: u64,
    /// Columns of a trace instead of scenarios.
    #[serde(default)]
    pub trace: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum FormName {
    Csv,
    Json,
    Stderr,
}

/// What a log has, but for the rows of values.
#[derive(Debug, Serialize)]
pub struct Summary<'a> {
    #[serde(flatten)]
    counts: &'a Counts,
    unread: u64,
    left_out: u64,
    databases: Vec<DatabaseSummary<'a>>,
    templates: Vec<TemplateSummary<'a>>,
    scenarios: Vec<ScenarioSummary<'a>>,
    lost: Vec<LostSummary>,
}

#[derive(Debug, Serialize)]
struct DatabaseSummary<'a> {
    name: &'a str,
    /// That most of its statements are of.
    user: &'a str,
    commits: u64,
    rollbacks: u64,
    partial: u64,
    busy_us: i64,
    /// The most that were there at once.
    sessions_at_once: u64,
}

#[derive(Debug, Serialize)]
struct TemplateSummary<'a> {
    text: &'a str,
    parameters: usize,
    constants: usize,
    /// Whether it reads or writes rows, and so takes parameters.
    data: bool,
}

#[derive(Debug, Serialize)]
struct ScenarioSummary<'a> {
    #[serde(flatten)]
    scenario: &'a Scenario,
    pauses_us: Vec<Vec<i64>>,
}

#[derive(Debug, Serialize)]
struct LostSummary {
    reason: &'static str,
    template: Option<u32>,
    calls: u64,
    time_us: i64,
}

/// Reads a log piece by piece.
pub struct Reader {
    cutter: Cutter,
    sessions: Sessions,
}

impl Reader {
    pub fn new(configuration: &str) -> Result<Self, LogError> {
        let asked: Configuration = serde_json::from_str(configuration)?;
        let form = match asked.form {
            FormName::Csv => Form::Csv(CsvForm::default()),
            FormName::Json => Form::Json(JsonForm::default()),
            FormName::Stderr => {
                Form::Stderr(Box::new(StderrForm::new(Prefix::new(&asked.prefix)?)))
            }
        };
        Ok(Self {
            cutter: Cutter::new(form),
            sessions: Sessions::new(asked),
        })
    }

    /// Reads on; `last` at the end of a file.
    pub fn feed(&mut self, data: &[u8], last: bool) {
        let sessions = &mut self.sessions;
        self.cutter
            .feed(data, last, |entry: &Entry<'_>| sessions.take(entry));
    }

    /// After the last file: what sessions have open is closed.
    pub fn finish(&mut self) {
        self.sessions.finish();
    }

    /// How many rows of a trace there are to take.
    pub fn waiting(&self) -> usize {
        self.sessions.trace.rows.session.len()
    }

    pub fn take_rows(&mut self) -> Rows {
        std::mem::take(&mut self.sessions.trace.rows)
    }

    /// The texts that columns of a trace have numbers of.
    pub fn names(&self) -> &[String] {
        &self.sessions.names.all
    }

    /// The sampled values of a scenario, by its place in the summary.
    pub fn columns(&self, scenario: usize) -> Vec<Column> {
        let found = self.sessions.scenarios.all.get(scenario);
        found.map(Scenario::columns).unwrap_or_default()
    }

    pub fn summary(&self) -> Result<String, LogError> {
        let sessions = &self.sessions;
        let counts = &sessions.counts;
        let templates = sessions
            .templates
            .all()
            .iter()
            .map(|template| TemplateSummary {
                text: &template.text,
                parameters: template.parameters,
                constants: template.constants,
                data: template.verb == crate::templates::Verb::Data,
            });
        let named = |user: i64| sessions.names.all.get(usize::try_from(user).ok()?);
        let databases =
            (sessions.databases.all.iter().zip(&sessions.of_databases)).map(|(name, counts)| {
                DatabaseSummary {
                    name,
                    user: counts.user().and_then(named).map_or("", |user| user),
                    commits: counts.commits,
                    rollbacks: counts.rollbacks,
                    partial: counts.partial,
                    busy_us: counts.busy_us,
                    sessions_at_once: counts.at_once(),
                }
            });
        let resolution_us = if counts.whole_seconds {
            1_000_000
        } else {
            1000
        };
        let scenarios = sessions
            .scenarios
            .all
            .iter()
            .map(|scenario| ScenarioSummary {
                scenario,
                pauses_us: scenario.pauses(resolution_us),
            });
        let lost = sessions
            .scenarios
            .lost
            .iter()
            .map(|((reason, template), lost)| LostSummary {
                reason,
                template: *template,
                calls: lost.0,
                time_us: lost.1,
            });
        Ok(serde_json::to_string(&Summary {
            counts,
            unread: self.cutter.unread,
            left_out: sessions.trace.left_out,
            databases: databases.collect(),
            templates: templates.collect(),
            scenarios: scenarios.collect(),
            lost: lost.collect(),
        })?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEAD: &str = "2026-11-27 16:00:0";

    fn read(form: &str, prefix: &str, text: &str) -> serde_json::Value {
        let configuration = serde_json::json!({
            "form": form, "prefix": prefix, "most_rows": 10, "seed": 1,
        });
        let mut reader = Reader::new(&configuration.to_string()).unwrap();
        // In small pieces, as a file may be read.
        for piece in text.as_bytes().chunks(7) {
            reader.feed(piece, false);
        }
        reader.feed(b"", true);
        reader.finish();
        serde_json::from_str(&reader.summary().unwrap()).unwrap()
    }

    fn csv(second: u32, process: u32, message: &str, rest: &str) -> String {
        format!(
            "{HEAD}{second}.000 UTC,\"u\",\"d\",{process},\"[local]\",s{process},1,\"SELECT\",\
             {HEAD}0 UTC,3/0,0,LOG,00000,\"{message}\",{rest},,,,,,,,\"app\",\"client backend\",,0\n"
        )
    }

    fn simple(second: u32, text: &str) -> String {
        csv(
            second,
            7,
            &format!("duration: 1.000 ms  statement: {text}"),
            "",
        )
    }

    #[test]
    fn a_torn_record_does_not_swallow_the_next() {
        let torn = simple(1, "SELECT 1");
        let whole = simple(2, "SELECT 2");
        let found = read("csv", "", &format!("{}\n{whole}", &torn[..torn.len() - 60]));
        assert_eq!(
            (&found["statements"], &found["unread"]),
            (&1.into(), &1.into())
        );
        let open = torn.find("SELECT 1").unwrap();
        let found = read("csv", "", &format!("{}\n{whole}{whole}", &torn[..open]));
        assert_eq!(found["statements"], 2);
        let found = read(
            "csv",
            "",
            &format!("{whole}\u{0}garbage\"\n{whole}{}", &torn[..open]),
        );
        assert_eq!(found["statements"], 2);
    }

    #[test]
    fn of_the_extended_protocol_executions_count_with_their_whole_time() {
        let detail = "\"Parameters: $1 = '7'\"";
        let text = [
            csv(1, 7, "duration: 1.000 ms  parse <unnamed>: SELECT $1", ""),
            csv(
                1,
                7,
                "duration: 2.000 ms  bind <unnamed>: SELECT $1",
                detail,
            ),
            csv(
                1,
                7,
                "duration: 4.000 ms  execute <unnamed>: SELECT $1",
                detail,
            ),
        ];
        let found = read("csv", "", &text.concat());
        assert_eq!(found["statements"], 1);
        assert_eq!(found["scenarios"][0]["time_us"], 7000);
        assert_eq!(found["scenarios"][0]["without_values"], 0);
    }

    #[test]
    fn a_transaction_that_began_before_the_log_is_not_taken_for_statements() {
        let text = [
            simple(1, "SELECT 1"),
            simple(2, "COMMIT"),
            simple(3, "SELECT 2"),
        ];
        let found = read("csv", "", &text.concat());
        assert_eq!(found["databases"][0]["partial"], 1);
        assert_eq!(found["lost"][0]["reason"], "partial-transaction");
        assert_eq!(found["scenarios"][0]["transactions"], 1);
    }

    #[test]
    fn what_another_database_did_is_counted_apart() {
        let other = |text: &str| {
            text.replace("\"d\",7", "\"postgres\",8")
                .replace("\"u\"", "\"monitor\"")
        };
        let one = simple(2, "SELECT 1");
        let found = read(
            "csv",
            "",
            &[simple(1, "SELECT 1"), other(&one), one].concat(),
        );
        let of = |database: usize, key: &str| found["databases"][database][key].clone();
        assert_eq!(
            (of(0, "name"), of(1, "name")),
            ("d".into(), "postgres".into())
        );
        assert_eq!(
            (of(0, "user"), of(1, "user")),
            ("u".into(), "monitor".into())
        );
        assert_eq!((of(0, "commits"), of(1, "commits")), (2.into(), 1.into()));
        assert_eq!(
            (of(0, "busy_us"), of(0, "sessions_at_once")),
            (2000.into(), 1.into())
        );
    }

    #[test]
    fn several_statements_of_one_message_are_one_transaction() {
        let text = [simple(1, "SELECT 1"), simple(1, "BEGIN"), simple(1, "END")].concat();
        let found = read(
            "csv",
            "",
            &format!("{text}{}", simple(2, "SELECT 2; SELECT 'a', 3;")),
        );
        let scenarios = found["scenarios"].as_array().unwrap();
        assert_eq!(scenarios.len(), 2);
        assert_eq!(scenarios[1]["explicit"], true);
        assert_eq!(scenarios[1]["statements"].as_array().unwrap().len(), 2);
    }

    #[test]
    fn names_in_a_prefix_may_have_blanks_and_statements_lines() {
        let line = |text: &str| format!("{HEAD}1.000 UTC [7] u@d/my app LOG:  {text}\n");
        let text = [
            line("duration: 1.000 ms  statement: SELECT 1,\n\t2"),
            format!("{HEAD}1.000 UTC [9] LOG:  checkpoint starting: time\n"),
            format!("{HEAD}2.000 UTC [7] u@d/my app ERROR:  division by zero\n"),
            format!("{HEAD}2.000 UTC [7] u@d/my app STATEMENT:  SELECT 1/\n\t0\n"),
        ];
        let found = read("stderr", "%m [%p] %q%u@%d/%a ", &text.concat());
        assert_eq!(
            (&found["statements"], &found["failed"]),
            (&2.into(), &1.into())
        );
        assert_eq!(found["templates"][0]["text"], "SELECT $1, $2");
        assert_eq!(found["unread"], 0);
    }

    #[test]
    fn times_that_go_back_and_other_bytes_are_counted() {
        let text = [
            simple(9, "SELECT 1"),
            simple(1, "SELECT 1"),
            "\u{fffd}x\n".repeat(3),
        ];
        let found = read("csv", "", &text.concat());
        assert_eq!(found["back"], 1);
        assert_eq!(found["statements"], 2);
    }

    #[test]
    fn a_prefix_needs_a_time_and_a_session() {
        let asked = |prefix: &str| {
            Reader::new(&format!(
                "{{\"form\": \"stderr\", \"prefix\": \"{prefix}\", \"most_rows\": 1, \"seed\": 1}}"
            ))
        };
        assert!(matches!(asked("%m ").err(), Some(LogError::NoSession)));
        assert!(matches!(asked("[%p] ").err(), Some(LogError::NoTime)));
        assert!(asked("%t-%c-").is_ok());
    }
}
