//! The operator `Normalize` that comes with the library.

use streamflow::operators::Normalize;
use streamflow::prelude::*;
use streamflow::testing::OperatorHarness;
use streamflow_math::operators::Matmul;
use streamflow_tests::setup::stream;
use streamflow_tests::{Failed, Suite, check_equal};

pub(super) fn add(suite: Suite) -> Suite {
    suite
        .both("the_operator_matmul_multiplies_its_messages", multiplied)
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

fn normalized(platform: &Platform) -> Result<(), Failed> {
    let mut harness = OperatorHarness::new(platform, Normalize::new(2.0, 4.0))?;
    harness.push(|ports| &mut ports.x, uploaded(platform, &[2.0, 6.0, -2.0], &[3])?)?;
    harness.tick()?;
    let x = harness.take(|ports| &mut ports.normalized).ok_or_else(|| Failed::msg("no message"))?;
    check_equal(stream(platform)?.download_blocking(&x.message)?, vec![0.0, 1.0, -1.0])?;
    Ok(harness.stop()?)
}
