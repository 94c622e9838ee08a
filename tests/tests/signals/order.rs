//! `Transpose` and `Gather`, which copy elements.

use streamflow::memory::Complex;
use streamflow::prelude::*;
use streamflow::testing::OperatorHarness;
use streamflow_math::operators::{Gather, Transpose};
use streamflow_math::signal::Index;
use streamflow_tests::{Failed, check_equal, check_error, check_text};

use super::cases::{self, Parts, near, push, tick, ticked};

pub(crate) fn transposed(platform: &Platform) -> Result<(), Failed> {
    for (number, case) in cases::all()?.transpose.iter().enumerate() {
        if case.complex {
            transposed_of::<Complex<f32>>(platform, case, number)?;
        } else {
            transposed_of::<f32>(platform, case, number)?;
        }
    }
    let none: [f32; 0] = [];
    let turn = Transpose::<f32>::new([2, 0, 1])?;
    let found = ticked!(platform, turn, tensor -> transposed, &none, [3, 0, 2]);
    check_equal(found, (vec![2, 3, 0], vec![]))
}

fn transposed_of<T: Parts>(
    platform: &Platform,
    case: &cases::Transpose,
    number: usize,
) -> Result<(), Failed> {
    let operator = Transpose::<T>::new(&case.axes)?;
    let found = ticked!(platform, operator, tensor -> transposed, &T::of(&case.x), &*case.shape);
    near(&format!("case {number}"), &found, &case.new_shape, &case.y, 0.0)
}

/// Takes elements by one message to each port.
macro_rules! gathered {
    ($platform:expr, $operator:expr, $data:expr, $shape:expr, $indices:expr, $of_indices:expr) => {{
        let mut harness = OperatorHarness::new($platform, $operator)?;
        push!($platform, harness, data, $data, $shape);
        push!($platform, harness, indices, $indices, $of_indices);
        tick!($platform, harness, taken)
    }};
}

pub(crate) fn gathered(platform: &Platform) -> Result<(), Failed> {
    for (number, case) in cases::all()?.gather.iter().enumerate() {
        if case.complex {
            gathered_of::<Complex<f32>>(platform, case, number)?;
        } else {
            gathered_of::<f32>(platform, case, number)?;
        }
    }
    let none: [f32; 0] = [];
    let found = gathered!(platform, Gather::<f32, i32>::along(0), &none, [3, 0], &[1], [1]);
    check_equal(found, (vec![1, 0], vec![]))?;
    let no_index: [i32; 0] = [];
    let found = gathered!(platform, Gather::<f32, i32>::along(1), &none, [3, 0], &no_index, [0, 2]);
    check_equal(found, (vec![3, 0, 2], vec![]))
}

fn gathered_of<T: Parts>(
    platform: &Platform,
    case: &cases::Gather,
    number: usize,
) -> Result<(), Failed> {
    let operator = Gather::<T, i32>::along(case.axis);
    let operator = if case.clamps { operator.clamp() } else { operator };
    let (x, indices) = (T::of(&case.x), &case.indices);
    let found = gathered!(platform, operator, &x, &*case.shape, indices, &*case.indices_shape);
    near(&format!("case {number}"), &found, &case.new_shape, &case.y, 0.0)
}

/// Elements of other types than `f32`, and indices of each size, with the largest ones clamped.
pub(crate) fn types(platform: &Platform) -> Result<(), Failed> {
    let found = ticked!(platform, Transpose::<u8>::new([1, 0])?, tensor -> transposed, &[1, 2, 3, 4, 5, 6], [3, 2]);
    check_equal(found, (vec![2, 3], vec![1, 3, 5, 2, 4, 6]))?;
    indexed::<i32>(platform, &[i32::MIN, 1, i32::MAX])?;
    indexed::<u32>(platform, &[0, 1, u32::MAX])?;
    indexed::<i64>(platform, &[i64::MIN, 1, (1 << 32) + 1])?;
    indexed::<u64>(platform, &[0, 1, u64::MAX])
}

fn indexed<I: Index>(platform: &Platform, indices: &[I]) -> Result<(), Failed> {
    let operator = Gather::<i64, I>::along(0).clamp();
    let data = [10_i64, 20, 30, 40];
    let (_, found) = gathered!(platform, operator, &data, [4], indices, [3]);
    check_equal(found, vec![10, 20, 40])
}

pub(crate) fn beyond(platform: &Platform) -> Result<(), Failed> {
    let last = u64::from(u32::MAX);
    for index in [4, last, last + 1, last + 2, 1 << 40, u64::MAX] {
        beyond_of(platform, index, index)?;
    }
    for index in [-5_i64, i64::MIN, -(1 << 32)] {
        beyond_of(platform, index, (index as u64).wrapping_add(4))?;
    }
    Ok(())
}

/// Checks the report of an index, and that the operator goes on after it with an axis of another length.
fn beyond_of<I: Index + From<u8>>(
    platform: &Platform,
    index: I,
    reported: u64,
) -> Result<(), Failed> {
    let mut harness = OperatorHarness::new(platform, Gather::<f32, I>::along(0))?;
    push!(platform, harness, data, &[1.0, 2.0, 3.0, 4.0], [4]);
    push!(platform, harness, indices, &[I::from(2), index, I::from(1)], [3]);
    check_equal(harness.tick()?, true)?;
    let taken = harness.take(|ports| &mut ports.taken);
    let taken = taken.ok_or_else(|| Failed::msg("nothing was emitted"))?.message;
    // The download waits for the kernels. It or the next call has the error.
    let waited = harness.stream().download_blocking(&*taken).map(drop);
    let later = waited.and_then(|()| harness.stream().synchronize_blocking());
    let text = check_error("an index", later, |error| {
        matches!(error, Error::IndexOutOfRange { length: 4, .. })
    })?;
    let used = format!("used index {reported} of `axis`, which has 4 elements");
    check_text(&text, &["kernel `gather_", &used])?;
    check_equal(harness.stream().download_blocking(&*taken)?, vec![3.0, 0.0, 2.0])?;
    push!(platform, harness, data, &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0], [6]);
    push!(platform, harness, indices, &[I::from(5)], [1]);
    check_equal(tick!(platform, harness, taken), (vec![1], vec![6.0]))?;
    Ok(harness.stop()?)
}
