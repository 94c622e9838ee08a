//! `Deliver`: a sink that calls a closure.

use std::fmt;

use crate::context::ExecutionContext;
use crate::error::failure::Result;
use crate::message::{Message, Plain};
use crate::operator::Compute;
use streamflow_macros::operator;

/// The closure of a [`Deliver`].
type Closure<M> = Box<dyn FnMut(&M) -> Result<()> + Send>;

/// Calls a closure with each message of host data that it receives, in order: results leave the graph here. A run that is stopped drops
/// the messages that still wait, and its report counts them. The closure runs on the thread of the node. A closure that takes long, as
/// a writer of files, gets a thread of its own by `#[worker(name)]`.
///
/// The graph owns the closure, also after a run. So a `Receiver` whose `Sender` is in the closure ends when the graph is dropped, below
/// at the end of the statement, or its [`Running`](crate::schedule::Running) is joined and dropped.
///
/// For a [`Download`](crate::Download), the node has the condition [`host_done`](crate::guide::conditions), so that reading it
/// does not block. [`Upload`](super::Upload) shows a whole graph.
///
/// ```
/// # use streamflow::prelude::*;
/// use streamflow::operators::Deliver;
///
/// # #[operator]
/// # struct Count {
/// #     #[output]
/// #     n: u64,
/// # }
/// # impl Compute for Count {
/// #     fn compute(&mut self, io: CountIo<'_>, cx: &ExecutionContext) -> Result<()> { io.n.emit(cx.tick()) }
/// # }
/// graph! {
///     struct App(seen: std::sync::mpsc::Sender<u64>) {
///         #[when(count(3))]
///         let count: Count = Count::new();
///         let deliver: Deliver<u64> = Deliver::new(move |n: &u64| Ok(seen.send(*n)?));
///         count.n >> deliver.message;
///     }
/// }
///
/// # fn main() -> Result<()> {
/// let (seen, numbers) = std::sync::mpsc::channel();
/// App::new(&Platform::detect()?, seen)?.run()?;
/// assert_eq!(numbers.iter().collect::<Vec<_>>(), [0, 1, 2]);
/// # Ok(())
/// # }
/// ```
#[operator(no_new, unlisted)]
pub struct Deliver<M: Message> {
    /// The message.
    #[input]
    message: &M,
    deliver: Closure<M>,
}

impl<M: Message> Deliver<M>
where
    M::Place: Plain<M>,
{
    /// Creates an operator that calls `deliver` for each message. An error of the closure is an error of the tick. The type of the
    /// closure's argument is written, as in `|row: &Download<f32>|`, since rustc does not find it.
    pub fn new(deliver: impl FnMut(&M) -> Result<()> + Send + 'static) -> Self {
        Self { deliver: Box::new(deliver) }
    }
}

#[diagnostic::do_not_recommend]
impl<M: Message> Compute for Deliver<M>
where
    M::Place: Plain<M>,
{
    fn compute(&mut self, io: Self::Io<'_>, _: &ExecutionContext) -> Result<()> {
        (self.deliver)(io.message.receive().into_data())
    }
}

impl<M: Message> fmt::Debug for Deliver<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Deliver").finish_non_exhaustive()
    }
}
