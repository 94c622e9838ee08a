//! The greedy scheduler, for tests of its order, also where the environment sets workers.

use std::env;

use streamflow::graph::Graph;
use streamflow::prelude::*;
use streamflow::schedule::Workers;

/// The graph, which one thread runs in the static order.
///
/// # Errors
/// Those of [`Schedule::workers`].
pub fn greedy<G: Graph>(mut graph: G) -> Result<G> {
    graph.workers(Workers::none())?;
    Ok(graph)
}

/// Whether the environment leaves the other graphs to the greedy scheduler.
pub fn is_default() -> bool {
    env::var_os("STREAMFLOW_WORKERS").is_none()
}
