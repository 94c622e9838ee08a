//! Work that uses memory, and how it is queued: the one way for launches, copies, fills and foreign work (law 7).
//!
//! First the stream is made to wait for what each use must come after. Then the work is queued. Then the uses are noted,
//! with a point from after that. `stream::order` has the rules, and why this order of the three is the right one.

use super::Block;
use crate::driver::AccessMode;
use crate::error::Result;
use crate::stream::CudaStream;

/// One use of memory by work that is to be queued.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Use<'a> {
    block: &'a Block,
    mode: AccessMode,
    /// For messages.
    what: &'a str,
    /// The memory may be on another device than the stream.
    peer: bool,
}

impl<'a> Use<'a> {
    /// Of memory on the stream's device.
    pub(crate) fn new(block: &'a Block, mode: AccessMode, what: &'a str) -> Self {
        Self { block, mode, what, peer: false }
    }

    /// Of memory on any device.
    pub(super) fn peer(block: &'a Block, mode: AccessMode) -> Self {
        Self { block, mode, what: "", peer: true }
    }

    fn check(&self, stream: &CudaStream) -> Result<()> {
        if self.peer {
            self.block.check_platform(stream)
        } else {
            self.block.check(stream, self.what)
        }
    }
}

/// What orders work after what its uses must come after.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Order {
    /// The memory itself.
    ByData,
    /// The caller vouches for it.
    ByCaller,
}

/// Queues work that uses memory on `stream`. `queue` is called once, unless this fails before.
///
/// # Errors
/// Memory of another device or platform; the driver's, when a wait fails. What `queue` gives is given back.
#[inline]
pub(crate) fn queue<'a, R>(
    stream: &CudaStream,
    order: Order,
    uses: impl Iterator<Item = Use<'a>> + Clone,
    queue: impl FnOnce() -> R,
) -> Result<R> {
    for it in uses.clone() {
        it.check(stream)?;
    }
    if order == Order::ByData {
        for it in uses.clone() {
            it.block.order(stream, it.mode)?;
        }
    }
    let _noted = Noted { stream, uses };
    crate::turns::point("the stream comes after what memory needs, and the work is not queued yet");
    Ok(queue())
}

/// Notes the uses when the work is queued; also when that failed or unwound.
struct Noted<'s, 'u, I: Iterator<Item = Use<'u>> + Clone> {
    stream: &'s CudaStream,
    uses: I,
}

impl<'u, I: Iterator<Item = Use<'u>> + Clone> Drop for Noted<'_, 'u, I> {
    #[inline]
    fn drop(&mut self) {
        crate::turns::point("the work is queued, and its uses are not noted yet");
        let timeline = self.stream.timeline();
        self.uses.clone().for_each(|it| it.block.note(timeline, it.mode));
    }
}
