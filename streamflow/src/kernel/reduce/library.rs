//! The reductions that come with the library. `cuda/reductions.cuh` has each one with the same meaning.

use std::marker::PhantomData;
use std::ops::Add;

use super::ReduceKernel;
use crate::kernel::body::{KernelArg, Value};
use crate::kernel::combine::ScanKernel;
use crate::memory::Element;

/// The sum. That of integers has 64 bits, `i64` or `u64`, in which it wraps; that of floats has the type of the elements.
#[derive(Debug)]
pub struct Sum<T>(PhantomData<T>);

/// The mean, the sum divided by the number of elements: that of integers is an `f64`, and of 64-bit integers the sum is one, too, so
/// that it does not wrap. Without elements it is NaN.
#[derive(Debug)]
pub struct Mean<T>(PhantomData<T>);

/// The smallest element. With NaN among the elements, it is NaN. Without elements, it is the largest number of the type, or
/// infinity.
#[derive(Debug)]
pub struct Min<T>(PhantomData<T>);

/// The largest element. With NaN among the elements, it is NaN. Without elements, it is the smallest number of the type, or
/// -infinity.
#[derive(Debug)]
pub struct Max<T>(PhantomData<T>);

/// The number of the smallest element as a `u64`: along an axis its index there, else its place in row-major order. Of equal
/// elements the first one wins, and the first NaN before all numbers. Without elements, it is `u64::MAX`.
#[derive(Debug)]
pub struct ArgMin<T>(PhantomData<T>);

/// The number of the largest element, as for [`ArgMin`].
#[derive(Debug)]
pub struct ArgMax<T>(PhantomData<T>);

/// An element that the library reduces.
#[doc(hidden)]
#[diagnostic::on_unimplemented(
    message = "the library has no reductions of `{Self}`",
    label = "no element of a reduction",
    note = "the elements are `f32`, `f64`, `i8` to `i64`, or `u8` to `u64`; a function with `#[kernel(reduce(identity = …))]` reduces others"
)]
pub trait Reducible: Element + Value {
    type Sum: Total;
    /// The type in which a mean adds the elements.
    type Total: Total;
    type Mean: Element + Value;
    const LOW: Self;
    const HIGH: Self;

    fn widen(self) -> Self::Sum;
    fn total(self) -> Self::Total;
    fn mean(total: Self::Total, count: u64) -> Self::Mean;
}

/// A number to which elements are added.
#[doc(hidden)]
pub trait Total: Element + Value {
    fn add(self, other: Self) -> Self;
}

macro_rules! totals {
    ($($ty:ident: $add:expr;)*) => {$(
        impl Total for $ty {
            fn add(self, other: Self) -> Self {
                $add(self, other)
            }
        }
    )*};
}
totals! {
    f32: Add::add;
    f64: Add::add;
    i64: i64::wrapping_add;
    u64: u64::wrapping_add;
}

macro_rules! reducible {
    ($($ty:ident: $sum:ident, $total:ident, $mean:ident, $low:expr, $high:expr;)*) => {$(
        impl Reducible for $ty {
            type Sum = $sum;
            type Total = $total;
            type Mean = $mean;
            const LOW: Self = $low;
            const HIGH: Self = $high;

            fn widen(self) -> $sum {
                self as $sum
            }

            fn total(self) -> $total {
                self as $total
            }

            fn mean(total: $total, count: u64) -> $mean {
                total as $mean / count as $mean
            }
        }
    )*};
}
reducible! {
    f32: f32, f32, f32, f32::NEG_INFINITY, f32::INFINITY;
    f64: f64, f64, f64, f64::NEG_INFINITY, f64::INFINITY;
    i8: i64, i64, f64, i8::MIN, i8::MAX;
    i16: i64, i64, f64, i16::MIN, i16::MAX;
    i32: i64, i64, f64, i32::MIN, i32::MAX;
    i64: i64, f64, f64, i64::MIN, i64::MAX;
    u8: u64, u64, f64, u8::MIN, u8::MAX;
    u16: u64, u64, f64, u16::MIN, u16::MAX;
    u32: u64, u64, f64, u32::MIN, u32::MAX;
    u64: u64, f64, f64, u64::MIN, u64::MAX;
}

/// The file and the line of a reduction.
pub(super) const PLACE: (&str, u32) = (file!(), line!());

pub(super) fn text(type_name: &str) -> String {
    format!(
        "typedef sf::{type_name} streamflow_reduction;\nconst streamflow_reduction streamflow_op = {{}};"
    )
}

// SAFETY: `cuda/reductions.cuh` has the same functions; the state is a number.
unsafe impl<T: Reducible> ScanKernel for Sum<T> {
    type Input = T;
    type State = T::Sum;
    type Output = T::Sum;

    const NAME: &'static str = "Sum";
    const ENTRY: &'static str = "sum_kernel";
    const PLACE: (&'static str, u32) = PLACE;
    const REPORTS: bool = false;

    fn identity() -> T::Sum {
        KernelArg::ZERO
    }

    fn of(element: T, _: u64) -> T::Sum {
        element.widen()
    }

    fn combine(a: T::Sum, b: T::Sum) -> T::Sum {
        a.add(b)
    }

    fn finish(sum: T::Sum, _: u64) -> T::Sum {
        sum
    }

    fn cuda() -> String {
        text(&format!("Sum<{}, {}>", <T as KernelArg>::PARAM, <T::Sum as KernelArg>::PARAM))
    }
}

// SAFETY: as for `Sum`.
unsafe impl<T: Reducible> ScanKernel for Mean<T> {
    type Input = T;
    type State = T::Total;
    type Output = T::Mean;

