//! Compares a batch of transforms with the definition.

use streamflow::memory::{Complex, DeviceSlice};
use streamflow::prelude::*;
use streamflow_math::fft::Norm;
use streamflow_tests::{Failed, check, check_equal};

use super::dft::{C64, Tested, dft};

/// Returns how far a result may be from the definition, for numbers up to 1.
pub(super) fn tolerance<T: Tested>(count: usize) -> f64 {
    let count = count as f64;
    8.0 * T::EPSILON * (1.0 + count.log2()) * count.sqrt()
}

/// Fails unless all numbers are close to those of the reference.
pub(super) fn close<T: Tested>(
    what: &str,
    found: &[Complex<T>],
    wanted: &[C64],
    tolerance: f64,
) -> Result<(), Failed> {
    check_equal(found.len(), wanted.len())?;
    for (i, (found, wanted)) in found.iter().zip(wanted).enumerate() {
        let off = (C64::new(found.re.into(), found.im.into()) - wanted).norm();
        check(off <= tolerance, || {
            format!(
                "{what}: number {i} is {found:?}, not {wanted:?}: off by {off:e} > {tolerance:e}"
            )
        })?;
    }
    Ok(())
}

pub(super) fn device<T: Tested>(cx: &ExecutionContext, values: &[C64]) -> Result<Tensor<Complex<T>>>
where
    Complex<T>: Element,
{
    let values: Vec<_> = values.iter().map(|&value| T::complex(value)).collect();
    Ok(cx.upload(&values)?)
}

pub(super) fn host<T: Element>(
    cx: &ExecutionContext,
    s: &Stream<'_>,
    data: &DeviceSlice<T>,
) -> Result<Vec<T>> {
    Ok(cx.platform().download(data, s)?.wait_blocking()?.to_vec())
}

/// Returns the transforms of a dense batch, by the definition.
pub(super) fn reference(x: &[C64], lengths: &[usize], is_inverse: bool, factor: f64) -> Vec<C64> {
    let count = lengths.iter().product();
    let each = x.chunks(count).flat_map(|x| dft(x, lengths, is_inverse));
    each.map(|y| y * factor).collect()
}

pub(super) fn factor(norm: Norm, count: usize, is_inverse: bool) -> f64 {
    match norm {
        Norm::ByLength if is_inverse => 1.0 / count as f64,
        Norm::Unitary => 1.0 / (count as f64).sqrt(),
        Norm::None | Norm::ByLength => 1.0,
    }
}
