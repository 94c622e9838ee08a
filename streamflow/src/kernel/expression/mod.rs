//! Expressions of tensors and numbers, made by `expr!`: each is a kernel of one element, whose types follow from its operands.
//!
//! The macro does not know the types of the operands. It makes two closures without captures, one that computes an element and one
//! that tells the types to the text in CUDA; rustc infers their parameters from the operands. The codes of a launch are constants
//! of the closures' types.

mod codes;
mod operand;

use std::marker::PhantomData;
use std::panic::Location;

pub use self::codes::{Forms, Place};
pub use self::operand::{Form, Operand, Taken, operand};
use super::body::{CudaText, KernelArg};
use super::map::{Codes, MapOutput, Operands};
use super::{KernelInfo, launched};
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
/// The codes are those of one kernel, which writes elements of the type `Element` and then has the operands that
/// [`pass`](Self::pass) passes, in that order.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no expression",
    label = "no expression",
    note = "write `expr!(…)`"
)]
pub unsafe trait Evaluate<'a> {
    /// The type of an element of the result.
    type Element: 'a;

    /// The codes of the kernel.
    #[doc(hidden)]
    const CODES: Codes;

    /// Passes the operands.
    #[doc(hidden)]
    fn pass(self, to: &mut Operands<'a>);
}

/// A code of an expression, for the list of launched kernels.
struct Noted<'a, E, const CODE: usize>(PhantomData<(&'a (), E)>);

impl<'a, E: Evaluate<'a>, const CODE: usize> launched::Noted for Noted<'a, E, CODE> {
    const INFO: &'static KernelInfo = E::CODES.infos[CODE];
}

/// Makes the constructor and the implementation for a number of operands.
macro_rules! expressions {
    ($($constructor:ident($($A:ident $name:ident $number:tt),*);)*) => {$(
        #[doc(hidden)]
        #[allow(clippy::too_many_arguments, clippy::extra_unused_lifetimes, reason = "an argument for each operand, or none")]
        pub fn $constructor<'a, P, O, F, G, $($A),*>(
            _: P,
            $($name: Taken<'a, $A>,)*
            _: F,
            _: G,
        ) -> Expression<P, ($(Taken<'a, $A>,)*), O, F, G>
        where
            P: Place,
            O: KernelArg + Element,
            $($A: Form,)*
            F: Fn(usize, $(&$A::Value),*) -> O + Copy,
            G: Fn(&mut CudaText<'_>, $(fn() -> &'static $A::Value),*) + Copy,
        {
            Expression { operands: ($($name,)*), kernel: PhantomData }
        }

        // SAFETY: the codes are made of the forms of these operands, in this order.
        #[diagnostic::do_not_recommend]
        unsafe impl<'a, P: Place, O: Element, F, G, $($A: Form),*> Evaluate<'a> for Expression<P, ($(Taken<'a, $A>,)*), O, F, G>
        where
            ($($A,)*): Forms<P, O, F, G>,
        {
            type Element = O;

            const CODES: Codes = <($($A,)*) as Forms<P, O, F, G>>::CODES;

            fn pass(self, to: &mut Operands<'a>) {
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
    /// Queues the evaluation of an expression for all elements of `out`, in one launch:
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
    /// Those of [`map`](Self::map). An error about shapes names the operands as they are written.
    #[track_caller]
    pub fn evaluate<'a, E: Evaluate<'a>>(
        &self,
        out: impl MapOutput<'a, E::Element>,
        expression: E,
    ) -> Result<()> {
        let location = Location::caller();
        launched::note::<Noted<'a, E, 0>>();
        launched::note::<Noted<'a, E, 1>>();
        launched::note::<Noted<'a, E, 2>>();
        let mut operands = Operands::new();
        operands.output("out", out.map_output());
        expression.pass(&mut operands);
        // SAFETY: the unsafe trait `Evaluate` promises codes of one kernel, and its operands after `out`.
        unsafe { self.launch_map(&E::CODES, 0, &operands, location) }
    }
}
