//! Makes the graph of a plan, by the calls that `graph!` expands to.

use streamflow::__private::{connect, connect_copy, edge};
use streamflow::graph::{AnyNode, NodeOptions, NodeStreams};
use streamflow::prelude::*;

use super::operators::{Combine, Keep, Relay, Sink, Source, Taking, Unary};
use super::plan::{Plan, Reading, Step};

/// The ports of a node that is not made yet.
enum Ports {
    Source(<Source as Operator>::Ports),
    Unary(<Unary as Operator>::Ports),
    Taking(<Taking as Operator>::Ports),
    Relay(<Relay as Operator>::Ports),
    Keep(<Keep as Operator>::Ports),
    Combine(<Combine as Operator>::Ports),
    Sink(<Sink as Operator>::Ports),
}

impl Ports {
    fn of(step: Step) -> Self {
        match step {
            Step::Source(_) => Self::Source(Source::__ports()),
            Step::Unary(..) => Self::Unary(Unary::__ports()),
            Step::Taking(..) => Self::Taking(Taking::__ports()),
            Step::Relay(_) => Self::Relay(Relay::__ports()),
            Step::Keep(_) => Self::Keep(Keep::__ports()),
            Step::Combine(..) => Self::Combine(Combine::__ports()),
            Step::Sink(..) => Self::Sink(Sink::__ports()),
        }
    }
}

/// Connects whatever `$from` sends to `$to`.
macro_rules! connect_from {
    ($connect:ident, $from:expr, $to:expr) => {
        match $from {
            Ports::Source(from) => $connect(edge(&mut from.out, $to)),
            Ports::Unary(from) => $connect(edge(&mut from.out, $to)),
            Ports::Taking(from) => $connect(edge(&mut from.out, $to)),
            Ports::Relay(from) => $connect(edge(&mut from.out, $to)),
            Ports::Keep(from) => $connect(edge(&mut from.out, $to)),
            Ports::Combine(from) => $connect(edge(&mut from.out, $to)),
            Ports::Sink(_) => {}
        }
    };
}

/// As [`connect_from`], for an input that takes: what a relay sends has several owners.
macro_rules! connect_sole {
    ($from:expr, $to:expr) => {
        match $from {
            Ports::Source(from) => connect(edge(&mut from.out, $to)),
            Ports::Unary(from) => connect(edge(&mut from.out, $to)),
            Ports::Taking(from) => connect(edge(&mut from.out, $to)),
            Ports::Keep(from) => connect(edge(&mut from.out, $to)),
            Ports::Combine(from) => connect(edge(&mut from.out, $to)),
            Ports::Relay(from) => connect_copy(edge(&mut from.out, $to)),
            Ports::Sink(_) => {}
        }
    };
}

fn wire(ports: &mut [Ports], node: usize, step: Step) {
    let (before, this) = ports.split_at_mut(node);
    let inputs = step.inputs();
    match &mut this[0] {
        Ports::Source(_) => {}
        Ports::Unary(to) => connect_from!(connect, &mut before[inputs[0]], &mut to.src),
        Ports::Taking(to) if matches!(step, Step::Taking(_, true)) => {
            connect_from!(connect_copy, &mut before[inputs[0]], &mut to.data);
        }
        Ports::Taking(to) => connect_sole!(&mut before[inputs[0]], &mut to.data),
        Ports::Relay(to) => connect_from!(connect, &mut before[inputs[0]], &mut to.data),
        Ports::Keep(to) => connect_from!(connect, &mut before[inputs[0]], &mut to.now),
        Ports::Combine(to) => {
            connect_from!(connect, &mut before[inputs[0]], &mut to.a);
            connect_from!(connect, &mut before[inputs[1]], &mut to.b);
        }
        Ports::Sink(to) => connect_from!(connect, &mut before[inputs[0]], &mut to.data),
    }
}

/// A graph whose nodes were decided at run time.
pub(crate) struct Built {
    platform: Platform,
    nodes: Vec<Box<dyn AnyNode>>,
}

impl Graph for Built {
    fn nodes(&mut self) -> Vec<&mut dyn AnyNode> {
        self.nodes.iter_mut().map(|node| &mut **node as &mut dyn AnyNode).collect()
    }

    fn platform(&self) -> &Platform {
        &self.platform
    }
}

/// Makes the graph; its sources run so many ticks.
pub(crate) fn build(plan: &Plan, ticks: usize, platform: &Platform) -> Result<Built> {
    let values = plan.values(ticks);
    let mut ports: Vec<Ports> = plan.steps.iter().map(|step| Ports::of(*step)).collect();
    for (node, step) in plan.steps.iter().enumerate() {
        wire(&mut ports, node, *step);
    }
    let pool = platform.stream_pool("POOL", &CudaStreamPool::new())?;
    let is_source = |step: &Step| matches!(step, Step::Source(_));
    // What `graph!` counts while compiling.
    let alone = plan.adopting && plan.steps.iter().filter(|step| is_source(step)).count() <= 1;
    let mut nodes: Vec<Box<dyn AnyNode>> = Vec::new();
    for (index, (step, ports)) in plan.steps.iter().zip(ports).enumerate() {
        let own = is_source(step) || !plan.adopting;
        let options = NodeOptions {
            streams: if own { NodeStreams::Pool(&pool) } else { NodeStreams::None },
            count: is_source(step).then_some(ticks as u64),
            stream_done: match step {
                Step::Sink(Reading::Done, _) => &["data"],
                _ => &[],
            },
            alone,
        };
        let name = format!("{index}");
        nodes.push(match (*step, ports) {
            (Step::Source(origin), Ports::Source(ports)) => {
                Box::new(Source::new(origin, index).__node(ports, &name, platform, options)?)
            }
            (Step::Unary(how, _), Ports::Unary(ports)) => {
                Box::new(Unary::new(how, None).__node(ports, &name, platform, options)?)
            }
            (Step::Sink(reading, _), Ports::Sink(ports)) => {
                let sink = Sink::new(reading, values[index].clone(), Vec::new(), 0);
                Box::new(sink.__node(ports, &name, platform, options)?)
            }
            (_, Ports::Taking(ports)) => {
                Box::new(Taking::new().__node(ports, &name, platform, options)?)
            }
            (_, Ports::Relay(ports)) => {
                Box::new(Relay::new().__node(ports, &name, platform, options)?)
            }
            (_, Ports::Keep(ports)) => {
                Box::new(Keep::new(None).__node(ports, &name, platform, options)?)
            }
            (_, Ports::Combine(ports)) => {
                Box::new(Combine::new().__node(ports, &name, platform, options)?)
            }
            (step, _) => return Err(Error::other(format!("{step:?} has other ports"))),
        });
    }
    Ok(Built { platform: platform.clone(), nodes })
}
