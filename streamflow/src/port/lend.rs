//! The ports of a node as the graph around it makes them its own: with their places inside of the graph.

use super::exported::{ExportedInput, ExportedOutput, InnerEnd, Source};
use super::info::{InputPort, OutputPort};
use super::input::Input;
use super::output::Output;

/// A port of a node, or an array of ports, that the graph around the node may make its own.
pub trait Lend<'a> {
    /// The port, with its place inside of the graph.
    type Lent;
    #[doc(hidden)]
    fn lend(self, end: Option<InnerEnd<'a>>) -> Self::Lent;
}

/// Returns the port of a node, with its place, `end`. A port of a graph inside has its place already, and a port of an interface gets it
/// here.
pub fn lend<'a, L: Lend<'a>>(port: L, end: Option<InnerEnd<'a>>) -> L::Lent {
    port.lend(end)
}

impl<'a, P: InputPort> Lend<'a> for &'a mut Input<P> {
    type Lent = ExportedInput<'a, P>;

    fn lend(self, end: Option<InnerEnd<'a>>) -> ExportedInput<'a, P> {
        ExportedInput { inlets: smallvec::smallvec![(&mut self.inlet, end)], element: 0 }
    }
}

impl<'a, P: OutputPort> Lend<'a> for &'a mut Output<P> {
    type Lent = ExportedOutput<'a, P>;

    fn lend(self, end: Option<InnerEnd<'a>>) -> ExportedOutput<'a, P> {
        ExportedOutput { source: Some(Source { outlet: &mut self.outlet, end }), element: 0 }
    }
}

impl<'a, P: InputPort> Lend<'a> for &mut ExportedInput<'a, P> {
    type Lent = ExportedInput<'a, P>;

    fn lend(self, end: Option<InnerEnd<'a>>) -> ExportedInput<'a, P> {
        let inlets = std::mem::take(&mut self.inlets).into_iter();
        let inlets = inlets.map(|(inlet, inner)| (inlet, inner.or(end)));
        ExportedInput { inlets: inlets.collect(), element: self.element }
    }
}

impl<'a, P: OutputPort> Lend<'a> for &mut ExportedOutput<'a, P> {
    type Lent = ExportedOutput<'a, P>;

    fn lend(self, end: Option<InnerEnd<'a>>) -> ExportedOutput<'a, P> {
        let source = self.source.take();
        let source = source.map(|source| Source { end: source.end.or(end), ..source });
        ExportedOutput { source, element: self.element }
    }
}

impl<'a, E, const N: usize> Lend<'a> for &mut [E; N]
where
    for<'p> &'p mut E: Lend<'a, Lent = E>,
{
    type Lent = [E; N];

    fn lend(self, end: Option<InnerEnd<'a>>) -> [E; N] {
        self.each_mut().map(|port| port.lend(end))
    }
}
