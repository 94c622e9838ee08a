//! How work that uses memory is queued: the one path for launches, copies, fills and foreign work (law 7).
//!
//! First the stream waits for what each use must come after. Then the work is queued. Then the uses are noted, with a
//! point from after that. `stream::order` has the rules, and why this order of the three steps is the right one.

use std::convert::Infallible;
use std::mem::ManuallyDrop;

use super::Block;
use crate::driver::{AccessMode, MemoryRange};
use crate::error::{Error, Result};
use crate::stream::CudaStream;

/// One use of memory by work that will be queued.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Use<'a> {
    block: &'a Block,
    range: MemoryRange,
    mode: AccessMode,
    /// For messages.
    what: &'static str,
    /// The memory may be on another device than the stream.
    peer: bool,
    content: Content,
}

/// What a use has to do with the elements from before.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Content {
    /// The work may read them.
    Needed,
    /// The work overwrites them.
    Overwritten,
    /// A library writes it: such a use neither needs a mark nor makes one.
    OfLibrary,
}

impl<'a> Use<'a> {
    /// A use of memory on the stream's device. `what` is for messages.
    #[inline(always)]
    pub(crate) fn new(
        (block, range): (&'a Block, MemoryRange),
        mode: AccessMode,
        what: &'static str,
    ) -> Self {
        Self { block, range, mode, what, peer: false, content: Content::Needed }
    }

    /// A write of memory on the stream's device that reads nothing, as those of copies and fills.
    #[inline(always)]
    pub(super) fn overwriting(memory: (&'a Block, MemoryRange), what: &'static str) -> Self {
        Self { content: Content::Overwritten, ..Self::new(memory, AccessMode::Write, what) }
    }

    /// The same use of memory that a library writes. A plan's own memory is among it, and a plan can be used again after a
    /// failed call, so such a call marks nothing.
    #[allow(dead_code, reason = "features with a library use it")]
    #[inline(always)]
    pub(crate) fn unmarked(self) -> Self {
        Self { content: Content::OfLibrary, ..self }
    }

    /// The same use in another way, or none. `choose` gets what it is called in messages, and the way of this one.
    #[inline(always)]
    pub(crate) fn chosen(
        self,
        choose: impl FnOnce(&'static str, AccessMode) -> Option<AccessMode>,
    ) -> Option<Self> {
        Some(Self { mode: choose(self.what, self.mode)?, ..self })
    }

    /// A read of memory on any device.
    pub(super) fn peer(memory: (&'a Block, MemoryRange)) -> Self {
        Self { peer: true, ..Self::new(memory, AccessMode::Read, "") }
    }

    /// The work of this use is queued. If it overwrites all that a call which failed was to write, it is written now.
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
            Content::Overwritten | Content::OfLibrary => Ok(()),
        }
    }
}

/// The uses of one piece of work.
// Loops, since these are compiled into the caller; an iterator's methods may stay calls.
pub(crate) trait Uses: Clone {
    /// Visits all, until an error.
    fn try_each<E>(&self, visit: impl FnMut(Use<'_>) -> Result<(), E>) -> Result<(), E>;
}

impl<'a, I: Iterator<Item = Use<'a>> + Clone> Uses for I {
    #[inline(always)]
    fn try_each<E>(&self, mut visit: impl FnMut(Use<'_>) -> Result<(), E>) -> Result<(), E> {
        for used in self.clone() {
            visit(used)?;
        }
        Ok(())
    }
}

/// Uses at places that are known when this is compiled. As long as nothing takes their address, each place has code of its
/// own, for its own access, and is never written to memory.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Places<'a, const PLACES: usize>(pub(crate) [Option<Use<'a>>; PLACES]);

impl<const PLACES: usize> Uses for Places<'_, PLACES> {
    #[inline(always)]
    fn try_each<E>(&self, mut visit: impl FnMut(Use<'_>) -> Result<(), E>) -> Result<(), E> {
        for used in &self.0 {
            if let Some(used) = *used {
                visit(used)?;
            }
        }
        Ok(())
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
/// For memory of another device or platform; [`Error::Unwritten`]; the driver's, when a wait fails; those of `queue`.
#[inline]
pub(crate) fn queue<R>(
    stream: &CudaStream,
    order: Order,
    uses: impl Uses,
    queue: impl FnOnce() -> Result<R>,
) -> Result<R> {
    let written = uses.clone();
    let uses = begin(stream, order, uses)?;
    let queued = queue();
    uses.note();
    if let Err(error) = &queued {
        fail(written, error);
    }
    queued
}

/// Passes on the result of a step that comes before [`queue`]. If it has failed, the work is not queued.
#[inline]
pub(crate) fn prepared<R, E: Into<Error>>(done: Result<R, E>, uses: impl Uses) -> Result<R> {
    done.map_err(|error| {
        let error = error.into();
        fail(uses, &error);
        error
    })
}

/// Work was not queued: what it was to write is not written.
#[cold]
#[inline(never)]
pub(crate) fn fail(uses: impl Uses, error: &Error) {
    let Ok(()) = uses.try_each(|it| {
        if it.mode == AccessMode::Write && it.content != Content::OfLibrary {
            it.block.fail(it.range, error);
        }
        Ok::<(), Infallible>(())
    });
}

/// The first step of [`queue`]: the stream comes after what each use must come after. The caller queues the work while it
/// has what this returns, and then [`note`](NoteUses::note)s the uses.
///
/// # Errors
/// For memory of another device or platform; the driver's, when a wait fails.
#[inline(always)]
pub(crate) fn begin<U: Uses>(
    stream: &CudaStream,
    order: Order,
    uses: U,
) -> Result<NoteUses<'_, U>> {
    // Fast path: most memory is the stream's own, or that of a message whose stream was received.
    let ready = |it: Use<'_>| if it.block.is_ready(stream, it.mode) { Ok(()) } else { Err(()) };
    if order == Order::ByCaller || uses.try_each(ready).is_err() {
        prepare(stream, order, uses.clone()).inspect_err(|error| fail(uses.clone(), error))?;
    }
    crate::turns::point("the stream comes after what memory needs, and the work is not queued yet");
    Ok(NoteUses { stream, uses })
}

/// Checks all uses, and then orders the stream after what each must come after.
#[cold]
#[inline(never)]
fn prepare(stream: &CudaStream, order: Order, uses: impl Uses) -> Result<()> {
    uses.try_each(|it| it.check(stream))?;
    match order {
        Order::ByData => uses.try_each(|it| it.block.order(stream, it.mode)),
        Order::ByCaller => Ok(()),
    }
}

/// Notes the uses after the work was queued; also if queuing failed or unwound.
#[must_use]
#[derive(Debug)]
pub(crate) struct NoteUses<'s, U: Uses> {
    stream: &'s CudaStream,
    uses: U,
}

impl<U: Uses> NoteUses<'_, U> {
    /// Notes them: the work is queued, or queuing it has failed.
    // Apart from `drop`, which is then the code of unwinding alone: work that can't unwind has none.
    #[inline(always)]
    pub(crate) fn note(self) {
        ManuallyDrop::new(self).note_all();
    }

    #[inline(always)]
    fn note_all(&self) {
        crate::turns::point("the work is queued, and its uses are not noted yet");
        let timeline = self.stream.timeline();
        let Ok(()) = self.uses.try_each(|it| {
            it.block.note(timeline, it.mode);
            Ok::<(), Infallible>(())
        });
    }
}

impl<U: Uses> Drop for NoteUses<'_, U> {
    #[cold]
    fn drop(&mut self) {
        self.note_all();
    }
}
