//! Compares a kernel's Rust body and its CUDA body on random input.

mod draw;
#[cfg(test)]
mod tests;
mod tolerance;
mod values;

use std::num::NonZero;

pub use draw::{Draw, Drawn};
pub use tolerance::Tolerance;
pub use values::KernelValues;

use self::values::run;
use super::outcome::Outcome;
use super::variables;
use crate::error::{BodyFailure, BodyProblem, Error, KernelBody, Result};
use crate::kernel::{CompiledCode, Grid};
use crate::platform::{Platform, device};

/// How many cases are tried if no environment variable sets their number.
const CASES: u64 = 64;

/// Runs both bodies of a kernel on random input, and compares their output.
///
/// `arguments` draws the input of a case: a grid, and the kernel's arguments as a tuple, with a `Vec` for each slice
/// ([`KernelValues`]). All random values must come from its [`Draw`], so that a seed repeats a case. The Rust body runs on the
/// simulator, and the CUDA body on the first GPU. Each value of each `&mut` slice is compared, also values that the kernel should
/// not write. So fill the slice with a value that no kernel writes, as NaN.
///
/// There are 64 cases, one for each seed from 0 on. `STREAMFLOW_TEST_SEEDS=n` tries `n`, and `STREAMFLOW_TEST_SEED=n`
/// repeats the one that a failure names. Set `STREAMFLOW_CHECK_BOUNDS=1` to report also indices out of range.
///
/// Without a GPU, or without NVRTC, the outcome is [`Outcome::Skipped`]. The Rust body has then still run on each case, so that
/// its panics and refused input are found. With `STREAMFLOW_REQUIRE_CUDA=1` a missing GPU is an error, and with
/// `STREAMFLOW_REQUIRE_NVRTC=1` a missing NVRTC.
///
/// ```
/// use streamflow::prelude::*;
/// use streamflow::testing::{Tolerance, compare_bodies};
///
/// /// out[i] = exp(scale * x[i])
/// #[kernel(requires(out.len() == x.len()), unsafe cuda = "
///     unsigned long long i = thread_index();
///     if (i < out_len) out[i] = expf(scale * x[i]);
/// ")]
/// fn exp_scaled(out: &mut [f32], x: &[f32], scale: f32) {
///     out.iter_mut().zip(x).for_each(|(out, x)| *out = (scale * x).exp());
/// }
///
/// # fn main() -> Result<()> {
/// // In a `#[test]`. CUDA documents 1 ulp for `expf`, and Rust's `exp` is as exact.
/// let outcome = compare_bodies::<exp_scaled>(Tolerance::ulps(2), |draw| {
///     let n = draw.len(0..=5000);
///     let (out, x) = (vec![f32::NAN; n], draw.values(n, -10.0..=10.0));
///     (n.into(), (out, x, draw.value(-2.0..=2.0)))
/// })?;
/// println!("{outcome}"); // 64 cases on NVIDIA H200, or: skipped, with the reason
/// # Ok(())
/// # }
/// ```
///
/// # Errors
/// [`Error::Bodies`] for the first case where the bodies differ, or one of them fails; [`Error::Variable`]; the
/// driver's, if there is a GPU that can't be used.
pub fn compare_bodies<K: KernelValues>(
    tolerance: Tolerance,
    arguments: impl Fn(&mut Draw) -> (Grid, K::Values),
) -> Result<Outcome> {
    let (cuda, without) = match Platform::cuda() {
        Err(missing) => (None, Some(Outcome::without(missing, "STREAMFLOW_REQUIRE_CUDA")?)),
        Ok(cuda) => match CompiledCode::compiler_version() {
            Err(missing) => (None, Some(Outcome::without(missing, "STREAMFLOW_REQUIRE_NVRTC")?)),
            Ok(_) => (Some(cuda), None),
        },
    };
    let cases = compare::<K, K>(&Platform::host().build()?, cuda.as_ref(), tolerance, arguments)?;
    Ok(match (without, cuda) {
        (None, Some(cuda)) => {
            let device = &cuda.device_info(device(0))?.name;
            Outcome::Passed(format!("{cases} cases on {device}"))
        }
        (skipped, _) => skipped.unwrap_or_else(|| Outcome::Skipped(String::new())),
    })
}

/// Runs the kernel `R` on the platform `rust` and, if there is a platform `cuda`, the kernel `C` on that. Compares what both have
/// written, and returns the number of cases.
fn compare<R, C>(
    rust: &Platform,
    cuda: Option<&Platform>,
    tolerance: Tolerance,
    arguments: impl Fn(&mut Draw) -> (Grid, R::Values),
) -> Result<u64>
where
    R: KernelValues,
    C: KernelValues<Values = R::Values>,
{
    let (first, count) = match variables::seed()? {
        Some(seed) => (seed, 1),
        None => (0, variables::seeds()?.map_or(CASES, NonZero::get)),
    };
    for seed in first..first.saturating_add(count) {
        let (grid, values) = arguments(&mut Draw::new(seed));
        let failed = |problem| {
            let failure = BodyFailure {
                kernel: R::INFO.name,
                problem,
                seed,
                replay: format!("{}={seed}", variables::SEED),
                launch: format!("{grid} and {}", R::describe(&values)),
            };
            Err(Error::Bodies(Box::new(failure)))
        };
        let by_rust = match run::<R>(rust, grid, &values) {
            Ok(written) => written,
            Err(cause) => return failed(BodyProblem::Failed { body: KernelBody::Rust, cause }),
        };
        let Some(cuda) = cuda else { continue };
        let by_cuda = match run::<C>(cuda, grid, &values) {
            Ok(written) => written,
            Err(cause) => return failed(BodyProblem::Failed { body: KernelBody::Cuda, cause }),
        };
        if let Some(difference) = R::first_difference(&by_rust, &by_cuda, tolerance) {
            return failed(BodyProblem::Differ(difference));
        }
    }
    Ok(count)
}
