//! Graphs of graphs and of arrays whose dependencies are dropped, with the operators of a plan.
//!
//! The nodes of a graph have the order of the plan's nodes. A clock of the library has room for 8 streams, and a wait repeats one
//! that it has forgotten, so no graph has more nodes than that.

use std::sync::Arc;

use streamflow::prelude::*;

use super::libraries::Plans;
use super::operators::{Combine, Keep, Relay, Sink, Source, Taking, Unary};
use super::plan::{Origin, Plan, PlanNode, Reading, UnaryWork};

/// A plan, and the values that its nodes send.
pub(super) struct Parts {
    pub(super) plan: Plan,
    pub(super) ticks: u64,
    pub(super) values: Vec<Vec<f32>>,
}

impl Parts {
    fn source(&self, node: usize) -> Source {
        let origin = match self.plan.nodes[node] {
            PlanNode::Source(origin) => origin,
            _ => Origin::Kernel,
        };
        Source::new(origin, node)
    }

    fn unary(&self, node: usize) -> Unary {
        let work = match self.plan.nodes[node] {
            PlanNode::Unary(work, _) => work,
            _ => UnaryWork::Map,
        };
        Unary::new(work, None, Plans::default())
    }

    fn sink(&self, node: usize) -> Sink {
        let reading = match self.plan.nodes[node] {
            PlanNode::Sink(reading, _) => reading,
            _ => Reading::Late,
        };
        Sink::new(reading, self.values[node].clone(), Vec::new(), 0)
    }
}

graph! {
    /// An operator.
    pub(super) struct Lane(parts: Arc<Parts>, node: usize) {
        input data: &Tensor<f32>;
        output out: Tensor<f32>;
        let work: Unary = parts.unary(node);
        data >> work.src;
        work.out >> out;
    }
}

graph! {
    /// Two sources, and a graph behind each.
    pub(super) struct Lanes(parts: Arc<Parts>) {
        const NEAR: CudaStreamPool = CudaStreamPool::new();
        #[streams(NEAR)] #[when(count(parts.ticks))]
        let sources: [Source; 2] = |i| parts.source(i);
        #[streams(NEAR)] let lanes: [Lane; 2] = |i| Lane::new(parts.clone(), 2 + i);
        #[streams(NEAR)] let combine: Combine = Combine::new();
        #[streams(NEAR)] let sink: Sink = parts.sink(5);
        for i in 0..2 {
            sources[i].out >> lanes[i].data;
        }
        lanes[0].out >> combine.a;
        lanes[1].out >> combine.b;
        combine.out >> sink.data;
    }
}

graph! {
    /// Two readers of one message.
    pub(super) struct Front {
        input data: Shared<Tensor<f32>>;
        output relayed: Shared<Tensor<f32>>;
        output kept: Tensor<f32>;
        let relay: Relay = Relay::new();
        let keep: Keep = Keep::new(None);
        data >> (relay.data, keep.now);
        relay.out >> relayed;
        keep.out >> kept;
    }
}

graph! {
    /// Adds an older message.
    pub(super) struct Back {
        input data: &Tensor<f32>;
        input again: &Tensor<f32>;
        output out: Tensor<f32>;
        let combine: Combine = Combine::new();
        data >> combine.a;
        again >> combine.b;
        combine.out >> out;
    }
}

graph! {
    /// The end of two paths.
    pub(super) struct Tail(parts: Arc<Parts>) {
        input a: &Tensor<f32>;
        input b: &Tensor<f32>;
        let combine: Combine = Combine::new();
        #[when(stream_done(data))] let sink: Sink = parts.sink(5);
        a >> combine.a;
        b >> combine.b;
        combine.out >> sink.data;
    }
}

graph! {
    /// Messages are shared across borders, and come back across one.
    pub(super) struct Again(parts: Arc<Parts>, first: Tensor<f32>) {
        const NEAR: CudaStreamPool = CudaStreamPool::new();
        #[streams(NEAR)] #[when(count(parts.ticks))]
        let source: Source = parts.source(0);
        #[streams(NEAR)] let front: Front = Front::new();
        #[streams(NEAR)] let back: Back = Back::new();
        #[streams(NEAR)] let tail: Tail = Tail::new(parts.clone());
        #[streams(NEAR)] let other: Sink = parts.sink(6);
        source.out >> front.data;
        front.relayed >> (back.data, other.data);
        #[feedback(initial = first)]
        back.out >> back.again;
        back.out >> tail.a;
        front.kept >> tail.b;
    }
}

graph! {
    /// Changes a message in place.
    pub(super) struct Changed {
        input data: Tensor<f32>;
        output out: Tensor<f32>;
        let take: Taking = Taking::new();
        data >> take.data;
        take.out >> out;
    }
}

graph! {
    /// An array of graphs that is a chain. The message between its steps has a reader inside and one outside.
    pub(super) struct Chain(parts: Arc<Parts>) {
        input data: &Tensor<f32>;
        output half: Shared<Tensor<f32>>;
        output out: Tensor<f32>;
        let steps: [Lane; 2] = |i| Lane::new(parts.clone(), 1 + i);
        let changed: Changed = Changed::new();
        data >> steps[0].data;
        steps[0].out >> (steps[1].data, half);
        steps[1].out >> changed.data;
        changed.out >> out;
    }
}

graph! {
    /// Messages are copied, read and taken across two borders.
    pub(super) struct Deep(parts: Arc<Parts>) {
        const NEAR: CudaStreamPool = CudaStreamPool::new();
        #[streams(NEAR)] #[when(count(parts.ticks))]
        let source: Source = parts.source(0);
        #[streams(NEAR)] let chain: Chain = Chain::new(parts.clone());
        #[streams(NEAR)] let copied: Taking = Taking::new();
        #[streams(NEAR)] let combine: Combine = Combine::new();
        #[streams(NEAR)] let sink: Sink = parts.sink(6);
        source.out >> chain.data;
        #[copy] chain.half >> copied.data;
        copied.out >> combine.a;
        chain.out >> combine.b;
        combine.out >> sink.data;
    }
}

graph! {
    /// A graph on another device. Messages are transferred to it and back.
    pub(super) struct Far(parts: Arc<Parts>) {
        const NEAR: CudaStreamPool = CudaStreamPool::new();
        let FAR: CudaStreamPool = CudaStreamPool::new().device(device(1));
        #[streams(NEAR)] #[when(count(parts.ticks))]
        let source: Source = parts.source(0);
        #[streams(FAR)] let far: Lane = Lane::new(parts.clone(), 1);
        #[streams(NEAR)] let sink: Sink = parts.sink(2);
        #[transfer] source.out >> far.data;
        #[transfer] far.out >> sink.data;
    }
}
