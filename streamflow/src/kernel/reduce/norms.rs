//! Norms, which come with the library. `cuda/reductions.cuh` has each one with the same meaning.

use std::marker::PhantomData;

use super::ReduceKernel;
use super::library::{PLACE, Reducible, Total, extreme, text};
use crate::kernel::body::KernelArg;
use crate::kernel::combine::ScanKernel;

/// The sum of the absolute values, of type `f32` or `f64`. Without elements it is 0.
#[derive(Debug)]
pub struct Norm1<T>(PhantomData<T>);

/// The length of a vector: the square root of the sum of the squares, of type `f32` or `f64`. A square that is larger than the type's
/// largest number gives infinity. Without elements it is 0.
#[derive(Debug)]
pub struct Norm2<T>(PhantomData<T>);

/// The largest absolute value, of type `f32` or `f64`. With NaN among the elements, it is NaN. Without elements it is 0.
#[derive(Debug)]
pub struct NormInf<T>(PhantomData<T>);

/// The type of the elements of a norm.
#[doc(hidden)]
#[diagnostic::on_unimplemented(
    message = "the library has no norms of `{Self}`",
    label = "no element of a norm",
    note = "the elements are `f32` or `f64`; a function with `#[kernel(reduce(identity = …))]` reduces others"
)]
pub trait Normed: Reducible + Total {
    fn magnitude(self) -> Self;
    fn square(self) -> Self;
    fn root(self) -> Self;
}

macro_rules! normed {
    ($($ty:ident)*) => {$(
        impl Normed for $ty {
            fn magnitude(self) -> Self {
                self.abs()
            }

            fn square(self) -> Self {
                self * self
            }

            fn root(self) -> Self {
                self.sqrt()
            }
        }
    )*};
}
normed! { f32 f64 }

// No macro has both types as arguments: rustc would name it as the origin of an error.
macro_rules! norms {
    ($($name:ident, $label:literal, $entry:literal, $of:ident, $combine:path, $finish:path;)*) => {$(
        // SAFETY: `cuda/reductions.cuh` has the same functions; the state is a number.
        unsafe impl<T: Normed> ScanKernel for $name<T> {
            type Input = T;
            type State = T;
            type Output = T;

            const NAME: &'static str = $label;
            const ENTRY: &'static str = $entry;
            const PLACE: (&'static str, u32) = PLACE;
            const REPORTS: bool = false;

            fn identity() -> T {
                KernelArg::ZERO
            }

            fn of(element: T, _: u64) -> T {
                element.$of()
            }

            fn combine(a: T, b: T) -> T {
                $combine(a, b)
            }

            fn finish(state: T, _: u64) -> T {
                $finish(state)
            }

            fn cuda() -> String {
                text(&format!("{}<{}>", $label, <T as KernelArg>::PARAM))
            }
        }

        impl<T: Normed> ReduceKernel for $name<T> {
            type Function = Self;
        }
    )*};
}
norms! {
    Norm1, "Norm1", "norm_1_kernel", magnitude, Total::add, std::convert::identity;
    Norm2, "Norm2", "norm_2_kernel", square, Total::add, Normed::root;
    NormInf, "NormInf", "norm_inf_kernel", magnitude, extreme::<T, true>, std::convert::identity;
}
