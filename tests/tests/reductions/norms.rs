//! The norms of the library, compared with sums in `f64`.

use streamflow::kernel::reductions::{Norm1, Norm2, NormInf};
use streamflow::prelude::*;
use streamflow_tests::setup::{stream, uploaded};
use streamflow_tests::{Failed, check, check_close, check_equal};

use super::{lines, noise};

/// Returns the three norms of a line.
fn wanted(line: &[f32]) -> [f64; 3] {
    let magnitudes = || line.iter().map(|x| f64::from(x.abs()));
    let squares: f64 = magnitudes().map(|x| x * x).sum();
    [magnitudes().sum(), squares.sqrt(), magnitudes().fold(0.0, f64::max)]
}

pub(super) fn each_norm(platform: &Platform) -> Result<(), Failed> {
    let s = stream(platform)?;
    for (rows, cols) in [(1, 1), (3, 17), (40, 90), (2, 20_000), (3000, 3)] {
        let values: Vec<f32> = noise(rows * cols).iter().map(|x| x - 0.5).collect();
        let a = uploaded(platform, &values, &s)?.reshape([rows, cols])?;
        for axis in [0, 1] {
            let wanted: Vec<[f64; 3]> =
                lines(&values, &[rows, cols], axis).iter().map(|line| wanted(line)).collect();
            let mut out = platform.tensor([wanted.len()], &s)?;
            let of = |norm: usize| wanted.iter().map(|all| all[norm]).collect::<Vec<_>>();
            s.reduce_axis::<Norm1<f32>>(&mut out, &a, axis)?;
            check_close(&s.download_blocking::<f32>(&out)?, &of(0), |x| 1e-5 * x.abs())?;
            s.reduce_axis::<Norm2<f32>>(&mut out, &a, axis)?;
            check_close(&s.download_blocking::<f32>(&out)?, &of(1), |x| 1e-5 * x.abs())?;
            s.reduce_axis::<NormInf<f32>>(&mut out, &a, axis)?;
            let found = s.download_blocking::<f32>(&out)?;
            check_equal(found.into_iter().map(f64::from).collect(), of(2))?;
        }
    }
    Ok(())
}

pub(super) fn ends(platform: &Platform) -> Result<(), Failed> {
    let s = stream(platform)?;
    let norms = |values: &[f64]| -> Result<[f64; 3], Failed> {
        let a = uploaded(platform, values, &s)?;
        let mut found = [0.0; 3];
        let mut out = uploaded(platform, &[-1.0], &s)?;
        s.reduce::<Norm1<f64>>(&mut out, &a)?;
        found[0] = s.download_blocking::<f64>(&out)?[0];
        s.reduce::<Norm2<f64>>(&mut out, &a)?;
        found[1] = s.download_blocking::<f64>(&out)?[0];
        s.reduce::<NormInf<f64>>(&mut out, &a)?;
        found[2] = s.download_blocking::<f64>(&out)?[0];
        Ok(found)
    };
    check_equal(norms(&[])?, [0.0; 3])?;
    check_equal(norms(&[3.0, -4.0])?, [7.0, 5.0, 4.0])?;
    check_equal(norms(&[1.0, f64::NEG_INFINITY])?, [f64::INFINITY; 3])?;
    check_equal(norms(&[1e200, -1e200])?, [2e200, f64::INFINITY, 1e200])?;
    let found = norms(&[1.0, f64::NAN, f64::INFINITY])?;
    check(found.iter().all(|norm| norm.is_nan()), || format!("{found:?}"))
}
