//! Reductions: `#[kernel(reduce(…))]` and the library's own, over all elements and along an axis. Sums of floats are equal bit by
//! bit to those of `model.rs`, which has the tree in plain Rust.
//!
//! `compiled.rs` has the same kernels' CUDA text as C++ for the host, with the threads of a block in turns.

pub(crate) mod compiled;
mod model;
mod norms;

use streamflow::__private::compare_launches;
use streamflow::kernel::reductions::{ArgMax, ArgMin, Max, Mean, Min, Sum};
use streamflow::memory::TensorView;
use streamflow::prelude::*;
use streamflow_tests::setup::{stream, uploaded};
use streamflow_tests::{Failed, Suite, check, check_equal, check_error};

use self::model::Model;

/// The variable that makes a missing compiler of C++ a failure.
const REQUIRE: &str = "STREAMFLOW_REQUIRE_CXX";

pub(crate) fn suite() -> Suite {
    Suite::new()
        .values(|suite| {
            suite
                .both("a_sum_of_each_length_is_that_of_the_tree", each_length)
                .both("a_sum_at_each_limit_is_that_of_the_tree", limits)
                .both("another_tree_gives_other_sums", another_tree)
                .both("each_axis_is_reduced", each_axis)
                .both("long_columns_are_split", columns)
                .both("views_of_any_strides_are_reduced", strides)
                .both("a_reduction_maps_elements_first", mapped)
                .both("sums_and_means_have_types_of_their_own", types)
                .both("the_library_reduces_each_type_of_integers", integers)
                .both("extremes_and_their_places_are_the_first", extremes)
                .both("a_nan_is_the_extreme", nans)
                .both("norms_are_near_those_in_f64", norms::each_norm)
                .both("norms_have_values_at_their_ends", norms::ends)
        })
        .both("without_elements_the_result_is_the_identity", empty)
        .both("a_division_by_0_in_a_reduction_is_reported", divisions)
        .both("shapes_that_do_not_fit_a_reduction_are_named", refused)
        .both("a_reduction_waits_for_the_work_on_its_arguments", ordered)
        .both("a_reduction_is_repeated_with_random_values", repeated)
        .optional("the_text_in_cuda_has_the_same_tree", REQUIRE, compiled::all)
        .optional("each_mistake_in_the_text_of_the_tree_is_noticed", REQUIRE, compiled::mistakes)
}

#[kernel(reduce(identity = 0.0))]
fn sum(a: f32, b: f32) -> f32 {
    a + b
}

#[kernel(map)]
fn same(out: &mut f32, a: &f32) {
    *out = *a;
}

const SUM: Model<f32> = Model { identity: 0.0, combine: sum };

/// Numbers whose sums round in almost each step.
fn noise(n: usize) -> Vec<f32> {
    let mixed = |i: usize| (i as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 40;
    (0..n).map(|i| mixed(i) as f32 / 8e6 - 1.0).collect()
}

fn all(on: &CudaStream, out: &mut Tensor<f32>, view: TensorView<'_, f32>) -> Result<f32, Failed> {
    on.upload_blocking(&[f32::NAN], out)?;
    on.reduce::<sum>(&mut *out, view)?;
    Ok(on.download_blocking::<f32>(out)?[0])
}

fn part<'a, T>(
    view: TensorView<'a, T>,
    dim: usize,
    range: std::ops::Range<usize>,
) -> Result<TensorView<'a, T>, Failed> {
    view.slice(dim, range).ok_or_else(|| Failed::msg("a part within the tensor is an error"))
}

fn check_sums(what: &str, n: usize, found: f32, wanted: f32) -> Result<(), Failed> {
    check(found.to_bits() == wanted.to_bits(), || {
        format!("{what} of {n}: {found:?}, not {wanted:?}")
    })
}

/// From addresses that are aligned to a word of four elements, and from others.
fn each_length(platform: &Platform) -> Result<(), Failed> {
    let s = stream(platform)?;
    let values = noise(610);
    let a = uploaded(platform, &values, &s)?;
    let mut out = uploaded(platform, &[f32::NAN], &s)?;
    for n in 0..=600 {
        for first in [0, n % 5 + 1] {
            let found = all(&s, &mut out, part(a.view(), 0, first..first + n)?)?;
            check_sums("the sum", n, found, SUM.all(&values[first..first + n]))?;
        }
    }
    Ok(())
}

