//! The diagram of a graph's declaration: its nodes in boxes for their pools, its edges, and the graphs inside.

use std::collections::HashSet;

use super::drawing::{Drawing, Language, Look};
use crate::operator::declaration::{
    Declaration, DeclaredEdge, DeclaredEnd, DeclaredNode, DeclaredPort,
};

/// The declaration of a graph as a diagram, from the function `diagram` of a graph's struct. A graph inside is a box with its ports and
/// nodes, an array is drawn once, and a node is in the box of its pool.
#[derive(Debug)]
pub struct Diagram(Declaration);

impl Diagram {
    /// Creates the diagram of a declaration. `graph!` calls this function.
    #[doc(hidden)]
    #[must_use]
    pub fn __streamflow_new(declaration: Declaration) -> Self {
        Self(declaration)
    }

    /// Returns the diagram as a Mermaid flow chart. Programs that show such charts have limits, as 500 edges; Graphviz is for
    /// larger graphs.
    #[must_use]
    pub fn mermaid(&self) -> String {
        self.draw(Language::Mermaid)
    }

    /// Returns the diagram in the language of Graphviz.
    #[must_use]
    pub fn dot(&self) -> String {
        self.draw(Language::Dot)
    }

    fn draw(&self, language: Language) -> String {
        let mut drawing = Drawing::new(language, self.0.graph);
        self.0.draw(&mut drawing, "");
        drawing.finish()
    }
}

impl Declaration {
    /// Draws the graph. `path` is empty, or the path of the graph and a dot. A name with a space is that of no node and no port.
    fn draw(&self, drawing: &mut Drawing, path: &str) {
        for port in self.ports {
            drawing.node(&format!("{path}{}", port.name), &port.label(), Look::Port);
        }
        let mut graphs = HashSet::new();
        for (index, pool) in self.pools.iter().enumerate() {
            let mut nodes = self.nodes.iter().filter(|node| node.pool == Some(index)).peekable();
            if nodes.peek().is_some() {
                drawing.begin_box(&format!("pool {path}{pool}"), pool);
                nodes.for_each(|node| node.draw(drawing, path, &mut graphs));
                drawing.end_box();
            }
        }
        let without_pool = self.nodes.iter().filter(|node| node.pool.is_none());
        without_pool.for_each(|node| node.draw(drawing, path, &mut graphs));
        for (index, DeclaredEdge { from, to, note }) in self.edges.iter().enumerate() {
            let output = from.name(path, &graphs);
            match to {
                Some(to) => {
                    let label = format!("{} → {}{note}", from.label(), to.label());
                    drawing.edge(&output, &to.name(path, &graphs), &label, false);
                }
                None => {
                    let end = format!("discard {path}{index}");
                    drawing.node(&end, "", Look::Discard);
                    drawing.edge(&output, &end, &format!("{}{note}", from.label()), false);
                }
            }
        }
    }
}

impl DeclaredPort {
    fn label(&self) -> String {
        match self.length {
            Some(length) => format!("{}[0..{length}]", self.name),
            None => self.name.to_owned(),
        }
    }
}

impl DeclaredNode {
    /// Draws the node, and adds its name to `graphs` if it is a graph.
    fn draw(&self, drawing: &mut Drawing, path: &str, graphs: &mut HashSet<&'static str>) {
        let (name, label) = (format!("{path}{}", self.name), self.label());
        match (self.inside)() {
            Some(declaration) => {
                graphs.insert(self.name);
                drawing.begin_box(&name, &label);
                declaration.draw(drawing, &format!("{name}."));
                drawing.end_box();
            }
            None => drawing.node(&name, &label, Look::Node),
        }
    }

    /// Returns the label: `left: Camera`, or `casts: [Cast<f32>; 3] (worker disk)`.
    fn label(&self) -> String {
        let ty = self.type_name.map_or_else(|| self.ty.to_owned(), |name| name());
        let ty = self.length.map_or_else(|| ty.clone(), |length| format!("[{ty}; {length}]"));
        let worker = self.worker.map(|worker| format!(" (worker {worker})")).unwrap_or_default();
        format!("{}: {ty}{worker}", self.name)
    }
}

impl DeclaredEnd {
    /// Returns the name of the node at this end, or that of the port if the port is one of a graph.
    fn name(&self, path: &str, graphs: &HashSet<&str>) -> String {
        let port = self.port;
        match self.node {
            None => format!("{path}{port}"),
            Some(node) if graphs.contains(node) => format!("{path}{node}.{port}"),
            Some(node) => format!("{path}{node}"),
        }
    }

    /// Returns the port with its indices: `frame`, or `[i].frames[0]`.
    fn label(&self) -> String {
        let Self { index, port, element, .. } = self;
        match index.is_empty() {
            true => format!("{port}{element}"),
            false => format!("{index}.{port}{element}"),
        }
    }
}
