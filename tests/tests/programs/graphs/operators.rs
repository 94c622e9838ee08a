//! The operators of random graphs, with their ports. Scripts define what the operators do.

use streamflow::port::{In, Many, Out};
use streamflow::prelude::*;

use super::item::Item;
use super::script::Core;

/// An operator that sends the number of each tick, and ends the run.
#[operator]
pub(crate) struct Clock {
    #[output]
    tick: u64,
    ticks: u64,
}

impl Compute for Clock {
    fn compute(&mut self, io: ClockIo<'_>, cx: &ExecutionContext) -> Result<()> {
        if cx.tick() + 1 >= self.ticks {
            // Messages that are still queued at the end are not needed.
            cx.stop_graph();
        }
        io.tick.emit(cx.tick())
    }
}

/// The ports that an operator has in a tick. Every operator has a part of them.
#[derive(Default)]
pub(super) struct Ports<'t> {
    pub(super) read: Option<Input<'t, &'t Item>>,
    pub(super) also: Option<Input<'t, &'t Item>>,
    pub(super) share: Option<Input<'t, Shared<Item>>>,
    pub(super) take: Option<Input<'t, Item>>,
    pub(super) all: Option<In<'t, Many<'t, &'t Item>>>,
    pub(super) out: Option<Out<'t, Item>>,
    pub(super) passed: Option<Out<'t, Shared<Item>>>,
    pub(super) streams: Option<[streamflow::context::StreamName<'t>; 2]>,
}

/// An input that is either required or optional.
pub(super) enum Input<'t, A: streamflow::port::Receive<'t>> {
    Required(In<'t, A>),
    Optional(In<'t, Option<A>>),
}

/// An operator that may make any calls, in each tick of the clock.
#[operator(streams(first, second))]
pub(crate) struct Work {
    #[input]
    clock: &u64,
    #[input(optional)]
    read: &Item,
    #[input(optional)]
    also: &Item,
    #[input(optional)]
    share: Shared<Item>,
    #[input(optional)]
    take: Item,
    #[input(many, optional)]
    all: &Item,
    #[output]
    out: Item,
    #[output]
    passed: Shared<Item>,
    core: Core,
}

impl Compute for Work {
    fn compute<'t>(&mut self, io: WorkIo<'t>, cx: &'t ExecutionContext) -> Result<()> {
        let tick = *io.clock.receive().into_data();
        let ports = Ports {
            read: Some(Input::Optional(io.read)),
            also: Some(Input::Optional(io.also)),
            share: Some(Input::Optional(io.share)),
            take: Some(Input::Optional(io.take)),
            all: Some(io.all),
            out: Some(io.out),
            passed: Some(io.passed),
            streams: Some([io.first, io.second]),
        };
        self.core.tick(tick, ports, cx)
    }

    fn stop(&mut self, _: &ExecutionContext) -> Result<()> {
        self.core.stop()
    }
}

/// An operator that reads each message.
#[operator]
pub(crate) struct Unary {
    #[input]
    read: &Item,
    #[output]
    out: Item,
    core: Core,
}

impl Compute for Unary {
    fn compute<'t>(&mut self, io: UnaryIo<'t>, cx: &'t ExecutionContext) -> Result<()> {
        let (read, out) = (Some(Input::Required(io.read)), Some(io.out));
        self.core.tick(cx.tick(), Ports { read, out, ..Ports::default() }, cx)
    }

    fn stop(&mut self, _: &ExecutionContext) -> Result<()> {
        self.core.stop()
    }
}

/// An operator that shares each message.
#[operator]
pub(crate) struct Forward {
    #[input]
    share: Shared<Item>,
    #[output]
    passed: Shared<Item>,
    core: Core,
}

impl Compute for Forward {
    fn compute<'t>(&mut self, io: ForwardIo<'t>, cx: &'t ExecutionContext) -> Result<()> {
        let (share, passed) = (Some(Input::Required(io.share)), Some(io.passed));
        self.core.tick(cx.tick(), Ports { share, passed, ..Ports::default() }, cx)
    }

    fn stop(&mut self, _: &ExecutionContext) -> Result<()> {
        self.core.stop()
    }
}

/// An operator that reads a message of each of its producers.
#[operator]
pub(crate) struct Merge {
    #[input(many)]
    all: &Item,
    #[output]
    out: Item,
    core: Core,
}

impl Compute for Merge {
    fn compute<'t>(&mut self, io: MergeIo<'t>, cx: &'t ExecutionContext) -> Result<()> {
        let (all, out) = (Some(io.all), Some(io.out));
        self.core.tick(cx.tick(), Ports { all, out, ..Ports::default() }, cx)
    }

    fn stop(&mut self, _: &ExecutionContext) -> Result<()> {
        self.core.stop()
    }
}
