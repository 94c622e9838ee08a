//! A test that a kernel's CUDA body compiles.

use super::Outcome;
use crate::driver::DriverError;
use crate::error::Result;
use crate::kernel::{Kernel, compile_checked_for, compile_for, nvrtc_version, supports};

/// Turing, Ampere, Hopper and Blackwell.
const COMPUTE_CAPABILITIES: [(u32, u32); 4] = [(7, 5), (8, 0), (9, 0), (10, 0)];

/// Compiles the CUDA body of a kernel, for a test that finds mistakes in it without a GPU.
///
/// NVRTC compiles it for the compute capabilities 7.5, 8.0, 9.0 and 10.0, as far as it supports them, with and without
/// the checks of `STREAMFLOW_CHECK_BOUNDS=1`. A generic kernel is compiled with the types that are named: `cast<u8, f32>`.
///
/// Without NVRTC, or with one that supports none of these, the outcome is [`Outcome::Skipped`]; with `STREAMFLOW_REQUIRE_NVRTC=1` that is an error. To compile for
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
            compiled.push(target);
        }
    }
    concluded(K::INFO.name, (major, minor), &compiled)
}

/// The outcome of a kernel that `compiled` for these compute capabilities: without one, nothing was tried.
fn concluded(kernel: &str, (major, minor): (u32, u32), compiled: &[(u32, u32)]) -> Result<Outcome> {
    let list = |targets: &[(u32, u32)]| {
        let each = targets.iter().map(|(major, minor)| format!("{major}.{minor}"));
        each.collect::<Vec<_>>().join(", ")
    };
    let compiler = format!("NVRTC {major}.{minor}");
    if compiled.is_empty() {
        let known = list(&COMPUTE_CAPABILITIES);
        let what = format!("{compiler} compiles for none of the compute capabilities {known}");
        let remedy = format!(
            "take another NVRTC, or compile `{kernel}` with `kernel::compile_for` for one that it supports"
        );
        return Outcome::without(
            DriverError::Unavailable { what, remedy }.into(),
            "STREAMFLOW_REQUIRE_NVRTC",
        );
    }
    Ok(Outcome::Passed(format!("{compiler} compiled `{kernel}` for {}", list(compiled))))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

    use super::*;

    #[test]
    fn a_kernel_that_was_compiled_for_nothing_has_not_passed() {
        // With `STREAMFLOW_REQUIRE_NVRTC=1` it is an error.
        match concluded("add", (19, 0), &[]) {
            Ok(outcome) => {
                let Outcome::Skipped(reason) = outcome else { unreachable!("{outcome}") };
                assert!(reason.contains("NVRTC 19.0"), "{reason}");
                assert!(reason.contains("7.5, 8.0, 9.0, 10.0"), "{reason}");
            }
            Err(error) => assert!(error.to_string().contains("NVRTC 19.0"), "{error}"),
        }
        let passed = concluded("add", (13, 0), &[(9, 0), (10, 0)]).unwrap();
        let text = "NVRTC 13.0 compiled `add` for 9.0, 10.0";
        assert_eq!(passed, Outcome::Passed(text.to_owned()));
    }
}
