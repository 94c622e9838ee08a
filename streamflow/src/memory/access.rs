//! The function [`queue`], which queues work that uses memory: launches, copies, fills and work of other code (law 7).
//!
//! First the stream waits for the earlier uses that each use must come after. Then the work is queued. Then the uses
//! are noted, with a point that is taken after the work was queued. `stream::order` has the rules, and the reason for
//! the order of these steps.
//!
//! A single loop over the memory of a launch usually shows that no use needs a wait. If a use may need one, the uses are
//! checked and ordered one by one. The single loop saves 121 instructions of a launch, counted by callgrind.

use super::Block;
use crate::driver::{AccessMode, MemoryRange};
use crate::error::{Error, Result};
use crate::stream::CudaStream;

/// A use of memory by work that will be queued: the block, the range of its bytes, and the access mode.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Use<'a> {
    block: &'a Block,
    range: MemoryRange,
    mode: AccessMode,
    /// The name of the memory in error texts.
    what: &'static str,
    /// Whether the memory may be on another device than the stream.
    peer: bool,
    content: Content,
}

/// Whether a use needs the previous content of its memory, and so must find the memory written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Content {
    /// The work may read the content.
    Needed,
    /// The work overwrites the content.
    Overwritten,
    /// The call is one of a library's plan: a [mark](super::unwritten) of the memory does not refuse the use, and a failed
    /// call makes no mark.
    OfPlan,
}

impl<'a> Use<'a> {
    /// Creates a use of memory on the stream's device. Error texts name the memory by `what`.
    #[inline(always)]
    pub(crate) fn new(
        (block, range): (&'a Block, MemoryRange),
        mode: AccessMode,
        what: &'static str,
    ) -> Self {
        Self { block, range, mode, what, peer: false, content: Content::Needed }
    }

    /// Creates a write of memory on the stream's device that overwrites all of the range and reads nothing, as by a fill.
    #[inline(always)]
    pub(super) fn overwriting(memory: (&'a Block, MemoryRange), what: &'static str) -> Self {
        Self { content: Content::Overwritten, ..Self::new(memory, AccessMode::Write, what) }
    }

    /// Returns the same use as a use by a call of a library's plan, which ignores and makes no marks. Most memory of such
    /// calls is the plan's own, and no call needs the content that an earlier call has left there. `library::target` has the
    /// rule for the caller's memory.
    #[inline(always)]
    pub(crate) fn unmarked(self) -> Self {
        Self { content: Content::OfPlan, ..self }
    }

    /// Returns the same use as a use of the caller's memory, which a mark refuses and a failed call marks.
    #[inline(always)]
    pub(crate) fn marked(self) -> Self {
        Self { content: Content::Needed, ..self }
    }

    /// Returns the same use with the access mode that `choose` returns, or `None` if `choose` does. The arguments of `choose`
    /// are the name of the memory in error texts and the mode of the use.
    #[inline(always)]
    pub(crate) fn chosen(
        self,
        choose: impl FnOnce(&'static str, AccessMode) -> Option<AccessMode>,
    ) -> Option<Self> {
        Some(Self { mode: choose(self.what, self.mode)?, ..self })
    }

    /// Creates a read of memory that may be on any device.
    pub(super) fn peer(memory: (&'a Block, MemoryRange)) -> Self {
        Self { peer: true, ..Self::new(memory, AccessMode::Read, "") }
    }

    /// Removes the memory's mark if the work of this use overwrites everything that the failed call was to write. The caller
    /// has queued the work.
    #[inline]
    pub(super) fn end_mark(&self) {
        if self.content == Content::Overwritten {
            self.block.overwritten(self.range);
        }
    }

    fn check(&self, stream: &CudaStream) -> Result<()> {
        if self.peer {
            self.block.check_platform(stream)?;
        } else {
            self.block.check(stream, self.what)?;
        }
        match self.content {
            Content::Needed => self.block.check_written(self.range),
            Content::Overwritten | Content::OfPlan => Ok(()),
        }
    }
}

/// Who orders work after the earlier uses of its memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Order {
    /// [`queue`] makes the stream wait for the uses that the memory has noted.
    ByData,
    /// The caller has ordered the work already, and is responsible for that.
    ByCaller,
}

/// Queues work that uses memory on `stream`. Calls `queue` once, unless an earlier step fails.
///
/// # Errors
/// For memory of another device or platform; [`Error::Unwritten`]; the driver's, when a wait fails; those of `queue`.
#[inline]
pub(crate) fn queue<'a, R>(
    stream: &CudaStream,
    order: Order,
    uses: impl Iterator<Item = Use<'a>> + Clone,
    queue: impl FnOnce() -> Result<R>,
) -> Result<R> {
    // Fast path: no use needs a wait. This is usual, because most memory was last used on this stream, or belongs to a
    // message whose stream the hook has received.
    let is_ready =
        order == Order::ByData && uses.clone().all(|it| it.block.is_ready(stream, it.mode));
    if !is_ready {
        prepared(prepare(stream, order, uses.clone()), uses.clone())?;
    }
    crate::turns::point("the stream comes after what memory needs, and the work is not queued yet");
    let noted = NoteUses { stream, uses: uses.clone() };
    let queued = queue();
    drop(noted);
    prepared(queued, uses)
}

/// Returns the result of a step of queueing work. If the step has failed, the work is not queued, so this function marks the
/// memory that the work was to write.
#[inline]
pub(crate) fn prepared<'a, R, E: Into<Error>>(
    done: Result<R, E>,
    uses: impl Iterator<Item = Use<'a>>,
) -> Result<R> {
    done.map_err(|error| {
        let error = error.into();
        fail(uses, &error);
        error
    })
}

/// Marks as not written the memory that work was to write. The work was not queued, because of `error`.
#[cold]
#[inline(never)]
pub(crate) fn fail<'a>(uses: impl Iterator<Item = Use<'a>>, error: &Error) {
    let written = uses.filter(|it| it.mode == AccessMode::Write && it.content != Content::OfPlan);
    written.for_each(|it| it.block.fail(it.range, error));
}

/// Checks all uses, and then makes the stream wait for the earlier uses that they must come after.
#[cold]
#[inline(never)]
fn prepare<'a>(
    stream: &CudaStream,
    order: Order,
    mut uses: impl Iterator<Item = Use<'a>> + Clone,
) -> Result<()> {
    uses.clone().try_for_each(|it| it.check(stream))?;
    match order {
        Order::ByData => uses.try_for_each(|it| it.block.order(stream, it.mode)),
        Order::ByCaller => Ok(()),
    }
}

/// A guard whose drop notes the uses. The guard is dropped after the work was queued, even if queuing failed or unwound.
#[derive(Debug)]
struct NoteUses<'s, 'a, U: Iterator<Item = Use<'a>> + Clone> {
    stream: &'s CudaStream,
    uses: U,
}

impl<'a, U: Iterator<Item = Use<'a>> + Clone> Drop for NoteUses<'_, 'a, U> {
    #[inline(always)]
    fn drop(&mut self) {
        crate::turns::point("the work is queued, and its uses are not noted yet");
        let timeline = self.stream.timeline();
        self.uses.clone().for_each(|it| it.block.note(timeline, it.mode));
    }
}
