//! The caller's memory that a call of a plan writes, and the rule for such memory if the call fails.
//!
//! If a call fails at any step, its whole target is marked as not written, like the target of a failed launch
//! (`memory::unwritten`). A call that overwrites all of its target removes earlier marks when it succeeds. Any other call is
//! refused if its target has a mark. As long as no call fails, this costs a load and a comparison for each target.
//!
//! The claims of a plan's calls neither check nor set marks. Most of them are of the plan's own memory, such as work areas, and
//! no call needs the content that an earlier call has left there.

use std::iter;

use super::Call;
use crate::context::OnStream;
use crate::driver::MemoryRange;
use crate::error::{Error, Result};
use crate::memory::{Block, DeviceSlice, Element, Tensor, TensorViewMut};

/// Memory of the caller that a call of a plan writes: a slice, a tensor, a view, or several of them. If the target is a struct of
/// your own, its implementation returns the parts of its fields.
///
/// If the call fails at any step, its whole target is [not written](crate::guide::failures#errors-that-an-operator-drops). The
/// plan declares the begin and the end of the call:
/// - before the call's steps, by [`Call::needs`] or [`Call::overwrites`], or by [`Call::begins`] if a value decides which;
/// - with the result of each step that may fail, by [`Call::written`].
///
/// A single [`Call`] that [writes](Call::write) its target does this by itself.
///
/// ```
/// # use streamflow::prelude::*;
/// use streamflow::library::Call;
///
/// /// Sorts the data, by several calls of a library.
/// fn sort(stream: &Stream<'_>, data: &mut Tensor<f32>) -> Result<(), Error> {
///     Call::needs(data)?;
///     let done = queue_steps(stream, data);
///     Call::written(done, data)
/// }
/// # fn queue_steps(_: &Stream<'_>, _: &mut Tensor<f32>) -> Result<(), Error> { Ok(()) }
/// ```
///
/// Only code that may write memory can set or remove its mark, since a [`TargetPart`] comes only from an exclusive reference. So
/// no call removes the mark of an input:
/// ```
/// # use streamflow::prelude::*;
/// use streamflow::library::{Call, Target, TargetPart};
///
/// fn end(output: &mut Tensor<f32>) {
///     Call::ended(output);
///     Call::ended(&mut output.view_mut());
///     Call::ended(&mut Output(output));
/// }
///
/// struct Output<'a>(&'a mut Tensor<f32>);
/// impl Target for Output<'_> {
///     fn parts(&mut self) -> impl Iterator<Item = TargetPart<'_>> {
///         self.0.parts()
///     }
/// }
/// ```
/// The same function does not compile with a shared reference, with a view of one, or with a type that has one:
pub trait Target {
    /// Returns the parts of the target.
    fn parts(&mut self) -> impl Iterator<Item = TargetPart<'_>>;

    /// Whether other memory of the caller lies between the elements. If so, a call that overwrites all elements still does not
    /// overwrite all of the memory from the first to the last.
    fn has_gaps(&self) -> bool {
        false
    }
}

/// A part of a [`Target`]: memory of one allocation.
#[derive(Debug, Clone, Copy)]
pub struct TargetPart<'a> {
    block: &'a Block,
    range: MemoryRange,
}

impl<T: Element> Target for DeviceSlice<T> {
    #[inline(always)]
    fn parts(&mut self) -> impl Iterator<Item = TargetPart<'_>> {
        iter::once(TargetPart { block: self.block(), range: self.range() })
    }
}

impl<T: Element> Target for Tensor<T> {
    #[inline(always)]
    fn parts(&mut self) -> impl Iterator<Item = TargetPart<'_>> {
        (**self).parts()
    }
}

impl<T: Element> Target for TensorViewMut<'_, T> {
    fn parts(&mut self) -> impl Iterator<Item = TargetPart<'_>> {
        let view = self.reborrow().into_view();
        iter::once(TargetPart { block: view.elements().block(), range: view.range() })
    }

    fn has_gaps(&self) -> bool {
        !self.as_view().is_alone()
    }
}

/// Memory that a plan has on its stream. A call fails if it is on another stream than the plan's, and marks this memory too, so
/// the memory may be marked from any stream.
impl<H: Target> Target for OnStream<H> {
    fn parts(&mut self) -> impl Iterator<Item = TargetPart<'_>> {
        self.value_mut().parts()
    }

    fn has_gaps(&self) -> bool {
        self.value().has_gaps()
    }
}

/// The functions by which a plan applies the rule for its [`Target`], if several calls of the plan write the target.
impl Call<'_> {
    /// Returns the result `done` of a step of a call. If the step has failed, the target is marked as not written. If the call
    /// has overwritten all of the target, earlier marks are removed.
    #[inline(always)]
    pub fn written<R>(done: Result<R>, target: &mut (impl Target + ?Sized)) -> Result<R> {
        match done {
            Ok(done) => {
                Self::ended(target);
                Ok(done)
            }
            Err(error) => Err(Self::failed(error, target)),
        }
    }

    /// Notes that the steps of a call have succeeded, and removes the marks of a target that the call has overwritten.
    #[inline(always)]
    pub fn ended(target: &mut (impl Target + ?Sized)) {
        marked(target).for_each(|part| part.block.end_overwrite(part.range));
    }

    /// Notes that a step of a call has failed, and marks the target as not written.
    #[cold]
    #[inline(never)]
    pub fn failed(error: Error, target: &mut (impl Target + ?Sized)) -> Error {
        let parts = target.parts().filter(|part| part.range.bytes > 0);
        parts.for_each(|part| part.block.fail(part.range, &error));
        error
    }

    /// Checks that this memory is written, before a call that needs its content. The memory may be an input or a target.
    ///
    /// # Errors
    /// [`Error::Unwritten`].
    #[inline(always)]
    pub fn needs<T: Element>(memory: &DeviceSlice<T>) -> Result<()> {
        memory.block().check_written(memory.range())
    }

    /// Notes the begin of a call that overwrites all of its target. [`written`](Self::written) notes the end of the call.
    #[inline(always)]
    pub fn overwrites(target: &mut (impl Target + ?Sized)) {
        marked(target).for_each(|part| part.block.begin_overwrite(part.range));
    }

    /// Notes the begin of a call that either needs the content of its target or overwrites all of it. A target that [has
    /// gaps](Target::has_gaps) always counts as needed.
    ///
    /// # Errors
    /// As for [`needs`](Self::needs).
    #[inline(always)]
    pub fn begins(target: &mut (impl Target + ?Sized), is_needed: bool) -> Result<()> {
        if is_needed || target.has_gaps() {
            return target.parts().try_for_each(|part| part.block.check_written(part.range));
        }
        Self::overwrites(target);
        Ok(())
    }
}

/// Returns the parts of a target that lie in blocks with a mark of unwritten memory.
#[inline(always)]
fn marked<'a>(target: &'a mut (impl Target + ?Sized)) -> impl Iterator<Item = TargetPart<'a>> {
    target.parts().filter(|part| part.block.is_marked())
}
