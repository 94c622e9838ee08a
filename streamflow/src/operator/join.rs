//! Mixed ticks: a node has received messages of one origin with different sequence numbers, as a frame with the boxes of an
//! earlier one.
//!
//! The graph joins ways of one source there, and a way drops or delays messages that the other one does not. The comparison
//! is [`visits::compare`](super::visits::compare), at the end of each tick of an operator that [joins] messages; here is what
//! becomes of a difference. `#[when(same_sequence)]` (`condition/same_sequence.rs`) avoids them.

use crate::message::{Handled, Mark, Origin};
use crate::port::{PortInfo, PortSize, Ports};

/// Which inputs a node compares after each tick.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Joins {
    /// It has one message in a tick, beside those of optional inputs.
    Nothing,
    /// Two inputs, or the messages of one.
    Two,
    /// More than two inputs.
    Several,
}

/// Which messages an operator with these inputs joins: those of its required inputs.
pub(super) const fn joins(inputs: &[PortInfo]) -> Joins {
    let (mut i, mut required, mut joins) = (0, 0, Joins::Nothing);
    while i < inputs.len() {
        if !inputs[i].optional {
            required += 1;
            if required > 1 || !matches!(inputs[i].size, PortSize::One) {
                joins = Joins::Two;
            }
        }
        i += 1;
    }
    if required > 2 { Joins::Several } else { joins }
}

/// The mixed ticks of a node in a run.
#[derive(Debug, Clone, Default)]
pub(super) struct Mixed {
    pub(super) ticks: u64,
    pub(super) first: Option<Pair>,
    /// What the tick that is looked at has received. It is kept, so that a tick allocates nothing.
    received: Vec<Received>,
}

/// The input, the origin and the sequence number of a message.
type Received = (&'static str, Origin, u64);

/// Two messages of one origin with different numbers, which a tick has received.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Pair {
    /// The number of the node at which their data began, from 0.
    pub(crate) origin: usize,
    /// Their inputs.
    pub(crate) inputs: [&'static str; 2],
    /// Their sequence numbers.
    pub(crate) sequences: [u64; 2],
}

impl Mixed {
    /// Counts a tick if it is mixed.
    #[cold]
    #[inline(never)]
    pub(super) fn note(&mut self, ports: &mut dyn Ports) {
        let Some(pair) = mixed_pair(ports, &mut self.received) else { return };
        self.ticks += 1;
        self.first.get_or_insert(pair);
    }
}

/// The first pair of messages that don't belong together, in the order of the inputs.
fn mixed_pair(ports: &mut dyn Ports, received: &mut Vec<Received>) -> Option<Pair> {
    let mut found = None;
    received.clear();
    ports.inputs(&mut |input| {
        let has_received = matches!(input.handled(), Handled::Taken | Handled::Mixed);
        let mark: Mark = input.mark();
        let Some(origin) = mark.origin().filter(|_| has_received && !input.is_optional()) else {
            return;
        };
        let pair =
            |inputs, sequences| Pair { origin: origin.get() as usize - 1, inputs, sequences };
        let (name, sequence) = (input.name(), mark.sequence());
        let others = received.iter().copied();
        let mut others = others.filter(|&(_, of, number)| of == origin && number != sequence);
        let before =
            others.next().map(|(other, _, number)| pair([other, name], [number, sequence]));
        let within = || Some(pair([name, name], [sequence, input.other()?]));
        found = found.or(before).or_else(within);
        received.push((name, origin, sequence));
    });
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn input(optional: bool, size: PortSize) -> PortInfo {
        PortInfo { name: "", optional, size, device: false, downloads: false, ty: "", doc: "" }
    }

    #[test]
    fn required_inputs_are_joined() {
        let (one, many) = (input(false, PortSize::One), input(false, PortSize::Many));
        let (optional, optional_many) = (input(true, PortSize::One), input(true, PortSize::Many));
        assert_eq!(joins(&[]), Joins::Nothing);
        assert_eq!(joins(&[one, optional, optional_many]), Joins::Nothing);
        assert_eq!(joins(&[one, optional, one]), Joins::Two);
        assert_eq!(joins(&[many]), Joins::Two);
        assert_eq!(joins(&[input(false, PortSize::Exactly(2))]), Joins::Two);
        assert_eq!(joins(&[one, one, many]), Joins::Several);
    }
}
