//! A graph that a test builds at run time, with the calls that `graph!` expands to.

use streamflow::__private::Node;
use streamflow::__private::{AnyNode, NodeOptions, RunState, finish};
use streamflow::graph::Graph;
use streamflow::operator::Operator;
use streamflow::prelude::*;

use crate::Failed;

/// A graph whose nodes are listed in their order, producers before consumers.
pub struct Built {
    platform: Platform,
    nodes: Vec<Box<dyn AnyNode>>,
    /// The settings and state of the graph's runs.
    run: RunState,
    /// Streams that are held until the graph is dropped, so that no node is allocated one of them.
    _others: Vec<CudaStream>,
}

impl Built {
    /// Creates a graph of nodes that [`node`] made. `others` are the streams on which the first messages were written.
    ///
    /// # Errors
    /// Those of a graph of `graph!`, as its `new` returns them.
    pub fn new(
        platform: &Platform,
        nodes: Vec<Box<dyn AnyNode>>,
        others: Vec<CudaStream>,
    ) -> Result<Self, Error> {
        let (platform, run) = (platform.clone(), RunState::default());
        let mut built = Self { platform, nodes, run, _others: others };
        finish(&mut built)?;
        Ok(built)
    }
}

impl Graph for Built {
    fn nodes(&mut self) -> Vec<&mut dyn AnyNode> {
        self.nodes.iter_mut().map(|node| &mut **node as &mut dyn AnyNode).collect()
    }

    fn __streamflow_run(&mut self) -> Option<&mut RunState> {
        Some(&mut self.run)
    }

    fn platform(&self) -> &Platform {
        &self.platform
    }

    type Handle = ();

    fn handle(&self) {}
}

/// Makes a node whose ports are connected already.
///
/// # Errors
/// Those of a node of `graph!`.
pub fn node<O: Operator>(
    operator: O,
    ports: O::Ports,
    name: &str,
    platform: &Platform,
    options: NodeOptions<'_>,
) -> Result<Box<Node<O>>, Error> {
    let mut node = operator.__streamflow_node(name, platform, options)?;
    node.parts.ports = ports;
    Ok(node)
}

/// The error for a plan with an edge whose port does not exist on the plan's operators.
pub fn no_such_port() -> Failed {
    Failed::msg("an edge begins or ends at a port that does not exist")
}
