//! Memory of the caller that a call of a library writes.
//!
//! If such a call fails, at whatever step, its whole target is marked as not written, as that of a launch is
//! (`memory::unwritten`). A call that overwrites all of its target ends earlier marks of it when it succeeds; another one refuses them. Where
//! nothing fails, that is a load and a comparison for each target.
//!
//! The claims of a plan's calls have nothing to do with marks: most are of memory of the plan, as work areas, where no call
//! needs what an earlier one has left.

#![allow(dead_code, reason = "features with a library use it")]

use std::iter;

use crate::driver::MemoryRange;
use crate::error::{Error, Result};
use crate::memory::{Block, DeviceSlice, Element, Tensor, TensorView};

/// Memory of the caller that a call writes.
pub(super) trait Target {
    /// Its parts, each with the block that it is in.
    fn parts(&self) -> impl Iterator<Item = (&Block, MemoryRange)>;
}

impl<T: Element> Target for DeviceSlice<T> {
    #[inline(always)]
    fn parts(&self) -> impl Iterator<Item = (&Block, MemoryRange)> {
        iter::once((self.block(), self.range()))
    }
}

impl<T: Element> Target for Tensor<T> {
    #[inline(always)]
    fn parts(&self) -> impl Iterator<Item = (&Block, MemoryRange)> {
        (**self).parts()
    }
}

impl<T: Element> Target for TensorView<'_, T> {
    fn parts(&self) -> impl Iterator<Item = (&Block, MemoryRange)> {
        iter::once((self.elements().block(), self.range()))
    }
}

/// Passes on the result of a step of a call. If it has failed, the target is not written; if the call has overwritten all of it,
/// earlier marks end.
#[inline(always)]
pub(super) fn written<R>(done: Result<R>, target: &(impl Target + ?Sized)) -> Result<R> {
    match done {
        Ok(done) => {
            ended(target);
            Ok(done)
        }
        Err(error) => Err(failed(error, target)),
    }
}

/// A step of a call has succeeded.
#[inline(always)]
pub(super) fn ended(target: &(impl Target + ?Sized)) {
    target
        .parts()
        .filter(|(block, _)| block.is_marked())
        .for_each(|(block, _)| block.end_overwrite());
}

/// A step of a call has failed, so the target is not written.
#[cold]
#[inline(never)]
pub(super) fn failed(error: Error, target: &(impl Target + ?Sized)) -> Error {
    let parts = target.parts().filter(|(_, range)| range.bytes > 0);
    parts.for_each(|(block, range)| block.fail(range, &error));
    error
}

/// A call begins that needs what its target has.
///
/// # Errors
/// [`Error::Unwritten`].
#[inline(always)]
pub(super) fn needs(target: &(impl Target + ?Sized)) -> Result<()> {
    target.parts().try_for_each(|(block, range)| block.check_written(range))
}

/// A call begins that overwrites all of its target. [`written`] ends it.
#[inline(always)]
pub(super) fn overwrites(target: &(impl Target + ?Sized)) {
    let parts = target.parts().filter(|(block, _)| block.is_marked());
    parts.for_each(|(block, range)| block.begin_overwrite(range));
}

/// A call begins that needs what its target has, or overwrites all of it.
///
/// # Errors
/// As for [`needs`].
#[inline(always)]
pub(super) fn begins(target: &(impl Target + ?Sized), is_needed: bool) -> Result<()> {
    if is_needed {
        return needs(target);
    }
    overwrites(target);
    Ok(())
}
