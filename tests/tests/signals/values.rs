//! `Interpolate` and `InterpolateAt`. A value between two samples has a part of the way in `f32`: its error is that of the position,
//! 1e-7 of its size, times the slope, which is within 2e-6 of the largest sample here. The nearest sample is exact.

use streamflow::memory::Complex;
use streamflow::prelude::*;
use streamflow::testing::OperatorHarness;
use streamflow_math::operators::{Interpolate, InterpolateAt};
use streamflow_math::signal::Sample;
use streamflow_tests::{Failed, check, check_equal};

use super::cases::{self, Parts, near, push, tick, ticked};

pub(crate) fn between(platform: &Platform) -> Result<(), Failed> {
    for (number, case) in cases::all()?.interpolate.iter().enumerate() {
        if case.complex {
            between_of::<Complex<f32>>(platform, case, number)?;
        } else {
            between_of::<f32>(platform, case, number)?;
        }
    }
    Ok(())
}

fn between_of<T: Sample + Parts>(
    platform: &Platform,
    case: &cases::Interpolate,
    number: usize,
) -> Result<(), Failed> {
    let (x, positions) = (T::of(&case.x), f32::of(&case.positions));
    let part = if case.nearest { 1e-8 } else { 2e-6 };
    let (mut fixed, mut sent) = (Interpolate::<T>::new(positions.clone())?, InterpolateAt::new());
    if let Some(knots) = &case.knots {
        (fixed, sent) = (fixed.knots(f32::of(knots))?, sent.knots(f32::of(knots))?);
    }
    if case.nearest {
        (fixed, sent) = (fixed.nearest(), sent.nearest());
    }
    if let Some(fill) = case.fill {
        let value = T::of(&[fill, 0.0])[0];
        (fixed, sent) = (fixed.fill(value), sent.fill(value));
    }
    let found = ticked!(platform, fixed, signal -> values, &x, &*case.shape);
    near(&format!("case {number}"), &found, &case.new_shape, &case.y, part)?;

    let mut harness = OperatorHarness::new(platform, sent)?;
    push!(platform, harness, signal, &x, &*case.shape);
    push!(platform, harness, positions, &positions, [1, positions.len()]);
    let found = tick!(platform, harness, values);
    let (last, others) = case.new_shape.split_last().ok_or_else(|| Failed::msg("no shape"))?;
    let new_shape = [others, &[1, *last]].concat();
    near(&format!("case {number}, received"), &found, &new_shape, &case.y, part)?;
    Ok(harness.stop()?)
}

pub(crate) fn nans(platform: &Platform) -> Result<(), Failed> {
    let x = [1.0, f32::NAN, 4.0, 6.0];
    for (operator, at_end) in [
        (InterpolateAt::<f32>::new(), [1.0, 6.0]),
        (InterpolateAt::<f32>::new().fill(-3.0), [-3.0, -3.0]),
    ] {
        let mut harness = OperatorHarness::new(platform, operator)?;
        let (low, high) = (f32::NEG_INFINITY, f32::INFINITY);
        let positions = [0.0, 0.5, 1.0, 1.5, 2.0, 2.5, f32::NAN, low, high, 3.0];
        push!(platform, harness, signal, &x, [4]);
        push!(platform, harness, positions, &positions, [10]);
        let (_, found) = tick!(platform, harness, values);
        let is_nan: Vec<bool> = found.iter().map(|value| value.is_nan()).collect();
        let wanted = [false, true, true, true, false, false, true, false, false, false];
        check_equal(&*is_nan, &wanted[..])?;
        check_equal([found[0], found[4], found[5], found[9]], [1.0, 4.0, 5.0, 6.0])?;
        check_equal([found[7], found[8]], at_end)?;
    }
    // A single sample, no positions, and no signals.
    let found = ticked!(platform, Interpolate::<f32>::new([-1.0, 0.0, 2.0])?, signal -> values, &[7.0], [1]);
    check_equal(found, (vec![3], vec![7.0; 3]))?;
    let none: [f32; 0] = [];
    let (shape, _) =
        ticked!(platform, Interpolate::<f32>::new([1.0])?, signal -> values, &none, [0, 5]);
    check(shape == [0, 1], || format!("{shape:?}"))
}