/// Lengths for code that is slow.
fn some_lengths(platform: &Platform) -> Result<(), Failed> {
    let short = [0, 1, 3, 5, 15, 16, 17, 63, 64, 70, 500, 1023, 1024, 1025, 1030];
    lengths(platform, &[&short[..], &[4095, 4096, 5001, 16_384, 16_385, 50_001]].concat())
}

/// Lengths that show mistakes.
fn few_lengths(platform: &Platform) -> Result<(), Failed> {
    lengths(platform, &[5, 17, 70, 500, 2001])
}

fn lengths(platform: &Platform, lengths: &[usize]) -> Result<(), Failed> {
    let s = stream(platform)?;
    let values = noise(50_010);
    let a = uploaded(platform, &values, &s)?;
    let mut out = uploaded(platform, &[f32::NAN], &s)?;
    for &n in lengths {
        for first in [0, 3] {
            let found = all(&s, &mut out, part(a.view(), 0, first..first + n)?)?;
            check_sums("the sum", n, found, SUM.all(&values[first..first + n]))?;
        }
    }
    Ok(())
}

/// Around each power of two, and where the number of lanes, of parts, and of tiles in a part changes.
fn limits(platform: &Platform) -> Result<(), Failed> {
    let s = stream(platform)?;
    let most = (1 << 21) + 1;
    let values = noise(most);
    let a = uploaded(platform, &values, &s)?;
    let mut out = uploaded(platform, &[f32::NAN], &s)?;
    let powers = (9..=17).flat_map(|power| [(1 << power) - 1, 1 << power, (1 << power) + 1]);
    // The part has one tile more from a length on.
    let others = [12_289, 20_481, 1 << 20, (1 << 20) + 1, most - 1];
    for n in powers.chain(others) {
        let first = n % 2;
        let found = all(&s, &mut out, part(a.view(), 0, first..first + n)?)?;
        check_sums("the sum", n, found, SUM.all(&values[first..first + n]))?;
    }
    Ok(())
}

/// The control of the tests above: trees with another order have sums with other bits, for some of the lengths.
fn another_tree(platform: &Platform) -> Result<(), Failed> {
    let s = stream(platform)?;
    let mut out = uploaded(platform, &[f32::NAN], &s)?;
    let mut differences = [0; 3];
    for n in [40, 100, 300, 999, 2000, 5000, 9999, 50_000] {
        let values = noise(n);
        let found = all(&s, &mut out, uploaded(platform, &values, &s)?.view())?;
        let in_order = values.iter().fold(0.0, |sum, value| sum + value);
        let mut swapped = values.clone();
        // The accumulators of each lane in another order, and the lanes in another order.
        swapped.chunks_exact_mut(4).for_each(|four| four.swap(1, 2));
        let mut turned = values.clone();
        turned.rotate_left(4);
        let others = [in_order, SUM.all(&swapped), SUM.all(&turned)];
        for (count, other) in differences.iter_mut().zip(others) {
            *count += i32::from(found.to_bits() != other.to_bits());
            check((found - other).abs() < 0.5, || format!("{n}: {found} and {other}"))?;
        }
    }
    check(differences.iter().all(|count| *count > 0), || format!("differences: {differences:?}"))
}

/// The elements of each result along an axis.
fn lines<T: Copy>(values: &[T], shape: &[usize], axis: usize) -> Vec<Vec<T>> {
    let inner: usize = shape[axis + 1..].iter().product();
    let outer: usize = shape[..axis].iter().product();
    let line = |result: usize| {
        let first = result / inner * shape[axis] * inner + result % inner;
        (0..shape[axis]).map(|i| values[first + i * inner]).collect()
    };
    (0..outer * inner).map(line).collect()
}

