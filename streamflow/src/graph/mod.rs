//! Graphs: nodes that hold operators, ready to be scheduled.
//!
//! `graph!` makes a struct whose fields are [`Node`]s, and implements [`Graph`] for it. A scheduler
//! sees the nodes as [`AnyNode`]s, in an order in which producers come before their consumers.

pub mod check;
mod node;
mod options;
mod text;

pub use node::{AnyNode, Node, any_node, node};
pub use options::{NodeOptions, NodeStreams, Readiness};

use crate::platform::Platform;

/// A struct made by `graph!`.
pub trait Graph {
    /// The nodes, producers before consumers.
    fn nodes(&mut self) -> Vec<&mut dyn AnyNode>;
    /// Where it runs.
    fn platform(&self) -> &Platform;
}
