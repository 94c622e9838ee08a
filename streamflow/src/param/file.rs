//! Sets parameters to the values of a TOML file. The file has a table for each node, with a key for each of the node's
//! parameters: `[cfar]`, and `[left.resize]` for a node of the graph `left`.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use std::sync::Arc;

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::cell::{AnyParam, Assignment, Replaced, Unfit};
use super::graph::{GraphParams, OfNode, Params};
use super::state::NodeState;
use crate::error::{Error, Result, nearest};
use crate::lock::locked;

/// The functions that set the parameters of one node.
type Assignments<'a> = Vec<Assignment<'a>>;

/// The functions that set the parameters of all nodes, with the state of each node.
type AllAssignments<'a> = Vec<(&'a NodeState, Assignments<'a>)>;

impl GraphParams {
    /// Sets all parameters to the values of a file. This is no method, as [`node`](Self::node) is none: rustc would propose
    /// it in an error about a name that the user misspells.
    ///
    /// # Errors
    /// [`Error::ParamsFile`], with all mistakes. Then no parameter is set.
    pub fn load(params: &Self, path: &Path) -> Result<()> {
        let file = path.display().to_string();
        match fs::read_to_string(path) {
            Ok(text) => Self::load_str(params, &file, &text),
            Err(error) => {
                let problem = format!("{file}: it can't be read: {error}");
                Err(Error::ParamsFile { file, problems: vec![problem] })
            }
        }
    }

    /// Sets all parameters to the values of a TOML text. Errors name the text `name`, as if that were its file.
    ///
    /// # Errors
    /// As for [`load`](Self::load).
    pub fn load_str(params: &Self, name: &str, text: &str) -> Result<()> {
        let mut problems = Problems { file: name, text, found: Vec::new() };
        let assignments = params.read(text, &mut problems);
        if problems.found.is_empty() && params.is_dropped() {
            problems.add(0, "its graph was dropped, so nothing can be set; make a new graph");
        }
        if !problems.found.is_empty() {
            return Err(Error::ParamsFile { file: name.to_owned(), problems: problems.sorted() });
        }
        for (state, assignments) in assignments {
            // The node reads its parameters under this lock, so it gets all values of one file in the same tick.
            let held = locked(&state.changes);
            let replaced: Vec<Replaced> = assignments.into_iter().map(|assign| assign()).collect();
            drop(held);
            drop(replaced);
        }
        Ok(())
    }

    fn read(&self, text: &str, problems: &mut Problems<'_>) -> AllAssignments<'_> {
        let (document, errors) = DeTable::parse_recoverable(text);
        for error in &errors {
            problems.add(error.span().map_or(0, |span| span.start), error.message());
        }
        if !errors.is_empty() {
            // Returns before it looks for missing values: a value that could not be read would count as missing.
            return Vec::new();
        }
        self.read_tables(text.len(), "", document.get_ref(), problems)
    }

    /// Reads the tables of the nodes of a graph. `path` has the names of the graphs around it, each with a `.` after it, and is empty
    /// for the outermost one. A missing table is reported at `end`.
    fn read_tables(
        &self,
        end: usize,
        path: &str,
        tables: &DeTable<'_>,
        problems: &mut Problems<'_>,
    ) -> AllAssignments<'_> {
        let nodes: Vec<&OfNode> = self.nodes().filter(|node| node.has_params()).collect();
        let names: Vec<&str> = nodes.iter().map(|node| node.name.as_str()).collect();
        for key in tables.keys().filter(|key| !names.contains(&&**key.get_ref())) {
            let name = key.get_ref();
            let hint = nearest(name, names.iter().copied()).unwrap_or_else(|| match names[..] {
                [] => "no node of this graph has parameters; remove it".to_owned(),
                _ => format!("those that have are {}", list(&names)),
            });
            problems
                .add(key.span().start, format!("no node `{path}{name}` has parameters; {hint}"));
        }
        let mut all = Vec::new();
        for node in nodes {
            let name = node.name.as_str();
            match (&node.params, tables.get_key_value(name)) {
                (Params::Operator { state, params }, Some((key, value))) => {
                    let of_node = Table { path: &format!("{path}{name}"), state, params };
                    all.push((&**state, of_node.read(key.span().start, value, problems)));
                }
                (Params::Graph(inner), Some((key, value))) => {
                    let path = format!("{path}{name}");
                    let DeValue::Table(tables) = value.get_ref() else {
                        let found = value.get_ref().type_str();
                        let text = format!(
                            "`{path}` is a graph, and needs a table for each of its nodes, but this is one value ({found}); write"
                        );
                        let text = format!("{text}\n{}", inner.examples(&path));
                        problems.add(value.span().start, text);
                        continue;
                    };
                    let end = key.span().start;
                    all.extend(inner.read_tables(end, &format!("{path}."), tables, problems));
                }
                (_, None) => problems.add(
                    end,
                    format!(
                        "the table of node `{path}{name}` is missing; write\n{}",
                        node.examples(path)
                    ),
                ),
            }
        }
        all
    }

