//! `Fir` and `Polyphase`. A result is a sum of at most 40 products in `f32`, so it is within 2e-6 of the largest one.

use std::ops::Mul;

use streamflow::memory::Complex;
use streamflow::prelude::*;
use streamflow::testing::OperatorHarness;
use streamflow_math::operators::{Fir, Polyphase};
use streamflow_math::signal::Sample;
use streamflow_tests::{Failed, check_equal};

use super::cases::{self, Parts, near, push, tick, ticked};

type C32 = Complex<f32>;

pub(crate) fn blocks(platform: &Platform) -> Result<(), Failed> {
    for (number, case) in cases::all()?.fir.iter().enumerate() {
        match (case.complex, case.complex_taps) {
            (false, _) => blocks_of::<f32, f32>(platform, case, number)?,
            (true, false) => blocks_of::<C32, f32>(platform, case, number)?,
            (true, true) => blocks_of::<C32, C32>(platform, case, number)?,
        }
    }
    Ok(())
}

fn blocks_of<T: Sample + Parts + Mul<W, Output = T>, W: Sample + Parts>(
    platform: &Platform,
    case: &cases::Fir,
    number: usize,
) -> Result<(), Failed> {
    let mut harness = OperatorHarness::new(platform, Fir::<T, W>::new(W::of(&case.taps))?)?;
    for (tick, block) in case.blocks.iter().enumerate() {
        push!(platform, harness, signal, &T::of(&block.x), &*block.shape);
        let found = tick!(platform, harness, filtered);
        near(&format!("case {number}, tick {tick}"), &found, &block.shape, &block.y, 2e-6)?;
    }
    Ok(harness.stop()?)
}

pub(crate) fn rates(platform: &Platform) -> Result<(), Failed> {
    for (number, case) in cases::all()?.polyphase.iter().enumerate() {
        match (case.complex, case.complex_taps) {
            (false, _) => rates_of::<f32, f32>(platform, case, number)?,
            (true, false) => rates_of::<C32, f32>(platform, case, number)?,
            (true, true) => rates_of::<C32, C32>(platform, case, number)?,
        }
    }
    Ok(())
}

fn rates_of<T: Sample + Parts + Mul<W, Output = T>, W: Sample + Parts>(
    platform: &Platform,
    case: &cases::Polyphase,
    number: usize,
) -> Result<(), Failed> {
    let operator = Polyphase::<T, W>::new(W::of(&case.taps), case.up, case.down)?;
    let found = ticked!(platform, operator, signal -> filtered, &T::of(&case.x), &*case.shape);
    near(&format!("case {number}"), &found, &case.new_shape, &case.y, 2e-6)
}

/// Without samples, and without signals.
pub(crate) fn empty(platform: &Platform) -> Result<(), Failed> {
    let none: [f32; 0] = [];
    for (shape, new_shape) in [([3, 0], [3, 0]), ([0, 5], [0, 11])] {
        let up = Polyphase::<f32>::new([1.0, 2.0, 4.0], 2, 1)?;
        let found = ticked!(platform, up, signal -> filtered, &none, shape);
        check_equal(found, (new_shape.to_vec(), vec![]))?;
        let fir = Fir::<f32>::new([1.0, 2.0, 4.0])?;
        let found = ticked!(platform, fir, signal -> filtered, &none, shape);
        check_equal(found, (shape.to_vec(), vec![]))?;
    }
    Ok(())
}
