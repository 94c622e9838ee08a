//! The greedy scheduler, for tests of its order, also where the environment sets workers.

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
