//! Expressions of tensors and numbers, made by `expr!`: each is a kernel of one element, whose types follow from its operands.
//!
//! The macro does not know the types of the operands. It makes two closures without captures, one that computes an element and one
//! that tells the types to the text in CUDA; rustc infers their parameters from the operands. The codes of a launch are constants
//! of the closures' types.

mod codes;
mod made;
mod operand;
mod reduction;

use std::marker::PhantomData;
use std::panic::Location;

pub use self::codes::{Forms, Place};
pub use self::operand::{Form, Operand, Taken, operand};
pub use self::reduction::{Along, Evaluated, Reduction, evaluated, reduced};
use super::body::{CudaText, KernelArg};
use super::map::{Codes, MapOutput, Operand as Memory, Operands};
use super::{KernelInfo, Passing, launched};
use crate::driver::{AccessMode, SourceLocation};
use crate::error::Result;
use crate::memory::Element;
use crate::stream::CudaStream;

/// An expression with its operands, made by [`expr!`](macro@crate::expr). [`CudaStream::evaluate`] takes it.
#[must_use = "an expression computes nothing: pass it to `CudaStream::evaluate`"]
#[derive(Debug)]
pub struct Expression<P, A, O, F, G> {
    operands: A,
    kernel: PhantomData<Kernel<P, O, F, G>>,
}

/// The types that identify the kernel of an expression: its place, the type of its elements, and its closures.
type Kernel<P, O, F, G> = fn() -> (P, O, F, G);

/// An expression, as `expr!` makes it.
///
/// # Safety
/// The codes are those of one kernel. Its output has elements of the type `Element`, and its other arguments are those that
/// [`pass`](Self::pass) passes after [`prepare`](Self::prepare), in this order.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no expression",
    label = "no expression",
    note = "write `expr!(…)`"
)]
pub unsafe trait Evaluate {
    /// The type of an element of the result.
    type Element: Element;

    /// The expression, as it is written.
    #[doc(hidden)]
    const NAME: &'static str;

    /// The codes of the kernel.
    #[doc(hidden)]
    const CODES: Codes;

    /// Queues the work that makes the operands.
    #[doc(hidden)]
    fn prepare(&mut self, stream: &CudaStream, location: SourceLocation) -> Result<()>;

    /// Passes the operands, after `prepare`.
    #[doc(hidden)]
    fn pass<'s>(&'s self, to: &mut Operands<'s>);
}

/// A code of an expression, for the list of launched kernels.
struct Noted<E, const CODE: usize>(PhantomData<E>);

impl<E: Evaluate, const CODE: usize> launched::Noted for Noted<E, CODE> {
    const INFO: &'static KernelInfo = E::CODES.infos[CODE];
}

/// Makes the constructor and the implementation for a number of operands.
macro_rules! expressions {
    ($($constructor:ident($($A:ident $name:ident $number:tt),*);)*) => {$(
        #[doc(hidden)]
        #[allow(clippy::too_many_arguments, reason = "an argument for each operand")]
        pub fn $constructor<P, O, F, G, $($A),*>(
            _: P,
            $($name: $A,)*
            _: F,
            _: G,
        ) -> Expression<P, ($($A,)*), O, F, G>
        where
            P: Place,
            O: KernelArg + Element,
            $($A: Taken,)*
            F: Fn(usize, $(&<$A::Form as Form>::Value),*) -> O + Copy,
            G: Fn(&mut CudaText<'_>, $(fn() -> &'static <$A::Form as Form>::Value),*) + Copy,
        {
            Expression { operands: ($($name,)*), kernel: PhantomData }
        }

        // SAFETY: the codes are made of the forms of these operands, in this order.
        #[diagnostic::do_not_recommend]
        unsafe impl<P: Place, O: Element, F, G, $($A: Taken),*> Evaluate for Expression<P, ($($A,)*), O, F, G>
        where
            ($($A::Form,)*): Forms<P, O, F, G>,
        {
            type Element = O;

            const NAME: &'static str = P::NAME;

            const CODES: Codes = <($($A::Form,)*) as Forms<P, O, F, G>>::CODES;

            fn prepare(&mut self, stream: &CudaStream, location: SourceLocation) -> Result<()> {
                let _ = (stream, location);
                $(self.operands.$number.prepare(stream, location)?;)*
                Ok(())
            }

            fn pass<'s>(&'s self, to: &mut Operands<'s>) {
                let _ = &to;
                $(self.operands.$number.pass(P::NAMES[$number], to);)*
            }
        }
    )*};
}
expressions! {
    of_0();
    of_1(A a 0);
    of_2(A a 0, B b 1);
    of_3(A a 0, B b 1, C c 2);
    of_4(A a 0, B b 1, C c 2, D d 3);
    of_5(A a 0, B b 1, C c 2, D d 3, E e 4);
    of_6(A a 0, B b 1, C c 2, D d 3, E e 4, H h 5);
}

impl CudaStream {
    /// Queues the evaluation of an expression for all elements of `out`, in one launch after those of its reductions:
    /// `stream.evaluate(&mut out, expr!(frame as f32 / 255.0 * gain))?`. Like [`map`](Self::map), it broadcasts operands to the
    /// shape of `out`, comes after all work that its operands must come after, and does not block the host.
    ///
    /// ```
    /// use streamflow::prelude::*;
    ///
    /// # fn main() -> Result<()> {
    /// let platform = Platform::detect()?;
    /// let stream = platform.stream_pool("POOL", &CudaStreamPool::new())?.allocate("main")?;
    /// let frame = platform.upload(&[0_u8, 51, 102, 255])?.reshape([2, 2])?;
    /// let (gain, offset) = (2.0_f32, platform.upload(&[0.5_f32, -0.5])?);
    /// let mut out = platform.tensor([2, 2], &stream)?;
    /// stream.evaluate(&mut out, expr!((frame as f32 / 255.0 * gain + offset).max(0.0)))?;
    /// assert_eq!(stream.download_blocking::<f32>(&out)?, [0.5, 0.0, 1.3, 1.5]);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// Those of [`map`](Self::map). An error about shapes names the operands as they are written. Of a reduction within the
    /// expression also those of [`reduce_axis`](Self::reduce_axis); [`Error::Shapes`](crate::Error::Shapes) for one of numbers alone,
    /// and [`Error::OutOfMemory`](crate::Error::OutOfMemory) for its results.
    #[track_caller]
    pub fn evaluate<'a, E: Evaluate>(
        &self,
        out: impl MapOutput<'a, E::Element>,
        mut expression: E,
    ) -> Result<()>
    where
        E::Element: 'a,
    {
        let location = Location::caller();
        let out = out.map_output().into_view();
        let out = Memory::of("out", &out, AccessMode::Write);
        if let Err(error) = expression.prepare(self, location) {
            let mut passing = Passing::new();
            out.touch(&mut passing);
            passing.fail(&error);
            return Err(error);
        }
        launch(self, &expression, out, location)
    }
}

/// Launches an expression whose operands are prepared.
fn launch<E: Evaluate>(
    stream: &CudaStream,
    expression: &E,
    out: Memory<'_>,
    location: SourceLocation,
) -> Result<()> {
    launched::note::<Noted<E, 0>>();
    launched::note::<Noted<E, 1>>();
    launched::note::<Noted<E, 2>>();
    let mut operands = Operands::new();
    operands.operand(out);
    expression.pass(&mut operands);
    // SAFETY: the unsafe trait `Evaluate` promises codes of one kernel, and its operands after `out`, which is an output of the
    // expression's type in both calls of this function.
    unsafe { stream.launch_map(&E::CODES, 0, &operands, location) }
}