fn each_axis(platform: &Platform) -> Result<(), Failed> {
    let s = stream(platform)?;
    let shapes: [&[usize]; 14] = [
        &[700],
        &[1],
        &[40, 3],
        &[3, 40],
        &[5, 1200],
        &[1200, 5],
        &[1, 30],
        &[30, 1],
        &[7, 6, 5],
        &[2, 500, 3],
        &[3, 2, 600],
        &[2, 3, 4, 70],
        &[70, 4, 3, 2],
        &[2, 1, 20_000, 1],
    ];
    for shape in shapes {
        let values = noise(shape.iter().product());
        let a = uploaded(platform, &values, &s)?.reshape(shape)?;
        for axis in 0..shape.len() {
            let inner: usize = shape[axis + 1..].iter().product();
            let all = lines(&values, shape, axis);
            let results = all.len();
            // The outermost dimensions may have the stride of the axis, if that is 1 long.
            let is_row = inner == 1 || shape[axis] == 1;
            let wanted: Vec<f32> = all
                .iter()
                .map(|line| if is_row { SUM.all(line) } else { SUM.column(line, results) })
                .collect();
            let (mut kept, mut short) = (shape.to_vec(), shape.to_vec());
            kept[axis] = 1;
            short.remove(axis);
            for to in [kept, short] {
                let mut out = uploaded(platform, &vec![f32::NAN; results], &s)?.reshape(&*to)?;
                s.reduce_axis::<sum>(&mut out, &a, axis)?;
                let found = s.download_blocking::<f32>(&out)?;
                for (found, wanted) in found.iter().zip(&wanted) {
                    let what = format!("axis {axis} of {shape:?}");
                    check_sums(&what, shape[axis], *found, *wanted)?;
                }
            }
        }
    }
    Ok(())
}

/// Few columns with many elements.
fn columns(platform: &Platform) -> Result<(), Failed> {
    some_columns(platform, &[[33, 2], [20_000, 3], [900, 100], [20, 2000]])
}

fn few_columns(platform: &Platform) -> Result<(), Failed> {
    some_columns(platform, &[[70, 3]])
}

fn some_columns(platform: &Platform, shapes: &[[usize; 2]]) -> Result<(), Failed> {
    let s = stream(platform)?;
    for &[rows, cols] in shapes {
        let values = noise(rows * cols);
        let a = uploaded(platform, &values, &s)?.reshape([rows, cols])?;
        let mut out = uploaded(platform, &vec![f32::NAN; cols], &s)?;
        s.reduce_axis::<sum>(&mut out, &a, 0)?;
        let found = s.download_blocking::<f32>(&out)?;
        for (found, line) in found.iter().zip(lines(&values, &[rows, cols], 0)) {
            check_sums("a column", rows, *found, SUM.column(&line, cols))?;
        }
        // A transposed view has its columns as rows, which have the same strides.
        let mut turned = uploaded(platform, &vec![f32::NAN; cols], &s)?;
        s.reduce_axis::<sum>(&mut turned, a.view().transpose(), 1)?;
        check_equal(s.download_blocking::<f32>(&turned)?, found)?;
    }
    Ok(())
}

/// Parts, and transposed and padded memory. Nothing beside the results is written.
fn strides(platform: &Platform) -> Result<(), Failed> {
    let s = stream(platform)?;
    let (height, width) = (90, 70);
    let values = noise(height * width);
    let a = uploaded(platform, &values, &s)?.reshape([height, width])?;
    let mut out = uploaded(platform, &[f32::NAN], &s)?;
    let turned: Vec<f32> =
        (0..width * height).map(|i| values[i % height * width + i / height]).collect();
    check_sums("turned", 0, all(&s, &mut out, a.view().transpose())?, SUM.all(&turned))?;
    let inside = || part(part(a.view(), 0, 5..77)?, 1, 3..68);
    let row = |y: usize| values[y * width + 3..y * width + 68].to_vec();
    let rows: Vec<Vec<f32>> = (5..77).map(row).collect();
    check_sums("a part", 0, all(&s, &mut out, inside()?)?, SUM.all(&rows.concat()))?;
    // To every second column of a larger tensor.
    let mut wide = uploaded(platform, &[-1.0; 72 * 2], &s)?.reshape([72, 2])?;
    let to = wide.view_mut().slice(1, 1..2).ok_or_else(|| Failed::msg("no column"))?;
    s.reduce_axis::<sum>(to, inside()?, 1)?;
    let found = s.download_blocking::<f32>(&wide)?;
    for (found, row) in found.chunks(2).zip(&rows) {
        check_equal(found[0], -1.0)?;
        check_sums("a row of a part", 65, found[1], SUM.all(row))?;
    }
    let mut sums = uploaded(platform, &[f32::NAN; 65], &s)?;
    s.reduce_axis::<sum>(&mut sums, inside()?, 0)?;
    for (x, found) in s.download_blocking::<f32>(&sums)?.iter().enumerate() {
        let column: Vec<f32> = rows.iter().map(|row| row[x]).collect();
        check_sums("a column of a part", 72, *found, SUM.column(&column, 65))?;
    }
    let mut padded = platform.pitched_tensor([height, width], &s)?;
    s.map::<same>((&mut padded, &a))?;
    check_sums("padded", 0, all(&s, &mut out, padded.view())?, SUM.all(&values))
}

