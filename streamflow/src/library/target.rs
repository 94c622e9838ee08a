//! Memory of the caller that a call of a plan writes, with the rule for failed calls.
//!
//! If such a call fails at any step, its whole target is marked as not written, like the target of a failed launch
//! (`memory::unwritten`). A call that overwrites all of its target removes earlier marks when it succeeds. Any other call
//! is refused if its target has a mark. As long as nothing fails, this costs a load and a comparison for each target.
//!
//! The claims of a plan's calls neither check nor set marks: most are of the plan's own memory, such as work areas, and
//! no call needs the content that an earlier call has left there.

use std::iter;

use super::Call;
use crate::context::OnStream;
use crate::driver::MemoryRange;
use crate::error::{Error, Result};
use crate::memory::{Block, DeviceSlice, Element, Tensor, TensorViewMut};

/// Memory of the caller that a call of a plan writes: a slice, a tensor, a view, or several of them. A type of your own
/// returns the parts of its fields.
///
/// If the call fails, at whatever step, its whole target is
/// [not written](crate::guide::failures#errors-that-an-operator-drops). The plan says when a call begins and how it ends:
/// - before its steps: [`Call::needs`], [`Call::overwrites`], or [`Call::begins`] where that depends on a value;
/// - with the result of each step that may fail: [`Call::written`].
///
/// A single [`Call`] that [writes](Call::write) its target does the same by itself.
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
/// Only code that may write memory can begin or end its mark: a [`TargetPart`] comes only from an exclusive reference.
/// So no call ends the mark of an input:
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
/// With a shared reference, a view of it, or a type with one, the same does not compile:
/// ```compile_fail,E0308
/// # use streamflow::prelude::*;
/// fn end(input: &Tensor<f32>) {
///     streamflow::library::Call::ended(input);
/// }
/// ```
/// ```compile_fail,E0277
/// # use streamflow::prelude::*;
/// fn end(input: &Tensor<f32>) {
///     streamflow::library::Call::ended(&mut input.view());
/// }
/// ```
/// ```compile_fail,E0596
/// # use streamflow::library::{Target, TargetPart};
/// # use streamflow::prelude::*;
/// struct Input<'a>(&'a Tensor<f32>);
/// impl Target for Input<'_> {
///     fn parts(&mut self) -> impl Iterator<Item = TargetPart<'_>> {
///         self.0.parts()
///     }
/// }
/// ```
pub trait Target {
    /// Returns the parts of the target.
    fn parts(&mut self) -> impl Iterator<Item = TargetPart<'_>>;

    /// Whether other memory of the caller lies between the elements. If so, a call that overwrites each element still
    /// leaves a part of the memory as it was.
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

/// Memory that a plan keeps on its stream. A call on another stream than the plan's fails as well, so the memory can be
/// marked from any stream.
impl<H: Target> Target for OnStream<H> {
    fn parts(&mut self) -> impl Iterator<Item = TargetPart<'_>> {
        self.value_mut().parts()
    }

    fn has_gaps(&self) -> bool {
        self.value().has_gaps()
    }
}

/// The functions by which a plan applies the rule for its [`Target`]. They serve a target that several calls of the plan write.
impl Call<'_> {
    /// Returns the result of a step of a call. If the step has failed, the target is marked as unwritten; if the call has
    /// overwritten all of the target, earlier marks are removed.
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

    /// Notes that a step of a call has succeeded.
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

    /// Checks, before a call that needs the content of this memory, that the memory is written. It may be an input or a target.
    ///
    /// # Errors
    /// [`Error::Unwritten`].
    #[inline(always)]
    pub fn needs<T: Element>(memory: &DeviceSlice<T>) -> Result<()> {
        memory.block().check_written(memory.range())
    }

    /// Notes that a call begins that overwrites all of its target. [`written`](Self::written) notes the call's end.
    #[inline(always)]
    pub fn overwrites(target: &mut (impl Target + ?Sized)) {
        marked(target).for_each(|part| part.block.begin_overwrite(part.range));
    }

    /// Begins a call. The call either needs the content of its target, as always for a target that [has
    /// gaps](Target::has_gaps), or overwrites all of the target.
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

/// The parts of a target that lie in blocks with a mark.
#[inline(always)]
fn marked<'a>(target: &'a mut (impl Target + ?Sized)) -> impl Iterator<Item = TargetPart<'a>> {
    target.parts().filter(|part| part.block.is_marked())
}
