//! The operators of random graphs. What an operator sends and takes does not depend on messages at its optional
//! inputs.

use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use streamflow::port::{In, Out};
use streamflow::prelude::*;
use streamflow::testing::yield_now;

use super::plan::{Fails, NodePlan, Port};

/// The number of ticks after which a node without an end stops the graph. An attendant may tick more often.
const ENDLESS: u64 = 60;

/// The number of messages that a node receives if only nodes without an end send to it.
const ENDLESS_MESSAGES: u64 = 4 * ENDLESS;

/// The error text of a node that fails as planned.
pub(crate) const AS_PLANNED: &str = "this tick fails as planned";

/// How many messages a node has sent at `x` and at `y`, and how many it has received at each input.
#[derive(Debug, Default)]
pub(crate) struct Counts {
    pub(crate) sent: [AtomicU64; 2],
    pub(crate) received: [AtomicU64; 4],
}

/// The part of a tick that all operators have in common.
#[derive(Clone)]
pub(crate) struct Core {
    plan: NodePlan,
    /// Whether the node is an attendant, which does not keep its run going.
    attends: bool,
    counts: Arc<Counts>,
}

impl Core {
    pub(crate) fn new(plan: NodePlan, attends: bool, counts: Arc<Counts>) -> Self {
        Self { plan, attends, counts }
    }

    fn fails(&self, cx: &ExecutionContext, how: Fails) -> bool {
        self.plan.fails == Some((cx.tick() + 1, how))
    }

    /// Fails, if the plan says that this tick fails in this way.
    fn fail(&self, cx: &ExecutionContext, how: Fails) -> Result<()> {
        if self.fails(cx, how) { Err(Failure::msg(AS_PLANNED)) } else { Ok(()) }
    }

    /// Begins a tick, after the message of `a` was received.
    fn begin(&self, cx: &ExecutionContext) -> Result<()> {
        (0..self.plan.slow).for_each(|_| yield_now());
        self.fail(cx, Fails::Between)?;
        if self.plan.stops == Some(cx.tick() + 1) {
            cx.stop_graph();
        }
        if self.plan.finish == Some(cx.tick() + 1) {
            cx.finish();
        }
        if !self.attends && cx.tick() >= ENDLESS {
            cx.stop_graph();
        }
        Ok(())
    }

    fn takes_b(&self, cx: &ExecutionContext) -> bool {
        cx.tick().is_multiple_of(self.plan.takes)
    }

    fn sends(&self, cx: &ExecutionContext, out: usize) -> bool {
        let sends = cx.tick().is_multiple_of(self.plan.every[out]);
        self.sent(cx, out, sends);
        sends
    }

    /// Counts a sent message, unless its tick will fail.
    fn sent(&self, cx: &ExecutionContext, out: usize, any: bool) {
        let counts = u64::from(any && !self.fails(cx, Fails::Late));
        self.counts.sent[out].fetch_add(counts, Ordering::Relaxed);
    }

    /// Receives and counts the messages of the optional inputs.
    fn take_optional<'t>(&self, o: In<'t, Option<&'t u64>>, p: In<'t, Option<&'t u64>>) {
        self.received(Port::O, o.receive().into_data().is_some());
        self.received(Port::P, p.receive().into_data().is_some());
    }

    /// Sends the number that was received at `a`, and ends the tick.
    fn end(&self, a: u64, x: Out<'_, u64>, y: Out<'_, u64>, cx: &ExecutionContext) -> Result<()> {
        if self.sends(cx, 0) {
            x.emit(a)?;
        }
        self.end_at_y(a, y, cx)
    }

    fn end_at_y(&self, a: u64, y: Out<'_, u64>, cx: &ExecutionContext) -> Result<()> {
        if self.sends(cx, 1) {
            y.emit(a)?;
        }
        self.fail(cx, Fails::Late)
    }

    /// Sends the message that the operator has held for the longest time.
    fn send_held(
        &self,
        held: &mut VecDeque<u64>,
        x: Out<'_, u64>,
        cx: &ExecutionContext,
    ) -> Result<()> {
        let Some(first) = held.pop_front() else { return Ok(()) };
        self.sent(cx, 0, true);
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
        self.core.fail(cx, Fails::Early)?;
        self.core.begin(cx)?;
        if self.core.sends(cx, 0) {
            io.x.emit(cx.tick())?;
        }
        if self.core.sends(cx, 1) {
            io.y.emit(cx.tick())?;
        }
        self.core.fail(cx, Fails::Late)
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
        self.core.fail(cx, Fails::Early)?;
        // Receiving the message frees its room in the queue, before other nodes run.
        let a = *io.a.receive().into_data();
        self.core.received(Port::A, true);
        self.core.begin(cx)?;
        self.core.take_optional(io.o, io.p);
        self.core.end(a, io.x, io.y, cx)
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
        self.core.fail(cx, Fails::Early)?;
        // Receiving the message frees its room in the queue, before other nodes run.
        let a = *io.a.receive().into_data();
        self.core.received(Port::A, true);
        self.core.begin(cx)?;
        self.core.take_optional(io.o, io.p);
        if cx.tick().is_multiple_of(self.core.plan.every[0]) {
            self.held.push_back(a);
        }
        if self.held.len() > self.core.plan.holds {
            self.core.send_held(&mut self.held, io.x, cx)?;
        }
        self.core.end_at_y(a, io.y, cx)
    }
}

impl Flush for Hold {
    fn flush(&mut self, io: HoldFlushIo<'_>, cx: &ExecutionContext) -> Result<Flushed> {
        self.core.fail(cx, Fails::Early)?;
        (0..self.core.plan.slow).for_each(|_| yield_now());
        for a in io.a.receive().into_data() {
            self.core.received(Port::A, true);
            self.held.push_back(*a);
        }
        io.o.receive().into_data().for_each(|_| self.core.received(Port::O, true));
        io.p.receive().into_data().for_each(|_| self.core.received(Port::P, true));
        self.core.send_held(&mut self.held, io.x, cx)?;
        self.core.fail(cx, Fails::Late)?;
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
        self.core.fail(cx, Fails::Early)?;
        // Receiving the message frees its room in the queue, before other nodes run.
        let a = *io.a.receive().into_data();
        self.core.received(Port::A, true);
        self.core.begin(cx)?;
        if self.core.takes_b(cx) {
            io.b.discard();
            self.core.received(Port::B, true);
        } else {
            io.b.leave();
        }
        self.core.take_optional(io.o, io.p);
        self.core.end(a, io.x, io.y, cx)
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
    fn compute(&mut self, io: MergeIo<'_>, cx: &ExecutionContext) -> Result<()> {
        self.core.fail(cx, Fails::Early)?;
        (0..self.core.plan.slow).for_each(|_| yield_now());
        self.core.take_optional(io.o, io.p);
        let received = self.core.counts.received.iter().map(|count| count.load(Ordering::Relaxed));
        if received.sum::<u64>() >= ENDLESS_MESSAGES {
            cx.stop_graph();
        }
        self.core.fail(cx, Fails::Late)
    }
}