#[kernel_fn]
fn square(x: u8) -> f64 {
    let x = x as f64;
    x * x + 0.1
}

#[kernel(reduce(identity = 0.0, map = square))]
fn squares(a: f64, b: f64) -> f64 {
    a + b
}

fn bytes(n: usize) -> Vec<u8> {
    noise(n).iter().map(|x| (x * 120.0 + 128.0) as u8).collect()
}

fn mapped(platform: &Platform) -> Result<(), Failed> {
    let s = stream(platform)?;
    let model = Model { identity: 0.0, combine: squares };
    for n in [5, 1000, 30_001] {
        let values = bytes(n + 1);
        let a = uploaded(platform, &values, &s)?;
        for first in [0, 1] {
            let mut out = uploaded(platform, &[f64::NAN], &s)?;
            s.reduce::<squares>(&mut out, part(a.view(), 0, first..first + n)?)?;
            let own: Vec<f64> = values[first..first + n].iter().map(|x| square(*x)).collect();
            check_equal(s.download_blocking::<f64>(&out)?, vec![model.all(&own)])?;
        }
    }
    Ok(())
}

fn types(platform: &Platform) -> Result<(), Failed> {
    let s = stream(platform)?;
    let n = 20_011;
    let small = bytes(n);
    let total: u64 = small.iter().map(|x| u64::from(*x)).sum();
    let a = uploaded(platform, &small, &s)?;
    let (mut count, mut mean) =
        (uploaded(platform, &[7], &s)?, uploaded(platform, &[f64::NAN], &s)?);
    s.reduce::<Sum<u8>>(&mut count, &a)?;
    s.reduce::<Mean<u8>>(&mut mean, &a)?;
    check_equal(s.download_blocking::<u64>(&count)?, vec![total])?;
    check_equal(s.download_blocking::<f64>(&mean)?, vec![total as f64 / n as f64])?;
    let large: Vec<i32> = noise(n).iter().map(|x| (*x * 2e9) as i32).collect();
    let total: i64 = large.iter().map(|x| i64::from(*x)).sum();
    let a = uploaded(platform, &large, &s)?;
    let mut sum = uploaded(platform, &[7], &s)?;
    s.reduce::<Sum<i32>>(&mut sum, &a)?;
    check_equal(s.download_blocking::<i64>(&sum)?, vec![total])?;
    let a = uploaded(platform, &[u32::MAX, u32::MAX, 5], &s)?;
    s.reduce::<Sum<u32>>(&mut count, &a)?;
    check_equal(s.download_blocking::<u64>(&count)?, vec![2 * u64::from(u32::MAX) + 5])?;
    let floats = noise(n);
    let (a, mut mean) = (uploaded(platform, &floats, &s)?, uploaded(platform, &[f32::NAN], &s)?);
    s.reduce::<Mean<f32>>(&mut mean, &a)?;
    check_equal(s.download_blocking::<f32>(&mean)?, vec![SUM.all(&floats) / n as f32])?;
    let doubles: Vec<f64> = floats.iter().map(|x| f64::from(*x) / 3.0).collect();
    let model = Model { identity: 0.0, combine: |a: f64, b: f64| a + b };
    let (a, mut out) = (uploaded(platform, &doubles, &s)?, uploaded(platform, &[f64::NAN], &s)?);
    s.reduce::<Sum<f64>>(&mut out, &a)?;
    check_equal(s.download_blocking::<f64>(&out)?, vec![model.all(&doubles)])
}

