//! Builds a graph with the calls that `graph!` expands to.

use streamflow::__private::{AnyNode, NodeOptions, NodeStreams, OnFailure};
use streamflow::__private::{
    EdgeOptions, GraphParams, QueuePolicy, SingleStream, begin, connect, connect_copy,
    connect_shared, edge, when,
};
use streamflow::operator::Operator;
use streamflow::prelude::*;
use streamflow_tests::built::{Built, no_such_port, node};

use super::item::Item;
use super::operators::{Clock, Forward, Merge, Unary, Work};
use super::plan::{Carries, EdgePlan, Flow, FullPolicy, Kind, Port};
use crate::programs::pieces;

/// The ports of a node whose `AnyNode` is not built yet.
#[allow(clippy::large_enum_variant, reason = "there are few values, for a short time")]
enum Ports {
    Work(<Work as Operator>::Ports),
    Unary(<Unary as Operator>::Ports),
    Forward(<Forward as Operator>::Ports),
    Merge(<Merge as Operator>::Ports),
}

impl Ports {
    fn of(kind: Kind) -> Self {
        match kind {
            Kind::Work => Self::Work(Work::__streamflow_ports()),
            Kind::Unary => Self::Unary(Unary::__streamflow_ports()),
            Kind::Forward => Self::Forward(Forward::__streamflow_ports()),
            Kind::Merge => Self::Merge(Merge::__streamflow_ports()),
        }
    }
}

/// Runs code with the input at which an edge ends.
macro_rules! with_input {
    ($to:expr, $port:expr, $input:ident => $do:expr) => {
        match ($to, $port) {
            (Ports::Work(ports), Port::Read) => {
                let $input = &mut ports.read;
                $do
            }
            (Ports::Work(ports), Port::Also) => {
                let $input = &mut ports.also;
                $do
            }
            (Ports::Work(ports), Port::Share) => {
                let $input = &mut ports.share;
                $do
            }
            (Ports::Work(ports), Port::All) => {
                let $input = &mut ports.all;
                $do
            }
            (Ports::Unary(ports), Port::Read) => {
                let $input = &mut ports.read;
                $do
            }
            (Ports::Forward(ports), Port::Share) => {
                let $input = &mut ports.share;
                $do
            }
            (Ports::Merge(ports), Port::All) => {
                let $input = &mut ports.all;
                $do
            }
            _ => Err(no_such_port()),
        }
    };
}

/// Runs code with the output at which an edge begins.
macro_rules! with_output {
    ($from:expr, $shared:expr, $output:ident => $do:expr) => {
        match ($from, $shared) {
            (Ports::Work(ports), false) => {
                let $output = &mut ports.out;
                $do
            }
            (Ports::Unary(ports), false) => {
                let $output = &mut ports.out;
                $do
            }
            (Ports::Merge(ports), false) => {
                let $output = &mut ports.out;
                $do
            }
            (Ports::Work(ports), true) => {
                let $output = &mut ports.passed;
                $do
            }
            (Ports::Forward(ports), true) => {
                let $output = &mut ports.passed;
                $do
            }
            _ => Err(no_such_port()),
        }
    };
}

fn wire(
    from: &mut Ports,
    to: &mut Ports,
    plan: &EdgePlan,
    carries: Carries,
    options: EdgeOptions,
) -> Result<()> {
    match (plan.port, &mut *to) {
        (Port::Take, Ports::Work(ports)) => {
            let input = &mut ports.take;
            if carries == Carries::Copy {
                return with_output!(from, plan.shared, output => {
                    connect_copy(edge(output, input, options));
                    Ok(())
                });
            }
            match from {
                Ports::Work(ports) => connect(edge(&mut ports.out, input, options)),
                Ports::Unary(ports) => connect(edge(&mut ports.out, input, options)),
                Ports::Merge(ports) => connect(edge(&mut ports.out, input, options)),
                Ports::Forward(_) => return Err(no_such_port()),
            }
            Ok(())
        }
        _ => with_input!(to, plan.port, input => {
            with_output!(from, plan.shared, output => {
                let edge = edge(output, input, options);
                if carries == Carries::Itself { connect(edge) } else { connect_shared(edge) }
                Ok(())
            })
        }),
    }
}

