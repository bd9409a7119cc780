//! The thin binding: engine, sampler, profiles and logs as the private module `pgassay._core`.
//!
//! Enters: JSON texts. Leaves: JSON texts, columns and typed exceptions, as `_core.pyi` says.
//! Never: holds the interpreter while it waits.

mod errors;
mod load;
mod log;
mod parameters;
mod profile;
mod replay;
mod sampler;

use pyo3::prelude::*;

#[pymodule]
mod _core {
    use pyo3::prelude::*;

    #[pymodule_export]
    use crate::load::{Load, Merged, Merging, check_script, check_sql, script_statements};
    #[pymodule_export]
    use crate::log::LogReader;
    #[pymodule_export]
    use crate::parameters::Parameters;
    #[pymodule_export]
    use crate::profile::{draw_difference, draw_flame_graph, fold_stacks, pprof, speedscope};
    #[pymodule_export]
    use crate::replay::Replay;
    #[pymodule_export]
    use crate::sampler::Sampler;

    /// The present time on the module's one time axis.
    #[pyfunction]
    fn now_ns() -> i64 {
        pgassay_session::clock::now_ns()
    }

    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        module.add("LEADING_BITS", pgassay_engine::LEADING_BITS)?;
        crate::errors::register(module)
    }
}
