//! Builds the graph of a plan with the calls that `graph!` expands to.

use streamflow::__private::{AnyNode, NodeOptions, NodeStreams, OnFailure};
use streamflow::__private::{
    EdgeOptions, GraphParams, QueuePolicy, SingleStream, begin, connect, connect_copy,
    connect_transfer, edge, when,
};
use streamflow::graph::Graph;
use streamflow::operator::Operator;
use streamflow::platform::DeviceId;
use streamflow::prelude::*;
use streamflow::schedule::Workers;

use streamflow_tests::built::{Built, node};
use streamflow_tests::kernels::fill;

use super::libraries::Plans;
use super::operators::{Clock, Combine, Keep, Late, Relay, Sink, Source, Taking, Unary};
use super::plan::{FIRST, LATE_BY, LEN, Plan, PlanNode, Reading, SHAPE};

/// The ports of a node whose `AnyNode` is not built yet.
enum Ports {
    Source(<Source as Operator>::Ports),
    Unary(<Unary as Operator>::Ports),
    Taking(<Taking as Operator>::Ports),
    Relay(<Relay as Operator>::Ports),
    Keep(<Keep as Operator>::Ports),
    Combine(<Combine as Operator>::Ports),
    Late(<Late as Operator>::Ports),
    Clock(<Clock as Operator>::Ports),
    Sink(<Sink as Operator>::Ports),
}

impl Ports {
    fn of(step: PlanNode) -> Self {
        match step {
            PlanNode::Source(_) => Self::Source(Source::__streamflow_ports()),
            PlanNode::Unary(..) => Self::Unary(Unary::__streamflow_ports()),
            PlanNode::Taking(..) => Self::Taking(Taking::__streamflow_ports()),
            PlanNode::Relay(_) => Self::Relay(Relay::__streamflow_ports()),
            PlanNode::Keep(_) => Self::Keep(Keep::__streamflow_ports()),
            PlanNode::Combine(..) => Self::Combine(Combine::__streamflow_ports()),
            PlanNode::Late(..) => Self::Late(Late::__streamflow_ports()),
            PlanNode::Clock => Self::Clock(Clock::__streamflow_ports()),
            PlanNode::Sink(..) => Self::Sink(Sink::__streamflow_ports()),
        }
    }
}

/// Connects the output of a node to an input, if the node is of one of the given kinds.
macro_rules! connect_from {
    ($from:expr, [$($kind:ident),*], $out:ident => $connect:expr) => {
        match $from {
            $(Ports::$kind(ports) => {
                let $out = &mut ports.out;
                $connect
            })*
            _ => {}
        }
    };
}

/// How an edge carries its messages.
enum Carries {
    Itself,
    Copy,
    Transfer(DeviceId),
}

/// Connects `$from` to `$to`. Messages of nodes of the `$given` kinds need no copy.
macro_rules! wire {
    ($from:expr, [$($given:ident),*], $to:expr, $carries:expr, $options:expr) => {
        match $carries {
            Carries::Itself => {
                connect_from!($from, [$($given),*],
                    out => connect(edge(out, $to, $options)));
            }
            Carries::Copy => {
                connect_from!($from, [Source, Unary, Taking, Relay, Keep, Combine, Late],
                    out => connect_copy(edge(out, $to, $options)));
            }
            Carries::Transfer(device) => {
                connect_from!($from, [Source, Unary, Taking, Relay, Keep, Combine, Late],
                    out => connect_transfer(edge(out, $to, $options), device));
            }
        }
    };
    ($from:expr, $to:expr, $carries:expr, $options:expr) => {
        wire!($from, [Source, Unary, Taking, Relay, Keep, Combine, Late], $to, $carries, $options)
    };
}

/// Connects the output of a later node, or the node's own output, to its second input, as a feedback edge.
/// Returns the stream that has written the edge's first message.
fn wire_back(
    ports: &mut [Ports],
    from: usize,
    to: usize,
    platform: &Platform,
) -> Result<CudaStream> {
    let options = EdgeOptions::new("feedback", 1, QueuePolicy::BackPressure)?.feedback();
    let (before, after) = ports.split_at_mut(from);
    let input = match (before.get_mut(to), &mut after[0]) {
        (None, Ports::Combine(own)) => {
            connect(edge(&mut own.out, &mut own.b, options));
            &mut own.b
        }
        (Some(Ports::Combine(to)), from) => {
            let to = &mut to.b;
            connect_from!(from, [Source, Unary, Taking, Relay, Keep, Combine, Late],
                out => connect(edge(out, &mut *to, options)));
            to
        }
        _ => return Err(Failure::msg("feedback leads to a `Combine`")),
    };
    let (first, stream) = first_message(platform)?;
    begin(input, first, platform)?;
    Ok(stream)
}

/// Returns the first message of a feedback edge, and the stream that has written it.
pub(super) fn first_message(platform: &Platform) -> Result<(Tensor<f32>, CudaStream)> {
    let stream = platform.stream_pool("FIRST", &CudaStreamPool::new())?.allocate("first")?;
    let mut first = platform.tensor(SHAPE, &stream)?;
    stream.launch::<fill>(LEN, (&mut first, FIRST))?;
    Ok((first, stream))
}

/// The names of edges, by the number of their consumer. A transfer's stream has the name of its edge.
const EDGES: [&str; 8] = ["to 0", "to 1", "to 2", "to 3", "to 4", "to 5", "to 6", "to 7"];

fn carries(plan: &Plan, from: usize, to: usize) -> Carries {
    let device = plan.device(to);
    match plan.nodes[to] {
        _ if plan.device(from) != device => Carries::Transfer(device),
        PlanNode::Taking(_, true) => Carries::Copy,
        _ => Carries::Itself,
    }
}

