//! Operators of signals that a test gives one number.

use streamflow::memory::Complex;
use streamflow::prelude::*;
use streamflow::testing::OperatorHarness;
use streamflow_math::operators::{Gather, Istft};
use streamflow_tests::check;

use super::small;

/// Takes two of 4 × 16 elements along an axis.
pub(crate) fn gather(n: u64) -> Result<()> {
    let platform = small()?;
    let mut harness = OperatorHarness::new(&platform, Gather::<f32, i32>::along(n as usize))?;
    let rows = platform.upload(&[1.0; 64])?.reshape([4, 16])?;
    harness.push(|ports| &mut ports.data, rows)?;
    harness.push(|ports| &mut ports.indices, platform.upload(&[1, 0])?)?;
    check(harness.tick()?, || "the operator does not tick".into())
}

/// Makes a number of samples of five segments, which have eight.
pub(crate) fn samples(n: u64) -> Result<()> {
    let platform = small()?;
    let istft = Istft::<f32>::new([1.0; 4], 2)?.len(n as usize);
    let mut harness = OperatorHarness::new(&platform, istft)?;
    let spectra = platform.upload(&[Complex::new(1.0, 0.0); 15])?.reshape([5, 3])?;
    harness.push(|ports| &mut ports.spectra, spectra)?;
    check(harness.tick()?, || "the operator does not tick".into())
}
