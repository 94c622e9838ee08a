//! The diagram of a graph. The macro draws it for the documentation, where a graph inside is one node: the macro has the text of this
//! graph alone. It also writes the declaration of the graph as data, and the library draws that with the graphs inside.

use std::collections::HashMap;
use std::fmt::Write;

use proc_macro2::TokenStream;
use quote::{ToTokens, quote};
use syn::ext::IdentExt;

use super::paths::operator_item;
use crate::graph::index::{Index, Loop};
use crate::graph::model::{Edge, Graph};
use crate::graph::parts::{Carries, OwnEnd, Port, Side, Streams, unraw_name};
use crate::tokens::{spelled, spelled_tokens};

/// The declaration of a graph, with the types as the user wrote them.
pub(in crate::graph) struct Diagram {
    graph: String,
    /// The ports, each with the length of an array.
    ports: Vec<(String, Option<TokenStream>)>,
    pools: Vec<String>,
    /// The nodes in the order in which they run.
    nodes: Vec<DrawnNode>,
    edges: Vec<DrawnEdge>,
}

struct DrawnNode {
    /// The index of the node in the graph.
    index: usize,
    name: String,
    /// The type of the node, or of an element of the array.
    ty: String,
    /// The length of an array.
    length: Option<TokenStream>,
    worker: Option<String>,
    /// The index of the pool.
    pool: Option<usize>,
}

struct DrawnEdge {
    from: End,
    /// The input, or `None` if the messages are discarded.
    to: Option<End>,
    /// The words after the names of the ports.
    note: String,
}

struct End {
    /// The node, or `None` for a port of the graph.
    node: Option<String>,
    index: String,
    port: String,
    element: String,
}

impl Diagram {
    pub(in crate::graph) fn of(graph: &Graph) -> Self {
        let known = |port: &Port| graph.nodes.index_of(port).is_some();
        let edges = graph.edges.iter().filter(|edge| known(&edge.output) && known(&edge.input));
        let edges = edges.map(|edge| DrawnEdge {
            from: End::of(&edge.output),
            to: Some(End::of(&edge.input)),
            note: note(edge) + &turns(edge.around.as_ref()),
        });
        let borders = graph.borders().filter(|(_, border)| known(&border.inner));
        let borders = borders.map(|(port, border)| {
            let (own, inner) = (End::of_graph(&border.own), End::of(&border.inner));
            let (from, to) = match port.side {
                Side::Input => (own, inner),
                Side::Output => (inner, own),
            };
            DrawnEdge { from, to: Some(to), note: turns(border.around.as_ref()) }
        });
        let discards = graph.discards.iter().filter(|discard| known(&discard.output));
        let discards = discards.map(|discard| DrawnEdge {
            from: End::of(&discard.output),
            to: None,
            note: turns(discard.around.as_ref()),
        });
        let ports = graph.ports.iter().map(|port| {
            (unraw_name(&port.name), port.declared.length().map(ToTokens::to_token_stream))
        });
        Self {
            graph: unraw_name(&graph.header.name),
            ports: ports.collect(),
            pools: graph.pools.iter().map(|pool| unraw_name(&pool.name)).collect(),
            nodes: graph.order.iter().map(|&index| DrawnNode::of(graph, index)).collect(),
            edges: edges.chain(borders).chain(discards).collect(),
        }
    }

    /// Draws a Mermaid flow chart from left to right. The nodes are in a box for each pool, and each edge has the names of its ports.
    /// Mermaid does not accept all names, so the nodes and ports have numbers.
    pub(in crate::graph) fn mermaid(&self) -> String {
        let mut text = String::from("flowchart LR\n");
        let ports = self.ports.iter().map(|(name, _)| name);
        let names = ports.chain(self.nodes.iter().map(|node| &node.name));
        let numbers: HashMap<&String, usize> = names.zip(0..).collect();
        // Each end is a port of the graph, or one of a node that is there.
        let id = |name: &String| {
            numbers.get(name).map(|number| format!("n{number}")).unwrap_or_default()
        };
        // Writing to a `String` does not fail.
        for (name, length) in &self.ports {
            let length = length.as_ref().map(|length| spelled_tokens(length.clone()));
            let length = length.map(|length| format!("[0..{length}]")).unwrap_or_default();
            let _ =
                writeln!(text, "    {}([\"{}\"])", id(name), escaped(&format!("{name}{length}")));
        }
        for (index, pool) in self.pools.iter().enumerate() {
            let mut nodes = self.nodes_on(Some(index)).peekable();
            if nodes.peek().is_some() {
                let _ = writeln!(text, "    subgraph p{index}[\"{pool}\"]");
                for node in nodes {
                    let _ = writeln!(text, "        {}[\"{}\"]", id(&node.name), node.label());
                }
                text.push_str("    end\n");
            }
        }
        for node in self.nodes_on(None) {
            let _ = writeln!(text, "    {}[\"{}\"]", id(&node.name), node.label());
        }
        for (index, DrawnEdge { from, to, note }) in self.edges.iter().enumerate() {
            let (output, label) = (id(from.name()), from.label());
            let _ = match to {
                Some(to) => {
                    let label = escaped(&format!("{label} → {}{note}", to.label()));
                    writeln!(text, "    {output} -- \"{label}\" --> {}", id(to.name()))
                }
                None => {
                    let label = escaped(&format!("{label}{note}"));
                    let end = format!("d{index}");
                    writeln!(text, "    {end}((\" \"))\n    {output} -- \"{label}\" --> {end}")
                }
            };
        }
        text
    }

