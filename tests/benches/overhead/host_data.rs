//! Graphs that pass a `u64`: the time of the scheduler, the hooks, the ports and the queues, without streams.
//!
//! The rows of `statistics` compare a graph on a platform that keeps them with the same graph on one that does not.
//!
//! A chain is a source, operators that forward the number, and an end. A fan is a source with many ends that read its
//! message.

use std::hint::black_box;
use std::sync::Arc;
use std::time::Instant;

use streamflow::prelude::*;
use streamflow_tests::layers::Null;

use super::{ROUNDS, median};

/// How many hooks a measured run calls.
const HOOKS: u64 = 400_000;

#[operator]
struct Count {
    #[output]
    out: u64,
}

impl Compute for Count {
    fn compute(&mut self, io: CountIo<'_>, cx: &ExecutionContext) -> Result<()> {
        io.out.emit(cx.tick())
    }
}

#[operator]
struct Forward {
    #[input]
    number: u64,
    #[output]
    out: u64,
}

impl Compute for Forward {
    fn compute(&mut self, io: ForwardIo<'_>, _: &ExecutionContext) -> Result<()> {
        io.out.emit(io.number.receive().into_data())
    }
}

#[operator]
struct Take {
    #[input]
    number: u64,
}

impl Compute for Take {
    fn compute(&mut self, io: TakeIo<'_>, _: &ExecutionContext) -> Result<()> {
        black_box(io.number.receive().into_data());
        Ok(())
    }
}

#[operator]
struct Look {
    #[input]
    number: &u64,
}

impl Compute for Look {
    fn compute(&mut self, io: LookIo<'_>, _: &ExecutionContext) -> Result<()> {
        black_box(*io.number.receive().into_data());
        Ok(())
    }
}

macro_rules! chain {
    ($name:ident: $source:ident [$($stages:ident)*] $end:ident) => {
        chain!(@edges $name $source [$($stages)*] $end [] $source $($stages)* $end);
    };
    (@edges $name:ident $source:ident $stages:tt $end:ident [$($edges:tt)*] $from:ident $to:ident $($rest:ident)*) => {
        chain!(@edges $name $source $stages $end [$($edges)* $from.out >> $to.number;] $to $($rest)*);
    };
    (@edges $name:ident $source:ident [$($stages:ident)*] $end:ident [$($edges:tt)*] $last:ident) => {
        graph! {
            struct $name(count: u64) {
                #[when(count(count))] let $source: Count = Count::new();
                $(let $stages: Forward = Forward::new();)*
                let $end: Take = Take::new();
                $($edges)*
            }
        }
    };
}

macro_rules! fan {
    ($name:ident: $($ends:ident)*) => {
        graph! {
            struct $name(count: u64) {
                #[when(count(count))] let source: Count = Count::new();
                $(let $ends: Look = Look::new();)*
                $(source.out >> $ends.number;)*
            }
        }
    };
}

chain!(Chain2: source [] end);
chain!(Chain10: source [a0 a1 a2 a3 a4 a5 a6 a7] end);
chain!(Chain100: source [
    a0 a1 a2 a3 a4 a5 a6 a7 a8 a9 b0 b1 b2 b3 b4 b5 b6 b7 b8 b9 c0 c1 c2 c3 c4 c5 c6 c7 c8 c9
    d0 d1 d2 d3 d4 d5 d6 d7 d8 d9 e0 e1 e2 e3 e4 e5 e6 e7 e8 e9 f0 f1 f2 f3 f4 f5 f6 f7 f8 f9
    g0 g1 g2 g3 g4 g5 g6 g7 g8 g9 h0 h1 h2 h3 h4 h5 h6 h7 h8 h9 i0 i1 i2 i3 i4 i5 i6 i7 i8 i9
    j0 j1 j2 j3 j4 j5 j6 j7
] end);
fan!(Fan8: a0 a1 a2 a3 a4 a5 a6 a7);
fan!(Fan64:
    a0 a1 a2 a3 a4 a5 a6 a7 b0 b1 b2 b3 b4 b5 b6 b7 c0 c1 c2 c3 c4 c5 c6 c7 d0 d1 d2 d3 d4 d5 d6 d7
    e0 e1 e2 e3 e4 e5 e6 e7 f0 f1 f2 f3 f4 f5 f6 f7 g0 g1 g2 g3 g4 g5 g6 g7 h0 h1 h2 h3 h4 h5 h6 h7);

/// Measures and prints all rows, or only the row with the given name.
pub(crate) fn measure(null: &Arc<Null>, platform: &Platform, row: Option<String>) -> Result<()> {
    println!("\n{:<14}{:>12}{:>15}", "a u64", "per tick", "per operator");
    macro_rules! row {
        ($name:literal, $operators:literal, $graph:ident) => {
            if row.as_ref().is_none_or(|row| row == $name) {
                let mut graph = $graph::new(platform, HOOKS / $operators)?;
                let run = || Ok(graph.run().map(drop)?);
                let tick = null.off(|| per_tick(HOOKS / $operators, run))?;
                println!("{:<14}{tick:>9.1} ns{:>12.1} ns", $name, tick / f64::from($operators));
            }
        };
    }
    row!("two operators", 2, Chain2);
    row!("chain of 10", 10, Chain10);
    row!("chain of 100", 100, Chain100);
    row!("fan of 8", 9, Fan8);
    row!("fan of 64", 65, Fan64);
    if row.as_ref().is_none_or(|row| row == "statistics") { statistics(null) } else { Ok(()) }
}

/// Measures the cost of statistics: graphs with and without statistics take turns.
fn statistics(null: &Arc<Null>) -> Result<()> {
    let platform = |keep| Platform::builder().statistics(keep).driver(null.clone());
    let (on, off) = (platform(true)?, platform(false)?);
    println!("\n{:<14}{:>12}{:>15}{:>18}", "statistics", "with them", "without", "per operator");
    macro_rules! row {
        ($name:literal, $operators:literal, $graph:ident) => {
            let ticks = HOOKS / $operators;
            let (mut on, mut off) = ($graph::new(&on, ticks)?, $graph::new(&off, ticks)?);
            let mut times = [Vec::new(), Vec::new()];
            null.off(|| -> Result<()> {
                for round in 0..=ROUNDS {
                    for (graph, times) in [&mut on, &mut off].into_iter().zip(&mut times) {
                        let start = Instant::now();
                        graph.run()?;
                        // The first round warms up and is not counted.
                        if round > 0 {
                            times.push(start.elapsed().as_secs_f64() * 1e9 / ticks as f64);
                        }
                    }
                }
                Ok(())
            })?;
            let [on, off] = times.map(median);
            let each = (on - off) / f64::from($operators);
            println!("{:<14}{on:>9.1} ns{off:>12.1} ns{each:>15.1} ns", $name);
        };
    }
    row!("two operators", 2, Chain2);
    row!("chain of 10", 10, Chain10);
    Ok(())
}

/// Returns the median nanoseconds per tick. The first run warms up and is not counted.
fn per_tick(ticks: u64, mut run: impl FnMut() -> Result<()>) -> Result<f64> {
    run()?;
    let mut times = Vec::new();
    for _ in 0..ROUNDS {
        let start = Instant::now();
        run()?;
        times.push(start.elapsed().as_secs_f64() * 1e9 / ticks as f64);
    }
    Ok(median(times))
}
