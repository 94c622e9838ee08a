//! Graphs of graphs and of arrays, whose nodes follow drawn scripts.
//!
//! The nodes of a graph have the order of the nodes of its `Flow`. A graph inside begins at the node `first`.

use std::sync::Arc;

use streamflow::prelude::*;

use super::item::Item;
use super::operators::{Clock, Forward, Merge, Unary, Work};
use super::plan::{Flow, Port};

/// The number of lanes.
const LANES: usize = 2;

graph! {
    /// An operator that makes any calls, and one that reads its messages.
    pub(super) struct Lane(flow: Arc<Flow>, first: usize) {
        input clock: &u64;
        input read: &Item;
        output out: Item;
        let work: Work = Work::new(flow.core(first));
        let unary: Unary = Unary::new(flow.core(first + 1));
        clock >> work.clock;
        read >> work.read;
        #[capacity(flow.capacity((first, first + 1), Port::Read))]
        work.out >> unary.read;
        work.passed >> _;
        unary.out >> out;
    }
}

graph! {
    /// An array of graphs between one producer and an input of several edges. Another path leads past them.
    pub(super) struct Lanes(flow: Arc<Flow>, streams: CudaStreamPool) {
        let POOL: CudaStreamPool = streams;
        #[streams(none)] #[when(count(flow.ticks))]
        let clock: Clock = Clock::new(flow.ticks);
        #[streams(POOL)] let source: Work = Work::new(flow.core(0));
        #[streams(POOL)] let lanes: [Lane; LANES] = |i| Lane::new(flow.clone(), 1 + 2 * i);
        #[streams(POOL)] let merge: Merge = Merge::new(flow.core(5));
        #[streams(POOL)] let sink: Work = Work::new(flow.core(6));
        #[capacity(flow.ticks as usize + 1)]
        clock.tick >> source.clock;
        for i in 0..LANES {
            #[capacity(flow.ticks as usize + 1)]
            clock.tick >> lanes[i].clock;
            #[capacity(flow.capacity((0, 1), Port::Read))]
            source.out >> lanes[i].read;
            #[capacity(flow.capacity((2, 5), Port::All))]
            lanes[i].out >> merge.all;
        }
        #[capacity(flow.ticks as usize + 1)]
        clock.tick >> sink.clock;
        #[capacity(flow.capacity((5, 6), Port::Read))]
        merge.out >> sink.read;
        #[capacity(flow.capacity((0, 6), Port::Share))]
        source.passed >> sink.share;
        sink.out >> _;
        sink.passed >> _;
    }
}

graph! {
    /// An operator that takes its messages. Its output has a reader inside and readers outside.
    pub(super) struct Inner(flow: Arc<Flow>, first: usize) {
        input clock: &u64;
        input take: Item;
        output passed: Shared<Item>;
        output looked: Shared<Item>;
        let change: Work = Work::new(flow.core(first));
        let look: Forward = Forward::new(flow.core(first + 1));
        clock >> change.clock;
        take >> change.take;
        change.out >> _;
        #[capacity(flow.capacity((first, first + 1), Port::Share))]
        change.passed >> look.share;
        change.passed >> passed;
        look.passed >> looked;
    }
}

graph! {
    /// A graph inside, and an operator that gets an older message, too.
    pub(super) struct Outer(flow: Arc<Flow>, first: usize) {
        input clock: &u64;
        input take: Item;
        input again: &Item;
        output out: Item;
        output passed: Shared<Item>;
        let inner: Inner = Inner::new(flow.clone(), first);
        let join: Work = Work::new(flow.core(first + 2));
        clock >> (inner.clock, join.clock);
        take >> inner.take;
        #[capacity(flow.capacity((first, first + 2), Port::Read))]
        inner.passed >> join.read;
        inner.passed >> passed;
        #[capacity(flow.capacity((first + 1, first + 2), Port::Share))]
        inner.looked >> join.share;
        again >> join.also;
        join.out >> out;
        join.passed >> _;
    }
}

graph! {
    /// Messages are copied, taken, shared and sent back across two borders.
    pub(super) struct Borders(flow: Arc<Flow>, streams: CudaStreamPool, first: Item) {
        let POOL: CudaStreamPool = streams;
        #[streams(none)] #[when(count(flow.ticks))]
        let clock: Clock = Clock::new(flow.ticks);
        #[streams(POOL)] let source: Work = Work::new(flow.core(0));
        #[streams(POOL)] let outer: Outer = Outer::new(flow.clone(), 1);
        #[streams(POOL)] let sink: Work = Work::new(flow.core(4));
        #[capacity(flow.ticks as usize + 1)]
        clock.tick >> (source.clock, outer.clock, sink.clock);
        #[copy] #[capacity(flow.capacity((0, 1), Port::Take))]
        source.out >> outer.take;
        #[capacity(flow.capacity((3, 4), Port::Take))]
        outer.out >> sink.take;
        #[capacity(flow.capacity((1, 4), Port::Share))]
        outer.passed >> sink.share;
        #[capacity(flow.capacity((0, 4), Port::Read))]
        source.out >> sink.read;
        #[feedback(initial = first)] #[capacity(flow.capacity((4, 3), Port::Also))]
        sink.out >> outer.again;
        source.passed >> _;
        sink.passed >> _;
    }
}

