//! Writes code that one binary each compiles: the graphs of the benchmark `floor` (chains, a fan, and the patterns of Task
//! Bench), and the random bodies of the test `one_body`.
//!
//! `STREAMFLOW_ONE_BODY_SEED` has the seed of the bodies, and `STREAMFLOW_ONE_BODY_COUNT` how many each type has.

#[path = "tests/one_body/generator.rs"]
mod generator;
#[allow(unreachable_pub, reason = "the tests' library exports it")]
#[path = "src/floor/patterns.rs"]
mod patterns;
#[allow(dead_code, unreachable_pub, reason = "a part of the generator is used here")]
#[path = "src/random.rs"]
mod random;

use std::fmt::Write as _;
use std::path::Path;
use std::{env, fs, io};

use patterns::{PATTERNS, STEPS, dependencies, width};

fn main() -> io::Result<()> {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-changed=src/floor/patterns.rs");
    println!("cargo::rerun-if-changed=src/random.rs");
    println!("cargo::rerun-if-changed=../crates/streamflow-driver/src/splitmix.rs");
    let mut text: String = [16, 100, 500].map(chain).concat();
    text += &fan(64);
    text += &PATTERNS.map(pattern).concat();
    let directory = env::var_os("OUT_DIR").ok_or(io::ErrorKind::NotFound)?;
    fs::write(Path::new(&directory).join("floor.rs"), text)?;

    println!("cargo::rerun-if-changed=tests/one_body/generator.rs");
    let seed = number("STREAMFLOW_ONE_BODY_SEED", 1)?;
    let count = number("STREAMFLOW_ONE_BODY_COUNT", 12)?;
    let bodies = generator::bodies(seed, count as usize);
    fs::write(Path::new(&directory).join("random_bodies.rs"), bodies)
}

/// The number that a variable has, or `default` without the variable.
fn number(name: &str, default: u64) -> io::Result<u64> {
    println!("cargo::rerun-if-env-changed={name}");
    let Ok(text) = env::var(name) else { return Ok(default) };
    let wrong = |_| io::Error::other(format!("{name} is no number: {text}"));
    text.parse().map_err(wrong)
}

/// The nodes and edges of a graph.
#[derive(Default)]
struct Text {
    nodes: String,
    edges: String,
    count: usize,
}

impl Text {
    /// Adds a node, named `t` and its number.
    fn node(&mut self, operator: &str) -> usize {
        let node = self.count;
        // Writing to a `String` does not fail.
        let _ = writeln!(
            self.nodes,
            "#[streams(P)] let t{node}: {operator} = {operator}::new({node}, run.clone());"
        );
        self.count += 1;
        node
    }

    fn edge(&mut self, from: usize, to: &str) {
        let _ = writeln!(self.edges, "t{from}.out >> {to};");
    }

    fn graph(&self, name: &str) -> String {
        let Self { nodes, edges, .. } = self;
        format!(
            "graph! {{ pub(crate) struct {name}(pool: CudaStreamPool, run: Arc<Run<u32>>) {{\n\
             let P: CudaStreamPool = pool;\n{nodes}{edges}}} }}\n"
        )
    }
}

fn chain(length: usize) -> String {
    let mut text = Text::default();
    text.node("Origin");
    for node in 1..length {
        text.node(if node + 1 == length { "Last" } else { "Step" });
        text.edge(node - 1, &format!("t{node}.from"));
    }
    text.graph(&format!("Chain{length}"))
}

fn fan(ends: usize) -> String {
    let mut text = Text::default();
    text.node("Origin");
    for node in 1..=ends {
        text.node("End");
        text.edge(0, &format!("t{node}.from"));
    }
    text.graph(&format!("Fan{ends}"))
}

fn pattern(name: &str) -> String {
    let mut text = Text::default();
    let (mut before, mut row) = (Vec::new(), Vec::new());
    let (mut all, mut is_read) = (Vec::new(), Vec::new());
    for step in 0..STEPS {
        for column in 0..width(name, step) {
            let reads = dependencies(name, step, column);
            let node = text.node(if reads.is_empty() { "Origin" } else { "Task" });
            is_read.push(false);
            for read in reads {
                let from: usize = before[read];
                text.edge(from, &format!("t{node}.from"));
                is_read[from] = true;
            }
            row.push(node);
            all.push(node);
        }
        before = std::mem::take(&mut row);
    }
    let sink = text.node("Sink");
    for node in if name == "trivial" { all.clone() } else { before } {
        text.edge(node, &format!("t{sink}.from"));
        is_read[node] = true;
    }
    for node in all.into_iter().filter(|node| !is_read[*node]) {
        text.edge(node, "_");
    }
    let mut letters = name.chars();
    let first = letters.next().map(|letter| letter.to_ascii_uppercase());
    text.graph(&first.into_iter().chain(letters).collect::<String>())
}
