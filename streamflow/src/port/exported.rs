//! The ports of a graph that stands in another graph. Each of them is a port of a node inside, so an edge of the outer graph leads to
//! that node, and no queue and no tick stand between them.
//!
//! A graph declares its ports as an operator does, and its edges inside are checked against these declarations: a message that a
//! graph declares as `T` has one owner on both sides of the border, and as `&T` or `Shared<T>` it may have several.

use std::collections::HashSet;
use std::fmt;
use std::sync::{LazyLock, Mutex, PoisonError};

use smallvec::SmallVec;

use super::array::OnePort;
use super::info::{InputPort, OutputPort};
use super::outlet::Outgoing;
use crate::memory::Shared;
use crate::message::{
    Envelope, Form, Inlet, Message, Metadata, Payload, Reads, Several, Shares, Sole, Takes,
};
use crate::stream::Point;

/// A port of a node inside of a graph. It is written as the path of the port.
#[derive(Debug, Clone, Copy)]
pub struct InnerEnd<'a> {
    path: &'a str,
    node: &'static str,
    index: Option<usize>,
    port: &'static str,
}

impl<'a> InnerEnd<'a> {
    /// The port `port` of the node `node`, of an array the node `index`, in the graph at `path`.
    #[must_use]
    pub fn new(
        path: &'a str,
        node: &'static str,
        index: Option<usize>,
        port: &'static str,
    ) -> Self {
        Self { path, node, index, port }
    }
}

impl fmt::Display for InnerEnd<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { path, node, index, port } = self;
        match index {
            Some(index) => write!(f, "{path}.{node}[{index}].{port}"),
            None => write!(f, "{path}.{node}.{port}"),
        }
    }
}

/// Returns the name of an edge with an end inside of a graph, or in an array: `producer.output >> consumer.input`.
///
/// The names are made of the names of nodes and of the indices of arrays, which the program has while it is compiled. So a program has
/// a fixed number of them, however many graphs it makes. Each name is stored once, and until the program ends.
#[must_use]
pub fn edge_name(output: &dyn fmt::Display, input: &dyn fmt::Display) -> &'static str {
    static NAMES: LazyLock<Mutex<HashSet<&'static str>>> = LazyLock::new(Mutex::default);
    let name = format!("{output} >> {input}");
    let mut names = NAMES.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(known) = names.get(&*name) {
        return known;
    }
    let name: &'static str = name.leak();
    names.insert(name);
    name
}

/// Returns the name of an edge, given the name that its graph has for it, with the inner ports in place of a graph's.
pub(super) fn flat_name(
    name: &'static str,
    output: Option<InnerEnd<'_>>,
    input: Option<InnerEnd<'_>>,
) -> &'static str {
    let Some((written_output, written_input)) = name.split_once(" >> ") else { return name };
    match (output, input) {
        (None, None) => name,
        (Some(output), None) => edge_name(&output, &written_input),
        (None, Some(input)) => edge_name(&written_output, &input),
        (Some(output), Some(input)) => edge_name(&output, &input),
    }
}

/// The inlets to which an edge leads, each with its place if it is inside of a graph. Most edges lead to one.
pub(crate) type Inlets<'a, T> = SmallVec<[(&'a mut Inlet<T>, Option<InnerEnd<'a>>); 1]>;

/// Puts a message into the queues of the edges that were connected to these inlets last. Several inlets share the message.
pub(super) fn push_last<T>(
    mut inlets: Inlets<'_, T>,
    message: T,
    metadata: Metadata,
    sent: Option<Point>,
) {
    if let [(inlet, _)] = &mut inlets[..] {
        return inlet.push_last(Envelope { message: Payload::One(message), metadata, sent });
    }
    let message = Shared::new(message);
    for (inlet, _) in inlets {
        let message = Payload::Many(message.clone());
        inlet.push_last(Envelope { message, metadata: metadata.clone(), sent });
    }
}

/// The item of a port's message: `T` for `T` and for `Shared<T>`.
pub(super) type Item<P> = <<P as OutputPort>::Item as Message>::Item;

/// The outlet at which an edge begins, with its place if it is inside of a graph.
pub struct Source<'a, T> {
    pub(super) outlet: &'a mut dyn Outgoing<T>,
    pub(super) end: Option<InnerEnd<'a>>,
}

/// An output of a graph: the outlet of a node inside.
pub struct ExportedOutput<'a, P: OutputPort> {
    /// The outlet, until an outer graph has made the output its own.
    pub(super) source: Option<Source<'a, Item<P>>>,
    /// The index in an array of ports; 0 for a single port.
    pub(crate) element: usize,
}

/// An input of a graph: the inlets of one node inside, or of several.
pub struct ExportedInput<'a, P: InputPort> {
    pub(super) inlets: Inlets<'a, P::Message>,
    /// The index in an array of ports; 0 for a single port.
    pub(crate) element: usize,
}

