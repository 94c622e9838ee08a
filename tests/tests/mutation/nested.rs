//! Plans of graphs of graphs and of arrays: the graphs of `shapes`, with drawn work. The nodes of a plan describe the flat
//! twin.

use std::sync::Arc;

use streamflow::graph::Graph;
use streamflow::prelude::*;
use streamflow::schedule::Workers;
use streamflow_tests::random::Random;

use super::build::{first_message, scheduled};
use super::plan::PlanNode::{Combine, Keep, Relay, Sink, Source, Taking, Unary};
use super::plan::{Calls, Origin, Plan, Reading, Shape, UnaryWork};
use super::shapes::{Again, Deep, Far, Lanes, Parts};

impl Shape {
    /// Returns the paths of the nodes, and of edges that have streams, each with its name in the flat twin. A path that
    /// begins with another one comes first.
    pub(crate) fn names(self) -> &'static [(&'static str, &'static str)] {
        match self {
            Self::Lanes => &[
                ("sources[0]", "0"),
                ("sources[1]", "1"),
                ("lanes[0].work", "2"),
                ("lanes[1].work", "3"),
                ("combine", "4"),
                ("sink", "5"),
            ],
            Self::Again => &[
                ("source", "0"),
                ("front.relay", "1"),
                ("front.keep", "2"),
                ("back.combine", "3"),
                ("tail.combine", "4"),
                ("tail.sink", "5"),
                ("other", "6"),
            ],
            Self::Deep => &[
                ("source", "0"),
                ("chain.steps[0].work", "1"),
                ("chain.steps[1].work", "2"),
                ("chain.changed.take", "3"),
                ("copied", "4"),
                ("combine", "5"),
                ("sink", "6"),
            ],
            Self::Far => &[
                ("source.out >> far.work.src", "to 1"),
                ("far.work.out >> sink.data", "to 2"),
                ("source", "0"),
                ("far.work", "1"),
                ("sink", "2"),
            ],
        }
    }
}

/// Draws a plan for a graph of graphs and of arrays.
pub(crate) fn plan(seed: u64) -> Plan {
    let shape = Shape::EACH[(seed % 4) as usize];
    let mut random = Random::new(seed);
    let random = &mut random;
    let name = format!("nested {seed}, {shape:?}");
    let nodes = match shape {
        Shape::Lanes => vec![
            source(random),
            source(random),
            Unary(work(random), 0),
            Unary(work(random), 1),
            Combine(2, 3),
            Sink(late(random), 4),
        ],
        Shape::Again => vec![
            source(random),
            Relay(0),
            Keep(0),
            Combine(1, 3),
            Combine(3, 2),
            Sink(Reading::Done, 4),
            Sink(late(random), 1),
        ],
        Shape::Deep => vec![
            source(random),
            Unary(work(random), 0),
            Unary(UnaryWork::Map, 1),
            Taking(2, false),
            Taking(1, true),
            Combine(4, 3),
            Sink(late(random), 5),
        ],
        Shape::Far => vec![source(random), Unary(work(random), 0), Sink(late(random), 1)],
    };
    let plan = Plan { shape: Some(shape), ..Plan::new(&name, &nodes) };
    let plan = if shape == Shape::Far { plan.far(&[1]) } else { plan };
    match random.below(3) {
        0 => plan.freeing(),
        1 => plan.in_flight(2),
        _ => plan,
    }
}

fn of<T: Copy>(random: &mut Random, choices: &[T]) -> T {
    choices[random.below(choices.len())]
}

fn source(random: &mut Random) -> super::plan::PlanNode {
    Source(of(random, &[Origin::Kernel, Origin::Kernel, Origin::Upload, Origin::Default]))
}

fn late(random: &mut Random) -> Reading {
    of(random, &[Reading::Late, Reading::Next])
}

fn work(random: &mut Random) -> UnaryWork {
    let calls = [Calls::Sum, Calls::Transform, Calls::Spectrum, Calls::Weight, Calls::Bias];
    let plain = [UnaryWork::Map, UnaryWork::Extra, UnaryWork::Scratch, UnaryWork::Library];
    match random.below(3) {
        0 => UnaryWork::Calls(of(random, &calls)),
        _ => of(random, &plain),
    }
}

/// Makes the graph. A stream that is returned must be held until the graph is dropped.
pub(crate) fn build(
    (plan, shape): (&Plan, Shape),
    ticks: usize,
    workers: Workers,
    platform: &Platform,
) -> Result<(Box<dyn Graph>, Option<CudaStream>)> {
    let parts =
        Arc::new(Parts { plan: plan.clone(), ticks: ticks as u64, values: plan.values(ticks) });
    let graph = match shape {
        Shape::Lanes => scheduled(Lanes::new(platform, parts)?, workers),
        Shape::Deep => scheduled(Deep::new(platform, parts)?, workers),
        Shape::Far => scheduled(Far::new(platform, parts)?, workers),
        Shape::Again => {
            let (first, stream) = first_message(platform)?;
            let graph = scheduled(Again::new(platform, parts, first)?, workers)?;
            return Ok((graph, Some(stream)));
        }
    };
    Ok((graph?, None))
}