fn wire(plan: &Plan, ports: &mut [Ports], node: usize) -> Result<()> {
    let options =
        EdgeOptions::new(EDGES[node % EDGES.len()], plan.capacity, QueuePolicy::BackPressure)?;
    let (before, this) = ports.split_at_mut(node);
    let inputs = plan.nodes[node].inputs().into_iter().enumerate();
    for (nth, from) in inputs.filter(|(_, from)| *from < node) {
        let carries = carries(plan, from, node);
        let from = &mut before[from];
        match &mut this[0] {
            Ports::Source(_) | Ports::Clock(_) => {}
            Ports::Unary(to) => wire!(from, &mut to.src, carries, options),
            // The message of a relay has several owners, so its consumer can't take it and gets a copy.
            Ports::Taking(to) => {
                wire!(
                    from,
                    [Source, Unary, Taking, Keep, Combine, Late],
                    &mut to.data,
                    carries,
                    options
                );
            }
            Ports::Relay(to) => wire!(from, &mut to.data, carries, options),
            Ports::Keep(to) => wire!(from, &mut to.now, carries, options),
            Ports::Combine(to) if nth == 0 => wire!(from, &mut to.a, carries, options),
            Ports::Combine(to) => wire!(from, &mut to.b, carries, options),
            Ports::Late(to) if nth == 0 => wire!(from, &mut to.a, carries, options),
            Ports::Late(to) => wire!(from, &mut to.b, carries, options),
            Ports::Sink(to) => wire!(from, &mut to.data, carries, options),
        }
    }
    if let (PlanNode::Late(_, _, clock), Ports::Late(to)) = (plan.nodes[node], &mut this[0])
        && let Ports::Clock(from) = &mut before[clock]
    {
        connect(edge(&mut from.tick, &mut to.tick, options));
    }
    Ok(())
}

/// Builds the graph of a plan, with sources that tick `ticks` times.
pub(crate) fn build(plan: &Plan, ticks: usize, platform: &Platform) -> Result<Built> {
    let values = plan.values(ticks);
    let mut ports: Vec<Ports> = plan.nodes.iter().map(|step| Ports::of(*step)).collect();
    for node in 0..plan.nodes.len() {
        wire(plan, &mut ports, node)?;
    }
    let mut others = Vec::new();
    for (node, step) in plan.nodes.iter().enumerate() {
        for from in step.inputs().into_iter().filter(|from| *from >= node) {
            others.push(wire_back(&mut ports, from, node, platform)?);
        }
    }
    let pool =
        |name, number| platform.stream_pool(name, &CudaStreamPool::new().device(device(number)));
    let near = pool("NEAR", 0)?;
    let far = if plan.far.is_empty() { near.clone() } else { pool("FAR", 1)? };
    let is_source = |step: &PlanNode| matches!(step, PlanNode::Source(_));
    // `graph!` counts the declared streams while compiling.
    let declares =
        |step: &PlanNode| *step != PlanNode::Clock && (is_source(step) || !plan.adopting);
    let declaring = plan.nodes.iter().filter(|step| declares(step));
    let params = GraphParams::default();
    let single_stream = SingleStream::new(declaring.count());
    let mut nodes: Vec<Box<dyn AnyNode>> = Vec::new();
    for (index, (step, ports)) in plan.nodes.iter().zip(ports).enumerate() {
        let options = NodeOptions {
            streams: match (declares(step), plan.device(index) == device(0)) {
                (true, true) => NodeStreams::Pool(&near),
                (true, false) => NodeStreams::Pool(&far),
                (false, _) => NodeStreams::None,
            },
            worker: None,
            count: match step {
                PlanNode::Source(_) => Some(ticks as u64),
                PlanNode::Clock => Some(ticks as u64 + LATE_BY),
                _ => None,
            },
            conditions: match step {
                PlanNode::Sink(Reading::Done, _) => {
                    Some(when::all(vec![when::stream_done("stream_done(data)", "data")]))
                }
                _ => None,
            },
            on_failure: OnFailure::Stop,
            single_stream: &single_stream,
            params: &params,
        };
        let name = format!("{index}");
        nodes.push(match (*step, ports) {
            (PlanNode::Source(origin), Ports::Source(ports)) => {
                node(Source::new(origin, index), ports, &name, platform, options)?
            }
            (PlanNode::Unary(work, _), Ports::Unary(ports)) => {
                node(Unary::new(work, None, Plans::default()), ports, &name, platform, options)?
            }
            (PlanNode::Sink(reading, _), Ports::Sink(ports)) => {
                let sink = Sink::new(reading, values[index].clone(), Vec::new(), 0);
                node(sink, ports, &name, platform, options)?
            }
            (_, Ports::Taking(ports)) => node(Taking::new(), ports, &name, platform, options)?,
            (_, Ports::Relay(ports)) => node(Relay::new(), ports, &name, platform, options)?,
            (_, Ports::Keep(ports)) => node(Keep::new(None), ports, &name, platform, options)?,
            (_, Ports::Combine(ports)) => node(Combine::new(), ports, &name, platform, options)?,
            (_, Ports::Late(ports)) => node(Late::new(), ports, &name, platform, options)?,
            (_, Ports::Clock(ports)) => node(Clock::new(), ports, &name, platform, options)?,
            (step, _) => return Err(Failure::msg(format!("{step:?} has other ports"))),
        });
    }
    Ok(Built::new(platform, nodes, others)?)
}

/// Sets the workers of a graph.
pub(super) fn scheduled(
    mut graph: impl Graph + 'static,
    workers: Workers,
) -> Result<Box<dyn Graph>> {
    graph.workers(workers)?;
    Ok(Box::new(graph))
}
