//! The operators of random graphs. They send and take the same with and without messages at their optional inputs.

use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use streamflow::port::Out;
use streamflow::prelude::*;
use streamflow::testing::yield_now;

use super::plan::{NodePlan, Port};

/// A node that does so many ticks has no end. One that does not keep its run going may do more.
const ENDLESS: u64 = 60;

/// So many messages come to a node from no nodes that have an end.
const ENDLESS_MESSAGES: u64 = 4 * ENDLESS;

/// The text of the error of such a node.
pub(crate) const HAS_NO_END: &str = "this node has no end";

/// How many messages a node has sent at `x` and at `y`, and received at each input.
#[derive(Debug, Default)]
pub(crate) struct Counts {
    pub(crate) sent: [AtomicU64; 2],
    pub(crate) received: [AtomicU64; 4],
}

/// The work of an operator in a tick.
pub(crate) struct Core {
    plan: NodePlan,
    /// Whether it does not keep its run going.
    attends: bool,
    counts: Arc<Counts>,
}

impl Core {
    pub(crate) fn new(plan: NodePlan, attends: bool, counts: Arc<Counts>) -> Self {
        Self { plan, attends, counts }
    }

    fn begin(&self, cx: &ExecutionContext) -> Result<()> {
        (0..self.plan.slow).for_each(|_| yield_now());
        if self.plan.finish == Some(cx.tick() + 1) {
            cx.finish();
        }
        if self.attends || cx.tick() < ENDLESS { Ok(()) } else { Err(Failure::msg(HAS_NO_END)) }
    }

    fn takes_b(&self, cx: &ExecutionContext) -> bool {
        cx.tick().is_multiple_of(self.plan.takes)
    }

    fn sends(&self, cx: &ExecutionContext, out: usize) -> bool {
        let sends = cx.tick().is_multiple_of(self.plan.every[out]);
        self.counts.sent[out].fetch_add(u64::from(sends), Ordering::Relaxed);
        sends
    }

    /// Sends the message that was held for the longest time.
    fn send_held(&self, held: &mut VecDeque<u64>, x: Out<'_, u64>) -> Result<()> {
        let Some(first) = held.pop_front() else { return Ok(()) };
        self.counts.sent[0].fetch_add(1, Ordering::Relaxed);
        x.emit(first)
    }

    fn received(&self, port: Port, any: bool) {
        self.counts.received[port as usize].fetch_add(u64::from(any), Ordering::Relaxed);
    }
}

#[operator]
pub(crate) struct Source {
    #[output]
    x: u64,
    #[output]
    y: u64,
    core: Core,
}

impl Compute for Source {
    fn compute(&mut self, io: SourceIo<'_>, cx: &ExecutionContext) -> Result<()> {
        self.core.begin(cx)?;
        if self.core.sends(cx, 0) {
            io.x.emit(cx.tick())?;
        }
        if self.core.sends(cx, 1) { io.y.emit(cx.tick()) } else { Ok(()) }
    }
}

#[operator]
pub(crate) struct One {
    #[input]
    a: Shared<u64>,
    #[input(optional)]
    o: &u64,
    #[input(optional)]
    p: &u64,
    #[output]
    x: u64,
    #[output]
    y: u64,
    core: Core,
}

impl Compute for One {
    fn compute(&mut self, io: OneIo<'_>, cx: &ExecutionContext) -> Result<()> {
        // The room in the queue is free before others run.
        let a = *io.a.receive().into_data();
        self.core.received(Port::A, true);
        self.core.begin(cx)?;
        self.core.received(Port::O, io.o.receive().into_data().is_some());
        self.core.received(Port::P, io.p.receive().into_data().is_some());
        if self.core.sends(cx, 0) {
            io.x.emit(a)?;
        }
        if self.core.sends(cx, 1) { io.y.emit(a) } else { Ok(()) }
    }
}

#[operator(flush)]
pub(crate) struct Hold {
    #[input]
    a: Shared<u64>,
    #[input(optional)]
    o: &u64,
    #[input(optional)]
    p: &u64,
    #[output]
    x: u64,
    #[output]
    y: u64,
    core: Core,
    held: VecDeque<u64>,
}

impl Compute for Hold {
    fn compute(&mut self, io: HoldIo<'_>, cx: &ExecutionContext) -> Result<()> {
        // The room in the queue is free before others run.
        let a = *io.a.receive().into_data();
        self.core.received(Port::A, true);
        self.core.begin(cx)?;
        self.core.received(Port::O, io.o.receive().into_data().is_some());
        self.core.received(Port::P, io.p.receive().into_data().is_some());
        if cx.tick().is_multiple_of(self.core.plan.every[0]) {
            self.held.push_back(a);
        }
        if self.held.len() > self.core.plan.holds {
            self.core.send_held(&mut self.held, io.x)?;
        }
        if self.core.sends(cx, 1) { io.y.emit(a) } else { Ok(()) }
    }
}

impl Flush for Hold {
    fn flush(&mut self, io: HoldFlushIo<'_>, _: &ExecutionContext) -> Result<Flushed> {
        (0..self.core.plan.slow).for_each(|_| yield_now());
        for a in io.a.receive().into_data() {
            self.core.received(Port::A, true);
            self.held.push_back(*a);
        }
        io.o.receive().into_data().for_each(|_| self.core.received(Port::O, true));
        io.p.receive().into_data().for_each(|_| self.core.received(Port::P, true));
        self.core.send_held(&mut self.held, io.x)?;
        Ok(if self.held.is_empty() { Flushed::Done } else { Flushed::More })
    }
}

#[operator]
pub(crate) struct Two {
    #[input]
    a: Shared<u64>,
    #[input]
    b: &u64,
    #[input(optional)]
    o: &u64,
    #[input(optional)]
    p: &u64,
    #[output]
    x: u64,
    #[output]
    y: u64,
    core: Core,
}

impl Compute for Two {
    fn compute(&mut self, io: TwoIo<'_>, cx: &ExecutionContext) -> Result<()> {
        // The room in the queue is free before others run.
        let a = *io.a.receive().into_data();
        self.core.received(Port::A, true);
        self.core.begin(cx)?;
        if self.core.takes_b(cx) {
            io.b.discard();
            self.core.received(Port::B, true);
        } else {
            io.b.leave();
        }
        self.core.received(Port::O, io.o.receive().into_data().is_some());
        self.core.received(Port::P, io.p.receive().into_data().is_some());
        if self.core.sends(cx, 0) {
            io.x.emit(a)?;
        }
        if self.core.sends(cx, 1) { io.y.emit(a) } else { Ok(()) }
    }
}

#[operator]
pub(crate) struct Merge {
    #[input(optional)]
    o: &u64,
    #[input(optional)]
    p: &u64,
    core: Core,
}

impl Compute for Merge {
    fn compute(&mut self, io: MergeIo<'_>, _: &ExecutionContext) -> Result<()> {
        (0..self.core.plan.slow).for_each(|_| yield_now());
        self.core.received(Port::O, io.o.receive().into_data().is_some());
        self.core.received(Port::P, io.p.receive().into_data().is_some());
        let received = self.core.counts.received.iter().map(|count| count.load(Ordering::Relaxed));
        if received.sum::<u64>() < ENDLESS_MESSAGES {
            Ok(())
        } else {
            Err(Failure::msg(HAS_NO_END))
        }
    }
}
