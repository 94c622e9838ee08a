//! The declaration of a graph as data. `graph!` writes these values, and `graph/diagram.rs` draws them.
//!
//! A graph may have thousands of nodes, so the functions that make nodes and edges take few tokens.

/// The declaration of a graph.
#[derive(Debug)]
pub struct Declaration {
    /// The name of the graph.
    pub graph: &'static str,
    /// The ports of the graph.
    pub ports: &'static [DeclaredPort],
    /// The pools of the graph.
    pub pools: &'static [&'static str],
    /// The nodes in the order in which they run.
    pub nodes: &'static [DeclaredNode],
    /// The edges between nodes, then those of the graph's ports, and then the discarded outputs.
    pub edges: &'static [DeclaredEdge],
}

/// A port of a graph.
#[derive(Debug)]
pub struct DeclaredPort {
    /// The name of the port.
    pub name: &'static str,
    /// The length of an array of ports.
    pub length: Option<usize>,
}

/// A node of a graph, or an array of nodes.
#[derive(Debug)]
pub struct DeclaredNode {
    /// The name of the node.
    pub name: &'static str,
    /// The type of the node, or of an element of the array, as the user wrote it.
    pub ty: &'static str,
    /// Returns the name of a type with a parameter of the graph in it: the parameter stands for another type in each use of the graph.
    pub type_name: Option<fn() -> String>,
    /// The length of an array.
    pub length: Option<usize>,
    /// The worker of the node.
    pub worker: Option<&'static str>,
    /// The index of the node's pool in the list of pools.
    pub pool: Option<usize>,
    /// Returns the declaration of a node that is a graph.
    pub inside: fn() -> Option<Declaration>,
}

impl DeclaredNode {
    /// Creates a single node without a worker and a pool.
    #[must_use]
    pub const fn new(
        name: &'static str,
        ty: &'static str,
        inside: fn() -> Option<Declaration>,
    ) -> Self {
        Self { name, ty, type_name: None, length: None, worker: None, pool: None, inside }
    }

    /// Sets the function that returns the name of the type.
    #[must_use]
    pub const fn named(self, type_name: fn() -> String) -> Self {
        Self { type_name: Some(type_name), ..self }
    }

    /// Makes the node an array of this length.
    #[must_use]
    pub const fn of_length(self, length: usize) -> Self {
        Self { length: Some(length), ..self }
    }

    /// Sets the worker.
    #[must_use]
    pub const fn on_worker(self, worker: &'static str) -> Self {
        Self { worker: Some(worker), ..self }
    }

    /// Sets the index of the pool.
    #[must_use]
    pub const fn on_pool(self, pool: usize) -> Self {
        Self { pool: Some(pool), ..self }
    }
}

/// An edge of a graph.
#[derive(Debug)]
pub struct DeclaredEdge {
    /// The output.
    pub from: DeclaredEnd,
    /// The input. `None` for an output that is discarded.
    pub to: Option<DeclaredEnd>,
    /// The words after the names of the ports.
    pub note: &'static str,
}

/// An end of an edge.
#[derive(Debug)]
pub struct DeclaredEnd {
    /// The node. `None` for a port of the graph itself.
    pub node: Option<&'static str>,
    /// The index in an array of nodes, as `[i + 1]`, or an empty text.
    pub index: &'static str,
    /// The port.
    pub port: &'static str,
    /// The index in an array of ports, or an empty text.
    pub element: &'static str,
}

impl DeclaredEdge {
    /// Creates an edge. An end is the node, its index, the port and its index. A port of the graph itself has an empty text as its node,
    /// and an output that is discarded leads to an end of four empty texts.
    #[must_use]
    pub const fn new(from: [&'static str; 4], to: [&'static str; 4], note: &'static str) -> Self {
        let [_, _, input, _] = to;
        let to = if input.is_empty() { None } else { Some(DeclaredEnd::new(to)) };
        Self { from: DeclaredEnd::new(from), to, note }
    }
}

impl DeclaredEnd {
    const fn new([node, index, port, element]: [&'static str; 4]) -> Self {
        Self { node: if node.is_empty() { None } else { Some(node) }, index, port, element }
    }
}