/// A port of a graph, before the edges inside are its own.
pub trait Exported {
    /// Returns the port with this index in an array of ports; 0 for a single port.
    fn open(element: usize) -> Self;
    /// Adds the ports inside of the other one to those of this port.
    fn add(&mut self, other: Self);
}

impl<P: OutputPort> Exported for ExportedOutput<'_, P> {
    fn open(element: usize) -> Self {
        Self { source: None, element }
    }

    fn add(&mut self, other: Self) {
        self.source = other.source;
    }
}

impl<P: InputPort> Exported for ExportedInput<'_, P> {
    fn open(element: usize) -> Self {
        Self { inlets: Inlets::new(), element }
    }

    fn add(&mut self, other: Self) {
        self.inlets.extend(other.inlets);
    }
}

#[diagnostic::do_not_recommend]
impl<P: InputPort> OnePort for ExportedInput<'_, P> {
    type One = Self;

    fn one(&mut self) -> &mut Self {
        self
    }
}

#[diagnostic::do_not_recommend]
impl<P: OutputPort> OnePort for ExportedOutput<'_, P> {
    type One = Self;

    fn one(&mut self) -> &mut Self {
        self
    }
}

/// A port that can be a graph's output: an output of a node, or of a graph inside.
#[diagnostic::on_unimplemented(
    message = "an edge begins at an output, but this port is an input",
    label = "the left-hand side of an edge must be an output port",
    note = "edges are written `producer.output >> consumer.input`"
)]
pub trait GivesOutlet<'a> {
    /// The type of the port.
    type Port: OutputPort;
    #[doc(hidden)]
    fn give(&mut self) -> Option<Source<'a, Item<Self::Port>>>;
}

#[diagnostic::do_not_recommend]
impl<'a, P: OutputPort> GivesOutlet<'a> for ExportedOutput<'a, P> {
    type Port = P;

    fn give(&mut self) -> Option<Source<'a, Item<P>>> {
        self.source.take()
    }
}

/// Implemented for the item of an inner output, if the graph's output has the same.
#[diagnostic::on_unimplemented(
    message = "port type mismatch: output `{From}` carries `{Self}`, but output `{To}` is declared as `{Declared}`",
    label = "`{Self}` is not `{Declared}`",
    note = "change one of the port declarations, or put an operator that converts `{Self}` into `{Declared}` between them"
)]
pub trait Gives<Declared, From, To>: Sized {
    #[doc(hidden)]
    fn given(source: Source<'_, Self>) -> Source<'_, Declared>;
}

#[diagnostic::do_not_recommend]
impl<T, From, To> Gives<T, From, To> for T {
    fn given(source: Source<'_, T>) -> Source<'_, T> {
        source
    }
}

/// Seals [`Admits`] and [`AcceptsInside`]: an implementation outside of this module could let two inputs own (take) the same message.
mod sealed {
    use super::{Reads, Several, Shares, Sole, Takes};

    pub trait Admits<Owners> {}
    impl Admits<Sole> for Sole {}
    impl<Owners> Admits<Owners> for Several {}

    pub trait Accepts<Owners> {}
    impl<Owners> Accepts<Owners> for Reads {}
    impl<Owners> Accepts<Owners> for Shares {}
    impl Accepts<Sole> for Takes {}
}

/// Implemented for the number of owners that a graph's output declares, if the message of the inner output may have as many.
#[diagnostic::on_unimplemented(
    message = "output `{To}` gives its message away, but a message of output `{From}` has several owners",
    label = "the reader outside must be the message's only owner",
    note = "declare `{To}` as `Shared<T>`; if another node reads it, that edge may be marked `#[copy]`"
)]
pub trait Admits<Owners, From, To>: sealed::Admits<Owners> {}

#[diagnostic::do_not_recommend]
impl<From, To> Admits<Sole, From, To> for Sole {}
#[diagnostic::do_not_recommend]
impl<Owners, From, To> Admits<Owners, From, To> for Several {}

