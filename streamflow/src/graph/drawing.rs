//! `Drawing`: a graph as text, in the language of Mermaid or of Graphviz (DOT), with the nodes from left to right.

use std::collections::HashMap;
use std::fmt::Write;

/// The language of a drawing.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Language {
    Mermaid,
    Dot,
}

/// The look of a node.
#[derive(Clone, Copy)]
pub(super) enum Look {
    Node,
    /// A node in the colour with this number. After the last colour, the first one is used again.
    Coloured(usize),
    /// A port of a graph.
    Port,
    /// The end of an edge that discards its messages.
    Discard,
}

const COLOURS: [&str; 8] =
    ["#a6cee3", "#b2df8a", "#fdbf6f", "#cab2d6", "#fb9a99", "#ffff99", "#8dd3c7", "#d9d9d9"];

/// A drawing that is being written. Each node and each box has a name of its own.
///
/// Mermaid does not accept all names, so its nodes and boxes have numbers, as `n0`. Graphviz has the names themselves.
pub(super) struct Drawing {
    language: Language,
    text: String,
    numbers: HashMap<String, usize>,
    /// The number of boxes around the next node.
    depth: usize,
    /// The number of colours that nodes have.
    colours: usize,
}

// The results of `write!` are ignored, since writing to a `String` does not fail.
impl Drawing {
    pub(super) fn new(language: Language, graph: &str) -> Self {
        let text = match language {
            Language::Mermaid => "flowchart LR\n".to_owned(),
            Language::Dot => {
                format!("digraph \"{graph}\" {{\n    rankdir=LR;\n    node [shape=box];\n")
            }
        };
        Self { language, text, numbers: HashMap::new(), depth: 0, colours: 0 }
    }

    pub(super) fn node(&mut self, name: &str, label: &str, look: Look) {
        self.indent();
        if let Look::Coloured(number) = look {
            self.colours = self.colours.max(number + 1);
        }
        let (id, label) = (self.id(name), self.label(label));
        let _ = match (self.language, look) {
            (Language::Mermaid, Look::Node) => writeln!(self.text, "{id}[{label}]"),
            (Language::Mermaid, Look::Coloured(number)) => {
                writeln!(self.text, "{id}[{label}]:::stream{number}")
            }
            (Language::Mermaid, Look::Port) => writeln!(self.text, "{id}([{label}])"),
            (Language::Mermaid, Look::Discard) => writeln!(self.text, "{id}((\" \"))"),
            (Language::Dot, Look::Node) => writeln!(self.text, "{id} [label={label}];"),
            (Language::Dot, Look::Coloured(number)) => {
                let colour = COLOURS[number % COLOURS.len()];
                writeln!(self.text, "{id} [label={label}, style=filled, fillcolor=\"{colour}\"];")
            }
            (Language::Dot, Look::Port) => {
                writeln!(self.text, "{id} [shape=ellipse, label={label}];")
            }
            (Language::Dot, Look::Discard) => {
                writeln!(self.text, "{id} [shape=point, label=\"\"];")
            }
        };
    }

    /// Begins a box around the nodes that follow, until `end_box`.
    pub(super) fn begin_box(&mut self, name: &str, label: &str) {
        self.indent();
        self.depth += 1;
        let label = self.label(label);
        match self.language {
            Language::Mermaid => {
                let id = self.id(name);
                let _ = writeln!(self.text, "subgraph {id}[{label}]");
            }
            Language::Dot => {
                let _ = writeln!(self.text, "subgraph \"cluster {name}\" {{");
                self.indent();
                let _ = writeln!(self.text, "label={label};");
            }
        }
    }

    pub(super) fn end_box(&mut self) {
        self.depth -= 1;
        self.indent();
        self.text.push_str(match self.language {
            Language::Mermaid => "end\n",
            Language::Dot => "}\n",
        });
    }

    pub(super) fn edge(&mut self, from: &str, to: &str, label: &str, is_bold: bool) {
        self.indent();
        let (from, to, label) = (self.id(from), self.id(to), self.label(label));
        let _ = match (self.language, is_bold) {
            (Language::Mermaid, false) => writeln!(self.text, "{from} -- {label} --> {to}"),
            (Language::Mermaid, true) => writeln!(self.text, "{from} == {label} ==> {to}"),
            (Language::Dot, false) => writeln!(self.text, "{from} -> {to} [label={label}];"),
            (Language::Dot, true) => {
                writeln!(self.text, "{from} -> {to} [label={label}, style=bold];")
            }
        };
    }

    pub(super) fn finish(mut self) -> String {
        match self.language {
            Language::Mermaid => {
                for number in 0..self.colours {
                    let colour = COLOURS[number % COLOURS.len()];
                    let style = format!("fill:{colour},stroke:#333,color:#000");
                    let _ = writeln!(self.text, "    classDef stream{number} {style}");
                }
            }
            Language::Dot => self.text.push_str("}\n"),
        }
        self.text
    }

    fn indent(&mut self) {
        for _ in 0..=self.depth {
            self.text.push_str("    ");
        }
    }

    /// Returns the identifier of the node or box of this name in the language.
    fn id(&mut self, name: &str) -> String {
        if self.language == Language::Dot {
            return format!("\"{name}\"");
        }
        let next = self.numbers.len();
        let number = *self.numbers.entry(name.to_owned()).or_insert(next);
        format!("n{number}")
    }

    /// Returns a label in quotes, with codes for the characters that have a meaning in the language.
    fn label(&self, text: &str) -> String {
        let text = match self.language {
            Language::Mermaid => text
                .replace('#', "#35;")
                .replace('<', "#lt;")
                .replace('>', "#gt;")
                .replace('"', "#quot;"),
            Language::Dot => text.replace('\\', "\\\\").replace('"', "\\\""),
        };
        format!("\"{text}\"")
    }
}
