//! The operators `Normalize` and `Reduce` that come with the library.

use streamflow::operators::{Normalize, Reduce};
use streamflow::prelude::*;
use streamflow::testing::OperatorHarness;
use streamflow_math::operators::Matmul;
use streamflow_tests::setup::stream;
use streamflow_tests::{Failed, Suite, check_close, check_equal};

pub(super) fn add(suite: Suite) -> Suite {
    suite
        .both("the_operator_matmul_multiplies_its_messages", multiplied)
        .both("the_operator_reduce_adds_rows", reduced)
        .both("the_operator_normalize_shifts_and_scales", normalized)
}

fn uploaded(platform: &Platform, values: &[f32], shape: &[usize]) -> Result<Tensor<f32>> {
    Ok(platform.upload(values)?.reshape(shape)?)
}

fn multiplied(platform: &Platform) -> Result<(), Failed> {
    let mut harness = OperatorHarness::new(platform, Matmul::<f32>::new())?;
    for tick in 0..3 {
        let factor = tick as f32;
        let a = uploaded(platform, &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0], &[2, 3])?;
        let b = uploaded(platform, &[factor, factor, factor], &[3, 1])?;
        harness.push(|ports| &mut ports.a, a)?;
        harness.push(|ports| &mut ports.b, b)?;
        harness.tick()?;
        let c = harness.take(|ports| &mut ports.c).ok_or_else(|| Failed::msg("no message"))?;
        let reader = stream(platform)?;
        check_equal(reader.download_blocking(&c.message)?, vec![6.0 * factor, 15.0 * factor])?;
    }
    Ok(harness.stop()?)
}

fn reduced(platform: &Platform) -> Result<(), Failed> {
    for (reduce, wanted) in [(Reduce::sum(3), [6.0, 15.0]), (Reduce::mean(3), [2.0, 5.0])] {
        let mut harness = OperatorHarness::new(platform, reduce)?;
        let rows = uploaded(platform, &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0], &[2, 3])?;
        harness.push(|ports| &mut ports.rows, rows)?;
        harness.tick()?;
        let sums =
            harness.take(|ports| &mut ports.sums).ok_or_else(|| Failed::msg("no message"))?;
        let reader = stream(platform)?;
        check_close(&reader.download_blocking(&sums.message)?, &wanted, |_| 1e-5)?;
        harness.stop()?;
    }
    Ok(())
}

fn normalized(platform: &Platform) -> Result<(), Failed> {
    let mut harness = OperatorHarness::new(platform, Normalize::new(2.0, 4.0))?;
    harness.push(|ports| &mut ports.x, uploaded(platform, &[2.0, 6.0, -2.0], &[3])?)?;
    harness.tick()?;
    let x = harness.take(|ports| &mut ports.normalized).ok_or_else(|| Failed::msg("no message"))?;
    check_equal(stream(platform)?.download_blocking(&x.message)?, vec![0.0, 1.0, -1.0])?;
    Ok(harness.stop()?)
}
