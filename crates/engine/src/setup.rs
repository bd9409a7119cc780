//! What all threads of a load share and none changes.
//!
//! Enters: a configuration. Leaves: everything derived from it before the load starts. Never:
//! changes once made, but for the board's own slots.

use std::sync::Arc;

use pgassay_session::board::Board;
use pgassay_session::{Connector, Stream};

use crate::config::{Configuration, Reconnect, Seat};
use crate::error::EngineError;
use crate::network::Backend;
use crate::program::Program;
use crate::variant::Variant;

pub struct Setup {
    pub configuration: Configuration,
    /// Of the load's own server,
    connector: Connector,
    /// and of those of the variants, where each has one.
    connectors: Vec<Connector>,
    pub program: Program,
    pub variants: Vec<Variant>,
    pub board: Arc<Board>,
    /// Of the connections, by number.
    pub seats: Vec<Seat>,
    pub threads: usize,
    /// What this machine can give of what is asked for.
    backend: Backend,
}

impl Setup {
    pub fn new(json: &str) -> Result<Arc<Setup>, EngineError> {
        let configuration = Configuration::parse(json)?;
        let program = Program::compile(&configuration)?;
        let names = program.scenarios.iter().map(|s| s.name.clone()).collect();
        let seats = configuration.seats();
        let of_one = configuration.seats_of_one_server().len();
        let variants = configuration.slices.iter().flat_map(|s| &s.variants);
        let connectors = variants
            .filter_map(|variant| variant.connection.clone())
            .map(Connector::new);
        Ok(Arc::new(Setup {
            connector: Connector::new(configuration.connection.clone()),
            connectors: connectors.collect(),
            variants: Variant::compile(&configuration)?,
            board: Board::new(seats.len(), names),
            threads: configuration.threads.min(of_one),
            backend: configuration.transport.choose()?,
            seats,
            program,
            configuration,
        }))
    }

    /// The way to the server of a connection.
    #[must_use]
    pub fn connector(&self, seat: Seat) -> &Connector {
        let of_variant = seat.home.and_then(|home| self.connectors.get(home));
        of_variant.unwrap_or(&self.connector)
    }

    /// What serves these connections, and those that may come in their place: where these are
    /// plain under io_uring, all are.
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

    /// Whether a session prepares its statements before its first transaction. One that lives
    /// for a single transaction prepares what that needs, as pgbench -C does.
    #[must_use]
    pub fn prepares_ahead(&self) -> bool {
        self.configuration.reconnect != Reconnect::EachTransaction
    }
}
