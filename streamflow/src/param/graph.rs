//! The parameters of all nodes of a graph. A graph that stands in another graph has its own, so these are a tree.

use std::any::Any;
use std::fmt;
use std::sync::Arc;
use std::vec;

use super::cell::AnyParam;
use super::state::NodeState;

/// The parameters of all nodes of a graph. Clones are the same parameters.
#[derive(Clone, Default)]
pub struct GraphParams {
    nodes: Arc<boxcar::Vec<OfNode>>,
}

/// The handle of an operator without parameters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct NoParams;

/// The parameters of one node.
pub(super) struct OfNode {
    /// The name of the node in its graph. The state has its path.
    pub(super) name: String,
    handle: Box<dyn Any + Send + Sync>,
    pub(super) params: Params,
}

/// The parameters that the handle of a node sets.
pub(super) enum Params {
    /// The parameters of an operator.
    Operator { state: Arc<NodeState>, params: Vec<Arc<dyn AnyParam>> },
    /// Those of the nodes of a graph.
    Graph(GraphParams),
}

impl GraphParams {
    pub(super) fn add(
        &self,
        state: Arc<NodeState>,
        handle: impl Any + Send + Sync,
        params: Vec<Arc<dyn AnyParam>>,
    ) {
        let (name, params) = (last(&state.node), Params::Operator { state, params });
        self.nodes.push(OfNode { name, handle: Box::new(handle), params });
    }

    /// Adds the parameters of a graph, which is the node at `path`, with the graph's handle. This function is no method, as
    /// [`node`](Self::node) is none.
    pub fn add_graph(params: &Self, path: &str, of_graph: Self, handle: impl Any + Send + Sync) {
        let (name, of_graph) = (last(path), Params::Graph(of_graph));
        params.nodes.push(OfNode { name, handle: Box::new(handle), params: of_graph });
    }

    /// Returns the nodes that have a handle: those with parameters, and graphs.
    pub(super) fn nodes(&self) -> impl Iterator<Item = &OfNode> {
        self.nodes.iter().map(|(_, node)| node)
    }

    /// Returns the handle of the node `name`. `P` must be the type of that node's handle. This function is no method, since rustc
    /// would propose a method in an error about a name that the user misspells.
    pub fn node<'a, P: 'static>(params: &'a Self, name: &str) -> &'a P {
        let node = params.nodes().find(|node| node.name == name);
        let handle: &dyn Any = node.map_or(&NoParams, |node| &*node.handle);
        match handle.downcast_ref() {
            Some(handle) => handle,
            None => unreachable!(
                "`graph!` names a node of this graph, which was made with its parameters"
            ),
        }
    }
}

impl GraphParams {
    /// Returns the handles of the nodes of an array, in order. `P` must be the type of the nodes' handles.
    pub fn array<'a, P: 'static>(
        params: &'a Self,
        name: &str,
        count: usize,
    ) -> vec::IntoIter<&'a P> {
        let handles = (0..count).map(|index| Self::node(params, &format!("{name}[{index}]")));
        handles.collect::<Vec<_>>().into_iter()
    }
}

impl fmt::Debug for GraphParams {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.nodes().map(|node| &node.name)).finish()
    }
}

/// Returns the last name of a path, as `resize` of `left.resize`.
fn last(path: &str) -> String {
    path.rsplit('.').next().unwrap_or(path).to_owned()
}
