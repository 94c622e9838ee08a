//! A graph of 2,000 nodes is built, run and dropped in a thread with the stack size of a test: no stack frame grows
//! with the graph.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::thread;

use streamflow::prelude::*;
use streamflow_tests_large::{Origin, Sink, Task};

include!(concat!(env!("OUT_DIR"), "/stencil.rs"));

/// The values of each tick, computed on the host.
fn expected(ticks: u64) -> Vec<Vec<f32>> {
    let of_tick = |tick| {
        let mut row: Vec<f32> = (0..COLUMNS).map(|column| column as f32 + tick as f32).collect();
        for number in 1..ROWS {
            let of_column = |column: usize| {
                let from = &row[column.saturating_sub(1)..COLUMNS.min(column + 2)];
                from.iter().fold(number as f32, |sum, a| sum + a / 4.0)
            };
            row = (0..COLUMNS).map(of_column).collect();
        }
        row.truncate(COLUMNS - 1);
        row
    };
    (0..ticks).map(of_tick).collect()
}

#[test]
fn a_graph_of_two_thousand_nodes_needs_only_the_stack_of_a_thread() {
    let thread = thread::Builder::new().stack_size(2 << 20);
    let run = thread.spawn(|| -> Result<()> {
        let mut graph = Stencil::new(&Platform::host().build()?, 2)?;
        graph.run()?;
        assert_eq!(graph.sink().seen, expected(2));
        // Operators keep their state between runs.
        graph.run()?;
        assert_eq!(graph.sink().seen, [expected(2), expected(2)].concat());
        Ok(())
    });
    run.unwrap().join().unwrap().unwrap();
}
