//! Law 5: Reading, sharing, taking.
//!
//! Edges: the rules for which output may lead to which input. Traits check these rules where `graph!` writes the edge.

use super::array::OnePort;
use super::edge_copy::{CopyOnEdge, EdgeCopy, TransferOnEdge};
use super::exported::{ExportedInput, ExportedOutput, Inlets, Source, flat_name, push_last};
use super::info::{InputPort, OutputPort};
use super::input::Input;
use super::output::Output;
use crate::driver::DeviceId;
use crate::error::Result;
use crate::message::{
    self, Device, EdgeOptions, Message, Metadata, Place, Reads, Several, Shares, Sole, Takes,
};
use crate::platform::Platform;

/// A port at which an edge can begin: the [`Output`] of a node, or a graph's.
#[diagnostic::on_unimplemented(
    message = "an edge begins at an output, but this port is an input",
    label = "the left-hand side of an edge must be an output port",
    note = "edges are written `producer.output >> consumer.input`"
)]
pub trait EdgeSource {
    /// The type of the port.
    type Port: OutputPort;
    /// `B`, the port at the edge's other end. An input at this end has no such type: so if an edge is written in the wrong
    /// direction, rustc reports that input alone, and can't check the port at the other end.
    #[doc(hidden)]
    type To<B>;
    #[doc(hidden)]
    fn to<B>(port: &mut B) -> &mut Self::To<B>;
    #[doc(hidden)]
    fn source(&mut self) -> Option<Source<'_, ItemOf<Self::Port>>>;
}

type ItemOf<P> = <<P as OutputPort>::Item as Message>::Item;

#[diagnostic::do_not_recommend]
impl<P: OutputPort> EdgeSource for Output<P> {
    type Port = P;
    type To<B> = B;

    fn to<B>(port: &mut B) -> &mut B {
        port
    }

    fn source(&mut self) -> Option<Source<'_, ItemOf<P>>> {
        Some(Source { outlet: &mut self.outlet, end: None })
    }
}

#[diagnostic::do_not_recommend]
impl<P: OutputPort> EdgeSource for ExportedOutput<'_, P> {
    type Port = P;
    type To<B> = B;

    fn to<B>(port: &mut B) -> &mut B {
        port
    }

    fn source(&mut self) -> Option<Source<'_, ItemOf<P>>> {
        let Source { outlet, end } = self.source.as_mut()?;
        Some(Source { outlet: &mut **outlet, end: *end })
    }
}

/// [`edge`] reports an array of ports, so nothing else is reported about it.
#[diagnostic::do_not_recommend]
impl<T: EdgeSource, const N: usize> EdgeSource for [T; N] {
    type Port = T::Port;
    type To<B> = T::To<B>;

    fn to<B>(port: &mut B) -> &mut T::To<B> {
        T::to(port)
    }

    fn source(&mut self) -> Option<Source<'_, ItemOf<T::Port>>> {
        None
    }
}

/// A port at which an edge can end: the [`Input`] of a node, or a graph's.
#[diagnostic::on_unimplemented(
    message = "an edge ends at an input, but this port is an output",
    label = "the right-hand side of an edge must be an input port",
    note = "edges are written `producer.output >> consumer.input`"
)]
pub trait EdgeTarget {
    /// The type of the port.
    type Port: InputPort;
    #[doc(hidden)]
    fn inlets(&mut self) -> Inlets<'_, <Self::Port as InputPort>::Message>;
}

#[diagnostic::do_not_recommend]
impl<P: InputPort> EdgeTarget for Input<P> {
    type Port = P;

    fn inlets(&mut self) -> Inlets<'_, P::Message> {
        smallvec::smallvec![(&mut self.inlet, None)]
    }
}

#[diagnostic::do_not_recommend]
impl<P: InputPort> EdgeTarget for ExportedInput<'_, P> {
    type Port = P;

    fn inlets(&mut self) -> Inlets<'_, P::Message> {
        self.inlets.iter_mut().map(|(inlet, end)| (&mut **inlet, *end)).collect()
    }
}

/// As the implementation of [`EdgeSource`] for arrays.
#[diagnostic::do_not_recommend]
impl<T: EdgeTarget, const N: usize> EdgeTarget for [T; N] {
    type Port = T::Port;

    fn inlets(&mut self) -> Inlets<'_, <T::Port as InputPort>::Message> {
        Inlets::new()
    }
}