graph! {
    /// Two sources and a relay. The message of the second source has a reader inside and one outside.
    pub(super) struct Front(flow: Arc<Flow>) {
        input clock: &u64;
        output out: Item;
        output seldom: Shared<Item>;
        let steady: Work = Work::new(flow.core(0));
        let rare: Work = Work::new(flow.core(1));
        let relay: Work = Work::new(flow.core(2));
        clock >> (steady.clock, rare.clock, relay.clock);
        #[capacity(flow.capacity((0, 2), Port::Read))]
        steady.out >> relay.read;
        #[capacity(flow.capacity((1, 2), Port::Also))]
        rare.out >> relay.also;
        rare.out >> seldom;
        relay.out >> out;
        steady.passed >> _;
        rare.passed >> _;
        relay.passed >> _;
    }
}

graph! {
    /// An array whose nodes have different ports of the graph.
    pub(super) struct Back(flow: Arc<Flow>) {
        input clock: &u64;
        input near: &Item;
        input far: &Item;
        input seldom: &Item;
        let ends: [Work; 2] = |i| Work::new(flow.core(3 + i));
        clock >> (ends[0].clock, ends[1].clock);
        near >> ends[0].read;
        far >> ends[1].read;
        seldom >> ends[1].also;
        for i in 0..2 {
            ends[i].out >> _;
            ends[i].passed >> _;
        }
    }
}

graph! {
    /// Messages of one node reach another by two paths that cross borders, one of them with a deep queue.
    pub(super) struct Ways(flow: Arc<Flow>, streams: CudaStreamPool) {
        let POOL: CudaStreamPool = streams;
        #[streams(none)] #[when(count(flow.ticks))]
        let clock: Clock = Clock::new(flow.ticks);
        #[streams(POOL)] let front: Front = Front::new(flow.clone());
        #[streams(POOL)] let back: Back = Back::new(flow.clone());
        #[capacity(flow.ticks as usize + 1)]
        clock.tick >> (front.clock, back.clock);
        #[capacity(flow.capacity((2, 3), Port::Read))]
        front.out >> back.near;
        #[capacity(flow.capacity((2, 4), Port::Read))]
        front.out >> back.far;
        #[capacity(flow.capacity((1, 4), Port::Also))]
        front.seldom >> back.seldom;
    }
}

graph! {
    /// An array that is a chain on the streams of its messages, and an operator that waits for them.
    pub(super) struct Chain(flow: Arc<Flow>, first: usize) {
        input read: &Item;
        output out: Item;
        #[streams(none)] let steps: [Unary; 2] = |i| Unary::new(flow.core(first + i));
        #[when(stream_done(read))] let last: Unary = Unary::new(flow.core(first + 2));
        read >> steps[0].read;
        #[capacity(flow.capacity((first, first + 1), Port::Read))]
        steps[0].out >> steps[1].read;
        #[capacity(flow.capacity((first + 1, first + 2), Port::Read))]
        steps[1].out >> last.read;
        last.out >> out;
    }
}

graph! {
    /// An array of graphs that is a chain. An edge with a policy leads into it, and another path past it.
    pub(super) struct Chains(flow: Arc<Flow>, streams: CudaStreamPool) {
        let POOL: CudaStreamPool = streams;
        #[streams(none)] #[when(count(flow.ticks))]
        let clock: Clock = Clock::new(flow.ticks);
        #[streams(POOL)] let source: Work = Work::new(flow.core(0));
        #[streams(POOL)] let chains: [Chain; 2] = |i| Chain::new(flow.clone(), 1 + 3 * i);
        #[streams(POOL)] let sink: Work = Work::new(flow.core(7));
        #[capacity(flow.ticks as usize + 1)]
        clock.tick >> (source.clock, sink.clock);
        #[policy(pop)] #[capacity(flow.capacity((0, 1), Port::Read))]
        source.out >> chains[0].read;
        #[capacity(flow.capacity((3, 4), Port::Read))]
        chains[0].out >> chains[1].read;
        #[capacity(flow.capacity((6, 7), Port::Read))]
        chains[1].out >> sink.read;
        #[capacity(flow.capacity((0, 7), Port::Also))]
        source.out >> sink.also;
        source.passed >> _;
        sink.out >> _;
        sink.passed >> _;
    }
}
