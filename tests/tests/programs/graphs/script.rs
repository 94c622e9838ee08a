//! Executes the script of a node with the ports of a tick.

use std::collections::VecDeque;

use streamflow::__private::CarriesStream;
use streamflow::context::OnStream;
use streamflow::driver::RawStream;
use streamflow::port::{In, Receive};
use streamflow::prelude::*;
use streamflow::stream::Point;

use super::item::{Cell, Item, copied, copy_bypassing, made, part, share, take_own};
use super::libraries::{Plans, calculated};
use super::operators::{Input, Ports};
use super::plan::{
    Action, Call, DownloadUse, Flow, Memory, On, Operand, Phase, Port, REGISTERS, Receiving,
};
use crate::programs::count;
use crate::programs::pieces::{self, Pending};

/// The state of a node from tick to tick.
#[derive(Default)]
pub(crate) struct Core {
    script: Vec<Phase>,
    registers: [Option<Cell>; REGISTERS],
    pending: VecDeque<Pending>,
    points: Vec<Point>,
    handle: Option<(On, OnStream<RawStream>)>,
    plans: Option<Plans>,
}

impl Flow {
    /// The state of a node before its first tick.
    pub(super) fn core(&self, node: usize) -> Core {
        Core::new(self.script(node))
    }
}

/// The state of a node within one tick.
struct Tick<'t> {
    cx: &'t ExecutionContext,
    ports: Ports<'t>,
    internal: Option<Stream<'t>>,
    /// A received message, and a stream that comes after it.
    read: Option<(&'t Item, Stream<'t>)>,
    also: Option<(&'t Item, Stream<'t>)>,
    all: Vec<(&'t Item, Stream<'t>)>,
}

impl Core {
    pub(crate) fn new(script: Vec<Phase>) -> Self {
        Self { script, ..Self::default() }
    }

    /// Waits for the pending downloads of the node.
    pub(super) fn stop(&mut self) -> Result<()> {
        self.pending.drain(..).try_for_each(|pending| pending.wait())
    }