    /// Whether the graph was dropped. All nodes are dropped with it.
    fn is_dropped(&self) -> bool {
        self.nodes().any(|node| match &node.params {
            Params::Operator { state, .. } => state.is_dropped(),
            Params::Graph(inner) => inner.is_dropped(),
        })
    }

    /// Returns an example of the tables that a file needs for the nodes of the graph at `path`.
    fn examples(&self, path: &str) -> String {
        let nodes = self.nodes().filter(|node| node.has_params());
        let path = format!("{path}.");
        nodes.map(|node| node.examples(&path)).collect::<Vec<_>>().join("\n")
    }
}

impl OfNode {
    fn has_params(&self) -> bool {
        match &self.params {
            Params::Operator { .. } => true,
            Params::Graph(inner) => inner.nodes().any(Self::has_params),
        }
    }

    /// Returns an example of the tables of this node. `path` has the graphs around it, each with a `.` after it.
    fn examples(&self, path: &str) -> String {
        let path = format!("{path}{}", self.name);
        match &self.params {
            Params::Operator { state, params } => Table { state, params, path: &path }.example(),
            Params::Graph(inner) => inner.examples(&path),
        }
    }
}

/// The table of one operator's parameters.
struct Table<'a, 'p> {
    /// The path of the node in the graph whose handle reads the file.
    path: &'p str,
    state: &'a NodeState,
    params: &'a [Arc<dyn AnyParam>],
}

impl<'a> Table<'a, '_> {
    fn read(
        &self,
        at: usize,
        value: &Spanned<DeValue<'_>>,
        problems: &mut Problems<'_>,
    ) -> Assignments<'a> {
        let node = &self.state.node;
        let DeValue::Table(table) = value.get_ref() else {
            let found = value.get_ref().type_str();
            let text = format!(
                "`{node}` is a node, and needs a table, but this is one value ({found}); write"
            );
            problems.add(value.span().start, format!("{text}\n{}", self.example()));
            return Vec::new();
        };
        let names: Vec<&str> = self.params.iter().map(|param| param.name()).collect();
        for key in table.keys().filter(|key| !names.contains(&&**key.get_ref())) {
            let name = key.get_ref();
            let hint = nearest(name, names.iter().copied())
                .unwrap_or_else(|| format!("it has {}", list(&names)));
            let text = format!("node `{node}` has no parameter `{name}`; {hint}");
            problems.add(key.span().start, text);
        }
        let mut assignments = Vec::new();
        for param in self.params {
            let (name, expected) = (param.name(), param.expected());
            let Some(value) = table.get(name) else {
                let text = format!("`{node}.{name}` is missing; write `{name} = …`, a {expected}");
                problems.add(at, text);
                continue;
            };
            match param.prepare(value.clone()) {
                Ok(assign) => assignments.push(assign),
                Err(Unfit { text, at }) => {
                    let text = format!("`{node}.{name}`: {text}; it is a {expected}");
                    problems.add(at.unwrap_or(value.span().start), text);
                }
            }
        }
        assignments
    }

    /// Returns an example of the table that a file needs for the node.
    fn example(&self) -> String {
        let mut text = format!("    [{}]", header(self.path));
        for param in self.params {
            let _ = write!(text, "\n    {} = …  # {}", param.name(), param.expected());
        }
        text
    }
}

/// Returns a path of nodes as the header of a table. A node of an array, `cameras[3]`, stands in quotes.
fn header(path: &str) -> String {
    let quoted = |name: &str| match name.contains('[') {
        true => format!("\"{name}\""),
        false => name.to_owned(),
    };
    path.split('.').map(quoted).collect::<Vec<_>>().join(".")
}

/// The mistakes of a file, each with its position in the text in bytes.
struct Problems<'a> {
    file: &'a str,
    text: &'a str,
    found: Vec<(usize, String)>,
}

impl Problems<'_> {
    fn add(&mut self, at: usize, problem: impl Into<String>) {
        self.found.push((at, problem.into()));
    }

    /// Returns the mistakes as text, in the order of their positions, each with its line and column, counted from 1. A column
    /// counts characters.
    fn sorted(mut self) -> Vec<String> {
        self.found.sort_by_key(|(at, _)| *at);
        let place = |(at, problem): &(usize, String)| {
            let before = self.text.get(..*at).unwrap_or(self.text);
            let line = before.matches('\n').count() + 1;
            let column = before.rsplit('\n').next().unwrap_or_default().chars().count() + 1;
            format!("{}:{line}:{column}: {problem}", self.file)
        };
        self.found.iter().map(place).collect()
    }
}

/// Returns the names in backquotes, separated by commas.
fn list(names: &[&str]) -> String {
    names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
}
