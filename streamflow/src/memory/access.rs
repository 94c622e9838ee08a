//! How work that uses memory is queued: the one path for launches, copies, fills and foreign work (law 7).
//!
//! First the stream waits for what each use must come after. Then the work is queued. Then the uses are noted, with a
//! point from after that. `stream::order` has the rules, and why this order of the three steps is the right one.

use super::Block;
use crate::driver::AccessMode;
use crate::error::Result;
use crate::stream::CudaStream;

/// One use of memory by work that will be queued.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Use<'a> {
    block: &'a Block,
    mode: AccessMode,
    /// For messages.
    what: &'static str,
    /// The memory may be on another device than the stream.
    peer: bool,
}

impl<'a> Use<'a> {
    /// A use of memory on the stream's device. `what` is for messages.
    pub(crate) fn new(block: &'a Block, mode: AccessMode, what: &'static str) -> Self {
        Self { block, mode, what, peer: false }
    }

    /// The same use in another way, or none. `choose` gets what it is called in messages, and the way of this one.
    #[inline(always)]
    pub(crate) fn chosen(
        self,
        choose: impl FnOnce(&'static str, AccessMode) -> Option<AccessMode>,
    ) -> Option<Self> {
        Some(Self { mode: choose(self.what, self.mode)?, ..self })
    }

    /// A use of memory on any device.
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

/// How work gets ordered after what its uses must come after.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Order {
    /// [`queue`] waits for the uses that the memory has noted.
    ByData,
    /// The caller has made the order, and is responsible for it.
    ByCaller,
}

/// Queues work that uses memory on `stream`. `queue` is called once, unless this fails before.
///
/// # Errors
/// For memory of another device or platform; the driver's, when a wait fails; those of `queue`.
#[inline]
pub(crate) fn queue<'a, R>(
    stream: &CudaStream,
    order: Order,
    uses: impl Iterator<Item = Use<'a>> + Clone,
    queue: impl FnOnce() -> Result<R>,
) -> Result<R> {
    // Fast path: most memory is the stream's own, or that of a message whose stream was received.
    if order == Order::ByCaller || !uses.clone().all(|it| it.block.is_ready(stream, it.mode)) {
        prepare(stream, order, uses.clone())?;
    }
    let _note_uses = NoteUses { stream, uses };
    crate::turns::point("the stream comes after what memory needs, and the work is not queued yet");
    queue()
}

/// Checks all uses, and then orders the stream after what each must come after.
#[cold]
#[inline(never)]
fn prepare<'a>(
    stream: &CudaStream,
    order: Order,
    uses: impl Iterator<Item = Use<'a>> + Clone,
) -> Result<()> {
    for it in uses.clone() {
        it.check(stream)?;
    }
    if order == Order::ByData {
        for it in uses {
            it.block.order(stream, it.mode)?;
        }
    }
    Ok(())
}

/// Notes the uses after the work was queued; also if queuing failed or unwound.
struct NoteUses<'s, 'u, I: Iterator<Item = Use<'u>> + Clone> {
    stream: &'s CudaStream,
    uses: I,
}

impl<'u, I: Iterator<Item = Use<'u>> + Clone> Drop for NoteUses<'_, 'u, I> {
    #[inline]
    fn drop(&mut self) {
        crate::turns::point("the work is queued, and its uses are not noted yet");
        let timeline = self.stream.timeline();
        self.uses.clone().for_each(|it| it.block.note(timeline, it.mode));
    }
}
