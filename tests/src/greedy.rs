//! Selects the greedy scheduler (one thread, static order) for tests of its order, even if the environment selects
//! workers.

use streamflow::graph::Graph;
use streamflow::prelude::*;
use streamflow::schedule::Workers;

/// Returns the graph, set to run on one thread in the static order.
///
/// # Errors
/// Those of [`Schedule::workers`].
pub fn greedy<G: Graph>(mut graph: G) -> Result<G> {
    graph.workers(Workers::none())?;
    Ok(graph)
}
