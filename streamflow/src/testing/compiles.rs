//! A test that a kernel's CUDA body compiles.

use super::Outcome;
use crate::error::Result;
use crate::kernel::{Kernel, compile_checked_for, compile_for, nvrtc_version, supports};

/// Turing, Ampere, Hopper and Blackwell.
const COMPUTE_CAPABILITIES: [(u32, u32); 4] = [(7, 5), (8, 0), (9, 0), (10, 0)];

/// Compiles the CUDA body of a kernel, for a test that finds mistakes in it without a GPU.
///
/// NVRTC compiles it for the compute capabilities 7.5, 8.0, 9.0 and 10.0, as far as it supports them, with and without
/// the checks of `STREAMFLOW_CHECK_BOUNDS=1`. A generic kernel is compiled with the types that are named: `cast<u8, f32>`.
///
/// Without NVRTC the outcome is [`Outcome::Skipped`]; with `STREAMFLOW_REQUIRE_NVRTC=1` that is an error. To compile for
/// other compute capabilities, call [`compile_for`].
///
/// ```
/// use streamflow::prelude::*;
/// use streamflow::testing::compile_kernel;
///
/// /// out[i] = a[i] * factor
/// #[kernel(requires(out.len() == a.len()), unsafe cuda = "
///     unsigned long long i = thread_index();
///     if (i < out_len) out[i] = a[i] * factor;
/// ")]
/// fn scaled<T: Element + std::ops::Mul<Output = T>>(out: &mut [T], a: &[T], factor: T) {
///     out.iter_mut().zip(a).for_each(|(out, a)| *out = *a * factor);
/// }
///
/// # fn main() -> Result<()> {
/// // In a `#[test]`.
/// println!("{}", compile_kernel::<scaled<f32>>()?);
/// println!("{}", compile_kernel::<scaled<i32>>()?);
/// # Ok(())
/// # }
/// ```
///
/// # Errors
/// [`DriverError::Kernel`](crate::driver::DriverError::Kernel) with the compiler's messages, which have the file and the
/// line of each mistake.
pub fn compile_kernel<K: Kernel>() -> Result<Outcome> {
    let (major, minor) = match nvrtc_version() {
        Ok(version) => version,
        Err(missing) => return Outcome::without(missing, "STREAMFLOW_REQUIRE_NVRTC"),
    };
    let mut compiled = Vec::new();
    for target in COMPUTE_CAPABILITIES {
        if supports(target)? {
            compile_for(K::INFO, target)?;
            compile_checked_for(K::INFO, target)?;
            compiled.push(format!("{}.{}", target.0, target.1));
        }
    }
    let targets = compiled.join(", ");
    let name = K::INFO.name;
    Ok(Outcome::Passed(format!("NVRTC {major}.{minor} compiled `{name}` for {targets}")))
}
