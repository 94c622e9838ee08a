//! Reductions within an expression: their results are those of `reduce_axis`, and are made before the expression.

use streamflow::kernel::reductions::{ArgMax, Max, Mean, Sum};
use streamflow::prelude::*;
use streamflow_tests::setup::{stream, uploaded};
use streamflow_tests::{Failed, check_equal, check_error};

fn noise(seed: u64, n: usize) -> Vec<f32> {
    let mixed = |i: usize| (i as u64 + seed).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 40;
    (0..n).map(|i| mixed(i) as f32 / 8e6 - 1.0).collect()
}

fn bits(s: &CudaStream, tensor: &Tensor<f32>) -> Result<Vec<u32>, Failed> {
    Ok(s.download_blocking::<f32>(tensor)?.into_iter().map(f32::to_bits).collect())
}

/// Rows without their means, by a long and by a short axis, with the bits of the two calls one after the other.
pub(super) fn equal(platform: &Platform) -> Result<(), Failed> {
    let s = stream(platform)?;
    for [rows, cols] in [[3, 5], [2, 40_000], [33, 70], [1, 1]] {
        let image = uploaded(platform, &noise(1, rows * cols), &s)?.reshape([rows, cols])?;
        let poisoned = |rows: usize, cols: usize| {
            uploaded(platform, &vec![f32::NAN; rows * cols], &s)?.reshape([rows, cols])
        };
        let (mut means, mut sums) = (poisoned(rows, 1)?, poisoned(1, cols)?);
        let (mut out, mut wanted) = (poisoned(rows, cols)?, poisoned(rows, cols)?);
        s.reduce_axis::<Mean<f32>>(&mut means, &image, 1)?;
        s.reduce_axis::<Sum<f32>>(&mut sums, &image, 0)?;
        s.evaluate(&mut wanted, expr!(image - means * sums))?;
        let of = expr!(image - image.mean(axis = 1, keepdims = true) * image.sum(axis = 0));
        s.evaluate(&mut out, of)?;
        check_equal(bits(&s, &out)?, bits(&s, &wanted)?)?;
        // Of all elements, of a view, and of a reduction's results.
        let turned = image.view().transpose();
        let (mut most, mut of_rows) = (poisoned(1, 1)?, poisoned(1, rows)?);
        s.reduce_axis::<Max<f32>>(&mut of_rows, turned, 0)?;
        s.reduce::<Mean<f32>>(&mut most, &of_rows)?;
        s.evaluate(&mut wanted, expr!(image / most))?;
        s.evaluate(&mut out, expr!(image / turned.max(axis = 0).mean()))?;
        check_equal(bits(&s, &out)?, bits(&s, &wanted)?)?;
    }
    Ok(())
}

#[kernel_fn]
fn square(x: f32) -> f32 {
    x * x
}

#[kernel(reduce(identity = 0.0, map = square))]
fn energy(a: f32, b: f32) -> f32 {
    a + b
}

/// An expression within the reduction has the shape to which its operands broadcast.
pub(super) fn expressions(platform: &Platform) -> Result<(), Failed> {
    let s = stream(platform)?;
    let (rows, cols, gain) = (6, 1000, 0.5_f32);
    let image = uploaded(platform, &noise(3, rows * cols), &s)?.reshape([rows, cols])?;
    let weights = uploaded(platform, &noise(4, cols), &s)?;
    let bytes = uploaded(platform, &[1_u8, 250, 7], &s)?;
    let mut weighted =
        uploaded(platform, &vec![f32::NAN; rows * cols], &s)?.reshape([rows, cols])?;
    s.evaluate(&mut weighted, expr!(image * weights + gain))?;
    let mut energies = uploaded(platform, &vec![f32::NAN; rows], &s)?;
    let mut places = uploaded(platform, &vec![u64::MAX; rows], &s)?;
    s.reduce_axis::<energy>(&mut energies, &weighted, 1)?;
    s.reduce_axis::<ArgMax<f32>>(&mut places, &weighted, 1)?;
    let (mut wanted, mut out) = (
        uploaded(platform, &vec![f32::NAN; rows], &s)?,
        uploaded(platform, &vec![f32::NAN; rows], &s)?,
    );
    s.evaluate(&mut wanted, expr!(energies * gain + places as f32 + 258.0))?;
    let axis = 1;
    let of = expr!(
        (image * weights + gain).reduce::<energy>(axis = axis) * gain
            + (image * weights + gain).arg_max(axis = axis) as f32
            + bytes.sum() as f32
    );
    s.evaluate(&mut out, of)?;
    check_equal(bits(&s, &out)?, bits(&s, &wanted)?)?;
    // Without elements, a sum is 0, and the number of an element within a reduction is that of its own expression.
    let none = platform.tensor::<f32>([0, 6], &s)?;
    s.evaluate(
        &mut out,
        expr!(
            none.sum(axis = 0)
                + (bytes as u64 * iota() as u64).max() as f32
                + ((bytes > 5) as u32).sum() as f32
        ),
    )?;
    check_equal(s.download_blocking::<f32>(&out)?, vec![252.0; rows])
}

