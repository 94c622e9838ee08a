//! The last ticks of an operator that holds messages back: those of its `flush`.

use super::Operator;
use crate::Result;
use crate::context::ExecutionContext;

/// An operator that goes on sending when its inputs have ended, as a batch that is not full or the frames of an encoder:
/// `#[operator(flush)]`.
///
/// Sums of four numbers; the last sum may have fewer:
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
/// # When it is called
/// When its inputs have ended, and it has computed what they sent, whatever the rest of the graph does. The inputs of a node have
/// ended if each node before it has: it has done its `count`, has called [`finish`](ExecutionContext::finish), or lacks messages
/// of such nodes. Then `flush` is called, in one tick after another, until it returns [`Flushed::Done`]. A node that has called
/// `finish` itself, or has done its `count`, is flushed as well, when its producers have ended or stand still; those behind
/// `pop` and `reject` may go on. An optional input counts as another one does: a source without an end puts the flush off, until
/// the limit of the run's ticks ends it, unless the edge has `#[policy(pop)]` or `#[policy(reject)]`.
/// Of several nodes in a row the first is flushed first, and the next one computes what that sends
/// before its own turn. After its `flush` a node runs no more in this run.
///
/// An operator without outputs may have a `flush` as well, if it hands on to another thread, a file or a program: its
/// [`stop`](crate::Compute::stop) comes at the end of the run, and other parts of the graph may go on until then.
///
/// A tick of `flush` is one as that of `compute`: it has streams and statistics, it sends when it ends, and it begins when each
/// output has room. Conditions of `#[when(…)]` do not apply to it. The report [counts](crate::schedule::NodeReport::flush_ticks)
/// these ticks, which are among the node's ticks and beside its `count`.
///
/// # What is left at the inputs
/// The first tick gets the messages that wait at its inputs and were too few for `compute`: two for the condition
/// `message_available(n, 4)`, or those of one input, when another has none. `io.n.receive()` takes all, as
/// [`Many`](crate::port::Many). A message that it does not take is a [stall](crate::Error::Stalled), as without `flush`.
/// In later ticks the inputs are empty. No message comes from an edge whose producer has not ended: it goes on, or waits
/// for room, as behind a node that has called `finish`. The other edges of the input are emptied.
/// The message of a `#[feedback]` edge is state, with which the next run begins: a `flush` that takes it sends
/// one in its place.
///
/// # When it is not called
/// - A run that is stopped, as by `stop`, by Ctrl-C, by [`stop_graph`](ExecutionContext::stop_graph), or at the end of its time,
///   flushes nothing: it also leaves the messages in its queues. End the sources, by `finish` or by a handle, to lose nothing. The
///   report [names](crate::schedule::NodeReport::unflushed) the nodes that were not flushed. A run whose *ticks* are
///   limited is not stopped, and flushes.
/// - A run that fails flushes nothing, and one that has stalled flushes no node behind the one that is stuck.
/// - An operator that has failed is not flushed: with `#[on_failure(restart(…))]` what it held is gone with it, and the fresh
///   one is flushed. A `flush` that fails ends the run, or by the policies `skip` and `restart` the flush alone.
#[diagnostic::on_unimplemented(
    message = "`{Self}` does not implement `Flush`",
    label = "`#[operator(flush)]`, and no `flush`",
    note = "write `impl Flush for {Self}`, or remove the option `flush`"
)]
pub trait Flush: Operator {
    /// Called in each tick after the last `compute` of a run, until it returns [`Flushed::Done`].
    ///
    /// # Errors
    /// An error ends the run, unless the node has `#[on_failure(…)]`, which ends the flush. The messages that the tick
    /// emitted are not sent.
    fn flush<'t>(&mut self, io: Self::FlushIo<'t>, cx: &'t ExecutionContext) -> Result<Flushed>;
}

/// Whether an operator has more to send when its inputs have ended: the result of [`Flush::flush`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[must_use]
pub enum Flushed {
    /// The operator has more: `flush` is called again, in a further tick. No `run_for` counts these ticks, so an
    /// operator that always returns this goes on until the run is stopped.
    More,
    /// The operator holds nothing back any more. The messages that this tick has emitted are sent.
    Done,
}

/// How far the `flush` of a node is in a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Flushing {
    /// Its operator has none.
    #[default]
    Never,
    /// It comes when the inputs have ended.
    Pending,
    /// The ticks of the node call it.
    GoesOn,
    /// The node runs no more.
    Over,
}
