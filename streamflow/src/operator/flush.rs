//! `Flush`: the hook for the last ticks of an operator that holds messages back.

use super::Operator;
use crate::Result;
use crate::context::ExecutionContext;

/// An operator that still sends messages after its inputs have ended, as an incomplete batch or the last frames of an
/// encoder: `#[operator(flush)]`.
///
/// An operator that sends sums of four numbers. The last sum may have fewer numbers:
///
/// ```
/// use streamflow::prelude::*;
///
/// # #[operator]
/// # struct Count {
/// #     #[output]
/// #     n: u64,
/// # }
/// # impl Compute for Count {
/// #     fn compute(&mut self, io: CountIo<'_>, cx: &ExecutionContext) -> Result<()> { io.n.emit(cx.tick()) }
/// # }
/// # #[operator]
/// # struct List {
/// #     #[input]
/// #     sum: u64,
/// #     sums: Vec<u64>,
/// # }
/// # impl Compute for List {
/// #     fn compute(&mut self, io: ListIo<'_>, _: &ExecutionContext) -> Result<()> {
/// #         self.sums.push(io.sum.receive().into_data());
/// #         Ok(())
/// #     }
/// # }
/// #[operator(flush)]
/// struct SumOfFour {
///     #[input]
///     n: u64,
///     #[output]
///     sum: u64,
///     held: Vec<u64>,
/// }
///
/// impl Compute for SumOfFour {
///     fn compute(&mut self, io: SumOfFourIo<'_>, _: &ExecutionContext) -> Result<()> {
///         self.held.push(io.n.receive().into_data());
///         if self.held.len() < 4 { Ok(()) } else { io.sum.emit(self.held.drain(..).sum()) }
///     }
/// }
///
/// impl Flush for SumOfFour {
///     fn flush(&mut self, io: SumOfFourFlushIo<'_>, _: &ExecutionContext) -> Result<Flushed> {
///         if !self.held.is_empty() {
///             io.sum.emit(self.held.drain(..).sum())?;
///         }
///         Ok(Flushed::Done)
///     }
/// }
///
/// graph! {
///     struct Sums {
///         #[when(count(10))]
///         let count: Count = Count::new();
///         let sum: SumOfFour = SumOfFour::new(Vec::new());
///         let list: List = List::new(Vec::new());
///         count.n >> sum.n;
///         sum.sum >> list.sum;
///     }
/// }
///
/// # fn main() -> Result<()> {
/// let mut graph = Sums::new(&Platform::host().build()?)?;
/// graph.run()?;
/// assert_eq!(graph.list().sums, [6, 22, 17]); // 0 + 1 + 2 + 3, 4 + 5 + 6 + 7, 8 + 9
/// # Ok(())
/// # }
/// ```
///
/// # When `flush` is called
/// The runtime calls `flush` when the operator's inputs have ended and `compute` has received all messages from them, whatever
/// other nodes do. The inputs of a node have ended if each node before it has ended: that node has done its `count`, has called
/// [`finish`](ExecutionContext::finish), or lacks messages of nodes that have ended. The runtime then calls `flush` in one tick
/// after another, until it returns [`Flushed::Done`]. A node that has called `finish` itself, or has done its `count`, is flushed
/// too, when its producers have ended or can't run; producers behind `pop` and `reject` may go on. An optional input counts like
/// any other input. So a source without an end delays the flush until the limit of the run's ticks ends that source, unless the
/// edge has `#[policy(pop)]` or `#[policy(reject)]`. In a chain of nodes the first node is flushed first, and the next node
/// computes the messages of that flush before its own flush. After its `flush` a node runs no more in this run.
///
/// An operator without outputs may also have a `flush`, for example if it passes data to another thread, a file or a program. Its
/// [`stop`](crate::Compute::stop) is called only at the end of the run, and other nodes of the graph may go on until then.
///
/// A tick of `flush` is like a tick of `compute`: it has streams and statistics, its messages are sent when it ends, and it
/// begins when each output has room. The conditions of `#[when(…)]` do not apply to a tick of `flush`. The report
/// [counts](crate::schedule::NodeReport::flush_ticks) these ticks. They are among the node's ticks, but do not count towards its
/// `count`.
///
/// The messages of a tick of `flush` get the [metadata](crate::message::Metadata) that the preceding tick would give. For
/// example, a sum that `flush` sends has the sequence number of the last message that `compute` received, unless the operator
/// sets another number by [`sequence`](crate::port::Out::sequence).
///
/// # Messages left at the inputs
/// The first tick of a flush gets the messages that wait at the inputs and were too few for `compute`: two messages for the
/// condition `message_available(n, 4)`, or the messages of one input when another input has none. `io.n.receive()` takes all of
/// them, as [`Many`](crate::port::Many). A message that the tick does not take is a [stall](crate::Error::Stalled), as without
/// `flush`. In later ticks the inputs are empty. An edge keeps its messages if its producer has not ended, that is, goes on or
/// waits for room, as behind a node that has called `finish`. The other edges of the input are emptied. The message of a
/// `#[feedback]` edge is the state for the beginning of the next run: a `flush` that takes this message must send another one to
/// replace it.
///
/// # When `flush` is not called
/// - A run that is stopped, as by `stop`, by Ctrl-C, by [`stop_graph`](ExecutionContext::stop_graph), or at the end of its time,
///   flushes nothing, and it leaves the messages in its queues. To lose nothing, end the sources by `finish` or by a handle. The
///   report [names](crate::schedule::NodeReport::unflushed) the nodes that were not flushed. A limit of *ticks* does not stop a
///   run in this sense: the run flushes.
/// - A run that fails flushes nothing. A run that has stalled flushes no node behind the node that is stuck.
/// - A failed operator is not flushed. With `#[on_failure(restart(…))]` the messages that it held back are lost with it, and the
///   fresh operator is flushed. A `flush` that fails ends the run; with the policies `skip` and `restart` it ends only the flush
///   of its node.
#[diagnostic::on_unimplemented(
    message = "`{Self}` does not implement `Flush`",
    label = "`#[operator(flush)]`, and no `flush`",
    note = "write `impl Flush for {Self}`, or remove the option `flush`"
)]
pub trait Flush: Operator {
    /// Called after the last `compute` of a run, in one tick after another, until it returns [`Flushed::Done`].
    ///
    /// # Errors
    /// An error ends the run; with `#[on_failure(…)]` it ends only the flush of this node. The messages that the failed tick
    /// emitted are not sent.
    fn flush<'t>(&mut self, io: Self::FlushIo<'t>, cx: &'t ExecutionContext) -> Result<Flushed>;
}

/// What [`Flush::flush`] returns: whether the operator has more to send.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[must_use]
pub enum Flushed {
    /// The operator has more to send, so `flush` is called again, in a further tick. `run_for` does not count the ticks of a
    /// flush: an operator that always returns `More` goes on until the run is stopped.
    More,
    /// The operator holds nothing back any more, so `flush` is not called again. The messages that this tick emitted are sent.
    Done,
}

/// How far the `flush` of a node has come in a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Flushing {
    /// The operator has no hook `flush`.
    #[default]
    Never,
    /// The node still calls `compute`. It will call `flush` when its inputs have ended.
    Pending,
    /// Each tick of the node calls `flush`.
    GoesOn,
    /// The `flush` has returned `Done` or has failed. The node runs no more in this run.
    Over,
}
