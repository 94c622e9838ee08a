//! What an operator is: its ports and streams by `#[operator]`, its work by [`Compute`].

mod node;
mod options;
mod runner;

pub(crate) use node::node;
pub use node::{AnyNode, Node, any_node, apart};
pub use options::{NodeOptions, NodeStreams, Readiness};

use crate::context::ExecutionContext;
use crate::error::Result;
use crate::platform::Platform;
use crate::port::{PortInfo, Ports};

/// A struct with `#[operator]`: what is known about its ports and streams.
///
/// Implemented by the attribute alone.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a streamflow operator",
    label = "this type is not an operator",
    note = "put `#[streamflow::operator]` on the definition of `{Self}`"
)]
pub trait Operator: Send + Sized + 'static {
    /// The struct's name.
    const NAME: &'static str;
    /// Its inputs, in order of declaration.
    const INPUTS: &'static [PortInfo];
    /// Its outputs, in order of declaration.
    const OUTPUTS: &'static [PortInfo];
    /// The streams that it declares with `#[operator(streams(…))]`.
    const STREAM_NAMES: &'static [&'static str];
    /// How many streams it may take from its pool: the declared ones, and an internal one if an input
    /// carries device data.
    const STREAMS: usize;
    /// Its ports, for edges.
    type Ports: Ports;
    /// Its ports during one tick, for [`Compute::compute`].
    type Io<'t>;
    /// The names of its declared streams, for [`Compute::start`].
    type StreamNames<'t>;
    /// `Box<Node<Self>>`, by the same road as [`__node`](Self::__node).
    #[doc(hidden)]
    type __Node;

    #[doc(hidden)]
    fn __ports() -> Self::Ports;
    #[doc(hidden)]
    fn __io<'t>(ports: &'t mut Self::Ports, cx: &'t ExecutionContext) -> Self::Io<'t>;
    #[doc(hidden)]
    fn __stream_names(cx: &ExecutionContext) -> Self::StreamNames<'_>;
    /// By this road, and not by a function with a bound, a type that is no operator is reported
    /// where `graph!` names it, in the same words each time, which rustc then prints once.
    #[doc(hidden)]
    fn __node(
        self,
        ports: Self::Ports,
        name: &str,
        platform: &Platform,
        options: NodeOptions<'_>,
    ) -> Result<Box<Node<Self>>> {
        node::node(name, self, ports, platform, options)
    }
}

/// What an operator does.
#[diagnostic::on_unimplemented(
    message = "`{Self}` does not say what it does",
    label = "this operator has no `compute`",
    note = "write `impl Compute for {Self}`"
)]
pub trait Compute: Operator {
    /// Called once, before the first tick of a run.
    ///
    /// # Errors
    /// Whatever ends the run before it begins.
    fn start(&mut self, streams: Self::StreamNames<'_>, cx: &ExecutionContext) -> Result<()> {
        let _ = (streams, cx);
        Ok(())
    }

    /// Called for each tick: when every required input has a message and every output has room.
    ///
    /// # Errors
    /// Whatever ends the run. What the tick has emitted is not sent then.
    fn compute<'t>(&mut self, io: Self::Io<'t>, cx: &'t ExecutionContext) -> Result<()>;

    /// Called once, after the last tick of a run, also of one that failed.
    ///
    /// # Errors
    /// What the run reports beside its first error.
    fn stop(&mut self, cx: &ExecutionContext) -> Result<()> {
        let _ = cx;
        Ok(())
    }
}
