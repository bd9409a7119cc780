//! The requests that the engine sends.
//!
//! Enters: a compiled statement and, per execution, a client's variables. Leaves: the bytes of
//! one round trip. Never: allocates per execution, or sends less than libpq does: Describe is
//! sent although its answer is not used, so that a comparison with pgbench is fair.

use bytes::BytesMut;
use postgres_protocol::message::frontend;

use super::fixed::SYNC;
use crate::config::Protocol;
use crate::script::{
    Content, Fault, Known, Piece, Problem, Slot, SqlContext, Statement, Value, Variables,
};

/// The protocol counts parameters in 16 bits.
const MOST_PARAMETERS: usize = u16::MAX as usize;

/// A statement compiled to the messages that send it.
#[derive(Debug)]
pub struct Request {
    form: Form,
}

#[derive(Debug)]
enum Form {
    Query(Vec<Part>),
    Execution {
        /// Names the statement, or leaves it unnamed in the extended protocol.
        parse: Vec<u8>,
        is_named: bool,
        /// Bind up to its parameters, with an empty length.
        bind: Vec<u8>,
        parameters: Vec<Slot>,
        /// The end of Bind, then Describe and Execute.
        tail: Vec<u8>,
    },
}

#[derive(Debug)]
enum Part {
    Text(Vec<u8>),
    /// A variable, and the reference's text, which is sent if the variable is not set.
    Variable(Slot, Vec<u8>),
}

/// How a statement is sent.
#[derive(Debug, Clone, Copy)]
pub struct SendMode {
    /// Whether the session has prepared it.
    pub is_prepared: bool,
    /// Whether a Sync follows.
    pub with_sync: bool,
}

impl Request {
    /// `name` is that of the prepared statement, unique in its session; `offset` where
    /// the statement stands; `known` are the variables that something sets.
    pub fn new(
        statement: &Statement,
        protocol: Protocol,
        name: &str,
        offset: usize,
        known: &Known,
    ) -> Result<Request, Problem> {
        let name = match protocol {
            Protocol::Simple => {
                known.refuse_given_in_quotes(statement)?;
                let part = |piece| part(piece, known);
                let form = Form::Query(statement.pieces.iter().map(part).collect());
                return Ok(Request { form });
            }
            Protocol::Extended => "",
            Protocol::Prepared => name,
        };
        known.refuse_quoted(statement)?;
        match execution(statement, name) {
            Ok(form) => Ok(Request { form }),
            Err(fault) => Err(Problem::new(offset, fault.to_string())),
        }
    }

    /// The message that prepares the statement, if it is prepared once per session.
    #[must_use]
    pub fn preparation(&self) -> Option<&[u8]> {
        match &self.form {
            Form::Execution {
                parse,
                is_named: true,
                ..
            } => Some(parse),
            _ => None,
        }
    }

    /// Whether the request ends with a Sync, not a Query.
    #[must_use]
    pub fn is_extended(&self) -> bool {
        matches!(self.form, Form::Execution { .. })
    }

    /// Appends one execution to `output`; after an error `output` is unchanged.
    pub fn write(
        &self,
        variables: &Variables,
        mode: SendMode,
        output: &mut Vec<u8>,
    ) -> Result<(), Fault> {
        let base = output.len();
        let result = match &self.form {
            Form::Query(parts) => write_query(parts, variables, output),
            Form::Execution {
                parse,
                bind,
                parameters,
                tail,
                ..
            } => {
                if !mode.is_prepared {
                    output.extend_from_slice(parse);
                }
                write_execution(bind, parameters, variables, output).map(|()| {
                    output.extend_from_slice(tail);
                    if mode.with_sync {
                        output.extend_from_slice(SYNC);
                    }
                })
            }
        };
        if result.is_err() {
            output.truncate(base);
        }
        result
    }
}

fn part(piece: &Piece, known: &Known) -> Part {
    match piece {
        Piece::Text(text) => Part::Text(text.clone()),
        // A comment stays as it is: a literal could end it.
        Piece::Variable {
            slot,
            within: SqlContext::Comment,
            ..
        } if known.given.contains(slot) => Part::Text(piece.written()),
        Piece::Variable { slot, .. } => Part::Variable(*slot, piece.written()),
    }
}