/// Implemented for a graph's output, for an inner output that it can be. The graph's output is `Self`, since rustc decides bounds on
/// it last, and so reports a wrong message in the words of [`Gives`].
pub trait ExportOf<P: OutputPort, Owners>: OutputPort + Sized {
    #[doc(hidden)]
    fn same(source: Source<'_, Item<P>>) -> Source<'_, Item<Self>>;
}

impl<P: OutputPort, M: OutputPort, Owners> ExportOf<P, Owners> for M
where
    Item<P>: Gives<Item<M>, P, M>,
    <M::Item as Message>::Owners: Admits<Owners, P, M>,
{
    fn same(source: Source<'_, Item<P>>) -> Source<'_, Item<M>> {
        Item::<P>::given(source)
    }
}

pub(super) type Owners<P> = <<P as OutputPort>::Item as Message>::Owners;

/// Makes an inner output the output of its graph.
pub fn export<'a, A: OnePort, M>(port: &mut A) -> ExportedOutput<'a, M>
where
    A::One: GivesOutlet<'a>,
    M: ExportOf<InnerOutput<'a, A>, Owners<InnerOutput<'a, A>>>,
{
    ExportedOutput { source: port.one().give().map(M::same), element: 0 }
}

/// Makes an inner output, which has readers inside too, the output of its graph.
pub fn export_shared<'a, A: OnePort, M>(port: &mut A) -> ExportedOutput<'a, M>
where
    A::One: GivesOutlet<'a>,
    M: ExportOf<InnerOutput<'a, A>, Several>,
{
    ExportedOutput { source: port.one().give().map(M::same), element: 0 }
}

type InnerOutput<'a, A> = <<A as OnePort>::One as GivesOutlet<'a>>::Port;

/// A port that a graph's input can be: an input of a node, or of a graph inside.
#[diagnostic::on_unimplemented(
    message = "an edge ends at an input, but this port is an output",
    label = "the right-hand side of an edge must be an input port",
    note = "edges are written `producer.output >> consumer.input`"
)]
pub trait GivesInlets<'a> {
    /// The type of the port.
    type Port: InputPort;
    #[doc(hidden)]
    fn give(&mut self) -> Inlets<'a, <Self::Port as InputPort>::Message>;
}

#[diagnostic::do_not_recommend]
impl<'a, P: InputPort> GivesInlets<'a> for ExportedInput<'a, P> {
    type Port = P;

    fn give(&mut self) -> Inlets<'a, P::Message> {
        std::mem::take(&mut self.inlets)
    }
}

/// Implemented for the message of a graph's input, if the inner input expects the same.
#[diagnostic::on_unimplemented(
    message = "port type mismatch: input `{From}` is declared as `{Self}`, but input `{To}` expects `{Expected}`",
    label = "`{Self}` is not `{Expected}`",
    note = "change one of the port declarations, or put an operator that converts `{Self}` into `{Expected}` between them"
)]
pub trait Reaches<Expected, From, To>: Sized {
    #[doc(hidden)]
    fn reached(inlets: Inlets<'_, Expected>) -> Inlets<'_, Self>;
}

#[diagnostic::do_not_recommend]
impl<T, From, To> Reaches<T, From, To> for T {
    fn reached(inlets: Inlets<'_, T>) -> Inlets<'_, T> {
        inlets
    }
}

/// Implemented for the form of an inner input that permits as many owners as a message of the graph's input may have.
#[diagnostic::on_unimplemented(
    message = "input `{To}` takes its message, but input `{From}` may get one that has other readers too",
    label = "this input must be the message's only owner",
    note = "declare `{From}` as `T` and let nothing else read it, or declare `{To}` as `&T` or `Shared<T>`"
)]
pub trait AcceptsInside<Owners, From, To>: sealed::Accepts<Owners> {}

#[diagnostic::do_not_recommend]
impl<From, To> AcceptsInside<Sole, From, To> for Reads {}
#[diagnostic::do_not_recommend]
impl<From, To> AcceptsInside<Sole, From, To> for Shares {}
#[diagnostic::do_not_recommend]
impl<From, To> AcceptsInside<Several, From, To> for Reads {}
#[diagnostic::do_not_recommend]
impl<From, To> AcceptsInside<Several, From, To> for Shares {}
#[diagnostic::do_not_recommend]
impl<From, To> AcceptsInside<Sole, From, To> for Takes {}

/// Implemented for a graph's input, for an inner input that it can be, as [`ExportOf`].
pub trait ImportTo<P: InputPort, Owners>: InputPort + Sized {
    #[doc(hidden)]
    fn same(inlets: Inlets<'_, P::Message>) -> Inlets<'_, Self::Message>;
}

impl<P: InputPort, M: InputPort, Owners> ImportTo<P, Owners> for M
where
    M::Message: Reaches<P::Message, M, P>,
    P::Form: AcceptsInside<Owners, M, P>,
{
    fn same(inlets: Inlets<'_, P::Message>) -> Inlets<'_, M::Message> {
        M::Message::reached(inlets)
    }
}

/// The number of owners that a message of an input may have.
pub(super) type OwnersOfInput<M> = <<M as InputPort>::Form as Form>::Owners;

/// Makes an inner input the input of its graph.
pub fn import<'a, B: OnePort, M>(port: &mut B) -> ExportedInput<'a, M>
where
    B::One: GivesInlets<'a>,
    M: InputPort<Form: Form> + ImportTo<InnerInput<'a, B>, OwnersOfInput<M>>,
{
    ExportedInput { inlets: M::same(port.one().give()), element: 0 }
}

/// Makes an inner input the input of its graph, which has other inner inputs too.
pub fn import_shared<'a, B: OnePort, M>(port: &mut B) -> ExportedInput<'a, M>
where
    B::One: GivesInlets<'a>,
    M: ImportTo<InnerInput<'a, B>, Several>,
{
    ExportedInput { inlets: M::same(port.one().give()), element: 0 }
}

type InnerInput<'a, B> = <<B as OnePort>::One as GivesInlets<'a>>::Port;