/// Implemented for the type `Self` of an output's message, if the input expects the same type.
#[diagnostic::on_unimplemented(
    message = "port type mismatch: output `{From}` carries `{Self}`, but input `{To}` expects `{Expected}`",
    label = "this edge connects `{Self}` to `{Expected}`",
    note = "insert an operator that converts `{Self}` into `{Expected}`, or change one of the port declarations"
)]
pub trait Feeds<Expected, From, To> {
    #[doc(hidden)]
    fn same(inlets: Inlets<'_, Expected>) -> Inlets<'_, Self>
    where
        Self: Sized;
}

#[diagnostic::do_not_recommend]
impl<T, From, To> Feeds<T, From, To> for T {
    fn same(inlets: Inlets<'_, T>) -> Inlets<'_, T> {
        inlets
    }
}

/// Seals [`Accepts`]: an implementation outside of this module could let two inputs own (take) the same message.
mod sealed {
    use super::{Reads, Several, Shares, Sole, Takes};

    pub trait Accepts<Owners> {}
    impl Accepts<Sole> for Reads {}
    impl Accepts<Sole> for Shares {}
    impl Accepts<Sole> for Takes {}
    impl Accepts<Several> for Reads {}
    impl Accepts<Several> for Shares {}
}

/// Implemented for the form of an input (as `Reads`) that permits as many owners as the message has: `Sole` or `Several`.
#[diagnostic::on_unimplemented(
    message = "input `{To}` takes its message, but output `{From}` has other readers too",
    label = "this input must be the message's only owner",
    note = "mark the edge `#[copy]` to give it a copy of its own, or declare the input as `&T` or `Shared<T>`"
)]
pub trait Accepts<Owners, From, To>: sealed::Accepts<Owners> {}

#[diagnostic::do_not_recommend]
impl<From, To> Accepts<Sole, From, To> for Reads {}
#[diagnostic::do_not_recommend]
impl<From, To> Accepts<Sole, From, To> for Shares {}
#[diagnostic::do_not_recommend]
impl<From, To> Accepts<Sole, From, To> for Takes {}
#[diagnostic::do_not_recommend]
impl<From, To> Accepts<Several, From, To> for Reads {}
#[diagnostic::do_not_recommend]
impl<From, To> Accepts<Several, From, To> for Shares {}

/// The two ports of an edge, before the edge is connected. The types of the ports are not checked yet.
#[derive(Debug)]
pub struct Edge<'a, A, B> {
    from: &'a mut A,
    to: &'a mut B,
    options: EdgeOptions,
}

/// Names the ports of an edge. Its one bound is that neither is an array, and rustc reports all other mistakes at [`connect`].
pub fn edge<'a, A: OnePort, B: OnePort>(
    from: &'a mut A,
    to: &'a mut B,
    options: EdgeOptions,
) -> Edge<'a, A, B> {
    Edge { from, to, options }
}

type Item<A> = <<<A as EdgeSource>::Port as OutputPort>::Item as Message>::Item;
type Owners<A> = <<<A as EdgeSource>::Port as OutputPort>::Item as Message>::Owners;
type End<A, B> = <A as EdgeSource>::To<B>;
type Port<B> = <B as EdgeTarget>::Port;
type Expected<B> = <<B as EdgeTarget>::Port as InputPort>::Message;
type Form<B> = <<B as EdgeTarget>::Port as InputPort>::Form;