    pub(super) fn tick<'t>(
        &mut self,
        tick: u64,
        ports: Ports<'t>,
        cx: &'t ExecutionContext,
    ) -> Result<()> {
        let mut now = Tick { cx, ports, internal: None, read: None, also: None, all: Vec::new() };
        let script = std::mem::take(&mut self.script);
        let mut begins = 0;
        let phase = script.iter().find(|phase| {
            begins += phase.ticks;
            tick < begins
        });
        let calls = phase.filter(|phase| tick.is_multiple_of(phase.every.max(1)));
        let mut calls = calls.iter().flat_map(|phase| &phase.calls);
        let done = calls.try_for_each(|call| self.call(call, tick, &mut now));
        self.script = script;
        done?;
        now.leave();
        Ok(())
    }

    fn call<'t>(&mut self, call: &Call, tick: u64, now: &mut Tick<'t>) -> Result<()> {
        count::called();
        let tag = call.tag.wrapping_add((tick as u32).wrapping_mul(7919));
        match call.act {
            Action::Receive(port, way, register) => {
                return self.receive(port, way, register, call.on, now);
            }
            Action::Discard(port) => {
                now.discard(port);
                return Ok(());
            }
            Action::Drop(register) => {
                self.registers[register] = None;
                return Ok(());
            }
            Action::Look => return self.pending.iter().try_for_each(Pending::look),
            Action::Await => {
                return self.pending.pop_front().map_or(Ok(()), |oldest| oldest.wait());
            }
            Action::Forget => {
                self.pending.pop_front();
                return Ok(());
            }
            _ => {}
        }
        let Some(s) = now.stream(call.on)? else { return Ok(()) };
        let platform = now.cx.platform();
        match call.act {
            Action::New(register, len) => {
                let mut item = Item::new(platform, &s, len)?;
                pieces::make(&s, &mut item, tag, call.slow)?;
                self.registers[register] = Some(Cell::Own(item));
            }
            Action::Upload(register, len) => {
                let mut item = Item::new(platform, &s, len)?;
                pieces::upload(platform, &s, &mut item, tag)?;
                self.registers[register] = Some(Cell::Own(item));
            }
            Action::Map(register, from, len) => {
                let from = self.section(from, now)?;
                let item = made(platform, &s, [from.as_ref(), None], len, (tag, call.slow))?;
                self.registers[register] = Some(Cell::Own(item));
            }
            Action::Join(register, a, b, len) => {
                let (a, b) = (self.section(a, now)?, self.section(b, now)?);
                let item = made(platform, &s, [a.as_ref(), b.as_ref()], len, (tag, call.slow))?;
                self.registers[register] = Some(Cell::Own(item));
            }
            Action::Calculate(register, from) => {
                let on = if call.on == On::First { On::Second } else { On::First };
                let Some(other) = now.stream(on)? else { return Ok(()) };
                let mut plans = self.plans.take();
                let Some(from) = self.section(from, now)? else { return Ok(()) };
                let made = calculated(now.cx, (&s, &other), &mut plans, &from, (tag, call.slow))?;
                self.plans = plans;
                if let Some(item) = made {
                    self.registers[register] = Some(Cell::Own(item));
                }
            }
            Action::Change(register, from) | Action::Copy(register, from) => {
                let Some(mut item) = take_own(&mut self.registers[register]) else { return Ok(()) };
                if let Some(from) = self.section(from, now)? {
                    match call.act {
                        Action::Copy(..) => pieces::copy(&s, &mut item, &from)?,
                        _ => pieces::change(&s, &mut item, &from, tag, call.slow)?,
                    }
                }
                self.registers[register] = Some(Cell::Own(item));
            }
            Action::Download(from, fate) => {
                let Some(from) = self.section(from, now)? else { return Ok(()) };
                let pending = pieces::download(platform, &s, &from)?;
                match fate {
                    DownloadUse::Awaited => pending.wait()?,
                    DownloadUse::Kept => self.pending.push_back(pending),
                    DownloadUse::Dropped => {}
                }
            }
            Action::Emit(register) => {
                let Some(out) = now.ports.out.take() else { return Ok(()) };
                match take_own(&mut self.registers[register]) {
                    Some(item) => out.set_cuda_stream(&s).emit(item)?,
                    _ => now.ports.out = Some(out),
                }
            }
            Action::Pass(register) => {
                let Some(item) = share(&mut self.registers[register]) else { return Ok(()) };
                if let Some(out) = now.ports.passed.take() {
                    out.set_cuda_stream(&s).emit(item)?;
                }
            }
            Action::Record => self.points.push(s.record()?),
            Action::Wait(ago) => {
                if let Some(point) = self.points.iter().rev().nth(ago) {
                    s.wait(*point)?;
                }
            }
            Action::IsComplete => {
                s.is_complete()?;
            }
            Action::Synchronize => s.synchronize_blocking()?,
            Action::Timing => {
                drop(s.record_timing()?);
            }
            Action::Raw => {
                s.raw();
            }
            Action::CopyBypassing(register, from) => {
                let Some((item, received_on)) = now.received(from.of) else { return Ok(()) };
                let target = if call.on == On::Internal { received_on } else { s };
                if let Some(copy) = copy_bypassing(platform, item, &received_on, &target)? {
                    self.registers[register] = Some(Cell::Own(copy));
                }
            }
            Action::CopyRaw(register, from) => {
                let Some(from) = self.section(from, now)? else { return Ok(()) };
                let copy = copied(platform, &s, &from)?;
                self.registers[register] = Some(Cell::Own(copy));
            }
            Action::OnStream(register, from) => {
                if self.handle.as_ref().is_none_or(|(on, _)| *on != call.on) {
                    self.handle = Some((call.on, now.cx.on_stream(&s, |s| Ok(s.raw()))?));
                }
                let Some((_, mut handle)) = self.handle.take() else { return Ok(()) };
                let Some(from) = self.section(from, now)? else { return Ok(()) };
                // The node's internal stream may have changed since the handle was made.
                let copy = match handle.with(&s, |_| copied(platform, &s, &from)) {
                    Ok(copy) => copy?,
                    Err(Error::OtherStream { .. }) => return Ok(()),
                    Err(error) => return Err(error.into()),
                };
                self.handle = Some((call.on, handle));
                self.registers[register] = Some(Cell::Own(copy));
            }
            Action::Receive(..)
            | Action::Discard(_)
            | Action::Drop(_)
            | Action::Look
            | Action::Await
            | Action::Forget => {}
        }
        Ok(())
    }

    fn section<'a, 't: 'a>(
        &'a self,
        from: Operand,
        now: &Tick<'t>,
    ) -> Result<Option<pieces::Section<'a>>> {
        let item: Option<&'a Item> = match from.of {
            Memory::Register(register) => self.registers[register].as_ref().map(Cell::item),
            of => now.received(of).map(|(item, _)| item),
        };
        part(item, from.skip)
    }

    fn receive<'t>(
        &mut self,
        port: Port,
        way: Receiving,
        register: usize,
        on: On,
        now: &mut Tick<'t>,
    ) -> Result<()> {
        let cx = now.cx;
        let target = if way == Receiving::Synchronized { now.stream(on)? } else { None };
        match port {
            Port::Read => {
                let Some(input) = now.ports.read.take() else { return Ok(()) };
                let (item, s) = input.receive(way, target, cx)?;
                now.read = item.map(|item| (item, s));
                now.received_on(way, s);
            }
            Port::Also => {
                let Some(input) = now.ports.also.take() else { return Ok(()) };
                let (item, s) = input.receive(way, target, cx)?;
                now.also = item.map(|item| (item, s));
                now.received_on(way, s);
            }
            Port::Share => {
                let Some(input) = now.ports.share.take() else { return Ok(()) };
                let (item, s) = input.receive(way, target, cx)?;
                if let Some(item) = item {
                    self.registers[register] = Some(Cell::Shared(item));
                }
                now.received_on(way, s);
            }
            Port::Take => {
                let Some(input) = now.ports.take.take() else { return Ok(()) };
                let (item, s) = input.receive(way, target, cx)?;
                if let Some(item) = item {
                    self.registers[register] = Some(Cell::Own(item));
                }
                now.received_on(way, s);
            }
            Port::All => {
                let Some(input) = now.ports.all.take() else { return Ok(()) };
                let (items, s) = receive(input, way, target, cx)?;
                now.all = items.map(|item| (item, s)).collect();
                now.received_on(way, s);
            }
        }
        Ok(())
    }
}