/// Returns the first message for the node `to` of a feedback edge.
pub(super) fn first_item(to: usize, platform: &Platform, stream: &CudaStream) -> Result<Item> {
    let mut item = Item::new(platform, stream, 5)?;
    pieces::make(stream, &mut item, 10_000 + to as u32, true)?;
    Ok(item)
}

/// Returns the stream on which first messages are written.
pub(super) fn first_stream(platform: &Platform) -> Result<CudaStream> {
    Ok(platform.stream_pool("FIRST", &CudaStreamPool::new())?.allocate("first")?)
}

/// Puts the first message into a feedback edge.
fn first(plan: &EdgePlan, to: &mut Ports, platform: &Platform, stream: &CudaStream) -> Result<()> {
    let item = first_item(plan.to, platform, stream)?;
    match (plan.port, to) {
        (Port::Take, Ports::Work(ports)) => Ok(begin(&mut ports.take, item, platform)?),
        (port, to) => with_input!(to, port, input => Ok(begin(input, item, platform)?)),
    }
}

/// Builds the graph of a plan, with the first messages of feedback edges on a stream.
pub(super) fn build(flow: &Flow, platform: &Platform, first_on: &CudaStream) -> Result<Built> {
    let mut clock = Clock::__streamflow_ports();
    let mut ports: Vec<Ports> = flow.nodes.iter().map(|node| Ports::of(node.kind)).collect();
    for ports in &mut ports {
        if let Ports::Work(ports) = ports {
            // The edges of the clock hold the messages of all ticks, so a waiting node blocks no other node.
            let options =
                EdgeOptions::new("clock", flow.ticks as usize + 1, QueuePolicy::BackPressure)?;
            connect_shared(edge(&mut clock.tick, &mut ports.clock, options));
        }
    }
    for (plan, carries) in flow.wiring() {
        let policy = match plan.full {
            FullPolicy::BackPressure => QueuePolicy::BackPressure,
            FullPolicy::Pop => QueuePolicy::Pop,
            FullPolicy::Reject => QueuePolicy::Reject,
        };
        let options = EdgeOptions::new("an edge", plan.capacity, policy)?;
        if plan.from < plan.to {
            let (before, after) = ports.split_at_mut(plan.to);
            wire(&mut before[plan.from], &mut after[0], plan, carries, options)?;
        } else {
            let (before, after) = ports.split_at_mut(plan.from);
            let to = &mut before[plan.to];
            wire(&mut after[0], to, plan, carries, options.feedback())?;
            first(plan, to, platform, first_on)?;
        }
    }
    let pool = platform.stream_pool("POOL", &flow.pool())?;
    let params = GraphParams::default();
    let single_stream = SingleStream::new(3 * flow.nodes.len() + 1);
    let options = |streams| NodeOptions {
        streams,
        worker: None,
        count: None,
        conditions: None,
        on_failure: OnFailure::Stop,
        single_stream: &single_stream,
        params: &params,
    };
    let clock_options = NodeOptions { count: Some(flow.ticks), ..options(NodeStreams::None) };
    let mut nodes: Vec<Box<dyn AnyNode>> =
        vec![node(Clock::new(flow.ticks), clock, "clock", platform, clock_options)?];
    for (index, (plan, ports)) in flow.nodes.iter().zip(ports).enumerate() {
        let (name, core) = (format!("n{index}"), flow.core(index));
        let streams = if plan.adopts { NodeStreams::None } else { NodeStreams::Pool(&pool) };
        let mut options = options(streams);
        if plan.awaits {
            let input = match plan.kind {
                Kind::Work => None,
                Kind::Unary => Some("read"),
                Kind::Forward => Some("share"),
                Kind::Merge => Some("all"),
            };
            options.conditions =
                input.map(|input| when::all(vec![when::stream_done("stream_done(…)", input)]));
        }
        nodes.push(match ports {
            Ports::Work(ports) => {
                options.streams = NodeStreams::Pool(&pool);
                node(Work::new(core), ports, &name, platform, options)?
            }
            Ports::Unary(ports) => node(Unary::new(core), ports, &name, platform, options)?,
            Ports::Forward(ports) => node(Forward::new(core), ports, &name, platform, options)?,
            Ports::Merge(ports) => node(Merge::new(core), ports, &name, platform, options)?,
        });
    }
    Ok(Built::new(platform, nodes, Vec::new())?)
}
