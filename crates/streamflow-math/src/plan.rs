//! The plan: an object of a library that an operator keeps.

use std::ops::{Deref, DerefMut};

use streamflow::Stream;
use streamflow::context::OnStream;

/// A library's plan: a field of an operator, made in [`start`](streamflow::Compute::start) on one of its streams, and used with
/// that stream alone. A plan is law 3's [`OnStream`]: on another stream, each call of the plan returns
/// [`Error::OtherStream`](streamflow::Error::OtherStream) before it does anything.
#[derive(Debug)]
pub struct Plan<L>(OnStream<L>);

impl<L> Plan<L> {
    pub(crate) fn new(stream: &Stream<'_>, made: L) -> Self {
        Self(OnStream::new(stream, made))
    }

    /// Makes a plan of another type from this plan, for the same stream.
    #[cfg(feature = "solve")]
    pub(crate) fn map<R>(self, make: impl FnOnce(L) -> R) -> Plan<R> {
        Plan(self.0.map(make))
    }
}

impl<L> Deref for Plan<L> {
    type Target = OnStream<L>;

    fn deref(&self) -> &OnStream<L> {
        &self.0
    }
}

impl<L> DerefMut for Plan<L> {
    fn deref_mut(&mut self) -> &mut OnStream<L> {
        &mut self.0
    }
}
