//! The parameters of all nodes of a graph.

use std::any::Any;
use std::fmt;
use std::sync::Arc;

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

pub(super) struct OfNode {
    pub(super) state: Arc<NodeState>,
    handle: Box<dyn Any + Send + Sync>,
    pub(super) params: Vec<Arc<dyn AnyParam>>,
}

impl GraphParams {
    pub(super) fn add(
        &self,
        state: Arc<NodeState>,
        handle: impl Any + Send + Sync,
        params: Vec<Arc<dyn AnyParam>>,
    ) {
        self.nodes.push(OfNode { state, handle: Box::new(handle), params });
    }

    /// Returns the nodes that have parameters.
    pub(super) fn nodes(&self) -> impl Iterator<Item = &OfNode> {
        self.nodes.iter().map(|(_, node)| node)
    }

    /// Returns the handle of the node `name`. `P` must be the type of that node's handle. This function is no method, since rustc
    /// would propose a method in an error about a name that the user misspells.
    pub fn node<'a, P: 'static>(params: &'a Self, name: &str) -> &'a P {
        let node = params.nodes().find(|node| node.state.node == name);
        let handle: &dyn Any = node.map_or(&NoParams, |node| &*node.handle);
        match handle.downcast_ref() {
            Some(handle) => handle,
            None => unreachable!(
                "`graph!` names a node of this graph, which was made with its parameters"
            ),
        }
    }
}

impl fmt::Debug for GraphParams {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.nodes().map(|node| &node.state.node)).finish()
    }
}