    /// Writes the value `Declaration { … }` of the library.
    pub(super) fn expand(&self, graph: &Graph) -> TokenStream {
        let Self { graph: name, ports, pools, nodes, edges } = self;
        let ports = ports.iter().map(|(name, length)| {
            let length = match length {
                Some(length) => quote!(::core::option::Option::Some(#length)),
                None => quote!(::core::option::Option::None),
            };
            quote!(::streamflow::__private::DeclaredPort { name: #name, length: #length })
        });
        let nodes = nodes.iter().map(|DrawnNode { index, name, ty, length, worker, pool }| {
            let node = &graph.nodes[*index];
            let element = node.element().unwrap_or(&node.ty);
            let inside = operator_item(&node.ty, "__streamflow_declaration");
            let type_name = graph.header.depends(element);
            let type_name = type_name
                .then(|| quote!(.named(::streamflow::__private::short_type_name::<#element>)));
            let length = length.as_ref().map(|length| quote!(.of_length(#length)));
            let worker = worker.as_ref().map(|worker| quote!(.on_worker(#worker)));
            let pool = pool.as_ref().map(|pool| quote!(.on_pool(#pool)));
            quote!(__StreamflowNode::new(#name, #ty, #inside) #type_name #length #worker #pool)
        });
        let edges = edges.iter().map(|DrawnEdge { from, to, note }| {
            let to = to.as_ref().map_or_else(|| quote!([""; 4]), End::expand);
            let from = from.expand();
            quote!(__StreamflowEdge::new(#from, #to, #note))
        });
        quote! {{
            use ::streamflow::__private::{
                DeclaredEdge as __StreamflowEdge, DeclaredNode as __StreamflowNode,
            };
            ::streamflow::__private::Declaration {
                graph: #name,
                ports: const { &[#(#ports,)*] },
                pools: &[#(#pools,)*],
                nodes: const { &[#(#nodes,)*] },
                edges: const { &[#(#edges,)*] },
            }
        }}
    }

    fn nodes_on(&self, pool: Option<usize>) -> impl Iterator<Item = &DrawnNode> {
        self.nodes.iter().filter(move |node| node.pool == pool)
    }
}

impl DrawnNode {
    fn of(graph: &Graph, index: usize) -> Self {
        let node = &graph.nodes[index];
        let (attributes, element) = (&node.attributes, node.element().unwrap_or(&node.ty));
        let pool = match &attributes.streams {
            // An unknown pool is a mistake, and has no box.
            Streams::Pool(_) => graph.pools.iter().position(|pool| node.is_on(pool)),
            Streams::OwnPool | Streams::Adopt => None,
        };
        Self {
            index,
            name: node.unraw_name(),
            ty: spelled(element),
            length: node.array.as_ref().map(|array| array.length.to_token_stream()),
            worker: attributes.worker.as_ref().map(unraw_name),
            pool,
        }
    }

    /// Returns the label: `source1: Source`, or `writer: Writer (worker disk)`.
    fn label(&self) -> String {
        let Self { name, ty, length, worker, .. } = self;
        let worker =
            worker.as_ref().map(|worker| format!(" (worker {worker})")).unwrap_or_default();
        escaped(&match length {
            Some(length) => format!("{name}: [{ty}; {}]{worker}", spelled_tokens(length.clone())),
            None => format!("{name}: {ty}{worker}"),
        })
    }
}

impl End {
    fn of(Port { node, index, name, element, .. }: &Port) -> Self {
        let text = |index: &Option<Box<Index>>| index.as_ref().map(ToString::to_string);
        Self {
            node: Some(unraw_name(node)),
            index: text(index).unwrap_or_default(),
            port: unraw_name(name),
            element: text(element).unwrap_or_default(),
        }
    }

    fn of_graph(OwnEnd { name, element }: &OwnEnd) -> Self {
        let element = element.as_ref().map(ToString::to_string).unwrap_or_default();
        Self { node: None, index: String::new(), port: unraw_name(name), element }
    }

    /// Returns the name of the node, or of the port of the graph.
    fn name(&self) -> &String {
        self.node.as_ref().unwrap_or(&self.port)
    }

    /// Returns the port with its indices: `frame`, or `[i].frames[0]`.
    fn label(&self) -> String {
        let Self { index, port, element, .. } = self;
        match index.is_empty() {
            true => format!("{port}{element}"),
            false => format!("{index}.{port}{element}"),
        }
    }

    fn expand(&self) -> TokenStream {
        let Self { node, index, port, element } = self;
        let node = node.as_deref().unwrap_or_default();
        quote!([#node, #index, #port, #element])
    }
}

/// Returns the words after the names of the ports of an edge.
fn note(edge: &Edge) -> String {
    let carries = match edge.attributes.carries {
        Carries::Message => "",
        Carries::Copy => " (copy)",
        Carries::Transfer => " (transfer)",
    };
    let feedback = if edge.attributes.initial.is_some() { " (next tick)" } else { "" };
    format!("{carries}{feedback}")
}

/// Returns the turns of the loop around an edge: ` (i in 0..4)`.
fn turns(around: Option<&Loop>) -> String {
    let Some(Loop { variable, start, end, .. }) = around else { return String::new() };
    let [start, end] = [start, end].map(|bound| spelled_tokens(bound.to_token_stream()));
    format!(" ({} in {start}..{end})", variable.unraw())
}

/// Replaces the characters that have a meaning in a Mermaid label by their codes.
fn escaped(text: &str) -> String {
    text.replace('#', "#35;").replace('<', "#lt;").replace('>', "#gt;").replace('"', "#quot;")
}
