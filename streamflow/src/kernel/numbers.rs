//! The bounds of type parameters of kernels with one body.

use super::body;

/// A number: the bound of a type parameter of a kernel with one body, or of a `#[kernel_fn]`. Its values have `+`, `-`, `*`, `/`,
/// `%`, comparisons, `min`, `max`, `clamp` and `rem_euclid`, and casts from and to all numbers.
///
/// The numbers are `f32`, `f64`, `i8` to `i64`, `u8` to `u64` and `usize`. A literal of such a type is a cast, as `2.0 as T`.
///
/// ```
/// use streamflow::kernel::Number;
/// use streamflow::prelude::*;
///
/// /// The value at `t` between `a` at 0 and `b` at 1.
/// #[kernel_fn]
/// fn lerp<T: Number>(a: T, b: T, t: T) -> T {
///     a + (b - a) * t
/// }
///
/// /// Both numbers with the same weight.
/// #[kernel(map)]
/// fn between<T: Number>(out: &mut T, a: &T, b: &T) {
///     *out = lerp(*a as f64, *b as f64, 0.5) as T;
/// }
///
/// # fn main() -> Result<()> {
/// let platform = Platform::detect()?;
/// let stream = platform.stream_pool("POOL", &CudaStreamPool::new())?.allocate("main")?;
/// let (a, b) = (platform.upload(&[0_u8, 100])?, platform.upload(&[10_u8, 201])?);
/// let mut out = platform.tensor::<u8>([2], &stream)?;
/// stream.map::<between<_>>((&mut out, &a, &b))?;
/// assert_eq!(stream.download_blocking::<u8>(&out)?, [5, 150]);
/// # Ok(())
/// # }
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no number of a kernel",
    label = "no number of a kernel",
    note = "use `f32`, `f64`, `usize` or an integer of at most 64 bits"
)]
pub trait Number: body::Number {}

/// A [`Number`] with a sign: `f32`, `f64`, or `i8` to `i64`. It has `-`, `abs` and `signum`, too.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no number with a sign of a kernel",
    label = "no number with a sign",
    note = "use `f32`, `f64`, or `i8` to `i64`"
)]
pub trait Signed: Number + body::Signed {}

/// An integer: a [`Number`] with the operators of bits, shifts, `pow`, `count_ones`, and additions and subtractions that saturate.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no integer of a kernel",
    label = "no integer of a kernel",
    note = "use `i8` to `i64`, `u8` to `u64` or `usize`"
)]
pub trait Integer: Number + body::Integer {}

/// `f32` or `f64`: a [`Number`] with a sign, and with roots, exponentials, angles, rounding and `mul_add`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is neither `f32` nor `f64`",
    label = "no float of a kernel",
    note = "use `f32` or `f64`, and cast other elements within the kernel, as `*a as f32`"
)]
pub trait Float: Signed + body::Float {}

#[diagnostic::do_not_recommend]
impl<T: body::Number> Number for T {}
#[diagnostic::do_not_recommend]
impl<T: body::Signed> Signed for T {}
#[diagnostic::do_not_recommend]
impl<T: body::Integer> Integer for T {}
#[diagnostic::do_not_recommend]
impl<T: body::Float> Float for T {}
