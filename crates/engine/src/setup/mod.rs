//! The read-only state that all threads of a load share.
//!
//! Enters: a configuration. Leaves: everything derived from it before the load starts. Never:
//! changes it later, except the slots of the board.

pub mod variant;

use std::sync::Arc;

use pgassay_session::board::Board;
use pgassay_session::{Connector, Stream};

use crate::config::{Assignment, Configuration, Reconnect};
use crate::error::EngineError;
use crate::network::Backend;
use crate::parameters::Rows;
use crate::program::Program;
use crate::setup::variant::Variant;

pub struct Setup {
    pub configuration: Configuration,
    /// The connector of the load's server,
    connector: Connector,
    /// and those of the variants' servers, if each variant has one.
    connectors: Vec<Connector>,
    pub program: Program,
    pub variants: Vec<Variant>,
    pub board: Arc<Board>,
    /// Assignments of this engine's connections; the index of each is its slot of the board.
    pub assignments: Vec<Assignment>,
    /// None without connections.
    pub threads: usize,
    /// The backend that this machine can use for the configured transport.
    backend: Backend,
}

impl Setup {
    pub fn new(json: &str, rows: &[Option<Arc<Rows>>]) -> Result<Arc<Setup>, EngineError> {
        let configuration = Configuration::parse(json)?;
        require_rows(&configuration, rows)?;
        let program = Program::compile(&configuration, rows)?;
        let names = program.scenarios.iter().map(|s| s.name.clone()).collect();
        let assignments = configuration.assignments();
        let of_one = configuration.assignments_of_one_server().len();
        let own_of_one = configuration.share.count(of_one);
        let variants = configuration.slices.iter().flat_map(|s| &s.variants);
        let connectors = variants
            .filter_map(|variant| variant.connection.clone())
            .map(Connector::new);
        Ok(Arc::new(Setup {
            connector: Connector::new(configuration.connection.clone()),
            connectors: connectors.collect(),
            variants: Variant::compile(&configuration)?,
            board: Board::new(assignments.len(), names),
            threads: configuration.threads.min(own_of_one),
            backend: configuration.transport.choose()?,
            assignments,
            program,
            configuration,
        }))
    }

    /// The connector to the server of a connection.
    #[must_use]
    pub fn connector(&self, assignment: Assignment) -> &Connector {
        let of_variant = assignment
            .server_variant
            .and_then(|server_variant| self.connectors.get(server_variant));
        of_variant.unwrap_or(&self.connector)
    }

    /// Chooses the backend for these connections and for those that may replace them: if these
    /// are plain under io_uring, all are.
    pub fn backend_of<'s>(
        &self,
        mut streams: impl Iterator<Item = &'s Stream>,
    ) -> Result<Backend, EngineError> {
        let are_plain = streams.all(Stream::is_plain);
        let backend = self
            .configuration
            .transport
            .serve(self.backend, are_plain)?;
        if backend == Backend::Uring {
            for connector in self.connectors.iter().chain([&self.connector]) {
                connector.stay_plain();
            }
        }
        Ok(backend)
    }

    /// Whether sessions may have to be opened while the load runs.
    #[must_use]
    pub fn reconnects(&self) -> bool {
        self.configuration.reconnect != Reconnect::Never
    }

    /// Whether a session prepares all statements before its first transaction. A session for a
    /// single transaction prepares only the statements of that transaction, as pgbench -C does.
    #[must_use]
    pub fn prepares_ahead(&self) -> bool {
        self.configuration.reconnect != Reconnect::EachTransaction
    }
}

/// Refuses a scenario with parameters that has no rows of as many columns, or none at all.
fn require_rows(
    configuration: &Configuration,
    rows: &[Option<Arc<Rows>>],
) -> Result<(), EngineError> {
    for (number, scenario) in configuration.scenarios.iter().enumerate() {
        let wanted = scenario
            .parameters
            .as_ref()
            .map(|found| found.columns.len());
        let found = rows.get(number).and_then(Option::as_ref);
        let found = found
            .filter(|rows| !rows.is_empty())
            .map(|rows| rows.columns());
        if wanted != found {
            let key = format!("scenarios[{number}].parameters");
            let problem = "give rows with a value for each of the columns, and no others";
            return Err(EngineError::configuration(key, problem));
        }
    }
    Ok(())
}
