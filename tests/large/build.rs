//! Generates a graph of 2,000 nodes: rows of tasks, each with inputs from three tasks of the row before.

use std::fmt::Write as _;
use std::path::Path;
use std::{env, fs, io};

/// With `COLUMNS` and the sink, 2,000 nodes.
const ROWS: usize = 100;
const COLUMNS: usize = 20;

fn main() -> io::Result<()> {
    println!("cargo::rerun-if-changed=build.rs");
    let directory = env::var_os("OUT_DIR").ok_or(io::ErrorKind::NotFound)?;
    fs::write(Path::new(&directory).join("stencil.rs"), stencil())
}

/// The graph, and the numbers of its rows and columns for the test that checks its values.
fn stencil() -> String {
    let (mut nodes, mut edges) = (String::new(), String::new());
    for row in 0..ROWS {
        // The sink replaces one task.
        for column in 0..COLUMNS - usize::from(row == ROWS - 1) {
            // Writing to a `String` does not fail.
            let _ = if row == 0 {
                writeln!(
                    nodes,
                    "#[streams(P)] #[when(count(ticks))] let t0_{column}: Origin = Origin::new({column}.0);"
                )
            } else {
                writeln!(nodes, "#[streams(none)] let t{row}_{column}: Task = Task::new({row}.0);")
            };
            if row > 0 {
                for from in column.saturating_sub(1)..COLUMNS.min(column + 2) {
                    let _ = writeln!(edges, "t{}_{from}.out >> t{row}_{column}.before;", row - 1);
                }
            }
            if row == ROWS - 1 {
                let _ = writeln!(edges, "t{row}_{column}.out >> sink.last;");
            }
        }
    }
    format!(
        "/// The rows of the graph.\npub const ROWS: usize = {ROWS};\n\
         /// The number of tasks per row.\npub const COLUMNS: usize = {COLUMNS};\n\
         graph! {{\n/// 2,000 nodes.\npub struct Stencil(ticks: u64) {{\n\
         const P: CudaStreamPool = CudaStreamPool::new();\n{nodes}\
         #[streams(none)] let sink: Sink = Sink::new(Vec::new());\n{edges}}}\n}}\n"
    )
}
