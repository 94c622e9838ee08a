//! Operators. [`#[operator]`](macro@crate::operator) declares an operator's ports and streams, and [`Compute`] has its work. A
//! program may define [conditions](Condition) of its own, and may control when a node runs by a [`BooleanHandle`] or an
//! [`AsyncHandle`]. The module [`operators`](crate::operators) has the operators that come with the library.
//!
//! `node.rs` has the node: an operator in a graph. `runner.rs` calls the operator's hooks.

pub(crate) mod any_node;
pub(crate) mod array;
pub(crate) mod checked;
pub(crate) mod compute;
pub(crate) mod condition;
pub(crate) mod declaration;
mod ending;
pub(crate) mod factory;
mod facts;
pub(crate) mod flush;
pub(crate) mod histogram;
pub(crate) mod inside;
pub(crate) mod node;
pub(crate) mod node_type;
pub(crate) mod options;
mod poll;
mod readiness;
pub(crate) mod recovery;
mod runner;
mod statistics;
mod status;
mod visits;
mod waits;

pub use crate::error::IntoFailure;
pub(crate) use any_node::AnyNode;
pub(crate) use compute::Compute;
pub use condition::{Answer, AsyncHandle, BooleanHandle, Condition};
pub(crate) use ending::{ended, stop_all};
pub(crate) use facts::NodeFacts;
pub(crate) use flush::Flushing;
pub(crate) use flush::{Flush, Flushed};
pub(crate) use histogram::Summary;
pub(crate) use node::Node;
pub(crate) use node::node;
pub(crate) use options::{NodeOptions, NodeStreams};
pub(crate) use readiness::{Progress, Readiness, Step};
pub(crate) use recovery::OnFailure;
pub(crate) use recovery::text_of;
pub(crate) use statistics::NodePaths;
pub(crate) use statistics::Succession;
pub(crate) use status::{NodeStatus, PortStatus, UnmetCondition};
pub(crate) use waits::Waits;

use crate::Result;
use crate::context::ExecutionContext;
use crate::error::Error;
use crate::param::OperatorParams;
use crate::platform::Platform;
use crate::port::{PortInfo, Ports};

/// A struct with `#[operator]`, its ports and its streams. The attribute implements this trait.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a streamflow operator",
    label = "this type is not an operator",
    note = "put `#[streamflow::operator]` on the definition of `{Self}`; a graph is one if it has ports: `input name: Type;`, \
            `output name: Type;`"
)]
pub trait Operator: Sized {
    /// The name of the operator's struct.
    const NAME: &'static str;
    /// The operator's inputs, in order of declaration.
    const INPUTS: &'static [PortInfo];
    /// The operator's outputs, in order of declaration.
    const OUTPUTS: &'static [PortInfo];
    /// The names of the streams that `#[operator(streams(…))]` declares.
    const STREAM_NAMES: &'static [&'static str];
    /// The most streams that the operator allocates from its pool: the declared streams, and an internal stream if an input has
    /// device data.
    const STREAMS: usize;
    /// Whether all hooks of the operator, `start`, `compute`, `flush` and `stop`, must be called on the thread of the run:
    /// `#[operator(stays)]`.
    const STAYS: bool = false;
    /// Whether the operator has the hook `flush`, by which it sends messages after its inputs have ended: `#[operator(flush)]`.
    const FLUSHES: bool = false;
    /// The operator's ports, for edges: a struct with a field for each port. Generated code names the type through this trait, as
    /// `<CombineAndSum as Operator>::Ports`, so that it needs no name in the program.
    type Ports: Ports;
    /// The operator's ports during one tick, for [`Compute::compute`].
    type Io<'t>;
    /// The operator's ports during one tick of [`Flush::flush`], each input with all messages that are left at it; `()` for an
    /// operator that does not [flush](Self::FLUSHES).
    type FlushIo<'t>;
    /// The names of the declared streams, for [`Compute::start`].
    type StreamNames<'t>;
    /// The handle that sets the operator's parameters, as `CfarParams`. For an operator without parameters, the handle has no
    /// methods.
    type Params: OperatorParams<Self>;
    /// `Self`, checked to be `Send` and `'static`: the operator's state may move between threads.
    #[doc(hidden)]
    type __Checked: Send + 'static;
    /// The type `Box<Node<Self>>`. It is an item of this trait for the same reason as
    /// [`__streamflow_node`](Self::__streamflow_node).
    #[doc(hidden)]
    type __Node;

    /// Makes the ports of a new node, without edges.
    #[doc(hidden)]
    fn __streamflow_ports() -> Self::Ports;
    /// Begins a tick: makes the `…Io` of the operator, with an [`In`](crate::port::In) of each `Input`, an
    /// [`Out`](crate::port::Out) of each `Output`, and the names of the streams. `#[operator]` generates this function, with
    /// `Input::io` and `Output::io`.
    #[doc(hidden)]
    fn __streamflow_io<'t>(ports: &'t mut Self::Ports, cx: &'t ExecutionContext) -> Self::Io<'t>;
    /// Calls [`Flush::flush`], for an operator that [`FLUSHES`](Self::FLUSHES). If `is_first` is true, the inputs have the
    /// messages that are left in their queues.
    #[doc(hidden)]
    fn __streamflow_flush<'t>(
        &mut self,
        ports: &'t mut Self::Ports,
        is_first: bool,
        cx: &'t ExecutionContext,
    ) -> Result<Flushed> {
        let _ = (ports, is_first, cx);
        Ok(Flushed::Done)
    }
    /// Makes the struct with the names of the declared streams, for `start`.
    #[doc(hidden)]
    fn __streamflow_stream_names(cx: &ExecutionContext) -> Self::StreamNames<'_>;
    /// Makes a node of this operator.
    #[doc(hidden)]
    fn __streamflow_node(
        self,
        name: &str,
        platform: &Platform,
        options: NodeOptions<'_>,
    ) -> Result<Box<Node<Self>>, Error> {
        node::node(name, self, platform, options)
    }
}
