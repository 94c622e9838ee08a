//! The edges of a graph with ports that no other graph is around, as in a test: a harness puts messages into the inputs, and takes
//! the messages of the outputs.
//!
//! These edges have no limit of their capacity, so a harness never waits for room, and neither do the nodes inside.

use super::exported::{ExportedInput, ExportedOutput, Item, Source, edge_name, push_last};
use super::info::{InputPort, OutputPort};
use crate::message::{EdgeOptions, Message, Metadata, Receiver, queue};
use crate::stream::Point;

/// Code that is called with each port of a graph. `graph!` makes these calls.
pub trait VisitPorts {
    /// Visits an input.
    fn input<P: InputPort>(&mut self, input: &mut ExportedInput<'_, P>);
    /// Visits an output.
    fn output<P: OutputPort>(&mut self, output: &mut ExportedOutput<'_, P>);
}

/// The name of the harness in the names of edges.
const HARNESS: &str = "the harness";

fn unlimited(name: &'static str) -> EdgeOptions {
    EdgeOptions { capacity: usize::MAX, ..EdgeOptions::plain(name) }
}

impl<P: InputPort> ExportedInput<'_, P> {
    /// Connects each inlet to an edge without a producer. The edges inside were connected before.
    pub(crate) fn connect_outside(&mut self) {
        for (inlet, end) in &mut self.inlets {
            let name = end.map_or(P::NAME, |end| edge_name(&HARNESS, &end));
            drop(inlet.connect(unlimited(name)));
        }
    }

    /// Puts a message into the edges that [`connect_outside`](Self::connect_outside) has made.
    pub(crate) fn push(&mut self, message: P::Message, metadata: Metadata, sent: Option<Point>) {
        let inlets = self.inlets.iter_mut().map(|(inlet, end)| (&mut **inlet, *end));
        push_last(inlets.collect(), message, metadata, sent);
    }
}

impl<P: OutputPort> ExportedOutput<'_, P> {
    /// Connects the outlet to an edge, and returns the end at which its messages are received. `None` if an outer graph has made
    /// the output its own.
    pub(crate) fn connect_outside(&mut self) -> Option<Receiver<Item<P>>>
    where
        Item<P>: Message,
    {
        let Source { outlet, end } = self.source.as_mut()?;
        let name = end.map_or(P::NAME, |end| edge_name(&end, &HARNESS));
        let (sender, receiver) = queue::queue(unlimited(name));
        outlet.connect(sender, None);
        Some(receiver)
    }
}
