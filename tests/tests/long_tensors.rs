//! Kernels with one body over more elements than 32 bits count, on a GPU: the elements at both ends and around the numbers 2³¹ and 2³².

use std::ops::Range;

use streamflow::kernel::Window;
use streamflow::kernel::reductions::Sum;
use streamflow::prelude::*;
use streamflow_tests::setup::stream;
use streamflow_tests::{Failed, Suite, check_equal};

/// The elements of each tensor.
const LENGTH: usize = (1 << 32) + 4099;

pub(crate) fn suite() -> Suite {
    Suite::new()
        .cuda("a_map_and_a_stencil_have_more_than_2_to_the_32_elements", maps)
        .cuda("a_transposed_view_has_more_than_2_to_the_32_elements", transposed)
        .cuda("a_sum_and_running_sums_have_more_than_2_to_the_32_elements", sums)
}

#[kernel(map)]
fn number(out: &mut u8, #[at] i: usize) {
    *out = (i % 251) as u8;
}

#[kernel(map)]
fn same(out: &mut u8, a: &u8) {
    *out = *a;
}

#[kernel(stencil(reach = [1], border = zero))]
fn neighbours(out: &mut u8, a: Window<u8>) {
    *out = a.at(-1) + a.at(1);
}

/// The lowest eight bits of the sum.
#[kernel(scan(identity = 0))]
fn wrapping(a: u8, b: u8) -> u8 {
    a + b
}

/// The places that are looked at, of `length` elements.
fn places(length: usize) -> [Range<usize>; 4] {
    let around = |number: usize| number - 1000..number + 1000;
    [0..1000, around(1 << 31), around(1 << 32), length - 1000..length]
}

fn numbered(platform: &Platform, s: &CudaStream) -> Result<Tensor<u8>, Failed> {
    let mut a = platform.tensor([LENGTH], s)?;
    s.map::<number>((&mut a,))?;
    Ok(a)
}

/// Checks that the elements at the places are those of `wanted`.
fn check_places(
    s: &CudaStream,
    found: &Tensor<u8>,
    wanted: impl Fn(usize) -> u8,
) -> Result<(), Failed> {
    for place in places(found.len()) {
        let none = || Failed::msg("a part within the tensor is an error");
        let part = found.view().slice(0, place.clone()).ok_or_else(none)?;
        let wanted: Vec<u8> = place.map(&wanted).collect();
        check_equal(s.download_blocking::<u8>(&part)?, wanted)?;
    }
    Ok(())
}

fn value(i: usize) -> u8 {
    (i % 251) as u8
}

fn maps(platform: &Platform) -> Result<(), Failed> {
    let s = stream(platform)?;
    let a = numbered(platform, &s)?;
    check_places(&s, &a, value)?;
    let mut out = platform.tensor([LENGTH], &s)?;
    s.map::<number>((&mut out,))?;
    s.map::<neighbours>((&mut out, &a))?;
    let at = |i: Option<usize>| i.filter(|i| *i < LENGTH).map_or(0, value);
    check_places(&s, &out, |i| at(i.checked_sub(1)).wrapping_add(at(Some(i + 1))))
}

/// Checks a square of more than 2³² elements, whose columns become rows.
fn transposed(platform: &Platform) -> Result<(), Failed> {
    let s = stream(platform)?;
    let (height, width) = (65_543, 65_551);
    let mut a = platform.tensor([height, width], &s)?;
    s.map::<number>((&mut a,))?;
    let mut turned = platform.tensor([width, height], &s)?;
    s.map::<same>((&mut turned, a.view().transpose()))?;
    let turned = turned.reshape([width * height])?;
    check_places(&s, &turned, |i| value(i % height * width + i / height))
}

/// The sum of the first elements.
fn sum_to(count: usize) -> u64 {
    let (whole, rest) = (count as u64 / 251, count as u64 % 251);
    whole * (251 * 250 / 2) + rest * rest.saturating_sub(1) / 2
}

fn sums(platform: &Platform) -> Result<(), Failed> {
    let s = stream(platform)?;
    let a = numbered(platform, &s)?;
    let mut sum = platform.tensor([1], &s)?;
    s.reduce::<Sum<u8>>(&mut sum, &a)?;
    check_equal(s.download_blocking::<u64>(&sum)?, vec![sum_to(LENGTH)])?;
    let mut running = platform.tensor([LENGTH], &s)?;
    s.scan::<wrapping>(&mut running, &a)?;
    check_places(&s, &running, |i| sum_to(i + 1) as u8)
}