impl<'t> Tick<'t> {
    /// Returns the stream that a call uses. For a node that owns no streams, this is the internal stream.
    fn stream(&self, on: On) -> Result<Option<Stream<'t>>> {
        let own = |index: usize, name| match self.ports.streams {
            Some(streams) => self.cx.allocate_cuda_stream(streams[index]).map(Some),
            None => match self.cx.allocate_cuda_stream_named(name) {
                Err(Error::NoPool { .. }) => Ok(self.internal),
                found => found.map(Some),
            },
        };
        match (on, self.internal) {
            (On::Internal, Some(internal)) => Ok(Some(internal)),
            (On::Internal | On::First, _) => Ok(own(0, "first")?),
            (On::Second, _) => Ok(own(1, "second")?),
            (On::Default, _) => Ok(self.cx.default_stream().map(Some)?),
        }
    }

    fn received_on(&mut self, way: Receiving, s: Stream<'t>) {
        if way != Receiving::Synchronized {
            self.internal = Some(s);
        }
    }

    fn received(&self, of: Memory) -> Option<(&'t Item, Stream<'t>)> {
        match of {
            Memory::Read => self.read,
            Memory::Also => self.also,
            Memory::All(index) => self.all.get(index % self.all.len().max(1)).copied(),
            Memory::Register(_) => None,
        }
    }

    fn discard(&mut self, port: Port) {
        match port {
            Port::Read => self.ports.read.take().map(Input::discard),
            Port::Also => self.ports.also.take().map(Input::discard),
            Port::Share => self.ports.share.take().map(Input::discard),
            Port::Take => self.ports.take.take().map(Input::discard),
            Port::All => self.ports.all.take().map(In::discard),
        };
    }

    /// Leaves optional messages in their queues, and discards required messages so that the node can tick again.
    fn leave(mut self) {
        let is_work = self.ports.streams.is_some();
        for port in Port::EACH.into_iter().filter(|_| !is_work) {
            self.discard(port);
        }
    }
}

impl<'t, A: Receive<'t>> Input<'t, A>
where
    <A::Message as Message>::Place: CarriesStream<A::Message>,
{
    fn receive(
        self,
        way: Receiving,
        target: Option<Stream<'t>>,
        cx: &'t ExecutionContext,
    ) -> Result<(Option<A>, Stream<'t>)> {
        match self {
            Self::Required(input) => {
                receive(input, way, target, cx).map(|(item, s)| (Some(item), s))
            }
            Self::Optional(input) => receive(input, way, target, cx),
        }
    }
}

impl<'t, A: Receive<'t>> Input<'t, A> {
    fn discard(self) {
        match self {
            Self::Required(input) => input.discard(),
            Self::Optional(input) => input.discard(),
        }
    }
}

fn receive<'t, A: Receive<'t>>(
    input: In<'t, A>,
    way: Receiving,
    target: Option<Stream<'t>>,
    cx: &'t ExecutionContext,
) -> Result<(A, Stream<'t>)>
where
    <A::Message as Message>::Place: CarriesStream<A::Message>,
{
    let input = input.receive();
    match (way, target) {
        (Receiving::OrAdopt, _) => Ok(input.or_adopt().receive_cuda_stream(cx)?),
        (Receiving::ToDefault, _) => Ok(input.sync_to_default().receive_cuda_stream(cx)?),
        (Receiving::Synchronized, Some(target)) => {
            let after = cx.synchronize_streams(input.streams(), &target)?;
            Ok((input.into_synchronized_data(&after)?, target))
        }
        _ => Ok(input.receive_cuda_stream(cx)?),
    }
}
