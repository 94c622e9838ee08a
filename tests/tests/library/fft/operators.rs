//! The operator `Fft` that comes with the library.

use streamflow::memory::Complex;
use streamflow::prelude::*;
use streamflow::testing::OperatorHarness;
use streamflow_math::fft::{self, Norm};
use streamflow_math::operators::Fft;
use streamflow_tests::{Failed, Suite, check, check_equal, check_error, check_text};

use super::dft::{complex_numbers, dft};

pub(super) fn add(suite: Suite) -> Suite {
    suite
        .both("the_operator_fft_transforms_each_message", transforms)
        .both("the_operator_fft_refuses_messages_of_another_length", refuses)
}

fn transforms(platform: &Platform) -> Result<(), Failed> {
    for is_inverse in [false, true] {
        let planner = fft::Fft::<f64>::plan([5]).batch(3).norm(Norm::Unitary);
        let fft = if is_inverse { Fft::inverse(planner) } else { Fft::forward(planner) };
        let mut harness = OperatorHarness::new(platform, fft)?;
        for tick in 0..3 {
            let x = complex_numbers(15, tick);
            harness.push(|ports| &mut ports.signal, platform.upload(&x)?.reshape([3, 5])?)?;
            harness.tick()?;
            let y =
                harness.take(|ports| &mut ports.spectrum).ok_or(Failed::msg("no message"))?.message;
            check_equal(y.shape(), &[3, 5][..])?;
            let found = platform.download(&y, harness.stream())?.wait_blocking()?.to_vec();
            let wanted = x.chunks(5).flat_map(|row| dft(row, &[5], is_inverse));
            let off: f64 =
                found.iter().zip(wanted).map(|(a, b)| (a - b / 5.0_f64.sqrt()).norm()).sum();
            check(off < 1e-13, || format!("tick {tick}: off by {off}"))?;
        }
        harness.stop()?;
    }
    Ok(())
}

fn refuses(platform: &Platform) -> Result<(), Failed> {
    let mut harness = OperatorHarness::new(platform, Fft::forward(fft::Fft::<f32>::plan(8)))?;
    harness.push(|ports| &mut ports.signal, platform.upload(&[Complex::new(0.0, 0.0); 9])?)?;
    let text = check_error("9 numbers", harness.tick(), |_| true)?;
    check_text(&text, &["operator `Fft` failed", "`x` has 9 elements, but the plan needs 8"])?;
    check(harness.take(|ports| &mut ports.spectrum).is_none(), || "a message was emitted".into())
}