fn write_query(parts: &[Part], variables: &Variables, output: &mut Vec<u8>) -> Result<(), Fault> {
    output.push(b'Q');
    let length_at = begin_length(output);
    for part in parts {
        match part {
            Part::Text(text) => output.extend_from_slice(text),
            Part::Variable(slot, reference) => match variables.get(*slot) {
                Some(content) => content.write_sql(output),
                None => output.extend_from_slice(reference),
            },
        }
    }
    output.push(0);
    finish_length(output, length_at, 0)
}

fn write_execution(
    bind: &[u8],
    parameters: &[Slot],
    variables: &Variables,
    output: &mut Vec<u8>,
) -> Result<(), Fault> {
    output.push(b'B');
    let length_at = begin_length(output);
    output.extend_from_slice(bind);
    for slot in parameters {
        // A variable that is not set is NULL too, as in pgbench.
        let content = match variables.get(*slot) {
            None | Some(Content::Value(Value::Null)) => {
                output.extend_from_slice(&(-1i32).to_be_bytes());
                continue;
            }
            Some(content) => content,
        };
        let text_length_at = begin_length(output);
        content.write_text(output);
        finish_length(output, text_length_at, 4)?;
    }
    // One format code for all columns: text.
    output.extend_from_slice(&[0, 1, 0, 0]);
    finish_length(output, length_at, 0)
}

/// Reserves a length field and returns its position.
fn begin_length(output: &mut Vec<u8>) -> usize {
    let at = output.len();
    output.extend_from_slice(&[0; 4]);
    at
}

/// Fills in the length of all bytes from `at` on without `excluded` bytes.
fn finish_length(output: &mut [u8], at: usize, excluded: usize) -> Result<(), Fault> {
    let length = i32::try_from(output.len() - at - excluded)
        .map_err(|_| Fault::new("a message would exceed 2 GB"))?;
    if let Some(place) = output.get_mut(at..at + 4) {
        place.copy_from_slice(&length.to_be_bytes());
    }
    Ok(())
}

