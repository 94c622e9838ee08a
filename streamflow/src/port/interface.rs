//! The ports of an interface. A graph with a type parameter knows the ports of a node by them. Each is a port of the operator, or of
//! the graph, that implements the interface.

use super::exported::{
    ExportOf, ExportedInput, ExportedOutput, GivesInlets, GivesOutlet, ImportTo, Inlets, Item,
    Owners, OwnersOfInput, Source,
};
use super::info::{InputPort, OutputPort};
use super::lend::Lend;
use crate::message::Form;

/// A value that only the code of the macros can name: the function of an interface takes it, so no other code gets the ports of a node,
/// to lead one message to two owners or away from its edges.
#[derive(Debug, Clone, Copy)]
pub struct Wiring;

/// Implemented for the output of an interface, for an output that it can be.
#[diagnostic::on_unimplemented(
    message = "this port is an output, and an input of the interface",
    label = "an output",
    note = "make it the same in both: an input and an output are other ports"
)]
pub trait InterfaceOutput<'a, P: OutputPort>: Sized {
    #[doc(hidden)]
    fn of(source: Option<Source<'a, Item<P>>>) -> Self;
}

impl<'a, P: OutputPort, M: ExportOf<P, Owners<P>>> InterfaceOutput<'a, P>
    for ExportedOutput<'a, M>
{
    fn of(source: Option<Source<'a, Item<P>>>) -> Self {
        Self { source: source.map(M::same), element: 0 }
    }
}

/// Makes an output that of an interface.
pub fn promise_output<'a, L: Lend<'a>, E>(port: L) -> E
where
    L::Lent: GivesOutlet<'a>,
    E: InterfaceOutput<'a, <L::Lent as GivesOutlet<'a>>::Port>,
{
    E::of(port.lend(None).give())
}

/// Implemented for the input of an interface, for an input that it can be.
#[diagnostic::on_unimplemented(
    message = "this port is an input, and an output of the interface",
    label = "an input",
    note = "make it the same in both: an input and an output are other ports"
)]
pub trait InterfaceInput<'a, P: InputPort>: Sized {
    #[doc(hidden)]
    fn of(inlets: Inlets<'a, P::Message>) -> Self;
}

impl<'a, P: InputPort, M> InterfaceInput<'a, P> for ExportedInput<'a, M>
where
    M: InputPort<Form: Form> + ImportTo<P, OwnersOfInput<M>>,
{
    fn of(inlets: Inlets<'a, P::Message>) -> Self {
        Self { inlets: M::same(inlets), element: 0 }
    }
}

/// Makes an input that of an interface.
pub fn promise_input<'a, L: Lend<'a>, E>(port: L) -> E
where
    L::Lent: GivesInlets<'a>,
    E: InterfaceInput<'a, <L::Lent as GivesInlets<'a>>::Port>,
{
    E::of(port.lend(None).give())
}