/// Connects an outlet to the inlets of an edge. `copy` makes the copying of an edge that copies, from its name. This function depends
/// on the message's type alone, so it is compiled once for all edges with such messages.
fn join<T>(
    source: Option<Source<'_, T>>,
    inlets: Inlets<'_, T>,
    options: EdgeOptions,
    copy: &dyn Fn(&'static str) -> Option<EdgeCopy<T>>,
) {
    let Source { outlet, end: from } = taken_once(source);
    for (inlet, to) in inlets {
        let name = flat_name(options.name, from, to);
        outlet.connect(inlet.connect(EdgeOptions { name, ..options }), copy(name));
    }
}

/// Returns the outlet of an output. The outlet of a graph's output is gone if an outer graph has made the output its own.
fn taken_once<T>(source: Option<Source<'_, T>>) -> Source<'_, T> {
    match source {
        Some(source) => source,
        None => unreachable!("`graph!` makes the ports of a graph anew for its edges"),
    }
}

/// Connects an output to the only input that gets its messages.
pub fn connect<A: EdgeSource, B>(edge: Edge<'_, A, B>)
where
    End<A, B>: EdgeTarget,
    Item<A>: Feeds<Expected<End<A, B>>, A::Port, Port<End<A, B>>>,
    Form<End<A, B>>: Accepts<Owners<A>, A::Port, Port<End<A, B>>>,
{
    join(edge.from.source(), Item::<A>::same(A::to(edge.to).inlets()), edge.options, &|_| None);
}

/// Connects an output to one of the several inputs that share its messages.
pub fn connect_shared<A: EdgeSource, B>(edge: Edge<'_, A, B>)
where
    End<A, B>: EdgeTarget,
    Item<A>: Feeds<Expected<End<A, B>>, A::Port, Port<End<A, B>>>,
    Form<End<A, B>>: Accepts<Several, A::Port, Port<End<A, B>>>,
{
    join(edge.from.source(), Item::<A>::same(A::to(edge.to).inlets()), edge.options, &|_| None);
}

/// Connects an output to an input that gets its own copy of each message: `#[copy]`.
pub fn connect_copy<A: EdgeSource, B>(edge: Edge<'_, A, B>)
where
    End<A, B>: EdgeTarget,
    Item<A>: Feeds<Expected<End<A, B>>, A::Port, Port<End<A, B>>> + CopyOnEdge,
{
    let inlets = Item::<A>::same(A::to(edge.to).inlets());
    let copy = |_| Some(EdgeCopy::on_sending_stream());
    join(edge.from.source(), inlets, edge.options, &copy);
}

/// Connects an output to an input on another device, `device`. The input gets a copy of each message in that device's memory.
pub fn connect_transfer<A: EdgeSource, B>(edge: Edge<'_, A, B>, device: DeviceId)
where
    End<A, B>: EdgeTarget,
    Item<A>: Feeds<Expected<End<A, B>>, A::Port, Port<End<A, B>>> + TransferOnEdge,
{
    let inlets = Item::<A>::same(A::to(edge.to).inlets());
    join(edge.from.source(), inlets, edge.options, &|name| Some(EdgeCopy::to(device, name)));
}

/// Puts the first message on a feedback edge: the edge that was connected to this input last. Generated code calls this function
/// directly after `connect`. Inlets inside of a graph share the message if there are several.
///
/// # Errors
/// An error if the message has memory of another platform; errors of the driver.
pub fn begin<B: EdgeTarget>(to: &mut B, first: Expected<B>, platform: &Platform) -> Result<()> {
    let sent = message::ready_point(&first, platform)?;
    push_last(to.inlets(), first, Metadata::default(), sent);
    Ok(())
}

/// Declares that the messages of an output are discarded: `>> _`.
pub fn discard<A: OnePort + EdgeSource>(_: &mut A) {}

/// A port at which a condition can wait for messages: the [`Input`] of a node, or a graph's.
#[diagnostic::on_unimplemented(
    message = "this condition waits for messages at an input, but this port is an output",
    label = "this is an output",
    note = "name an input of this node; for room at an output, write `room(output)`"
)]
pub trait AwaitedTarget {
    /// The type of the port.
    type Port: InputPort;
}

#[diagnostic::do_not_recommend]
impl<P: InputPort> AwaitedTarget for Input<P> {
    type Port = P;
}

#[diagnostic::do_not_recommend]
impl<P: InputPort> AwaitedTarget for ExportedInput<'_, P> {
    type Port = P;
}

#[diagnostic::do_not_recommend]
impl<T: AwaitedTarget, const N: usize> AwaitedTarget for [T; N] {
    type Port = T::Port;
}

/// A port at which a condition can wait for room: the [`Output`] of a node, or a graph's.
#[diagnostic::on_unimplemented(
    message = "`room` waits for room at an output, but this port is an input",
    label = "this is an input",
    note = "name an output of this node; for messages at an input, write `message_available(input, n)`"
)]
pub trait AwaitedSource {}

#[diagnostic::do_not_recommend]
impl<P: OutputPort> AwaitedSource for Output<P> {}

#[diagnostic::do_not_recommend]
impl<P: OutputPort> AwaitedSource for ExportedOutput<'_, P> {}

#[diagnostic::do_not_recommend]
impl<T: AwaitedSource, const N: usize> AwaitedSource for [T; N] {}

/// Implemented for the place of messages for which `stream_done` can wait: [`Device`].
#[diagnostic::on_unimplemented(
    message = "`stream_done` needs a stream, but input `{To}` receives `{M}`, which is host data",
    label = "no stream comes with this input's message",
    note = "remove the condition: an operator runs as soon as its host data has arrived; for a `Download` in it, write `host_done(input)`"
)]
pub trait Awaited<M, To>: Place {}

#[diagnostic::do_not_recommend]
impl<M, To> Awaited<M, To> for Device {}

type AwaitedMessage<B> = <<B as AwaitedTarget>::Port as InputPort>::Message;

/// Compiles only if a condition can wait for messages at this port.
pub fn when_message<B: AwaitedTarget>(_: &mut B) {}

/// Compiles only if a condition can wait for room at this port.
pub fn when_room<B: AwaitedSource>(_: &mut B) {}

/// Compiles only if `stream_done` can wait for this input: the input's message must carry a stream.
pub fn when_stream_done<B: AwaitedTarget>(_: &mut B)
where
    <AwaitedMessage<B> as Message>::Place: Awaited<AwaitedMessage<B>, B::Port>,
{
}