    const NAME: &'static str = "Mean";
    const ENTRY: &'static str = "mean_kernel";
    const PLACE: (&'static str, u32) = PLACE;
    const REPORTS: bool = false;

    fn identity() -> T::Total {
        KernelArg::ZERO
    }

    fn of(element: T, _: u64) -> T::Total {
        element.total()
    }

    fn combine(a: T::Total, b: T::Total) -> T::Total {
        a.add(b)
    }

    fn finish(sum: T::Total, count: u64) -> T::Mean {
        T::mean(sum, count)
    }

    fn cuda() -> String {
        let [element, sum, mean] = [
            <T as KernelArg>::PARAM,
            <T::Total as KernelArg>::PARAM,
            <T::Mean as KernelArg>::PARAM,
        ];
        text(&format!("Mean<{element}, {sum}, {mean}>"))
    }
}

/// The one that is NaN, the first if both are, else the larger or the smaller one.
pub(super) fn extreme<T: Reducible, const IS_MAX: bool>(a: T, b: T) -> T {
    let is_nan = |value: T| value.partial_cmp(&value).is_none();
    let (left, right) = if IS_MAX { (a, b) } else { (b, a) };
    let is_b = !is_nan(a) && (is_nan(b) || left < right);
    if is_b { b } else { a }
}

/// An element and its number.
#[doc(hidden)]
#[derive(Debug, Clone, Copy)]
#[repr(C)]
pub struct Placed<T> {
    value: T,
    index: u64,
}

/// The number of a state without elements.
const NOWHERE: u64 = u64::MAX;

fn placed<T: Reducible, const IS_MAX: bool>(a: Placed<T>, b: Placed<T>) -> Placed<T> {
    let is_nan = |place: &Placed<T>| place.value.partial_cmp(&place.value).is_none();
    let (left, right) = if IS_MAX { (b.value, a.value) } else { (a.value, b.value) };
    let is_a = match (a.index, b.index) {
        (NOWHERE, _) => false,
        (_, NOWHERE) => true,
        _ if is_nan(&a) != is_nan(&b) => is_nan(&a),
        _ if left < right => true,
        _ if right < left => false,
        (a, b) => a < b,
    };
    if is_a { a } else { b }
}

// No macro has both types as arguments: rustc would name it as the origin of an error.
macro_rules! extremes {
    ($($name:ident, $label:literal, $entry:literal, $is_max:literal, $none:ident;)*) => {$(
        // SAFETY: as for `Sum`.
        unsafe impl<T: Reducible> ScanKernel for $name<T> {
            type Input = T;
            type State = T;
            type Output = T;

            const NAME: &'static str = $label;
            const ENTRY: &'static str = $entry;
            const PLACE: (&'static str, u32) = PLACE;
            const REPORTS: bool = false;

            fn identity() -> T {
                T::$none
            }

            fn of(element: T, _: u64) -> T {
                element
            }

            fn combine(a: T, b: T) -> T {
                extreme::<T, $is_max>(a, b)
            }

            fn finish(value: T, _: u64) -> T {
                value
            }

            fn cuda() -> String {
                text(&format!("Extreme<{}, {}>", <T as KernelArg>::PARAM, $is_max))
            }
        }
    )*};
}
extremes! {
    Min, "Min", "min_kernel", false, HIGH;
    Max, "Max", "max_kernel", true, LOW;
}

macro_rules! places {
    ($($name:ident, $label:literal, $entry:literal, $is_max:literal;)*) => {$(
        // SAFETY: `cuda/reductions.cuh` has the same functions, and `Placed` has one layout in C and in C++.
        unsafe impl<T: Reducible> ScanKernel for $name<T> {
            type Input = T;
            type State = Placed<T>;
            type Output = u64;

            const NAME: &'static str = $label;
            const ENTRY: &'static str = $entry;
            const PLACE: (&'static str, u32) = PLACE;
            const REPORTS: bool = false;

            fn identity() -> Placed<T> {
                Placed { value: T::LOW, index: NOWHERE }
            }

            fn of(value: T, index: u64) -> Placed<T> {
                Placed { value, index }
            }

            fn combine(a: Placed<T>, b: Placed<T>) -> Placed<T> {
                placed::<T, $is_max>(a, b)
            }

            fn finish(best: Placed<T>, _: u64) -> u64 {
                best.index
            }

            fn cuda() -> String {
                text(&format!("ArgExtreme<{}, {}>", <T as KernelArg>::PARAM, $is_max))
            }
        }
    )*};
}
places! {
    ArgMin, "ArgMin", "arg_min_kernel", false;
    ArgMax, "ArgMax", "arg_max_kernel", true;
}

macro_rules! reductions {
    ($($name:ident)*) => {$(
        impl<T: Reducible> ReduceKernel for $name<T> {
            type Function = Self;
        }
    )*};
}
reductions! { Sum Mean Min Max ArgMin ArgMax }
