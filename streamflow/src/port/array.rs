//! Single ports, and arrays of ports. A graph has arrays of ports, as `input frames: [&Tensor<u8>; 4];`, and an operator has single
//! ports alone. An edge is at a single port, or at an element of an array.

use super::info::{InputPort, OutputPort};
use super::input::Input;
use super::output::Output;

/// Implemented for a port that is no array.
#[diagnostic::on_unimplemented(
    message = "an edge is at one port, and this is an array of ports",
    label = "an array of ports",
    note = "write the index of one of them: `node.port[0]`, or `node.port[i]` in `for i in 0..n {{ … }}`"
)]
pub trait OnePort {
    /// `Self`. If the port is an array, this type does not exist, and rustc reports nothing else about the edge.
    type One;
    #[doc(hidden)]
    fn one(&mut self) -> &mut Self::One;
}

/// Implemented for an array of ports.
#[diagnostic::on_unimplemented(
    message = "an index is for an array of ports, and this is a single port",
    label = "a single port",
    note = "remove the index after the name of the port"
)]
pub trait ArrayOfPorts {
    /// The type of each port.
    type Element;
    #[doc(hidden)]
    fn at(&mut self, index: usize) -> &mut Self::Element;
}

#[diagnostic::do_not_recommend]
impl<E, const N: usize> ArrayOfPorts for [E; N] {
    type Element = E;

    fn at(&mut self, index: usize) -> &mut E {
        match self.get_mut(index) {
            Some(element) => element,
            None => unreachable!("`graph!` checks the indices of ports while compiling"),
        }
    }
}

/// Returns an element of an array of ports.
pub fn element<A: ArrayOfPorts>(ports: &mut A, index: usize) -> &mut A::Element {
    ports.at(index)
}

#[diagnostic::do_not_recommend]
impl<P: InputPort> OnePort for Input<P> {
    type One = Self;

    fn one(&mut self) -> &mut Self {
        self
    }
}

#[diagnostic::do_not_recommend]
impl<P: OutputPort> OnePort for Output<P> {
    type One = Self;

    fn one(&mut self) -> &mut Self {
        self
    }
}