/// A variable of the expression may have the name of a reduction, of an option, or of a field.
pub(super) fn names(platform: &Platform) -> Result<(), Failed> {
    struct Part {
        gain: Tensor<f32>,
    }
    let s = stream(platform)?;
    let part = Part { gain: uploaded(platform, &[1.0_f32, 2.0, 3.0], &s)? };
    let image = uploaded(platform, &[4.0_f32, 8.0, 6.0], &s)?;
    let mut out = uploaded(platform, &[f32::NAN; 3], &s)?;
    s.evaluate(
        &mut out,
        expr!({
            let max = image + 1.0;
            let axis = max / image.max();
            let gain = axis * 8.0;
            gain + image.min(axis = 0) + part.gain.sum()
        }),
    )?;
    check_equal(s.download_blocking::<f32>(&out)?, vec![15.0, 19.0, 17.0])
}

/// The reduction comes after the work on its operand, and its memory is not used again before the expression has read it.
pub(super) fn ordered(platform: &Platform) -> Result<(), Failed> {
    let pool = platform.stream_pool("POOL", &CudaStreamPool::new().max_size(2))?;
    let (first, second) = (pool.allocate("first")?, pool.allocate("second")?);
    let n = 20_000;
    let mut a = uploaded(platform, &vec![0.0_f32; n], &first)?;
    let mut out = uploaded(platform, &vec![f32::NAN; n], &second)?;
    let mut other = uploaded(platform, &vec![f32::NAN; n], &first)?;
    for round in 0..20 {
        let value = round as f32;
        first.evaluate(&mut a, expr!(value + 0.0))?;
        second.evaluate(&mut out, expr!(a + (a * 2.0).max()))?;
        first.evaluate(&mut other, expr!((a + 1.0).min()))?;
    }
    check_equal(second.download_blocking::<f32>(&out)?, vec![57.0; n])?;
    check_equal(first.download_blocking::<f32>(&other)?, vec![20.0; n])
}

/// An error says which operand does not fit.
pub(super) fn refused(platform: &Platform) -> Result<(), Failed> {
    let s = stream(platform)?;
    let image = uploaded(platform, &noise(5, 6), &s)?.reshape([2, 3])?;
    let (pair, gain) = (uploaded(platform, &[1.0_f32, 2.0], &s)?, 2.0_f32);
    let mut out = uploaded(platform, &[0.0_f32; 6], &s)?.reshape([2, 3])?;
    let checked = |text: &str, done: Result<(), Error>| {
        check_error(text, done, |error| error.to_string().contains(text)).map(drop)
    };
    let done = s.evaluate(&mut out, expr!(image - image.mean(axis = 1)));
    checked("`image.mean(axis = 1)` is [2] and `out` is [2, 3]", done)?;
    let done = s.evaluate(&mut out, expr!((image * pair).sum(axis = 0)));
    checked("`pair` is [2] and `image * pair` is [2, 3]", done)?;
    let done = s.evaluate(&mut out, expr!((gain * 2.0).sum()));
    checked("`gain * 2.0`: a reduction is of the elements of tensors", done)?;
    let done = s.evaluate(&mut out, expr!(image.max(axis = 2)));
    checked("`Max`: `image` is [2, 3] and has no axis 2", done)
}