fn execution(statement: &Statement, name: &str) -> Result<Form, Fault> {
    let parameters: Vec<Slot> = statement.parameters().map(|(slot, _)| slot).collect();
    let Ok(count) = u16::try_from(parameters.len()) else {
        return Err(Fault::new(format!(
            "the statement has more than {MOST_PARAMETERS} variables; use the simple protocol"
        )));
    };
    let refused = |error: std::io::Error| Fault::new(error.to_string());
    // The protocol crate takes UTF-8 only. No types of parameters are given.
    let sql = statement.with_parameters();
    let mut parse = vec![b'P'];
    let length_at = begin_length(&mut parse);
    parse.extend_from_slice(&[name.as_bytes(), b"\0", &sql, b"\0\0\0"].concat());
    finish_length(&mut parse, length_at, 0)?;
    let mut tail = BytesMut::new();
    frontend::describe(b'P', "", &mut tail).map_err(refused)?;
    frontend::execute("", 0, &mut tail).map_err(refused)?;
    // Unnamed portal, statement, no format codes (all text), number of parameters.
    let bind = [b"\0", name.as_bytes(), b"\0\0\0", &count.to_be_bytes()].concat();
    Ok(Form::Execution {
        parse,
        is_named: !name.is_empty(),
        bind,
        parameters,
        tail: tail.to_vec(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::script::{Action, Names, Script};
    use postgres_protocol::IsNull;

    const SQL: &str = "SELECT :x, 'a:z', :t::text, :n, :x, :u;";

    fn request_of(sql: &str, protocol: Protocol) -> (Result<Request, Problem>, Variables) {
        let mut names = Names::default();
        let script = Script::parse("x.sql", sql.as_bytes(), false, &mut names).unwrap();
        let [command] = &script.commands[..] else {
            panic!("one statement");
        };
        let Action::Sql(statement) = &command.action else {
            panic!("a statement");
        };
        let mut known = Known::default();
        let mut variables = names.clone();
        let contents = [
            (&b"x"[..], Content::Value(Value::Int(-7))),
            (b"t", Content::Text("o'k".into())),
            (b"n", Content::Value(Value::Null)),
        ]
        .map(|(name, content)| (variables.slot(name), content));
        let mut variables = variables.variables();
        for (slot, content) in contents {
            known.slots.insert(slot);
            variables.set(slot, content);
        }
        let request = Request::new(statement, protocol, "P0_0", 0, &known);
        (request, variables)
    }

    fn bytes(sql: &str, protocol: Protocol, is_prepared: bool) -> Vec<u8> {
        let (request, variables) = request_of(sql, protocol);
        let mut output = b"before".to_vec();
        let mode = SendMode {
            is_prepared,
            with_sync: true,
        };
        request
            .unwrap()
            .write(&variables, mode, &mut output)
            .unwrap();
        output.split_off(6)
    }

    /// What the protocol crate makes of the same execution.
    fn expected(name: &str, with_parse: bool) -> Vec<u8> {
        let mut buffer = BytesMut::new();
        if with_parse {
            frontend::parse(
                name,
                "SELECT $1, 'a:z', $2::text, $3, $4, $5;",
                [],
                &mut buffer,
            )
            .unwrap();
        }
        let values = [Some("-7"), Some("o'k"), None, Some("-7"), None];
        let serialize = |value: Option<&str>, buffer: &mut BytesMut| match value {
            Some(text) => {
                buffer.extend_from_slice(text.as_bytes());
                Ok(IsNull::No)
            }
            None => Ok(IsNull::Yes),
        };
        assert!(frontend::bind("", name, [], values, serialize, [0], &mut buffer).is_ok());
        frontend::describe(b'P', "", &mut buffer).unwrap();
        frontend::execute("", 0, &mut buffer).unwrap();
        frontend::sync(&mut buffer);
        buffer.to_vec()
    }

    #[test]
    fn a_prepared_statement_is_bound_as_the_protocol_crate_binds_it() {
        assert_eq!(
            bytes(SQL, Protocol::Prepared, true),
            expected("P0_0", false)
        );
        assert_eq!(
            bytes(SQL, Protocol::Prepared, false),
            expected("P0_0", true)
        );
        assert_eq!(bytes(SQL, Protocol::Extended, false), expected("", true));
        let preparation = |protocol| {
            let (request, _) = request_of(SQL, protocol);
            request.unwrap().preparation().is_some()
        };
        assert!(preparation(Protocol::Prepared) && !preparation(Protocol::Extended));
    }

    #[test]
    fn a_simple_query_has_its_variables_as_text_wherever_they_stand() {
        for (sql, sent) in [
            (SQL, "SELECT -7, 'a:z', o'k::text, NULL, -7, :u;"),
            ("SELECT ':x' /* :x */ -- :x", "SELECT '-7' /* -7 */ -- -7"),
        ] {
            let mut buffer = BytesMut::new();
            frontend::query(sent, &mut buffer).unwrap();
            assert_eq!(bytes(sql, Protocol::Simple, false), buffer.to_vec());
        }
    }

    #[test]
    fn bytes_of_any_encoding_are_sent_as_they_are() {
        for protocol in [Protocol::Simple, Protocol::Extended] {
            let mut names = Names::default();
            let text = b"SELECT '\xe9', :\xff";
            let script = Script::parse("x.sql", text, false, &mut names).unwrap();
            let Action::Sql(statement) = &script.commands[0].action else {
                panic!("a statement");
            };
            let mut variables = names.variables();
            variables.set(names.slot(b"\xff"), Content::Text(b"\xf0".to_vec()));
            let request = Request::new(statement, protocol, "P", 0, &Known::default()).unwrap();
            let mut sent = Vec::new();
            let mode = SendMode {
                is_prepared: false,
                with_sync: true,
            };
            request.write(&variables, mode, &mut sent).unwrap();
            let has = |bytes: &[u8]| sent.windows(bytes.len()).any(|found| found == bytes);
            assert!(has(b"SELECT '\xe9', ") && has(b"\xf0"));
        }
    }

    #[test]
    fn a_variable_in_quotes_is_refused_where_it_cannot_be_replaced() {
        let (request, _) = request_of("SELECT 1, 'a:x'", Protocol::Prepared);
        let problem = request.unwrap_err();
        assert_eq!(problem.offset, 12);
        assert!(
            problem
                .text
                .starts_with("in quotes :x is replaced in the simple protocol only")
        );
        assert!(
            request_of("SELECT 1 /* :x */", Protocol::Prepared)
                .0
                .is_ok()
        );
    }
}