/// The library's reductions of one type of integers, whose ends are among the elements.
macro_rules! integers_of {
    ($ty:ident, $sum:ident, $platform:expr, $s:expr) => {{
        let n = 5000_usize;
        let mixed = |i: usize| (i as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 5;
        let mut values: Vec<$ty> = (0..n).map(|i| mixed(i) as $ty).collect();
        (values[700], values[1700]) = ($ty::MIN, $ty::MAX);
        let total = values.iter().fold(0, |sum: $sum, x| sum.wrapping_add(*x as $sum));
        let a = uploaded($platform, &values, $s)?;
        let (mut sum, mut mean) =
            (uploaded($platform, &[7 as $sum], $s)?, uploaded($platform, &[f64::NAN], $s)?);
        let (mut least, mut most) =
            (uploaded($platform, &[7 as $ty], $s)?, uploaded($platform, &[7 as $ty], $s)?);
        let mut place = uploaded($platform, &[u64::MAX], $s)?;
        $s.reduce::<Sum<$ty>>(&mut sum, &a)?;
        check_equal($s.download_blocking::<$sum>(&sum)?, vec![total])?;
        $s.reduce::<Mean<$ty>>(&mut mean, &a)?;
        let exact = values.iter().fold(0, |sum: i128, x| sum + i128::from(*x)) as f64 / n as f64;
        let found = $s.download_blocking::<f64>(&mean)?[0];
        check((found - exact).abs() <= exact.abs() * 1e-12, || format!("{found} and not {exact}"))?;
        $s.reduce::<Min<$ty>>(&mut least, &a)?;
        $s.reduce::<Max<$ty>>(&mut most, &a)?;
        check_equal($s.download_blocking::<$ty>(&least)?, vec![$ty::MIN])?;
        check_equal($s.download_blocking::<$ty>(&most)?, vec![$ty::MAX])?;
        let first =
            |end: $ty| values.iter().position(|x| *x == end).map_or(u64::MAX, |at| at as u64);
        $s.reduce::<ArgMin<$ty>>(&mut place, &a)?;
        check_equal($s.download_blocking::<u64>(&place)?, vec![first($ty::MIN)])?;
        $s.reduce::<ArgMax<$ty>>(&mut place, &a)?;
        check_equal($s.download_blocking::<u64>(&place)?, vec![first($ty::MAX)])?;
    }};
}

fn integers(platform: &Platform) -> Result<(), Failed> {
    let stream = stream(platform)?;
    let s = &stream;
    integers_of!(i8, i64, platform, s);
    integers_of!(i16, i64, platform, s);
    integers_of!(i64, i64, platform, s);
    integers_of!(u8, u64, platform, s);
    integers_of!(u16, u64, platform, s);
    integers_of!(u64, u64, platform, s);
    Ok(())
}

/// Equal elements are there several times, and the first counts.
fn extremes(platform: &Platform) -> Result<(), Failed> {
    let s = stream(platform)?;
    for (rows, cols) in [(1, 1), (4, 12), (50, 90), (2, 20_000), (3000, 3)] {
        let values: Vec<i32> = noise(rows * cols).iter().map(|x| (*x * 500.0) as i32).collect();
        let a = uploaded(platform, &values, &s)?.reshape([rows, cols])?;
        for axis in [0, 1] {
            let lines = lines(&values, &[rows, cols], axis);
            let n = lines.len();
            let (mut out, mut at) = (platform.tensor([n], &s)?, platform.tensor([n], &s)?);
            s.reduce_axis::<Max<i32>>(&mut out, &a, axis)?;
            s.reduce_axis::<ArgMax<i32>>(&mut at, &a, axis)?;
            let first = |line: &Vec<i32>, best: i32| line.iter().position(|x| *x == best);
            for (line, (best, place)) in lines.iter().zip(pairs(&s, &out, &at)?) {
                check_equal(Some(&best), line.iter().max())?;
                check_equal(Some(place as usize), first(line, best))?;
            }
            s.reduce_axis::<Min<i32>>(&mut out, &a, axis)?;
            s.reduce_axis::<ArgMin<i32>>(&mut at, &a, axis)?;
            for (line, (best, place)) in lines.iter().zip(pairs(&s, &out, &at)?) {
                check_equal(Some(&best), line.iter().min())?;
                check_equal(Some(place as usize), first(line, best))?;
            }
        }
    }
    Ok(())
}

fn pairs<T: Element>(
    s: &CudaStream,
    values: &Tensor<T>,
    places: &Tensor<u64>,
) -> Result<impl Iterator<Item = (T, u64)> + use<T>, Failed> {
    Ok(s.download_blocking(values)?.into_iter().zip(s.download_blocking(places)?))
}

fn nans(platform: &Platform) -> Result<(), Failed> {
    let s = stream(platform)?;
    for n in [3, 700, 40_000] {
        let mut values = noise(n);
        (values[n / 3], values[n / 3 + 1], values[0]) = (f32::NAN, f32::NAN, f32::INFINITY);
        let a = uploaded(platform, &values, &s)?;
        let (mut out, mut at) =
            (uploaded(platform, &[0.0], &s)?, uploaded(platform, &[7_u64], &s)?);
        s.reduce::<Max<f32>>(&mut out, &a)?;
        check(s.download_blocking::<f32>(&out)?[0].is_nan(), || format!("{n}: the maximum"))?;
        s.reduce::<Min<f32>>(&mut out, &a)?;
        check(s.download_blocking::<f32>(&out)?[0].is_nan(), || format!("{n}: the minimum"))?;
        s.reduce::<ArgMax<f32>>(&mut at, &a)?;
        check_equal(s.download_blocking::<u64>(&at)?, vec![(n / 3) as u64])?;
        s.reduce::<ArgMin<f32>>(&mut at, &a)?;
        check_equal(s.download_blocking::<u64>(&at)?, vec![(n / 3) as u64])?;
    }
    // 0 and -0 are equal, so the first of them is the place.
    let a = uploaded(platform, &[-1.0, 0.0, -0.0, 0.0_f32], &s)?;
    let mut at = uploaded(platform, &[7_u64], &s)?;
    s.reduce::<ArgMax<f32>>(&mut at, &a)?;
    check_equal(s.download_blocking::<u64>(&at)?, vec![1])
}

#[kernel(reduce(identity = i32::MAX))]
fn least(a: i32, b: i32) -> i32 {
    a.min(b)
}

fn empty(platform: &Platform) -> Result<(), Failed> {
    let s = stream(platform)?;
    let a = uploaded(platform, &[0_i32; 0], &s)?.reshape([3, 0])?;
    let mut out = uploaded(platform, &[-1; 3], &s)?;
    s.reduce_axis::<least>(&mut out, &a, 1)?;
    check_equal(s.download_blocking::<i32>(&out)?, vec![i32::MAX; 3])?;
    let mut one = uploaded(platform, &[-1], &s)?;
    s.reduce::<least>(&mut one, &a)?;
    check_equal(s.download_blocking::<i32>(&one)?, vec![i32::MAX])?;
    let mut at = uploaded(platform, &[0_u64], &s)?;
    s.reduce::<ArgMax<i32>>(&mut at, &a)?;
    check_equal(s.download_blocking::<u64>(&at)?, vec![u64::MAX])?;
    let mut mean = uploaded(platform, &[0.0_f64], &s)?;
    s.reduce::<Mean<i32>>(&mut mean, &a)?;
    check(s.download_blocking::<f64>(&mean)?[0].is_nan(), || "the mean of nothing".to_owned())?;
    // No results: nothing is launched.
    let mut none = uploaded(platform, &[0_i32; 0], &s)?;
    s.reduce_axis::<least>(&mut none, &a, 0)?;
    check_equal(s.download_blocking::<i32>(&none)?, Vec::new())
}

const DIVIDED: u32 = line!() + 2;
#[kernel(reduce(identity = 1))]
fn divided(a: i32, b: i32) -> i32 {
    a / b
}

fn divisions(platform: &Platform) -> Result<(), Failed> {
    let s = stream(platform)?;
    let mut out = uploaded(platform, &[7], &s)?;
    s.reduce::<divided>(&mut out, &uploaded(platform, &[1, -1, 1, 1, 1], &s)?)?;
    check_equal(s.download_blocking::<i32>(&out)?, vec![-1])?;
    s.reduce::<divided>(&mut out, &uploaded(platform, &[1, 0, 1], &s)?)?;
    check_error("a division by 0", s.synchronize_blocking(), |error| {
        let place = format!("kernel `divided` divided an integer by 0 at {}:{DIVIDED}", file!());
        error.to_string().starts_with(&place)
    })
    .map(drop)
}

fn refused(platform: &Platform) -> Result<(), Failed> {
    let s = stream(platform)?;
    let a = uploaded(platform, &[0.0_f32; 12], &s)?.reshape([3, 4])?;
    let mut out = uploaded(platform, &[0.0_f32; 4], &s)?;
    let text = |text: &'static str| move |error: &Error| error.to_string() == text;
    check_error(
        "two results",
        s.reduce::<sum>(&mut out, &a),
        text(
            "kernel `sum`: `out` is [4] and `input` is [3, 4]: the reduction of all elements is one, so `out` is [1]; \
             `reduce_axis` reduces along an axis",
        ),
    )?;
    check_error(
        "another length",
        s.reduce_axis::<sum>(&mut out, &a, 1),
        text(
            "kernel `sum`: `out` is [4] and `input` is [3, 4]: reduced along axis 1, `out` is [3]",
        ),
    )?;
    check_error(
        "no axis",
        s.reduce_axis::<sum>(&mut out, &a, 2),
        text("kernel `sum`: `input` is [3, 4] and has no axis 2: axes are counted from 0"),
    )?;
    let deep = uploaded(platform, &[0.0_f32; 8], &s)?.reshape([1, 2, 2, 2, 1])?;
    let mut one = uploaded(platform, &[0.0_f32], &s)?;
    check_error(
        "five dimensions",
        s.reduce::<sum>(&mut one, &deep),
        text("kernel `sum`: `input` has 5 dimensions, and a reduction at most 4"),
    )
    .map(drop)
}

fn ordered(platform: &Platform) -> Result<(), Failed> {
    let pool = platform.stream_pool("REDUCTIONS", &CudaStreamPool::new())?;
    let (one, other) = (pool.allocate("one")?, pool.allocate("other")?);
    let n = 100_000;
    let a = uploaded(platform, &vec![1.0_f32; n], &one)?;
    let b = uploaded(platform, &vec![2.0_f32; n], &one)?;
    let mut work = platform.tensor::<f32>([n], &one)?;
    let (mut first, mut second) = (platform.tensor([1], &other)?, platform.tensor([1], &one)?);
    for _ in 0..20 {
        one.copy(&a, &mut work)?;
        other.reduce::<sum>(&mut first, &work)?;
        one.copy(&b, &mut work)?;
        one.reduce::<sum>(&mut second, &work)?;
        check_equal(other.download_blocking::<f32>(&first)?, vec![n as f32])?;
        check_equal(one.download_blocking::<f32>(&second)?, vec![2.0 * n as f32])?;
    }
    Ok(())
}

#[kernel_fn]
fn square_of(x: f32) -> f32 {
    x * x
}

#[kernel(reduce(identity = 0.0, map = square_of))]
fn repeated_squares(a: f32, b: f32) -> f32 {
    a + b
}

fn repeated(platform: &Platform) -> Result<(), Failed> {
    repeated_by("repeated_squares", platform, |own, s, a| {
        let mut out = own.tensor::<f32>([1], s)?;
        Ok(s.reduce::<repeated_squares>(&mut out, a)?)
    })
}

/// Calls a function on a simulator, and repeats these calls there and on another platform, where they are equal bit by bit.
pub(crate) fn repeated_by(
    name: &str,
    other: &Platform,
    call: impl Fn(&Platform, &CudaStream, &Tensor<f32>) -> Result<(), Failed>,
) -> Result<(), Failed> {
    let own = Platform::host().build()?;
    let s = stream(&own)?;
    let lengths = [7, 300, 3000, 40_000];
    for n in lengths {
        call(&own, &s, &uploaded(&own, &noise(n), &s)?)?;
    }
    let text = compare_launches(name, || Ok(other.clone()))?;
    // Each length has a tree of its own, and four seeds. Without debug assertions no call is kept.
    let seeds = if std::env::var_os("STREAMFLOW_TEST_SEED").is_some() { 1 } else { 4 };
    let count = if cfg!(debug_assertions) { seeds * lengths.len() } else { 0 };
    check(text.starts_with(&format!("compared {count} launches of")), || text)
}
